/*
 * Evolution.  The population is the best `width` nodes of different states,
 * of each island when there are several; a failed node is never in it.  A
 * parent is the better of two drawn from it.  Its child is a mutation (a step
 * drawn by the proposer) or, of two parents with recipes on one origin, a
 * crossover, or now and then a new sample; while the population is not full
 * it is filled by samples and by the steps that are believed in most.
 *
 * Slot s breeds on island s % islands, so a node's island follows from its
 * step; the root is on all.  Every MIGRATE rounds each island also breeds from
 * the best of the one before it.  Seeds of the spec come first by themselves.
 */
#include <stdlib.h>

#include "core/mem.h"
#include "core/policy.h"

#define SAMPLE_PERCENT 5
#define BEST_PERCENT 50		/* while the population is young */
#define CROSS_PERCENT 10
#define MIGRATE 4		/* rounds */
#define CROSS_FAILS 8		/* then a slot gives crossing up */

struct herd {
	const struct policy_view *v;
	const struct policy_herd *h;
	uint32_t island;	/* that is looked at */
	bool fresh;		/* not what is exhausted */
};

static uint32_t some(int x, uint32_t otherwise)
{
	return x > 0 ? (uint32_t)x : otherwise;
}

static bool on_island(const struct herd *h, const struct node *n)
{
	return !n->step || h->h->islands <= 1 ||
	       policy_slot_of(h->v->spec, n->step) % h->h->islands == h->island;
}

static bool in_herd(const void *ctx, uint32_t node)
{
	const struct herd *h = ctx;
	const struct graph *g = h->v->graph;
	const struct node *n = &g->node[node];
	uint32_t first = graph_find_state(g, &n->state);

	if (h->h->origin != NODE_NONE && n->origin != h->h->origin)
		return false;
	if (first < node && policy_usable(g, first))
		return false;
	if (h->fresh && h->v->exhausted(h->v->ctx, node, h->h->inner))
		return false;
	return on_island(h, n);
}

/* The population, best first; the caller frees. */
static size_t gather(struct herd *h, uint32_t **out)
{
	uint32_t width = some(h->v->spec->width, 8), guest;
	uint32_t islands = h->h->islands > 1 ? h->h->islands : 1;
	size_t nr;

	if (width > h->v->graph->nr)
		width = h->v->graph->nr;
	*out = xcalloc(width + 1, sizeof(**out));
	h->island = h->h->island;
	nr = policy_top(h->v->graph, in_herd, h, *out, width);
	if (islands == 1 || (h->v->round + 1) % MIGRATE)
		return nr;
	h->island = (h->h->island + islands - 1) % islands;
	/* The root is on both. */
	if (policy_top(h->v->graph, in_herd, h, &guest, 1) && guest)
		(*out)[nr++] = guest;
	policy_rank(h->v->graph, *out, nr);
	return nr;
}

/* The better of two. */
static size_t tournament(struct rng *rng, size_t nr)
{
	size_t a = rng_below(rng, nr), b = rng_below(rng, nr);

	return a < b ? a : b;
}

static bool has_recipe(const struct node *n)
{
	return n->recipe && *n->recipe;
}

/* A child has most of its parent's steps already. */
static bool may_cross(const struct policy_view *v, uint32_t a, uint32_t b)
{
	const struct node *m = &v->graph->node[a], *n = &v->graph->node[b];

	return a != b && has_recipe(m) && has_recipe(n) &&
	       m->origin == n->origin && m->parent[0] != b &&
	       n->parent[0] != a && !v->barren(v->ctx, a, b);
}

static bool cross(const struct policy_view *v, struct rng *rng,
		  const uint32_t *list, size_t nr, struct policy_move *out)
{
	size_t a, b, from;

	if (!nr)
		return false;
	a = tournament(rng, nr);
	from = rng_below(rng, nr);
	for (size_t i = 0; i < nr; i++) {
		b = (from + i) % nr;
		/* The better one is the first parent. */
		if (!may_cross(v, list[a < b ? a : b], list[a < b ? b : a]))
			continue;
		policy_move_set(out, MOVE_CROSS, list[a < b ? a : b]);
		out->parent[1] = list[a < b ? b : a];
		return true;
	}
	return false;
}

/* A parent that is not exhausted, by tournament; NODE_NONE: there is none. */
static uint32_t choose(struct herd *h, struct rng *rng)
{
	uint32_t *list, node = NODE_NONE;
	size_t nr;

	h->fresh = true;
	nr = gather(h, &list);
	if (nr)
		node = list[tournament(rng, nr)];
	free(list);
	return node;
}

/* What is no child of the population: a sample of its origin, or, while it is
 * young, a step that is believed in, from its best. */
static bool fill(const struct herd *h, uint64_t chance, bool young,
		 const uint32_t *list, size_t nr, struct policy_move *out)
{
	uint32_t origin = h->h->origin == NODE_NONE ? 0 : h->h->origin;

	if (chance < SAMPLE_PERCENT || !nr)
		policy_move_set(out, MOVE_SAMPLE, origin);
	else if (young && chance < SAMPLE_PERCENT + BEST_PERCENT)
		policy_move_set(out, MOVE_BEST, list[0]);
	else
		return false;
	return !h->v->exhausted(h->v->ctx, out->parent[0], h->h->inner);
}

bool policy_breed(const struct policy_view *v, const struct policy_herd *of,
		  uint32_t slot, uint32_t fails, struct policy_move *out)
{
	struct herd h = { .v = v, .h = of, .island = of->island };
	uint32_t *list, node, width = some(v->spec->width, 8);
	uint64_t chance;
	struct rng rng;
	size_t nr = gather(&h, &list);
	bool done = false;

	policy_rng(v, slot, fails, &rng);
	chance = rng_below(&rng, 100);
	if (chance >= 100 - CROSS_PERCENT && fails < CROSS_FAILS)
		done = cross(v, &rng, list, nr, out);
	else
		done = fill(&h, chance, 2 * nr < width, list, nr, out);
	free(list);
	if (!done) {
		node = choose(&h, &rng);
		policy_move_set(out, MOVE_DRAW, node);
		done = node != NODE_NONE;
	}
	out->inner = of->inner;
	return done;
}

/* ---- the policy ---- */

static int evolve_round(const struct spec *spec)
{
	uint32_t islands = some(spec->islands, 1);
	uint32_t size = some(spec->branches, 4);

	return (int)((size + islands - 1) / islands * islands);
}

static struct policy_herd island_of(const struct policy_view *v, uint32_t slot)
{
	uint32_t islands = some(v->spec->islands, 1);

	return (struct policy_herd){ .origin = NODE_NONE, .islands = islands,
				     .island = slot % islands };
}

static bool evolve_expand(const struct policy_view *v, uint32_t slot,
			  uint32_t fails, struct policy_move *out)
{
	struct policy_herd of = island_of(v, slot);

	return policy_breed(v, &of, slot, fails, out) || policy_any(v, out);
}

/* The populations of all islands. */
static size_t evolve_frontier(const struct policy_view *v, uint32_t *out,
			      size_t max)
{
	uint32_t islands = some(v->spec->islands, 1);
	bool *in = xcalloc(v->graph->nr, sizeof(*in));
	uint32_t *all = xcalloc(v->graph->nr, sizeof(*all));
	size_t nr = 0;

	for (uint32_t i = 0; i < islands; i++) {
		struct policy_herd of = island_of(v, i);
		struct herd h = { .v = v, .h = &of };
		uint32_t *list;
		size_t found = gather(&h, &list);

		for (size_t k = 0; k < found; k++)
			if (!in[list[k]]) {
				in[list[k]] = true;
				all[nr++] = list[k];
			}
		free(list);
	}
	policy_rank(v->graph, all, nr);
	nr = nr < max ? nr : max;
	for (size_t i = 0; i < nr; i++)
		out[i] = all[i];
	free(all);
	free(in);
	return nr;
}

const struct policy policy_evolve = {
	.name = "evolve",
	.summary = "breed from the best: mutations and crossovers",
	.round = evolve_round,
	.expand = evolve_expand,
	.frontier = evolve_frontier,
	.finished = policy_endless,
};
