/* git maxkernel resume: goes on with a search that was halted. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/node.h"
#include "cmd/opt.h"
#include "cmd/out.h"
#include "cmd/run.h"
#include "core/mem.h"

static int by_begin(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (x[0] > y[0]) - (x[0] < y[0]);
}

/* Wall seconds that attempts of ours were in flight: attempts of several
 * judges overlap. */
static double wall_s(const struct graph *g)
{
	double (*span)[2] = xcalloc(g->nr, sizeof(*span));
	double sum = 0, end = -INFINITY;
	size_t nr = 0;

	for (uint32_t i = 1; i < g->nr; i++) {
		double s = g->node[i].rec.attempt_s;

		if (!(s >= 0) || g->node[i].united || g->node[i].claimed)
			continue;
		span[nr][1] = (double)g->node[i].time;
		span[nr][0] = span[nr][1] - s;
		nr++;
	}
	if (nr)
		qsort(span, nr, sizeof(*span), by_begin);
	for (size_t i = 0; i < nr; i++) {
		double from = span[i][0] > end ? span[i][0] : end;

		if (span[i][1] > from)
			sum += span[i][1] - from;
		end = span[i][1] > end ? span[i][1] : end;
	}
	free(span);
	return sum;
}

/*
 * What is left of the budget that the search was started with: of its
 * attempts what no one has made, of its time what this clone has not used.
 * What others say that they used is a claim.
 */
void run_rest_of_budget(const struct view *v, struct run_opts *o)
{
	const struct spec *spec = &v->search->spec;
	int64_t made = v->graph.nr_spend;	/* of no node, or pruned */
	double pruned_s = 0;

	for (uint32_t i = 0; i < v->graph.nr_spend; i++)
		if (v->graph.spend[i].attempt_s > 0 &&
		    !v->graph.spend[i].claimed)
			pruned_s += v->graph.spend[i].attempt_s;
	for (uint32_t i = 1; i < v->graph.nr; i++)
		made += v->graph.node[i].step > 0 && v->graph.node[i].op &&
			!v->graph.node[i].united &&
			strcmp(v->graph.node[i].op, "tune") != 0;
	if (spec->attempts)
		o->attempts = spec->attempts > made ? spec->attempts - made : -1;
	if (spec->time_s > 0) {
		o->time_s = spec->time_s - wall_s(&v->graph) - pruned_s;
		if (o->time_s < RUN_LEAST_TIME_S)
			o->time_s = RUN_LEAST_TIME_S;
	}
}

static int find_unfinished(struct session *s, struct search **out,
			   struct err *err)
{
	struct spec_list list;
	int ret = node_searches(s->repo, &list, err);

	*out = NULL;
	for (size_t i = 0; i < list.nr && !ret && !*out; i++) {
		char *why = NULL;

		ret = store_open(s->repo, list.v[i].slug, out, err);
		if (!ret)
			ret = store_finished(*out, &why, err);
		if (why || ret) {
			store_close(*out);
			*out = NULL;
		}
		free(why);
	}
	spec_list_release(&list);
	if (!ret && !*out)
		ret = err_set(err, ERR_NOTFOUND, "there is no unfinished search "
			      "here: 'git maxkernel explore' starts one");
	return ret;
}

static int resume_one(struct session *s, struct view *v, struct run_opts *o,
		      bool own_budget, struct run_result *out, struct err *err)
{
	struct oid_hex root = oid_text(&v->search->spec.root);
	struct kernel_file f;
	struct task t;
	int ret = run_spec_kernel(&v->search->spec, &f, err);

	if (ret)
		return ret;
	ret = task_open(&t, s, &f.v[0], root.s, false, err);
	t.base = v->search->spec.base;
	if (!ret)
		ret = task_judge(&t, (int)o->jobs, err);
	if (!ret) {
		task_print_root(&t);
		if (!own_budget)
			run_rest_of_budget(v, o);
		ret = run_search(&t, v->search, o, out, err);
	}
	task_close(&t);
	kernel_file_release(&f);
	return ret;
}

struct printed {
	bool json, done;
};

static void print_now(void *ctx, const struct run_result *r)
{
	struct printed *p = ctx;

	run_print(r, 1, p->json);
	fflush(stdout);
	p->done = true;
}

static int resume_run(struct session *s, int argc, char **argv,
		      struct err *err)
{
	struct run_opts o = { .time_s = -1, .jobs = 1 };
	const char *push = NULL;
	struct printed printed = { false, false };
	const struct opt opts[] = {
		OPT_INT(0, "attempts", &o.attempts, 1, 1000000, "<n>",
			"<n> more attempts, instead of what is left of the "
			"budget"),
		OPT_TIME(0, "time", &o.time_s, "<time>",
			"this much more time, instead of what is left"),
		OPT_INT('j', "jobs", &o.jobs, 1, 64, "<n>",
			"attempts in flight (1)"),
		OPT_MAYBE("push", &push, "[=<remote>]",
			"push to the remote while it runs"),
		OPT_BOOL(0, "json", &o.json, "print one JSON object"),
		OPT_BOOL('v', "verbose", &o.verbose,
			"tell of every attempt on a terminal too"),
		OPT_BOOL('q', "quiet", &out_quiet, "no progress"),
		OPT_END
	};
	struct run_result r;
	struct search *search = NULL;
	struct view v;
	bool own, spent;
	int status, ret;

	argc = opt_parse(&cmd_resume, opts, argc, argv, &status, err);
	if (argc < 0)
		return status;
	if (argc > 1)
		return err_set(err, ERR_USAGE, "resume takes one search"),
		       EXIT_USAGE;
	if (o.time_s >= 0 && !(o.time_s >= 1))
		return err_set(err, ERR_USAGE, "--time takes a second or more"),
		       EXIT_USAGE;
	own = o.attempts || o.time_s >= 0;
	o.time_s = o.time_s < 0 ? 0 : o.time_s;
	if (argc) {
		ret = node_search(s->repo, argv[0], &v, err);
	} else {
		ret = find_unfinished(s, &search, err);
		if (!ret)
			ret = view_open(&v, s->repo, search->spec.slug, err);
		store_close(search);
	}
	if (ret)
		return cmd_status_of(err);
	if (push && background_open(&o.push, s->repo, push, err)) {
		view_close(&v);
		return cmd_status_of(err);
	}
	task_signals();
	memset(&r, 0, sizeof(r));
	printed.json = o.json;
	o.ready = print_now;
	o.ctx = &printed;
	say("%s: resuming search %s", v.search->spec.kernel,
	    v.search->spec.slug);
	ret = resume_one(s, &v, &o, own, &r, err);
	if (!ret && !printed.done)
		run_print(&r, 1, o.json);
	spent = !ret && !own && !r.made && o.attempts < 0;
	if (spent)
		say("search %s: its budget is spent; --attempts or --time gives "
		    "it more", v.search->spec.slug);
	status = task_stop ? EXIT_INTERRUPTED : spent ? EXIT_NO : ret ? cmd_status_of(err) :
		 r.has_best ? EXIT_DONE : EXIT_NO;
	background_close(o.push);
	run_result_release(&r);
	view_close(&v);
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
