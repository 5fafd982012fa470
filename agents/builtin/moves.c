#include "agents/builtin/moves.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

#define MAX_PAIRS 2000
#define BAD 0.9			/* a ratio under it is a step that fails */
#define GOOD 1.02		/* and one over it a step that gains */

void move_apply(const struct moves *m, const struct move *mv,
		const struct recipe *from, struct recipe *to)
{
	recipe_copy(to, from);
	for (size_t i = 0; i < mv->nr; i++) {
		const struct change *c = &m->change[mv->first + i];
		const struct locus *l = &m->locus[c->locus];

		if (l->key)
			recipe_set_word(to, l->st->name, l->key, c->value);
		else
			recipe_set(to, l->st->name, c->value);
	}
	recipe_normalise(to, strategy_rank);
}

static const struct belief *belief_in(const struct locus *l,
				      const char *value)
{
	size_t i = 0;

	while (l->values.v[i] != value)
		i++;
	return &l->belief[i];
}

double change_ratio(const struct moves *m, const struct change *c)
{
	const struct locus *l = &m->locus[c->locus];
	double now = l->now < 0 ? 1 : l->belief[l->now].ratio;

	return (c->value ? belief_in(l, c->value)->ratio : 1) / now;
}

double move_ratio(const struct moves *m, const struct move *mv)
{
	double ratio = 1;

	for (size_t i = 0; i < mv->nr; i++)
		ratio *= change_ratio(m, &m->change[mv->first + i]);
	return ratio;
}

static void begin_move(struct moves *m)
{
	GROW(m->v, m->nr, m->cap);
	m->v[m->nr++] = (struct move){ m->nr_changes, 0 };
}

/* To the last move. */
static void add_change(struct moves *m, size_t locus, const char *value)
{
	GROW(m->change, m->nr_changes, m->cap_changes);
	m->change[m->nr_changes++] = (struct change){ locus, value };
	m->v[m->nr - 1].nr++;
}

/* The last move goes if it is no more than a single, or stands there. */
static void end_together(struct moves *m)
{
	const struct move *last = &m->v[m->nr - 1];
	bool good = last->nr > 1;

	for (size_t i = 0; good && i + 1 < m->nr; i++)
		good = m->v[i].nr != last->nr ||
		       memcmp(m->change + m->v[i].first,
			      m->change + last->first,
			      last->nr * sizeof(*m->change)) != 0;
	if (good)
		return;
	m->nr_changes -= last->nr;
	m->nr--;
}

/* The setting to begin with: the first, unless another is known as better. */
static const char *first_value(const struct locus *l)
{
	size_t best = 0;

	for (size_t i = 1; i < l->values.nr; i++)
		if (l->belief[i].known &&
		    l->belief[i].ratio > l->belief[best].ratio)
			best = i;
	return l->values.v[best];
}

static bool is_free(const struct locus *l)
{
	return l->now < 0 && l->values.nr;
}

/* All of the named ones that the recipe lacks, but those that fail here. */
static void add_together(struct moves *m, const struct strategy *const *list,
			 int nr)
{
	begin_move(m);
	for (size_t i = 0; i < m->nr_loci; i++) {
		const struct locus *l = &m->locus[i];
		const char *value = is_free(l) ? first_value(l) : NULL;

		for (int k = 0; value && k < nr; k++)
			if (l->st == list[k] &&
			    belief_in(l, value)->ratio > BAD)
				add_change(m, i, value);
	}
	end_together(m);
}

/* All that is known to gain. */
static void add_known(struct moves *m)
{
	begin_move(m);
	for (size_t i = 0; i < m->nr_loci; i++) {
		const struct locus *l = &m->locus[i];
		const char *value = is_free(l) ? first_value(l) : NULL;

		if (value && belief_in(l, value)->known &&
		    belief_in(l, value)->ratio > GOOD)
			add_change(m, i, value);
	}
	end_together(m);
}

struct single {
	struct change c;
	double worth;
	size_t order;
};

static int by_worth(const void *a, const void *b)
{
	const struct single *x = a, *y = b;

	if (x->worth != y->worth)
		return x->worth > y->worth ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* A number of which one value gained: the others are worth a look soon. */
static bool matters(const struct locus *l)
{
	for (size_t i = 0; l->key && i < l->values.nr; i++)
		if (l->belief[i].known && l->belief[i].ratio > GOOD)
			return true;
	return false;
}

static double worth_of(const struct moves *m, const struct change *c)
{
	const struct locus *l = &m->locus[c->locus];
	double ratio = change_ratio(m, c);

	if (!c->value)		/* of a step that does harm first */
		return l->belief[l->now].known && ratio > GOOD ? ratio :
								ratio * 1e-6;
	if (belief_in(l, c->value)->known && ratio <= GOOD)
		return ratio * (ratio < BAD ? 1e-4 : 1e-2);
	if (belief_in(l, c->value)->known)
		return ratio;
	if (matters(l))
		return belief_in(l, c->value)->ratio;
	/* First settings before second thoughts. */
	if (l->now >= 0)
		return ratio * 1e-3;
	return c->value == l->values.v[0] ? ratio : ratio * 1e-2;
}

static void add_singles(struct moves *m)
{
	struct single *v = NULL;
	size_t nr = 0, cap = 0;

	for (size_t i = 0; i < m->nr_loci; i++) {
		const struct locus *l = &m->locus[i];

		for (size_t k = 0; k <= l->values.nr; k++) {
			struct change c = { i, k < l->values.nr ?
					       l->values.v[k] : NULL };

			if (c.value ? (int)k == l->now : l->now < 0)
				continue;
			GROW(v, nr, cap);
			v[nr] = (struct single){ c, worth_of(m, &c), nr };
			nr++;
		}
	}
	if (nr)
		qsort(v, nr, sizeof(*v), by_worth);
	for (size_t i = 0; i < nr; i++) {
		begin_move(m);
		add_change(m, v[i].c.locus, v[i].c.value);
	}
	m->nr_singles = nr;
	free(v);
}

void moves_find(struct moves *m, const struct site *s,
		const struct recipe *from, const struct prior *prior)
{
	static const struct strategy *const strong[] = {
		&strategy_restrict, &strategy_vecmath, &strategy_fastmath,
		&strategy_vw
	};

	*m = (struct moves)MOVES_INIT;
	loci_find(m, s, from);
	loci_believe(m, s, prior);
	/* Steps one by one get stuck where only two together pay. */
	add_together(m, strong, 3);
	add_together(m, strong, 4);
	add_known(m);
	add_singles(m);
}

struct pair {
	struct change a, b;
	double key;
	size_t order;
};

static int by_key(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/*
 * An order drawn without putting back, the heavier the earlier (Efraimidis
 * and Spirakis): by the waiting time for each, with its weight as the rate.
 */
void moves_pairs(struct moves *m, uint64_t seed)
{
	const struct move *one = m->v + m->nr - m->nr_singles;
	struct pair *v = NULL;
	size_t nr = 0, cap = 0;
	struct rng rng;

	rng_init(&rng, seed);
	for (size_t i = 0; i < m->nr_singles; i++) {
		for (size_t k = i + 1; k < m->nr_singles; k++) {
			struct pair p = { m->change[one[i].first],
					  m->change[one[k].first], 0, nr };

			if (p.a.locus == p.b.locus || nr >= MAX_PAIRS)
				continue;
			p.key = -log1p(-rng_unit(&rng)) /
				change_weight(m, &p.a) /
				change_weight(m, &p.b);
			GROW(v, nr, cap);
			v[nr++] = p;
		}
	}
	if (nr)
		qsort(v, nr, sizeof(*v), by_key);
	for (size_t i = 0; i < nr; i++) {
		begin_move(m);
		add_change(m, v[i].a.locus, v[i].a.value);
		add_change(m, v[i].b.locus, v[i].b.value);
	}
	free(v);
}

void moves_release(struct moves *m)
{
	for (size_t i = 0; i < m->nr_loci; i++) {
		free(m->locus[i].key);
		strv_release(&m->locus[i].values);
		free(m->locus[i].belief);
	}
	free(m->locus);
	free(m->change);
	free(m->v);
	*m = (struct moves)MOVES_INIT;
}
