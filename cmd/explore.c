/* git maxkernel explore: searches kernels for faster versions. */
#include <stdlib.h>
#include <string.h>

#include "agents/agents.h"
#include "cmd/detach.h"
#include "cmd/estimate.h"
#include "cmd/many.h"
#include "cmd/opt.h"
#include "cmd/out.h"
#include "cmd/rest.h"
#include "cmd/start.h"
#include "core/mem.h"

struct explore_opts {
	struct run_opts run;
	struct start_opts start;
	const char *from;
	bool worktree, detach;
};

/* ---- the searches ---- */

static int open_tasks(struct many *m, const struct kernel *const *k,
		      const struct explore_opts *o, struct err *err)
{
	int ret = 0;

	for (size_t i = 0; i < m->nr && !ret; i++) {
		m->v[i].kernel = k[i];
		ret = many_task(m, i, o->from, o->worktree, NULL, err);
		if (ret)
			ret = many_fail(m, i, err);
	}
	return ret;
}

static int find_search(struct many *m, size_t i, struct start *start,
		       const struct explore_opts *o, struct err *err)
{
	struct member *b = &m->v[i];
	bool fresh;
	int ret = start_search(start, &b->task, b->info.device, &o->start,
			       &b->search, &fresh, err);

	if (!ret)
		say("%s: search %s, policy %s", b->kernel->name,
		    b->search->spec.slug, b->search->spec.policy);
	if (ret || fresh)
		return ret;
	ret = many_share(b, err);
	if (!ret)
		portfolio_anew(&b->share);
	return ret;
}

/* Of all kernels, before any of them has its first attempt: a run that is
 * halted then can go on with each. */
static int find_searches(struct many *m, const struct explore_opts *o,
			 struct err *err)
{
	struct start start;
	size_t open = 0;
	int ret;

	for (size_t i = 0; i < m->nr; i++)
		open += !m->v[i].share.over;
	ret = start_open(&start, m->session->repo, open > 1, err);
	for (size_t i = 0; i < m->nr && !ret && !task_stop; i++) {
		if (m->v[i].share.over)
			continue;
		ret = find_search(m, i, &start, o, err);
		if (ret)
			ret = many_fail(m, i, err);
	}
	start_release(&start);
	return ret;
}

static int explore_all(struct session *s, const struct kernel *const *k,
		       size_t nr, const struct explore_opts *o,
		       struct err *err)
{
	struct many m;
	int ret, status;

	many_open(&m, s, &o->run, nr);
	ret = open_tasks(&m, k, o, err);
	if (!ret)
		ret = find_searches(&m, o, err);
	if (task_stop)
		status = EXIT_INTERRUPTED;
	else if (ret)
		status = cmd_status_of(err);
	else
		status = many_run(&m, err);
	many_close(&m);
	return status;
}

/* ---- the command ---- */

static int check_options(struct explore_opts *o, struct err *err)
{
	int ret = start_check(&o->start, err);

	if (!ret)
		ret = budget_check(&o->run.budget, err);
	if (ret)
		return ret;
	if (o->from && o->worktree)
		return err_set(err, ERR_USAGE, "--from and --worktree exclude "
			       "each other");
	return 0;
}

/* Nodes are commits: said before anything is measured. */
static int check_identity(struct session *s, struct err *err)
{
	struct buf name = BUF_INIT, mail = BUF_INIT;
	int ret = repo_identity(s->repo, &name, &mail, err);

	buf_release(&name);
	buf_release(&mail);
	return ret;
}

/* What would fail every time is said at once. */
static int check_push(struct session *s, const char *push, struct err *err)
{
	struct background *b;
	int ret = push ? background_open(&b, s->repo, push, err) : 0;

	if (push && !ret)
		background_close(b);
	return ret;
}

static int explore(struct session *s, struct explore_opts *o,
		   const struct kernel *const *k, size_t nr, struct err *err)
{
	const struct proposer *p = proposer_find(o->start.proposer);
	int status, ret = check_identity(s, err);

	if (!ret)
		ret = check_push(s, o->run.push, err);
	if (!ret)
		ret = estimate_tell(p, k, nr, &o->run.budget, err);
	if (ret)
		return ret > 0 ? EXIT_NO : cmd_status_of(err);
	if (!budget_has_cap(&o->run.budget))
		o->run.budget.time_s = BUDGET_DEFAULT_S * (double)nr;
	o->start.budget = o->run.budget;
	if (o->detach && !detach(s, "explore", o->run.json, &status, err))
		return status;
	task_signals();
	return explore_all(s, k, nr, o, err);
}

static int choose_kernels(const struct kernel_file *f, int argc, char **argv,
			  const struct kernel ***k, size_t *nr,
			  struct err *err)
{
	int ret = 0;

	*nr = argc ? (size_t)argc : f->nr;
	*k = xcalloc(*nr, sizeof(**k));
	for (size_t i = 0; i < *nr && !ret; i++) {
		if (!argc)
			(*k)[i] = &f->v[i];
		else
			ret = task_kernel(f, argv[i], &(*k)[i], err);
		for (size_t j = 0; j < i && !ret; j++)
			if ((*k)[j] == (*k)[i])
				ret = err_set(err, ERR_USAGE, "kernel '%s' is "
					      "named twice", argv[i]);
	}
	return ret;
}

static int explore_run(struct session *s, int argc, char **argv,
		       struct err *err)
{
	struct explore_opts o = { .start = START_OPTS_INIT,
				  .run = { .budget = BUDGET_NOT_GIVEN,
					   .jobs = 1 } };
	struct start_opts *st = &o.start;
	struct budget *b = &o.run.budget;
	const struct opt opts[] = {
		OPT_STR(0, "policy", &st->policy, "<name>",
			"adaptive (default), greedy, beam, learn, evolve, "
			"hybrid, bestofn or parallel"),
		OPT_INT(0, "width", &st->width, 1, 64, "<n>",
			"nodes in the beam, chains, or members of a "
			"population"),
		OPT_INT(0, "branches", &st->branches, 1, 64, "<n>",
			"attempts a node and round"),
		OPT_INT(0, "depth", &st->depth, 1, 1000, "<n>",
			"rounds of the beam, or steps of a chain"),
		OPT_DOUBLE(0, "keep", &st->keep, "<factor>",
			"drop from the beam what is slower than this times "
			"its best (0.8)"),
		OPT_INT(0, "patience", &st->patience, 1, 1000, "<n>",
			"rounds that a plan of several steps keeps its place "
			"in the beam"),
		OPT_INT(0, "islands", &st->islands, 1, 16, "<n>",
			"populations of evolve that seldom mix"),
		OPT_STR(0, "proposer", &st->proposer, "<name>",
			"who makes the attempts (builtin)"),
		OPT_INT(0, "attempts", &b->attempts, 1, 1000000, "<n>",
			"stop after <n> attempts, of all kernels together"),
		OPT_TIME(0, "time", &b->time_s, "<time>",
			"begin no attempt after this time: 90, 5m, 2h (60 s a "
			"kernel if no budget is given)"),
		OPT_TIME(0, "device-time", &b->device_s, "<time>",
			"begin no attempt when the device was used so long"),
		OPT_INT(0, "tokens", &b->tokens, 1, INT64_C(1) << 50, "<n>",
			"use at most <n> tokens of models"),
		OPT_DOUBLE(0, "cost", &b->cost, "<dollars>",
			"spend at most so much on models"),
		OPT_DOUBLE(0, "until", &b->until, "<speedup>",
			"a kernel with this confirmed speedup is done"),
		OPT_INT(0, "seed", &st->seed, 0, INT64_MAX, "<n>",
			"of all choices (1)"),
		OPT_INT('j', "jobs", &o.run.jobs, 1, 64, "<n>",
			"attempts in flight (1)"),
		OPT_BOOL(0, "worktree", &o.worktree,
			"search from the work tree's versions, not HEAD's"),
		OPT_STR(0, "from", &o.from, "<commit>",
			"search from this commit"),
		OPT_MAYBE("push", &o.run.push, "[=<remote>]",
			"push to the remote while it runs"),
		OPT_BOOL(0, "detach", &o.detach,
			"run in the background, with a log"),
		OPT_BOOL(0, "json", &o.run.json,
			"print one JSON object a kernel"),
		OPT_BOOL('v', "verbose", &o.run.verbose,
			"tell of every attempt on a terminal too"),
		OPT_BOOL('q', "quiet", &out_quiet, "no progress"),
		OPT_END
	};
	struct kernel_file f;
	const struct kernel **k = NULL;
	size_t nr = 0;
	int status, ret;

	argc = opt_parse(&cmd_explore, opts, argc, argv, &status, err);
	if (argc < 0)
		return status;
	ret = check_options(&o, err);
	if (!ret)
		ret = task_kernels(s, &f, err);
	if (ret)
		return cmd_status_of(err);
	ret = choose_kernels(&f, argc, argv, &k, &nr, err);
	status = ret ? cmd_status_of(err) : explore(s, &o, k, nr, err);
	free(k);
	kernel_file_release(&f);
	return status;
}

static const char *const usage[] = {
	"git maxkernel explore [<options>] [<kernel>...]",
	NULL
};

const struct cmd cmd_explore = {
	.name = "explore",
	.group = "search",
	.summary = "search for faster versions of kernels",
	.usage = usage,
	.needs = NEED_REPO,
	.run = explore_run,
};
