/*
 * Running maxima (and minima) of floats in loops, "if (x[i] > m) m = x[i]" or
 * "m = fmaxf(m, x[i])".  Compilers vectorise these only if there is no NaN;
 * as integers in the same order they vectorise always.
 */
#ifndef AGENTS_BUILTIN_MAXLOOP_H
#define AGENTS_BUILTIN_MAXLOOP_H

#include "agents/builtin/strategy.h"

#define MAXLOOP_MAX 32

struct maxloop {
	struct cloop loop;
	uint32_t first, last;	/* the statement */
	uint32_t var;		/* a token that names the maximum */
	uint32_t from, to;	/* the expression that is compared */
	bool is_min;
	bool by_compare;	/* a NaN that is there stays: no fmaxf */
};

/* At most MAXLOOP_MAX, in order; returns how many. */
size_t maxloop_find(const struct site *s, struct maxloop *out);
void maxloop_apply(const struct site *s, struct emit *e);

#endif
