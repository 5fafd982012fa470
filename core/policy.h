/*
 * A search policy: which nodes to expand in the next round, and how.  A
 * function of the graph and the spec alone, so that a halted search goes on as
 * if it had not been.  A round's attempts are numbered round * spec.round + 1
 * and on; the policy sees only nodes of earlier rounds.
 */
#ifndef CORE_POLICY_H
#define CORE_POLICY_H

#include "core/graph.h"
#include "core/rng.h"
#include "core/store.h"

enum move_kind {
	MOVE_BEST, MOVE_DRAW, MOVE_SAMPLE,	/* see enum propose_how */
	MOVE_LEARN,
	MOVE_CROSS		/* the recipes of both parents */
};

struct policy_move {
	enum move_kind kind;
	uint32_t parent[2];	/* [1]: of MOVE_CROSS, else NODE_NONE */
	bool inner;		/* asks the spec's inner proposer */
};

struct policy_view {
	const struct spec *spec;
	const struct graph *graph;	/* of earlier rounds only */
	uint32_t round;			/* 0, 1, ... */
	/* Has the (inner) proposer said that nothing is left from this node? */
	bool (*exhausted)(void *ctx, uint32_t node, bool inner);
	/* Has a crossing of the two been found to give nothing new? */
	bool (*barren)(void *ctx, uint32_t a, uint32_t b);
	void *ctx;
};

struct policy {
	const char *name, *summary;
	/* Attempts of a round. */
	int (*round)(const struct spec *spec);
	/*
	 * The move of attempt `slot` of the round.  fails: how many moves of
	 * this slot came to nothing so far (each is known by exhausted() or
	 * barren() from then on).  False: nothing is left to expand in this
	 * round.
	 */
	bool (*expand)(const struct policy_view *v, uint32_t slot,
		       uint32_t fails, struct policy_move *out);
	/* The nodes believed in now, best first; returns how many (<= max). */
	size_t (*frontier)(const struct policy_view *v, uint32_t *out,
			   size_t max);
	/*
	 * Optional.  The nodes without which this round or a later one could
	 * come out differently, those that fail aside; NULL: all usable ones.
	 */
	size_t (*needs)(const struct policy_view *v, uint32_t *out,
			size_t max);
	/* True when there are no further rounds (beam: depth reached). */
	bool (*finished)(const struct policy_view *v);
	/* Optional.  Adds what it does in this round and why: one line. */
	void (*why)(const struct policy_view *v, struct buf *out);
};
/* A slot is given up after two fails of each node (one of each proposer) and
 * so many crossings. */
#define POLICY_MAX_FAILS 256

extern const struct policy policy_bestofn, policy_parallel, policy_beam,
	policy_greedy, policy_evolve, policy_learn, policy_hybrid, policy_adaptive;
const struct policy *policy_find(const char *name);	/* NULL */
/* All of them, the default first; ended by a NULL. */
const struct policy *const *policy_list(void);
/* The parameters that a policy takes when none are given, by measurement (see
 * the policy's file); those that it does not use are 0.  keep is 0.8. */
void policy_defaults(const char *name, struct spec *spec);

/* The frontier of a graph as it stands, about to begin its next round. */
size_t policy_frontier(const struct spec *spec, const struct graph *g,
		       uint32_t *out, size_t max);
/* The same about to begin `round`; a policy that is not known believes in all
 * usable nodes. */
size_t policy_frontier_at(const struct spec *spec, const struct graph *g,
			  uint32_t round, uint32_t *out, size_t max);

/* What the policy needs about to begin `round` (see struct policy). */
size_t policy_needed_at(const struct spec *spec, const struct graph *g,
			uint32_t round, uint32_t *out, size_t max);

/* How many of its nodes are shown and landed, at most max: the width, or 4 of
 * a policy that has none. */
size_t policy_shown(const struct spec *spec, size_t max);

/* ---- shared by the policies ---- */

/* ln: a smaller rise of the best is no gain. */
#define POLICY_GAIN 0.01

/* The root, or a node that was timed on this device class. */
bool policy_usable(const struct graph *g, uint32_t node);
/* ln speedup over the root, as estimated; 0 for the root. */
double policy_score(const struct graph *g, uint32_t node);
/* Sorts best first; equal scores keep their order. */
void policy_rank(const struct graph *g, uint32_t *node, size_t nr);
/* All usable nodes, best first; the caller frees *out. */
size_t policy_ranked(const struct graph *g, uint32_t **out);
/* The best max usable nodes that are wanted (NULL: all are), best first. */
size_t policy_top(const struct graph *g,
		  bool (*want)(const void *ctx, uint32_t node),
		  const void *ctx, uint32_t *out, size_t max);
/* Round and slot of a step; both 0 for the root. */
uint32_t policy_round_of(const struct spec *spec, uint32_t step);
uint32_t policy_slot_of(const struct spec *spec, uint32_t step);
/* Was the node made in this round? */
bool policy_in_round(const struct spec *spec, const struct node *n,
		     uint32_t round);
/* Rounds without a gain: since the first node that is about as fast as the
 * best of them. */
uint32_t policy_stalled(const struct policy_view *v);
/* A generator of this slot of this round: the same in every run. */
void policy_rng(const struct policy_view *v, uint32_t slot, uint32_t fails,
		struct rng *rng);
/* The move, with a node alone. */
void policy_move_set(struct policy_move *m, enum move_kind kind,
		     uint32_t node);
/* Best move from the best node that is not exhausted: what is left to do when
 * a policy's own choice is.  False: nothing is. */
bool policy_any(const struct policy_view *v, struct policy_move *out);
/* policy.frontier of those that may come back to any node. */
size_t policy_believed(const struct policy_view *v, uint32_t *out,
		       size_t max);
/* policy.finished of those that have no end of their own. */
bool policy_endless(const struct policy_view *v);

/* What evolves together (policy_evolve.c). */
struct policy_herd {
	uint32_t origin;	/* of its nodes; NODE_NONE: whichever */
	uint32_t island, islands;	/* of them; 1: all are in one */
	bool inner;		/* by the inner proposer */
};
/* One evolutionary move in the herd; false: nothing is left in it. */
bool policy_breed(const struct policy_view *v, const struct policy_herd *h,
		  uint32_t slot, uint32_t fails, struct policy_move *out);

#endif
