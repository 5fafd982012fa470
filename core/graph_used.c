/* Which node of a graph the calls of models were made for. */
#include <math.h>
#include <string.h>

#include "core/graph.h"

uint32_t graph_call_node(const struct graph *g, uint32_t step,
			 const char *worker)
{
	uint32_t i = graph_node_from(g, step), found = NODE_NONE;

	for (i += !i; i < g->nr && g->node[i].step == step; i++) {
		const char *w = g->node[i].worker;

		if (w && !strcmp(w, worker))
			return i;
		if (found == NODE_NONE)
			found = i;
	}
	return found;
}

uint32_t graph_used(const struct graph *g, uint32_t node, struct usage *sum,
		    uint32_t *unknown)
{
	uint32_t step = g->node[node].step, nr = 0;
	uint32_t i = graph_call_from(g, step);

	*sum = (struct usage){ .cost = 0 };
	if (unknown)
		*unknown = 0;
	for (; node && i < g->nr_call && g->call[i].step == step; i++) {
		const struct call *c = &g->call[i];

		if (graph_call_node(g, step, c->worker) != node)
			continue;
		nr++;
		usage_add(sum, &c->used);
		if (unknown)
			*unknown += !isfinite(c->used.cost);
	}
	return nr;
}
