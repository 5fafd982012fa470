/*
 * Greedy: hill climbing with restarts.  Every attempt of a round expands the
 * best node so far; when nothing untried is left from it, the next best, and
 * so down to the slowest.  Finished when every node is exhausted.
 */
#include <stdlib.h>

#include "core/mem.h"
#include "core/policy.h"

/* All usable nodes, best first; the caller frees. */
static size_t ranked(const struct policy_view *v, uint32_t **out)
{
	const struct graph *g = v->graph;
	uint32_t *list = xcalloc(g->nr, sizeof(*list));
	size_t nr = 0;

	for (uint32_t i = 0; i < g->nr; i++)
		if (policy_usable(g, i))
			list[nr++] = i;
	policy_rank(g, list, nr);
	*out = list;
	return nr;
}

static uint32_t greedy_expand(const struct policy_view *v, uint32_t slot)
{
	uint32_t *list, node = NODE_NONE;
	size_t nr = ranked(v, &list);

	(void)slot;
	for (size_t i = 0; i < nr; i++)
		if (!v->exhausted(v->ctx, list[i])) {
			node = list[i];
			break;
		}
	free(list);
	return node;
}

static size_t greedy_frontier(const struct policy_view *v, uint32_t *out,
			      size_t max)
{
	uint32_t *list;
	size_t nr = ranked(v, &list), kept = 0;

	for (size_t i = 0; i < nr && kept < max; i++)
		if (!v->exhausted(v->ctx, list[i]))
			out[kept++] = list[i];
	free(list);
	return kept;
}

static bool greedy_finished(const struct policy_view *v)
{
	(void)v;
	return false;
}

const struct policy policy_greedy = {
	.name = "greedy",
	.summary = "expand the best node so far, else the next best",
	.expand = greedy_expand,
	.frontier = greedy_frontier,
	.finished = greedy_finished,
};
