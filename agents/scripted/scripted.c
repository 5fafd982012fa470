#include "agents/scripted/scripted.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "agents/scripted/script.h"
#include "core/mem.h"
#include "core/rng.h"

#define MAX_GENES 64
#define SAMPLE_GENES 3
#define SAMPLE_TRIES 64

struct genes {
	int v[MAX_GENES];
	int nr;
};

/* ---- recipes ---- */

static int bad_recipe(const char *recipe, struct err *err)
{
	return err_set(err, ERR_FORMAT, "'%.40s' is no recipe of the scripted "
		       "proposer", recipe);
}

static int parse_genes(const char *recipe, struct genes *g, struct err *err)
{
	const char *p = recipe;

	g->nr = 0;
	while (*p) {
		char *end;
		long x;

		if (strncmp(p, "s(", 2) || p[2] < '1' || p[2] > '9')
			return bad_recipe(recipe, err);
		errno = 0;
		x = strtol(p + 2, &end, 10);
		if (errno || *end != ')' || x > SCRIPT_MAX_BRANCH ||
		    g->nr == MAX_GENES)
			return bad_recipe(recipe, err);
		g->v[g->nr++] = (int)x;
		p = end + 1;
		if (!strncmp(p, "; s(", 4))
			p += 2;
		else if (*p)
			return bad_recipe(recipe, err);
	}
	return 0;
}

static void print_genes(const struct genes *g, struct buf *out)
{
	for (int i = 0; i < g->nr; i++)
		buf_addf(out, "%ss(%d)", i ? "; " : "", g->v[i]);
}

static int apply_genes(const struct srcset *origin, const struct genes *g,
		       struct srcset *out, struct err *err)
{
	struct srcfile *f = NULL;

	srcset_copy(out, origin);
	for (size_t i = 0; !f && i < out->nr; i++)
		if (out->v[i].writable)
			f = &out->v[i];
	if (!f)
		return err_set(err, ERR_FORMAT, "the kernel has no file that "
			       "may change");
	if (!g->nr)
		return 0;
	if (f->text.len && f->text.ptr[f->text.len - 1] != '\n')
		buf_addch(&f->text, '\n');
	buf_addstr(&f->text, "/* ");
	print_genes(g, &f->text);
	buf_addstr(&f->text, " */\n");
	return 0;
}

static int scripted_apply(const struct kernel *k, const struct srcset *origin,
			  const char *recipe, struct srcset *out,
			  struct err *err)
{
	struct genes g;

	(void)k;
	if (parse_genes(recipe, &g, err) < 0)
		return err->code;
	return apply_genes(origin, &g, out, err);
}

static bool has_gene(const struct genes *g, int gene)
{
	for (int i = 0; i < g->nr; i++)
		if (g->v[i] == gene)
			return true;
	return false;
}

static int scripted_cross(const struct kernel *k, const struct srcset *origin,
			  const char *a, const char *b, uint64_t seed,
			  struct buf *out, struct err *err)
{
	struct genes x, y, all;
	bool of_x = false, of_y = false;

	(void)k;
	(void)origin;
	if (parse_genes(a, &x, err) < 0 || parse_genes(b, &y, err) < 0)
		return err->code;
	if (seed & 1) {
		all = x;
		x = y;
		y = all;
	}
	all = x;
	for (int i = 0; i < y.nr; i++) {
		if (has_gene(&all, y.v[i]))
			continue;
		if (all.nr == MAX_GENES)
			return err_set(err, ERR_NOTFOUND, "too long");
		all.v[all.nr++] = y.v[i];
		of_y = true;
	}
	for (int i = 0; i < x.nr; i++)
		of_x |= !has_gene(&y, x.v[i]);
	if (!of_x || !of_y)
		return err_set(err, ERR_NOTFOUND, "it would be one of the "
			       "two");
	print_genes(&all, out);
	return 0;
}

/* ---- one attempt ---- */

struct attempt {
	const struct propose_ask *ask;
	struct script script;
	struct genes parent, genes;
	struct rng rng;
	bool empty, dup;
};

static int read_script(struct script *s, struct err *err)
{
	const char *path = getenv(SCRIPTED_VARIABLE);

	if (!path || !*path)
		return err_set(err, ERR_USAGE, "the scripted proposer needs a "
			       "script in " SCRIPTED_VARIABLE);
	return script_read(s, path, err);
}

static bool by_chance(struct attempt *a, int percent)
{
	return rng_below(&a->rng, 100) < (uint64_t)percent;
}

static bool is_new(const struct attempt *a, struct err *err)
{
	struct srcset source = SRCSET_INIT;
	struct oid state;
	bool new = false;

	if (apply_genes(a->ask->origin, &a->genes, &source, err) == 0) {
		srcset_state(&source, &state);
		new = !a->ask->seen(a->ask->seen_ctx, &state);
	}
	srcset_release(&source);
	return new;
}

static bool find_sample(struct attempt *a, struct err *err)
{
	uint64_t branch = (uint64_t)a->script.branch;

	for (int try = 0; try < SAMPLE_TRIES; try++) {
		a->genes.nr = 1 + (int)rng_below(&a->rng, SAMPLE_GENES);
		for (int i = 0; i < a->genes.nr; i++)
			a->genes.v[i] = 1 + (int)rng_below(&a->rng, branch);
		if (is_new(a, err))
			return true;
	}
	return false;
}

/* The first child that is not there yet, from the first or a drawn one on. */
static bool find_child(struct attempt *a, struct err *err)
{
	int branch = a->script.branch, from = 0;

	if (a->parent.nr == MAX_GENES)
		return false;
	if (a->ask->how == PROPOSE_DRAW)
		from = (int)rng_below(&a->rng, (uint64_t)branch);
	a->genes = a->parent;
	a->genes.nr++;
	for (int i = 0; i < branch; i++) {
		a->genes.v[a->genes.nr - 1] = 1 + (from + i) % branch;
		if (is_new(a, err))
			return true;
	}
	return false;
}

static void call_id(const struct propose_ask *ask, size_t i, char id[13])
{
	uint64_t x = rng_mix(ask->seed, rng_hash(ask->kernel->name,
						 strlen(ask->kernel->name)));

	x = rng_mix(x, (uint64_t)ask->step << 8 | i);
	snprintf(id, 13, "%012llx",
		 (unsigned long long)(x & 0xffffffffffffu));
}

static int make_calls(struct attempt *a, struct err *err)
{
	const struct propose_ask *ask = a->ask;

	for (size_t i = 0; i < a->script.calls.nr; i++) {
		struct usage one = a->script.calls.v[i];

		call_id(ask, i, one.id);
		one.seconds = (double)a->script.delay_ms / 1000;
		if (ask->used && ask->used(ask->used_ctx, &one, err) < 0)
			return err->code;
	}
	if (a->script.die == ask->step && unlink(a->script.die_file) == 0)
		raise(SIGKILL);
	return 0;
}

static void describe(struct attempt *a, struct proposal *out)
{
	const struct genes *g = &a->genes;
	int gene = g->nr ? g->v[g->nr - 1] : 0;
	struct buf recipe = BUF_INIT;

	print_genes(g, &recipe);
	out->strategy = xasprintf("s%d", gene);
	out->subject = xasprintf("%.24s: %.44s", a->ask->kernel->name,
				 recipe.ptr);
	buf_addf(&out->plan, "### scripted step %d\n\nRecipe: `%s`.\n", gene,
		 recipe.ptr);
	out->recipe = buf_detach(&recipe);
	out->expect = 1;
	if (a->ask->parent_steps > 0)
		out->steps = a->ask->parent_steps - 1;
	else if (a->script.steps > 0)
		out->steps = a->script.steps - 1;
}

static int answer(struct attempt *a, struct proposal *out, struct err *err)
{
	if (a->script.fail == a->ask->step)
		return err_set(err, ERR_NET, "step %u fails, as the script "
			       "says", a->ask->step);
	if (a->empty) {
		buf_addstr(&out->plan, "The script has no answer here.\n");
		return err_set(err, ERR_PROPOSAL, "the script has no answer");
	}
	if (a->dup)
		a->genes = a->parent;
	describe(a, out);
	return apply_genes(a->ask->origin, &a->genes, &out->source, err);
}

static int attempt(struct attempt *a, struct proposal *out, struct err *err)
{
	struct timespec delay = {
		a->script.delay_ms / 1000,
		a->script.delay_ms % 1000 * 1000000
	};
	const char *recipe = a->ask->recipe;
	bool found;

	if (parse_genes(recipe, &a->parent, err) < 0)
		return err->code;
	rng_init(&a->rng, rng_mix(a->ask->seed, rng_hash(recipe,
							 strlen(recipe))));
	a->empty = by_chance(a, a->script.empty);
	a->dup = by_chance(a, a->script.dup);
	*err = (struct err)ERR_INIT;
	found = a->ask->how == PROPOSE_SAMPLE ? find_sample(a, err) :
		find_child(a, err);
	if (err->code)
		return err->code;
	if (!found)
		return err_set(err, ERR_NOTFOUND, "all of it was tried");
	if (a->script.delay_ms)
		nanosleep(&delay, NULL);
	if (make_calls(a, err) < 0)
		return err->code;
	return answer(a, out, err);
}

static int scripted_propose(const struct propose_ask *ask,
			    struct proposal *out, struct err *err)
{
	struct attempt a = { .ask = ask };
	int ret;

	proposal_init(out);
	ret = read_script(&a.script, err);
	if (ret < 0)
		return ret;
	ret = attempt(&a, out, err);
	script_release(&a.script);
	return ret;
}

/* ---- the rest ---- */

static void scripted_shape(const struct kernel *k, const struct srcset *origin,
			   struct buf *out)
{
	(void)k;
	(void)origin;
	buf_addstr(out, "scripted");
}

static void scripted_estimate(const struct kernel *k, int64_t *tokens,
			      double *cost)
{
	struct script s;
	struct err ignored;

	(void)k;
	*tokens = 0;
	*cost = 0;
	if (read_script(&s, &ignored) < 0)
		return;
	*tokens = usages_tokens(&s.calls);
	*cost = usages_cost(&s.calls, NULL);
	script_release(&s);
}

const struct proposer proposer_scripted = {
	.name = "scripted",
	.summary = "what the script in " SCRIPTED_VARIABLE " says, for tests",
	.spends = true,
	.propose = scripted_propose,
	.apply = scripted_apply,
	.cross = scripted_cross,
	.shape = scripted_shape,
	.estimate = scripted_estimate,
};
