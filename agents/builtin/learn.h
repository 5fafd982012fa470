/* What the versions that were tried show of those that were not. */
#ifndef AGENTS_BUILTIN_LEARN_H
#define AGENTS_BUILTIN_LEARN_H

#include "agents/builtin/moves.h"
#include "core/proposer.h"

struct choice {
	int *setting;		/* a value or -1 of each locus */
	double mean, sd;	/* ln speedup over the root to expect */
	double gain;		/* by which it may beat the best */
};

struct learned {
	struct choice *v;	/* most promising first */
	size_t nr, cap;
	size_t nr_tried;	/* that it was learned from */
};

/* Of loci_find() and loci_believe(), and ask->tried.  Of a large space those
 * near what did best, and some by chance. */
void learn_find(struct learned *l, struct moves *m, const struct site *s,
		const struct propose_ask *ask);
void learn_release(struct learned *l);
/* From the recipe that m was made for to a setting; the last of m->change. */
struct move learn_move(const struct choice *c, struct moves *m);

#endif
