/*
 * Kernels whose speed is known, to judge a judge with: each element is a
 * chain of dependent multiplications by an argument that is 1, so a call
 * takes as long as its chain is, whatever the compiler does, and two lengths
 * make two kernels of equal results and a known ratio.
 */
#ifndef CORE_TRIAL_H
#define CORE_TRIAL_H

#include "core/kernel.h"
#include "core/source.h"

#define TRIAL_LENGTH 40		/* elements of a call; one chain through all */

/* Steps an element for which a call takes about this long, by the processor
 * time of a chain run here and now. */
int trial_steps(double call_us);
/* The kernel's section, as text of a `.maxkernel`; cc: gcc or clang. */
void trial_section(struct buf *out, const char *cc);
/*
 * Its sources.  nr: of the variant, which makes another state of it; pad:
 * statements of dead code before the kernel, which move it to another place.
 * *out is made anew.
 */
void trial_source(struct srcset *out, int steps, unsigned nr, int pad);

/* Kernels that cheat at it: a judge must reject each. */
struct trial_cheat {
	const char *name, *summary;
	const char *text;	/* of its one file */
};
extern const struct trial_cheat trial_cheats[];
extern const size_t trial_nr_cheats;
void trial_cheat_source(struct srcset *out, const struct trial_cheat *c);

#endif
