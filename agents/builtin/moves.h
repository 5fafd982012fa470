/*
 * The moves from one recipe: which recipes are a step or two away, in the
 * order in which they are tried.
 */
#ifndef AGENTS_BUILTIN_MOVES_H
#define AGENTS_BUILTIN_MOVES_H

#include "agents/builtin/recipe.h"
#include "agents/builtin/strategy.h"

#define MOVE_MAX 5

/* One thing that can be set: a strategy, or one of the tuning numbers. */
struct locus {
	const struct strategy *st;
	char *key;		/* "TILE" for strategy tunables, else NULL */
	struct strv values;	/* parameters; for a key "TILE=32" */
};

struct change {
	size_t locus;
	const char *value;	/* borrowed from the locus; NULL takes away */
};

struct move {
	struct change v[MOVE_MAX];
	int nr;
};

struct moves {
	struct locus *locus;
	size_t nr_loci, cap_loci;
	struct move *v;
	size_t nr, cap;
};
#define MOVES_INIT { NULL, 0, 0, NULL, 0, 0 }

/*
 * In order: the strongest levers together, single changes (additions by the
 * gain that is expected, other settings, removals), pairs in an order drawn
 * from the seed.
 */
void moves_find(struct moves *m, const struct site *s,
		const struct recipe *from, uint64_t seed);
void moves_release(struct moves *m);
/* The recipe after a move, in its normal form. */
void move_apply(const struct moves *m, const struct move *mv,
		const struct recipe *from, struct recipe *to);

#endif
