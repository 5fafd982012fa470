#include "cmd/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agents/agents.h"
#include "cmd/claim.h"
#include "cmd/elsewhere.h"
#include "cmd/out.h"
#include "cmd/running.h"
#include "core/clock.h"
#include "core/crowd.h"
#include "core/journal.h"
#include "core/lease.h"
#include "core/mem.h"
#include "core/worker.h"

#define CALL_MS 30000		/* of git, while the search waits for it */
#define SILENCE_S 600		/* a judge that says nothing is lost */

int run_spec_kernel(const struct spec *spec, struct kernel_file *f,
		    struct err *err)
{
	int ret = kernel_section_parse(f, spec->kernel, spec->section,
				       strlen(spec->section), err);

	return ret ? err_wrap(err, "search %s", spec->slug) : 0;
}

/* ---- telling ---- */

static void tell_attempt(const struct runner *r, const struct search_event *e)
{
	bool good = e->rec->verdict == V_FASTER || e->rec->verdict == V_CONFIRMED;
	struct buf b = BUF_INIT;
	char ratio[32] = "";

	if (live_on() && !r->opts->verbose && !good)
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
	buf_addf(&b, "  %s  %s%s", oid_is_zero(e->commit) ? "no new state" :
		 oid_short(e->commit).s, e->subject ? e->subject : "",
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
	const struct record *m = e->rec;

	if (m->verdict == V_CONFIRMED)
		say("      confirmed  %.2fx [%.2f, %.2f] over the baseline: %s  %s",
		    m->speedup, m->ci_low, m->ci_high, oid_short(e->commit).s,
		    e->subject);
	else
		say("      not confirmed (%s%s%s): %s  %s",
		    verdict_name(m->verdict), m->error ? ": " : "",
		    m->error ? m->error : "", oid_short(e->commit).s,
		    e->subject);
}

static void on_event(void *ctx, const struct search_event *e)
{
	const struct runner *r = ctx;

	switch (e->kind) {
	case SEARCH_ATTEMPT:
		tell_attempt(r, e);
		break;
	case SEARCH_CONFIRM:
		tell_confirm(e);
		break;
	case SEARCH_NOTE:
		warn("%s", e->text);
		break;
	case SEARCH_WHY:
		say("%s: %s", r->task->kernel->name, e->text);
		break;
	}
}

/* With others each result is pushed as it is made. */
static void push_tick(struct runner *r)
{
	if (r->push && (!r->crowd || crowd_is_alone(r->crowd)))
		background_tick(r->push);
}

static void add_spending(struct buf *b, const struct purse *p)
{
	if (p->used.tokens)
		buf_addf(b, ", %lld tokens", (long long)p->used.tokens);
	if (p->used.cost > 0)
		buf_addf(b, ", $%.2f", p->used.cost);
}

static void on_tick(void *ctx, const struct search_now *n)
{
	struct runner *r = ctx;
	struct buf spent = BUF_INIT;

	worker_refresh(r->search);
	push_tick(r);
	if (r->beside)
		r->beside(r->ctx);
	if (r->running && running_tick(r->running, n))
		r->run.halt = true;
	if (!live_on())
		return;
	add_spending(&spent, r->purse);
	live("%s: %u done, best %.2fx, %.0f s%s; %s%.0u%s%s",
	     r->task->kernel->name, n->attempts, n->best, n->elapsed_s,
	     spent.ptr, n->doing_step ? "attempt " : "", n->doing_step,
	     n->doing_step ? ": " : "", n->doing);
	buf_release(&spent);
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

/* ---- what came of it ---- */

static int fill_result(struct search *s, const struct graph *g,
		       const char *device, struct run_result *out,
		       struct err *err)
{
	struct buf advice = BUF_INIT;

	out->kernel = xstrdup(s->spec.kernel);
	out->search = xstrdup(s->spec.slug);
	out->policy = xstrdup(s->spec.policy);
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

/* Of a search that makes no round. */
static int load_result(const struct runner *r, struct run_result *out,
		       struct err *err)
{
	struct search *s = r->search;
	struct strv warnings = STRV_INIT;
	struct graph g;
	int ret;

	graph_init(&g);
	ret = store_load(s, r->info->device, &g, &warnings, err);
	if (!ret)
		ret = fill_result(s, &g, r->info->device, out, err);
	graph_release(&g);
	strv_release(&warnings);
	return ret;
}

/* A search that ended before: only its result. */
static int tell_finished(const struct runner *r, const char *why,
			 struct run_result *out, struct err *err)
{
	const struct spec *spec = &r->search->spec;

	say("%s: search %s is finished (%s): another --seed or --policy "
	    "searches anew", spec->kernel, spec->slug, why);
	out->why = "finished";
	return load_result(r, out, err);
}

static void tell_end(const struct runner *r)
{
	const struct search_run *run = &r->run;
	const struct spec *spec = &r->search->spec;
	struct buf b = BUF_INIT;

	switch (run->end) {
	case SEARCH_OPEN:
		return;
	case SEARCH_EXHAUSTED:
		buf_addstr(&b, "has nothing left to try");
		break;
	case SEARCH_FINISHED:
		buf_addf(&b, "is through with its policy %s", spec->policy);
		break;
	case SEARCH_UNTIL:
		buf_addf(&b, "has its %.2fx: another --until goes on",
			 r->purse->budget.until);
		break;
	case SEARCH_STOPPED:
		buf_addstr(&b, "was halted");
		if (!r->opts->crowd)
			buf_addf(&b, ": 'git maxkernel resume %s' goes on",
				 spec->slug);
		break;
	default:
		buf_addf(&b, "has no %s left in its budget",
			 run->end == SEARCH_COST ? "money" :
			 search_end_name(run->end));
	}
	say("%s: search %s %s", spec->kernel, spec->slug, b.ptr);
	buf_release(&b);
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
static int open_crowd(struct runner *r, struct err *err)
{
	struct search *s = r->search;
	int ttl_s = (int)repo_config_int(s->repo, "maxkernel.leaseSeconds",
					 LEASE_TTL_S);
	struct share_teller teller = { .said = on_said, .warned = on_warned };
	struct remote_opts o = {
		.timeout_ms = CALL_MS, .quiet = true, .background = true,
		.stop_fd = task_stop_fd,
	};
	int ret;

	if (!r->push || strcmp(r->info->device, s->spec.device) != 0)
		return 0;
	o.name = background_remote(r->push);
	ret = crowd_open(s, &o, ttl_s, 0, &teller, &r->crowd, err);
	if (!ret)
		crowd_alone(r->crowd, background_interval_s(r->push));
	return ret;
}

static int open_push(struct runner *r, struct err *err)
{
	struct search *s = r->search;
	int ret;

	if (!r->opts->push)
		return 0;
	ret = background_open(&r->push, s->repo, r->opts->push, err);
	if (!ret)
		background_begin(r->push, s->spec.slug);
	return ret ? ret : open_crowd(r, err);
}

/* ---- rounds ---- */

static int fill_run(struct runner *r, struct err *err)
{
	const struct spec *spec = &r->search->spec;
	struct task *t = r->task;
	int64_t silence_s = SILENCE_S;
	int ret = repo_config_range(r->search->repo, "maxkernel.judgeSilence",
				    1, 86400, &silence_s, err);

	r->run = (struct search_run){
		.search = r->search, .kernel = t->kernel, .root = &t->source,
		.aux = &t->aux, .policy = policy_find(spec->policy),
		.proposer = proposer_find(spec->proposer),
		.inner = spec->inner && *spec->inner ?
			proposer_find(spec->inner) : NULL,
		.judge = t->judge, .jobs = t->jobs, .config = t->config,
		.crowd = r->crowd ? crowd_face(r->crowd) : r->opts->crowd,
		.purse = r->purse, .share = r->share,
		.silence_s = (double)silence_s,
		.stop = &task_stop, .stop_fd = task_stop_fd,
		.event = on_event, .tick = on_tick, .ctx = r,
	};
	return ret;
}

/* What the spec names is there in this version. */
static int check_spec(const struct spec *spec, struct err *err)
{
	const char *what = NULL, *which = NULL;

	if (!policy_find(spec->policy)) {
		what = "policy";
		which = spec->policy;
	} else if (!proposer_find(spec->proposer)) {
		what = "proposer";
		which = spec->proposer;
	} else if (spec->inner && *spec->inner &&
		   !proposer_find(spec->inner)) {
		what = "proposer";
		which = spec->inner;
	}
	return what ? err_set(err, ERR_FORMAT, "search %s wants the %s '%s', "
			      "which this version does not have", spec->slug,
			      what, which) : 0;
}

int run_told(struct runner *r, struct run_result *out, struct err *err)
{
	char *why = NULL;
	int ret = check_spec(&r->search->spec, err);

	record_init(&out->best);
	out->root = r->info->shape[0];
	out->root.shape = xstrdup(out->root.shape);
	if (!ret)
		ret = store_finished(r->search, &why, err);
	if (!ret && why) {
		ret = tell_finished(r, why, out, err);
		ret = ret ? ret : 1;
	}
	free(why);
	return ret;
}

/* What a killed run paid for and did not come to write is in the ledger before
 * anything else is. */
static int settle(struct search *s, struct err *err)
{
	struct strv warnings = STRV_INIT;
	int ret = journal_settle(s, NULL, &warnings, err);

	for (size_t i = 0; i < warnings.nr; i++)
		warn("%s", warnings.v[i]);
	strv_release(&warnings);
	return ret;
}

int run_claim(struct runner *r, struct err *err)
{
	int ret = r->running ? 0 : store_claim(r->search, err);

	if (ret || r->running)
		return ret;
	running_begin(&r->running, r->search, r->purse);
	r->task->running = r->running;
	return 0;
}

bool run_is_halted(struct runner *r)
{
	return r->run.halt || (r->running && running_is_asked(r->running));
}

int run_begin(struct runner *r, struct err *err)
{
	int ret = run_claim(r, err);

	if (!ret)
		ret = settle(r->search, err);
	if (ret)
		return ret;
	if (!(r->purse->start_s > 0))
		r->purse->start_s = clock_s();
	tell_unfit(r->task, proposer_find(r->search->spec.proposer));
	ret = open_push(r, err);
	if (!ret)
		ret = elsewhere_measure(r->task, r->search, err);
	if (!ret)
		ret = fill_run(r, err);
	if (ret)
		return ret;
	r->begun = true;
	return search_begin(&r->run, err);
}

int run_round(struct runner *r, bool *more, struct err *err)
{
	int ret = search_round(&r->run, more, err);

	if (r->running)
		running_rest(r->running, &r->run);
	return ret;
}

static bool ended_for_good(enum search_end e)
{
	return e == SEARCH_EXHAUSTED || e == SEARCH_FINISHED;
}

int run_finish(struct runner *r, int ret, struct run_result *out,
	       struct err *err)
{
	struct search_run *run = &r->run;
	struct search *s = r->search;

	if (!r->begun && (ret || !run_is_halted(r)))
		return ret;
	if (!r->begun) {
		out->why = search_end_name(SEARCH_STOPPED);
		out->stopped = true;
		return load_result(r, out, err);
	}
	ret = search_end(run, ret, err);
	live("%s", "");
	/* Calls of attempts that came to nothing. */
	if (!ret)
		ret = settle(s, err);
	if (!ret)
		ret = publish(run, r->info->device, err);
	if (!ret && ended_for_good(run->end) && !run->over)
		ret = store_finish(s, search_end_name(run->end), err);
	if (!ret)
		ret = fill_result(s, &run->graph, r->info->device, out, err);
	out->made = run->made;
	out->elapsed_s = run->elapsed_s;
	out->device_s = run->device_s;
	out->outside_s = run->outside_s;
	out->tokens = run->tokens;
	out->cost = run->cost;
	out->why = search_end_name(run->end);
	out->stopped = run->end == SEARCH_STOPPED;
	out->over = run->over;
	if (!ret)
		tell_end(r);
	return ret;
}

void run_keep(struct runner *r)
{
	const struct search_crowd *c = r->crowd ? crowd_face(r->crowd) : NULL;

	push_tick(r);
	if (c)
		c->keep(c->ctx);
	if (r->running && running_is_asked(r->running))
		r->run.halt = true;
}

/* Others wait for what is made here until the lease of it is gone. */
void run_leave(struct runner *r)
{
	struct err late = ERR_INIT;

	if (r->push && r->begun)
		background_end(r->push);
	if (crowd_close(r->crowd, &late) && late.code != ERR_NET)
		warn("%s", late.msg);
	r->crowd = NULL;
	background_close(r->push);
	r->push = NULL;
	running_end(r->running);
	r->running = NULL;
	if (r->task)
		r->task->running = NULL;
	if (r->begun)
		search_release(&r->run);
	r->begun = false;
}

int run_search(struct task *t, struct search *s, const struct run_opts *o,
	       struct run_result *out, struct err *err)
{
	struct judge_info info;
	struct purse purse;
	struct runner r = { .task = t, .search = s, .info = &info, .opts = o,
			    .purse = &purse };
	bool more = true;
	int ret;

	/* A copy: the judge may be lost and replaced. */
	judge_info_copy(&info, &t->judge[0]->info);
	purse_init(&purse, &o->budget);
	ret = run_told(&r, out, err);
	if (ret) {
		judge_info_release(&info);
		return ret > 0 ? 0 : ret;
	}
	ret = run_begin(&r, err);
	while (!ret && more && !task_stop && !r.run.halt)
		ret = run_round(&r, &more, err);
	ret = run_finish(&r, ret, out, err);
	run_leave(&r);
	judge_info_release(&info);
	return ret;
}
