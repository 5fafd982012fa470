/*
 * Which settings of a space to try next: asked for a batch, told what came of
 * it.  No I/O, no clock: a function of the space, the seed and what was told,
 * so that a run that was stopped asks for the same settings again.
 *
 * A small space is tried whole, from the setting that the node has outwards.
 * A large one is searched by a seeded evolution: a first batch spread evenly
 * over all values, then batches of neighbours of the best, of children of two
 * good settings, mutated, and of strangers.  Of several such candidates the
 * one is asked for that a model of single values (each value adds its share to
 * the score) believes in most.  No setting is asked for twice.
 */
#ifndef CORE_TUNER_H
#define CORE_TUNER_H

#include <stdbool.h>
#include <stdint.h>

#include "core/err.h"
#include "core/expr.h"
#include "core/proposer.h"

#define TUNER_MAX_NAMES 16
#define TUNER_MAX_VALUES 64	/* of a name */
#define TUNER_MAX_TRIALS 10000
#define TUNER_BATCH 8
#define TUNER_MAX_REQUIRE 16

struct tuner_opts {
	const struct space *space;	/* borrowed until tuner_close() */
	const struct expr *require;	/* all of them hold for a setting that
					 * is tried; their names are those of
					 * tuner_names(); borrowed */
	size_t nr_require;
	uint64_t seed;
	int64_t trials;		/* that there may be; 0: TUNER_MAX_TRIALS */
	int64_t grid;		/* a space of so many settings is tried whole,
				 * if trials allows it */
};

struct tuner;

/* ERR_LIMIT past a cap above; ERR_FORMAT: no setting is legal. */
int tuner_open(struct tuner **out, const struct tuner_opts *o,
	       struct err *err);
void tuner_close(struct tuner *t);	/* NULL is allowed */
/* Is the space tried whole? */
bool tuner_is_grid(const struct tuner *t);
/* Legal settings beside the node's; NAN: too many to count. */
double tuner_legal(const struct tuner *t);
/*
 * The next batch, at most TUNER_BATCH settings of space->nr ints one behind
 * the other; the setting that the node has is not among them.  0: nothing is
 * left.  What was asked for is told before more is asked for.
 */
size_t tuner_ask(struct tuner *t, int *out);
/* The i-th of the batch: ln of its speedup over the node, or NAN: it does not
 * work. */
void tuner_tell(struct tuner *t, size_t i, double score);

/* The names of a space, as expressions call them. */
void tuner_names(const struct space *s, struct strv *out);
/* A value as people write it: "32" of "TILE=32", "512" of "vw(512)"; "-" for
 * none.  Valid until the space changes; *len bytes of it count. */
const char *tuner_value(const struct locus_values *l, int value, size_t *len);
/* It as a number; none is 0.  False: it is no whole number. */
bool tuner_number(const struct locus_values *l, int value, int64_t *out);
/*
 * Do all values of the names that an expression uses stand for numbers?  Else
 * ERR_FORMAT, which names one.
 */
int tuner_check_require(const struct space *s, const struct expr *e,
			struct err *err);

#endif
