/* needs: core/oid.c core/dtype.c core/expr.c core/ini.c core/kernel*.c
 * core/record.c core/source.c core/sha1.c core/oidset.c core/repo*.c core/git.c
 * core/notes*.c core/json.c core/metrics*.c core/usage.c core/lesson.c core/prior.c core/graph.c core/store*.c
 *
 * Fills a search with made-up nodes of realistic size, through the store:
 *
 *	store_fill source		a kernel of 160 lines, 6 KB, on stdout
 *	store_fill create <kernel>	starts a search, prints its slug
 *	store_fill add <slug> <number> <batch>
 *					adds that many nodes; prints
 *					"<nodes> <ms a node> <worst batch, ms>
 *					<processor ms a node>"
 *	store_fill spend <slug> <number> <batch>
 *					adds that many attempts that made none
 *	store_fill run <command...>	runs it without output; prints
 *					"<ms> <MiB at most> <processor ms>"; its
 *					exit status
 *
 * Each node changes 6 of the lines, has a plan of 1.2 KB and a measurement.
 * What is made follows from the number of the node alone.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/mem.h"
#include "core/store.h"

#define LINES 160
#define CHANGED 6
#define RECENT 64		/* nodes that a new one may stand on */
#define MAX_BATCH 256u
#define DEVICE "fill-avx512-t1"

static struct err err;

static int failed(void)
{
	fprintf(stderr, "fatal: %s\n", err.msg);
	return 128;
}

/* SplitMix64. */
static uint64_t draw(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/* ---- texts ---- */

/* One kernel: each line is a word that says how it is written. */
struct text {
	uint32_t line[LINES];
};

static void add_source(struct buf *b, const struct text *t)
{
	buf_addstr(b, "void fill(const float *x, int n, float *y)\n{\n");
	for (int i = 0; i < LINES - 3; i++) {
		uint32_t v = t->line[i];

		buf_addf(b, "\ty[%u] = x[%u] * %u.%uf + y[%u];\n", v % 977,
			 v / 977 % 983, v >> 28, v >> 8 & 0xffff,
			 v / 7919 % 971);
	}
	buf_addstr(b, "}\n");
}

static void first_text(struct text *t)
{
	uint64_t seed = 1;

	for (int i = 0; i < LINES; i++)
		t->line[i] = (uint32_t)draw(&seed);
}

static void add_plan(struct buf *b, uint64_t *seed)
{
	static const char *const says[] = {
		"Unroll and jam the middle loop so that each load of a row "
		"feeds several accumulators.",
		"Keep the block of the left operand in the first cache; its "
		"rows are read once a tile.",
		"The division is loop-invariant: hoist it and multiply by "
		"the reciprocal.",
		"Replace the libm call by a polynomial of degree five with "
		"the range reduction inline.",
		"Store past the caches, since nobody reads the result again "
		"before it is evicted.",
	};

	buf_addstr(b, "# Plan\n\n");
	while (b->len < 1150)
		buf_addf(b, "- %s (%u)\n", says[draw(seed) % ARRAY_SIZE(says)],
			 (unsigned)(draw(seed) % 4096));
}

static void fill_record(struct record *r, uint64_t *seed)
{
	static const enum verdict mix[] = {
		V_BUILD_FAIL, V_WRONG, V_WRONG, V_CRASH, V_SLOWER, V_SLOWER,
		V_SLOWER, V_SAME, V_SAME, V_FASTER, V_FASTER, V_FASTER,
	};

	record_init(r);
	r->verdict = draw(seed) % 50 == 0 ? V_CONFIRMED :
		mix[draw(seed) % ARRAY_SIZE(mix)];
	r->device = xstrdup(DEVICE);
	r->host = xstrdup("fill-host");
	r->sandbox = xstrdup("full");
	r->attempt_s = 0.4 + (double)(draw(seed) % 1000) / 1000;
	r->compiled = r->verdict != V_BUILD_FAIL;
	if (!verdict_is_timed(r->verdict)) {
		r->error = xasprintf("case %u: element %u differs by %u ulp",
				     (unsigned)(draw(seed) % 9),
				     (unsigned)(draw(seed) % 100000),
				     (unsigned)(draw(seed) % 1000));
		return;
	}
	r->correct = true;
	r->est_speedup = 1 + (double)(draw(seed) % 100000) / 1e5;
	r->lr = log(r->est_speedup);
	r->time_ns = 1e7 / r->est_speedup;
	r->gflops = 12 * r->est_speedup;
	r->launches = 4;
	if (r->verdict == V_CONFIRMED) {
		r->speedup = r->est_speedup;
		r->ci_low = r->speedup * 0.99;
		r->ci_high = r->speedup * 1.01;
	}
}

/* ---- searches ---- */

static int read_kernel(const char *name, struct kernel_file *f,
		       const struct kernel **out)
{
	struct buf text = BUF_INIT;
	int ret = buf_read_file(&text, KERNEL_FILE, KERNEL_MAX_TEXT, &err);

	if (!ret)
		ret = kernel_file_parse(f, KERNEL_FILE, text.ptr, text.len,
					&err);
	buf_release(&text);
	if (ret)
		return ret;
	*out = kernel_find(f, name);
	return *out ? 0 : err_set(&err, ERR_NOTFOUND, "no kernel '%s'", name);
}

static int create(struct repo *repo, const char *name)
{
	struct kernel_file f = { NULL, 0, 0 };
	const struct kernel *k;
	struct search *s = NULL;
	struct spec spec = {
		.policy = xstrdup("greedy"), .width = 4, .branches = 2,
		.depth = 6, .round = 16, .keep = 0.5, .seed = 1,
		.proposer = xstrdup("builtin"), .device = xstrdup(DEVICE),
	};
	int ret = read_kernel(name, &f, &k);

	if (!ret)
		ret = repo_head(repo, &spec.base, &err);
	spec.root = spec.base;
	if (!ret) {
		spec.kernel = xstrdup(k->name);
		spec.section = xstrdup(k->text.ptr);
		ret = store_create(repo, &spec, &s, &err);
	}
	if (!ret) {
		puts(s->spec.slug);
		store_close(s);
	}
	spec_release(&spec);
	kernel_file_release(&f);
	return ret;
}

/* ---- nodes ---- */

struct recent {
	struct oid id;
	struct text text;
};

struct fill {
	struct search *s;
	char *path;		/* of the kernel's file */
	struct recent recent[RECENT];
	size_t nr;		/* nodes made, by this and earlier runs */
	double worst_ms, busy_ms;
};

struct batch {
	struct store_attempt a[MAX_BATCH];
	struct srcset source[MAX_BATCH];
	struct record rec[MAX_BATCH];
	struct text text[MAX_BATCH];
	struct buf plan[MAX_BATCH];
	struct oid parent[MAX_BATCH];
	char recipe[MAX_BATCH][80];
	char subject[MAX_BATCH][64];
};

static void make_node(struct fill *f, struct batch *b, size_t i)
{
	uint64_t seed = (f->nr + i) * 1000003 + 17;
	const struct recent *on = &f->recent[draw(&seed) % RECENT];
	struct srcset *s = &b->source[i];
	struct buf text = BUF_INIT;

	b->text[i] = on->text;
	b->parent[i] = on->id;
	for (int j = 0; j < CHANGED; j++)
		b->text[i].line[draw(&seed) % LINES] = (uint32_t)draw(&seed);
	add_source(&text, &b->text[i]);
	*s = (struct srcset)SRCSET_INIT;
	srcset_put(s, f->path, text.ptr, text.len, true);
	buf_release(&text);
	buf_init(&b->plan[i]);
	add_plan(&b->plan[i], &seed);
	fill_record(&b->rec[i], &seed);
	snprintf(b->recipe[i], sizeof(b->recipe[i]),
		 "rt() restrict() uj(m=%u,n=%u) tile(%u) vecmath()",
		 (unsigned)(draw(&seed) % 16), (unsigned)(draw(&seed) % 16),
		 (unsigned)(draw(&seed) % 1024));
	snprintf(b->subject[i], sizeof(b->subject[i]),
		 "unroll and jam by %u, tile of %u",
		 (unsigned)(draw(&seed) % 16), (unsigned)(draw(&seed) % 512));
	b->a[i] = (struct store_attempt){
		.op = "mutate", .proposer = "builtin", .strategy = "uj+tile",
		.recipe = b->recipe[i], .subject = b->subject[i],
		.step = (uint32_t)(f->nr + i + 1), .parent = &b->parent[i],
		.nr_parents = 1, .source = s, .plan = b->plan[i].ptr,
		.rec = &b->rec[i],
	};
}

static double now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

/* Processor time of this process and of its children. */
static double busy_ms(void)
{
	static const int who[] = { RUSAGE_SELF, RUSAGE_CHILDREN };
	struct rusage u;
	double ms = 0;

	for (size_t i = 0; i < ARRAY_SIZE(who); i++) {
		getrusage(who[i], &u);
		ms += (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e3 +
		      (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e3;
	}
	return ms;
}

/* *ms: what the store took. */
static int add_batch(struct fill *f, struct batch *b, size_t nr, double *ms)
{
	double start, took;
	int ret;

	for (size_t i = 0; i < nr; i++)
		make_node(f, b, i);
	f->busy_ms -= busy_ms();
	start = now_ms();
	ret = store_append(f->s, b->a, nr, &err);
	took = now_ms() - start;
	f->busy_ms += busy_ms();
	*ms += took;
	if (took > f->worst_ms)
		f->worst_ms = took;
	for (size_t i = 0; i < nr; i++) {
		struct recent *r = &f->recent[(f->nr + i) % RECENT];

		r->id = b->a[i].id;
		r->text = b->text[i];
		srcset_release(&b->source[i]);
		record_release(&b->rec[i]);
		buf_release(&b->plan[i]);
	}
	f->nr += nr;
	return ret;
}

/* Goes on behind what is there; the text of those nodes is taken to be the
 * first one, since only their number matters. */
static int fill_open(struct fill *f, struct repo *repo, const char *slug)
{
	struct strv warn = STRV_INIT;
	struct kernel_file file = { NULL, 0, 0 };
	struct graph g;
	int ret = store_open(repo, slug, &f->s, &err);

	if (ret)
		return ret;
	ret = store_load(f->s, DEVICE, &g, &warn, &err);
	if (!ret)
		ret = kernel_section_parse(&file, f->s->spec.kernel,
					   f->s->spec.section,
					   strlen(f->s->spec.section), &err);
	if (!ret) {
		f->path = xstrdup(file.v[0].file.v[0]);
		f->nr = g.nr - 1;
		for (size_t i = 0; i < RECENT; i++) {
			f->recent[i].id = g.node[g.nr - 1 - i % g.nr].id;
			first_text(&f->recent[i].text);
		}
	}
	graph_release(&g);
	kernel_file_release(&file);
	strv_release(&warn);
	return ret;
}

static int add(struct repo *repo, const char *slug, size_t number,
	       size_t batch)
{
	struct fill *f = xcalloc(1, sizeof(*f));
	struct batch *b = xcalloc(1, sizeof(*b));
	size_t done = 0;
	double ms = 0, each = number ? (double)number : 1;
	int ret = fill_open(f, repo, slug);

	if (batch < 1 || batch > MAX_BATCH)
		batch = MAX_BATCH;
	while (!ret && done < number) {
		size_t nr = number - done < batch ? number - done : batch;

		ret = add_batch(f, b, nr, &ms);
		done += nr;
	}
	if (!ret)
		printf("%zu %.3f %.1f %.3f\n", f->nr, ms / each, f->worst_ms,
		       f->busy_ms / each);
	if (f->s)
		store_close(f->s);
	free(f->path);
	free(f);
	free(b);
	return ret;
}

/* Steps from 1000000 on: those of the nodes are lower. */
static int spend(struct repo *repo, const char *slug, size_t number,
		 size_t batch)
{
	struct store_attempt a[MAX_BATCH];
	struct record rec[MAX_BATCH];
	struct search *s;
	struct graph g;
	uint64_t seed = 1;
	uint32_t step;
	int ret = store_open(repo, slug, &s, &err);

	if (ret)
		return ret;
	for (const char *p = s->spec.slug; *p; p++)
		seed = seed * 31 + (unsigned char)*p;
	ret = store_load(s, DEVICE, &g, NULL, &err);
	step = graph_last_step(&g);
	step = step < 1000000 ? 1000000 : step;
	graph_release(&g);
	if (batch < 1 || batch > MAX_BATCH)
		batch = MAX_BATCH;
	memset(a, 0, sizeof(a));
	for (size_t done = 0, nr; !ret && done < number; done += nr) {
		nr = number - done < batch ? number - done : batch;
		for (size_t i = 0; i < nr; i++) {
			record_init(&rec[i]);
			rec[i].verdict = V_DUP;
			rec[i].attempt_s = 0.25;
			a[i].rec = &rec[i];
			a[i].step = ++step;
			for (size_t k = 0; k < OID_RAW; k++)
				a[i].state.id[k] = (unsigned char)draw(&seed);
		}
		ret = store_append(s, a, nr, &err);
	}
	store_close(s);
	return ret;
}

static int run(char **argv)
{
	double start = now_ms();
	struct rusage use;
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		if (freopen("/dev/null", "w", stdout))
			execvp(argv[0], argv);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &use) < 0) {
		err_sys(&err, "cannot run '%s'", argv[0]);
		return failed();
	}
	printf("%.1f %.1f %.1f\n", now_ms() - start,
	       (double)use.ru_maxrss / 1024, busy_ms());
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

int main(int argc, char **argv)
{
	struct repo *repo;
	int ret;

	if (argc == 2 && !strcmp(argv[1], "source")) {
		struct buf b = BUF_INIT;
		struct text t;

		first_text(&t);
		add_source(&b, &t);
		fputs(b.ptr, stdout);
		buf_release(&b);
		return 0;
	}
	if (argc > 2 && !strcmp(argv[1], "run"))
		return run(argv + 2);
	if (!(argc == 3 && !strcmp(argv[1], "create")) &&
	    !(argc == 5 && (!strcmp(argv[1], "add") ||
			    !strcmp(argv[1], "spend")))) {
		fputs("usage: store_fill source | create <kernel> | "
		      "add|spend <slug> <number> <batch> | "
		      "run <command...>\n", stderr);
		return 129;
	}
	if (repo_open(&repo, ".", &err))
		return failed();
	ret = argc == 3 ? create(repo, argv[2]) :
		(!strcmp(argv[1], "add") ? add : spend)
			(repo, argv[2], strtoul(argv[3], NULL, 10),
			 strtoul(argv[4], NULL, 10));
	repo_close(repo);
	return ret ? failed() : 0;
}
