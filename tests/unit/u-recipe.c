/* needs: agents/builtin/recipe.c */
#include "tests/unit/tap.h"

#include <stdlib.h>

#include "agents/builtin/recipe.h"

static void is_printed(const char *text, const char *want)
{
	struct err err = ERR_INIT;
	struct buf out = BUF_INIT;
	struct recipe r;

	if (!ok(!recipe_parse(&r, text, &err), "'%s' is a recipe", text))
		return;
	recipe_print(&r, &out);
	is_str(out.ptr, want, "and prints as '%s'", want);
	recipe_release(&r);
	buf_release(&out);
}

static void is_refused(const char *text, const char *message)
{
	struct err err = ERR_INIT;
	struct recipe r;

	ok(recipe_parse(&r, text, &err) < 0 && !r.nr,
	   "'%.30s' is refused", text);
	if (!ok(strstr(err.msg, message) != NULL, "for the reason"))
		printf("# %s\n", err.msg);
}

static int rank(const char *name)
{
	return name[0] == 'r' ? 0 : name[0] == 'v' ? 1 : 2;
}

static void normal_form(void)
{
	struct err err = ERR_INIT;
	struct buf out = BUF_INIT;
	struct recipe r;

	ok(!recipe_parse(&r, "t(b=1,a=2,b=1); vw(512); restrict", &err),
	   "a recipe in disorder");
	recipe_normalise(&r, rank);
	recipe_print(&r, &out);
	is_str(out.ptr, "restrict; vw(512); t(a=2,b=1)", "is put in order");
	recipe_release(&r);
	buf_release(&out);
}

static void changes(void)
{
	struct err err = ERR_INIT;
	struct recipe r, copy;
	struct buf out = BUF_INIT;

	ok(!recipe_parse(&r, "a; b(x)", &err), "a recipe");
	recipe_copy(&copy, &r);
	recipe_set(&r, "b", "y,z");
	recipe_set(&r, "a", NULL);
	recipe_set(&r, "c", "");
	recipe_set(&r, "none", NULL);
	recipe_print(&r, &out);
	is_str(out.ptr, "b(y,z); c", "set, changed and taken away");
	buf_reset(&out);
	recipe_print(&copy, &out);
	is_str(out.ptr, "a; b(x)", "the copy is its own");
	ok(recipe_find(&copy, "b") && !recipe_find(&copy, "c"), "found by name");
	buf_reset(&out);
	gene_args(recipe_find(&r, "b"), &out);
	is_str(out.ptr, "y,z", "the parameters of one");
	recipe_release(&r);
	recipe_release(&copy);
	buf_release(&out);
}

static void limits(void)
{
	struct buf text = BUF_INIT;

	for (int i = 0; i < RECIPE_MAX_GENES + 1; i++)
		buf_addf(&text, "g%d;", i);
	is_refused(text.ptr, "too long");
	buf_reset(&text);
	buf_addstr(&text, "g(a");
	for (int i = 0; i < RECIPE_MAX_ARGS; i++)
		buf_addstr(&text, ",a");
	is_refused(text.ptr, "over 64 parameters");
	while (text.len <= RECIPE_MAX_TEXT)
		buf_addstr(&text, "        ");
	is_refused(text.ptr, "over 8192 bytes");
	buf_release(&text);
}

int main(void)
{
	is_printed("", "");
	is_printed("  ", "");
	is_printed("restrict", "restrict");
	is_printed(" restrict ;vecmath( exp , tanh );", "restrict; "
		   "vecmath(exp,tanh)");
	is_printed("ccopt(no-ivopts,vect-cost-model=unlimited); "
		   "tunables(TILE_M=64)",
		   "ccopt(no-ivopts,vect-cost-model=unlimited); "
		   "tunables(TILE_M=64)");
	is_refused("Restrict", "no strategy's name");
	is_refused(";", "no strategy's name");
	is_refused("restrict;;vw(512)", "no strategy's name");
	is_refused("vw(512", "do not end");
	is_refused("vw()", "lacks a parameter");
	is_refused("vw(512,)", "lacks a parameter");
	is_refused("vw(5 12)", "do not end");
	is_refused("vw(512) restrict", "no ';'");
	is_refused("vw(512);vw(256)", "stands twice");
	is_refused("vw(a/b)", "do not end");
	is_refused("vw(\"x\")", "lacks a parameter");
	is_refused("9x", "no strategy's name");
	normal_form();
	changes();
	limits();
	return tap_done();
}
