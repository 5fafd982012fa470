/*
 * Hybrid: one proposer makes versions, another tunes each of them.  A version
 * is a node without recipe: the root, what the outer proposer or a person
 * made; it is the origin of the nodes whose recipes stand on it.  Even slots
 * ask the outer proposer for a step from the best nodes, the second best in
 * the second of them and so on; odd slots evolve the nodes of one origin with
 * the inner proposer.  Which origin is drawn: of the best `width`, each as
 * likely as the WEIGHT-th power of the speedup that was reached on it, and
 * one that has no recipes yet as if it had been reached twice over.
 *
 * Without an inner proposer of its own the outer one has all slots; on the
 * root alone that is evolve.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/policy.h"

#define WEIGHT 4
#define NEW_ORIGIN 2

struct origins {
	uint32_t *node;		/* the best first */
	double *weight;
	size_t nr;
};

static bool has_inner(const struct spec *spec)
{
	return spec->inner && *spec->inner && spec->proposer &&
	       strcmp(spec->inner, spec->proposer) != 0;
}

static int hybrid_round(const struct spec *spec)
{
	return spec->branches > 0 ? spec->branches : 4;
}

static size_t width_of(const struct policy_view *v)
{
	size_t width = v->spec->width > 0 ? (size_t)v->spec->width : 8;

	return width < v->graph->nr ? width : v->graph->nr;
}

/* Of each origin the best node, and how many nodes it has. */
static void origins_reach(const struct graph *g, uint32_t *best, uint32_t *nr)
{
	for (uint32_t i = 0; i < g->nr; i++)
		best[i] = NODE_NONE;
	for (uint32_t i = 0; i < g->nr; i++) {
		uint32_t o = g->node[i].origin;

		if (o >= g->nr || !policy_usable(g, i) || !policy_usable(g, o))
			continue;
		nr[o]++;
		if (best[o] == NODE_NONE ||
		    policy_score(g, i) > policy_score(g, best[o]))
			best[o] = i;
	}
}

/* The best origins by what was reached on them; the caller frees. */
static void origins_find(struct origins *o, const struct policy_view *v)
{
	const struct graph *g = v->graph;
	uint32_t *best = xcalloc(g->nr, sizeof(*best));
	uint32_t *nodes = xcalloc(g->nr, sizeof(*nodes)), *tops;
	size_t nr = 0, max = width_of(v);

	origins_reach(g, best, nodes);
	tops = xcalloc(g->nr, sizeof(*tops));
	for (uint32_t i = 0; i < g->nr; i++)
		if (best[i] != NODE_NONE)
			tops[nr++] = best[i];
	policy_rank(g, tops, nr);
	nr = nr < max ? nr : max;
	o->node = xcalloc(nr, sizeof(*o->node));
	o->weight = xcalloc(nr, sizeof(*o->weight));
	o->nr = nr;
	for (size_t i = 0; i < nr; i++) {
		o->node[i] = g->node[tops[i]].origin;
		o->weight[i] = exp(WEIGHT * (policy_score(g, tops[i]) -
					     policy_score(g, tops[0])));
		if (nodes[o->node[i]] == 1)
			o->weight[i] *= NEW_ORIGIN;
	}
	free(tops);
	free(nodes);
	free(best);
}

static size_t origins_draw(const struct origins *o, struct rng *rng)
{
	double sum = 0, at;

	for (size_t i = 0; i < o->nr; i++)
		sum += o->weight[i];
	at = rng_unit(rng) * sum;
	for (size_t i = 0; i + 1 < o->nr; i++) {
		at -= o->weight[i];
		if (at < 0)
			return i;
	}
	return o->nr - 1;
}

/* Of the origin that was drawn; where nothing is left, of the others. */
static bool tune(const struct policy_view *v, uint32_t slot, uint32_t fails,
		 struct policy_move *out)
{
	struct policy_herd of = { .islands = 1, .inner = has_inner(v->spec) };
	struct origins o;
	struct rng rng;
	bool done = false;
	size_t from;

	origins_find(&o, v);
	policy_rng(v, slot, UINT32_MAX, &rng);
	from = origins_draw(&o, &rng);
	for (size_t i = 0; i < o.nr && !done; i++) {
		of.origin = o.node[(from + i) % o.nr];
		done = policy_breed(v, &of, slot, fails, out);
	}
	free(o.node);
	free(o.weight);
	return done;
}

static bool is_fresh(const void *ctx, uint32_t node)
{
	const struct policy_view *v = ctx;

	return !v->exhausted(v->ctx, node, false);
}

/* The n-th best of the nodes that are not exhausted, round and round. */
static bool step_from(const struct policy_view *v, uint32_t n,
		      struct policy_move *out)
{
	uint32_t *list = xcalloc(width_of(v), sizeof(*list));
	size_t nr = policy_top(v->graph, is_fresh, v, list, width_of(v));

	if (nr)
		policy_move_set(out, MOVE_BEST, list[n % nr]);
	free(list);
	return nr > 0;
}

static bool hybrid_expand(const struct policy_view *v, uint32_t slot,
			  uint32_t fails, struct policy_move *out)
{
	bool outer = has_inner(v->spec) && slot % 2 == 0;

	if (outer && step_from(v, slot / 2, out))
		return true;
	return tune(v, slot, fails, out) || policy_any(v, out);
}

static void hybrid_why(const struct policy_view *v, struct buf *out)
{
	struct origins o;

	origins_find(&o, v);
	if (has_inner(v->spec))
		buf_addf(out, "%s makes versions, %s tunes %zu of them",
			 v->spec->proposer, v->spec->inner, o.nr);
	else
		buf_addf(out, "breeds on %zu version%s", o.nr,
			 o.nr == 1 ? "" : "s");
	free(o.node);
	free(o.weight);
}

const struct policy policy_hybrid = {
	.name = "hybrid",
	.summary = "one proposer makes versions, another tunes each of them",
	.round = hybrid_round,
	.expand = hybrid_expand,
	.frontier = policy_believed,
	.finished = policy_endless,
	.why = hybrid_why,
};
