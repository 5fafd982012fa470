#include "agents/builtin/moves.h"

#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/rng.h"

#define MAX_PAIRS 2000

static struct locus *add_locus(struct moves *m, const struct strategy *st,
			       const char *key)
{
	GROW(m->locus, m->nr_loci, m->cap_loci);
	m->locus[m->nr_loci] = (struct locus){ st, xstrdup(key), STRV_INIT };
	return &m->locus[m->nr_loci++];
}

/* "TILE=32", "TILE=64", "UNROLL=4" become two loci. */
static void add_keyed(struct moves *m, const struct strategy *st,
		      const struct strv *settings)
{
	struct locus *l = NULL;

	for (size_t i = 0; i < settings->nr; i++) {
		size_t n = strcspn(settings->v[i], "=");

		if (!l || strlen(l->key) != n ||
		    memcmp(l->key, settings->v[i], n)) {
			char *key = xstrndup(settings->v[i], n);

			l = add_locus(m, st, key);
			free(key);
		}
		strv_push(&l->values, settings->v[i]);
	}
}

static void find_loci(struct moves *m, const struct site *s,
		      const struct recipe *from)
{
	for (int i = 0; strategies[i]; i++) {
		const struct strategy *st = strategies[i];
		struct strv settings = STRV_INIT;
		struct buf why = BUF_INIT;

		if (!strategy_fits(st, s, &why)) {
			/* It can still be taken away. */
			if (recipe_find(from, st->name))
				add_locus(m, st, NULL);
			buf_release(&why);
			continue;
		}
		st->settings(s, &settings);
		if (settings.nr && strchr(settings.v[0], '=') &&
		    st == &strategy_tunables) {
			add_keyed(m, st, &settings);
		} else {
			struct locus *l = add_locus(m, st, NULL);

			for (size_t k = 0; k < settings.nr; k++)
				strv_push(&l->values, settings.v[k]);
		}
		strv_release(&settings);
		buf_release(&why);
	}
}

/* The locus' value in a recipe, NULL if it isn't set; the caller frees. */
static char *value_in(const struct locus *l, const struct recipe *r)
{
	const struct gene *g = recipe_find(r, l->st->name);
	struct buf text = BUF_INIT;

	if (!g)
		return NULL;
	if (!l->key) {
		gene_args(g, &text);
		return buf_detach(&text);
	}
	for (size_t i = 0; i < g->args.nr; i++) {
		size_t n = strlen(l->key);

		if (!strncmp(g->args.v[i], l->key, n) &&
		    g->args.v[i][n] == '=')
			return xstrdup(g->args.v[i]);
	}
	return NULL;
}

static void set_keyed(const struct locus *l, const char *value,
		      struct recipe *r)
{
	const struct gene *g = recipe_find(r, l->st->name);
	struct buf args = BUF_INIT;
	size_t n = strlen(l->key);

	for (size_t i = 0; g && i < g->args.nr; i++)
		if (strncmp(g->args.v[i], l->key, n) ||
		    g->args.v[i][n] != '=')
			buf_addf(&args, "%s%s", args.len ? "," : "",
				 g->args.v[i]);
	if (value)
		buf_addf(&args, "%s%s", args.len ? "," : "", value);
	recipe_set(r, l->st->name, args.len ? args.ptr : NULL);
	buf_release(&args);
}

void move_apply(const struct moves *m, const struct move *mv,
		const struct recipe *from, struct recipe *to)
{
	recipe_copy(to, from);
	for (int i = 0; i < mv->nr; i++) {
		const struct locus *l = &m->locus[mv->v[i].locus];

		if (l->key)
			set_keyed(l, mv->v[i].value, to);
		else
			recipe_set(to, l->st->name, mv->v[i].value);
	}
	recipe_normalise(to, strategy_rank);
}

static struct move *add_move(struct moves *m)
{
	GROW(m->v, m->nr, m->cap);
	m->v[m->nr] = (struct move){ .nr = 0 };
	return &m->v[m->nr++];
}

static void add_change(struct move *mv, size_t locus, const char *value)
{
	if (mv->nr < MOVE_MAX)
		mv->v[mv->nr++] = (struct change){ locus, value };
}

/* All of the named ones that the recipe lacks, if there are two or more. */
static void add_together(struct moves *m, const struct recipe *from,
			 const struct strategy *const *list, int nr)
{
	struct move *mv = add_move(m);

	for (size_t i = 0; i < m->nr_loci; i++)
		for (int k = 0; k < nr; k++)
			if (m->locus[i].st == list[k] &&
			    m->locus[i].values.nr &&
			    !recipe_find(from, list[k]->name))
				add_change(mv, i, m->locus[i].values.v[0]);
	if (mv->nr < 2)
		m->nr--;
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

static double worth_of(const struct moves *m, const struct site *s,
		       const struct change *c, const char *now)
{
	const struct locus *l = &m->locus[c->locus];
	struct recipe r = RECIPE_INIT;
	double gain;

	if (!c->value)
		return 0;
	recipe_set(&r, l->st->name, c->value);
	gain = l->st->gain(s, &r.v[0]);
	recipe_release(&r);
	/* First settings before second thoughts. */
	if (now)
		return gain * 1e-3;
	return c->value == l->values.v[0] ? gain : gain * 1e-2;
}

static struct single *find_singles(const struct moves *m,
				   const struct site *s,
				   const struct recipe *from, size_t *nr)
{
	struct single *v = NULL;
	size_t cap = 0;

	*nr = 0;
	for (size_t i = 0; i < m->nr_loci; i++) {
		const struct locus *l = &m->locus[i];
		char *now = value_in(l, from);

		for (size_t k = 0; k <= l->values.nr; k++) {
			struct change c = { i, k < l->values.nr ?
					       l->values.v[k] : NULL };

			if (c.value ? now && !strcmp(now, c.value) : !now)
				continue;
			GROW(v, *nr, cap);
			v[*nr] = (struct single){ c, worth_of(m, s, &c, now),
						  *nr };
			++*nr;
		}
		free(now);
	}
	if (*nr)
		qsort(v, *nr, sizeof(*v), by_worth);
	return v;
}

static void add_pairs(struct moves *m, const struct single *v, size_t nr,
		      uint64_t seed)
{
	size_t first = m->nr;
	struct rng rng;

	for (size_t i = 0; i < nr; i++) {
		for (size_t k = i + 1; k < nr; k++) {
			struct move *mv;

			if (v[i].c.locus == v[k].c.locus ||
			    m->nr - first >= MAX_PAIRS)
				continue;
			mv = add_move(m);
			add_change(mv, v[i].c.locus, v[i].c.value);
			add_change(mv, v[k].c.locus, v[k].c.value);
		}
	}
	rng_init(&rng, seed);
	for (size_t i = m->nr; i > first + 1; i--) {
		size_t k = first + rng_below(&rng, i - first);
		struct move t = m->v[i - 1];

		m->v[i - 1] = m->v[k];
		m->v[k] = t;
	}
}

void moves_find(struct moves *m, const struct site *s,
		const struct recipe *from, uint64_t seed)
{
	static const struct strategy *const strong[] = {
		&strategy_restrict, &strategy_vecmath, &strategy_fastmath,
		&strategy_vw
	};
	struct single *v;
	size_t nr;

	*m = (struct moves)MOVES_INIT;
	find_loci(m, s, from);
	/* Steps one by one get stuck where only two together pay. */
	add_together(m, from, strong, 3);
	add_together(m, from, strong, 4);
	v = find_singles(m, s, from, &nr);
	for (size_t i = 0; i < nr; i++)
		add_change(add_move(m), v[i].c.locus, v[i].c.value);
	add_pairs(m, v, nr, seed);
	free(v);
}

void moves_release(struct moves *m)
{
	for (size_t i = 0; i < m->nr_loci; i++) {
		free(m->locus[i].key);
		strv_release(&m->locus[i].values);
	}
	free(m->locus);
	free(m->v);
	*m = (struct moves)MOVES_INIT;
}
