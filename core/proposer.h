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
#include "core/source.h"

struct propose_ask {
	const struct kernel *kernel;
	/* The sources that the recipe is replayed on: those of the nearest
	 * ancestor without a recipe. */
	const struct srcset *origin;
	const char *recipe;		/* the parent's; "" for the origin */
	uint64_t seed;			/* of this step: all randomness */
	double parent_speedup;		/* estimated, over the root */
	/* True for a state that is in the graph or in this round. */
	bool (*seen)(void *ctx, const struct oid *state);
	void *seen_ctx;
};

struct proposal {
	struct srcset source;		/* the whole state */
	char *recipe;			/* replays it on the origin; may be "" */
	char *strategy;			/* the strategies that this step
					 * changed, "restrict+vecmath" */
	char *subject;			/* of the commit, at most 72 bytes */
	struct buf plan;		/* Markdown: what, why, expected effect */
	double expect;			/* expected ratio to the parent */
};
void proposal_release(struct proposal *p);

struct proposer {
	const char *name, *summary;
	/*
	 * 0: *out is a state that seen() did not know.  ERR_NOTFOUND: nothing
	 * untried is left from this parent.  Others are errors.
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
};

#endif
