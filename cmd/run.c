#include "cmd/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agents/agents.h"
#include "cmd/claim.h"
#include "cmd/elsewhere.h"
#include "cmd/out.h"
#include "core/crowd.h"
#include "core/lease.h"
#include "core/mem.h"
#include "core/worker.h"

#define CALL_MS 30000		/* of git, while the search waits for it */

struct teller {			/* what the events are told with */
	const struct task *task;
	struct search *search;
	const struct run_opts *opts;
	struct crowd *crowd;	/* of a search that is pushed; may be NULL */
	uint32_t attempts;
	bool champion_moved;
};

void run_result_release(struct run_result *r)
{
	free(r->kernel);
	free(r->search);
	free(r->advice);
	free(r->root.shape);
	record_release(&r->best);
}

int run_spec_kernel(const struct spec *spec, struct kernel_file *f,
		    struct err *err)
{
	int ret = kernel_section_parse(f, spec->kernel, spec->section,
				       strlen(spec->section), err);

	return ret ? err_wrap(err, "search %s", spec->slug) : 0;
}

/* ---- telling ---- */

static void tell_attempt(const struct teller *t, const struct search_event *e)
{
	bool good = e->rec->verdict == V_FASTER || e->rec->verdict == V_CONFIRMED;
	struct buf b = BUF_INIT;
	char ratio[32] = "";

	if (live_on() && !t->opts->verbose && !good)
		return;
	buf_addf(&b, "%5u %-10s ", e->step, verdict_name(e->rec->verdict));
	if (e->rec->verdict == V_CONFIRMED)
		snprintf(ratio, sizeof(ratio), "%.2fx", e->rec->speedup);
	else if (!isnan(e->rec->est_speedup))
		snprintf(ratio, sizeof(ratio), "~%.2fx", e->rec->est_speedup);
	buf_addf(&b, "%9s", ratio);
	/* The verdict is against the best so far, the ratio over the root. */
	if (!isnan(e->rec->lr) && !e->known)
		buf_addf(&b, "  %+4.0f %%", (exp(e->rec->lr) - 1) * 100);
	else
		buf_addf(&b, "%8s", "");
	buf_addf(&b, "  %s  %s%s", oid_short(e->commit).s, e->subject,
		 e->known ? "  (known)" : "");
	if (e->rec->error && !good && e->rec->verdict != V_SLOWER) {
		buf_addstr(&b, ": ");
		buf_add_clean(&b, e->rec->error,
			      strcspn(e->rec->error, "\n"), false);
	}
	say("%s", b.ptr);
	buf_release(&b);
}

static void tell_confirm(const struct search_event *e)
{
	const struct record *r = e->rec;

	if (r->verdict == V_CONFIRMED)
		say("      confirmed  %.2fx [%.2f, %.2f] over the baseline: %s  %s",
		    r->speedup, r->ci_low, r->ci_high, oid_short(e->commit).s,
		    e->subject);
	else
		say("      not confirmed (%s%s%s): %s  %s",
		    verdict_name(r->verdict), r->error ? ": " : "",
		    r->error ? r->error : "", oid_short(e->commit).s,
		    e->subject);
}

static void on_event(void *ctx, const struct search_event *e)
{
	struct teller *t = ctx;

	switch (e->kind) {
	case SEARCH_ATTEMPT:
		t->attempts++;
		tell_attempt(t, e);
		break;
	case SEARCH_CONFIRM:
		tell_confirm(e);
		break;
	case SEARCH_NOTE:
		warn("%s", e->text);
		break;
	}
}

static void on_tick(void *ctx, const struct search_now *n)
{
	const struct teller *t = ctx;

	worker_refresh(t->search);
	/* With others each result is pushed as it is made. */
	if (t->opts->push && (!t->crowd || crowd_is_alone(t->crowd)))
		background_tick(t->opts->push);
	if (live_on())
		live("%s: %u done, best %.2fx, %.0f s; %s%.0u%s%s",
		     t->task->kernel->name, n->attempts, n->best,
		     n->elapsed_s, n->doing_step ? "attempt " : "",
		     n->doing_step, n->doing_step ? ": " : "", n->doing);
}

static void tell_unfit(const struct task *t, const struct proposer *p)
{
	struct strv lines = STRV_INIT;

	if (p->unfit)
		p->unfit(t->kernel, &t->source, &lines);
	for (size_t i = 0; i < lines.nr; i++)
		say("%s: not tried: %s", t->kernel->name, lines.v[i]);
	strv_release(&lines);
}

/* ---- running ---- */

static int fill_result(struct search *s, const struct graph *g,
		       const char *device, struct run_result *out,
		       struct err *err)
{
	struct buf advice = BUF_INIT;

	out->kernel = xstrdup(s->spec.kernel);
	out->search = xstrdup(s->spec.slug);
	out->nodes = g->nr ? g->nr - 1 : 0;
	out->has_best = g->nr && g->champion != 0;
	record_init(&out->best);
	if (!out->has_best)
		return 0;
	out->node = g->node[g->champion].id;
	if (store_record(s, &out->node, device, &out->best, err) < 0)
		return err->code;
	claim_advice(&advice, &g->node[g->champion], &out->best);
	out->advice = advice.len ? buf_detach(&advice) : NULL;
	buf_release(&advice);
	return 0;
}

/* A search that ended before: only its result. */
static int tell_finished(struct task *t, struct search *s, const char *why,
			 struct run_result *out, struct err *err)
{
	const char *device = t->judge[0]->info.device;
	struct strv warnings = STRV_INIT;
	struct graph g;
	int ret;

	say("%s: search %s is finished (%s): another --seed or --policy "
	    "searches anew", s->spec.kernel, s->spec.slug, why);
	graph_init(&g);
	ret = store_load(s, device, &g, &warnings, err);
	if (!ret)
		ret = fill_result(s, &g, device, out, err);
	out->why = "finished";
	graph_release(&g);
	strv_release(&warnings);
	return ret;
}

static int publish(const struct search_run *run, const char *device,
		   struct err *err)
{
	struct publication p = {
		.search = run->search, .graph = &run->graph,
		.policy = run->policy, .proposer = run->proposer,
		.kernel = run->kernel, .device = device,
	};
	struct strv warnings = STRV_INIT;
	int ret = search_publish(&p, &warnings, err);

	for (size_t i = 0; i < warnings.nr; i++)
		warn("%s", warnings.v[i]);
	strv_release(&warnings);
	return ret;
}

/* ---- others who may join ---- */

static void on_said(void *ctx, const char *text)
{
	(void)ctx;
	say("%s", text);
}

static void on_warned(void *ctx, const char *text)
{
	(void)ctx;
	warn("%s", text);
}

/* On another device class than the search's nobody shares its rounds. */
static int open_crowd(struct teller *t, const char *device, struct err *err)
{
	const struct background *b = t->opts->push;
	struct search *s = t->search;
	int ttl_s = (int)repo_config_int(s->repo, "maxkernel.leaseSeconds",
					 LEASE_TTL_S);
	struct share_teller teller = { .said = on_said, .warned = on_warned };
	struct remote_opts o = {
		.timeout_ms = CALL_MS, .quiet = true, .background = true,
		.stop_fd = task_stop_fd,
	};
	int ret;

	if (!b || strcmp(device, s->spec.device) != 0)
		return 0;
	o.name = background_remote(b);
	ret = crowd_open(s, &o, ttl_s, 0, &teller, &t->crowd, err);
	if (!ret)
		crowd_alone(t->crowd, background_interval_s(b));
	return ret;
}

/* Others wait for what is made here until the lease of it is gone. */
static void close_push(struct teller *t)
{
	struct err late = ERR_INIT;

	if (t->opts->push)
		background_end(t->opts->push);
	if (crowd_close(t->crowd, &late) && late.code != ERR_NET)
		warn("%s", late.msg);
	t->crowd = NULL;
}

static bool ended_for_good(enum search_end e)
{
	return e == SEARCH_EXHAUSTED || e == SEARCH_FINISHED;
}

int run_search(struct task *t, struct search *s, const struct run_opts *o,
	       struct run_result *out, struct err *err)
{
	struct teller teller = { .task = t, .search = s, .opts = o };
	/* A copy: the judge may be lost and replaced. */
	char *device = xstrdup(t->judge[0]->info.device);
	struct search_run run = {
		.search = s, .kernel = t->kernel, .root = &t->source,
		.aux = &t->aux, .policy = policy_find(s->spec.policy),
		.proposer = proposer_find(s->spec.proposer),
		.judge = t->judge, .jobs = t->jobs, .config = t->config,
		.crowd = o->crowd,
		.attempts = o->attempts, .time_s = o->time_s,
		.stop = &task_stop, .stop_fd = task_stop_fd,
		.event = on_event, .tick = on_tick, .ctx = &teller,
	};
	char *why = NULL;
	int ret;

	out->root = t->judge[0]->info.shape[0];
	out->root.shape = xstrdup(out->root.shape);
	if (!run.policy || !run.proposer)
		ret = err_set(err, ERR_FORMAT, "search %s wants the %s '%s', "
			      "which this version does not have", s->spec.slug,
			      run.policy ? "proposer" : "policy",
			      run.policy ? s->spec.proposer : s->spec.policy);
	else
		ret = store_finished(s, &why, err);
	if (ret || why) {
		if (!ret)
			ret = tell_finished(t, s, why, out, err);
		free(why);
		free(device);
		return ret;
	}
	tell_unfit(t, run.proposer);
	ret = store_claim(s, err);
	if (ret) {
		free(device);
		return ret;
	}
	if (o->push)
		background_begin(o->push, s->spec.slug);
	ret = open_crowd(&teller, device, err);
	if (teller.crowd)
		run.crowd = crowd_face(teller.crowd);
	if (!ret)
		ret = elsewhere_measure(t, s, run.policy, err);
	if (!ret)
		ret = search_run(&run, err);
	live("%s", "");
	if (!ret)
		ret = publish(&run, device, err);
	if (!ret && ended_for_good(run.end) && !run.over)
		ret = store_finish(s, search_end_name(run.end), err);
	if (!ret)
		ret = fill_result(s, &run.graph, device, out, err);
	out->made = run.made;
	out->elapsed_s = run.elapsed_s;
	out->why = search_end_name(run.end);
	out->stopped = run.end == SEARCH_STOPPED;
	out->over = run.over;
	if (!ret && o->ready)
		o->ready(o->ctx, out);
	close_push(&teller);
	search_release(&run);
	free(device);
	return ret;
}

/* ---- the final table ---- */

static void print_json(const struct run_result *r)
{
	struct jout j;

	jout_begin(&j);
	jout_str(&j, "kernel", r->kernel);
	jout_str(&j, "search", r->search);
	jout_str(&j, "node", r->has_best ? oid_text(&r->node).s : NULL);
	jout_int(&j, "attempts", r->made);
	jout_int(&j, "nodes", r->nodes);
	jout_num(&j, "elapsed_s", r->elapsed_s);
	jout_str(&j, "end", r->why);
	jout_record(&j, &r->best);
	jout_end(&j, stdout);
}

static void add_row(struct table *t, const struct run_result *r,
		    const struct shape_result *s, bool first)
{
	struct buf b[6] = { BUF_INIT, BUF_INIT, BUF_INIT, BUF_INIT, BUF_INIT,
			    BUF_INIT };

	fmt_time(&b[0], s->baseline_ns);
	fmt_time(&b[1], s->time_ns);
	fmt_rate(&b[2], s);
	fmt_ratio(&b[3], s->speedup);
	fmt_interval(&b[4], s->ci_low, s->ci_high);
	fmt_ratio(&b[5], first ? r->best.vs_best_flags : NAN);
	table_cell(t, "%s", first ? r->kernel : "");
	table_cell(t, "%s", s->shape);
	for (int i = 0; i < 3; i++)
		table_cell(t, "%s", b[i].ptr);
	if (isnan(s->roof))
		table_cell(t, "-");
	else
		table_cell(t, "%.0f %%", s->roof * 100);
	table_cell(t, "%s", b[3].ptr);
	table_cell(t, "%s", b[4].ptr);
	table_cell(t, "%s", b[5].ptr);
	table_cell(t, "%s%s", first ? oid_short(&r->node).s : "",
		   first && r->advice ? " (claimed)" : "");
	if (first) {
		table_cell(t, "%u", r->made);
		table_cell(t, "%.0f", r->elapsed_s);
	} else {
		table_cell(t, "%s", "");
		table_cell(t, "%s", "");
	}
	for (size_t i = 0; i < ARRAY_SIZE(b); i++)
		buf_release(&b[i]);
}

/* A record whose shapes did not come along. */
static void add_total(struct table *t, const struct run_result *r)
{
	const struct record *b = &r->best;
	struct shape_result all = {
		.baseline_ns = b->baseline_ns, .time_ns = b->time_ns,
		.speedup = b->speedup, .ci_low = b->ci_low,
		.ci_high = b->ci_high, .gflops = b->gflops, .gbs = b->gbs,
		.roof = b->roof,
	};
	char name[] = "all";

	all.shape = name;
	add_row(t, r, &all, true);
}

static void add_none(struct table *t, const struct run_result *r)
{
	struct buf time = BUF_INIT, rate = BUF_INIT;

	fmt_time(&time, r->root.time_ns);
	fmt_rate(&rate, &r->root);
	table_cell(t, "%s", r->kernel);
	table_cell(t, "%s", r->root.shape ? r->root.shape : "");
	table_cell(t, "%s", time.ptr);
	table_cell(t, "-");
	table_cell(t, "%s", rate.ptr);
	if (isnan(r->root.roof))
		table_cell(t, "-");
	else
		table_cell(t, "%.0f %%", r->root.roof * 100);
	for (int i = 0; i < 3; i++)
		table_cell(t, "-");
	table_cell(t, "none confirmed");
	buf_release(&time);
	buf_release(&rate);
	table_cell(t, "%u", r->made);
	table_cell(t, "%.0f", r->elapsed_s);
}

void run_print(const struct run_result *r, size_t nr, bool json)
{
	static const char *const heads[] = {
		"kernel", "shape", "baseline", "best", "rate", "roof",
		"speedup", "95 % interval", "over flags", "node", "attempts",
		"seconds"
	};
	struct table t;

	if (json) {
		for (size_t i = 0; i < nr; i++)
			print_json(&r[i]);
		return;
	}
	if (!nr)
		return;
	table_init(&t, ARRAY_SIZE(heads), 0xdfc);
	for (size_t i = 0; i < ARRAY_SIZE(heads); i++)
		table_cell(&t, "%s", heads[i]);
	for (size_t i = 0; i < nr; i++) {
		bool first = true;

		if (!r[i].has_best)
			add_none(&t, &r[i]);
		for (size_t k = 0; r[i].has_best && k < r[i].best.nr_shapes; k++) {
			if (r[i].best.shape[k].holdout)
				continue;
			add_row(&t, &r[i], &r[i].best.shape[k], first);
			first = false;
		}
		if (r[i].has_best && first)
			add_total(&t, &r[i]);
	}
	table_print(&t, stdout);
	table_release(&t);
	for (size_t i = 0; i < nr; i++)
		if (r[i].advice)
			printf("%s: %s\n", r[i].kernel, r[i].advice);
}
