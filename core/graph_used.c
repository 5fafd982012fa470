/* Which node of a graph the calls of models were made for. */
#include <math.h>
#include <string.h>

#include "core/graph.h"

uint32_t graph_call_node(const struct graph *g, uint32_t step,
			 const char *worker)
{
	uint32_t lo = 1, hi = g->nr, found = NODE_NONE;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (g->node[mid].step < step)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < g->nr && g->node[lo].step == step; lo++) {
		const char *w = g->node[lo].worker;

		if (w && !strcmp(w, worker))
			return lo;
		if (found == NODE_NONE)
			found = lo;
	}
	return found;
}

uint32_t graph_used(const struct graph *g, uint32_t node, struct usage *sum,
		    uint32_t *unknown)
{
	uint32_t step = g->node[node].step, lo = 0, hi = g->nr_call, nr = 0;

	*sum = (struct usage){ .cost = 0 };
	if (unknown)
		*unknown = 0;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (g->call[mid].step < step)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; node && lo < g->nr_call && g->call[lo].step == step; lo++) {
		const struct call *c = &g->call[lo];

		if (graph_call_node(g, step, c->worker) != node)
			continue;
		nr++;
		usage_add(sum, &c->used);
		if (unknown)
			*unknown += !isfinite(c->used.cost);
	}
	return nr;
}
