/*
 * Parallel: `width` independent chains from the root, `depth` steps each (0:
 * as many as the budget gives).  A round is one step of every chain: slot c
 * belongs to chain c.  A chain goes on from its tip, the last of its nodes
 * that is not slower than `keep` times the chain's best; from a dead end it
 * goes back along its parents; where nothing is left of it up to the root, it
 * joins the best node of the others.
 */
#include <math.h>

#include "core/policy.h"

static int parallel_round(const struct spec *spec)
{
	return spec->width > 0 ? spec->width : 1;
}

static bool in_chain(const struct policy_view *v, uint32_t node,
		     uint32_t chain)
{
	const struct node *n = &v->graph->node[node];

	return n->step && policy_slot_of(v->spec, n->step) == chain &&
	       policy_usable(v->graph, node);
}

/* The root while the chain has no node that is worth going on with. */
static uint32_t tip(const struct policy_view *v, uint32_t chain)
{
	const struct graph *g = v->graph;
	double best = 0;

	for (uint32_t i = 1; i < g->nr; i++)
		if (in_chain(v, i, chain) && policy_score(g, i) > best)
			best = policy_score(g, i);
	for (uint32_t i = g->nr; i-- > 1;)
		if (in_chain(v, i, chain) &&
		    !(policy_score(g, i) < best + log(v->spec->keep)))
			return i;
	return 0;
}

static bool parallel_expand(const struct policy_view *v, uint32_t slot,
			    uint32_t fails, struct policy_move *out)
{
	const struct graph *g = v->graph;
	uint32_t node = tip(v, slot);

	(void)fails;
	/* At most one look for each node: a claim may make a circle. */
	for (uint32_t i = 0; i < g->nr && node < g->nr; i++) {
		if (policy_usable(g, node) &&
		    !v->exhausted(v->ctx, node, false)) {
			policy_move_set(out, MOVE_BEST, node);
			return true;
		}
		node = g->node[node].parent[0];
	}
	return policy_any(v, out);
}

/* The tips, best first; an empty chain stands on the root. */
static size_t parallel_frontier(const struct policy_view *v, uint32_t *out,
				size_t max)
{
	uint32_t chains = (uint32_t)parallel_round(v->spec);
	size_t nr = 0, at;

	for (uint32_t c = 0; c < chains && nr < max; c++) {
		uint32_t node = tip(v, c);

		for (at = 0; at < nr && out[at] != node; at++)
			;
		if (at == nr)
			out[nr++] = node;
	}
	policy_rank(v->graph, out, nr);
	return nr;
}

static bool parallel_finished(const struct policy_view *v)
{
	return v->spec->depth > 0 && v->round >= (uint32_t)v->spec->depth;
}

const struct policy policy_parallel = {
	.name = "parallel",
	.summary = "independent chains of steps from the root",
	.round = parallel_round,
	.expand = parallel_expand,
	.frontier = parallel_frontier,
	.finished = parallel_finished,
};
