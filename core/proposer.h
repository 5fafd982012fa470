/*
 * What makes attempts.  `builtin` is agents/builtin/; the registry of names
 * is agents/registry.c, handed to the search by cmd/, since core knows none.
 */
#ifndef CORE_PROPOSER_H
#define CORE_PROPOSER_H

#include <stdbool.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/err.h"
#include "core/kernel.h"
#include "core/oid.h"
#include "core/prior.h"
#include "core/source.h"
#include "core/usage.h"

enum propose_how {
	PROPOSE_BEST,		/* the step that is believed in most */
	PROPOSE_DRAW,		/* one step or a few, drawn by the seed: the
				 * likelier the more it is believed in */
	PROPOSE_SAMPLE,		/* a whole version at one go, drawn by the seed
				 * as if there were no parent */
	PROPOSE_LEARN		/* what the versions in `tried` make most
				 * promising, however far from the parent; who
				 * cannot learn takes it as PROPOSE_BEST */
};

struct tried {			/* a version of the origin */
	const char *recipe;
	double score;		/* ln speedup over the root; NAN: it failed */
	bool pending;		/* planned in this round: no score yet */
};

struct propose_ask {
	enum propose_how how;
	const struct kernel *kernel;
	/* The sources that the recipe is replayed on: those of the nearest
	 * ancestor without a recipe. */
	const struct srcset *origin;
	const char *recipe;		/* the parent's; "" for the origin */
	uint64_t seed;			/* of this step: all randomness */
	uint32_t step;
	double parent_speedup;		/* estimated, over the root */
	int parent_steps;		/* of the parent's plan still to do */
	/* What steps gained so far, here and elsewhere; NULL: nothing. */
	const struct prior *prior;
	/* PROPOSE_LEARN: in the order of steps. */
	const struct tried *tried;
	size_t nr_tried;
	/* True for a state that is in the graph or in this round. */
	bool (*seen)(void *ctx, const struct oid *state);
	void *seen_ctx;
	/*
	 * Told of each call of a model when its answer is there, before the
	 * answer is used: it is written down for good.  An error ends the
	 * attempt.
	 */
	int (*used)(void *ctx, const struct usage *one, struct err *err);
	void *used_ctx;
};

struct proposal {
	struct srcset source;		/* the whole state */
	char *recipe;			/* replays it on the origin; may be "" */
	char *strategy;			/* the strategies that this step
					 * changed, "restrict+vecmath" */
	char *subject;			/* of the commit, at most 72 bytes */
	struct buf plan;		/* Markdown: what, why, expected effect */
	double expect;			/* expected ratio to the parent */
	int steps;			/* that its plan still has after this
					 * one; 0: it is a whole */
};
/* A proposal with nothing in it. */
void proposal_init(struct proposal *p);
void proposal_release(struct proposal *p);

/*
 * The settings that a proposer can give one version: loci, each with values of
 * which at most one is set.  A setting is an array of nr ints: the index of
 * the value, or -1: the locus is not set.
 */
struct locus_values {
	char *name;		/* "vw", "TILE" */
	struct strv values;	/* gene or word as in a recipe: "vw(512)",
				 * "TILE=32" */
	int now;		/* index that the recipe has set, or -1 */
	bool needed;		/* -1 is not a choice */
	bool tunable;		/* a number that is tuned, not a rewrite */
};
struct space {
	struct locus_values *v;
	size_t nr, cap;
};
#define SPACE_INIT { NULL, 0, 0 }
void space_release(struct space *s);
/* Settings of all loci together; 1e18 at most. */
double space_size(const struct space *s);

struct proposer {
	const char *name, *summary;
	bool spends;		/* its attempts use tokens and money */
	/*
	 * 0: *out is a state that seen() did not know.  ERR_NOTFOUND: nothing
	 * untried is left from this parent, however it is asked.
	 * ERR_PROPOSAL: this attempt came to nothing (a model's answer was of
	 * no use); it counts, and out->plan says why.  Others are errors.
	 */
	int (*propose)(const struct propose_ask *ask, struct proposal *out,
		       struct err *err);
	/* Optional.  Replays a recipe: fills out->source. */
	int (*apply)(const struct kernel *k, const struct srcset *origin,
		     const char *recipe, struct srcset *out, struct err *err);
	/* Optional.  Adds what every step of a recipe does to the origin, and
	 * why: Markdown for people. */
	int (*explain)(const struct kernel *k, const struct srcset *origin,
		       const char *recipe, struct buf *out, struct err *err);
	/* Optional.  Recipes made smaller by one step each, for the
	 * minimiser; appended to out. */
	int (*shrink)(const char *recipe, struct strv *out, struct err *err);
	/*
	 * Optional.  Adds one recipe out of two of one origin: the steps of
	 * both, in an order that can be replayed; where they set one thing
	 * differently the seed decides.  ERR_NOTFOUND: nothing comes of it
	 * but one of the two.
	 */
	int (*cross)(const struct kernel *k, const struct srcset *origin,
		     const char *a, const char *b, uint64_t seed,
		     struct buf *out, struct err *err);
	/* Optional.  One line each: which strategies cannot be used on these
	 * sources, and why. */
	void (*unfit)(const struct kernel *k, const struct srcset *origin,
		      struct strv *out);
	/* Optional.  Adds the shape of the entry's loop nest, one word of
	 * [a-z0-9-]: kernels of one shape take to the same strategies. */
	void (*shape)(const struct kernel *k, const struct srcset *origin,
		      struct buf *out);
	/* Optional.  The settings of versions of this origin, as they stand
	 * in a recipe; *out is to be released in any case. */
	int (*space)(const struct kernel *k, const struct srcset *origin,
		     const char *recipe, struct space *out, struct err *err);
	/* Optional, with space.  Adds the recipe of a setting, in its normal
	 * form; genes of `recipe` that are no locus stay. */
	int (*compose)(const struct space *s, const int *setting,
		       const char *recipe, struct buf *out, struct err *err);
	/*
	 * Optional.  What one attempt is expected to use, before it is made:
	 * tokens of all kinds, and US dollars.  NULL: nothing.
	 */
	void (*estimate)(const struct kernel *k, int64_t *tokens,
			 double *cost);
};

#endif
