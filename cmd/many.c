#include "cmd/many.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/out.h"
#include "core/mem.h"
#include "core/tempdir.h"

/* A judge is a process with its memory and open files: kernels that have open
 * ones at once, and judges of all of them. */
#define MAX_OPEN 8
#define MAX_JUDGES 64

void many_open(struct many *m, struct session *s, const struct run_opts *o,
	       size_t nr)
{
	memset(m, 0, sizeof(*m));
	m->session = s;
	m->opts = o;
	m->nr = nr;
	m->v = xcalloc(nr, sizeof(*m->v));
	purse_init(&m->purse, &o->budget);
}

void many_close(struct many *m)
{
	for (size_t i = 0; i < m->nr; i++) {
		struct member *b = &m->v[i];

		run_leave(&b->runner);
		store_close(b->search);
		task_close(&b->task);
		kernel_file_release(&b->section);
		judge_info_release(&b->info);
		run_result_release(&b->result);
		free(b->share.round);
	}
	free(m->v);
	free(m->order);
	memset(m, 0, sizeof(*m));
}

/* ---- judges ---- */

static bool is_open(const struct task *t)
{
	for (int i = 0; i < t->jobs; i++)
		if (t->judge[i])
			return true;
	return false;
}

/* A judge wants an empty folder: core/search_judge.c has one for each. */
static void empty_folder(const struct task *t, int i)
{
	char *path = xasprintf("%s/j%d", t->work, i);
	struct stat st;

	if (!lstat(path, &st)) {
		tempdir_remove(path);
		if (mkdir(path, 0700) < 0)
			warn("cannot create '%s': %s", path, strerror(errno));
	}
	free(path);
}

static void close_judges(struct task *t)
{
	for (int i = 0; i < t->jobs; i++) {
		if (!t->judge[i])
			continue;
		judge_close(t->judge[i]);
		t->judge[i] = NULL;
		empty_folder(t, i);
	}
}

/* Kernels whose judges may be open at once. */
static size_t max_open(const struct many *m)
{
	size_t most = MAX_JUDGES / (size_t)m->opts->jobs;

	return most < 1 ? 1 : most < MAX_OPEN ? most : MAX_OPEN;
}

static size_t nr_open(const struct many *m)
{
	size_t nr = 0;

	for (size_t i = 0; i < m->nr; i++)
		nr += is_open(&m->v[i].task);
	return nr;
}

/* For the judges of a member: those go that had no turn for longest. */
static void make_room(struct many *m, const struct member *b)
{
	if (is_open(&b->task))
		return;
	while (nr_open(m) >= max_open(m)) {
		struct member *oldest = NULL;

		for (size_t i = 0; i < m->nr; i++)
			if (is_open(&m->v[i].task) &&
			    (!oldest || m->v[i].turn < oldest->turn))
				oldest = &m->v[i];
		close_judges(&oldest->task);
	}
}

/* A search begins with an open judge. */
static int open_again(struct member *b, struct err *err)
{
	struct judge_request req = { .stage = JUDGE_OPEN };
	struct task *t = &b->task;
	struct judge_config cfg = t->config;
	char *work = xasprintf("%s/again", t->work);
	struct record unused;
	int ret = 0;

	cfg.work = work;
	tempdir_remove(work);
	if (mkdir(work, 0700) < 0)
		ret = err_sys(err, "cannot create '%s'", work);
	if (!ret)
		ret = judge_open(&t->judge[0], &cfg, err);
	if (!ret) {
		record_init(&unused);
		ret = task_call(t, &req, &unused, err);
		record_release(&unused);
	}
	free(work);
	return ret;
}

int many_task(struct many *m, size_t i, const char *from, bool worktree,
	      const struct oid *base, struct err *err)
{
	struct member *b = &m->v[i];
	struct task *t = &b->task;
	int ret = task_open(t, m->session, b->kernel, from, worktree, err);

	if (!ret && base)
		t->base = *base;
	if (!ret)
		ret = task_judge(t, (int)m->opts->jobs, err);
	if (ret)
		return ret;
	judge_info_copy(&b->info, &t->judge[0]->info);
	task_print_root(t);
	/* Its first turn comes after those of the ones before it. */
	if (nr_open(m) > max_open(m))
		close_judges(t);
	return 0;
}

/* ---- members ---- */

int many_share(struct member *b, struct err *err)
{
	struct graph g;
	int ret;

	graph_init(&g);
	ret = store_load(b->search, b->info.device, &g, NULL, err);
	if (!ret)
		portfolio_read(&b->share, &g, (uint32_t)b->search->spec.round);
	/* It may be, or its confirmation may be missing: asked again for its
	 * last round, a search that is through with it does nothing. */
	b->share.cut = b->share.nr_rounds > 0;
	graph_release(&g);
	return ret;
}

int many_fail(struct many *m, size_t i, struct err *err)
{
	struct member *b = &m->v[i];
	int code = err->code;

	b->failed = true;
	b->share.over = true;
	close_judges(&b->task);
	if (m->nr == 1 || code == ERR_STOPPED || task_stop)
		return code;
	warn("%s", err->msg);
	err->code = ERR_NONE;
	return 0;
}

static size_t nr_going(const struct many *m)
{
	size_t nr = 0;

	for (size_t i = 0; i < m->nr; i++)
		nr += !m->v[i].share.over;
	return nr;
}

/* While one has its turn. */
static void keep_others(void *ctx)
{
	struct many *m = ctx;

	for (size_t i = 0; i < m->nr; i++)
		if (i != m->at && m->v[i].runner.begun && !m->v[i].share.over)
			run_keep(&m->v[i].runner);
}

/* *ended: it was finished before. */
static int prepare(struct many *m, struct member *b, bool *ended,
		   struct err *err)
{
	int ret;

	b->runner = (struct runner){
		.task = &b->task, .search = b->search, .info = &b->info,
		.opts = m->opts, .purse = &m->purse,
		.beside = keep_others, .ctx = m,
	};
	ret = run_told(&b->runner, &b->result, err);
	*ended = ret > 0;
	if (*ended)
		b->has_result = true;
	return ret < 0 ? ret : 0;
}

static int begin(struct many *m, struct member *b, struct err *err)
{
	int ret = 0;

	make_room(m, b);
	b->runner.share = 1 / (double)nr_going(m);
	if (!b->task.judge[0])
		ret = open_again(b, err);
	return ret ? ret : run_begin(&b->runner, err);
}

/* ---- results ---- */

static void print_results(struct many *m)
{
	struct run_result *r = xcalloc(m->nr, sizeof(*r));
	size_t nr = 0;

	for (size_t i = 0; i < m->nr && !m->printed; i++)
		if (m->v[i].has_result)
			r[nr++] = m->v[i].result;
	run_print(r, nr, m->opts->json);
	fflush(stdout);
	m->printed = true;
	free(r);
}

/* Its result stands; the last push comes after the table. */
static int finish(struct many *m, size_t i, int ret, struct err *err)
{
	struct member *b = &m->v[i];

	ret = run_finish(&b->runner, ret, &b->result, err);
	b->share.over = true;
	b->has_result = !ret && (b->runner.begun || b->result.stopped);
	close_judges(&b->task);
	if (ret)
		ret = many_fail(m, i, err);
	if (!nr_going(m))
		print_results(m);
	run_leave(&b->runner);
	store_close(b->search);		/* others may have it now */
	b->search = NULL;
	return ret;
}

/* After a signal, or an error that ends the run. */
static int finish_all(struct many *m, int ret, struct err *err)
{
	for (size_t i = 0; i < m->nr; i++) {
		struct member *b = &m->v[i];
		struct err late = ERR_INIT;
		int r;

		if (b->share.over || !b->runner.begun)
			continue;
		r = run_finish(&b->runner, 0, &b->result, &late);
		b->share.over = true;
		b->has_result = !r;
		b->failed = r != 0;
		if (r && !ret) {
			*err = late;
			ret = r;
		} else if (r) {
			warn("%s", late.msg);
		}
	}
	print_results(m);
	return ret;
}

/* ---- turns ---- */

/* One round of a member. */
static int turn(struct many *m, size_t i, struct err *err)
{
	struct member *b = &m->v[i];
	bool more = true;
	int ret = 0;

	m->at = i;
	b->turn = ++m->turns;
	if (!b->runner.begun)
		ret = begin(m, b, err);
	if (!ret && run_is_halted(&b->runner))
		b->runner.run.halt = true;
	else if (!ret && !task_stop) {
		make_room(m, b);
		ret = run_round(&b->runner, &more, err);
	}
	b->share.cut = false;
	if (task_stop)
		return ret == ERR_STOPPED ? 0 : ret;
	if (ret || !more || run_is_halted(&b->runner)) {
		b->runner.run.halt |= run_is_halted(&b->runner);
		return finish(m, i, ret, err);
	}
	portfolio_read(&b->share, &b->runner.run.graph,
		       (uint32_t)b->search->spec.round);
	return 0;
}

/* Who is asked to halt does not wait for its turn. */
static int end_halted(struct many *m, struct err *err)
{
	int ret = 0;

	for (size_t i = 0; i < m->nr && !ret; i++) {
		struct member *b = &m->v[i];

		if (b->share.over || !run_is_halted(&b->runner))
			continue;
		b->runner.run.halt = true;
		ret = finish(m, i, 0, err);
	}
	return ret;
}

static int status_of(const struct many *m, int ret, struct err *err)
{
	bool better = false, failed = false, stopped = task_stop;

	for (size_t i = 0; i < m->nr; i++) {
		better |= m->v[i].has_result && m->v[i].result.has_best;
		failed |= m->v[i].failed;
		stopped |= m->v[i].has_result && m->v[i].result.stopped;
	}
	if (stopped || ret == ERR_STOPPED)
		return EXIT_INTERRUPTED;
	if (ret)
		return cmd_status_of(err);
	if (failed) {		/* each was told of */
		*err = (struct err)ERR_INIT;
		return EXIT_FAILED;
	}
	return better ? EXIT_DONE : EXIT_NO;
}

static const struct many *sorted;

static int by_kernel(const void *a, const void *b)
{
	const size_t *x = a, *y = b;
	int c = strcmp(sorted->v[*x].kernel->name, sorted->v[*y].kernel->name);

	return c ? c : (*x > *y) - (*x < *y);
}

static void set_order(struct many *m)
{
	m->order = xcalloc(m->nr, sizeof(*m->order));
	for (size_t i = 0; i < m->nr; i++)
		m->order[i] = i;
	sorted = m;
	if (m->nr)
		qsort(m->order, m->nr, sizeof(*m->order), by_kernel);
}

/* Those that ended before are told of. */
static int prepare_all(struct many *m, struct err *err)
{
	int ret = 0;

	for (size_t i = 0; i < m->nr && !ret; i++) {
		struct member *b = &m->v[i];
		bool ended = false;

		if (b->share.over)
			continue;
		ret = prepare(m, b, &ended, err);
		if (ret)
			ret = many_fail(m, i, err);
		b->share.over |= ended;
		if (b->share.over)
			close_judges(&b->task);
	}
	return ret;
}

/* All of them, before any begins: who halts the run has to find those, too,
 * that wait for their first turn. */
static int claim_all(struct many *m, struct err *err)
{
	int ret = 0;

	for (size_t i = 0; i < m->nr && !ret; i++) {
		if (m->v[i].share.over)
			continue;
		ret = run_claim(&m->v[i].runner, err);
		if (ret)
			ret = many_fail(m, i, err);
	}
	return ret;
}

int many_run(struct many *m, struct err *err)
{
	struct share *s = xcalloc(m->nr, sizeof(*s));
	int ret = prepare_all(m, err);

	if (!ret)
		ret = claim_all(m, err);
	set_order(m);
	if (!ret && !task_stop)
		ret = end_halted(m, err);
	while (!ret && !task_stop) {
		int next;

		for (size_t i = 0; i < m->nr; i++)
			s[i] = m->v[m->order[i]].share;
		next = portfolio_next(s, m->nr);
		if (next < 0)
			break;
		ret = turn(m, m->order[next], err);
		if (!ret && !task_stop)
			ret = end_halted(m, err);
	}
	free(s);
	ret = finish_all(m, ret, err);
	return status_of(m, ret, err);
}
