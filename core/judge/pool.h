/*
 * The secret input sets of one shape, with their answers.  They grow while
 * oracle time and memory last; no set is drawn twice in a launch; a
 * confirmation adds sets that were never used.
 */
#ifndef CORE_JUDGE_POOL_H
#define CORE_JUDGE_POOL_H

#include "core/judge/oracle.h"

#define POOL_MIN_RINGS 4
#define POOL_MAX_RINGS 24
#define POOL_ORACLE_S 10.0		/* oracle time that a pool may use */
#define POOL_BYTES ((size_t)192 << 20)

struct pool {
	struct oracle *oracle;		/* borrowed */
	const struct shape *shape;	/* borrowed */
	struct set **set;
	int nr, cap;
	size_t bytes, max_bytes;
	double spent_s;			/* oracle and reference, CPU */
	double set_s;			/* what a set costs, all told */
	struct dice dice;
};

void pool_init(struct pool *p, struct oracle *o, const struct shape *s,
	       size_t max_bytes);
void pool_release(struct pool *p);
/*
 * Adds sets until the pool holds want of them, or budget_s more seconds of
 * oracle time are used, or memory is full; at least `least` are there after
 * it.  ERR_FORMAT as oracle_answer().
 */
int pool_grow(struct pool *p, int want, int least, double budget_s,
	      struct err *err);
/* Adds n never-used sets, dropping the most used ones when memory is full. */
int pool_refresh(struct pool *p, int n, struct err *err);
/*
 * A random order of all sets, those never used first when fresh_first is
 * set; the caller takes from its front and says with pool_used() which.
 */
void pool_order(struct pool *p, int *out, bool fresh_first);
void pool_used(struct pool *p, int set);

#endif
