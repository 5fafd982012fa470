/*
 * A search policy: which nodes to expand in the next round.  A function of
 * the graph and the spec alone, so that a halted search goes on as if it had
 * not been.  A round's attempts are numbered round * spec.round + 1 and on;
 * the policy sees only nodes of earlier rounds.
 */
#ifndef CORE_POLICY_H
#define CORE_POLICY_H

#include "core/graph.h"
#include "core/store.h"

struct policy_view {
	const struct spec *spec;
	const struct graph *graph;	/* of earlier rounds only */
	uint32_t round;			/* 0, 1, ... */
	/* Has the proposer said that nothing is left from this node? */
	bool (*exhausted)(void *ctx, uint32_t node);
	void *ctx;
};

struct policy {
	const char *name, *summary;
	/*
	 * The node that attempt `slot` of the round expands, or NODE_NONE:
	 * nothing is left to expand in this round.
	 */
	uint32_t (*expand)(const struct policy_view *v, uint32_t slot);
	/* The nodes believed in now, best first; returns how many (<= max). */
	size_t (*frontier)(const struct policy_view *v, uint32_t *out,
			   size_t max);
	/* True when there are no further rounds (beam: depth reached). */
	bool (*finished)(const struct policy_view *v);
};

extern const struct policy policy_greedy, policy_beam;
const struct policy *policy_find(const char *name);	/* NULL */

/* ---- shared by the policies ---- */

/* The root, or a node that was timed on this device class. */
bool policy_usable(const struct graph *g, uint32_t node);
/* ln speedup over the root, as estimated; 0 for the root. */
double policy_score(const struct graph *g, uint32_t node);
/* Sorts best first; equal scores keep their order. */
void policy_rank(const struct graph *g, uint32_t *node, size_t nr);

#endif
