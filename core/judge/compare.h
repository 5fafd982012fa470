/*
 * Is an output right?  Elementwise within atol + rtol * |oracle|, or, where
 * the data was scaled past what the tolerance is for (ref_max is not 0),
 * within 8 times the largest error of the reference itself if that is more,
 * written so that NaN fails; the rms error at most 4 times the reference's
 * own, or the root's where that is more, plus one unit roundoff (wider where there are few elements, since both
 * are then mostly luck); integers exact; NaN and Inf where the reference
 * has them.
 */
#ifndef CORE_JUDGE_COMPARE_H
#define CORE_JUDGE_COMPARE_H

#include "core/judge/inputs.h"

/* What an output should hold. */
struct want {
	const double *value;	/* floats: the oracle's, with the reference's
				 * NaN and Inf; padding of rows included */
	const void *exact;	/* integers: in their type */
	double ref_rms;		/* error of the reference against the oracle,
				 * or of the root where that is more; negative:
				 * no rms rule (native oracle) */
	double ref_max;		/* its largest error; 0: native oracle, or
				 * plain data, which the tolerance is for */
	double rms;		/* of the finite values */
};

struct compare {
	enum dtype type;
	struct rows rows;
	double atol, rtol;
	double rms_factor;	/* 4; under math = strict 1 */
	bool finite;		/* math = finite: where the reference is not
				 * finite anything goes */
};

enum compare_rule {
	RULE_NONE, RULE_TOLERANCE, RULE_RMS, RULE_NONFINITE, RULE_EXACT
};

struct mismatch {
	enum compare_rule rule;
	int64_t elem;		/* the worst; RULE_RMS: of largest error */
	double got, want, err, limit;
	int64_t count;		/* elements that break the rule */
};

void compare_init(struct compare *c, const struct kernel *k, int arg,
		  const struct rows *rows);
/* True if right; else *m says what is not. */
bool compare_full(const struct compare *c, const struct want *w,
		  const void *got, struct mismatch *m);
/* nr elements chosen by d; the rms rule needs all and is left out. */
bool compare_sample(const struct compare *c, const struct want *w,
		    const void *got, int nr, struct dice *d,
		    struct mismatch *m);
/* Sets ref_rms, ref_max and rms of w from what the reference got. */
void compare_reference(enum dtype type, const struct rows *rows,
		       const void *got, struct want *w);
/* "y[3][17] is 2.5, should be 2 (off by 0.5, allowed 0.03)". */
void mismatch_text(struct buf *out, const struct mismatch *m,
		   const struct kernel *k, int arg, const struct shape *s);
/* "y[3][17]" */
void element_text(struct buf *out, const struct kernel *k, int arg,
		  const struct shape *s, int64_t elem);

#endif
