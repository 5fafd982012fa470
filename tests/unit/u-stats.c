/* needs: core/judge/stats.c core/judge/philox.c */
#include "core/judge/philox.h"
#include "core/judge/stats.h"
#include "tests/unit/tap.h"

static void summaries(void)
{
	static const double v[5] = { 5, 1, 4, 2, 3 };
	static const double far[5] = { 5, 1, 4, 1000, 3 };

	is_near(stats_median(v, 5), 3, 0, "median of five");
	is_near(stats_median(v, 4), 3, 0, "median of four");
	ok(isnan(stats_median(v, 0)), "median of nothing");
	is_near(stats_mean(v, 5), 3, 1e-15, "mean");
	is_near(stats_sd(v, 5), 1.5811388300841898, 1e-12, "deviation");
	is_near(stats_usual_sd(far, 5), 1.4826, 1e-12,
		"what is usual does not mind one launch far off");
	is_near(stats_sd(v, 1), 0, 0, "deviation of one");
}

static void student(void)
{
	/* Printed tables. */
	is_near(stats_t_quantile(0.975, 1), 12.7062, 1e-4, "t 0.975, 1");
	is_near(stats_t_quantile(0.975, 2), 4.302653, 1e-6, "t 0.975, 2");
	is_near(stats_t_quantile(0.995, 11), 3.105807, 1e-6, "t 0.995, 11");
	is_near(stats_t_quantile(0.95, 30), 1.697261, 1e-6, "t 0.95, 30");
	is_near(stats_t_quantile(0.025, 5), -2.570582, 1e-6, "t 0.025, 5");
	is_near(stats_t_quantile(0.975, 1000), 1.962339, 1e-5,
		"t 0.975, 1000");
	is_near(stats_t_cdf(0, 7), 0.5, 1e-12, "half lies below zero");
	is_near(stats_t_cdf(stats_t_quantile(0.991, 2), 2), 0.991, 1e-9,
		"the quantile is the inverse");
}

static void intervals(void)
{
	static const double v[4] = { 0.1, 0.2, 0.1, 0.2 };
	static const double same[4] = { 0.1, 0.1, 0.1, 0.1 };
	struct interval in = stats_interval(v, 4, 0.05, 0);

	is_near(in.mean, 0.15, 1e-12, "mean of the launches");
	is_near(in.high - in.mean, 3.182446 * 0.0577350269 / 2, 1e-6,
		"half its width");
	in = stats_interval(same, 4, 0.05, 0.01);
	is_near(in.high - in.mean, 3.182446 * 0.01 / 2, 1e-6,
		"agreement is held to the floor");
	in = stats_interval(same, 1, 0.05, 0.01);
	is_near(in.low, 0.06, 1e-12, "one launch: four floors");
	ok(isnan(stats_interval(v, 0, 0.05, 0.01).mean), "none: nothing");
}

static void signs(void)
{
	static const double v[8] = { 1, 1, 1, 1, 1, 1, 1, 1 };
	static const double one[8] = { 1, 1, 1, -1, 1, 1, 1, 1 };
	static const double zero[4] = { 0, 0, 0, 0 };

	is_near(stats_sign_p(v, 8), 2.0 / 256, 1e-12, "eight agree");
	is_near(stats_sign_p(one, 8), 18.0 / 256, 1e-12, "one does not");
	is_near(stats_sign_p(zero, 4), 1, 1e-12, "ties say nothing");
}

static void looks(void)
{
	static const double winner[3] = { 0.20, 0.21, 0.19 };
	static const double loser[3] = { -0.02, -0.021, -0.02 };
	static const double poor[2] = { -0.2, -0.25 };
	static const double awful[1] = { -1.2 };
	static const double even[6] = { 0.001, -0.001, 0, 0.002, -0.002, 0 };
	static const double tiny[12] = {
		.008, .008, .008, .008, .008, .008, .008, .008, .008, .008,
		.008, .008
	};
	struct interval in;

	is_int(stats_look(winner, 2, 0.003, 0.01, &in), LOOK_MORE,
	       "no look at two launches");
	is_int(stats_look(winner, 3, 0.003, 0.01, &in), LOOK_FASTER,
	       "20 %% is seen at the first look");
	is_int(stats_look(winner, 3, 0.1, 0.01, &in), LOOK_MORE,
	       "not on a machine of 10 %% noise");
	is_int(stats_look(loser, 3, 0.003, 0.01, &in), LOOK_SLOWER,
	       "a loser of 2 %%");
	is_int(stats_look(poor, 2, 0.003, 0.01, &in), LOOK_SLOWER,
	       "a loser of 20 %% needs no look");
	is_int(stats_look(awful, 1, 0.003, 0.01, &in), LOOK_SLOWER,
	       "nor one of a factor of three a second launch");
	is_int(stats_look(even, 6, 0.003, 0.01, &in), LOOK_SAME,
	       "nothing to be had");
	is_int(stats_look(tiny, 12, 0.001, 0.01, &in), LOOK_SAME,
	       "0.8 %% is less than may be claimed");
}

static void confirms(void)
{
	static const double good[12] = {
		.05, .06, .05, .04, .05, .05, .06, .05, .04, .05, .05, .05
	};
	static const double mixed[12] = {
		.5, .5, -.01, -.01, -.01, .5, .5, .5, -.01, .5, .5, .5
	};
	static const double five[5] = { .1, .1, .1, .1, .1 };
	static const double four[5] = { .1, .1, .1, .1, -.001 };
	struct interval in;

	is_int(stats_confirm(good, 12, 0.003, 0.01, &in), LOOK_FASTER,
	       "5 %% in all twelve");
	is_int(stats_confirm(mixed, 12, 0.003, 0.01, &in), LOOK_SAME,
	       "a mean carried by some is not enough");
	is_int(stats_confirm(five, 5, 0.003, 0.01, &in), LOOK_FASTER,
	       "five that agree");
	is_int(stats_confirm(four, 5, 0.003, 0.05, &in), LOOK_SAME,
	       "of five, one does not");
	is_int(stats_confirm(five, 2, 0.003, 0.01, &in), LOOK_MORE,
	       "two are too few");
}

static void guards(void)
{
	static const double honest[3] = { 0.50, 0.48, 0.52 };
	static const double merged[3] = { 0.01, 0.00, -0.02 };
	static const double noisy[3] = { 0.01, 0.49, 0.00 };
	static const double none[3] = { NAN, NAN, NAN };
	double batch[3] = { 0.51, 0.50, 0.49 };

	ok(!stats_guard(batch, honest, 3), "batches that gain what calls do");
	ok(!stats_guard(batch, noisy, 3), "one launch that does not agree");
	ok(!stats_guard(batch, none, 3), "no single calls, no evidence");
	ok(!stats_guard(batch, merged, 2), "nor from two launches");
	ok(stats_guard(batch, merged, 3) && batch[2] == merged[2],
	   "calls merged into a batch count one by one");
}

/* Twelve 32-bit words: near enough to a normal for rates. */
static double noise(struct dice *d)
{
	double sum = 0;
	int i;

	for (i = 0; i < 12; i++)
		sum += dice_u32(d) * 0x1p-32;
	return sum - 6;
}

static double rate(double shift, enum look verdict)
{
	static const struct seed s = { { 11, 12, 13, 14 } };
	struct dice d;
	int run, n, hits = 0, runs = 2000;

	dice_init_from(&d, &s, 1);
	for (run = 0; run < runs; run++) {
		double v[LOOK_LAST];
		enum look look = LOOK_MORE;
		struct interval in;

		for (n = 0; n < LOOK_LAST && look == LOOK_MORE; n++) {
			v[n] = shift + 0.015 * noise(&d);
			look = stats_look(v, n + 1, 0.003, 0, &in);
		}
		hits += look == verdict;
	}
	return (double)hits / runs;
}

int main(void)
{
	double p;

	summaries();
	student();
	intervals();
	signs();
	looks();
	confirms();
	guards();
	p = rate(0, LOOK_FASTER);
	ok(p < 0.035, "equal kernels are seldom called faster (%.3f)", p);
	p = rate(0.05, LOOK_FASTER);
	ok(p > 0.95, "5 %% is found as a rule (%.3f)", p);
	p = rate(-0.05, LOOK_SLOWER);
	ok(p > 0.95, "so is a loss of 5 %% (%.3f)", p);
	return tap_done();
}
