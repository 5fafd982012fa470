/*
 * The moves from one recipe: which recipes are a step or a few away, in the
 * order in which they are tried, or drawn.
 */
#ifndef AGENTS_BUILTIN_MOVES_H
#define AGENTS_BUILTIN_MOVES_H

#include "agents/builtin/recipe.h"
#include "agents/builtin/strategy.h"
#include "core/prior.h"
#include "core/rng.h"

struct belief {
	double ratio;		/* to expect of a value, over the locus unset */
	bool known;		/* by a prior with a try or more to go by */
};

/* One thing that can be set: a strategy, or one of the tuning numbers. */
struct locus {
	const struct strategy *st;
	char *key;		/* "TILE" for strategy tunables, else NULL */
	struct strv values;	/* parameters; for a key "TILE=32" */
	int now;		/* what the recipe has, or -1 */
	struct belief *belief;	/* of each value */
};

struct change {
	size_t locus;
	const char *value;	/* borrowed from the locus; NULL takes away */
};

struct move {
	size_t first, nr;	/* of moves.change */
};

struct moves {
	struct locus *locus;
	size_t nr_loci, cap_loci;
	struct change *change;
	size_t nr_changes, cap_changes;
	struct move *v;
	size_t nr, cap;
	size_t nr_singles;	/* the last of v before moves_pairs() */
};
#define MOVES_INIT { NULL, 0, 0, NULL, 0, 0, NULL, 0, 0, 0 }

/*
 * In order: the strongest levers together, then single changes: additions by
 * the gain that is expected, other settings, removals; what is known to gain
 * nothing or to fail stands after those of which nothing is known.  prior may
 * be NULL.
 */
void moves_find(struct moves *m, const struct site *s,
		const struct recipe *from, const struct prior *prior);
/* Appends pairs, drawn by the seed, the likelier first the more they promise. */
void moves_pairs(struct moves *m, uint64_t seed);
void moves_release(struct moves *m);

/* Of one to three loci, the likelier the more it promises; it is the last of
 * m->change until the next.  .nr is 0 where nothing can be changed. */
struct move moves_draw(struct moves *m, struct rng *rng);
/* Each locus set or not, as if the recipe were empty; may be .nr 0. */
struct move moves_sample(struct moves *m, struct rng *rng);
/* Settings of all loci together, and the move that leads to one of them. */
double moves_settings(const struct moves *m);
struct move moves_nth(struct moves *m, uint64_t n);
/* Takes the last move of these back. */
void moves_undraw(struct moves *m, const struct move *mv);

/* The recipe after a move, in its normal form. */
void move_apply(const struct moves *m, const struct move *mv,
		const struct recipe *from, struct recipe *to);
/* The ratio to the parent that a change, and a move, promise. */
double change_ratio(const struct moves *m, const struct change *c);
double move_ratio(const struct moves *m, const struct move *mv);
/* How likely a change is drawn, beside others. */
double change_weight(const struct moves *m, const struct change *c);

/* ---- loci (locus.c) ---- */

void loci_find(struct moves *m, const struct site *s,
	       const struct recipe *from);
/* Fills in what is believed of every value. */
void loci_believe(struct moves *m, const struct site *s,
		  const struct prior *prior);
/* The index of a value; -1: it is NULL or none of these. */
int locus_index(const struct locus *l, const char *value);
/* The index of what a recipe has; -1: the locus is not set, or to a value that
 * it does not have. */
int locus_value(const struct locus *l, const struct recipe *r);
/* A value as it stands in a recipe: "vw(512)"; of a key "TILE=32". */
void locus_gene(const struct locus *l, const char *value, struct buf *out);
/* Sets or (NULL) takes away one word of a gene that is made of "KEY=value". */
void recipe_set_word(struct recipe *r, const char *gene, const char *key,
		     const char *value);

#endif
