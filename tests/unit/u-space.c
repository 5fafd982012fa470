/* needs: agents/builtin/builtin.c agents/builtin/ccopt.c
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
/* The settings of a kernel, and the ways to ask for the next version. */
#include "tests/unit/tap.h"

#include <stdlib.h>

#include "agents/builtin/builtin.h"
#include "core/mem.h"
#include "core/rng.h"

struct set {
	struct kernel_file section;
	const struct kernel *k;
	struct srcset src;
};

static const struct proposer *const builtin = &proposer_builtin;

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

static const char product[] =
"#define TILE 64\n"
"#define DEPTH 3 // tunable: 5, 7\n"
"void f(const float *x, float *y, int n)\n{\n"
"	for (int i = 0; i < n; i += TILE)\n"
"		for (int j = 0; j < n; j++) {\n"
"			float sum = DEPTH;\n"
"			for (int k = 0; k < n; k++)\n"
"				sum += x[i * n + k] * x[k * n + j];\n"
"			y[i * n + j] = sum;\n		}\n}\n";

/* ---- space and compose ---- */

/* "vw=512 ..." a line each: name, values, "*" at the one that is set. */
static void space_text(const struct space *s, struct buf *out)
{
	for (size_t i = 0; i < s->nr; i++) {
		const struct locus_values *l = &s->v[i];

		buf_addf(out, "%s%s%s:", l->name, l->tunable ? " tunable" : "",
			 l->needed ? " needed" : "");
		for (size_t k = 0; k < l->values.nr; k++)
			buf_addf(out, " %s%s", l->values.v[k],
				 (int)k == l->now ? "*" : "");
		buf_addch(out, '\n');
	}
}

static void is_space(const char *more, const char *recipe, const char *want,
		     const char *title)
{
	struct buf got = BUF_INIT;
	struct err err = ERR_INIT;
	struct space s;
	struct set t;

	set_init(&t, more, product);
	if (ok(!builtin->space(t.k, &t.src, recipe, &s, &err), "%s", title))
		space_text(&s, &got);
	is_str(got.ptr, want, "%s: as expected", title);
	space_release(&s);
	buf_release(&got);
	set_release(&t);
}

#define FIRST_LOCI							\
	"fastmath: fastmath(assoc)\n"					\
	"vw: vw(512) vw(256)\n"						\
	"ccopt: ccopt(unroll-loops) ccopt(no-ivopts) "			\
	"ccopt(no-ivopts,unroll-loops) ccopt(schedule-insns) "		\
	"ccopt(vect-cost-model=unlimited)\n"

static void spaces(void)
{
	struct err err = ERR_INIT;
	struct space s;
	struct set t;

	is_space("", "", "restrict: restrict\n" FIRST_LOCI
		 "TILE tunable: TILE=128 TILE=32 TILE=256 TILE=16\n"
		 "DEPTH tunable: DEPTH=5 DEPTH=7\n", "of the origin");
	is_space("\tdeny = ccopt vw fastmath\n",
		 "tunables(DEPTH=7,TILE=32); restrict",
		 "restrict: restrict*\n"
		 "TILE tunable: TILE=128 TILE=32* TILE=256 TILE=16\n"
		 "DEPTH tunable: DEPTH=5 DEPTH=7*\n", "what is set");
	is_space("\tdeny = ccopt fastmath\n", "vw(256); tunables(TILE=48)",
		 "restrict: restrict\nvw: vw(512) vw(256)*\n"
		 "TILE tunable: TILE=128 TILE=32 TILE=256 TILE=16 TILE=48*\n"
		 "DEPTH tunable: DEPTH=5 DEPTH=7\n",
		 "a value that would not be tried stays one");
	set_init(&t, "", product);
	ok(!builtin->space(t.k, &t.src, "", &s, &err), "a space");
	is_near(space_size(&s), 2 * 2 * 3 * 6 * 5 * 3, 0, "its size");
	s.v[0].needed = true;
	is_near(space_size(&s), 1 * 2 * 3 * 6 * 5 * 3, 0,
		"a locus that must be set has a choice less");
	space_release(&s);
	is_near(space_size(&s), 1, 0, "nothing to choose is one setting");
	is_int(builtin->space(t.k, &t.src, "(", &s, &err), ERR_FORMAT,
	       "a bad recipe");
	ok(!s.nr, "leaves nothing");
	set_release(&t);
}

static void composed(const struct space *s, const int *setting,
		     const char *recipe, const char *want, const char *title)
{
	struct buf got = BUF_INIT;
	struct err err = ERR_INIT;

	if (builtin->compose(s, setting, recipe, &got, &err))
		buf_addf(&got, "error: %s", err.msg);
	is_str(got.ptr, want, "%s", title);
	buf_release(&got);
}

static void compositions(void)
{
	int v[6] = { -1, -1, -1, -1, -1, -1 };
	struct err err = ERR_INIT;
	struct space s;
	struct set t;

	set_init(&t, "", product);
	if (!ok(!builtin->space(t.k, &t.src, "", &s, &err) && s.nr == 6,
		"six loci"))
		return;
	composed(&s, v, "", "", "nothing set is the origin");
	composed(&s, v, "restrict; tunables(TILE=32)", "",
		 "and takes everything away");
	composed(&s, v, "vecmath(exp); tunables(OTHER=3,TILE=32)",
		 "vecmath(exp); tunables(OTHER=3)",
		 "but what is no locus stays");
	v[5] = 1;
	v[4] = 3;
	v[2] = 0;
	v[3] = 2;
	v[0] = 0;
	composed(&s, v, "ccopt(schedule-insns); vw(256)",
		 "restrict; vw(512); ccopt(no-ivopts,unroll-loops); "
		 "tunables(DEPTH=7,TILE=16)", "in the normal form");
	v[0] = 1;
	composed(&s, v, "", "error: 'restrict' has no setting 1",
		 "past the values");
	v[0] = -2;
	composed(&s, v, "", "error: 'restrict' has no setting -2",
		 "before them");
	v[0] = -1;
	s.v[0].needed = true;
	composed(&s, v, "", "error: 'restrict' has no setting -1",
		 "nothing where something is needed");
	space_release(&s);
	set_release(&t);
}

/* Every setting of a small space: a recipe that stands for it alone. */
static void round_trips(void)
{
	int v[6] = { -1, -1, -1, -1, -1, -1 }, bad = 0, nr = 0;
	struct strv all = STRV_INIT;
	struct err err = ERR_INIT;
	struct space s;
	struct set t;

	set_init(&t, "\tdeny = ccopt\n", product);
	ok(!builtin->space(t.k, &t.src, "", &s, &err) && s.nr == 5, "five");
	for (size_t i = 0; i < s.nr;) {
		struct buf recipe = BUF_INIT;
		struct srcset out = SRCSET_INIT;
		struct space again;

		nr++;
		bad += builtin->compose(&s, v, "", &recipe, &err) != 0 ||
		       strv_has(&all, recipe.ptr) ||
		       builtin->apply(t.k, &t.src, recipe.ptr, &out, &err) ||
		       builtin->space(t.k, &t.src, recipe.ptr, &again, &err);
		for (size_t k = 0; k < again.nr; k++)
			bad += again.v[k].now != v[k];
		strv_push(&all, recipe.ptr);
		space_release(&again);
		srcset_release(&out);
		buf_release(&recipe);
		for (i = 0; i < s.nr && ++v[i] == (int)s.v[i].values.nr; i++)
			v[i] = -1;
	}
	is_int(bad, 0, "each is replayed, and read back as it was set");
	is_near(nr, space_size(&s), 0, "all of them");
	strv_release(&all);
	space_release(&s);
	set_release(&t);
}

/* ---- numbers that the section names ---- */

static void said(const char *more, const char *source, const char *want,
		 const char *title)
{
	struct strv lines = STRV_INIT;
	struct buf got = BUF_INIT;
	struct err err = ERR_INIT;
	struct space s;
	struct set t;

	set_init(&t, more, source);
	ok(!builtin->space(t.k, &t.src, "", &s, &err), "%s", title);
	for (size_t i = 0; i < s.nr; i++)
		for (size_t k = 0; s.v[i].tunable && k < s.v[i].values.nr; k++)
			buf_addf(&got, "%s ", s.v[i].values.v[k]);
	builtin->unfit(t.k, &t.src, &lines);
	for (size_t i = 0; i < lines.nr; i++)
		if (!strncmp(lines.v[i], "tunable", 7))
			buf_addf(&got, "| %s ", lines.v[i]);
	is_str(got.ptr, want, "%s: as expected", title);
	space_release(&s);
	strv_release(&lines);
	buf_release(&got);
	set_release(&t);
}

static void declared(void)
{
	struct buf source = BUF_INIT, section = BUF_INIT, want = BUF_INIT;

	said("\ttunable = TILE 64 48 9\n\ttunable = DEPTH 4\n", product,
	     "TILE=48 TILE=9 DEPTH=4 ",
	     "the section's values take the place of others");
	said("\ttunable = SIZE 7 9\n",
	     "#define SIZE 8\n#define M_LEN (2)\n#define SIZE 3\n"
	     "void f(float *x, float *y, int n) { y[SIZE] = 0; }\n",
	     "SIZE=7 SIZE=9 ", "any name will do, the first definition");
	said("\ttunable = SIZE 7\n\ttunable = NONE 3\n",
	     "#define SIZE (8)\nvoid f(float *x, float *y, int n) { }\n",
	     "| tunables: no #define of a tile, block or unroll size, and "
	     "none marked 'tunable:' | tunable SIZE: no '#define SIZE "
	     "<number>' of 1 to 65536 in the kernel's files | tunable NONE: "
	     "no '#define NONE <number>' of 1 to 65536 in the kernel's "
	     "files ", "those that the sources lack are told");
	for (int i = 0; i < 20; i++)
		buf_addf(&source, "#define TILE_%c 3\n#define %c%c 5\n",
			 'A' + i, 'A' + i, 'A' + i);
	buf_addstr(&source, "void f(float *x, float *y, int n)\n"
			    "{ y[TILE_A + TILE_B + TILE_C] = AA; }\n");
	for (int i = 0; i < 15; i++) {
		buf_addf(&section, "\ttunable = %c%c 6\n", 'F' + i, 'F' + i);
		buf_addf(&want, "%s%c%c=6 ", i ? "" : "TILE_A=6 TILE_A=12 ",
			 'F' + i, 'F' + i);
	}
	said(section.ptr, source.ptr, want.ptr,
	     "those that are named have their room");
	buf_release(&source);
	buf_release(&section);
	buf_release(&want);
}

/* ---- ways of asking ---- */

struct memory {
	struct oid v[4000];
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

/* The first max proposals' recipes, a line each; returns how many. */
static size_t asked(const struct set *t, enum propose_how how,
		    const char *recipe, const struct prior *prior,
		    uint64_t seed, size_t max, struct buf *out)
{
	static struct memory m;
	int bad = 0;

	for (m.nr = 0; m.nr < max && m.nr < ARRAY_SIZE(m.v); m.nr++) {
		struct propose_ask ask = {
			.how = how, .kernel = t->k, .origin = &t->src,
			.recipe = recipe, .seed = seed + m.nr, .prior = prior,
			.seen = seen, .seen_ctx = &m
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
		bad += builtin->apply(t->k, &t->src, p.recipe, &again, &err) !=
		       0;
		srcset_state(&again, &replayed);
		srcset_state(&p.source, &m.v[m.nr]);
		bad += !oid_eq(&replayed, &m.v[m.nr]) || seen(&m, &replayed) ||
		       strlen(p.subject) > 72 || !p.subject[0] ||
		       !p.plan.len || !p.strategy[0] || !(p.expect > 0);
		buf_addf(out, "%s\n", p.recipe);
		srcset_release(&again);
		proposal_release(&p);
	}
	is_int(bad, 0, "each is new, has its words, and can be replayed");
	return m.nr;
}

static const char *const how_names[] = { "best", "draw", "sample" };

static void ways(void)
{
	struct set t;

	set_init(&t, "", product);
	for (int how = PROPOSE_BEST; how <= PROPOSE_SAMPLE; how++) {
		struct buf a = BUF_INIT, b = BUF_INIT, c = BUF_INIT;

		asked(&t, (enum propose_how)how, "restrict", NULL, 1, 20, &a);
		asked(&t, (enum propose_how)how, "restrict", NULL, 1, 20, &b);
		asked(&t, (enum propose_how)how, "restrict", NULL, 99, 60, &c);
		is_str(b.ptr, a.ptr, "%s: equal seeds, equal steps",
		       how_names[how]);
		ok(strncmp(c.ptr, a.ptr, a.len) != 0, "%s: others differ",
		   how_names[how]);
		buf_release(&a);
		buf_release(&b);
		buf_release(&c);
	}
	set_release(&t);
}

/* A small space is gone through to its last setting, however many repeats the
 * draws give. */
static void exhausted(void)
{
	struct set t;

	set_init(&t, "\tdeny = ccopt\n", product);
	for (int how = PROPOSE_DRAW; how <= PROPOSE_SAMPLE; how++) {
		struct buf all = BUF_INIT;

		is_int(asked(&t, (enum propose_how)how, "", NULL, 7, 4000,
			     &all), 2 * 2 * 3 * 5 * 3 - 1, "%s: all there is",
		       how_names[how]);
		buf_release(&all);
	}
	set_release(&t);
}

/* How many of the first proposals hold a text. */
static int share(enum propose_how how, const char *recipe,
		 const struct prior *prior, const char *part)
{
	int nr = 0;
	struct set t;

	set_init(&t, "", product);
	for (uint64_t seed = 0; seed < 200; seed++) {
		struct propose_ask ask = {
			.how = how, .kernel = t.k, .origin = &t.src,
			.recipe = recipe, .seed = rng_mix(1, seed),
			.prior = prior
		};
		struct err err = ERR_INIT;
		struct proposal p;

		if (builtin->propose(&ask, &p, &err))
			continue;
		nr += strstr(p.recipe, part) != NULL;
		proposal_release(&p);
	}
	set_release(&t);
	return nr;
}

static void read_prior(struct prior *p, const char *text)
{
	struct err err = ERR_INIT;

	ok(!prior_parse(p, text, strlen(text), &err), "a prior");
}

static void by_the_prior(void)
{
	struct prior bad, good;
	int plain, less, more;

	/* Once is enough. */
	read_prior(&bad, "c d3r1s1c0w1-f32 fastmath(assoc) 1 1 0 0\n");
	read_prior(&good, "c d3r1s1c0w1-f32 TILE=16 20 0 20 40\n"
			  "c d3r1s1c0w1-f32 vw(512) 20 0 0 0\n");
	for (int how = PROPOSE_DRAW; how <= PROPOSE_SAMPLE; how++) {
		plain = share((enum propose_how)how, "", NULL, "fastmath");
		less = share((enum propose_how)how, "", &bad, "fastmath");
		ok(plain > 60 && less > 0 && less * 2 < plain,
		   "%s: what failed comes seldom: %d, before %d of 200",
		   how_names[how], less, plain);
		plain = share((enum propose_how)how, "", NULL, "TILE=16");
		more = share((enum propose_how)how, "", &good, "TILE=16");
		ok(plain > 0 && more > 2 * plain && more < 200,
		   "%s: what gained often: %d, before %d",
		   how_names[how], more, plain);
	}
	less = share(PROPOSE_DRAW, "restrict; fastmath(assoc)", NULL,
		     "fastmath");
	more = share(PROPOSE_DRAW, "restrict; fastmath(assoc)", &bad,
		     "fastmath");
	ok(less > 180 && less < 200 && more < less - 60,
	   "steps are taken back, those that fail more: %d and %d of 200 stay",
	   less, more);
	prior_release(&bad);
	prior_release(&good);
}

static void best_by_the_prior(void)
{
	struct buf got = BUF_INIT;
	struct prior p;
	struct set t;

	read_prior(&p, "c d3r1s1c0w1-f32 TILE=16 9 0 9 8\n"
		       "c d3r1s1c0w1-f32 ccopt(no-ivopts) 9 0 9 3\n"
		       "c d3r1s1c0w1-f32 fastmath(assoc) 1 1 0 0\n"
		       "c d3r1s1c0w1-f32 vw(512) 9 0 0 0\n");
	set_init(&t, "", product);
	asked(&t, PROPOSE_BEST, "", &p, 1, 13, &got);
	is_str(got.ptr,
	       /* fastmath failed here: it is not among the strongest */
	       "restrict; vw(512)\n"
	       "ccopt(no-ivopts); tunables(TILE=16)\n"
	       /* what is known to gain, what is not known */
	       "restrict\ntunables(TILE=16)\nccopt(no-ivopts)\n"
	       "tunables(TILE=128)\ntunables(DEPTH=5)\n"
	       /* other values of a number that gained */
	       "tunables(TILE=32)\ntunables(TILE=256)\n"
	       "ccopt(unroll-loops)\n"
	       /* second thoughts, and what is known to gain nothing */
	       "tunables(DEPTH=7)\nccopt(no-ivopts,unroll-loops)\n"
	       "ccopt(schedule-insns)\n",
	       "the order of steps by what they did");
	buf_reset(&got);
	asked(&t, PROPOSE_BEST, "", &p, 1, 17, &got);
	ok(strstr(got.ptr, "\nvw(512)\n") &&
	   strstr(got.ptr, "\nfastmath(assoc)\n") >
	   strstr(got.ptr, "\nvw(512)\n"), "what failed comes last");
	buf_reset(&got);
	asked(&t, PROPOSE_BEST, "restrict; fastmath(assoc)", &p, 1, 4, &got);
	ok(strstr(got.ptr, "\nrestrict\n") != NULL,
	   "and is taken away early");
	buf_reset(&got);
	asked(&t, PROPOSE_BEST, "tunables(TILE=16)", &p, 1, 7, &got);
	ok(strstr(got.ptr, "\ntunables(TILE=32)\n") != NULL,
	   "a number that gained is tuned further");
	buf_release(&got);
	prior_release(&p);
	set_release(&t);
}

/* ---- shapes ---- */

static void is_shape(const char *more, const char *source, const char *want,
		     const char *title)
{
	struct buf got = BUF_INIT;
	struct set t;

	set_init(&t, more, source);
	builtin->shape(t.k, &t.src, &got);
	is_str(got.ptr, want, "%s", title);
	ok(got.len <= 60 && strspn(got.ptr, "abcdefghijklmnopqrstuvwxyz"
				   "0123456789-") == got.len, "one word");
	buf_release(&got);
	set_release(&t);
}

static void shapes(void)
{
	is_shape("", product, "d3r1s1c0w1-f32", "of a product");
	is_shape("", "void f(const float *x, float *y, int n)\n{\n"
		     "	for (int i = 0; i < n; i++)\n"
		     "		y[i] = expf(x[i]) + tanhf(x[i]) + expf(1);\n"
		     "}\n", "d1r0s0c2w1-f32", "of a map");
	is_shape("", "void f(float *x, float *y, int n) { y[0] = x[n]; }\n",
		 "d0r0s0c0w0-f32", "no loop");
	is_shape("", "#define K(f) void f(float *x, float *y, int n)\n"
		     "K(f) { y[0] = expf(1); }\n", "x-f32", "made by a macro");
	is_shape("", "void f(float *x) { /*", "x-f32", "not to be read");
}

int main(void)
{
	spaces();
	compositions();
	round_trips();
	declared();
	ways();
	exhausted();
	by_the_prior();
	best_by_the_prior();
	shapes();
	return tap_done();
}
