/* needs: core/dtype.c core/expr.c core/graph.c core/ini.c core/kernel*.c \
 *	core/oidset.c core/policy*.c core/prior.c core/proposer.c \
 *	core/record.c core/rng.c core/round.c core/sha1.c core/source.c \
 *	core/usage.c agents/builtin/[a-z]*.c \
 *	tests/bench/table.c
 *
 * Policies on recorded tables (tests/bench/table.h), without Git and without a
 * judge: rounds are planned as a search plans them (core/round.h), what came
 * of an attempt is read from the table.
 *
 *	replay run [<option>...] <kernel>...
 *	replay prior [<option>...]
 *
 *	--kernels <folder>	has .maxkernel, roles and sources
 *	--sources <folder>	more sources; again for more of them
 *	--tables <folder>	has <kernel>.tsv
 *	--attempts <n> --most <n> --seeds <n> --policy <name>
 *	--no-prior		nothing is known of strategies beforehand
 *	--tell			each attempt on stderr
 *
 * run prints a line for each kernel, policy and seed: these three, the share
 * of the table's best that was found after --attempts, attempts to 95 % of it
 * (looked for up to --most; "-": not reached), how many proposals were in no
 * table, then the share after each attempt.  The policy "random" draws from
 * the table.  What is known beforehand comes from the tables of the kernels
 * whose role is "train", but the one that is replayed.
 *
 * prior prints it as text (core/prior.h), from all of these tables.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agents/builtin/builtin.h"
#include "core/mem.h"
#include "core/round.h"
#include "tests/bench/table.h"

#define GOAL 0.95
#define MAX_ROLES 256
/* A table counts as so many tries of each gene: about as many as a search
 * would have made, since what a kernel itself shows has to weigh more. */
#define PRIOR_TRIES 4

struct options {
	const char *kernels, *tables, *policy;
	struct strv sources;
	long attempts, most, seeds;
	bool no_prior, tell;
};

struct trained {		/* what one table teaches */
	char *kernel;
	struct prior prior;
};

struct bench {
	struct options o;
	struct trained v[MAX_ROLES];
	size_t nr;
};

static _Noreturn void die(const struct err *err)
{
	fprintf(stderr, "replay: %s\n", err->msg);
	exit(128);
}

/* ---- what the tables teach ---- */

static size_t same_but(const struct table *t, const struct row *r, size_t locus)
{
	for (size_t i = 0; i < t->nr; i++) {
		const int *s = t->v[i].setting;

		if (s[locus] != -1)
			continue;
		if (!memcmp(s, r->setting, locus * sizeof(int)) &&
		    !memcmp(s + locus + 1, r->setting + locus + 1,
			    (t->space.nr - locus - 1) * sizeof(int)))
			return t->v[i].same;
	}
	return t->nr;
}

struct tally {
	uint32_t tried, failed, won;
	double gain;
};

/* The step from a setting without this gene to the one with it. */
static void tally_step(const struct table *t, const struct row *child,
		       size_t locus, struct tally *sum)
{
	size_t from = same_but(t, child, locus);
	const struct row *parent = from < t->nr ? &t->v[from] : NULL;
	bool timed = verdict_is_timed(child->verdict);

	if (!parent || !verdict_is_timed(parent->verdict) ||
	    child->verdict == V_NO_VERDICT)
		return;
	sum->tried++;
	sum->failed += !timed;
	if (!timed)
		return;
	sum->won += child->lr - parent->lr > PRIOR_WON;
	sum->gain += child->lr - parent->lr;
}

static uint32_t scaled(uint32_t nr, double by)
{
	return (uint32_t)lround(nr * by);
}

static void learn_gene(const struct table *t, size_t locus, int value,
		       const char *target, struct prior *p)
{
	char *gene = t->space.v[locus].values.v[value];
	struct tally sum = { 0, 0, 0, 0 };
	struct prior_count c = { .gene = gene, .shape = t->shape };
	struct prior one = { &c, 1, 1 };
	double by;

	for (size_t i = 0; i < t->nr; i++)
		if (t->v[i].verdict != V_DUP && t->v[i].setting[locus] == value)
			tally_step(t, &t->v[i], locus, &sum);
	if (!sum.tried)
		return;
	by = fmin(1, (double)PRIOR_TRIES / sum.tried);
	c.target = xstrdup(target);
	c.tried = scaled(sum.tried, by);
	c.failed = scaled(sum.failed, by);
	c.won = scaled(sum.won, by);
	if (c.won > c.tried - c.failed)
		c.won = c.tried - c.failed;
	if (sum.tried > sum.failed)
		c.gain = sum.gain / (sum.tried - sum.failed) *
			(c.tried - c.failed);
	prior_add(p, &one);
	free(c.target);
}

static void learn(const struct table *t, const char *target, struct prior *p)
{
	/* A number is called TILE here and there, and means another thing. */
	for (size_t i = 0; i < t->space.nr; i++)
		for (size_t k = 0; k < t->space.v[i].values.nr; k++)
			if (!t->space.v[i].tunable)
				learn_gene(t, i, (int)k, target, p);
}

static void open_both(const struct options *o, const char *name,
		      struct subject *s, struct table *t)
{
	char *maxkernel = xasprintf("%s/.maxkernel", o->kernels);
	char *path = xasprintf("%s/%s.tsv", o->tables, name);
	struct err err = ERR_INIT;

	if (subject_open(s, maxkernel, name, &o->sources, &err) ||
	    table_read(t, path, &err) || subject_fits(s, t, &err))
		die(&err);
	if (!t->done) {
		err_set(&err, ERR_FORMAT, "%s is not whole: 'make "
			"bench-search-record' goes on with it", path);
		die(&err);
	}
	free(maxkernel);
	free(path);
}

static void train(struct bench *b, const char *name)
{
	struct subject s;
	struct table t;

	open_both(&b->o, name, &s, &t);
	b->v[b->nr].kernel = xstrdup(name);
	learn(&t, s.k->target, &b->v[b->nr].prior);
	b->nr++;
	table_release(&t);
	subject_release(&s);
}

static void train_all(struct bench *b)
{
	char *path = xasprintf("%s/roles", b->o.kernels);
	struct buf text = BUF_INIT;
	struct err err = ERR_INIT;
	char *at, *line;

	if (buf_read_file(&text, path, 1 << 16, &err))
		die(&err);
	at = text.ptr;
	for (line = strsep(&at, "\n"); line; line = strsep(&at, "\n"))
		if (!strncmp(line, "train ", 6) && b->nr < MAX_ROLES)
			train(b, line + 6);
	buf_release(&text);
	free(path);
}

static void prior_without(const struct bench *b, const char *kernel,
			  struct prior *out)
{
	*out = (struct prior)PRIOR_INIT;
	for (size_t i = 0; i < b->nr; i++)
		if (!kernel || strcmp(b->v[i].kernel, kernel) != 0)
			prior_add(out, &b->v[i].prior);
}

/* ---- one search ---- */

struct replayed {
	const struct bench *b;
	const struct subject *s;
	const struct table *t;
	struct spec spec;
	struct graph g;
	struct prior prior;
	struct oidset seen;
	uint32_t counted;	/* steps that are in prior */
	double best;		/* ln */
	double *curve;		/* ln, after each attempt */
	long nr, outside;
};

static int source(void *ctx, uint32_t node, struct srcset *out,
		  struct err *err)
{
	const struct replayed *r = ctx;

	if (node)
		return err_set(err, ERR_NOTFOUND, "all origins are the root");
	srcset_copy(out, &r->s->root);
	return 0;
}

static bool wanted_more(const struct replayed *r)
{
	double goal = r->t->v[r->t->best].lr + log(GOAL);

	return r->nr < r->b->o.attempts ||
	       (r->nr < r->b->o.most && r->best < goal);
}

static void add_root(struct replayed *r)
{
	struct node n = { .parent = { NODE_NONE, NODE_NONE } };

	n.state = n.id = r->s->state;
	n.op = xstrdup("root");
	n.recipe = xstrdup("");
	record_init(&n.rec);
	n.rec.verdict = V_SAME;
	n.rec.est_speedup = 1;
	graph_add(&r->g, &n);
	graph_settle(&r->g);
	oidset_add(&r->seen, &n.state);
}

/* What the judge would say beside the champion. */
static enum verdict beside(double lr, double champion)
{
	return lr > champion + 0.01 ? V_FASTER :
	       lr < champion - 0.01 ? V_SLOWER : V_SAME;
}

static void add_attempt(struct replayed *r, struct planned *a, double champion)
{
	size_t at = table_find(r->t, &a->state);
	const struct row *row = at < r->t->nr ? &r->t->v[at] : NULL;
	struct node n = { .parent = { a->parent[0], a->parent[1] } };

	n.state = n.id = a->state;
	n.step = a->step;
	n.op = xstrdup(a->op);
	n.proposer = xstrdup(a->by->name);
	n.strategy = xstrdup(a->p.strategy);
	n.recipe = xstrdup(a->p.recipe);
	n.steps = a->p.steps;
	record_init(&n.rec);
	n.rec.verdict = row ? row->verdict : V_BUILD_FAIL;
	if (verdict_is_timed(n.rec.verdict)) {
		n.rec.verdict = beside(row->lr, champion);
		n.rec.lr = row->lr - champion;
		n.rec.est_speedup = exp(row->lr);
		r->best = fmax(r->best, row->lr);
	}
	r->outside += !row;
	if (r->b->o.tell)
		fprintf(stderr, "%s %ld: %ld %s %s %s %.3f\n", r->spec.policy,
			(long)r->spec.seed, r->nr + 1, a->op,
			row ? verdict_name(row->verdict) : "outside",
			a->p.recipe, row ? exp(row->lr) : NAN);
	graph_add(&r->g, &n);
	r->curve[r->nr++] = r->best;
}

/* The best of a round is confirmed if it is the best of all. */
static void crown(struct replayed *r, uint32_t from)
{
	double least = r->g.node[r->g.champion].score + 0.01;
	uint32_t best = NODE_NONE;
	struct record *rec;

	graph_settle(&r->g);
	for (uint32_t i = from; i < r->g.nr; i++)
		if (policy_usable(&r->g, i) && r->g.node[i].score > least &&
		    (best == NODE_NONE ||
		     r->g.node[i].score > r->g.node[best].score))
			best = i;
	if (best == NODE_NONE)
		return;
	rec = &r->g.node[best].rec;
	rec->verdict = V_CONFIRMED;
	rec->speedup = rec->ci_low = rec->ci_high = rec->est_speedup;
	graph_settle(&r->g);
}

/* False: nothing is left. */
static bool do_round(struct replayed *r, uint32_t round)
{
	struct round_plan plan = {
		.spec = &r->spec, .kernel = r->s->k, .graph = &r->g,
		.prefix = r->g.nr, .policy = policy_find(r->spec.policy),
		.proposer = &proposer_builtin, .prior = &r->prior,
		.round = round, .own_round = round, .seen = &r->seen,
		.source = source, .ctx = r,
	};
	uint32_t from = r->g.nr, before = round * (uint32_t)r->spec.round;
	double champion = r->g.node[r->g.champion].score;
	struct err err = ERR_INIT;
	bool more;

	prior_count_graph(&r->prior, &r->g, r->counted, before,
			  r->s->k->target, r->spec.shape);
	r->counted = before;
	if (round_make(&plan, &err))
		die(&err);
	more = plan.nr > 0;
	for (size_t i = 0; i < plan.nr && wanted_more(r); i++)
		add_attempt(r, &plan.v[i], champion);
	round_release(&plan);
	crown(r, from);
	return more;
}

static void end_of_policy(const struct replayed *r, uint32_t round, bool *end)
{
	const struct policy *p = policy_find(r->spec.policy);
	struct policy_view v = { .spec = &r->spec, .graph = &r->g,
				 .round = round };

	*end = p->finished && p->finished(&v);
}

static void search(struct replayed *r)
{
	bool more = true, end = false;

	add_root(r);
	for (uint32_t round = 0; more && !end && wanted_more(r); round++) {
		more = do_round(r, round);
		end_of_policy(r, round + 1, &end);
	}
}

/* Rows in any order, each once; the root is not drawn. */
static void draw_all(struct replayed *r)
{
	size_t *left = xcalloc(r->t->nr, sizeof(*left)), nr = 0;
	struct rng rng;

	rng_init(&rng, rng_mix(r->spec.seed, 77));
	for (size_t i = 0; i < r->t->nr; i++)
		if (r->t->v[i].verdict != V_DUP &&
		    !oid_eq(&r->t->v[i].state, &r->t->root))
			left[nr++] = i;
	while (nr && wanted_more(r)) {
		size_t k = rng_below(&rng, nr);
		const struct row *row = &r->t->v[left[k]];

		if (verdict_is_timed(row->verdict))
			r->best = fmax(r->best, row->lr);
		r->curve[r->nr++] = r->best;
		left[k] = left[--nr];
	}
	free(left);
}

/* ---- printing ---- */

static double share(const struct replayed *r, long at)
{
	long last = at < r->nr ? at : r->nr;

	return exp((last ? r->curve[last - 1] : 0) -
		   r->t->v[r->t->best].lr);
}

static void print_one(const struct replayed *r, const char *policy, long seed)
{
	long goal = 0;

	while (goal <= r->nr && share(r, goal) < GOAL)
		goal++;
	printf("%s\t%s\t%ld\t%.4f\t", r->t->kernel, policy, seed,
	       share(r, r->b->o.attempts));
	if (goal <= r->nr)
		printf("%ld", goal);
	else
		printf("-");
	printf("\t%ld\t", r->outside);
	for (long i = 1; i <= r->b->o.attempts; i++)
		printf("%s%.4f", i > 1 ? "," : "", share(r, i));
	printf("\n");
}

static void replay_one(const struct bench *b, const struct subject *s,
		       const struct table *t, const struct prior *prior,
		       const char *policy, long seed)
{
	static char none[] = "", builtin[] = "builtin";
	bool random = !strcmp(policy, "random");
	char *name = xstrdup(policy);
	struct replayed r = { .b = b, .s = s, .t = t };

	r.spec = (struct spec){
		.kernel = t->kernel, .section = none, .policy = name,
		.proposer = builtin, .inner = none, .device = t->device,
		.seeds = none, .prior = none, .shape = t->shape,
		.space = space_size(&t->space), .group = none,
		.seed = (uint64_t)seed,
		.budget = { .attempts = b->o.attempts },
	};
	r.curve = xcalloc((size_t)b->o.most + 64, sizeof(*r.curve));
	if (!random) {
		policy_defaults(policy, &r.spec);
		r.spec.round = round_size(&r.spec);
	}
	prior_copy(&r.prior, prior);
	graph_init(&r.g);
	if (random)
		draw_all(&r);
	else
		search(&r);
	print_one(&r, policy, seed);
	graph_release(&r.g);
	oidset_release(&r.seen);
	prior_release(&r.prior);
	free(r.curve);
	free(name);
}

static void run_kernel(const struct bench *b, const char *name)
{
	struct prior prior;
	struct subject s;
	struct table t;

	open_both(&b->o, name, &s, &t);
	prior_without(b, name, &prior);
	for (int i = -1; i < 0 || policy_list()[i]; i++) {
		const char *policy = i < 0 ? "random" : policy_list()[i]->name;

		if (b->o.policy && strcmp(b->o.policy, policy) != 0)
			continue;
		for (long seed = 1; seed <= b->o.seeds; seed++)
			replay_one(b, &s, &t, &prior, policy, seed);
	}
	fflush(stdout);
	prior_release(&prior);
	table_release(&t);
	subject_release(&s);
}

static void print_prior(const struct bench *b)
{
	struct buf text = BUF_INIT;
	struct prior all;

	prior_without(b, NULL, &all);
	buf_addf(&text, "# What strategies gained on %zu kernels, by `make "
		 "bench-search-prior`; see core/prior.h.\n", b->nr);
	prior_format(&all, PRIOR_MAX_TEXT - text.len, &text);
	fwrite(text.ptr, 1, text.len, stdout);
	buf_release(&text);
	prior_release(&all);
}

/* ---- options ---- */

static bool take_option(struct options *o, const char *name, const char *value)
{
	struct {
		const char *name;
		long *to;
	} numbers[] = {
		{ "--attempts", &o->attempts }, { "--most", &o->most },
		{ "--seeds", &o->seeds },
	};

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		if (strcmp(name, numbers[i].name) != 0)
			continue;
		*numbers[i].to = strtol(value, NULL, 10);
		return *numbers[i].to > 0 && *numbers[i].to <= 100000;
	}
	if (!strcmp(name, "--kernels")) {
		o->kernels = value;
		strv_push(&o->sources, value);
	} else if (!strcmp(name, "--sources")) {
		strv_push(&o->sources, value);
	} else if (!strcmp(name, "--tables")) {
		o->tables = value;
	} else if (!strcmp(name, "--policy")) {
		o->policy = value;
	} else {
		return false;
	}
	return true;
}

int main(int argc, char **argv)
{
	struct bench b = { .o = { .attempts = 40, .most = 200, .seeds = 20,
				  .kernels = NULL } };
	bool good = argc > 1, run = good && !strcmp(argv[1], "run");
	int at = 2;

	while (good && at < argc && !strncmp(argv[at], "--", 2)) {
		if (!strcmp(argv[at], "--no-prior") ||
		    !strcmp(argv[at], "--tell")) {
			*(argv[at][2] == 'n' ? &b.o.no_prior : &b.o.tell) =
				true;
			at++;
			continue;
		}
		good = at + 1 < argc &&
			take_option(&b.o, argv[at], argv[at + 1]);
		at += 2;
	}
	if (!good || !b.o.kernels || !b.o.tables ||
	    (!run && strcmp(argv[1], "prior") != 0)) {
		fputs("usage: replay run|prior --kernels <folder> --tables "
		      "<folder> [--sources <folder>]...\n"
		      "       [--attempts <n>] [--most <n>] [--seeds <n>] "
		      "[--policy <name>] [--no-prior] [--tell] "
		      "[<kernel>...]\n", stderr);
		return 129;
	}
	if (!b.o.no_prior)
		train_all(&b);
	for (; run && at < argc; at++)
		run_kernel(&b, argv[at]);
	if (!run)
		print_prior(&b);
	for (size_t i = 0; i < b.nr; i++) {
		free(b.v[i].kernel);
		prior_release(&b.v[i].prior);
	}
	strv_release(&b.o.sources);
	return 0;
}
