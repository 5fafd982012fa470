/*
 * What is known of strategies from other kernels and from this search: how
 * often each was tried on a nest of some shape for a target, and what it
 * gained.  A proposer orders its steps by it; what failed on a shape comes
 * later there.
 *
 * The key of a step is its gene as it stands in a recipe ("restrict",
 * "vw(512)", "ccopt(unroll-loops)"); a gene whose words are "KEY=value" counts
 * each word for itself ("TILE=32").  A shape is a word that the proposer gives
 * (proposer.shape), a target as in the section ("c").  A KEY is a C identifier,
 * so "vect-cost-model=unlimited" is none.
 *
 * As text, one line each, sorted:
 *	<target> <shape> <gene> <tried> <failed> <won> <sum of ln gains>
 * Lines that begin with '#' are skipped.
 */
#ifndef CORE_PRIOR_H
#define CORE_PRIOR_H

#include "core/buf.h"
#include "core/err.h"
#include "core/graph.h"

#define PRIOR_MAX_TEXT (64u << 10)	/* what a spec can hold */
#define PRIOR_MAX_WORD 96
#define PRIOR_WON 0.02		/* ln: a smaller gain is no success */
#define PRIOR_FAILED (-0.5)	/* ln gain that a failed attempt counts as:
				 * about what a wasted attempt costs */

struct prior_count {
	char *target, *shape, *gene;
	uint32_t tried;		/* timed or failed */
	uint32_t failed;	/* no time: build-fail, wrong, crash, ... */
	uint32_t won;		/* over PRIOR_WON faster than its parent */
	double gain;		/* sum of ln(speedup over the parent) of those
				 * that were timed, shared among the genes of
				 * a step that changed several */
};

struct prior {			/* sorted by target, shape, gene */
	struct prior_count *v;
	size_t nr, cap;
};
#define PRIOR_INIT { NULL, 0, 0 }

void prior_release(struct prior *p);
void prior_copy(struct prior *to, const struct prior *from);
/* Lines that cannot be read are an error that names the line; what *p held is
 * not released, on an error it is empty. */
int prior_parse(struct prior *p, const char *text, size_t len,
		struct err *err);
/* From a file; one that isn't there is empty. */
int prior_load(struct prior *p, const char *path, struct err *err);
/* At most max bytes: the lines with the fewest tries go first. */
void prior_format(const struct prior *p, size_t max, struct buf *out);
/* Adds all counts of one to another. */
void prior_add(struct prior *to, const struct prior *from);
/* The keys of a recipe's genes, in its order; those over PRIOR_MAX_WORD are
 * left out. */
void prior_keys(const char *recipe, struct strv *out);
/*
 * Counts the steps after `after` up to `upto` of a graph, in their order, all
 * on nests of this shape: of nodes, and of those that were pruned, as their
 * spend lines tell.  Only what was measured with a verdict counts, and genes
 * that were made new or other; those that were taken away are not counted.
 * united and claimed nodes count as well.  Of a step that changed several genes
 * and failed only the one is counted that was never timed on this shape; where
 * several never were, none is.  A later confirmation changes scores: counts that
 * decide what is tried next begin at step 0 each time.
 */
void prior_count_graph(struct prior *p, const struct graph *g, uint32_t after,
		       uint32_t upto, const char *target, const char *shape);
/*
 * The ratio to expect of a gene on this shape: the mean of ln(fallback) with
 * the weight of PRIOR_OWN tries, of what is known of this shape with full
 * weight and of other shapes with PRIOR_OTHER of it.  NULL p: fallback.
 */
#define PRIOR_OWN 2.0
#define PRIOR_OTHER 0.25
double prior_gain(const struct prior *p, const char *target,
		  const char *shape, const char *gene, double fallback);
/* How many tries, weighted alike, that rests on; 0: the fallback alone. */
double prior_tries(const struct prior *p, const char *target,
		   const char *shape, const char *gene);
/* It failed on this very shape more often than it was timed. */
bool prior_fails(const struct prior *p, const char *target, const char *shape,
		 const char *gene);

#endif
