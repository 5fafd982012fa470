#include "core/judge/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

#define MERGE_FACTOR 1.3
#define GUARD_ALPHA 0.02	/* for gains under that */
#define GUARD_FLOOR 0.005
#define GUARD_MANY 6

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double stats_median(const double *v, int n)
{
	double *copy, m;

	if (n <= 0)
		return NAN;
	copy = xreallocarray(NULL, (size_t)n, sizeof(*copy));
	memcpy(copy, v, (size_t)n * sizeof(*copy));
	qsort(copy, (size_t)n, sizeof(*copy), by_value);
	m = n % 2 ? copy[n / 2] : (copy[n / 2 - 1] + copy[n / 2]) / 2;
	free(copy);
	return m;
}

double stats_mean(const double *v, int n)
{
	double sum = 0;
	int i;

	for (i = 0; i < n; i++)
		sum += v[i];
	return n ? sum / n : NAN;
}

double stats_sd(const double *v, int n)
{
	double mean = stats_mean(v, n), sum = 0;
	int i;

	if (n < 2)
		return 0;
	for (i = 0; i < n; i++)
		sum += (v[i] - mean) * (v[i] - mean);
	return sqrt(sum / (n - 1));
}

double stats_usual_sd(const double *v, int n)
{
	double m = stats_median(v, n), *far, usual;
	int i;

	if (n < 2)
		return 0;
	far = xreallocarray(NULL, (size_t)n, sizeof(*far));
	for (i = 0; i < n; i++)
		far[i] = fabs(v[i] - m);
	usual = 1.4826 * stats_median(far, n);
	free(far);
	return usual;
}

/* Continued fraction of the incomplete beta function (modified Lentz). */
static double beta_fraction(double a, double b, double x)
{
	const double tiny = 1e-300;
	double c = 1, d = 1 - (a + b) * x / (a + 1), f;
	int i;

	if (fabs(d) < tiny)
		d = tiny;
	d = 1 / d;
	f = d;
	for (i = 1; i <= 500; i++) {
		double even = i * (b - i) * x / ((a + 2 * i - 1) * (a + 2 * i));
		double odd = -(a + i) * (a + b + i) * x /
			     ((a + 2 * i) * (a + 2 * i + 1));
		double step;

		d = 1 + even * d;
		c = 1 + even / c;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = fabs(c) < tiny ? tiny : c;
		f *= d * c;
		d = 1 + odd * d;
		c = 1 + odd / c;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = fabs(c) < tiny ? tiny : c;
		step = d * c;
		f *= step;
		if (fabs(step - 1) < 1e-15)
			break;
	}
	return f;
}

static double incomplete_beta(double a, double b, double x)
{
	double front;

	if (x <= 0)
		return 0;
	if (x >= 1)
		return 1;
	front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) +
		    b * log1p(-x));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(a, b, x) / a;
	return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double stats_t_cdf(double t, int df)
{
	double tail = incomplete_beta(df / 2.0, 0.5, df / (df + t * t)) / 2;

	return t > 0 ? 1 - tail : tail;
}

double stats_t_quantile(double p, int df)
{
	double low = 0, high = 1;
	int i;

	if (p < 0.5)
		return -stats_t_quantile(1 - p, df);
	while (stats_t_cdf(high, df) < p && high < 1e12)
		high *= 2;
	for (i = 0; i < 200 && high - low > 1e-12 * high; i++) {
		double mid = (low + high) / 2;

		if (stats_t_cdf(mid, df) < p)
			low = mid;
		else
			high = mid;
	}
	return (low + high) / 2;
}

struct interval stats_interval(const double *v, int n, double alpha,
			       double floor_sd)
{
	struct interval r = { NAN, NAN, NAN };
	double sd, half;

	if (n < 1)
		return r;
	r.mean = stats_mean(v, n);
	if (n == 1) {
		half = 4 * floor_sd;
	} else {
		sd = fmax(stats_sd(v, n), floor_sd);
		half = stats_t_quantile(1 - alpha / 2, n - 1) * sd / sqrt(n);
	}
	r.low = r.mean - half;
	r.high = r.mean + half;
	return r;
}

double stats_sign_p(const double *v, int n)
{
	double term = 1, sum = 0;
	int plus = 0, minus = 0, total, few, i;

	for (i = 0; i < n; i++) {
		plus += v[i] > 0;
		minus += v[i] < 0;
	}
	total = plus + minus;
	few = plus < minus ? plus : minus;
	for (i = 0; i <= few; i++) {
		sum += term;
		term = term * (total - i) / (i + 1);
	}
	sum = 2 * ldexp(sum, -total);
	return sum < 1 ? sum : 1;
}

/* Single calls keep less than half of what the batches gain, and surely so. */
static bool is_of_batches(double gain, const double *lost, int n)
{
	struct interval in = stats_interval(lost, n, GUARD_ALPHA, GUARD_FLOOR);

	return gain > 0 && in.low > gain / 2;
}

bool stats_guard(double *batch, const double *single, int n)
{
	double d[STATS_MAX_LAUNCHES], gain, lost;
	int i, nr = 0, gained = 0;
	bool far;

	if (n < 3 || n > STATS_MAX_LAUNCHES)
		return false;
	/*
	 * A single call that met noise is no evidence, and one that was not
	 * taken none either; but a kernel that merges only now and then must
	 * not get away with it: a quarter of the launches may disagree.
	 */
	for (i = 0; i < n; i++) {
		if (!isfinite(single[i]))
			continue;
		d[nr] = batch[i] - single[i];
		gained += d[nr++] > log(MERGE_FACTOR) / 2;
	}
	if (nr < 3)
		return false;
	gain = stats_mean(batch, n);
	lost = stats_median(d, nr);
	far = lost > log(MERGE_FACTOR) && gained >= nr - nr / 4;
	/* Of a large gain the single calls must show more than half, however
	 * noisy they are, once there are enough of them; of a small one they
	 * must not surely lack it. */
	if (gain > log(MERGE_FACTOR))
		far = far || (nr >= GUARD_MANY && lost > gain / 2);
	else
		far = far || is_of_batches(gain, d, nr);
	if (!far)
		return false;
	for (i = 0; i < n; i++)
		if (!isfinite(single[i]))
			return false;	/* nothing to put in its place */
	memcpy(batch, single, (size_t)n * sizeof(*batch));
	return true;
}

static bool is_look(int n)
{
	return n == 3 || n == 6 || n == 9 || n >= LOOK_LAST;
}

/* Losers that need no look: all launches say so, and by far. */
static bool is_clear_loser(const double *v, int n)
{
	double mean = stats_mean(v, n);
	int i;

	for (i = 0; i < n; i++)
		if (v[i] >= 0)
			return false;
	return mean < (n == 1 ? -0.35 : -0.105);
}

enum look stats_look(const double *v, int n, double floor_sd, double claim,
		     struct interval *out)
{
	*out = stats_interval(v, n, LOOK_ALPHA, floor_sd);
	if (n > 0 && is_clear_loser(v, n))
		return LOOK_SLOWER;
	if (!is_look(n))
		return LOOK_MORE;
	if (out->high < 0)
		return LOOK_SLOWER;
	if (out->low > 0 && out->mean >= claim)
		return LOOK_FASTER;
	/*
	 * Futility: what shows no gain in three launches, or less than half
	 * a claim in six, is not worth the rest.  Dropping claims nothing.
	 */
	if (out->mean < 0)
		return out->mean < -2 * claim ? LOOK_SLOWER : LOOK_SAME;
	if (out->high < claim || n >= LOOK_LAST ||
	    (n >= 6 && out->mean < claim / 2))
		return LOOK_SAME;
	return LOOK_MORE;
}

enum look stats_confirm(const double *v, int n, double floor_sd, double alpha,
			struct interval *out)
{
	bool signs;

	*out = stats_interval(v, n, alpha, floor_sd);
	if (n < 3)
		return LOOK_MORE;
	/* Under eight launches the test cannot reach 5 %: all must agree. */
	signs = n < 8 ? stats_sign_p(v, n) <= 1.001 * ldexp(2, -n) :
			stats_sign_p(v, n) <= 0.05;
	if (out->high < 0)
		return LOOK_SLOWER;
	return out->low > 0 && signs ? LOOK_FASTER : LOOK_SAME;
}
