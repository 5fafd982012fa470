/* needs: core/oid.c core/dtype.c core/expr.c core/ini.c core/kernel*.c
 * core/record.c core/source.c core/sha1.c core/oidset.c core/repo*.c core/git.c
 * core/notes*.c core/json.c core/metrics*.c core/usage.c core/lesson.c core/prior.c core/graph.c core/store*.c
 *
 * Writes to a search for the tests of faults, and says whether what it
 * acknowledged is there:
 *
 *	store_storm write <slug> <id> <number> <seed> [<batch>]
 *	store_storm check <slug> <file>
 *	store_storm count <slug>
 *
 * A line "<node or -> <step> <verdict>" is written when the store has said
 * that the attempt is kept.  Steps and sources of one id are its own; batches
 * are of 1 or 16, or of the given size; number 0: until it is ended.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/mem.h"
#include "core/store.h"
#include "core/store_parts.h"

#define DEVICE "dev-avx2-t1"
#define MAX_BATCH 64
#define STEPS_OF_ID 1000000u

static struct repo *repo;
static struct err err;

static int failed(void)
{
	fprintf(stderr, "fatal: %s\n", err.msg);
	return 128;
}

struct storm {
	struct search *s;
	struct srcset root;
	struct oid last;
	unsigned id, seed;
	uint32_t step;
};

struct attempt {
	struct srcset source;
	struct record rec;
	struct oid parent[2];
	char recipe[48], plan[64];
};

static int storm_open(struct storm *t, const char *slug)
{
	struct kernel k;
	int ret = store_open(repo, slug, &t->s, &err);

	if (ret)
		return ret;
	t->last = t->s->spec.root;
	ret = store_spec_kernel(&t->s->spec, &k, &err);
	if (ret)
		return ret;
	ret = store_source(repo, &t->s->spec.root, &k, false, &t->root, &err);
	kernel_release(&k);
	return ret;
}

static void storm_close(struct storm *t)
{
	srcset_release(&t->root);
	store_close(t->s);
}

static enum verdict verdict_of(uint32_t step)
{
	static const enum verdict cycle[] = {
		V_FASTER, V_WRONG, V_BUILD_FAIL, V_SLOWER, V_SAME, V_CRASH,
	};

	return step % 16 == 0 ? V_DUP : cycle[step % ARRAY_SIZE(cycle)];
}

static void fill_record(struct record *r, uint32_t step)
{
	record_init(r);
	r->verdict = verdict_of(step);
	r->device = xstrdup(DEVICE);
	r->attempt_s = 0.25;
	if (verdict_is_timed(r->verdict)) {
		r->compiled = r->correct = true;
		r->lr = log(1.0 + step % 100 / 100.0);
		r->est_speedup = exp(r->lr);
		r->time_ns = 1e6 / r->est_speedup;
		r->launches = 4;
		buf_addf(&r->samples, "{\"lr\":[%.9g],\"n\":%u}\n", r->lr,
			 step);
	} else {
		r->error = xasprintf("attempt %u failed", step);
	}
}

static void fill_source(struct srcset *s, const struct srcset *root,
			uint32_t step)
{
	srcset_copy(s, root);
	for (size_t i = 0; i < s->nr; i++)
		if (s->v[i].writable)
			buf_addf(&s->v[i].text, "/* step %u */\n", step);
}

/* The plan says which step it is of, so that a wrong note is seen. */
static void plan_text(char *out, size_t size, uint32_t step)
{
	snprintf(out, size, "# Plan\n\nStep %u.\n", step);
}

static void fill(struct storm *t, struct attempt *x, struct store_attempt *a)
{
	uint32_t n = t->id * STEPS_OF_ID + ++t->step;
	const struct oid *root = &t->s->spec.root;

	memset(x, 0, sizeof(*x));
	fill_record(&x->rec, n);
	snprintf(x->recipe, sizeof(x->recipe), "uj(n=%u)", n);
	plan_text(x->plan, sizeof(x->plan), n);
	x->parent[0] = n % 5 ? t->last : *root;
	x->parent[1] = *root;
	*a = (struct store_attempt){
		.op = "mutate", .proposer = "builtin", .strategy = "uj",
		.recipe = x->recipe, .subject = "unroll and jam", .step = n,
		.parent = x->parent, .nr_parents = 1, .rec = &x->rec,
		.plan = x->plan,
	};
	if (n % 7 == 0 && !oid_eq(&x->parent[0], root)) {
		a->op = "crossover";
		a->nr_parents = 2;
	}
	if (x->rec.verdict == V_DUP)
		return;
	fill_source(&x->source, &t->root, n);
	a->source = &x->source;
}

static int acknowledge(const struct store_attempt *a, size_t nr)
{
	struct buf b = BUF_INIT;
	ssize_t n;
	bool whole;

	for (size_t i = 0; i < nr; i++)
		buf_addf(&b, "%s %u %s\n", a[i].source ?
			 oid_text(&a[i].id).s : "-", a[i].step,
			 verdict_name(a[i].rec->verdict));
	n = write(STDOUT_FILENO, b.ptr, b.len);
	whole = n == (ssize_t)b.len;
	buf_release(&b);
	return whole ? 0 : err_sys(&err, "cannot acknowledge");
}

static int append(struct storm *t, size_t nr)
{
	static struct attempt x[MAX_BATCH];
	static struct store_attempt a[MAX_BATCH];
	int ret;

	for (size_t i = 0; i < nr; i++)
		fill(t, &x[i], &a[i]);
	ret = store_append(t->s, a, nr, &err);
	if (!ret)
		ret = acknowledge(a, nr);
	for (size_t i = 0; i < nr; i++) {
		if (a[i].source)
			t->last = a[i].id;
		srcset_release(&x[i].source);
		record_release(&x[i].rec);
	}
	return ret;
}

static unsigned next_random(struct storm *t)
{
	t->seed = t->seed * 1103515245u + 12345u;
	return t->seed >> 16 & 0x7fff;
}

/* Every fifth batch has 16 attempts, the others have one. */
static size_t next_batch(struct storm *t, unsigned long given)
{
	if (given)
		return given < MAX_BATCH ? given : MAX_BATCH;
	return next_random(t) % 5 ? 1 : 16;
}

static int do_write(int argc, char **argv)
{
	struct storm t = { .s = NULL };
	unsigned long left, given = argc > 5 ? strtoul(argv[5], NULL, 10) : 0;
	bool forever;
	int ret;

	if (argc < 5)
		return 129;
	t.id = (unsigned)strtoul(argv[2], NULL, 10);
	left = strtoul(argv[3], NULL, 10);
	t.seed = (unsigned)strtoul(argv[4], NULL, 10);
	forever = !left;
	ret = storm_open(&t, argv[1]);
	while (!ret && (forever || left)) {
		size_t nr = next_batch(&t, given);

		if (!forever && nr > left)
			nr = left;
		ret = append(&t, nr);
		left -= forever ? 0 : nr;
	}
	if (t.s)
		storm_close(&t);
	return ret ? failed() : 0;
}

/* ---- looking ---- */

static int load(const char *slug, struct search **s, struct graph *g)
{
	struct strv warn = STRV_INIT;
	int ret = store_open(repo, slug, s, &err);

	if (ret)
		return ret;
	ret = store_load(*s, DEVICE, g, &warn, &err);
	for (size_t i = 0; i < warn.nr; i++)
		printf("warning: %s\n", warn.v[i]);
	if (!ret && warn.nr)
		ret = err_set(&err, ERR_FORMAT, "the search gives warnings");
	strv_release(&warn);
	if (ret)
		store_close(*s);
	return ret;
}

static int do_count(int argc, char **argv)
{
	struct search *s;
	struct graph g;

	if (argc < 2)
		return 129;
	if (load(argv[1], &s, &g))
		return failed();
	printf("%u %u\n", g.nr - 1, g.nr_spend);
	graph_release(&g);
	store_close(s);
	return 0;
}

static const char *whats_wrong(struct search *s, const struct graph *g,
			       const struct kernel *k, const struct oid *id,
			       uint32_t step, enum verdict v)
{
	struct srcset source = SRCSET_INIT;
	struct buf plan = BUF_INIT;
	char want[64];
	uint32_t i = graph_find(g, id);
	const char *why = NULL;

	plan_text(want, sizeof(want), step);
	if (i == NODE_NONE)
		return "the node";
	if (g->node[i].pending || g->node[i].rec.verdict != v)
		why = "its verdict";
	else if (store_plan(s, id, &plan, &err) || strcmp(plan.ptr, want))
		why = "its plan";
	else if (store_source(repo, id, k, false, &source, &err))
		why = "its source";
	buf_release(&plan);
	srcset_release(&source);
	return why;
}

static bool has_spend(const struct graph *g, uint32_t step)
{
	size_t lo = 0, hi = g->nr_spend;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (g->spend[mid].step < step)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < g->nr_spend && g->spend[lo].step == step;
}

struct tally {
	size_t seen, lost;
};

static void check_line(struct search *s, const struct graph *g,
		       const struct kernel *k, const char *line,
		       struct tally *t)
{
	char node[64], verdict[32];
	struct oid id;
	unsigned step;
	const char *why = NULL;

	if (sscanf(line, "%63s %u %31s", node, &step, verdict) != 3)
		return;
	if (strcmp(node, "-"))
		why = oid_parse(&id, node) ?
			whats_wrong(s, g, k, &id, step,
				    (enum verdict)verdict_parse(verdict)) :
			"nonsense";
	else if (!has_spend(g, step))
		why = "the spend line";
	t->seen++;
	if (!why)
		return;
	t->lost++;
	if (t->lost <= 10)
		printf("lost: %s of %s", why, line);
}

/* A line that a killed writer left torn was not acknowledged. */
static int do_check(int argc, char **argv)
{
	struct tally t = { 0, 0 };
	struct kernel k;
	struct search *s;
	struct graph g;
	char *line = NULL;
	size_t cap = 0;
	FILE *f;

	if (argc < 3)
		return 129;
	f = fopen(argv[2], "r");
	if (!f || load(argv[1], &s, &g) ||
	    store_spec_kernel(&s->spec, &k, &err))
		return failed();
	while (getline(&line, &cap, f) > 0)
		if (strchr(line, '\n'))
			check_line(s, &g, &k, line, &t);
	free(line);
	fclose(f);
	printf("%zu acknowledged, %zu lost, %u nodes, %u spend lines\n",
	       t.seen, t.lost, g.nr - 1, g.nr_spend);
	kernel_release(&k);
	graph_release(&g);
	store_close(s);
	return t.lost ? 1 : 0;
}

int main(int argc, char **argv)
{
	int ret = 129;

	if (argc < 2)
		return ret;
	if (repo_open(&repo, ".", &err))
		return failed();
	if (!strcmp(argv[1], "write"))
		ret = do_write(argc - 1, argv + 1);
	else if (!strcmp(argv[1], "check"))
		ret = do_check(argc - 1, argv + 1);
	else if (!strcmp(argv[1], "count"))
		ret = do_count(argc - 1, argv + 1);
	repo_close(repo);
	return ret;
}
