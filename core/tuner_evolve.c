/* Settings of a large space: a seeded evolution, see core/tuner.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/tuner_parts.h"

#define ELITE 8			/* settings that have children */
#define NEIGHBOURS 5		/* of a batch: the rest are children */
#define STRANGERS 1		/* and the last of it */
#define DRAWS 8			/* children that one is chosen from */
#define TRIES 400		/* values or children drawn before giving up */
#define FILLS 16		/* so often for a stranger */
#define FAILED (-0.3)		/* ln under the mean: what does not work */
#define SHRINK 1.0		/* trials' worth of disbelief in a value */
#define SWEEPS 6
#define MODEL_MAX 512		/* trials that the model is made of, the last */

/* ---- the model ---- */

/* How much a trial of value b tells of value a. */
static double kinship(const struct tuner *t, int name, int a, int b)
{
	int d = abs(a - b);

	if (d == 0)
		return 1;
	if (!t->ordered[name] || a == 0 || b == 0)
		return 0;
	return d == 1 ? 0.5 : d == 2 ? 0.2 : 0;
}

static double predict(const struct tuner *t, const struct tuner_point *p)
{
	double sum = t->mean;

	for (int i = 0; i < t->nr; i++)
		sum += t->effect[i][p->v[i]];
	return sum;
}

/* The effects of one name from what the others do not explain. */
static void fit_name(struct tuner *t, int name, const double *left, size_t from,
		     double *before)
{
	double sum[TUNER_MAX_VALUES + 1] = { 0 };
	double nr[TUNER_MAX_VALUES + 1] = { 0 };
	int values = (int)t->o.space->v[name].values.nr;

	for (size_t i = from; i < t->nr_trials; i++) {
		int v = t->trial[i].at.v[name];

		sum[v] += left[i - from] + t->effect[name][v];
		nr[v] += 1;
	}
	for (int a = 0; a <= values; a++) {
		double up = 0, down = SHRINK;

		before[a] = t->effect[name][a];
		for (int b = 0; b <= values; b++) {
			double w = kinship(t, name, a, b);

			up += w * sum[b];
			down += w * nr[b];
		}
		t->effect[name][a] = up / down;
	}
}

static void fit(struct tuner *t)
{
	size_t from = t->nr_trials > MODEL_MAX ? t->nr_trials - MODEL_MAX : 0;
	size_t nr = t->nr_trials - from, worked = 0;
	double *left = xcalloc(nr + 1, sizeof(*left)), sum = 0;
	double before[TUNER_MAX_VALUES + 1];

	for (size_t i = from; i < t->nr_trials; i++)
		if (!isnan(t->trial[i].score)) {
			sum += t->trial[i].score;
			worked++;
		}
	t->mean = worked ? sum / (double)worked : 0;
	for (int i = 0; i < t->nr; i++)
		memset(t->effect[i], 0, sizeof(t->effect[i]));
	for (size_t i = 0; i < nr; i++) {
		double y = t->trial[from + i].score;

		left[i] = isnan(y) ? FAILED : y - t->mean;
	}
	for (int s = 0; s < SWEEPS; s++)
		for (int n = 0; n < t->nr; n++) {
			fit_name(t, n, left, from, before);
			for (size_t i = 0; i < nr; i++) {
				int v = t->trial[from + i].at.v[n];

				left[i] -= t->effect[n][v] - before[v];
			}
		}
	free(left);
}

/* ---- candidates ---- */

static bool is_new(const struct tuner *t, const struct tuner_point *p)
{
	return !tuner_was_tried(t, p) && tuner_is_legal(t, p);
}

static unsigned char any_value(struct tuner *t, int name)
{
	int nr = tuner_choices(t, name);

	return tuner_choice(t, name, (int)rng_below(&t->rng, (uint64_t)nr));
}

/* The first new setting in order; false: there is none. */
static bool look_in_order(struct tuner *t, struct tuner_point *p)
{
	if (isnan(t->legal))
		return false;
	tuner_first(t, p);
	do {
		if (is_new(t, p))
			return true;
	} while (tuner_following(t, p));
	return false;
}

/* Do the requirements hold whose names are all set with this one? */
static bool holds_so_far(const struct tuner *t, const struct tuner_point *p,
			 int name)
{
	int64_t value[TUNER_MAX_NAMES], holds;
	struct err unused = ERR_INIT;

	for (int i = 0; i < t->nr; i++)
		value[i] = t->number[i][p->v[i]];
	for (size_t i = 0; i < t->o.nr_require; i++)
		if (t->last[i] == name &&
		    (expr_eval(&t->o.require[i], value, &holds, &unused) ||
		     !holds))
			return false;
	return true;
}

/* Sets the names from this one on by chance, going back where that leads
 * nowhere, at most so many times. */
static bool fill(struct tuner *t, struct tuner_point *p, int name, int *left)
{
	int nr, from;

	if (name == t->nr)
		return is_new(t, p);
	nr = tuner_choices(t, name);
	from = (int)rng_below(&t->rng, (uint64_t)nr);
	for (int k = 0; k < nr && *left > 0; k++) {
		p->v[name] = tuner_choice(t, name, (from + k) % nr);
		--*left;
		if (holds_so_far(t, p, name) && fill(t, p, name + 1, left))
			return true;
	}
	return false;
}

static bool stranger(struct tuner *t, struct tuner_point *p)
{
	for (int k = 0; k < FILLS; k++) {
		int left = TRIES;

		memset(p, 0, sizeof(*p));
		if (fill(t, p, 0, &left))
			return true;
	}
	return look_in_order(t, p);
}

/* Trials of the best scores, best first, earlier ones first among equals. */
static size_t elite(const struct tuner *t, size_t *out)
{
	size_t nr = 0;

	for (size_t i = 0; i < t->batch; i++) {
		size_t at = nr;

		if (isnan(t->trial[i].score))
			continue;
		while (at && t->trial[out[at - 1]].score < t->trial[i].score)
			at--;
		if (at == ELITE)
			continue;
		nr += nr < ELITE;
		memmove(out + at + 1, out + at, (nr - at - 1) * sizeof(*out));
		out[at] = i;
	}
	return nr;
}

/* A move within an ordered name is to a value near by, mostly. */
static unsigned char mutate_value(struct tuner *t, int name, unsigned char v)
{
	int to = (int)v + (rng_below(&t->rng, 2) ? 1 : -1);
	int least = tuner_choice(t, name, 0);

	if (!t->ordered[name] || rng_below(&t->rng, 4) == 0 || to < least ||
	    to > (int)t->o.space->v[name].values.nr)
		return any_value(t, name);
	return (unsigned char)to;
}

static void breed(struct tuner *t, const struct tuner_point *a,
		  const struct tuner_point *b, struct tuner_point *out)
{
	*out = *a;
	for (int i = 0; i < t->nr; i++) {
		if (rng_below(&t->rng, 2))
			out->v[i] = b->v[i];
		if (rng_below(&t->rng, (uint64_t)t->nr) == 0)
			out->v[i] = mutate_value(t, i, out->v[i]);
	}
}

/* The better of two drawn. */
static size_t tournament(struct tuner *t, size_t nr)
{
	size_t a = (size_t)rng_below(&t->rng, nr);
	size_t b = (size_t)rng_below(&t->rng, nr);

	return a < b ? a : b;
}

static bool child(struct tuner *t, const size_t *good, size_t nr,
		  struct tuner_point *out)
{
	double best = -INFINITY;
	int found = 0;

	for (int k = 0; k < TRIES && found < DRAWS && nr; k++) {
		const struct tuner_trial *a = &t->trial[good[tournament(t, nr)]];
		const struct tuner_trial *b = &t->trial[good[tournament(t, nr)]];
		struct tuner_point p;
		double s;

		breed(t, &a->at, &b->at, &p);
		if (!is_new(t, &p))
			continue;
		s = predict(t, &p);
		if (!found++ || s > best) {
			best = s;
			*out = p;
		}
	}
	return found > 0;
}

/* The new setting one value away from p that the model likes best. */
static bool neighbour(const struct tuner *t, const struct tuner_point *p,
		      struct tuner_point *out)
{
	double best = -INFINITY;

	for (int i = 0; i < t->nr; i++)
		for (int k = 0; k < tuner_choices(t, i); k++) {
			struct tuner_point q = *p;
			double s;

			q.v[i] = tuner_choice(t, i, k);
			if (!is_new(t, &q))
				continue;
			s = predict(t, &q);
			if (s > best) {
				best = s;
				*out = q;
			}
		}
	return best > -INFINITY;
}

/* ---- a batch ---- */

/* Every value about as often as every other. */
static void spread(struct tuner *t)
{
	unsigned char row[TUNER_MAX_NAMES][TUNER_BATCH];

	for (int i = 0; i < t->nr; i++) {
		int nr = tuner_choices(t, i);
		uint64_t from = rng_below(&t->rng, (uint64_t)nr);

		for (int k = 0; k < TUNER_BATCH; k++) {
			int at = nr > TUNER_BATCH ? k * nr / TUNER_BATCH : k;

			row[i][k] = tuner_choice(t, i, (int)(((uint64_t)at +
						from) % (uint64_t)nr));
		}
		for (int k = TUNER_BATCH - 1; k > 0; k--) {
			int j = (int)rng_below(&t->rng, (uint64_t)k + 1);
			unsigned char x = row[i][k];

			row[i][k] = row[i][j];
			row[i][j] = x;
		}
	}
	for (int k = 0; k < TUNER_BATCH; k++) {
		struct tuner_point p = { { 0 } };

		for (int i = 0; i < t->nr; i++)
			p.v[i] = row[i][k];
		if (is_new(t, &p) || stranger(t, &p))
			tuner_add(t, &p);
	}
}

void tuner_evolve(struct tuner *t)
{
	size_t good[ELITE + 1], nr, from = 0;

	if (t->nr_trials <= t->has_now) {
		spread(t);
		return;
	}
	fit(t);
	nr = elite(t, good);
	for (int k = 0; k < TUNER_BATCH; k++) {
		struct tuner_point p;
		bool found = false;

		while (k < NEIGHBOURS && from < nr && !found) {
			found = neighbour(t, &t->trial[good[from]].at, &p);
			from += !found;
		}
		if (!found && k < TUNER_BATCH - STRANGERS)
			found = child(t, good, nr, &p);
		if (!found && !stranger(t, &p))
			break;
		tuner_add(t, &p);
	}
}
