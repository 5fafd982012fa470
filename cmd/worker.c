/* git maxkernel worker: joins a search that is shared through a remote. */
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "agents/agents.h"
#include "cmd/node.h"
#include "cmd/opt.h"
#include "cmd/out.h"
#include "cmd/rest.h"
#include "cmd/run.h"
#include "cmd/sharing.h"
#include "core/crowd.h"
#include "core/lease.h"
#include "core/mem.h"

#define CALL_MS 120000		/* of one call of git, once we are in */
#define LOOK_LEAST_S 2.0	/* --wait: between two looks */
#define LOOK_MOST_S 30.0

struct worker {
	struct session *session;
	struct sharing sh;
	struct run_opts run;
	const char *search;	/* a slug or its beginning; NULL: the newest */
	bool wait;
	bool own_budget;
	char *device;		/* of this machine, once it is known */
	struct strv tried;	/* searches that this machine can't join */
};

/* ---- which search ---- */

/* Searches of the remote, by slug. */
static int list_there(struct worker *w, struct strv *out, struct err *err)
{
	struct strv patterns = STRV_INIT;
	struct remote_refs refs = { NULL, 0, 0 };
	char *dir = share_remote_name(w->session->repo, w->sh.remote,
				      "refs/maxkernel/");
	int ret;

	strv_pushf(&patterns, "%s*/spec", dir);
	ret = remote_list(w->session->repo, &w->sh.opts, &patterns, &refs, err);
	for (size_t i = 0; i < refs.nr && !ret; i++) {
		const char *slug = refs.v[i].name;
		size_t len;

		if (strncmp(slug, dir, strlen(dir)) != 0)
			continue;
		slug += strlen(dir);
		len = strcspn(slug, "/");
		if (strcmp(slug + len, "/spec") != 0 ||
		    (w->search && strncmp(slug, w->search,
					  strlen(w->search)) != 0))
			continue;
		strv_pushf(out, "%.*s", (int)len, slug);
	}
	remote_refs_release(&refs);
	strv_release(&patterns);
	free(dir);
	return ret;
}

/* A whole slug beats those that it is the beginning of. */
static int one_of(const struct worker *w, struct strv *slugs, struct err *err)
{
	if (w->search && strv_has(slugs, w->search)) {
		strv_release(slugs);
		*slugs = (struct strv)STRV_INIT;
		strv_push(slugs, w->search);
	} else if (w->search && slugs->nr > 1) {
		return err_set(err, ERR_USAGE, "'%s' could be any of %zu "
			       "searches on '%s'", w->search, slugs->nr,
			       w->sh.remote);
	}
	return 0;
}

/* Why this machine can't work on it, or NULL; caller frees. */
static char *unfit(const struct worker *w, const struct spec *spec)
{
	struct kernel_file f = { NULL, 0, 0 };
	struct err why = ERR_INIT;
	char *text = NULL;

	if (run_spec_kernel(spec, &f, &why))
		return xstrdup(why.msg);
	if (strcmp(f.v[0].target, "c") != 0)
		text = xasprintf("its kernel is for target '%s', which this "
				 "version does not run", f.v[0].target);
	else if (!policy_find(spec->policy) || !proposer_find(spec->proposer))
		text = xasprintf("it wants policy '%s' and proposer '%s', not "
				 "both of which this version has",
				 spec->policy, spec->proposer);
	else if (spec_spender(spec))
		text = xasprintf("its proposer '%s' spends tokens, and each "
				 "worker would pay for every attempt: 'git "
				 "maxkernel resume %s' goes on with it alone",
				 spec_spender(spec)->name, spec->slug);
	else if (w->device && strcmp(w->device, spec->device) != 0)
		text = xasprintf("it is made on %s, and this machine is %s: "
				 "numbers of two device classes are never "
				 "mixed. 'git maxkernel resume %s' goes on "
				 "with it here, alone", spec->device,
				 w->device, spec->slug);
	kernel_file_release(&f);
	return text;
}

/* The slug to join, or NULL and why not in words. */
static int choose(struct worker *w, const struct strv *there, char **slug,
		  struct buf *why, struct err *err)
{
	struct spec_list list;
	int ret = node_searches(w->session->repo, &list, err);

	*slug = NULL;
	for (size_t i = 0; i < list.nr && !ret && !*slug; i++) {
		const struct spec *spec = &list.v[i];
		struct search *s;
		char *over = NULL, *not_here;

		if (!strv_has(there, spec->slug) ||
		    strv_has(&w->tried, spec->slug))
			continue;
		ret = store_open(w->session->repo, spec->slug, &s, err);
		if (ret)
			break;
		ret = store_finished(s, &over, err);
		store_close(s);
		not_here = ret || over ? NULL : unfit(w, spec);
		if (over)
			buf_addf(why, "search %s is finished (%s)\n",
				 spec->slug, over);
		else if (not_here)
			buf_addf(why, "search %s: %s\n", spec->slug, not_here);
		else if (!ret)
			*slug = xstrdup(spec->slug);
		free(not_here);
		free(over);
	}
	spec_list_release(&list);
	return ret;
}

static int find(struct worker *w, char **slug, struct buf *why,
		struct err *err)
{
	struct strv there = STRV_INIT;
	struct share_sum sum = { 0, 0, 0, 0 };
	int ret = list_there(w, &there, err);

	*slug = NULL;
	buf_reset(why);
	if (!ret)
		ret = one_of(w, &there, err);
	if (!ret && there.nr) {
		ret = share_pull(w->session->repo, &w->sh.opts, &there,
				 &w->sh.teller, &sum, err);
		if (!ret)
			ret = choose(w, &there, slug, why, err);
	}
	strv_release(&there);
	return ret;
}

static void tell_none(const struct worker *w, const struct buf *why)
{
	if (why->len)
		say("%.*s", (int)why->len - 1, why->ptr);
	if (w->tried.nr)
		return;		/* told of already */
	if (w->search && !why->len)
		say("'%s' has no search '%s': 'git maxkernel push' in the clone "
		    "that has it sends it there", w->sh.remote, w->search);
	else if (!w->search)
		say("'%s' has no search to join: 'git maxkernel explore' starts "
		    "one, 'git maxkernel push' sends it there; --wait waits "
		    "for one", w->sh.remote);
}

/* As find(), again and again with --wait. */
static int find_or_wait(struct worker *w, char **slug, struct err *err)
{
	struct buf why = BUF_INIT;
	double pause = LOOK_LEAST_S;
	bool told = false;
	int ret = find(w, slug, &why, err);

	while (!*slug && w->wait && !task_stop &&
	       (!ret || (ret == ERR_NET && told)) &&
	       !(w->search && (why.len || w->tried.nr))) {
		struct pollfd p = { .fd = task_stop_fd, .events = POLLIN };

		if (!told)
			say("waiting for a search on '%s'", w->sh.remote);
		told = true;
		w->sh.opts.background = true;
		poll(&p, p.fd >= 0, (int)(pause * 1000));
		pause = fmin(pause * 1.5, LOOK_MOST_S);
		err->code = ERR_NONE;
		if (!task_stop)
			ret = find(w, slug, &why, err);
	}
	if (!ret && !*slug && !task_stop)
		tell_none(w, &why);
	buf_release(&why);
	return ret;
}

/* ---- working on it ---- */

/* What the search was started with holds for all its workers together; *spent:
 * nothing is left of it. */
static void set_budget(struct worker *w, const struct view *v, int64_t *joint,
		       bool *spent)
{
	const struct spec *spec = &v->search->spec;

	*joint = 0;
	*spent = false;
	if (w->own_budget)
		return;
	*spent = rest_of_search(spec, &v->graph, &w->run.budget);
	*joint = spec->budget.attempts;
	w->run.budget.attempts = 0;	/* all workers' are counted elsewhere */
}

/* Results are pushed as they are made; what is left are landing branches, and
 * whatever else this clone has of the search. */
static int push_rest(struct worker *w, const char *slug, bool branches,
		     struct err *err)
{
	enum share_branches which = BRANCHES_NONE;
	struct share_sum sum = { 0, 0, 0, 0 };
	struct strv slugs = STRV_INIT;
	int ret = branches ? share_branches(w->session->repo, &which, err) : 0;

	strv_push(&slugs, slug);
	if (!ret)
		ret = share_push(w->session->repo, &w->sh.opts, &slugs, which,
				 &w->sh.teller, &sum, err);
	strv_release(&slugs);
	return ret;
}

static int search_together(struct worker *w, struct task *t, struct search *s,
			   int64_t joint, struct run_result *out,
			   struct err *err)
{
	struct err late = ERR_INIT;
	struct crowd *crowd = NULL;
	int ttl_s = (int)repo_config_int(s->repo, "maxkernel.leaseSeconds",
					 LEASE_TTL_S);
	int ret = store_claim_slot(s, err), closed;

	if (!ret)
		ret = crowd_open(s, &w->sh.opts, ttl_s, joint, &w->sh.teller,
				 &crowd, err);
	if (ret)
		return ret;
	say("%s: working on search %s of '%s' as %s", s->spec.kernel,
	    s->spec.slug, w->sh.remote, s->worker);
	w->run.crowd = crowd_face(crowd);
	ret = run_search(t, s, &w->run, out, err);
	closed = crowd_close(crowd, &late);
	if (!ret && closed && closed != ERR_NET) {
		*err = late;
		return closed;
	}
	if (closed)
		warn("%s; 'git maxkernel push' sends what is left", late.msg);
	return ret;
}

/* Sets w->device; *other: it is not the search's (choose() says so the next
 * time), or there is no budget left. */
static int join_with(struct worker *w, struct view *v, struct task *t,
		     bool *other, struct run_result *out, struct err *err)
{
	struct search *s = v->search;
	struct oid_hex root = oid_text(&s->spec.root);
	int64_t joint;
	bool spent;
	int ret = task_open(t, w->session, v->kernel, root.s, false, err);

	t->base = s->spec.base;
	set_budget(w, v, &joint, &spent);
	if (!ret && spent) {
		say("search %s: its budget is spent; --attempts or --time gives "
		    "it more", s->spec.slug);
		strv_push(&w->tried, s->spec.slug);
		*other = true;
		return 0;
	}
	if (!ret)
		ret = task_judge(t, (int)w->run.jobs, err);
	if (ret)
		return ret;
	free(w->device);
	w->device = xstrdup(t->judge[0]->info.device);
	*other = strcmp(w->device, s->spec.device) != 0;
	if (*other)
		return 0;
	task_print_root(t);
	return search_together(w, t, s, joint, out, err);
}

/* *joined is false when this machine can't; another may be found. */
static int join(struct worker *w, const char *slug, bool *joined,
		struct run_result *out, struct err *err)
{
	struct view v;
	struct task t;
	bool other = false;
	int ret = push_rest(w, slug, false, err);

	if (!ret)
		ret = view_open(&v, w->session->repo, slug, err);
	if (ret)
		return ret;
	/* Nobody is asked anything from here on, and no call hangs. */
	w->sh.opts.background = true;
	w->sh.opts.timeout_ms = CALL_MS;
	if (v.kernel)
		ret = join_with(w, &v, &t, &other, out, err);
	else
		ret = err_set(err, ERR_FORMAT, "the section of search %s cannot "
			      "be read", slug);
	if (v.kernel)
		task_close(&t);
	view_close(&v);
	*joined = !other;
	if (!ret && !other && !out->stopped && !out->over &&
	    push_rest(w, slug, true, err)) {
		warn("%s; 'git maxkernel push' sends the landing branches",
		     err->msg);
		err->code = ERR_NONE;
	}
	return ret;
}

static int work(struct worker *w, bool *joined, struct run_result *out,
		struct err *err)
{
	char *slug = NULL;
	int ret = 0;

	*joined = false;
	while (!ret && !*joined && !task_stop) {
		ret = find_or_wait(w, &slug, err);
		if (ret || !slug)
			break;
		ret = join(w, slug, joined, out, err);
		free(slug);
		slug = NULL;
	}
	free(slug);
	return ret;
}

/* ---- the command ---- */

static int check(struct worker *w, struct err *err)
{
	struct buf name = BUF_INIT, mail = BUF_INIT;
	int64_t ttl_s = LEASE_TTL_S;
	int ret = budget_check(&w->run.budget, err);

	if (!ret && w->search && !*w->search)
		ret = err_set(err, ERR_USAGE, "--search takes the name of a "
			      "search");
	if (!ret)	/* nodes are commits: said before anything is measured */
		ret = repo_identity(w->session->repo, &name, &mail, err);
	if (!ret)
		ret = repo_config_range(w->session->repo,
					"maxkernel.leaseSeconds",
					LEASE_MIN_TTL_S, LEASE_MAX_TTL_S,
					&ttl_s, err);
	w->own_budget = budget_has_cap(&w->run.budget);
	buf_release(&name);
	buf_release(&mail);
	return ret;
}

static int worker_run(struct session *s, int argc, char **argv,
		      struct err *err)
{
	struct worker w = { .session = s,
			    .run = { .budget = BUDGET_NOT_GIVEN, .jobs = 1 } };
	const struct opt opts[] = {
		OPT_STR(0, "search", &w.search, "<search>",
			"the one to join, instead of the newest that is not "
			"finished"),
		OPT_BOOL(0, "wait", &w.wait,
			"if there is none, wait until there is"),
		OPT_INT(0, "attempts", &w.run.budget.attempts, 1, 1000000, "<n>",
			"stop after <n> attempts of this worker"),
		OPT_TIME(0, "time", &w.run.budget.time_s, "<time>",
			"begin no attempt after this time: 90, 5m, 2h"),
		OPT_INT('j', "jobs", &w.run.jobs, 1, 64, "<n>",
			"attempts in flight (1)"),
		OPT_BOOL(0, "json", &w.run.json, "print one JSON object"),
		OPT_BOOL('v', "verbose", &w.run.verbose,
			"tell of every attempt on a terminal too"),
		OPT_BOOL('q', "quiet", &out_quiet, "no progress"),
		OPT_END
	};
	struct run_result r;
	bool joined = false;
	int status, ret;

	argc = opt_parse(&cmd_worker, opts, argc, argv, &status, err);
	if (argc < 0)
		return status;
	if (opt_operands(argc, 0, 1, err))
		return EXIT_USAGE;
	memset(&r, 0, sizeof(r));
	ret = check(&w, err);
	if (!ret)
		ret = sharing_open(&w.sh, s, argc, argv, err);
	/* The remote's words of each push are for who pushes by hand. */
	w.sh.opts.said = NULL;
	w.sh.teller.search = NULL;
	if (!ret)
		ret = work(&w, &joined, &r, err);
	if (!ret && joined)
		run_print(&r, 1, w.run.json);
	status = task_stop || (joined && r.stopped) ? EXIT_INTERRUPTED :
		ret ? cmd_status_of(err) :
		joined && r.has_best ? EXIT_DONE : EXIT_NO;
	run_result_release(&r);
	sharing_close(&w.sh);
	strv_release(&w.tried);
	free(w.device);
	return status;
}

static const char *const usage[] = {
	"git maxkernel worker [<options>] [<remote>]",
	NULL
};

const struct cmd cmd_worker = {
	.name = "worker",
	.group = "search",
	.summary = "work on a search together with others, through a remote",
	.usage = usage,
	.needs = NEED_REPO,
	.run = worker_run,
};
