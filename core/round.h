/*
 * The plan of one round: which attempts, from which nodes.  A function of the
 * graph of the rounds before, the spec and the proposers; it judges and writes
 * nothing, so a search can be replayed on a table of known verdicts.
 */
#ifndef CORE_ROUND_H
#define CORE_ROUND_H

#include "core/oidset.h"
#include "core/policy.h"
#include "core/proposer.h"

struct planned {		/* one attempt */
	uint32_t step;
	uint32_t parent[2];	/* [1]: NODE_NONE, or of a crossover */
	const char *op;		/* static text */
	const struct proposer *by;
	struct proposal p;
	struct oid state;
	struct usages used;	/* of models */
	double plan_s;		/* seconds that the proposal took */
	/*
	 * What came of it: V_NONE: a new state; V_DUP: a known one (only from
	 * a proposer that spends); V_NO_PROPOSAL: none, and why says why.
	 */
	enum verdict verdict;
	char *why;
	bool made;		/* in an earlier run: see round_plan.made */
	bool kept;		/* by round_plan.keep, as this commit: */
	struct oid id;
};

struct round_made {		/* an attempt of an earlier run */
	struct oid state;	/* zero: it made none */
	const char *by;		/* its proposer; NULL: not known, nor are its */
	uint32_t parent[2];	/* parents */
};
void planned_release(struct planned *a);

#define ROUND_GONE 1
#define ROUND_GONE_INNER 2

struct round_plan {
	/* in: all borrowed */
	const struct spec *spec;
	const struct kernel *kernel;
	const struct graph *graph;	/* of all rounds */
	uint32_t prefix;		/* nodes of earlier rounds: the plan
					 * sees these alone */
	const struct policy *policy;
	const struct proposer *proposer, *inner;	/* inner may be NULL */
	const struct prior *prior;	/* of those nodes and from elsewhere */
	uint32_t round, own_round;	/* see graph.united_rounds */
	struct oidset *seen;		/* states of those nodes; those of the
					 * plan are added */
	/* The sources of a node. */
	int (*source)(void *ctx, uint32_t node, struct srcset *out,
		      struct err *err);
	/*
	 * Was the step made in an earlier run?  It is planned again, so that
	 * the others come out as they did then; but a proposer that spends is
	 * not asked again: a move that is not the one that made the step is
	 * taken to have come to nothing then, and the attempt has but its
	 * step, state and made.  NULL: none was.
	 */
	bool (*made)(void *ctx, uint32_t step, struct round_made *out);
	/* May one more attempt begin, with so many before it in this round that
	 * were neither made nor kept?  False cuts the round here.  NULL:
	 * always. */
	bool (*may)(void *ctx, const struct proposer *by, uint32_t fresh);
	/* Something was paid for: keeps it, and sets kept and id.  May be
	 * NULL. */
	int (*keep)(void *ctx, struct planned *a, struct err *err);
	/* A node whose recipe cannot be read, told once. */
	void (*unread)(void *ctx, uint32_t node, const char *why);
	/* See propose_ask; may be NULL. */
	int (*used)(void *ctx, uint32_t step, const struct usage *one,
		    struct err *err);
	void *ctx;
	/*
	 * Of each node of the graph: ROUND_GONE and ROUND_GONE_INNER once a
	 * proposer that does not spend has said that nothing is left from it,
	 * so that it is not asked again.  May be NULL; the caller clears it
	 * when nodes change places.
	 */
	unsigned char *gone;
	/* out */
	struct planned *v;		/* spec.round of them */
	size_t nr;
	bool cut;			/* by may() */
	/* private: moves of this round that came to nothing */
	unsigned char *spent;		/* of each node, as gone */
	struct round_barren {
		uint32_t node[2];
	} *failed;
	size_t nr_failed, cap_failed;
	struct planned *asking;
};

/* The proposals in slot order; round_release() in any case. */
int round_make(struct round_plan *r, struct err *err);
void round_release(struct round_plan *r);

/* The seed of a step: splitmix64 of the spec's seed and the step. */
uint64_t round_seed(uint64_t seed, uint32_t step);
/* The size that a spec's policy wants for its rounds. */
int round_size(const struct spec *spec);

#endif
