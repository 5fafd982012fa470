/*
 * From times to verdicts: a launch is the unit of replication, its score the
 * median log-ratio of its pairs; intervals are t over launches, with a floor
 * for the standard deviation, so that a lucky agreement claims nothing.
 */
#ifndef CORE_JUDGE_STATS_H
#define CORE_JUDGE_STATS_H

#include <stdbool.h>

#define STATS_MAX_LAUNCHES 48

struct interval {
	double mean, low, high;
};

double stats_median(const double *v, int n);	/* NAN if n is 0 */
double stats_mean(const double *v, int n);
double stats_sd(const double *v, int n);	/* n - 1; 0 if n < 2 */
/* Median distance from the median, scaled to a deviation: what is usual, not
 * moved by one launch that met a busy machine. */
double stats_usual_sd(const double *v, int n);
/* Distribution of Student's t and its inverse; df >= 1, 0 < p < 1. */
double stats_t_cdf(double t, int df);
double stats_t_quantile(double p, int df);
/*
 * mean +- t(n-1, 1-alpha/2) max(sd, floor) / sqrt(n).  One launch has no
 * spread of its own: then four floors either way.
 */
struct interval stats_interval(const double *v, int n, double alpha,
			       double floor_sd);
/* Two-sided exact sign test; zeros are left out. */
double stats_sign_p(const double *v, int n);

/*
 * Merging the calls of a batch must gain nothing.  True when in n launches
 * the batches gained more than single calls did (log-ratios): by 1.3 times in
 * nearly all of them; or these keep less than half of the gain: in at least
 * six launches, or, of one under 1.3 times, surely.  Then batch[] is replaced
 * by single[].
 */
bool stats_guard(double *batch, const double *single, int n);

enum look { LOOK_MORE, LOOK_SLOWER, LOOK_SAME, LOOK_FASTER };

#define LOOK_ALPHA 0.018	/* at each of four looks: 4.2 % in all */
#define LOOK_LAST 12
/*
 * The decision after n launches of a screening (v: log-ratios, positive:
 * the candidate is faster).  Looks are at 3, 6, 9 and 12; a clear loser is
 * dropped sooner, since dropping claims nothing.  claim: the smallest
 * log-ratio that may be called faster.
 */
enum look stats_look(const double *v, int n, double floor_sd, double claim,
		     struct interval *out);
/*
 * The decision of a confirmation: interval at alpha, and the signs of the
 * launches must bear it out.
 */
enum look stats_confirm(const double *v, int n, double floor_sd,
			double alpha, struct interval *out);

#endif
