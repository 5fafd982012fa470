/* What a round tries: core/round.h asked with the state of a search. */
#include <stdlib.h>
#include <string.h>

#include "core/journal.h"
#include "core/mem.h"
#include "core/search_state.h"

uint32_t search_own_round(const struct state *st, uint32_t round)
{
	uint32_t others = st->run->graph.united_rounds;

	return round > others ? round - others : 0;
}

/* What is known of strategies: from the spec, and from earlier rounds. */
static int update_prior(struct state *st, uint32_t round, struct err *err)
{
	struct search_run *run = st->run;
	const struct spec *spec = &run->search->spec;
	uint32_t before = round * (uint32_t)spec->round;
	int ret = 0;

	if (st->prior_from > before + 1 || !st->prior_from) {
		prior_release(&st->prior);
		st->prior_from = 1;
		if (spec->prior)
			ret = prior_parse(&st->prior, spec->prior,
					  strlen(spec->prior), err);
	}
	if (ret == ERR_FORMAT) {	/* then nothing is known */
		search_note(st, err->msg);
		err->code = ERR_NONE;
		ret = 0;
	}
	prior_count_graph(&st->prior, &run->graph, st->prior_from - 1, before,
			  run->kernel->target, spec->shape ? spec->shape : "");
	st->prior_from = before + 1;
	return ret;
}

/* ---- what core/round.c asks ---- */

static int source(void *ctx, uint32_t node, struct srcset *out,
		  struct err *err)
{
	return search_source(ctx, node, out, err);
}

static bool made(void *ctx, uint32_t step, struct round_made *out)
{
	const struct graph *g = &((struct state *)ctx)->run->graph;
	uint32_t node = graph_node_from(g, step);
	uint32_t spend = graph_spend_from(g, step);

	*out = (struct round_made){ .parent = { NODE_NONE, NODE_NONE } };
	if (node < g->nr && g->node[node].step == step) {
		out->state = g->node[node].state;
		out->by = g->node[node].proposer;
		memcpy(out->parent, g->node[node].parent,
		       sizeof(out->parent));
		return true;
	}
	if (spend == g->nr_spend || g->spend[spend].step != step)
		return false;
	out->state = g->spend[spend].state;
	return true;
}

/* The rounds that several workers share are planned whole by each. */
static bool may(void *ctx, const struct proposer *by, uint32_t fresh)
{
	struct state *st = ctx;

	return st->joint || search_may_go_on(st, by, fresh);
}

static void unread(void *ctx, uint32_t node, const char *why)
{
	struct state *st = ctx;
	const struct oid *id = &st->run->graph.node[node].id;
	char *text;

	if (!oidset_add(&st->unread, id))
		return;
	text = xasprintf("nothing is tried from node %s: %s", oid_short(id).s,
			 why);
	search_note(st, text);
	free(text);
}

static int used(void *ctx, uint32_t step, const struct usage *one,
		struct err *err)
{
	struct state *st = ctx;
	struct usage copy = *one;
	double cost = one->cost > 0 ? one->cost : 0;

	st->run->tokens += usage_tokens(one);
	st->run->cost += cost;
	purse_use(st->run->purse, 0, 0, usage_tokens(one), cost);
	search_tick(st);
	return journal_usage(st->run->search, step, &copy, err);
}

/* ---- the plan ---- */

/* The proposal as an attempt; what it owns stays the plan's. */
static void lend(struct attempt *at, const struct planned *p)
{
	*at = (struct attempt){
		.step = p->step, .parent = p->parent[0],
		.parent2 = p->parent[1], .op = p->op, .by = p->by->name,
		.p = p->p, .used = p->used, .state = p->state, .id = p->id,
	};
	record_init(&at->rec);
	if (p->verdict != V_NONE) {
		at->empty = true;
		at->phase = AT_DONE;
		at->rec.verdict = p->verdict;
		at->rec.attempt_s = p->plan_s;
		at->rec.error = p->why;
	}
	at->stored = p->kept && !at->empty;
	at->written = p->kept && at->empty;
}

static void take(const struct state *st, struct attempt *at,
		 struct planned *p)
{
	lend(at, p);
	proposal_init(&p->p);
	p->used = (struct usages)USAGES_INIT;
	p->why = NULL;
	/* With others it is looked at again, by core/search_crowd.c. */
	if (p->made && !st->joint) {
		at->phase = AT_DONE;
		at->written = true;
	}
}

/* What was paid for is in the store before anything else happens. */
static int keep(void *ctx, struct planned *p, struct err *err)
{
	struct state *st = ctx;
	struct attempt at;
	int ret;

	lend(&at, p);
	ret = search_write_paid(st, &at, err);
	p->kept = !ret;
	p->id = at.id;
	return ret;
}

/* Marks are of nodes by their place: those of a graph that was loaded anew are
 * made anew. */
static void make_room(struct state *st)
{
	size_t nr = (size_t)st->run->graph.nr + 1;

	if (nr <= st->nr_gone)
		return;
	st->gone = xreallocarray(st->gone, 2, nr);
	memset(st->gone + st->nr_gone, 0, 2 * nr - st->nr_gone);
	st->nr_gone = 2 * nr;
}

int search_plan(struct state *st, uint32_t round, struct attempt **at,
		size_t *nr, bool *cut, struct err *err)
{
	struct search_run *run = st->run;
	struct round_plan r = {
		.spec = &run->search->spec, .kernel = run->kernel,
		.graph = &run->graph, .prefix = st->prefix,
		.policy = run->policy, .proposer = run->proposer,
		.inner = run->inner, .prior = &st->prior, .round = round,
		.own_round = search_own_round(st, round), .seen = &st->seen,
		.source = source, .made = made, .may = may, .keep = keep,
		.unread = unread, .used = used, .ctx = st,
	};
	bool paid = run->proposer->spends || (run->inner && run->inner->spends);
	double began = clock_s();
	int ret = update_prior(st, round, err);

	make_room(st);
	r.gone = st->gone;
	if (!ret)
		ret = round_make(&r, err);
	if (paid)
		st->inside_s += clock_s() - began;
	*at = xcalloc((size_t)run->search->spec.round, sizeof(**at));
	*nr = r.nr;
	*cut = r.cut;
	for (size_t i = 0; i < r.nr; i++)
		take(st, &(*at)[i], &r.v[i]);
	round_release(&r);
	return ret;
}

bool search_is_barren(const struct graph *g)
{
	uint32_t last = g->nr > 1 ? g->node[g->nr - 1].step : 0, nr = 0;

	for (uint32_t i = g->nr_spend; i-- > 0 && g->spend[i].step > last;)
		nr += g->spend[i].verdict == V_DUP ||
			g->spend[i].verdict == V_NO_PROPOSAL;
	return nr >= SEARCH_MAX_EMPTY;
}
