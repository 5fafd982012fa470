/*
 * Beam search.  The beam of round 0 is the root.  A round expands each node
 * of the beam `branches` times; the next beam is the best `width` of the
 * parents and their children together.  Failed nodes never fill it; nodes
 * slower than `keep` times the best are dropped.  Finished after `depth`
 * rounds.  The beam is derived from the graph: no state is kept.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/policy.h"

static bool in_round(const struct spec *spec, const struct node *n,
		     uint32_t round)
{
	return n->step > 0 && (n->step - 1) / (uint32_t)spec->round == round;
}

/* Keeps the best: sorted, at most width, none under keep times the first. */
static size_t cut(const struct policy_view *v, uint32_t *beam, size_t nr)
{
	const struct spec *s = v->spec;
	double floor_score;
	size_t kept;

	policy_rank(v->graph, beam, nr);
	floor_score = nr ? policy_score(v->graph, beam[0]) + log(s->keep) : 0;
	for (kept = 0; kept < nr && kept < (size_t)s->width; kept++)
		if (policy_score(v->graph, beam[kept]) < floor_score)
			break;
	return kept;
}

/* The beam that round v->round expands; the caller frees. */
static size_t beam_at(const struct policy_view *v, uint32_t **out)
{
	const struct graph *g = v->graph;
	uint32_t *beam = xcalloc(g->nr, sizeof(*beam));
	uint32_t next = 1;
	size_t nr = 1;

	beam[0] = 0;
	for (uint32_t round = 0; round < v->round; round++) {
		/* A round may have no nodes (any more). */
		while (next < g->nr && g->node[next].step <=
		       round * (uint32_t)v->spec->round)
			next++;
		for (; next < g->nr && in_round(v->spec, &g->node[next], round);
		     next++)
			if (policy_usable(g, next))
				beam[nr++] = next;
		nr = cut(v, beam, nr);
	}
	*out = beam;
	return nr;
}

/*
 * Slot i belongs to beam node i / branches; an exhausted node's turn goes to
 * the best node of the beam that is not.
 */
static uint32_t beam_expand(const struct policy_view *v, uint32_t slot)
{
	uint32_t *beam, node = NODE_NONE;
	size_t nr = beam_at(v, &beam);
	size_t own = slot / (uint32_t)v->spec->branches;

	if (own < nr && !v->exhausted(v->ctx, beam[own])) {
		node = beam[own];
	} else {
		for (size_t i = 0; i < nr && node == NODE_NONE; i++)
			if (!v->exhausted(v->ctx, beam[i]))
				node = beam[i];
	}
	free(beam);
	return node;
}

static size_t beam_frontier(const struct policy_view *v, uint32_t *out,
			    size_t max)
{
	uint32_t *beam;
	size_t nr = beam_at(v, &beam);

	if (nr > max)
		nr = max;
	memcpy(out, beam, nr * sizeof(*out));
	free(beam);
	return nr;
}

static bool beam_finished(const struct policy_view *v)
{
	return v->round >= (uint32_t)v->spec->depth;
}

const struct policy policy_beam = {
	.name = "beam",
	.summary = "keep the best few, expand each of them, round by round",
	.expand = beam_expand,
	.frontier = beam_frontier,
	.finished = beam_finished,
};
