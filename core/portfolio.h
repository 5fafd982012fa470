/*
 * Several searches on one budget: which of them makes the next round.  A pure
 * function of what each has done, by attempts alone, so that a run that is
 * halted and resumed shares its budget as one that was not.
 */
#ifndef CORE_PORTFOLIO_H
#define CORE_PORTFOLIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/graph.h"

struct share_round {		/* one round of a search */
	uint32_t attempts;
	double best;		/* ln of the highest confirmed speedup so far,
				 * at its end */
};

struct share {			/* one search */
	bool over;		/* nothing is left to do */
	bool cut;		/* stopped in the middle of a round, which comes
				 * first */
	double left;		/* ln: the most that can still be gained, by the
				 * roof; INFINITY if that is not known */
	struct share_round *round;
	size_t nr_rounds;
	uint64_t before;	/* attempts of earlier budgets */
};

/*
 * The search that goes on: what is cut; then what has had no attempt of this
 * budget yet; then what has had less than PORTFOLIO_FLOOR of a fair share of
 * it; then the one with the
 * highest expected gain an attempt, recent rounds weighing more, at most what
 * is left of it.  Ties: fewer attempts, then the first.  -1: all are over.
 */
#define PORTFOLIO_FLOOR 0.25
int portfolio_next(const struct share *s, size_t nr);
/* The expected ln gain of one more attempt: what recent ones gained, and a
 * hope that is the less the more attempts there were. */
double portfolio_gain(const struct share *s);
uint64_t portfolio_attempts(const struct share *s);
/* A new budget begins: what was made before has no part in its shares. */
void portfolio_anew(struct share *s);

/*
 * The rounds of a graph, of `size` attempts each, and what is left by the roof
 * that its champion was measured against.  The caller frees s->round, which is
 * replaced; over, cut and before stay as they are.
 */
void portfolio_read(struct share *s, const struct graph *g, uint32_t size);

#endif
