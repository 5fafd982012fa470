#include "agents/builtin/learn.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agents/builtin/model.h"
#include "core/mem.h"

#define ALL 2048.0		/* settings that are all looked at */
#define NEAR 4			/* tried ones whose neighbours are, else */
#define DRAWN 512		/* settings drawn beside them */
#define ASKED 256		/* whose deviation is worked out */
#define MOST_BELIEF 1.5		/* ln: of one value, either way */
#define FAILED 0.7		/* ln: below the worst that ran */

/* ---- loci and settings ---- */

static double number_of(const char *word)
{
	const char *at = strchr(word, '=');
	double x = at ? strtod(at + 1, NULL) : 0;

	return x >= 1 ? log2(x) : 0;
}

static double source_number(const struct site *s, const char *key)
{
	for (size_t i = 0; i < s->nr_tunables; i++)
		if (!strcmp(s->tunable[i].name, key) &&
		    s->tunable[i].value >= 1)
			return log2((double)s->tunable[i].value);
	return 0;
}

static double belief_of(double ratio)
{
	double b = ratio > 0 ? log(ratio) : 0;

	return b > MOST_BELIEF ? MOST_BELIEF : b < -MOST_BELIEF ?
		-MOST_BELIEF : b;
}

static struct model *new_model(const struct moves *m, const struct site *s)
{
	struct model_locus *l = xcalloc(m->nr_loci, sizeof(*l));
	struct model *model;

	for (size_t i = 0; i < m->nr_loci; i++) {
		const struct locus *from = &m->locus[i];
		size_t nr = from->values.nr;

		l[i].nr = (int)nr;
		l[i].ordered = from->key != NULL;
		l[i].place = xcalloc(nr + 1, sizeof(double));
		l[i].belief = xcalloc(nr + 1, sizeof(double));
		if (from->key)
			l[i].place[0] = source_number(s, from->key);
		for (size_t k = 0; k < nr; k++) {
			if (from->key)
				l[i].place[k + 1] =
					number_of(from->values.v[k]);
			l[i].belief[k + 1] = belief_of(from->belief[k].ratio);
		}
	}
	model = model_new(l, m->nr_loci);
	for (size_t i = 0; i < m->nr_loci; i++) {
		free(l[i].place);
		free(l[i].belief);
	}
	free(l);
	return model;
}

/* The setting of a recipe; false where it holds what no locus has. */
static bool read_setting(const struct moves *m, const char *text, int *out)
{
	struct err unused = ERR_INIT;
	struct recipe r;
	size_t words = 0, found = 0;

	if (recipe_parse(&r, text, &unused))
		return false;
	for (size_t i = 0; i < r.nr; i++)
		words += r.v[i].args.nr && strchr(r.v[i].args.v[0], '=') &&
			!strcmp(r.v[i].name, strategy_tunables.name) ?
			r.v[i].args.nr : 1;
	for (size_t i = 0; i < m->nr_loci; i++) {
		out[i] = locus_value(&m->locus[i], &r);
		found += out[i] >= 0;
	}
	recipe_release(&r);
	return found == words;
}

/* ---- what was tried ---- */

static double worst_of(const struct propose_ask *ask)
{
	double worst = 0;

	for (size_t i = 0; i < ask->nr_tried; i++)
		if (isfinite(ask->tried[i].score) &&
		    ask->tried[i].score < worst)
			worst = ask->tried[i].score;
	return worst;
}

static size_t add_tried(struct model *model, const struct moves *m,
			const struct propose_ask *ask, int *setting)
{
	double failed = worst_of(ask) - FAILED;
	size_t nr = 0;

	for (size_t i = 0; i < ask->nr_tried; i++) {
		const struct tried *t = &ask->tried[i];

		if (!read_setting(m, t->recipe, setting))
			continue;
		if (t->pending)
			model_add_pending(model, setting);
		else
			model_add(model, setting, isfinite(t->score) ?
				  t->score : failed);
		nr += !t->pending;
	}
	return nr;
}

/* ---- what could be ---- */

static void add_choice(struct learned *l, const struct moves *m,
		       const int *setting)
{
	struct choice *c;

	GROW(l->v, l->nr, l->cap);
	c = &l->v[l->nr++];
	*c = (struct choice){ .setting = xcalloc(m->nr_loci, sizeof(int)) };
	memcpy(c->setting, setting, m->nr_loci * sizeof(int));
}

static void add_all(struct learned *l, const struct moves *m, int *setting)
{
	bool more = true;

	for (size_t i = 0; i < m->nr_loci; i++)
		setting[i] = -1;
	while (more) {
		add_choice(l, m, setting);
		more = false;
		for (size_t i = 0; i < m->nr_loci && !more; i++) {
			more = ++setting[i] < (int)m->locus[i].values.nr;
			if (!more)
				setting[i] = -1;
		}
	}
}

static void add_neighbours(struct learned *l, const struct moves *m,
			   int *setting)
{
	for (size_t i = 0; i < m->nr_loci; i++) {
		int was = setting[i];

		for (int v = -1; v < (int)m->locus[i].values.nr; v++) {
			setting[i] = v;
			if (v != was)
				add_choice(l, m, setting);
		}
		setting[i] = was;
	}
}

/* The recipe with the best score below *under, which becomes that. */
static const char *next_best(const struct propose_ask *ask, double *under)
{
	const char *recipe = NULL;
	double best = -INFINITY;

	for (size_t i = 0; i < ask->nr_tried; i++) {
		const struct tried *t = &ask->tried[i];

		if (t->pending || !isfinite(t->score) ||
		    !(t->score < *under) || !(t->score > best))
			continue;
		best = t->score;
		recipe = t->recipe;
	}
	*under = best;
	return recipe;
}

static void add_some(struct learned *l, struct moves *m,
		     const struct propose_ask *ask, int *setting)
{
	double under = INFINITY;
	struct rng rng;

	for (int i = 0; i < NEAR; i++) {
		const char *recipe = next_best(ask, &under);

		if (recipe && read_setting(m, recipe, setting))
			add_neighbours(l, m, setting);
	}
	rng_init(&rng, rng_mix(ask->seed, 3));
	for (int i = 0; i < DRAWN; i++) {
		struct move mv = moves_sample(m, &rng);

		for (size_t k = 0; k < m->nr_loci; k++)
			setting[k] = -1;
		for (size_t k = 0; k < mv.nr; k++) {
			const struct change *c = &m->change[mv.first + k];

			setting[c->locus] = locus_index(&m->locus[c->locus],
							c->value);
		}
		moves_undraw(m, &mv);
		add_choice(l, m, setting);
	}
}

static int by_gain(const void *a, const void *b)
{
	const struct choice *x = a, *y = b;

	return x->gain > y->gain ? -1 : x->gain < y->gain;
}

static int by_mean(const void *a, const void *b)
{
	const struct choice *x = a, *y = b;

	return x->mean > y->mean ? -1 : x->mean < y->mean;
}

/* Equal ones keep no order of their own: the seed gives them one. */
static void shuffle(struct learned *l, uint64_t seed)
{
	struct rng rng;

	rng_init(&rng, rng_mix(seed, 4));
	for (size_t i = l->nr; i > 1; i--) {
		size_t k = (size_t)rng_below(&rng, i);
		struct choice t = l->v[i - 1];

		l->v[i - 1] = l->v[k];
		l->v[k] = t;
	}
}

static void weigh(struct learned *l, const struct model *model)
{
	size_t asked = l->nr < ASKED ? l->nr : ASKED;

	for (size_t i = 0; i < l->nr; i++)
		l->v[i].mean = model_mean(model, l->v[i].setting);
	if (asked < l->nr)
		qsort(l->v, l->nr, sizeof(*l->v), by_mean);
	for (size_t i = 0; i < l->nr; i++) {
		struct choice *c = &l->v[i];

		c->sd = i < asked ? model_sd(model, c->setting) : 0.01;
		c->gain = model_improvement(model, c->mean, c->sd);
	}
	qsort(l->v, l->nr, sizeof(*l->v), by_gain);
}

void learn_find(struct learned *l, struct moves *m, const struct site *s,
		const struct propose_ask *ask)
{
	struct model *model = new_model(m, s);
	int *setting = xcalloc(m->nr_loci + 1, sizeof(*setting));

	*l = (struct learned){ NULL, 0, 0, 0 };
	l->nr_tried = add_tried(model, m, ask, setting);
	model_fit(model);
	if (moves_settings(m) <= ALL)
		add_all(l, m, setting);
	else
		add_some(l, m, ask, setting);
	shuffle(l, ask->seed);
	weigh(l, model);
	free(setting);
	model_free(model);
}

void learn_release(struct learned *l)
{
	for (size_t i = 0; i < l->nr; i++)
		free(l->v[i].setting);
	free(l->v);
	*l = (struct learned){ NULL, 0, 0, 0 };
}

struct move learn_move(const struct choice *c, struct moves *m)
{
	struct move mv = { m->nr_changes, 0 };

	for (size_t i = 0; i < m->nr_loci; i++) {
		const struct locus *l = &m->locus[i];

		if (c->setting[i] == l->now)
			continue;
		GROW(m->change, m->nr_changes, m->cap_changes);
		m->change[m->nr_changes++] = (struct change){
			i, c->setting[i] < 0 ? NULL :
			l->values.v[c->setting[i]]
		};
		mv.nr++;
	}
	return mv;
}
