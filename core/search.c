#include "core/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/mem.h"
#include "core/search_state.h"

const char *search_end_name(enum search_end e)
{
	static const char *const names[] = {
		[SEARCH_OPEN] = "open", [SEARCH_EXHAUSTED] = "exhausted",
		[SEARCH_FINISHED] = "finished", [SEARCH_UNTIL] = "until",
		[SEARCH_ATTEMPTS] = "attempts", [SEARCH_TIME] = "time",
		[SEARCH_DEVICE] = "device time", [SEARCH_TOKENS] = "tokens",
		[SEARCH_COST] = "cost", [SEARCH_STOPPED] = "stopped",
	};

	return names[e];
}

bool search_stopped(const struct state *st)
{
	return st->run->halt || (st->run->stop && *st->run->stop);
}

void search_emit(struct state *st, const struct search_event *e)
{
	if (st->run->event)
		st->run->event(st->run->ctx, e);
}

void search_note(struct state *st, const char *text)
{
	struct search_event e = { .kind = SEARCH_NOTE, .text = text };

	search_emit(st, &e);
}

/* ---- the live line ---- */

static int list_jobs(struct state *st, struct search_job *job)
{
	int nr = 0;

	for (int i = 0; i < st->run->jobs; i++) {
		const struct slot *s = &st->slot[i];

		if (!s->judge || (!s->at && !s->opening))
			continue;
		job[nr] = (struct search_job){
			.doing = s->judge->ops->doing(s->judge),
		};
		if (s->at) {
			job[nr].step = s->at->step;
			job[nr].subject = s->at->p.subject;
			job[nr].seconds = clock_s() - s->at->began;
		}
		nr++;
	}
	return nr;
}

void search_tick(struct state *st)
{
	struct search_run *run = st->run;
	struct search_job job[SEARCH_MAX_JOBS];
	struct search_now n = { .attempts = run->made, .best = 1,
				.device_s = run->device_s,
				.tokens = run->tokens, .cost = run->cost,
				.doing = "thinking", .job = job };

	if (run->crowd)
		run->crowd->keep(run->crowd->ctx);
	if (!run->tick)
		return;
	search_clock(st);
	n.elapsed_s = run->purse->used.time_s;
	if (run->graph.nr && run->graph.champion)
		n.best = exp(run->graph.node[run->graph.champion].score);
	n.nr_jobs = list_jobs(st, job);
	if (n.nr_jobs) {
		n.doing = job[0].doing;
		n.doing_step = job[0].step;
	}
	if (st->waiting)
		n.doing = "waiting for other workers";
	run->tick(run->ctx, &n);
}

/* ---- the budget ---- */

void search_clock(struct state *st)
{
	struct purse *p = st->run->purse;

	purse_clock(p, clock_s() - p->start_s);
}

/* Of several searches each has a first round, whatever those before it keep
 * back for their ends: nothing is kept of it. */
static struct purse purse_of(struct state *st)
{
	struct purse p;

	search_clock(st);
	p = *st->run->purse;
	if (st->run->share > 0 && st->run->share < 1 && !st->rounds)
		p.reserve_s = 0;
	return p;
}

bool search_late(struct state *st, double spare)
{
	struct purse p = purse_of(st);

	return purse_late(&p, spare);
}

void search_keep_back(struct state *st)
{
	double now = search_reserve_s(st);

	purse_reserve(st->run->purse, st->reserve_s, now);
	st->reserve_s = now;
}

/* The confirmed speedup that is enough has been reached. */
static bool is_enough(const struct state *st)
{
	const struct graph *g = &st->run->graph;
	double until = st->run->purse->budget.until;

	return until > 0 && g->champion &&
	       g->node[g->champion].rec.speedup >= until;
}

static enum search_end end_of(enum purse_end e)
{
	return e == PURSE_TIME ? SEARCH_TIME :
	       e == PURSE_DEVICE ? SEARCH_DEVICE :
	       e == PURSE_TOKENS ? SEARCH_TOKENS :
	       e == PURSE_COST ? SEARCH_COST : SEARCH_ATTEMPTS;
}

bool search_may_go_on(struct state *st, const struct proposer *by,
		      size_t planned)
{
	struct search_run *run = st->run;
	bool joint = st->joint && run->crowd->company;
	int64_t tokens = 0, before = (int64_t)planned + st->others;
	struct purse p;
	enum purse_end e;
	double cost = 0;

	if (search_stopped(st)) {
		run->end = SEARCH_STOPPED;
		return false;
	}
	if (is_enough(st)) {
		run->end = SEARCH_UNTIL;
		return false;
	}
	if (by && by->estimate)
		by->estimate(run->kernel, &tokens, &cost);
	p = purse_of(st);
	e = purse_ask(&p, before, tokens, cost);
	/* With others it is their attempts too that are counted, elsewhere. */
	if (e == PURSE_OPEN || (joint && e == PURSE_ATTEMPTS))
		return true;
	run->end = end_of(e);
	return false;
}

int search_source(struct state *st, uint32_t node, struct srcset *out,
		  struct err *err)
{
	if (node == 0) {
		srcset_copy(out, st->run->root);
		return 0;
	}
	return store_source(st->run->search->repo,
			    &st->run->graph.node[node].id, st->run->kernel,
			    false, out, err);
}

/* ---- rounds ---- */

int search_reload(struct state *st, struct err *err)
{
	struct strv warnings = STRV_INIT;
	int ret;

	graph_release(&st->run->graph);
	graph_init(&st->run->graph);
	st->prior_from = 0;
	st->nr_gone = 0;
	ret = store_load(st->run->search, st->info.device, &st->run->graph,
			 &warnings, err);
	for (size_t i = 0; i < warnings.nr; i++)
		search_note(st, warnings.v[i]);
	strv_release(&warnings);
	if (!ret && st->run->search->together)
		search_crowd_fold(&st->run->graph);
	return ret;
}

void search_remember(struct state *st)
{
	const struct graph *g = &st->run->graph;

	oidset_release(&st->seen);
	for (uint32_t i = 0; i < st->prefix; i++)
		oidset_add(&st->seen, &g->node[i].state);
	/* Of nodes that were pruned, all of them of earlier rounds. */
	for (uint32_t i = 0; i < g->nr_spend; i++)
		if (g->spend[i].verdict != V_DUP &&
		    g->spend[i].verdict != V_NO_PROPOSAL)
			oidset_add(&st->seen, &g->spend[i].state);
}

uint32_t search_nodes_before(const struct graph *g, uint32_t step)
{
	return graph_node_from(g, step + 1);
}

/* Told whenever it changes. */
static void tell_why(struct state *st, uint32_t round)
{
	struct search_run *run = st->run;
	struct graph view = run->graph;
	struct policy_view v = { .spec = &run->search->spec, .graph = &view,
				 .round = round };
	struct search_event e = { .kind = SEARCH_WHY };
	struct buf text = BUF_INIT;

	if (!run->policy->why)
		return;
	view.nr = st->prefix;
	run->policy->why(&v, &text);
	if (!st->why || strcmp(st->why, text.ptr) != 0) {
		free(st->why);
		st->why = buf_detach(&text);
		e.text = st->why;
		search_emit(st, &e);
	}
	buf_release(&text);
}

/* Judges what was planned and takes it over into the graph. */
static int make_round(struct state *st, struct attempt *at, size_t nr,
		      bool resumed, bool *cut, struct err *err)
{
	struct graph *g = &st->run->graph;
	size_t todo = 0;
	int ret;

	for (size_t i = 0; i < nr; i++)
		todo += !at[i].written || at[i].empty;
	ret = search_judge_all(st, at, nr, cut, err);
	if (!ret && resumed && todo)
		return search_reload(st, err);
	for (size_t i = 0; i < nr && !resumed; i++)
		if (at[i].written)
			search_add(st, &at[i]);
	graph_settle(g);
	return ret;
}

/* One round; *more: another may follow. */
static int run_round(struct state *st, uint32_t round, bool *more,
		     struct err *err)
{
	struct search_run *run = st->run;
	struct graph *g = &run->graph;
	uint32_t size = (uint32_t)run->search->spec.round;
	struct attempt *at = NULL;
	bool cut = false, resumed = graph_last_step(g) > round * size;
	size_t nr = 0;
	int ret;

	*more = false;
	st->prefix = search_nodes_before(g, round * size);
	st->champion = graph_champion(g, st->prefix);
	search_remember(st);
	tell_why(st, round);
	ret = search_plan(st, round, &at, &nr, &cut, err);
	if (!ret && !nr && !cut)
		run->end = SEARCH_EXHAUSTED;
	if (!ret && nr && st->joint) {
		ret = search_crowd_round(st, round, at, nr, more, err);
	} else if (!ret && nr) {
		ret = make_round(st, at, nr, resumed, &cut, err);
		if (!ret && !search_stopped(st) && !cut)
			ret = search_confirm_round(st, st->prefix, err);
		if (search_stopped(st))
			run->end = SEARCH_STOPPED;
		*more = !ret && !cut && !search_stopped(st);
	}
	for (uint32_t i = 0; at && i < size; i++)
		attempt_release(&at[i]);
	free(at);
	return ret;
}

/* The round to go on with. */
static uint32_t first_round(const struct graph *g, uint32_t size)
{
	const struct node *n = &g->node[g->nr - 1];
	uint32_t last = graph_last_step(g);
	uint32_t round = last ? (last - 1) / size : 0;

	/* Such a node numbers a round of its own; what is next sees it.  A
	 * round that was begun before others were united with the search was
	 * planned without their nodes. */
	if (last && ((n->step == last && search_is_own_round(n)) ||
		     (g->united_step &&
		      (g->united_step - 1) / size == round)))
		round++;
	return round;
}

static bool is_finished(struct state *st)
{
	struct search_run *run = st->run;
	struct policy_view v = { .spec = &run->search->spec,
				 .graph = &run->graph,
				 .round = search_own_round(st, st->round) };

	if (run->policy->finished(&v))
		run->end = SEARCH_FINISHED;
	else if (search_is_barren(&run->graph))
		run->end = SEARCH_EXHAUSTED;
	else
		return false;
	return true;
}

/* ---- the calls ---- */

static void enter(struct state *st)
{
	st->entered = clock_s();
	st->inside_s = 0;
}

static void leave(struct state *st)
{
	double s = clock_s() - st->entered;

	st->run->elapsed_s += s;
	if (s > st->inside_s)
		st->run->outside_s += s - st->inside_s;
}

static int open_state(struct search_run *run, struct err *err)
{
	struct state *st = xcalloc(1, sizeof(*st));
	int ret;

	st->run = run;
	run->state = st;
	graph_init(&run->graph);
	run->made = 0;
	run->over = run->halt = false;
	run->end = SEARCH_OPEN;
	run->elapsed_s = run->device_s = run->outside_s = run->cost = 0;
	run->tokens = 0;
	enter(st);
	if (!(run->purse->start_s > 0))
		run->purse->start_s = st->entered;
	search_crowd_begin(st);
	judge_info_copy(&st->info, &run->judge[0]->info);
	for (int i = 0; i < run->jobs; i++)
		st->slot[i].judge = run->judge[i];
	ret = search_reload(st, err);
	if (!ret)
		ret = search_crowd_choose(st, err);
	st->prefix = run->graph.nr;
	st->champion = run->graph.champion;
	search_remember(st);
	search_keep_back(st);
	return ret;
}

static void close_state(struct search_run *run)
{
	struct state *st = run->state;

	if (search_stopped(st))
		run->end = SEARCH_STOPPED;
	purse_reserve(run->purse, st->reserve_s, 0);
	for (int i = 0; i < run->jobs; i++) {
		run->judge[i] = st->slot[i].judge;
		free(st->slot[i].work);
	}
	judge_info_release(&st->info);
	oidset_release(&st->seen);
	oidset_release(&st->unread);
	prior_release(&st->prior);
	free(st->why);
	free(st->gone);
	leave(st);
	free(st);
	run->state = NULL;
}

int search_judge_node(struct search_run *run, const struct oid *id,
		      struct err *err)
{
	int ret = open_state(run, err);
	struct state *st = run->state;
	uint32_t node = ret ? NODE_NONE : graph_find(&run->graph, id);

	if (!ret && node == NODE_NONE)
		ret = err_set(err, ERR_NOTFOUND, "search %s has no node %s",
			      run->search->spec.slug, oid_short(id).s);
	if (!ret && run->graph.node[node].pending)
		ret = search_judge_pending(st, node, err);
	if (!ret && !search_stopped(st) && !run->graph.node[node].pending &&
	    run->graph.node[node].rec.verdict == V_FASTER &&
	    !run->graph.node[node].rec.confirming)
		ret = search_confirm(st, node, false, err);
	close_state(run);
	return ret;
}

/* Between two calls the caller may have closed judges, or opened the first. */
static void take_judges(struct state *st)
{
	for (int i = 0; i < st->run->jobs; i++)
		st->slot[i].judge = st->run->judge[i];
}

static void give_judges(struct state *st)
{
	for (int i = 0; i < st->run->jobs; i++)
		st->run->judge[i] = st->slot[i].judge;
}

int search_begin(struct search_run *run, struct err *err)
{
	int ret = open_state(run, err);
	struct state *st = run->state;

	if (!ret)
		ret = search_judge_all_pending(st, err);
	/* With others, what is made by hand waits for a run alone: it would
	 * number a round that they are in. */
	if (!ret && !st->joint)
		ret = search_humans(st, err);
	if (!ret)
		st->round = first_round(&run->graph,
					(uint32_t)run->search->spec.round);
	give_judges(st);
	leave(st);
	return ret;
}

int search_round(struct search_run *run, bool *more, struct err *err)
{
	struct state *st = run->state;
	int ret;

	*more = false;
	enter(st);
	take_judges(st);
	if (is_finished(st)) {
		leave(st);
		return 0;
	}
	ret = run_round(st, st->round, more, err);
	st->rounds++;
	if (ret || *more || !search_crowd_lost(st))
		st->round++;
	else	/* what is left of it is made alone */
		*more = search_may_go_on(st, NULL, 0);
	if (!ret && *more)
		ret = search_crowd_choose(st, err);
	if (ret)
		*more = false;
	search_keep_back(st);
	give_judges(st);
	leave(st);
	return ret;
}

int search_end(struct search_run *run, int ret, struct err *err)
{
	struct state *st = run->state;

	enter(st);
	take_judges(st);
	if (!ret && !search_stopped(st)) {
		/* What was kept back is for this. */
		purse_reserve(run->purse, st->reserve_s, 0);
		st->reserve_s = 0;
		st->rounds++;
		st->prefix = run->graph.nr;
		st->champion = run->graph.champion;
		search_remember(st);
		ret = st->joint ? search_crowd_final(st, err) :
			search_final(st, err);
	}
	close_state(run);
	return ret;
}

int search_run(struct search_run *run, struct err *err)
{
	bool more = true;
	int ret = search_begin(run, err);

	while (!ret && more && !search_stopped(run->state))
		ret = search_round(run, &more, err);
	return search_end(run, ret, err);
}

void search_release(struct search_run *run)
{
	graph_release(&run->graph);
}
