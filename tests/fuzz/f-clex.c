/* needs: agents/registry.c agents/scripted/s*.c core/usage.c agents/builtin/builtin.c agents/builtin/ccopt.c
	agents/builtin/cfunc.c agents/builtin/clex.c agents/builtin/cross.c agents/builtin/draft.c
	agents/builtin/draft_read.c agents/builtin/draft_shape.c
	agents/builtin/draft_expr.c agents/builtin/draft_use.c
	agents/builtin/draft_walk.c
	agents/builtin/poly.c agents/builtin/evidence.c
	agents/builtin/fastmath.c agents/builtin/maxloop.c
	agents/builtin/moves.c agents/builtin/draw.c agents/builtin/locus.c
	agents/builtin/memo.c agents/builtin/learn.c agents/builtin/model.c
	agents/builtin/shape.c agents/builtin/space.c agents/builtin/recipe.c
	agents/builtin/restrict.c agents/builtin/site.c
	agents/builtin/strategy.c agents/builtin/tunables.c
	agents/builtin/vecmath.c agents/builtin/vectext.c agents/builtin/vw.c
	core/proposer.c core/graph.c core/prior.c core/record.c core/rng.c core/source.c core/sha1.c core/kernel.c
	core/kernel_arg.c core/kernel_flags.c core/kernel_keys.c core/kernel_shape.c core/ini.c
	core/expr.c core/dtype.c */
/*
 * The first line is a recipe, the rest a C text.  Tokens lie in order with
 * nothing but blanks between them; loops lie within their function; the
 * recipe gives a source or a reason, and the same again; so does a draft.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agents/agents.h"
#include "agents/builtin/cfunc.h"
#include "agents/builtin/draft.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char section[] =
"[kernel \"k\"]\n\tfile = k.c\n\tentry = f\n\targ = in f32 x[n]\n"
"\targ = out f32 y[n]\n\targ = dim n\n\ttime = n=1000\n\tcheck = n=7\n";

static void only_blanks(const char *text, size_t from, size_t to)
{
	for (; from < to; from++)
		if (!text[from] || !strchr(" \t\n\r\f\v\\\xef\xbb\xbf",
					   text[from]))
			abort();
}

static void check_tokens(const struct clex *l)
{
	size_t at = 0;

	for (size_t i = 0; i < l->nr_all; i++) {
		const struct ctok *t = &l->all[i];

		if (t->pos < at || !t->len || t->pos + t->len > l->len)
			abort();
		only_blanks(l->text, at, t->pos);
		at = t->pos + t->len;
	}
	only_blanks(l->text, at, l->len);
}

static void check_unit(const struct cunit *u)
{
	for (size_t i = 0; i < u->nr; i++) {
		const struct cfunc *f = &u->v[i];
		struct cloops l = CLOOPS_INIT;

		if (f->first > f->name || f->name >= f->lparen ||
		    f->lparen >= f->rparen || f->rparen >= u->lex.nr)
			abort();
		cunit_loops(u, f, &l);
		for (size_t k = 0; k < l.nr; k++)
			if (l.v[k].kw <= f->body || l.v[k].last >= f->end ||
			    l.v[k].first > l.v[k].last)
				abort();
		cloops_release(&l);
	}
}

static void rewrite(const struct kernel *k, const char *recipe,
		    const char *text, size_t len)
{
	const struct proposer *p = proposer_find("builtin");
	struct srcset src = SRCSET_INIT, once = SRCSET_INIT,
		      twice = SRCSET_INIT;
	struct err err = ERR_INIT;
	struct oid a, b;

	srcset_put(&src, "k.c", text, len, true);
	if (!p->apply(k, &src, recipe, &once, &err)) {
		if (p->apply(k, &src, recipe, &twice, &err))
			abort();
		srcset_state(&once, &a);
		srcset_state(&twice, &b);
		if (!oid_eq(&a, &b))
			abort();
	} else if (!err.msg[0] || once.nr) {
		abort();
	}
	srcset_release(&src);
	srcset_release(&once);
	srcset_release(&twice);
}

static void draft(const char *text, size_t len)
{
	struct srcset src = SRCSET_INIT;
	struct buf out = BUF_INIT;
	struct strv notes = STRV_INIT;
	struct err err = ERR_INIT;

	srcset_put(&src, "a/k.c", text, len, true);
	if (draft_section(&src, "a/k.c", NULL, &out, &notes, &err)) {
		if (!err.msg[0] || out.len)
			abort();
	} else if (!strstr(out.ptr, "\tentry = ")) {
		abort();
	}
	srcset_release(&src);
	buf_release(&out);
	strv_release(&notes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct kernel_file kernels;
	const char *text = (const char *)data, *end;
	struct err err = ERR_INIT;
	struct cunit u;
	struct clex l;
	char *recipe;

	end = size ? memchr(text, '\n', size) : NULL;
	if (!end)
		return 0;
	if (!kernels.nr && kernel_file_parse(&kernels, "fuzz", section,
					     strlen(section), &err))
		abort();
	recipe = strndup(text, (size_t)(end - text));
	if (!recipe)
		abort();
	size -= (size_t)(end + 1 - text);
	text = end + 1;
	if (!clex_run(&l, text, size, &err)) {
		check_tokens(&l);
		clex_release(&l);
	} else if (!err.msg[0]) {
		abort();
	}
	if (!cunit_parse(&u, text, size, &err)) {
		check_unit(&u);
		cunit_release(&u);
	}
	rewrite(&kernels.v[0], recipe, text, size);
	draft(text, size);
	free(recipe);
	return 0;
}
