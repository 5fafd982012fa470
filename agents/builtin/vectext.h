/*
 * The single-precision functions that strategy vecmath puts into a source:
 * without branches and without calls, so that loops around them vectorise;
 * NaN and infinities as libm has them, under any floating-point options, since
 * they are told apart by integer operations.  Every name in the text begins
 * with mk_ or MK_, so no macro of the file it goes to can change it.
 */
#ifndef AGENTS_BUILTIN_VECTEXT_H
#define AGENTS_BUILTIN_VECTEXT_H

#include <stdint.h>

#include "core/buf.h"

struct vecfunc {
	const char *name;	/* in a recipe: "exp" */
	const char *cname;	/* in the source: "expf" */
	const char *what;	/* for people: "the exponential" */
};

/* Numbered 0 to VEC_NR - 1; a set of them is a mask of 1u << number. */
#define VEC_NR 12
#define VEC_MAXLOOP 11		/* the one that is not a function, below */
#define VEC_FIRST VEC_NR	/* with VEC_MAXLOOP: mk_first too */
extern const struct vecfunc vecfunc[VEC_NR];

/* -1 if there is none of that name, in a recipe or in the source. */
int vecfunc_by_name(const char *name);
int vecfunc_by_cname(const char *cname, size_t len);

/*
 * Adds the definitions of the functions in the mask and what they need, and a
 * macro for each that puts it in the place of its namesake.  VEC_MAXLOOP has
 * no macro: it defines mk_key, mk_most and mk_unkey, by which the maximum of
 * floats becomes the maximum of integers.
 */
void vectext_add(unsigned mask, struct buf *out);

#endif
