/* needs: core/[a-z]*.c
 *
 * How often the judge is right, measured with the real one: kernels of equal
 * speed, kernels that are faster by a known amount, whole searches over
 * nothing.  A call is one chain of dependent multiplications whose length is
 * known, so the true ratio is, too.
 *
 *	bench_judge [--call <us>] [--scale <x>] [<experiment>...]
 *
 * One line an experiment: what was done, what came out, the limit, ok or
 * FAIL; exit status 1 if any failed.  --scale 0.1 does a tenth of each.
 */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/git.h"
#include "core/judge.h"
#include "core/mem.h"
#include "core/rng.h"
#include "core/search.h"
#include "core/tempdir.h"
#include "core/trial.h"

struct lab {
	double call_us, scale;
	int steps;		/* multiplications an element, of the root */
	double call_steps;	/* what a call costs beside its chain, in
				 * multiplications */
	struct kernel_file file;
	const struct kernel *k;
	struct srcset root;
	struct judge *judge;
	struct judge_config config;
	char *work;
	int lock;
	struct rng rng;
	unsigned nr;		/* of variants made */
	int failed;
};

static _Noreturn void die(const struct err *err)
{
	fprintf(stderr, "bench_judge: %s\n", err->msg);
	exit(128);
}

static void variant(struct lab *l, int steps, struct srcset *out)
{
	trial_source(out, steps, ++l->nr, (int)rng_below(&l->rng, 30));
}

/* ---- the truth ---- */

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

typedef void chain_fn(const float *x, float one, float *y, int n);

static chain_fn *load_chain(struct lab *l, int steps, const char *name)
{
	char *source = xasprintf("%s/%s.c", l->work, name);
	char *so = xasprintf("%s/%s.so", l->work, name);
	char *line = xasprintf("gcc -O2 -fPIC -shared -o '%s' '%s'", so,
			       source);
	struct err err = ERR_INIT;
	struct srcset set;
	chain_fn *fn = NULL;
	void *lib;
	FILE *p;

	trial_source(&set, steps, 0, 0);
	if (buf_write_file(source, set.v[0].text.ptr, set.v[0].text.len, &err))
		die(&err);
	p = popen(line, "r");
	lib = p && pclose(p) == 0 ? dlopen(so, RTLD_NOW) : NULL;
	if (lib)
		*(void **)&fn = dlsym(lib, "chain");
	if (!fn) {
		err_set(&err, ERR_SYS, "'%s' failed", line);
		die(&err);
	}
	srcset_release(&set);
	free(source);
	free(so);
	free(line);
	return fn;
}

/* Nanoseconds of one call, of as many as fill a fifth of a millisecond. */
static double call_ns(chain_fn *fn, double about_ns)
{
	static float x[TRIAL_LENGTH], y[TRIAL_LENGTH];
	int nr = about_ns > 2e5 ? 1 : (int)(2e5 / about_ns);
	struct timespec a, b;

	for (int i = 0; i < TRIAL_LENGTH; i++)
		x[i] = (float)i;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
	for (int i = 0; i < nr; i++)
		fn(x, 1, y, TRIAL_LENGTH);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
	return ((double)(b.tv_sec - a.tv_sec) * 1e9 +
		(double)(b.tv_nsec - a.tv_nsec)) / nr;
}

/*
 * A call takes a (chain + c); two chains of known length, timed in turns,
 * give c: the median of the turns, since what else runs here disturbs some.
 * Long calls have no need of it.
 */
static void measure_truth(struct lab *l)
{
	double chain = (double)l->steps * TRIAL_LENGTH, c[201];
	double about = l->call_us * 1e3;
	chain_fn *one, *four;

	if (l->call_us > 100)
		return;
	one = load_chain(l, l->steps, "one");
	four = load_chain(l, 4 * l->steps, "four");
	for (size_t i = 0; i < ARRAY_SIZE(c); i++) {
		double a = call_ns(one, about), b = call_ns(four, 4 * about);

		a = fmin(a, call_ns(one, about));
		b = fmin(b, call_ns(four, 4 * about));
		c[i] = 3 * chain * a / (b - a) - chain;
	}
	qsort(c, ARRAY_SIZE(c), sizeof(c[0]), by_value);
	l->call_steps = fmax(c[ARRAY_SIZE(c) / 2], 0);
}

static double true_ratio(const struct lab *l, int steps)
{
	return (l->steps * (double)TRIAL_LENGTH + l->call_steps) /
		(steps * (double)TRIAL_LENGTH + l->call_steps);
}

static void lab_open(struct lab *l)
{
	struct judge_request req = { .stage = JUDGE_OPEN };
	struct buf text = BUF_INIT;
	struct err err = ERR_INIT;
	struct record rec;

	l->steps = trial_steps(l->call_us);
	trial_section(&text, "gcc");
	if (kernel_file_parse(&l->file, "bench", text.ptr, text.len, &err))
		die(&err);
	buf_release(&text);
	l->k = &l->file.v[0];
	rng_init(&l->rng, 1);
	trial_source(&l->root, l->steps, 0, 0);
	if (tempdir_make(&l->work, &l->lock, &err))
		die(&err);
	l->config = (struct judge_config){
		.kernel = l->k, .root = &l->root, .aux = &l->root,
		.work = l->work,
	};
	measure_truth(l);
	record_init(&rec);
	if (judge_open(&l->judge, &l->config, &err) ||
	    judge_call(l->judge, &req, &rec, &err))
		die(&err);
	record_release(&rec);
	printf("# calls of %.1f us (%d x %d steps, %.0f beside), sandbox %s, "
	       "smallest effect %.1f %%, %s\n",
	       l->judge->info.shape[0].time_ns / 1e3, TRIAL_LENGTH, l->steps,
	       l->call_steps, l->judge->info.sandbox,
	       l->judge->info.resolution * 100, l->judge->info.device_text);
	fflush(stdout);
}

static void lab_close(struct lab *l)
{
	judge_close(l->judge);
	tempdir_remove(l->work);
	close(l->lock);
	free(l->work);
	srcset_release(&l->root);
	kernel_file_release(&l->file);
}

/* ---- what a search does with one candidate ---- */

static void stage(struct lab *l, enum judge_stage s,
		  const struct srcset *source, struct record *rec)
{
	struct judge_request req = { .stage = s, .source = source,
				     .against_root = true };
	struct err err = ERR_INIT;

	record_release(rec);
	record_init(rec);
	srcset_state(source, &req.state);
	if (judge_call(l->judge, &req, rec, &err))
		die(&err);
}

static bool passes(struct lab *l, enum judge_stage s,
		   const struct srcset *source, struct record *rec)
{
	stage(l, s, source, rec);
	if (rec->verdict == V_SAME)
		return true;
	printf("# a right kernel failed: %s: %s\n", verdict_name(rec->verdict),
	       rec->error ? rec->error : "");
	return false;
}

/* Built, checked, screened and, if that says faster (or skip), confirmed. */
static enum verdict end_to_end(struct lab *l, int steps, bool skip_screen,
			       struct record *rec)
{
	struct srcset source;

	variant(l, steps, &source);
	if (passes(l, JUDGE_BUILD, &source, rec) &&
	    passes(l, JUDGE_CHECK, &source, rec)) {
		if (!skip_screen)
			stage(l, JUDGE_SCREEN, &source, rec);
		if (skip_screen || rec->verdict == V_FASTER)
			stage(l, JUDGE_CONFIRM, &source, rec);
	}
	srcset_release(&source);
	return rec->verdict;
}

static int times(const struct lab *l, int full)
{
	int nr = (int)lround(full * l->scale);

	return nr < 1 ? 1 : nr;
}

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void tell(struct lab *l, const char *name, bool good, double began,
		 const char *fmt, ...) __attribute__((format(printf, 5, 6)));
static void tell(struct lab *l, const char *name, bool good, double began,
		 const char *fmt, ...)
{
	va_list ap;

	printf("%-10s ", name);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("; %.0f s  %s\n", now_s() - began, good ? "ok" : "FAIL");
	fflush(stdout);
	l->failed += !good;
}

/* ---- experiments ---- */

static int count(struct lab *l, int nr, int steps, bool skip_screen)
{
	int confirmed = 0;

	for (int i = 0; i < nr; i++) {
		struct record rec;

		record_init(&rec);
		if (end_to_end(l, steps, skip_screen, &rec) == V_CONFIRMED) {
			printf("# confirmed: %.4f [%.4f, %.4f]\n", rec.speedup,
			       rec.ci_low, rec.ci_high);
			confirmed++;
		}
		record_release(&rec);
	}
	return confirmed;
}

static void do_aa(struct lab *l)
{
	double began = now_s();
	int nr = times(l, 200), yes = count(l, nr, l->steps, false);

	tell(l, "aa", yes == 0, began, "%d kernels of equal speed: %d "
	     "confirmed, at most 0", nr, yes);
}

static void do_bypass(struct lab *l)
{
	double began = now_s();
	int nr = times(l, 200), yes = count(l, nr, l->steps, true);
	int most = (int)(nr * 0.015);

	tell(l, "bypass", yes <= most, began, "%d confirmations of kernels of "
	     "equal speed: %d confirmed, at most %d", nr, yes, most);
}

static void planted(struct lab *l, const char *name, double by, double share)
{
	double began = now_s();
	int nr = times(l, 60);
	int yes = count(l, nr, (int)lround(l->steps / (1 + by)), false);

	tell(l, name, yes >= share * nr, began, "%d kernels that are %.0f %% "
	     "faster: %d confirmed, at least %.0f", nr, by * 100, yes,
	     ceil(share * nr));
}

static void do_plant5(struct lab *l)
{
	planted(l, "plant5", 0.05, 0.95);
}

static void do_plant2(struct lab *l)
{
	planted(l, "plant2", 0.02, 0.5);
}

/* Is the true ratio in the published interval? */
static void do_ratios(struct lab *l)
{
	double began = now_s();
	int nr = times(l, 200), in = 0, had = 0;

	for (int i = 0; i < nr; i++) {
		double want = exp(log(3) * ((double)rng_below(&l->rng, 1000) /
					    1000) - log(1.25));
		int steps = (int)lround(l->steps / want);
		double is = true_ratio(l, steps);
		struct record rec;

		record_init(&rec);
		end_to_end(l, steps, true, &rec);
		if (!isnan(rec.ci_low)) {
			had++;
			in += rec.ci_low <= is && is <= rec.ci_high;
			if (!(rec.ci_low <= is && is <= rec.ci_high))
				printf("# %.4f is not in [%.4f, %.4f]\n", is,
				       rec.ci_low, rec.ci_high);
		} else {
			printf("# no interval: %s: %s\n",
			       verdict_name(rec.verdict), rec.error ?
			       rec.error : "");
		}
		record_release(&rec);
	}
	tell(l, "ratios", in >= 0.93 * nr, began, "%d known ratios from 0.8 to "
	     "2.4: %d in the 95 %% interval, at least %.0f (%d had one)", nr,
	     in, ceil(0.93 * nr), had);
}

/* A loser of 20 % is gone within three launches. */
static void do_loser(struct lab *l)
{
	double began = now_s();
	int nr = times(l, 60), gone = 0;

	for (int i = 0; i < nr; i++) {
		struct srcset source;
		struct record rec;

		record_init(&rec);
		variant(l, (int)lround(l->steps * 1.2), &source);
		if (passes(l, JUDGE_BUILD, &source, &rec))
			stage(l, JUDGE_SCREEN, &source, &rec);
		gone += rec.verdict == V_SLOWER && rec.launches <= 3;
		srcset_release(&source);
		record_release(&rec);
	}
	tell(l, "loser", gone == nr, began, "%d kernels that are 20 %% slower: "
	     "%d dropped within 3 launches, all", nr, gone);
}

/* Candidates a minute and core, compiling left out. */
static void do_rate(struct lab *l)
{
	static const double by[] = { 1.2, 1, 1 / 1.05 };
	double began = now_s(), build_s = 0, took;
	int nr = times(l, 60);

	for (int i = 0; i < nr; i++) {
		struct srcset source;
		struct record rec;
		double at = now_s();

		record_init(&rec);
		variant(l, (int)lround(l->steps * by[i % 3]), &source);
		passes(l, JUDGE_BUILD, &source, &rec);
		build_s += now_s() - at;
		if (passes(l, JUDGE_CHECK, &source, &rec))
			stage(l, JUDGE_SCREEN, &source, &rec);
		srcset_release(&source);
		record_release(&rec);
	}
	took = now_s() - began - build_s;
	tell(l, "rate", nr / took * 60 >= 100, began, "%d candidates (slower, "
	     "equal, faster) checked and screened: %.0f a minute, at least "
	     "100; builds took %.0f ms each beside", nr, nr / took * 60,
	     build_s / nr * 1e3);
}

/* ---- whole searches over nothing ---- */

static struct lab *proposer_lab;	/* a proposer has no context of its own */

static int propose_null(const struct propose_ask *ask, struct proposal *out,
			struct err *err)
{
	(void)ask;
	(void)err;
	variant(proposer_lab, proposer_lab->steps, &out->source);
	out->recipe = xasprintf("%u", proposer_lab->nr);
	out->strategy = xstrdup("null");
	out->subject = xasprintf("variant %u", proposer_lab->nr);
	buf_addstr(&out->plan, "Nothing changes.\n");
	out->expect = 1;
	return 0;
}

static const struct proposer proposer_null = {
	.name = "null", .summary = "variants of equal speed",
	.propose = propose_null,
};

static void git_in(const char *dir, const char *what)
{
	char *line = xasprintf("cd '%s' && git -c init.defaultBranch=main "
			       "-c user.name=bench "
			       "-c user.email=bench@example.com %s", dir, what);
	FILE *p = popen(line, "r");
	struct err err = ERR_INIT;

	if (!p || pclose(p) != 0) {
		err_set(&err, ERR_GIT, "'%s' failed", line);
		die(&err);
	}
	free(line);
}

static bool crowns_one(struct lab *l, struct repo *r, int seed)
{
	struct spec spec = {
		.kernel = xstrdup("chain"),
		.section = xstrdup(l->k->text.ptr),
		.policy = xstrdup("greedy"), .width = 1, .branches = 4,
		.depth = 1, .round = 4, .keep = 0.8, .seed = (uint64_t)seed,
		.proposer = xstrdup("null"),
		.device = xstrdup(l->judge->info.device),
		.seeds = xstrdup(""), .budget = { .attempts = 12 },
	};
	struct purse purse;
	struct search_run run = {
		.kernel = l->k, .root = &l->root, .aux = &l->root,
		.policy = policy_find("greedy"), .proposer = &proposer_null,
		.judge = &l->judge, .jobs = 1, .config = l->config,
		.purse = &purse, .stop_fd = -1,
	};
	struct err err = ERR_INIT;
	bool crowned;

	purse_init(&purse, &spec.budget);
	if (repo_head(r, &spec.base, &err))
		die(&err);
	spec.root = spec.base;
	if (store_create(r, &spec, &run.search, &err))
		die(&err);
	if (search_run(&run, &err))
		die(&err);
	crowned = run.graph.champion != 0;
	if (crowned)
		printf("# crowned: %.4f\n",
		       exp(run.graph.node[run.graph.champion].score));
	search_release(&run);
	store_close(run.search);
	spec_release(&spec);
	return crowned;
}

static void do_search(struct lab *l)
{
	double began = now_s();
	int nr = times(l, 50), crowned = 0;
	char *dir = xasprintf("%s/repo", l->work);
	char *path = xasprintf("%s/%s", dir, l->root.v[0].path);
	struct err err = ERR_INIT;
	struct repo *r;

	setenv("GIT_AUTHOR_NAME", "bench", 0);
	setenv("GIT_AUTHOR_EMAIL", "bench@example.com", 0);
	setenv("GIT_COMMITTER_NAME", "bench", 0);
	setenv("GIT_COMMITTER_EMAIL", "bench@example.com", 0);
	git_in(l->work, "init -q --template= repo");
	if (buf_write_file(path, l->root.v[0].text.ptr, l->root.v[0].text.len,
			   &err))
		die(&err);
	git_in(dir, "add .");
	git_in(dir, "commit -q -m kernel");
	if (repo_open(&r, dir, &err))
		die(&err);
	proposer_lab = l;
	for (int i = 0; i < nr; i++)
		crowned += crowns_one(l, r, i);
	repo_close(r);
	free(path);
	free(dir);
	tell(l, "search", crowned <= (nr + 49) / 50, began, "%d whole searches "
	     "over kernels of equal speed: %d crowned one, at most %d", nr,
	     crowned, (nr + 49) / 50);
}

/* ---- */

static const struct {
	const char *name;
	void (*run)(struct lab *l);
} experiments[] = {
	{ "rate", do_rate }, { "loser", do_loser }, { "aa", do_aa },
	{ "plant5", do_plant5 }, { "plant2", do_plant2 },
	{ "search", do_search }, { "bypass", do_bypass },
	{ "ratios", do_ratios },
};

static bool wanted(const char *name, int argc, char **argv)
{
	for (int i = 0; i < argc; i++)
		if (!strcmp(argv[i], name))
			return true;
	return argc == 0;
}

int main(int argc, char **argv)
{
	struct lab l = { .call_us = 1000, .scale = 1 };
	int at = 1;

	for (; at + 1 < argc && !strncmp(argv[at], "--", 2); at += 2) {
		double x = strtod(argv[at + 1], NULL);

		if (!strcmp(argv[at], "--call") && x > 0.1)
			l.call_us = x;
		else if (!strcmp(argv[at], "--scale") && x > 0)
			l.scale = x;
		else
			break;
	}
	if (at < argc && argv[at][0] == '-') {
		fputs("usage: bench_judge [--call <us>] [--scale <x>] "
		      "[<experiment>...]\n", stderr);
		return 129;
	}
	lab_open(&l);
	for (size_t i = 0; i < ARRAY_SIZE(experiments); i++)
		if (wanted(experiments[i].name, argc - at, argv + at))
			experiments[i].run(&l);
	lab_close(&l);
	return l.failed ? 1 : 0;
}
