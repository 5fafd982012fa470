#include "core/portfolio.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

#define FADE 0.7		/* weight of a round to that of the next */
/* What is hoped for of a search that has hardly begun, ln an attempt, and the
 * attempts after which half of it is left: a first round without gain says
 * little. */
#define HOPE 0.05
#define HOPE_HALF 4.0

uint64_t portfolio_attempts(const struct share *s)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < s->nr_rounds; i++)
		sum += s->round[i].attempts;
	return sum;
}

void portfolio_anew(struct share *s)
{
	s->before = portfolio_attempts(s);
}

/* Of this budget. */
static uint64_t had(const struct share *s)
{
	uint64_t all = portfolio_attempts(s);

	return all > s->before ? all - s->before : 0;
}

double portfolio_gain(const struct share *s)
{
	double weight = 1, gain = 0, attempts = 0, hope, left;

	left = s->left > 0 ? s->left : 0;
	for (size_t i = s->nr_rounds; i-- > 0; weight *= FADE) {
		double before = i ? s->round[i - 1].best : 0;

		gain += weight * fmax(s->round[i].best - before, 0);
		attempts += weight * s->round[i].attempts;
	}
	hope = HOPE * HOPE_HALF / (HOPE_HALF + (double)portfolio_attempts(s));
	return fmin((attempts > 0 ? gain / attempts : 0) + hope, left);
}

/* The open one with the fewest attempts, if it has had too few of them. */
static int starved(const struct share *s, size_t nr)
{
	uint64_t sum = 0, least = UINT64_MAX;
	size_t open = 0;
	int at = -1;

	for (size_t i = 0; i < nr; i++) {
		uint64_t own = had(&s[i]);

		if (s[i].over)
			continue;
		sum += own;
		open++;
		if (own < least) {
			least = own;
			at = (int)i;
		}
	}
	return open && (double)least < PORTFOLIO_FLOOR * (double)sum /
		(double)open ? at : -1;
}

int portfolio_next(const struct share *s, size_t nr)
{
	double best = -1;
	int at;

	for (size_t i = 0; i < nr; i++)
		if (!s[i].over && s[i].cut)
			return (int)i;
	for (size_t i = 0; i < nr; i++)
		if (!s[i].over && !had(&s[i]))
			return (int)i;
	at = starved(s, nr);
	if (at >= 0)
		return at;
	for (size_t i = 0; i < nr; i++) {
		double gain = portfolio_gain(&s[i]);

		if (s[i].over)
			continue;
		if (gain > best ||
		    (!(gain < best) && had(&s[i]) < had(&s[at]))) {
			best = gain;
			at = (int)i;
		}
	}
	return at;
}

/* ---- from a graph ---- */

struct done {			/* a node or a spend line */
	uint32_t round, attempts;
	double best;
};

static int by_round(const void *a, const void *b)
{
	const struct done *x = a, *y = b;

	return (x->round > y->round) - (x->round < y->round);
}

/* What is not of the policy's rounds is not of its budget either. */
static bool is_attempt(const struct node *n)
{
	return n->op && !n->united && strcmp(n->op, "tune") != 0;
}

static size_t read_done(struct done *d, const struct graph *g, uint32_t size)
{
	size_t nr = 0;

	for (uint32_t i = 1; i < g->nr; i++) {
		const struct node *n = &g->node[i];

		if (n->step)
			d[nr++] = (struct done){
				.round = (n->step - 1) / size,
				.attempts = is_attempt(n),
				.best = n->confirmed ? n->score : 0,
			};
	}
	for (uint32_t i = 0; i < g->nr_spend; i++)
		if (g->spend[i].step)
			d[nr++] = (struct done){
				.round = (g->spend[i].step - 1) / size,
				.attempts = 1,
			};
	if (nr)
		qsort(d, nr, sizeof(*d), by_round);
	return nr;
}

/* Rounds without attempts are left out: numbers are jumped over. */
static struct share_round *sum_up(const struct done *d, size_t nr,
				  size_t *nr_rounds)
{
	struct share_round *r = xcalloc(nr, sizeof(*r));
	double best = 0;

	*nr_rounds = 0;
	for (size_t i = 0, next; i < nr; i = next) {
		uint32_t attempts = 0;

		for (next = i; next < nr && d[next].round == d[i].round; next++) {
			attempts += d[next].attempts;
			best = fmax(best, d[next].best);
		}
		if (attempts)
			r[(*nr_rounds)++] = (struct share_round){ attempts,
								  best };
	}
	return r;
}

void portfolio_read(struct share *s, const struct graph *g, uint32_t size)
{
	struct done *d = xcalloc((size_t)g->nr + g->nr_spend, sizeof(*d));
	size_t nr = read_done(d, g, size);
	double roof = NAN;

	if (g->champion)
		roof = g->node[g->champion].rec.roof;
	s->left = roof > 0 ? fmax(-log(roof), 0) : INFINITY;
	free(s->round);
	s->round = sum_up(d, nr, &s->nr_rounds);
	free(d);
}
