/* needs: agents/registry.c agents/scripted/s*.c core/usage.c agents/builtin/builtin.c agents/builtin/ccopt.c
	agents/builtin/cfunc.c agents/builtin/clex.c agents/builtin/cross.c agents/builtin/evidence.c
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
#include "tests/unit/tap.h"

#include <stdlib.h>

#include "agents/agents.h"
#include "agents/builtin/moves.h"
#include "core/mem.h"

/* A kernel section and its one file k.c. */
struct set {
	struct kernel_file section;
	const struct kernel *k;
	struct srcset src;
};

static const struct proposer *builtin;

static void set_init(struct set *t, const char *more, const char *source)
{
	struct buf text = BUF_INIT;
	struct err err = ERR_INIT;

	buf_addf(&text, "[kernel \"k\"]\n\tfile = k.c\n\tentry = f\n"
		 "\targ = in f32 x[n]\n\targ = out f32 y[n]\n\targ = dim n\n"
		 "\ttime = n=1000\n\tcheck = n=7\n%s", more);
	if (kernel_file_parse(&t->section, "test", text.ptr, text.len, &err)) {
		printf("Bail out! %s\n", err.msg);
		exit(1);
	}
	t->k = &t->section.v[0];
	t->src = (struct srcset)SRCSET_INIT;
	srcset_put(&t->src, "k.c", source, strlen(source), true);
	buf_release(&text);
}

static void set_release(struct set *t)
{
	kernel_file_release(&t->section);
	srcset_release(&t->src);
}

/* k.c after a recipe, or "error: ..."; the caller frees. */
static char *applied(const struct set *t, const char *recipe)
{
	struct srcset out = SRCSET_INIT;
	struct err err = ERR_INIT;
	char *text;

	if (builtin->apply(t->k, &t->src, recipe, &out, &err))
		return xasprintf("error: %s", err.msg);
	text = xstrdup(srcset_find(&out, "k.c")->text.ptr);
	srcset_release(&out);
	return text;
}

static void gives(const char *more, const char *source, const char *recipe,
		  const char *want, const char *title)
{
	struct set t;
	char *got;

	set_init(&t, more, source);
	got = applied(&t, recipe);
	is_str(got, want, "%s", title);
	free(got);
	set_release(&t);
}

static void holds(const char *more, const char *source, const char *recipe,
		  const char *part, const char *title)
{
	struct set t;
	char *got;

	set_init(&t, more, source);
	got = applied(&t, recipe);
	if (!ok(strstr(got, part) != NULL, "%s", title))
		printf("# %s\n", got);
	free(got);
	set_release(&t);
}

static const char softmax[] =
"/* License. */\n"
"#include <math.h>\n"
"\n"
"void f(const float *x, float *y, int n)\n"
"{\n"
"	float max = x[0], sum = 0;\n"
"\n"
"	for (int i = 1; i < n; i++)\n"
"		max = fmaxf(max, x[i]);\n"
"	for (int i = 0; i < n; i++) {\n"
"		y[i] = expf(x[i] - max);\n"
"		sum += y[i];\n"
"	}\n"
"	for (int i = 0; i < n; i++)\n"
"		y[i] /= sum;\n"
"}\n";

/* ---- restrict ---- */

static void restricts(void)
{
	gives("", "void f(const float *x, float *y, int n);\n"
		  "void f(const float * x, float y[n], int n) { }\n",
	      "restrict",
	      "void f(const float *restrict x, float *restrict y, int n);\n"
	      "void f(const float *restrict  x, float y[restrict n], int n) "
	      "{ }\n", "restrict in a declaration and a definition");
	gives("", "void f(const float *restrict x, float (*y)[3], int n) { }\n",
	      "restrict",
	      "void f(const float *restrict x, float (*restrict y)[3], int n) "
	      "{ }\n", "never twice; and within the parentheses");
	gives("", "void f(float x[], float y[static 4], int n) { }\n",
	      "restrict",
	      "void f(float x[restrict], float y[restrict static 4], int n) "
	      "{ }\n", "in empty and static brackets");
	gives("", "void f(float *, float *, int);\n"
		  "void f(float *const x, float *y, int n) { }\n", "restrict",
	      "void f(float *restrict, float *restrict, int);\n"
	      "void f(float *restrict const x, float *restrict y, int n) { }\n",
	      "without names, and before const");
	gives("\tflags = -std=gnu90\n", "void f(float *x, float *y, int n) { }\n",
	      "restrict",
	      "void f(float *__restrict x, float *__restrict y, int n) { }\n",
	      "C90 gets the word with underscores");
	gives("\talias = y x\n", "void f(float *x, float *y, int n) { }\n",
	      "restrict", "error: recipe: 'restrict' does not fit: every "
	      "pointer parameter has it already, or may overlap another as "
	      "the section says", "not where the section says alias");
}

static void restricts_helpers(void)
{
	static const char apart[] =
	"static void g(const float *a, float *b, int n) { }\n"
	"void f(const float *x, float *y, int n) { g(x + 1, &y[0], n); }\n";
	static const char together[] =
	"static void g(const float *a, float *b, int n) { }\n"
	"void f(const float *x, float *y, int n) { g(y + 1, y, n); }\n";
	static const char unknown[] =
	"static void g(const float *a, float *b, int n) { }\n"
	"void f(const float *x, float *y, int n) { float *p = y; g(p, y, n); }\n";
	static const char pointed[] =
	"static void g(const float *a, float *b, int n) { }\n"
	"void (*h)(const float *, float *, int) = g;\n"
	"void f(const float *x, float *y, int n) { g(x, y, n); }\n";

	holds("", apart, "restrict",
	      "g(const float *restrict a, float *restrict b, int n)",
	      "a helper that is called with different memory");
	holds("", together, "restrict", "g(const float *a, float *b, int n)",
	      "a helper that is called with the same memory stays");
	holds("", unknown, "restrict", "g(const float *a, float *b, int n)",
	      "so does one that gets a pointer of unknown origin");
	holds("", pointed, "restrict", "g(const float *a, float *b, int n)",
	      "and one whose address is taken");
}

/* ---- blocks ---- */

static void blocks(void)
{
	char *once, *twice;
	struct set t, again;
	const char *recipe = "restrict; vecmath(exp,maxloop); "
			     "fastmath(assoc); vw(512); ccopt(unroll-loops)";

	holds("", softmax, recipe,
	      "/* License. */\n"
	      "/* maxkernel: begin restrict; vecmath(exp,maxloop); "
	      "fastmath(assoc); vw(512); ccopt(unroll-loops) */\n"
	      "#if defined(__clang__)\n"
	      "#pragma clang fp reassociate(on) contract(fast)\n"
	      "#elif defined(__GNUC__)\n"
	      "#pragma GCC optimize(\"no-math-errno\", \"no-trapping-math\", "
	      "\\\n\t\"no-signed-zeros\", \"associative-math\", "
	      "\"reciprocal-math\")\n"
	      "#if defined(__AVX512F__)\n"
	      "#pragma GCC target(\"prefer-vector-width=512\")\n#endif\n"
	      "#pragma GCC optimize(\"unroll-loops\")\n"
	      "#endif\n/* maxkernel: end */\n#include <math.h>\n"
	      "/* maxkernel: begin vector math */\n",
	      "the head's block stands below the licence, before the includes");
	set_init(&t, "", softmax);
	once = applied(&t, recipe);
	set_init(&again, "", once);
	twice = applied(&again, recipe);
	is_str(twice, once, "a recipe applied again changes nothing");
	free(twice);
	twice = applied(&again, "");
	is_str(twice, once, "an empty recipe leaves blocks alone");
	free(twice);
	twice = applied(&again, "vw(256)");
	ok(!strstr(twice, "associative") && strstr(twice, "width=256") &&
	   !strstr(twice, "mk_expf(mk_x)") && strstr(twice, "mk_unkey(int"),
	   "another recipe takes the blocks' place; code in use keeps its "
	   "functions");
	free(twice);
	free(once);
	set_release(&t);
	set_release(&again);
}

static void places(void)
{
	static const char guarded[] =
	"#define N 3\n#if N\n#include <math.h>\n#else\n#include <foo.h>\n"
	"#endif\nint g;\nvoid f(const float *x, float *y, int n)\n"
	"{ y[0] = expf(x[0]); }\n#include \"tail.h\"\n";

	holds("", guarded, "vecmath(exp)",
	      "#endif\n/* maxkernel: begin vecmath(exp) */\n",
	      "functions go behind the includes, outside of conditionals");
	holds("", guarded, "fastmath(assoc)",
	      "*/\n#if defined(__clang__)\n#pragma clang",
	      "the head's block needs no other step");
	holds("\tcc = clang\n", "static int g;\n"
	      "static\nint h;\nvoid f(float *x, float *y, int n) { }\n",
	      "vw(512)", "MK_WIDE void f(float *x",
	      "clang's width stands before the definition");
	holds("", "int g; /* a\n */ void f(float *x, float *y, int n) { }",
	      "vw(512)", "/* maxkernel: end */\nint g;",
	      "no newline at the end");
	holds("", "// c\n\nvoid f(float *x, float *y, int n) { y[0] = expf(1); "
	      "}", "vecmath; vw(512)",
	      "/* maxkernel: end */\n/* maxkernel: begin vector math */\n"
	      "union", "both blocks in one place");
}

/* ---- vecmath ---- */

static void loop_body(const char *statement, const char *want,
		      const char *title)
{
	struct buf source = BUF_INIT;

	buf_addf(&source, "void f(const float *x, float *y, int n)\n{\n"
		 "\tfloat s = 0, m = x[0];\n\tdouble d = 0;\n"
		 "\tfor (int i = 1; i < n; i++)\n\t\t%s\n\ty[0] = m;\n}\n",
		 statement);
	if (want)
		holds("", source.ptr, "vecmath(maxloop)", want, title);
	else
		holds("", source.ptr, "vecmath(maxloop)",
		      "does not fit: no call", title);
	buf_release(&source);
}

static void maxloops(void)
{
	loop_body("if (x[i] > m) m = x[i];",
		  "\t{ int mk_max0 = mk_first(m);\n"
		  "\tfor (int i = 1; i < n; i++)\n"
		  "\t\tmk_max0 = mk_most(mk_max0, mk_key(x[i]));\n"
		  "\tm = mk_unkey(mk_max0); }\n\ty[0] = m;",
		  "a maximum by if");
	loop_body("{ if (m >= x[i] * 2) { m = x[i] * 2; } s += 1; }",
		  "mk_max0 = mk_most(mk_max0, mk_key(-(x[i] * 2))); s += 1; }\n"
		  "\tm = -mk_unkey(mk_max0); }", "a minimum in braces");
	loop_body("m = x[i] > m ? x[i] : m;", "mk_first(m)", "by a choice");
	loop_body("m = (m < x[i]) ? x[i] : m;", "mk_key(x[i])",
		  "by a choice in parentheses");
	loop_body("m = fminf(fabsf(x[i]), m);",
		  "{ int mk_max0 = mk_key(-m);", "by fminf");
	loop_body("m = m > x[i] ? m : x[i];", NULL,
		  "a choice that lets NaN in is left alone");
	loop_body("if (x[i] > m) m = x[i]; else s++;", NULL, "an else");
	loop_body("{ if (x[i] > m) m = x[i]; y[i] = m; }", NULL,
		  "one that is used in the loop");
	loop_body("if (x[i++] > m) m = x[i++];", NULL, "a side effect");
	loop_body("if (x[i] > d) d = x[i];", NULL, "a double");
	loop_body("if (x[i] > m) m = x[i - 1];", NULL, "another value");
	loop_body("{ if (x[i] > m) m = x[i]; if (m > 3) return; }", NULL,
		  "a way out");
	loop_body("if (g(x[i]) > m) m = g(x[i]);", NULL, "an unknown call");
	loop_body("if (m > m) m = m;", NULL, "itself");
	loop_body("if (x[i] > x[m]) m = x[i];", NULL, "an index");
}

static void vecmaths(void)
{
	holds("", "#include <math.h>\nfloat expf(float);\n"
	      "void f(float *x, float *y, int n) { y[0] = expf(x[0]); }\n",
	      "vecmath(exp)", "error: ", "a name that the file declares");
	holds("", "#define expf(a) (a)\n"
	      "void f(float *x, float *y, int n) { y[0] = expf(x[0]); }\n",
	      "vecmath(exp)", "error: ", "or defines");
	holds("", "#include <math.h>\n#define ACT(v) (tanhf(v))\n"
	      "void f(float *x, float *y, int n) { y[0] = ACT(x[0]); }\n",
	      "vecmath", "#define tanhf(mk_x)", "a call in a macro counts");
	holds("", softmax, "vecmath(cbrt)",
	      "error: recipe: vecmath does not know 'cbrt'",
	      "an unknown function");
	holds("", softmax, "vecmath",
	      "mk_max0 = mk_most(mk_max0, mk_key(x[i]));",
	      "without parameters it is all of them");
	holds("\tmath = strict\n", softmax, "vecmath", "fmaxf(max, x[i])",
	      "strict: the sign of a zero counts, maxima stay");
	holds("\tflags = -std=c90\n", softmax, "vecmath", "need C99",
	      "C90 has no inline");
}

/* ---- other strategies ---- */

static const char tuned[] =
"#define TILE 64\n#define UNROLL_J 4	/* by hand */\n#define SIZE 8\n"
"#define DEPTH 3 // tunable: 5, 7\n#define BLOCK (2)\n#define TILE2 010\n"
"void f(float *x, float *y, int n) { y[TILE] = UNROLL_J + DEPTH + SIZE; }\n";

static void parameters(void)
{
	struct set t;
	struct site s;
	struct moves m;
	struct recipe from = RECIPE_INIT;
	struct err err = ERR_INIT;
	struct buf got = BUF_INIT;

	holds("", tuned, "tunables(TILE=32,DEPTH=7)",
	      "#define TILE 32\n#define UNROLL_J 4	/* by hand */\n"
	      "#define SIZE 8\n#define DEPTH 7 // tunable: 5, 7\n",
	      "numbers are set");
	holds("", tuned, "tunables(SIZE=9)", "error: ", "not any number");
	holds("", tuned, "tunables(TILE=x)", "error: ", "not to a word");
	holds("", tuned, "tunables(TILE=1,TILE=2)", "error: ", "not twice");
	holds("", softmax, "vw(1024)", "error: ", "vw has two widths");
	holds("", softmax, "ccopt(floop-nest-optimize)", "error: ",
	      "ccopt has a closed list");
	holds("\tcc = clang\n", softmax, "ccopt(no-ivopts)",
	      "does not fit: clang", "which is gcc's");
	holds("", softmax, "fastmath(full)", "needs math = finite",
	      "full needs math = finite");
	holds("\tmath = finite\n", softmax, "fastmath(full)", "\"fast-math\"",
	      "and is given there");
	holds("\tmath = strict\n", softmax, "fastmath(assoc)",
	      "the section says math = strict", "nothing under strict");
	holds("", softmax, "rot13", "no strategy 'rot13'",
	      "an unknown strategy");
	set_init(&t, "", tuned);
	if (!site_init(&s, t.k, &t.src, &err)) {
		moves_find(&m, &s, &from, NULL);
		for (size_t i = 0; i < m.nr_loci; i++)
			for (size_t k = 0; m.locus[i].key &&
			     k < m.locus[i].values.nr; k++)
				buf_addf(&got, "%s ", m.locus[i].values.v[k]);
		moves_release(&m);
		site_release(&s);
	}
	is_str(got.ptr, "TILE=128 TILE=32 TILE=256 TILE=16 UNROLL_J=8 "
	       "UNROLL_J=2 UNROLL_J=16 UNROLL_J=1 DEPTH=5 DEPTH=7 ",
	       "which values are tried");
	buf_release(&got);
	set_release(&t);
}

/* ---- proposals ---- */

struct memory {
	struct oid v[1000];
	size_t nr;
};

static bool seen(void *ctx, const struct oid *state)
{
	const struct memory *m = ctx;

	for (size_t i = 0; i < m->nr; i++)
		if (oid_eq(&m->v[i], state))
			return true;
	return false;
}

/* Every proposal's recipe from one parent, a line each. */
static void all_proposals(const struct set *t, const char *recipe,
			  uint64_t seed, struct buf *out)
{
	static struct memory m;
	int bad = 0;

	m.nr = 0;
	while (m.nr < 1000) {
		struct propose_ask ask = {
			.kernel = t->k, .origin = &t->src, .recipe = recipe,
			.seed = seed, .step = 1, .seen = seen, .seen_ctx = &m
		};
		struct srcset again = SRCSET_INIT;
		struct err err = ERR_INIT;
		struct oid replayed;
		struct proposal p;
		int rc = builtin->propose(&ask, &p, &err);

		if (rc) {
			is_int(rc, ERR_NOTFOUND, "proposals end");
			break;
		}
		srcset_state(&p.source, &m.v[m.nr]);
		bad += builtin->apply(t->k, &t->src, p.recipe, &again,
				      &err) != 0;
		srcset_state(&again, &replayed);
		bad += !oid_eq(&replayed, &m.v[m.nr]) ||
		       strlen(p.subject) > 72 || !p.subject[0] ||
		       !p.plan.len || !p.strategy[0] || !(p.expect > 0);
		m.nr++;
		buf_addf(out, "%s\n", p.recipe);
		srcset_release(&again);
		proposal_release(&p);
	}
	is_int(bad, 0, "each has its words, and its recipe replays it");
	printf("# %zu from '%s'\n", m.nr, recipe);
	ok(m.nr > 10 && m.nr < 500, "a few hundred at most");
}

static void proposals(void)
{
	struct buf a = BUF_INIT, b = BUF_INIT, c = BUF_INIT;
	struct set t;

	set_init(&t, "", softmax);
	all_proposals(&t, "", 1, &a);
	all_proposals(&t, "", 1, &b);
	all_proposals(&t, "", 2, &c);
	is_str(b.ptr, a.ptr, "equal seeds propose alike");
	ok(strcmp(a.ptr, c.ptr) != 0, "others don't");
	ok(!strncmp(a.ptr, "restrict; vecmath(exp,maxloop); fastmath(assoc)\n"
		    "restrict; vecmath(exp,maxloop); fastmath(assoc); "
		    "vw(512)\nfastmath(assoc)\n", 99),
	   "the strong levers together come first");
	buf_reset(&b);
	all_proposals(&t, "restrict; fastmath(assoc)", 1, &b);
	ok(strstr(b.ptr, "\nrestrict\n") && strstr(b.ptr, "\nfastmath(assoc)\n"),
	   "steps are taken back too");
	buf_release(&a);
	buf_release(&b);
	buf_release(&c);
	set_release(&t);
}

static void plans(void)
{
	static const char matmul[] =
	"void f(const float *x, float *y, int n)\n{\n"
	"	for (int i = 0; i < n; i++)\n"
	"		for (int j = 0; j < n; j++) {\n"
	"			float sum = 0;\n"
	"			for (int k = 0; k < n; k++)\n"
	"				sum += x[i * n + k] * x[k * n + j];\n"
	"			y[i * n + j] = sum;\n		}\n}\n";
	struct err err = ERR_INIT;
	struct proposal p;
	struct set t;

	set_init(&t, "", matmul);
	if (ok(!builtin->propose(&(struct propose_ask){ .kernel = t.k,
							.origin = &t.src,
							.recipe = "",
							.seed = 1 },
				 &p, &err), "a proposal for a product")) {
		is_str(p.strategy, "restrict+fastmath", "two levers");
		is_str(p.subject, "k: promise restrict on x, y and let the "
		       "compiler regroup sums", "its subject");
		ok(strstr(p.plan.ptr, "loop over `k` reads `x` a whole row"),
		   "the plan names the loop that strides");
		ok(strstr(p.plan.ptr, "`sum` is a chain of additions"),
		   "and the sum");
		ok(strstr(p.plan.ptr, "Expected: about ") &&
		   strstr(p.plan.ptr, "Risk: "), "what is expected, the risk");
		proposal_release(&p);
	}
	set_release(&t);
}

/* What cannot be used, joined; the caller frees. */
static char *unfit(const char *more, const char *source)
{
	struct strv lines = STRV_INIT;
	struct buf text = BUF_INIT;
	struct set t;

	set_init(&t, more, source);
	builtin->unfit(t.k, &t.src, &lines);
	for (size_t i = 0; i < lines.nr; i++)
		buf_addf(&text, "%s\n", lines.v[i]);
	strv_release(&lines);
	set_release(&t);
	return buf_detach(&text);
}

static void unreadable(const char *source, const char *reason,
		       const char *title)
{
	struct buf got = BUF_INIT;
	char *lines = unfit("", source);
	struct set t;

	if (!ok(strstr(lines, reason) != NULL, "%s: the reason is told", title))
		printf("# %s\n", lines);
	free(lines);
	set_init(&t, "", source);
	all_proposals(&t, "", 3, &got);
	ok(!strncmp(got.ptr, "fastmath(assoc); vw(512)\nfastmath(assoc)\n", 41),
	   "%s: what needs no reading is tried", title);
	buf_release(&got);
	set_release(&t);
}

static void limits_told(void)
{
	char *lines = unfit("\tdeny = ccopt vw restrict\n\tmath = strict\n",
			    softmax);

	is_str(lines, "restrict: denied by the section\n"
	       "fastmath: the section says math = strict\n"
	       "vw: denied by the section\nccopt: denied by the section\n"
	       "tunables: no #define of a tile, block or unroll size, and "
	       "none marked 'tunable:'\n", "what cannot be used, and why");
	free(lines);
	unreadable("#define KERNEL(n) void n(float *x, float *y, int m)\n"
		   "KERNEL(f) { y[0] = x[0]; }\n",
		   "restrict: the definition of the entry is not to be found",
		   "made by a macro");
	unreadable("void f(x, y, n) float *x, *y; int n; { y[0] = x[0]; }\n",
		   "restrict: its parameters are declared in the old style",
		   "old style");
	unreadable("void f(float *x, float *y, int n) {\n#ifdef A\n{\n#endif\n}"
		   "\n", "restrict: k.c cannot be read: line 1: a bracket is "
		   "not closed", "brackets under #if");
	unreadable("void f(float *x, float *y, int n) { /*\n",
		   "a comment does not end", "not C");
}

static void shrinks(void)
{
	struct strv v = STRV_INIT;
	struct err err = ERR_INIT;
	struct buf text = BUF_INIT;

	ok(!builtin->shrink("vw(512); restrict; vecmath(exp,tanh)", &v, &err),
	   "a recipe to be made smaller");
	for (size_t i = 0; i < v.nr; i++)
		buf_addf(&text, "%s\n", v.v[i]);
	is_str(text.ptr, "vecmath(exp,tanh); vw(512)\nrestrict; vw(512)\n"
	       "restrict; vecmath(exp,tanh)\nrestrict; vecmath(tanh); vw(512)\n"
	       "restrict; vecmath(exp); vw(512)\n", "by a gene or a word each");
	strv_release(&v);
	ok(builtin->shrink("(", &v, &err) == ERR_FORMAT, "a bad recipe");
	ok(!builtin->shrink("", &v, &err) && !v.nr, "an empty one");
	buf_release(&text);
}

/* A winner that was picked is a new origin, and carries our blocks. */
static void search_on(void)
{
	struct buf got = BUF_INIT;
	struct set t, next;
	char *won;

	set_init(&t, "", softmax);
	won = applied(&t, "restrict; vecmath(exp,maxloop); fastmath(assoc)");
	set_init(&next, "", won);
	all_proposals(&next, "", 1, &got);
	ok(strstr(got.ptr, "fastmath(assoc); vw(512)\n") != NULL,
	   "steps go on from the recipe in the block");
	buf_release(&got);
	free(won);
	set_release(&t);
	set_release(&next);
}

static void choice_of_file(void)
{
	static const char other[] = "void f(int);\nint tile;\n";
	struct srcset out = SRCSET_INIT;
	struct err err = ERR_INIT;
	struct set t;

	set_init(&t, "", softmax);
	srcset_put(&t.src, "a.c", other, strlen(other), true);
	srcset_put(&t.src, "b.h", "#define TILE 8\nint a[TILE];\n", 28, true);
	srcset_put(&t.src, "c.h", "#define TILE 8\nint a[TILE];\n", 28, false);
	ok(!builtin->apply(t.k, &t.src, "tunables(TILE=16); vw(256)", &out,
			   &err), "of several files");
	is_str(srcset_find(&out, "a.c")->text.ptr, other,
	       "one that only declares the entry stays");
	is_str(srcset_find(&out, "b.h")->text.ptr,
	       "#define TILE 16\nint a[TILE];\n", "numbers anywhere are set");
	is_str(srcset_find(&out, "c.h")->text.ptr,
	       "#define TILE 8\nint a[TILE];\n", "but where none may change");
	ok(strstr(srcset_find(&out, "k.c")->text.ptr, "width=256") != NULL,
	   "the block goes to the definition");
	srcset_release(&out);
	set_release(&t);
}

int main(void)
{
	builtin = proposer_find("builtin");
	if (!ok(builtin && !proposer_find("none") &&
		proposer_list()[0] == builtin, "the registry"))
		return tap_done();
	restricts();
	restricts_helpers();
	blocks();
	places();
	maxloops();
	vecmaths();
	parameters();
	proposals();
	plans();
	limits_told();
	shrinks();
	search_on();
	choice_of_file();
	return tap_done();
}
