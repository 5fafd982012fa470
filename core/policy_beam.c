/*
 * Beam search.  The beam of round 0 is the root.  A round expands each node
 * of the beam `branches` times; the next beam is the best `width` of the
 * parents and their children together.  Failed nodes never fill it; nodes
 * slower than `keep` times the best are dropped.  Finished after `depth`
 * rounds (0: never).
 *
 * A step of a longer plan may have to be slower at first.  A node whose plan
 * still has steps keeps a place for so many rounds, at most `patience`, even
 * when it would be dropped; a child that goes on with the plan takes that
 * place over.  Such nodes stand behind the best, which always has its place,
 * and before the others; the beam is never wider than `width`.
 *
 * The beam is derived from the graph: no state is kept.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/policy.h"

struct beam {
	const struct policy_view *v;
	uint32_t *node;
	size_t nr;
	bool *followed;		/* by node: a child goes on with its plan */
};

static uint32_t at_least_one(int x)
{
	return x > 0 ? (uint32_t)x : 1;
}

static int beam_round(const struct spec *spec)
{
	return (int)(at_least_one(spec->width) * at_least_one(spec->branches));
}

/* Does its plan keep it a place in the beam of this round? */
static bool is_patient(const struct beam *b, uint32_t node, uint32_t round)
{
	const struct spec *s = b->v->spec;
	const struct node *n = &b->v->graph->node[node];
	uint32_t made = policy_round_of(s, n->step);
	int most = n->steps < s->patience ? n->steps : s->patience;

	return node && most > 0 && !b->followed[node] && round > made &&
	       round - made <= (uint32_t)most;
}

/* A child that goes on with its parent's plan has its place. */
static void follow(struct beam *b, uint32_t node)
{
	const struct graph *g = b->v->graph;
	uint32_t parent = g->node[node].parent[0];

	if (parent < g->nr && g->node[node].steps < g->node[parent].steps)
		b->followed[parent] = true;
}

/* Cuts the candidates to the beam that this round expands. */
static void cut(struct beam *b, uint32_t round)
{
	const struct spec *s = b->v->spec;
	const struct graph *g = b->v->graph;
	size_t width = at_least_one(s->width), patient = 0, kept = 0;
	double least;

	policy_rank(g, b->node, b->nr);
	least = policy_score(g, b->node[0]) + log(s->keep);
	for (size_t i = 1; i < b->nr && patient + 1 < width; i++)
		patient += is_patient(b, b->node[i], round);
	for (size_t i = 0; i < b->nr && kept < width; i++) {
		uint32_t node = b->node[i];

		if (i && is_patient(b, node, round) && patient)
			patient--;
		else if (kept + patient >= width ||
			 policy_score(g, node) < least)
			continue;
		b->node[kept++] = node;
	}
	b->nr = kept;
}

/* The beam that round v->round expands; the caller frees b->node. */
static void beam_find(struct beam *b, const struct policy_view *v)
{
	const struct graph *g = v->graph;
	uint32_t next = 1;

	b->v = v;
	b->node = xcalloc(g->nr, sizeof(*b->node));
	b->followed = xcalloc(g->nr, sizeof(*b->followed));
	b->node[0] = 0;
	b->nr = 1;
	while (next < g->nr) {
		uint32_t round = policy_round_of(v->spec, g->node[next].step);

		if (round >= v->round)
			break;
		for (; next < g->nr && policy_round_of(v->spec,
				g->node[next].step) == round; next++) {
			if (!policy_usable(g, next))
				continue;
			follow(b, next);
			b->node[b->nr++] = next;
		}
		cut(b, round + 1);
	}
	cut(b, v->round);
	free(b->followed);
	b->followed = NULL;
}

/*
 * Slot i belongs to beam node i / branches; an exhausted node's turn goes to
 * the best node of the beam that is not.
 */
static bool beam_expand(const struct policy_view *v, uint32_t slot,
			uint32_t fails, struct policy_move *out)
{
	uint32_t own = slot / at_least_one(v->spec->branches);
	uint32_t node = NODE_NONE;
	struct beam b;

	(void)fails;
	beam_find(&b, v);
	if (own < b.nr && !v->exhausted(v->ctx, b.node[own], false))
		node = b.node[own];
	for (size_t i = 0; i < b.nr && node == NODE_NONE; i++)
		if (!v->exhausted(v->ctx, b.node[i], false))
			node = b.node[i];
	free(b.node);
	policy_move_set(out, MOVE_BEST, node);
	return node != NODE_NONE;
}

static size_t beam_frontier(const struct policy_view *v, uint32_t *out,
			    size_t max)
{
	struct beam b;
	size_t nr;

	beam_find(&b, v);
	nr = b.nr < max ? b.nr : max;
	memcpy(out, b.node, nr * sizeof(*out));
	free(b.node);
	return nr;
}

/* Who had a place once, by its plan or because no plan took it, decides who
 * else had one: what is gone may not come back. */
static size_t beam_needs(const struct policy_view *v, uint32_t *out,
			 size_t max)
{
	for (uint32_t i = 1; i < v->graph->nr; i++)
		if (v->graph->node[i].steps > 0 && v->spec->patience > 0)
			return policy_believed(v, out, max);
	return beam_frontier(v, out, max);
}

static bool beam_finished(const struct policy_view *v)
{
	return v->spec->depth > 0 && v->round >= (uint32_t)v->spec->depth;
}

const struct policy policy_beam = {
	.name = "beam",
	.summary = "keep the best few, expand each of them, round by round",
	.round = beam_round,
	.expand = beam_expand,
	.frontier = beam_frontier,
	.needs = beam_needs,
	.finished = beam_finished,
};
