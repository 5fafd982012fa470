/* Moves that are drawn: the likelier the more they promise. */
#include <stdlib.h>

#include "agents/builtin/moves.h"
#include "core/mem.h"

/* Of ratios, so that nothing is certain and nothing is never tried. */
#define LEAST 0.1
#define MOST 8.0

static double weight(double ratio)
{
	double r = ratio > MOST ? MOST : ratio > LEAST ? ratio : LEAST;

	return r * r;
}

double change_weight(const struct moves *m, const struct change *c)
{
	return weight(change_ratio(m, c));
}

/* An index below nr by its weight; nr if all weights are 0. */
static size_t draw_index(const double *w, size_t nr, struct rng *rng)
{
	double sum = 0, at;
	size_t last = nr;

	for (size_t i = 0; i < nr; i++)
		sum += w[i];
	at = rng_unit(rng) * sum;
	for (size_t i = 0; i < nr; i++) {
		if (!(w[i] > 0))
			continue;
		last = i;
		at -= w[i];
		if (at < 0)
			break;
	}
	return last;
}

/* The weights of a locus' values and, last, of taking it away. */
static size_t weigh_values(const struct moves *m, size_t locus, double *w)
{
	const struct locus *l = &m->locus[locus];
	size_t nr = l->values.nr;

	for (size_t k = 0; k <= nr; k++) {
		struct change c = { locus, k < nr ? l->values.v[k] : NULL };

		w[k] = (k < nr ? (int)k == l->now : l->now < 0) ? 0 :
			change_weight(m, &c);
	}
	return nr + 1;
}

/* A locus counts as its best change does, however many settings it has. */
static double weigh_locus(const struct moves *m, size_t locus, double *room)
{
	size_t nr = weigh_values(m, locus, room);
	double most = 0;

	for (size_t k = 0; k < nr; k++)
		if (room[k] > most)
			most = room[k];
	return most;
}

static double *room_for(const struct moves *m)
{
	size_t most = 0;

	for (size_t i = 0; i < m->nr_loci; i++)
		if (m->locus[i].values.nr > most)
			most = m->locus[i].values.nr;
	return xcalloc(most + 1, sizeof(double));
}

static void push_change(struct moves *m, struct move *mv, size_t locus,
			size_t value)
{
	const struct locus *l = &m->locus[locus];

	GROW(m->change, m->nr_changes, m->cap_changes);
	m->change[m->nr_changes++] = (struct change){
		locus, value < l->values.nr ? l->values.v[value] : NULL
	};
	mv->nr++;
}

static int by_locus(const void *a, const void *b)
{
	const struct change *x = a, *y = b;

	return x->locus < y->locus ? -1 : x->locus > y->locus;
}

struct move moves_draw(struct moves *m, struct rng *rng)
{
	double *w = xcalloc(m->nr_loci + 1, sizeof(*w)), *room = room_for(m);
	double size = rng_unit(rng);
	int wanted = size < 0.6 ? 1 : size < 0.9 ? 2 : 3;
	struct move mv = { m->nr_changes, 0 };

	for (size_t i = 0; i < m->nr_loci; i++)
		w[i] = weigh_locus(m, i, room);
	for (int i = 0; i < wanted; i++) {
		size_t l = draw_index(w, m->nr_loci, rng);

		if (l == m->nr_loci)
			break;
		w[l] = 0;
		push_change(m, &mv, l, draw_index(room,
			    weigh_values(m, l, room), rng));
	}
	/* Words about a step name its strategies in their order. */
	if (mv.nr)
		qsort(m->change + mv.first, mv.nr, sizeof(*m->change),
		      by_locus);
	free(w);
	free(room);
	return mv;
}

/* The weight of leaving a locus alone is that of a ratio of 1. */
struct move moves_sample(struct moves *m, struct rng *rng)
{
	double *room = room_for(m);
	struct move mv = { m->nr_changes, 0 };

	for (size_t i = 0; i < m->nr_loci; i++) {
		const struct locus *l = &m->locus[i];
		double best = 0;

		for (size_t k = 0; k < l->values.nr; k++) {
			room[k] = weight(l->belief[k].ratio);
			best = room[k] > best ? room[k] : best;
		}
		if (rng_unit(rng) * (best + 1) < best)
			push_change(m, &mv, i, draw_index(room, l->values.nr,
							  rng));
	}
	free(room);
	return mv;
}

double moves_settings(const struct moves *m)
{
	double nr = 1;

	for (size_t i = 0; i < m->nr_loci; i++)
		nr *= (double)m->locus[i].values.nr + 1;
	return nr;
}

struct move moves_nth(struct moves *m, uint64_t n)
{
	struct move mv = { m->nr_changes, 0 };

	for (size_t i = 0; i < m->nr_loci; i++) {
		const struct locus *l = &m->locus[i];
		uint64_t nr = l->values.nr + 1;
		size_t value = (size_t)(n % nr);

		n /= nr;
		if (value != (l->now < 0 ? l->values.nr : (size_t)l->now))
			push_change(m, &mv, i, value);
	}
	return mv;
}

void moves_undraw(struct moves *m, const struct move *mv)
{
	m->nr_changes = mv->first;
}
