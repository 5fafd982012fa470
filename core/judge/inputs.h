/*
 * What stands in the arguments of a call: generators over Philox streams.
 * Argument i of a set uses streams 8i .. 8i+7 of the set's seed, so that any
 * runner can make the same bits.  All arithmetic is in double, one operation
 * at a time, then rounded to the element type.
 *
 *	unit(n)		word n of the stream >> 8, times 2^-24; f64: 53 bits
 *			of words 2n, 2n+1
 *	uniform(a,b)	a + (b - a) * unit
 *	normal(m,s)	the sum of the eight 16-bit halves of block n, less
 *			its mean 262140, over its deviation: within 4.9 s
 *
 * A regime varies the contents within the declared support; special values
 * are for check calls only, since they may change the work that is done.
 */
#ifndef CORE_JUDGE_INPUTS_H
#define CORE_JUDGE_INPUTS_H

#include "core/judge/philox.h"
#include "core/kernel.h"

enum regime {
	REGIME_PLAIN,
	REGIME_MIXED,		/* uniform: some at the ends; normal: runs of
				 * x1, x2^-8 and x4 */
	REGIME_ENDS,		/* uniform: ends only; normal: one sign */
	REGIME_TIES,		/* few different values */
	REGIME_NR
};
const char *regime_name(enum regime r);

enum special {
	SPECIAL_NONE,
	SPECIAL_NAN, SPECIAL_INF, SPECIAL_NINF,
	SPECIAL_NINF_ROWS,	/* runs of -Inf, whole rows among them */
	SPECIAL_DENORMAL, SPECIAL_ZERO,	/* +0 and -0 */
	SPECIAL_NR
};
const char *special_name(enum special s);

/* How an array lies: rows of cols elements, stride elements apart. */
struct rows {
	int64_t elems, cols, stride;
};
int rows_of(const struct kernel *k, int arg, const struct shape *s,
	    struct rows *out, struct err *err);

/* True for arguments that the judge fills: all but out and ret. */
bool input_is_read(const struct arg *a);
/*
 * Fills the elements of an argument (dims and scalars too) in its native
 * type.  aux: the folder that file(path) is below, or NULL.
 */
int input_fill(void *data, const struct kernel *k, int arg,
	       const struct shape *s, const struct seed *seed,
	       enum regime regime, const char *aux, struct err *err);
/* Plants special values in a float array. */
int input_plant(void *data, const struct kernel *k, int arg,
		const struct shape *s, const struct seed *seed,
		enum special special, struct err *err);

#endif
