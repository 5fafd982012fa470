/*
 * What the judge says of one kernel state: the verdict and its numbers.
 * Times are nanoseconds a call; rates are 1e9 a second; ratios are plain
 * (2.0 = twice as fast); NAN stands for "not measured" and prints as null.
 */
#ifndef CORE_RECORD_H
#define CORE_RECORD_H

#include <stdbool.h>
#include <stddef.h>

#include "core/buf.h"

/* Raised whenever a change of the judge could change a verdict. */
#define JUDGE_EPOCH 2

enum verdict {
	V_NONE,			/* not judged yet */
	V_BUILD_FAIL, V_GATE_FAIL, V_CRASH, V_TIMEOUT, V_WRONG, V_CHEAT,
	V_TOO_GOOD, V_SLOWER, V_SAME, V_FASTER, V_CONFIRMED, V_NO_VERDICT,
	V_NO_PROPOSAL, V_DUP,
	V_NR
};
const char *verdict_name(enum verdict v);	/* "build-fail" */
int verdict_parse(const char *name);		/* -1: unknown */
/* slower same faster confirmed: built and right, with a time. */
bool verdict_is_timed(enum verdict v);

struct shape_result {		/* one shape, of a confirmation or screening */
	char *shape;		/* "M=500 N=1000"; "" if there is no dim */
	double time_ns, baseline_ns;
	double speedup, ci_low, ci_high;	/* over the baseline, 95 % */
	double flops, bytes;	/* of one call */
	double gflops, gbs;
	double roof;		/* share of the roof, 0 to 1 and a bit */
	bool holdout;
};

void shape_result_init(struct shape_result *s);	/* numbers are NAN */

struct record {
	enum verdict verdict;
	double lr;		/* ln(time of the champion / own), geometric
				 * mean over the timed shapes */
	double lr_low, lr_high;
	double est_speedup;	/* over the root: from lr and the champion's,
				 * or measured by a confirmation */
	double speedup, ci_low, ci_high;	/* confirmed, over the baseline */
	double vs_parent, vs_rival, vs_best_flags;
	double time_ns, baseline_ns;	/* geometric means over timed shapes */
	double gflops, gbs, roof;	/* of the first timed shape */
	struct shape_result *shape;	/* timed shapes, then hold-outs */
	size_t nr_shapes;
	bool compiled, correct;
	bool confirming;	/* came of a confirmation, whatever its verdict */
	bool claimed;		/* another worker's word */
	int launches;
	double attempt_s;
	double device_s;	/* of it the device was taken: checks, timing */
	char *error;		/* why not: cleaned, bounded, may be NULL */
	char *host, *device, *sandbox, *oracle, *clock, *compiler, *flags;
	char *against;		/* state id the lr is against, or NULL */
	struct buf samples;	/* raw log-ratios and set hashes, JSON text */
	bool borrowed;		/* the strings are another's: not freed with it */
};

void record_init(struct record *r);	/* numbers are NAN */
void record_release(struct record *r);
/* A deep copy; what `to` held before is not released. */
void record_copy(struct record *to, const struct record *from);

#endif
