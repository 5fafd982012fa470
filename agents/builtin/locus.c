/* What can be set in a version, and what is believed of each setting. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agents/builtin/moves.h"
#include "agents/builtin/shape.h"
#include "core/mem.h"

/* Of its settings the first is a strategy's best; others promise less. */
#define SECOND_THOUGHT 0.7

static struct locus *add_locus(struct moves *m, const struct strategy *st,
			       const char *key)
{
	GROW(m->locus, m->nr_loci, m->cap_loci);
	m->locus[m->nr_loci] = (struct locus){ st, xstrdup(key), STRV_INIT,
					       -1, NULL };
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

int locus_index(const struct locus *l, const char *value)
{
	for (size_t i = 0; value && i < l->values.nr; i++)
		if (!strcmp(l->values.v[i], value))
			return (int)i;
	return -1;
}

int locus_value(const struct locus *l, const struct recipe *r)
{
	char *now = value_in(l, r);
	int at = locus_index(l, now);

	free(now);
	return at;
}

/* A setting that is none of those worth trying is one more value. */
static void find_now(struct locus *l, const struct recipe *from)
{
	char *now = value_in(l, from);

	l->now = locus_index(l, now);
	if (now && l->now < 0) {
		l->now = (int)l->values.nr;
		strv_push(&l->values, now);
	}
	free(now);
}

/* What does not fit can still be taken away. */
static void add_unfit(struct moves *m, const struct strategy *st,
		      const struct recipe *from)
{
	if (recipe_find(from, st->name))
		add_locus(m, st, NULL);
}

void loci_find(struct moves *m, const struct site *s,
	       const struct recipe *from)
{
	for (int i = 0; strategies[i]; i++) {
		const struct strategy *st = strategies[i];
		struct strv settings = STRV_INIT;
		struct buf why = BUF_INIT;
		struct locus *l;

		if (!strategy_fits(st, s, &why)) {
			add_unfit(m, st, from);
			buf_release(&why);
			continue;
		}
		st->settings(s, &settings);
		if (st == &strategy_tunables) {
			add_keyed(m, st, &settings);
		} else {
			l = add_locus(m, st, NULL);
			for (size_t k = 0; k < settings.nr; k++)
				strv_push(&l->values, settings.v[k]);
		}
		strv_release(&settings);
		buf_release(&why);
	}
	for (size_t i = 0; i < m->nr_loci; i++)
		find_now(&m->locus[i], from);
}

void locus_gene(const struct locus *l, const char *value, struct buf *out)
{
	if (l->key)
		buf_addstr(out, value);
	else if (*value)
		buf_addf(out, "%s(%s)", l->st->name, value);
	else
		buf_addstr(out, l->st->name);
}

static double own_gain(const struct locus *l, const struct site *s, size_t i)
{
	struct recipe r = RECIPE_INIT;
	double gain;

	recipe_set(&r, l->st->name, l->values.v[i]);
	gain = l->st->gain(s, &r.v[0]);
	recipe_release(&r);
	return i && gain > 1 ? 1 + (gain - 1) * SECOND_THOUGHT : gain;
}

static struct belief believe(const struct prior *prior, const char *target,
			     const char *shape, const char *gene, double own)
{
	struct belief b = {
		prior_gain(prior, target, shape, gene, own),
		prior_tries(prior, target, shape, gene) >= 1
	};

	/* However much it would gain where it works. */
	if (prior_fails(prior, target, shape, gene) &&
	    b.ratio > exp(PRIOR_FAILED))
		b.ratio = exp(PRIOR_FAILED);
	return b;
}

void loci_believe(struct moves *m, const struct site *s,
		  const struct prior *prior)
{
	struct buf shape = BUF_INIT, gene = BUF_INIT;

	shape_add(s, &shape);
	for (size_t i = 0; i < m->nr_loci; i++) {
		struct locus *l = &m->locus[i];

		free(l->belief);
		l->belief = xcalloc(l->values.nr, sizeof(*l->belief));
		for (size_t k = 0; k < l->values.nr; k++) {
			buf_reset(&gene);
			locus_gene(l, l->values.v[k], &gene);
			l->belief[k] = believe(prior, s->k->target, shape.ptr,
					       gene.ptr, own_gain(l, s, k));
		}
	}
	buf_release(&shape);
	buf_release(&gene);
}

void recipe_set_word(struct recipe *r, const char *name, const char *key,
		     const char *value)
{
	const struct gene *g = recipe_find(r, name);
	struct buf args = BUF_INIT;
	size_t n = strlen(key);

	for (size_t i = 0; g && i < g->args.nr; i++)
		if (strncmp(g->args.v[i], key, n) || g->args.v[i][n] != '=')
			buf_addf(&args, "%s%s", args.len ? "," : "",
				 g->args.v[i]);
	if (value)
		buf_addf(&args, "%s%s", args.len ? "," : "", value);
	recipe_set(r, name, args.len ? args.ptr : NULL);
	buf_release(&args);
}
