#include "core/policy.h"

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

void policy_rank(const struct graph *g, uint32_t *node, size_t nr)
{
	/* Insertion sort: stable, and the lists are short or nearly sorted. */
	for (size_t i = 1; i < nr; i++) {
		uint32_t n = node[i];
		size_t j = i;

		while (j && policy_score(g, node[j - 1]) < policy_score(g, n)) {
			node[j] = node[j - 1];
			j--;
		}
		node[j] = n;
	}
}
