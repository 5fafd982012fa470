#include "core/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/mem.h"
#include "core/search_state.h"
#include "core/worker.h"

const char *search_end_name(enum search_end e)
{
	static const char *const names[] = {
		"exhausted", "finished", "attempts", "time", "stopped"
	};

	return names[e];
}

double search_now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

bool search_stopped(const struct state *st)
{
	return st->run->stop && *st->run->stop;
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

void search_tick(struct state *st)
{
	struct search_run *run = st->run;
	struct search_now n = { .attempts = run->made, .best = 1,
				.elapsed_s = search_now_s() - st->start,
				.doing = "thinking" };

	if (run->crowd)
		run->crowd->keep(run->crowd->ctx);
	if (!run->tick)
		return;
	if (st->waiting)
		n.doing = "waiting for other workers";
	if (run->graph.nr && run->graph.champion)
		n.best = exp(run->graph.node[run->graph.champion].score);
	for (int i = 0; i < run->jobs; i++)
		if (st->slot[i].judge && (st->slot[i].at || st->slot[i].opening)) {
			n.doing = st->slot[i].judge->ops->doing(st->slot[i].judge);
			n.doing_step = st->slot[i].at ? st->slot[i].at->step : 0;
			break;
		}
	run->tick(run->ctx, &n);
}

bool search_late(const struct state *st, double spare)
{
	return st->run->time_s > 0 &&
	       search_now_s() - st->start > st->run->time_s - spare;
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

/* ---- proposals ---- */

static bool seen(void *ctx, const struct oid *state)
{
	return oidset_has(&((struct state *)ctx)->seen, state);
}

static bool exhausted(void *ctx, uint32_t node)
{
	struct state *st = ctx;

	for (size_t i = 0; i < st->nr_spent; i++)
		if (st->spent[i] == node)
			return true;
	return false;
}

/* splitmix64 of the spec's seed and the step. */
static uint64_t step_seed(uint64_t seed, uint32_t step)
{
	uint64_t z = seed + 0x9e3779b97f4a7c15u * ((uint64_t)step + 1);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/* Its recipe is one of another version, or what another worker made up. */
static int pass_over(struct state *st, uint32_t node, struct err *err)
{
	const struct oid *id = &st->run->graph.node[node].id;

	if (oidset_add(&st->unread, id)) {
		char *text = xasprintf("nothing is tried from node %s: %s",
				       oid_short(id).s, err->msg);

		search_note(st, text);
		free(text);
	}
	err->code = ERR_NONE;
	return ERR_NOTFOUND;
}

/* Asks the proposer for one attempt from parent; ERR_NOTFOUND: none left. */
static int propose(struct state *st, uint32_t parent, uint32_t step,
		   struct attempt *a, struct err *err)
{
	const struct node *n = &st->run->graph.node[parent];
	struct srcset origin = SRCSET_INIT;
	struct propose_ask ask = {
		.kernel = st->run->kernel, .origin = &origin,
		.recipe = n->recipe ? n->recipe : "",
		.seed = step_seed(st->run->search->spec.seed, step),
		.parent_speedup = exp(policy_score(&st->run->graph, parent)),
		.seen = seen, .seen_ctx = st,
	};
	int ret = search_source(st, n->origin, &origin, err);

	if (ret)
		return ret;
	a->began = search_now_s();
	ret = st->run->proposer->propose(&ask, &a->p, err);
	srcset_release(&origin);
	if (ret == ERR_FORMAT && *ask.recipe)
		return pass_over(st, parent, err);
	if (ret)
		return ret;
	a->step = step;
	a->parent = parent;
	a->op = parent == 0 ? "seed" : "mutate";
	record_init(&a->rec);
	srcset_state(&a->p.source, &a->state);
	oidset_add(&st->seen, &a->state);
	return 0;
}

/* A recipe of an earlier search, replayed on this root; ERR_NOTFOUND: it
 * gives nothing new here. */
static int replay(struct state *st, const char *recipe, size_t len,
		  uint32_t step, struct attempt *a, struct err *err)
{
	struct search_run *run = st->run;
	char *text = xstrndup(recipe, len);
	int ret = run->proposer->apply(run->kernel, run->root, text,
				       &a->p.source, err);

	srcset_state(&a->p.source, &a->state);
	if (ret || !oidset_add(&st->seen, &a->state)) {
		srcset_release(&a->p.source);
		free(text);
		err->code = ERR_NONE;
		return ERR_NOTFOUND;
	}
	a->p.recipe = text;
	a->p.strategy = xstrdup("replay");
	a->p.subject = xasprintf("%.24s: replay %.38s", run->kernel->name,
				 text);
	buf_addf(&a->p.plan, "### replay an earlier recipe\n\nIt was among the "
		 "best of an earlier search of this kernel, with another root "
		 "or section.\n\nExpected: about what it gave there.\n"
		 "Recipe: `%s`.\n", text);
	a->p.expect = 1;
	a->step = step;
	a->op = "seed";
	record_init(&a->rec);
	return 0;
}

/* Rounds of this search alone, without those that were united with it. */
static uint32_t own_round(const struct state *st, uint32_t round)
{
	uint32_t others = st->run->graph.united_rounds;

	return round > others ? round - others : 0;
}

/* The spec's seeds come first in the search's first round. */
static void plan_seeds(struct state *st, uint32_t round, struct attempt *at,
		       size_t *nr, struct err *err)
{
	const char *line = st->run->search->spec.seeds;
	uint32_t size = (uint32_t)st->run->search->spec.round;
	size_t len;

	if (!st->run->proposer->apply)
		return;
	for (; line && *line && *nr < size; line += len + (line[len] == '\n')) {
		len = strcspn(line, "\n");
		if (len && !replay(st, line, len,
				   round * size + (uint32_t)*nr + 1, &at[*nr],
				   err))
			(*nr)++;
	}
}

/* The round's proposals, in slot order; *nr of them. */
static int plan_round(struct state *st, uint32_t round, struct attempt *at,
		      size_t *nr, struct err *err)
{
	struct search_run *run = st->run;
	struct graph view = run->graph;
	struct policy_view v = { .spec = &run->search->spec, .graph = &view,
				 .round = round, .exhausted = exhausted,
				 .ctx = st };
	uint32_t size = (uint32_t)run->search->spec.round;

	view.nr = st->prefix;
	*nr = 0;
	st->nr_spent = 0;
	if (own_round(st, round) == 0)
		plan_seeds(st, round, at, nr, err);
	while (*nr < size) {
		uint32_t slot = (uint32_t)*nr;
		uint32_t parent = run->policy->expand(&v, slot);
		int ret;

		if (parent == NODE_NONE)
			break;
		ret = propose(st, parent, round * size + slot + 1, &at[slot],
			      err);
		if (ret == ERR_NOTFOUND) {
			err->code = ERR_NONE;
			GROW(st->spent, st->nr_spent, st->cap_spent);
			st->spent[st->nr_spent++] = parent;
			continue;
		}
		if (ret)
			return ret;
		(*nr)++;
	}
	return 0;
}

/* ---- rounds ---- */

int search_reload(struct state *st, struct err *err)
{
	struct strv warnings = STRV_INIT;
	int ret;

	graph_release(&st->run->graph);
	graph_init(&st->run->graph);
	ret = store_load(st->run->search, st->info.device, &st->run->graph,
			 &warnings, err);
	for (size_t i = 0; i < warnings.nr; i++)
		search_note(st, warnings.v[i]);
	strv_release(&warnings);
	if (!ret && st->run->search->together)
		search_crowd_fold(&st->run->graph);
	return ret;
}

bool search_may_go_on(struct state *st, size_t planned)
{
	struct search_run *run = st->run;

	if (search_stopped(st))
		run->end = SEARCH_STOPPED;
	else if (run->attempts && !(st->joint && run->crowd->company) &&
		 (int64_t)(run->made + planned) + st->others >= run->attempts)
		run->end = SEARCH_ATTEMPTS;
	else if (search_late(st, search_reserve_s(st)))
		run->end = SEARCH_TIME;
	else
		return true;
	return false;
}

/* Marks what was made already; cuts what the budget does not reach. */
static size_t cut_round(struct state *st, struct attempt *at, size_t nr,
			bool *cut)
{
	size_t fresh = 0;

	*cut = false;
	for (size_t i = 0; i < nr; i++) {
		if (graph_has_step(&st->run->graph, at[i].step)) {
			at[i].phase = AT_DONE;
			at[i].written = true;
			continue;
		}
		if (!search_may_go_on(st, fresh)) {
			*cut = true;
			return i;
		}
		fresh++;
	}
	return nr;
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
	uint32_t nr = 0;

	while (nr < g->nr && g->node[nr].step <= step)
		nr++;
	return nr;
}

/* Made outside the policy's rounds: by hand, a smaller champion, or what a
 * person merged. */
static bool is_own_round(const struct node *n)
{
	static const char *const ops[] = { "human", "tune", "import" };

	for (size_t i = 0; n->op && i < ARRAY_SIZE(ops); i++)
		if (!strcmp(n->op, ops[i]))
			return true;
	return n->op && !strcmp(n->op, "crossover") && n->strategy &&
	       !strcmp(n->strategy, "merge");
}

/* A node that a killed run wrote and had no time to judge. */
static int judge_pending(struct state *st, uint32_t node, struct err *err)
{
	struct graph *g = &st->run->graph;
	struct node *n = &g->node[node];
	uint32_t size = (uint32_t)st->run->search->spec.round;
	struct attempt a = { .step = n->step, .parent = n->parent[0],
			     .state = n->state, .id = n->id, .stored = true };
	int ret = search_source(st, node, &a.p.source, err);

	if (ret)
		return ret;
	record_init(&a.rec);
	a.p.subject = xstrdup(n->subject);
	/* What it was, or would have been, screened against. */
	st->champion = graph_champion(g, search_nodes_before(g,
			is_own_round(n) ? n->step - 1 :
			(n->step - 1) / size * size));
	ret = search_judge_all(st, &a, 1, err);
	if (!ret && a.written) {
		record_release(&n->rec);
		record_copy(&n->rec, &a.rec);
		n->pending = false;
		graph_settle(g);
	}
	attempt_release(&a);
	return ret;
}

/* Made by this slot of this clone, whatever its id was then. */
static bool is_ours(const struct search *s, const struct strv *ids,
		    const char *worker)
{
	char *now = worker_now(ids, worker ? worker : "");
	bool ours = !strcmp(now, s->worker);

	free(now);
	return ours;
}

/* Ours alone; on another device than the search's all are unmeasured. */
static int judge_all_pending(struct state *st, struct err *err)
{
	const struct search *s = st->run->search;
	const struct graph *g = &st->run->graph;
	struct strv ids = STRV_INIT;
	int ret;

	if (strcmp(st->info.device, s->spec.device) != 0)
		return 0;
	ret = worker_ids(s->repo, &ids, err);
	for (uint32_t i = 1; i < g->nr && !ret && !search_stopped(st); i++)
		if (g->node[i].pending && g->node[i].step &&
		    is_ours(s, &ids, g->node[i].worker) &&
		    strcmp(g->node[i].op, "plan") != 0)
			ret = judge_pending(st, i, err);
	strv_release(&ids);
	return ret;
}

/* One round; *more: another may follow. */
static int run_round(struct state *st, uint32_t round, bool *more,
		     struct err *err)
{
	struct search_run *run = st->run;
	struct graph *g = &run->graph;
	uint32_t size = (uint32_t)run->search->spec.round;
	struct attempt *at = xcalloc(size, sizeof(*at));
	size_t nr, keep, todo = 0;
	bool cut, resumed;
	int ret;

	*more = false;
	st->prefix = search_nodes_before(g, round * size);
	resumed = graph_last_step(g) > round * size;
	st->champion = graph_champion(g, st->prefix);
	search_remember(st);
	ret = plan_round(st, round, at, &nr, err);
	if (ret)
		goto out;
	if (!nr) {
		run->end = SEARCH_EXHAUSTED;
		goto out;
	}
	if (st->joint) {
		ret = search_crowd_round(st, round, at, nr, more, err);
		goto out;
	}
	keep = cut_round(st, at, nr, &cut);
	for (size_t i = 0; i < keep; i++)
		todo += !at[i].written;
	ret = search_judge_all(st, at, keep, err);
	if (!ret && resumed && todo) {
		ret = search_reload(st, err);
	} else if (!ret || !resumed) {
		for (size_t i = 0; i < keep && !resumed; i++)
			if (at[i].written)
				search_add(st, &at[i]);
		graph_settle(g);
	}
	if (!ret && !search_stopped(st) && !cut)
		ret = search_confirm_round(st, st->prefix, err);
	if (search_stopped(st))
		run->end = SEARCH_STOPPED;
	*more = !ret && !cut && !search_stopped(st);
out:
	for (uint32_t i = 0; i < size; i++)
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
	if (last && ((n->step == last && is_own_round(n)) ||
		     (g->united_step &&
		      (g->united_step - 1) / size == round)))
		round++;
	return round;
}

static int rounds(struct state *st, struct err *err)
{
	struct search_run *run = st->run;
	uint32_t size = (uint32_t)run->search->spec.round;
	uint32_t round = first_round(&run->graph, size);
	bool more = true;
	int ret = 0;

	while (more && !ret) {
		struct policy_view v = { .spec = &run->search->spec,
					 .graph = &run->graph,
					 .round = own_round(st, round),
					 .exhausted = exhausted, .ctx = st };

		if (run->policy->finished(&v)) {
			run->end = SEARCH_FINISHED;
			break;
		}
		ret = run_round(st, round, &more, err);
		if (ret || more || !search_crowd_lost(st))
			round++;
		else	/* what is left of it is made alone */
			more = search_may_go_on(st, 0);
		if (!ret && more)
			ret = search_crowd_choose(st, err);
	}
	return ret;
}

static int begin(struct state *st, struct err *err)
{
	struct search_run *run = st->run;
	int ret;

	st->start = search_now_s();
	graph_init(&run->graph);
	run->made = 0;
	run->over = false;
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
	return ret;
}

static void end(struct state *st)
{
	struct search_run *run = st->run;

	if (search_stopped(st))
		run->end = SEARCH_STOPPED;
	for (int i = 0; i < run->jobs; i++) {
		run->judge[i] = st->slot[i].judge;
		free(st->slot[i].work);
	}
	judge_info_release(&st->info);
	free(st->spent);
	oidset_release(&st->seen);
	oidset_release(&st->unread);
	run->elapsed_s = search_now_s() - st->start;
}

int search_judge_node(struct search_run *run, const struct oid *id,
		      struct err *err)
{
	struct state st = { .run = run };
	int ret = begin(&st, err);
	uint32_t node = ret ? NODE_NONE : graph_find(&run->graph, id);

	if (!ret && node == NODE_NONE)
		ret = err_set(err, ERR_NOTFOUND, "search %s has no node %s",
			      run->search->spec.slug, oid_short(id).s);
	if (!ret && run->graph.node[node].pending)
		ret = judge_pending(&st, node, err);
	if (!ret && !search_stopped(&st) && !run->graph.node[node].pending &&
	    run->graph.node[node].rec.verdict == V_FASTER &&
	    !run->graph.node[node].rec.confirming)
		ret = search_confirm(&st, node, false, err);
	end(&st);
	return ret;
}

int search_run(struct search_run *run, struct err *err)
{
	struct state st = { .run = run };
	int ret = begin(&st, err);

	if (!ret)
		ret = judge_all_pending(&st, err);
	/* With others, what is made by hand waits for a run alone: it would
	 * number a round that they are in. */
	if (!ret && !st.joint)
		ret = search_humans(&st, err);
	if (!ret)
		ret = rounds(&st, err);
	if (!ret && !search_stopped(&st)) {
		st.prefix = run->graph.nr;
		st.champion = run->graph.champion;
		search_remember(&st);
		ret = st.joint ? search_crowd_final(&st, err) :
			search_final(&st, err);
	}
	end(&st);
	return ret;
}

void search_release(struct search_run *run)
{
	graph_release(&run->graph);
}
