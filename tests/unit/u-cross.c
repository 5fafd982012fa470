/* needs: agents/registry.c agents/scripted/s*.c core/usage.c agents/builtin/builtin.c agents/builtin/ccopt.c
	agents/builtin/cfunc.c agents/builtin/clex.c agents/builtin/cross.c
	agents/builtin/evidence.c agents/builtin/fastmath.c
	agents/builtin/maxloop.c agents/builtin/moves.c agents/builtin/draw.c agents/builtin/locus.c
	agents/builtin/memo.c agents/builtin/learn.c agents/builtin/model.c
	agents/builtin/shape.c agents/builtin/space.c agents/builtin/recipe.c
	agents/builtin/restrict.c agents/builtin/site.c
	agents/builtin/strategy.c agents/builtin/tunables.c
	agents/builtin/vecmath.c agents/builtin/vectext.c agents/builtin/vw.c
	core/proposer.c core/graph.c core/prior.c core/record.c core/rng.c core/source.c core/sha1.c core/kernel.c
	core/kernel_arg.c core/kernel_flags.c core/kernel_keys.c
	core/kernel_shape.c core/ini.c core/expr.c core/dtype.c */
#include "tests/unit/tap.h"

#include <stdlib.h>

#include "agents/agents.h"
#include "agents/builtin/moves.h"
#include "core/mem.h"
#include "core/rng.h"

#define SEEDS 40

static const char section[] =
	"[kernel \"k\"]\n\tfile = k.c\n\tentry = f\n"
	"\targ = in f32 x[n]\n\targ = out f32 y[n]\n\targ = dim n\n"
	"\ttime = n=1000\n\tcheck = n=7\n\tdeny = ccopt\n";
static const char source[] =
	"#include <math.h>\n"
	"#define TILE 32\n#define UNROLL 4\n"
	"void f(const float *x, float *y, int n)\n"
	"{\n"
	"\tfor (int j = 0; j < n; j += TILE)\n"
	"\t\tfor (int i = j; i < j + TILE && i < n; i++)\n"
	"\t\t\ty[i] = expf(x[i]) * UNROLL;\n"
	"}\n";

static struct kernel_file file;
static struct srcset set;
static const struct proposer *builtin;

/* The crossed recipe, or NULL; the caller frees. */
static char *crossed(const char *a, const char *b, uint64_t seed, int *ret)
{
	struct buf out = BUF_INIT;
	struct err err = ERR_INIT;

	*ret = builtin->cross(&file.v[0], &set, a, b, seed, &out, &err);
	if (!*ret)
		return buf_detach(&out);
	buf_release(&out);
	return NULL;
}

static void gives(const char *a, const char *b, const char *want)
{
	int ret;
	char *got = crossed(a, b, 1, &ret);

	is_str(got, want, "%s x %s", a, b);
	free(got);
}

/* Over many seeds exactly these come out, each at least once. */
static void gives_one_of(const char *a, const char *b, const char *x,
			 const char *y)
{
	int nx = 0, ny = 0, other = 0, ret;

	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		char *got = crossed(a, b, seed, &ret);

		nx += got && !strcmp(got, x);
		ny += got && !strcmp(got, y);
		other += !got || (strcmp(got, x) && strcmp(got, y));
		free(got);
	}
	ok(nx && ny && !other, "%s x %s: the seed decides (%d, %d, %d)", a, b,
	   nx, ny, other);
}

static void gives_nothing(const char *a, const char *b)
{
	int ret;
	char *got = crossed(a, b, 1, &ret);

	ok(!got && ret == ERR_NOTFOUND, "%s x %s: nothing new", a, b);
	free(got);
}

/* A recipe a few random moves from the origin. */
static void random_recipe(struct rng *rng, struct buf *out)
{
	struct recipe r = RECIPE_INIT;
	struct err err = ERR_INIT;
	struct site s;

	if (site_init(&s, &file.v[0], &set, &err))
		return;
	for (uint64_t n = 1 + rng_below(rng, 3); n; n--) {
		struct recipe next;
		struct moves m;

		moves_find(&m, &s, &r, NULL);
		moves_pairs(&m, rng_next(rng));
		move_apply(&m, &m.v[rng_below(rng, m.nr)], &r, &next);
		recipe_release(&r);
		r = next;
		moves_release(&m);
	}
	recipe_print(&r, out);
	recipe_release(&r);
	site_release(&s);
}

/* A step of the child is a step of a parent. */
static bool is_of_both(const char *child, const char *a, const char *b)
{
	struct recipe c, x, y;
	struct err err = ERR_INIT;
	bool good = !recipe_parse(&c, child, &err) &&
		    !recipe_parse(&x, a, &err) && !recipe_parse(&y, b, &err);

	for (size_t i = 0; good && i < c.nr; i++) {
		const struct gene *p = recipe_find(&x, c.v[i].name);
		const struct gene *q = recipe_find(&y, c.v[i].name);

		good = p || q;
		for (size_t k = 0; good && k < c.v[i].args.nr; k++)
			good = (p && strv_has(&p->args, c.v[i].args.v[k])) ||
			       (q && strv_has(&q->args, c.v[i].args.v[k]));
	}
	recipe_release(&c);
	recipe_release(&x);
	recipe_release(&y);
	return good;
}

static bool replays(const char *recipe)
{
	struct srcset out = SRCSET_INIT;
	struct err err = ERR_INIT;
	bool good = !builtin->apply(&file.v[0], &set, recipe, &out, &err);

	srcset_release(&out);
	return good;
}

static void property(void)
{
	struct rng rng;
	int nr = 0, bad = 0;

	rng_init(&rng, 20);
	for (int i = 0; i < 300; i++) {
		struct buf a = BUF_INIT, b = BUF_INIT;
		uint64_t seed = rng_next(&rng);
		char *one, *two;
		int ret;

		random_recipe(&rng, &a);
		random_recipe(&rng, &b);
		one = crossed(a.ptr, b.ptr, seed, &ret);
		two = crossed(a.ptr, b.ptr, seed, &ret);
		bad += (one != NULL) != (two != NULL);
		if (one && two) {
			nr++;
			bad += strcmp(one, two) || !strcmp(one, a.ptr) ||
			       !strcmp(one, b.ptr) || !replays(one) ||
			       !is_of_both(one, a.ptr, b.ptr);
		}
		free(one);
		free(two);
		buf_release(&a);
		buf_release(&b);
	}
	ok(nr > 50, "%d of 300 random pairs give something", nr);
	is_int(bad, 0, "new, of steps of both, replayable, the same again");
}

int main(void)
{
	struct err err = ERR_INIT;
	int ret;
	char *got;

	builtin = proposer_find("builtin");
	if (kernel_file_parse(&file, "test", section, strlen(section), &err)) {
		printf("Bail out! %s\n", err.msg);
		return 1;
	}
	srcset_put(&set, "k.c", source, strlen(source), true);
	gives("restrict", "vecmath(exp)", "restrict; vecmath(exp)");
	gives("vw(512); restrict", "fastmath(assoc); restrict",
	      "restrict; fastmath(assoc); vw(512)");
	gives("tunables(TILE=64)", "tunables(UNROLL=8)",
	      "tunables(TILE=64,UNROLL=8)");
	gives_one_of("restrict; vw(512)", "vecmath(exp); vw(256)",
		     "restrict; vecmath(exp); vw(512)",
		     "restrict; vecmath(exp); vw(256)");
	gives_one_of("restrict; tunables(TILE=64)",
		     "vecmath(exp); tunables(TILE=128)",
		     "restrict; vecmath(exp); tunables(TILE=64)",
		     "restrict; vecmath(exp); tunables(TILE=128)");
	gives_nothing("vw(512)", "vw(512)");
	gives_nothing("restrict; vw(512)", "vw(512)");
	got = crossed("restrict; (", "vw(512)", 1, &ret);
	ok(!got && ret == ERR_FORMAT, "a recipe that is none is an error");
	free(got);
	property();
	kernel_file_release(&file);
	srcset_release(&set);
	return tap_done();
}
