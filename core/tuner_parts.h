/* What the files of the tuner share. */
#ifndef CORE_TUNER_PARTS_H
#define CORE_TUNER_PARTS_H

#include "core/rng.h"
#include "core/tuner.h"

#define TUNER_MAX_COUNT (1u << 20)	/* settings that are counted one by one */

/* A setting: the index of each value plus one; 0 is none. */
struct tuner_point {
	unsigned char v[TUNER_MAX_NAMES];
};

struct tuner_trial {
	struct tuner_point at;
	double score;		/* NAN: it does not work */
	bool told;
};

struct tuner {
	struct tuner_opts o;
	int nr;			/* names */
	int64_t (*number)[TUNER_MAX_VALUES + 1];	/* of each value */
	bool ordered[TUNER_MAX_NAMES];	/* values are ascending numbers */
	int last[TUNER_MAX_REQUIRE];	/* name that each requirement uses */
	bool has_now;
	struct tuner_point now;	/* the node's */
	bool any;		/* setting is legal */
	double legal;
	bool grid;
	struct tuner_point *list;	/* of a grid, in order */
	size_t nr_list, next;
	struct tuner_trial *trial;	/* in the order of asking */
	size_t nr_trials, cap_trials;
	size_t batch;			/* trials from here on are the last
					 * batch */
	uint32_t *slot;			/* trials by setting, index + 1 */
	size_t nr_slots;
	struct rng rng;
	/* of the model */
	double mean;
	double (*effect)[TUNER_MAX_VALUES + 1];
};

/* Values that a name may have, none included where it is a choice. */
int tuner_choices(const struct tuner *t, int name);
/* The k-th of them. */
unsigned char tuner_choice(const struct tuner *t, int name, int k);
bool tuner_is_legal(const struct tuner *t, const struct tuner_point *p);
bool tuner_was_tried(const struct tuner *t, const struct tuner_point *p);
/* Next setting in order; false after the last.  Begins with tuner_first(). */
void tuner_first(const struct tuner *t, struct tuner_point *p);
bool tuner_following(const struct tuner *t, struct tuner_point *p);
/* A new trial of a setting that was not tried. */
void tuner_add(struct tuner *t, const struct tuner_point *p);

/* ---- tuner_evolve.c ---- */

/* Adds at most TUNER_BATCH trials. */
void tuner_evolve(struct tuner *t);

#endif
