/* needs: core/tuner.c core/tuner_evolve.c core/template.c core/proposer.c core/source.c core/sha1.c core/paths.c core/rng.c core/expr.c */
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/template.h"
#include "core/tuner.h"
#include "tests/unit/tap.h"

static struct space space = SPACE_INIT;

static void fills(const char *text, const char *want)
{
	static const int set[] = { 1, 0 };
	struct template t = TEMPLATE_INIT;
	struct buf out = BUF_INIT;
	struct err err = ERR_INIT;
	int ret = template_parse(&t, "k.in", text, strlen(text), &space, &err);

	if (!ret)
		ret = template_fill(&t, &space, set, &out, &err);
	if (!ok(!ret, "a template that gives %s", want))
		printf("# %s\n", err.msg);
	is_str(out.ptr, want, "and filled");
	buf_release(&out);
	template_release(&t);
}

static void fails(const char *text, size_t len, const char *part)
{
	struct template t = TEMPLATE_INIT;
	struct err err = ERR_INIT;
	int ret = template_parse(&t, "k.in", text, len, &space, &err);

	ok(ret < 0, "no template: %s", part);
	if (!ok(strstr(err.msg, part) != NULL, "and says so"))
		printf("# %s\n", err.msg);
	template_release(&t);
}

static void templates(void)
{
	char *long_text = xcalloc(1, TEMPLATE_MAX_TEXT + 2);
	struct buf many = BUF_INIT;

	fills("@TILE@ @VEC_T@", "16 float");
	fills("a@TILE@@VEC_T@b@TILE@", "a16floatb16");
	fills("x@@y @TILE@ @VEC_T@ @@TILE@@", "x@y 16 float @TILE@");
	fails("@TILE@\n\nv@ @VEC_T@", 18, "k.in:3: an '@'");
	fails("@TILE@ @VEC_T@\n@", 16, "k.in:2: an '@'");
	fails("@TILE", 5, "k.in:1: an '@'");
	fails("@TILE@ @VEC_T@\n@NONE@", 21, "k.in:2: '@NONE@' has no values");
	fails("@2@ @TILE@ @VEC_T@", 18, "k.in:1: an '@'");
	fails("only @TILE@", 11, "'@VEC_T@' is nowhere in k.in");
	fails("@TILE@ @VEC_T@ \0", 16, "NUL");
	memset(long_text, 'x', TEMPLATE_MAX_TEXT + 1);
	fails(long_text, TEMPLATE_MAX_TEXT + 1, "over 1048576 bytes");
	for (int i = 0; i <= TEMPLATE_MAX_PLACES; i++)
		buf_addstr(&many, "@TILE@\n");
	fails(many.ptr, many.len, "k.in:10001: over 10000 places");
	buf_release(&many);
	free(long_text);
}

/* What the space of a text is, "A:1,2 B:x", or the error. */
static void reads(const char *text, const char *want)
{
	struct space s = SPACE_INIT;
	struct buf out = BUF_INIT;
	struct err err = ERR_INIT;

	if (template_space(&s, "k.space", text, strlen(text), &err))
		buf_addstr(&out, err.msg);
	else
		for (size_t i = 0; i < s.nr; i++) {
			buf_addf(&out, "%s%s:", i ? " " : "", s.v[i].name);
			for (size_t k = 0; k < s.v[i].values.nr; k++)
				buf_addf(&out, "%s%s", k ? "," : "",
					 s.v[i].values.v[k]);
		}
	is_str(out.ptr, want, "a space: %s", *want ? want : "empty");
	buf_release(&out);
	space_release(&s);
}

static void spaces(void)
{
	struct buf b = BUF_INIT;
	struct space s = SPACE_INIT;
	struct err err = ERR_INIT;

	reads("A = 1 2\n", "A:1,2");
	reads("# values\n\n  A=1   2\t3  \r\nB_2 = -O3 1.5 a+b", "A:1,2,3 B_2:-O3,1.5,a+b");
	reads("", "");
	reads("A 1 2", "k.space:1: not 'NAME = value value ...'");
	reads("\n2A = 1", "k.space:2: not 'NAME = value value ...'");
	reads("A =\n", "k.space:1: 'A' has no value");
	reads("A = 1\nA = 2\n", "k.space:2: 'A' stands there twice");
	reads("A = 1 2 1\n", "k.space:1: 'A' has the value '1' twice");
	reads("A = (x)\n", "k.space:1: a value of 'A' is not a word of at most "
	      "32 letters, digits, '_', '.', '+' and '-'");
	reads("A = 123456789012345678901234567890123\n",
	      "k.space:1: a value of 'A' is not a word of at most 32 letters, "
	      "digits, '_', '.', '+' and '-'");
	for (int i = 0; i < TUNER_MAX_NAMES; i++)
		buf_addf(&b, "N%d = 1\n", i);
	ok(!template_space(&s, "k", b.ptr, b.len, &err) && s.nr == 16,
	   "sixteen names");
	space_release(&s);
	s = (struct space)SPACE_INIT;
	buf_addstr(&b, "MORE = 1\n");
	is_int(template_space(&s, "k", b.ptr, b.len, &err), ERR_LIMIT,
	       "seventeen are too many");
	is_str(err.msg, "k:17: over 16 names", "at this line");
	space_release(&s);
	s = (struct space)SPACE_INIT;
	buf_reset(&b);
	buf_addstr(&b, "A =");
	for (int i = 0; i <= TUNER_MAX_VALUES; i++)
		buf_addf(&b, " %d", i);
	err = (struct err)ERR_INIT;
	is_int(template_space(&s, "k", b.ptr, b.len, &err), ERR_LIMIT,
	       "65 values are too many");
	space_release(&s);
	buf_release(&b);
}

int main(void)
{
	struct err err = ERR_INIT;
	static const char text[] = "TILE = 8 16\nVEC_T = float double\n";

	ok(!template_space(&space, "k.space", text, sizeof(text) - 1, &err),
	   "a space");
	templates();
	spaces();
	space_release(&space);
	return tap_done();
}
