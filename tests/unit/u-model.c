/* needs: agents/builtin/model.c core/rng.c */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agents/builtin/model.h"
#include "core/rng.h"
#include "tests/unit/tap.h"

/* Three loci of 3, 4 and 2 values beside "not set"; the second is ordered. */
static double place[] = { 4, 3, 4, 5, 6 };
static double none[] = { 0, 0, 0, 0, 0 };
static double hope[] = { 0, 1.0, 0, 0, 0 };
static const struct model_locus loci[] = {
	{ 3, false, NULL, none }, { 4, true, place, none },
	{ 2, false, NULL, hope },
};

static struct model *fresh(void)
{
	return model_new(loci, 3);
}

static bool near(double x, double y, double within)
{
	return fabs(x - y) <= within;
}

static void test_beliefs(void)
{
	struct model *m = fresh();
	const int unset[] = { -1, -1, -1 }, hoped[] = { -1, -1, 0 };

	model_fit(m);
	ok(near(model_mean(m, unset), 0, 1e-12), "nothing tried: no gain");
	ok(near(model_mean(m, hoped), 1, 1e-12), "but what is believed");
	ok(model_sd(m, unset) > 0.3, "and it may be far off");
	ok(model_improvement(m, 1, 0.5) > model_improvement(m, 0, 0.5),
	   "more of what promises more");
	ok(model_improvement(m, 0, 1) > model_improvement(m, 0, 0.5),
	   "more of what is less known");
	ok(model_improvement(m, -3, 0.1) < 1e-9, "nothing of what is slow");
	model_free(m);
}

/* Effects that add up are known of settings never tried. */
static void test_sum(void)
{
	struct model *m = fresh();
	const int a[] = { 0, -1, -1 }, b[] = { -1, -1, 1 }, both[] = { 0, -1, 1 };
	const int unset[] = { -1, -1, -1 }, c[] = { 1, -1, -1 };
	const int cb[] = { 1, -1, 1 };

	model_add(m, unset, 0);
	model_add(m, a, 0.5);
	model_add(m, b, 0.4);
	model_add(m, c, -0.5);
	model_fit(m);
	ok(near(model_mean(m, a), 0.5, 0.03), "what was seen is believed");
	ok(model_mean(m, both) > 0.55 && model_mean(m, both) < 1,
	   "two gains add up");
	ok(near(model_mean(m, cb), -0.1, 0.2), "as do a gain and a loss");
	ok(model_sd(m, a) < 0.05, "what was seen is known");
	ok(model_sd(m, both) > model_sd(m, a), "what was not, is not");
	model_free(m);
}

/* A number tells of its neighbours, less of those far away. */
static void test_order(void)
{
	struct model *m = fresh();
	const int low[] = { -1, 0, -1 }, next[] = { -1, 1, -1 };
	const int far[] = { -1, 3, -1 };

	model_add(m, low, 0.8);
	model_fit(m);
	ok(model_mean(m, next) > model_mean(m, far) + 0.02,
	   "the next number is like it");
	ok(model_sd(m, next) < model_sd(m, far), "and better known");
	model_free(m);
}

static void test_pending(void)
{
	struct model *m = fresh(), *n = fresh();
	const int a[] = { 0, -1, -1 }, b[] = { 1, -1, -1 };

	model_add(m, a, 0.5);
	model_add(n, a, 0.5);
	model_add_pending(n, b);
	model_fit(m);
	model_fit(n);
	ok(near(model_mean(m, b), model_mean(n, b), 0.02),
	   "under way: as it is expected");
	ok(model_sd(n, b) < model_sd(m, b) / 2, "and not tried again");
	model_free(m);
	model_free(n);
}

/* What is hidden: three effects and one that only two make together. */
static double truth(const int *x)
{
	static const double first[] = { 0, 0.3, -0.2, 0.1 };

	return first[x[0] + 1] - 0.1 * fabs(place[x[1] + 1] - 5) +
	       (x[2] == 1 ? 0.2 : 0) + (x[0] == 2 && x[2] == 0 ? 0.6 : 0);
}

/* Tries until the best of all 60 is found; returns how many it took. */
static int tries_to_best(uint64_t seed, bool by_chance)
{
	int all[60][3], order[60], nr = 0, best = 0, tried = 0;
	bool was[60] = { false };
	struct rng rng;

	for (int i = -1; i < 3; i++)
		for (int k = -1; k < 4; k++)
			for (int j = -1; j < 2; j++) {
				const int x[] = { i, k, j };

				memcpy(all[nr++], x, sizeof(x));
			}
	for (int i = 0; i < nr; i++)
		if (truth(all[i]) > truth(all[best]))
			best = i;
	rng_init(&rng, seed);
	for (int i = 0; i < nr; i++)
		order[i] = i;
	for (int i = nr; i > 1; i--) {
		int k = (int)rng_below(&rng, (uint64_t)i), t = order[i - 1];

		order[i - 1] = order[k];
		order[k] = t;
	}
	while (!was[best]) {
		struct model *m = fresh();
		double most = -1;
		int next = -1;

		for (int i = 0; i < nr; i++)
			if (was[i])
				model_add(m, all[i], truth(all[i]));
		model_fit(m);
		for (int i = 0; i < nr; i++) {
			int k = order[i];
			double gain = was[k] ? -1 : by_chance ? 0 :
				model_improvement(m, model_mean(m, all[k]),
						  model_sd(m, all[k]));

			if (gain > most) {
				most = gain;
				next = k;
			}
		}
		was[next] = true;
		tried++;
		model_free(m);
	}
	return tried;
}

static void test_search(void)
{
	int model = 0, chance = 0;

	for (uint64_t seed = 1; seed <= 10; seed++) {
		model += tries_to_best(seed, false);
		chance += tries_to_best(seed, true);
	}
	printf("# tries to the best of 60, sum of 10: %d, by chance %d\n", model,
	     chance);
	ok(model * 2 < chance, "the best is found in half of what chance takes");
}

static void test_many(void)
{
	struct model *m = fresh(), *n = fresh();
	struct rng rng;

	rng_init(&rng, 7);
	for (int i = 0; i < 3 * MODEL_MAX_POINTS; i++) {
		int x[] = { (int)rng_below(&rng, 4) - 1,
			    (int)rng_below(&rng, 5) - 1,
			    (int)rng_below(&rng, 3) - 1 };

		model_add(m, x, truth(x));
		model_add(n, x, truth(x));
	}
	model_fit(m);
	model_fit(n);
	{
		const int x[] = { 2, 2, 0 };

		ok(near(model_mean(m, x), truth(x), 0.1),
		   "of many the best and the latest tell enough");
		ok(!(model_mean(m, x) < model_mean(n, x)) &&
		   !(model_mean(m, x) > model_mean(n, x)) &&
		   !(model_sd(m, x) < model_sd(n, x)), "equal input, equal output");
	}
	model_free(m);
	model_free(n);
	m = model_new(NULL, 0);
	model_add(m, NULL, 1);
	model_add(m, NULL, 1);
	model_fit(m);
	ok(near(model_mean(m, NULL), 1, 0.1), "no locus: one setting");
	model_free(m);
	model_free(NULL);
}

int main(void)
{
	test_beliefs();
	test_sum();
	test_order();
	test_pending();
	test_search();
	test_many();
	return tap_done();
}
