/*
 * Mutants: cheap wrong versions of a user's kernel, which the kernel's own
 * tolerance and inputs have to reject.  One that passes means that the search
 * would sooner or later find it and call it a speedup.  Text to text, no I/O;
 * the judge runs them like any candidate.
 *
 * The kernel's own function is kept under another name where the mutant needs
 * it, and a function of the declared prototype is put behind it.
 */
#ifndef AGENTS_AUDIT_MUTANT_H
#define AGENTS_AUDIT_MUTANT_H

#include "core/kernel.h"
#include "core/source.h"

enum mutant {
	MUTANT_ZERO,		/* outputs are 0 */
	MUTANT_CONSTANT,	/* each output is its mean everywhere (types
				 * other than f32, f64: its middle element) */
	MUTANT_COPY,		/* outputs are a copy of the first input of
				 * their type */
	MUTANT_HALF,		/* the second half repeats the first */
	MUTANT_ROW,		/* every row is the first row */
	MUTANT_FP16,		/* outputs rounded to 11 bits of mantissa */
	MUTANT_BF16,		/* outputs rounded to 8 bits of mantissa */
	MUTANT_MEMO,		/* the first answer, for ever */
	MUTANT_NR
};

/* "zero", "constant", ... */
const char *mutant_name(enum mutant m);
/* What it does, and what it stands for, in a few words. */
const char *mutant_summary(enum mutant m);

/*
 * The sources of the mutant.  ERR_NOTFOUND: it has no meaning for this kernel
 * (no input of an output's type, no second row, no f32 or f64 output), or the
 * kernel's definition was not found in a file that may change; err says
 * which.
 */
int mutant_make(enum mutant m, const struct kernel *k,
		const struct srcset *root, struct srcset *out,
		struct err *err);

#endif
