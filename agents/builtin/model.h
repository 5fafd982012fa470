/*
 * Which version to try next, from how those that were tried did: a Gaussian
 * process over settings (Rasmussen and Williams, Gaussian Processes for Machine
 * Learning, 2006, chapter 2) and the expected improvement of Jones, Schonlau
 * and Welch (Efficient global optimization, 1998).  Scores are ln speedups.
 *
 * The mean before anything is known is the sum of what is believed of each
 * value.  Two settings are alike by
 *	c^2 + sum over loci of a^2 k(x, y) + p^2 * product of k'(x, y)
 * where k is 1 for equal values and falls with the distance of two numbers
 * (in doublings) where a locus is ordered, and is 0 for other unequal ones: so
 * effects that add up are learned from few tries, and what does not add up
 * from near ones.  a and p are those of a small grid that make what was seen
 * most likely.
 *
 * Plain numbers; the same in every run.
 */
#ifndef AGENTS_BUILTIN_MODEL_H
#define AGENTS_BUILTIN_MODEL_H

#include <stdbool.h>
#include <stddef.h>

#define MODEL_MAX_POINTS 96	/* of more, the best and the latest */

/* A value is -1 (not set) to nr - 1; arrays have nr + 1, of -1 first. */
struct model_locus {
	int nr;
	bool ordered;
	double *place;		/* ordered: log2 of the number */
	double *belief;		/* ln ratio to expect of it, over not set */
};

struct model;
/* Copies the loci. */
struct model *model_new(const struct model_locus *l, size_t nr);
void model_free(struct model *m);	/* NULL is allowed */
/* What came of a setting (nr ints), in the order of trying. */
void model_add(struct model *m, const int *setting, double score);
/* Under way: it counts as if it did as is expected of it. */
void model_add_pending(struct model *m, const int *setting);
/* After all were added, before anything is asked. */
void model_fit(struct model *m);
/* What to expect of a setting: its mean and standard deviation. */
double model_mean(const struct model *m, const int *setting);
double model_sd(const struct model *m, const int *setting);
/* By how much it is expected to beat the best that was tried. */
double model_improvement(const struct model *m, double mean, double sd);

#endif
