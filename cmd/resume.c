/* git maxkernel resume: goes on with searches that were halted. */
#include <stdlib.h>
#include <string.h>

#include "agents/agents.h"
#include "cmd/detach.h"
#include "cmd/estimate.h"
#include "cmd/many.h"
#include "cmd/node.h"
#include "cmd/opt.h"
#include "cmd/out.h"
#include "cmd/rest.h"
#include "core/mem.h"

struct resume {
	struct session *session;
	struct run_opts run;
	struct spec_list list;		/* all searches, newest first */
	char *slug;			/* the one that is asked for */
	bool alone;			/* without those of its group */
	bool own;			/* budget, given by options */
	bool detach;
	bool spent;			/* nothing is left of the searches' own */
	bool below;			/* what is left buys no attempt */
};

/* ---- which ---- */

static const struct spec *find_spec(const struct resume *r, const char *slug)
{
	for (size_t i = 0; i < r->list.nr; i++)
		if (!strcmp(r->list.v[i].slug, slug))
			return &r->list.v[i];
	return NULL;
}

static bool in_group(const struct resume *r, const struct spec *s)
{
	return !strcmp(spec_group(s), spec_group(find_spec(r, r->slug)));
}

/* *finished, or it can go on. */
static int look_at(struct resume *r, const char *slug, bool *finished,
		   struct err *err)
{
	struct search *s;
	char *why = NULL;
	int ret = store_open(r->session->repo, slug, &s, err);

	if (ret)
		return ret;
	ret = store_finished(s, &why, err);
	*finished = why;
	free(why);
	store_close(s);
	return ret;
}

static int find_unfinished(struct resume *r, struct err *err)
{
	bool finished = true;
	int ret = 0;

	for (size_t i = 0; i < r->list.nr && !ret && finished; i++) {
		ret = look_at(r, r->list.v[i].slug, &finished, err);
		if (!ret && !finished)
			r->slug = xstrdup(r->list.v[i].slug);
	}
	if (!ret && !r->slug)
		ret = err_set(err, ERR_NOTFOUND, "there is no unfinished search "
			      "here: 'git maxkernel explore' starts one");
	return ret;
}

static int find_named(struct resume *r, const char *name, struct err *err)
{
	struct view v;
	int ret = node_search(r->session->repo, name, &v, err);

	if (ret)
		return ret;
	r->slug = xstrdup(v.search->spec.slug);
	view_close(&v);
	if (!find_spec(r, r->slug))
		return err_set(err, ERR_NOTFOUND, "search %s cannot be read",
			       r->slug);
	return 0;
}

static bool is_wanted(const struct resume *r, const struct spec *s,
		      bool finished)
{
	if (r->alone)
		return !strcmp(s->slug, r->slug);
	return in_group(r, s) && !finished;
}

/* ---- the budget ---- */

/* What all of its group have left, where options say nothing else. */
static int set_budget(struct resume *r, struct err *err)
{
	const struct spec *spec = find_spec(r, r->slug);
	double until = r->run.budget.until > 0 ? r->run.budget.until :
		spec->budget.until;
	int ret = 0;

	r->own = budget_has_cap(&r->run.budget);
	if (!r->own)
		ret = rest_of_group(r->session->repo, &r->list, spec,
				    &r->run.budget, &r->spent, err);
	r->run.budget.until = until;
	return ret;
}

/* ---- going on ---- */

/* Said before anything is measured.  It is taken when it runs. */
static int check_free(struct resume *r, const char *slug, struct err *err)
{
	struct search *s;
	int ret = store_open(r->session->repo, slug, &s, err);

	if (!ret) {
		ret = store_claim(s, err);
		store_close(s);
	}
	return ret;
}

/* A budget that options give is a new one, with new shares. */
static int open_member(struct resume *r, struct many *m, size_t i,
		       struct err *err)
{
	struct member *b = &m->v[i];
	const struct spec *spec = &b->search->spec;
	struct oid_hex root = oid_text(&spec->root);
	int ret = check_free(r, spec->slug, err);

	if (ret)
		return ret;
	say("%s: resuming search %s", b->kernel->name, spec->slug);
	ret = many_task(m, i, root.s, false, &spec->base, err);
	if (!ret)
		ret = many_share(b, err);
	if (!ret && r->own)
		portfolio_anew(&b->share);
	return ret;
}

/* Opens the searches that are wanted, in the order they were started in. */
static int find_members(struct resume *r, struct many *m, struct err *err)
{
	int ret = 0;

	m->nr = 0;
	for (size_t i = r->list.nr; i-- > 0 && !ret;) {
		const struct spec *spec = &r->list.v[i];
		struct member *b = &m->v[m->nr];
		bool finished = false;

		if (!in_group(r, spec))
			continue;
		ret = look_at(r, spec->slug, &finished, err);
		if (ret || !is_wanted(r, spec, finished))
			continue;
		m->nr++;
		ret = store_open(r->session->repo, spec->slug, &b->search, err);
		if (!ret)
			ret = run_spec_kernel(&b->search->spec, &b->section,
					      err);
		if (!ret)
			b->kernel = &b->section.v[0];
	}
	return ret;
}

static int tell_estimate(const struct resume *r, const struct many *m,
			 struct err *err)
{
	const struct proposer *p = spec_spender(find_spec(r, r->slug));
	const struct kernel **k = xcalloc(m->nr, sizeof(*k));
	int ret;

	for (size_t i = 0; i < m->nr; i++)
		k[i] = m->v[i].kernel;
	ret = r->spent ? 0 :
		estimate_tell(p, k, m->nr, &r->run.budget, err);
	free(k);
	return ret;
}

/* Of a search that has no budget of its own: what explore gives. */
static void set_default(struct resume *r, const struct many *m)
{
	struct buf text = BUF_INIT;

	if (budget_has_cap(&r->run.budget))
		return;
	r->run.budget.time_s = BUDGET_DEFAULT_S * (double)m->nr;
	budget_text(&r->run.budget, &text);
	say("search %s has no budget: it gets %s; --attempts or --time gives "
	    "another", r->slug, text.ptr);
	buf_release(&text);
}

static bool is_spent(const struct run_result *r)
{
	static const enum search_end ends[] = {
		SEARCH_ATTEMPTS, SEARCH_TIME, SEARCH_DEVICE, SEARCH_TOKENS,
		SEARCH_COST
	};

	for (size_t i = 0; i < ARRAY_SIZE(ends) && r->why; i++)
		if (!strcmp(r->why, search_end_name(ends[i])))
			return r->made == 0;
	return false;
}

/* Nothing was made, since too little was left to make it with. */
static bool tell_spent(const struct resume *r, const struct many *m)
{
	for (size_t i = 0; i < m->nr; i++)
		if (!is_spent(&m->v[i].result))
			return false;
	if (r->own)
		return r->below;
	say("search %s: its budget is spent; --attempts or --time gives it "
	    "more", r->slug);
	return true;
}

static int resume(struct resume *r, struct err *err)
{
	struct many m;
	int status = EXIT_FAILED, ret;

	many_open(&m, r->session, &r->run, r->list.nr);
	ret = find_members(r, &m, err);
	if (!ret)
		ret = tell_estimate(r, &m, err);
	/* What was paid for before may wait to be judged. */
	r->below = ret > 0;
	ret = ret > 0 ? 0 : ret;
	if (!ret)
		set_default(r, &m);
	if (!ret && r->detach &&
	    !detach(r->session, "resume", r->run.json, &status, err)) {
		many_close(&m);
		return status;
	}
	task_signals();
	for (size_t i = 0; i < m.nr && !ret && !task_stop; i++) {
		ret = open_member(r, &m, i, err);
		if (ret)
			ret = many_fail(&m, i, err);
	}
	if (task_stop)
		status = EXIT_INTERRUPTED;
	else if (ret)
		status = cmd_status_of(err);
	else
		status = many_run(&m, err);
	if (status <= EXIT_NO && tell_spent(r, &m))
		status = EXIT_NO;
	many_close(&m);
	return status;
}

/* ---- the command ---- */

static int resume_find(struct resume *r, const char *name, struct err *err)
{
	int ret = budget_check(&r->run.budget, err);

	if (!ret)
		ret = node_searches(r->session->repo, &r->list, err);
	r->alone = name;
	if (!ret)
		ret = name ? find_named(r, name, err) : find_unfinished(r, err);
	if (!ret)
		ret = set_budget(r, err);
	return ret;
}

static int check_push(const struct resume *r, struct err *err)
{
	struct background *b;
	int ret = 0;

	if (!r->run.push)
		return 0;
	ret = background_open(&b, r->session->repo, r->run.push, err);
	if (!ret)
		background_close(b);
	return ret;
}

static int resume_run(struct session *s, int argc, char **argv,
		      struct err *err)
{
	struct resume r = { .session = s,
			    .run = { .budget = BUDGET_NOT_GIVEN, .jobs = 1 } };
	struct budget *b = &r.run.budget;
	const struct opt opts[] = {
		OPT_INT(0, "attempts", &b->attempts, 1, 1000000, "<n>",
			"<n> more attempts, instead of what is left of the "
			"budget"),
		OPT_TIME(0, "time", &b->time_s, "<time>",
			"this much more time, instead of what is left"),
		OPT_TIME(0, "device-time", &b->device_s, "<time>",
			"so much more use of the device, instead of what is "
			"left"),
		OPT_INT(0, "tokens", &b->tokens, 1, INT64_C(1) << 50, "<n>",
			"<n> more tokens, instead of what is left"),
		OPT_DOUBLE(0, "cost", &b->cost, "<dollars>",
			"so much more money, instead of what is left"),
		OPT_DOUBLE(0, "until", &b->until, "<speedup>",
			"a kernel with this confirmed speedup is done"),
		OPT_INT('j', "jobs", &r.run.jobs, 1, 64, "<n>",
			"attempts in flight (1)"),
		OPT_MAYBE("push", &r.run.push, "[=<remote>]",
			"push to the remote while it runs"),
		OPT_BOOL(0, "detach", &r.detach,
			"run in the background, with a log"),
		OPT_BOOL(0, "json", &r.run.json,
			"print one JSON object a kernel"),
		OPT_BOOL('v', "verbose", &r.run.verbose,
			"tell of every attempt on a terminal too"),
		OPT_BOOL('q', "quiet", &out_quiet, "no progress"),
		OPT_END
	};
	int status, ret;

	argc = opt_parse(&cmd_resume, opts, argc, argv, &status, err);
	if (argc < 0)
		return status;
	if (argc > 1)
		return err_set(err, ERR_USAGE, "resume takes one search"),
		       EXIT_USAGE;
	ret = resume_find(&r, argc ? argv[0] : NULL, err);
	if (!ret)
		ret = check_push(&r, err);
	status = ret ? cmd_status_of(err) : resume(&r, err);
	spec_list_release(&r.list);
	free(r.slug);
	return status;
}

static const char *const usage[] = {
	"git maxkernel resume [<options>] [<search>]",
	NULL
};

const struct cmd cmd_resume = {
	.name = "resume",
	.group = "search",
	.summary = "go on with a search that was halted",
	.usage = usage,
	.needs = NEED_REPO,
	.run = resume_run,
};
