#include "core/policy.h"

#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

static const struct policy *const policies[] = {
	&policy_greedy,
	&policy_beam,
};

const struct policy *policy_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(policies); i++)
		if (!strcmp(policies[i]->name, name))
			return policies[i];
	return NULL;
}

/*
 * Timed, right, and of this device class: worth expanding.  A smaller version
 * of a champion (op "tune") is an end, so that a search which is halted among
 * them goes on as one that was not.
 */
bool policy_usable(const struct graph *g, uint32_t node)
{
	const struct node *n = &g->node[node];

	if (n->op && !strcmp(n->op, "tune"))
		return false;
	return node == 0 || (!n->pending && verdict_is_timed(n->rec.verdict) &&
			     n->score == n->score);
}

double policy_score(const struct graph *g, uint32_t node)
{
	return node == 0 ? 0 : g->node[node].score;
}

struct ranked {
	double score;
	uint32_t node, place;
};

static int by_rank(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->score != y->score)
		return x->score > y->score ? -1 : 1;
	return x->place < y->place ? -1 : x->place > y->place;
}

void policy_rank(const struct graph *g, uint32_t *node, size_t nr)
{
	struct ranked *v = xcalloc(nr, sizeof(*v));

	for (size_t i = 0; i < nr; i++)
		v[i] = (struct ranked){ policy_score(g, node[i]), node[i],
					(uint32_t)i };
	if (nr > 1)
		qsort(v, nr, sizeof(*v), by_rank);
	for (size_t i = 0; i < nr; i++)
		node[i] = v[i].node;
	free(v);
}
