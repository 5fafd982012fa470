#include "core/tuner.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/tuner_parts.h"

/* ---- values ---- */

void tuner_names(const struct space *s, struct strv *out)
{
	for (size_t i = 0; i < s->nr; i++)
		strv_push(out, s->v[i].name);
}

const char *tuner_value(const struct locus_values *l, int value, size_t *len)
{
	const char *text = value < 0 ? "-" : l->values.v[value];
	size_t name = strlen(l->name);
	const char *open;

	*len = strlen(text);
	if (value < 0)
		return text;
	if (!strncmp(text, l->name, name) && text[name] == '=') {
		*len -= name + 1;
		return text + name + 1;
	}
	open = strchr(text, '(');
	if (open && *len && text[*len - 1] == ')') {
		*len -= (size_t)(open - text) + 2;
		return open + 1;
	}
	return text;
}

bool tuner_number(const struct locus_values *l, int value, int64_t *out)
{
	size_t len;
	const char *text = tuner_value(l, value, &len);

	*out = 0;
	if (value < 0)
		return true;
	for (size_t i = 0; i < len; i++) {
		if (text[i] < '0' || text[i] > '9' || i > 17)
			return false;
		*out = *out * 10 + (text[i] - '0');
	}
	return len > 0;
}

int tuner_check_require(const struct space *s, const struct expr *e,
			struct err *err)
{
	for (size_t i = 0; i < s->nr; i++) {
		const struct locus_values *l = &s->v[i];
		int64_t unused;

		if (!expr_uses(e, (int)i))
			continue;
		for (size_t k = 0; k < l->values.nr; k++)
			if (!tuner_number(l, (int)k, &unused))
				return err_set(err, ERR_FORMAT, "'%s' has the "
					       "value '%s', which is no whole "
					       "number: '%s' cannot use it",
					       l->name, l->values.v[k],
					       e->text);
	}
	return 0;
}

/* ---- settings ---- */

int tuner_choices(const struct tuner *t, int name)
{
	const struct locus_values *l = &t->o.space->v[name];

	return (int)l->values.nr + !l->needed;
}

unsigned char tuner_choice(const struct tuner *t, int name, int k)
{
	return (unsigned char)(k + t->o.space->v[name].needed);
}

bool tuner_is_legal(const struct tuner *t, const struct tuner_point *p)
{
	int64_t value[TUNER_MAX_NAMES], holds;
	struct err unused = ERR_INIT;

	if (!t->o.nr_require)
		return true;
	for (int i = 0; i < t->nr; i++)
		value[i] = t->number[i][p->v[i]];
	for (size_t i = 0; i < t->o.nr_require; i++)
		if (expr_eval(&t->o.require[i], value, &holds, &unused) ||
		    !holds)
			return false;
	return true;
}

/* The slot of a setting, or the free one where it belongs. */
static size_t find(const struct tuner *t, const struct tuner_point *p)
{
	size_t mask = t->nr_slots - 1;
	size_t at = rng_hash(p->v, sizeof(p->v)) & mask;

	while (t->slot[at] &&
	       memcmp(&t->trial[t->slot[at] - 1].at, p, sizeof(*p)) != 0)
		at = (at + 1) & mask;
	return at;
}

bool tuner_was_tried(const struct tuner *t, const struct tuner_point *p)
{
	return t->nr_slots && t->slot[find(t, p)];
}

void tuner_add(struct tuner *t, const struct tuner_point *p)
{
	if ((t->nr_trials + 1) * 2 > t->nr_slots) {
		t->nr_slots = t->nr_slots ? t->nr_slots * 2 : 64;
		free(t->slot);
		t->slot = xcalloc(t->nr_slots, sizeof(*t->slot));
		for (size_t i = 0; i < t->nr_trials; i++)
			t->slot[find(t, &t->trial[i].at)] = (uint32_t)i + 1;
	}
	GROW(t->trial, t->nr_trials, t->cap_trials);
	t->trial[t->nr_trials] = (struct tuner_trial){ .at = *p, .score = NAN };
	t->slot[find(t, p)] = (uint32_t)++t->nr_trials;
}

void tuner_first(const struct tuner *t, struct tuner_point *p)
{
	memset(p, 0, sizeof(*p));
	for (int i = 0; i < t->nr; i++)
		p->v[i] = tuner_choice(t, i, 0);
}

bool tuner_following(const struct tuner *t, struct tuner_point *p)
{
	for (int i = t->nr - 1; i >= 0; i--) {
		if (p->v[i] < t->o.space->v[i].values.nr) {
			p->v[i]++;
			return true;
		}
		p->v[i] = tuner_choice(t, i, 0);
	}
	return false;
}

/* ---- the space tried whole ---- */

static int distance(const struct tuner *t, const struct tuner_point *p)
{
	int nr = 0;

	for (int i = 0; i < t->nr && t->has_now; i++)
		nr += p->v[i] != t->now.v[i];
	return nr;
}

/* Counts the legal settings but the node's; keeps the first max of them. */
static void count(struct tuner *t, size_t max)
{
	struct tuner_point p;
	size_t legal = 0, cap = 0;
	bool more = true;

	for (tuner_first(t, &p); more; more = tuner_following(t, &p)) {
		if (!tuner_is_legal(t, &p))
			continue;
		t->any = true;
		if (t->has_now && !memcmp(&p, &t->now, sizeof(p)))
			continue;
		legal++;
		if (t->nr_list >= max)
			continue;
		GROW(t->list, t->nr_list, cap);
		t->list[t->nr_list++] = p;
	}
	t->legal = (double)legal;
}

/* By distance from the node's setting, else in order. */
static void order(struct tuner *t)
{
	struct tuner_point *out = xcalloc(t->nr_list + 1, sizeof(*out));
	size_t nr = 0;

	for (int d = 0; d <= t->nr; d++)
		for (size_t i = 0; i < t->nr_list; i++)
			if (distance(t, &t->list[i]) == d)
				out[nr++] = t->list[i];
	free(t->list);
	t->list = out;
}

static void choose_way(struct tuner *t)
{
	size_t max = (size_t)t->o.trials;

	t->legal = NAN;
	t->any = true;
	if (space_size(t->o.space) > TUNER_MAX_COUNT)
		return;
	t->any = false;
	count(t, max + 1);
	t->grid = t->nr_list <= max &&
		(int64_t)t->nr_list <= t->o.grid;
	if (t->grid)
		order(t);
}

/* ---- opening ---- */

static int check(const struct tuner_opts *o, struct err *err)
{
	const struct space *s = o->space;

	if (!s->nr)
		return err_set(err, ERR_FORMAT, "there is nothing to tune");
	if (s->nr > TUNER_MAX_NAMES)
		return err_set(err, ERR_LIMIT, "%zu names to tune: at most %d at "
			       "a time", s->nr, TUNER_MAX_NAMES);
	if (o->trials > TUNER_MAX_TRIALS)
		return err_set(err, ERR_LIMIT, "at most %d trials",
			       TUNER_MAX_TRIALS);
	for (size_t i = 0; i < s->nr; i++) {
		const struct locus_values *l = &s->v[i];

		if (l->values.nr > TUNER_MAX_VALUES)
			return err_set(err, ERR_LIMIT, "'%s' has %zu values: at "
				       "most %d", l->name, l->values.nr,
				       TUNER_MAX_VALUES);
		if (!l->values.nr && l->needed)
			return err_set(err, ERR_FORMAT, "'%s' has no value",
				       l->name);
	}
	if (o->nr_require > TUNER_MAX_REQUIRE)
		return err_set(err, ERR_LIMIT, "over %d requirements",
			       TUNER_MAX_REQUIRE);
	for (size_t i = 0; i < o->nr_require; i++)
		if (tuner_check_require(s, &o->require[i], err))
			return err->code;
	return 0;
}

static void read_values(struct tuner *t)
{
	const struct space *s = t->o.space;

	t->has_now = true;
	for (int i = 0; i < t->nr; i++) {
		const struct locus_values *l = &s->v[i];

		t->ordered[i] = true;
		for (int k = -1; k < (int)l->values.nr; k++) {
			int64_t *to = &t->number[i][k + 1];

			if (!tuner_number(l, k, to) || (k > 0 && *to <= to[-1]))
				t->ordered[i] = false;
		}
		t->now.v[i] = (unsigned char)(l->now + 1);
		if (l->now < 0 && l->needed)
			t->has_now = false;
	}
	for (size_t i = 0; i < t->o.nr_require; i++)
		for (int k = 0; k < t->nr; k++)
			if (expr_uses(&t->o.require[i], k))
				t->last[i] = k;
	if (!t->has_now)
		memset(&t->now, 0, sizeof(t->now));
}

int tuner_open(struct tuner **out, const struct tuner_opts *o,
	       struct err *err)
{
	struct tuner *t;
	int ret = check(o, err);

	*out = NULL;
	if (ret)
		return ret;
	t = xcalloc(1, sizeof(*t));
	t->o = *o;
	if (t->o.trials <= 0)
		t->o.trials = TUNER_MAX_TRIALS;
	t->nr = (int)o->space->nr;
	t->number = xcalloc((size_t)t->nr, sizeof(*t->number));
	t->effect = xcalloc((size_t)t->nr, sizeof(*t->effect));
	rng_init(&t->rng, o->seed);
	read_values(t);
	choose_way(t);
	if (!t->any) {
		tuner_close(t);
		return err_set(err, ERR_FORMAT, "no setting is left that meets "
			       "what is required");
	}
	if (t->has_now) {		/* known: it is what it is compared with */
		tuner_add(t, &t->now);
		t->trial[0].score = 0;
		t->trial[0].told = true;
	}
	t->batch = t->nr_trials;
	*out = t;
	return 0;
}

void tuner_close(struct tuner *t)
{
	if (!t)
		return;
	free(t->number);
	free(t->effect);
	free(t->list);
	free(t->trial);
	free(t->slot);
	free(t);
}

bool tuner_is_grid(const struct tuner *t)
{
	return t->grid;
}

double tuner_legal(const struct tuner *t)
{
	return t->legal;
}

/* ---- asking ---- */

size_t tuner_ask(struct tuner *t, int *out)
{
	size_t nr;

	for (size_t i = t->batch; i < t->nr_trials; i++)
		assert(t->trial[i].told);
	t->batch = t->nr_trials;
	if (t->grid) {
		while (t->next < t->nr_list &&
		       t->nr_trials - t->batch < TUNER_BATCH)
			tuner_add(t, &t->list[t->next++]);
	} else if (t->nr_trials < TUNER_MAX_TRIALS) {
		tuner_evolve(t);
	}
	nr = t->nr_trials - t->batch;
	for (size_t i = 0; i < nr; i++)
		for (int k = 0; k < t->nr; k++)
			*out++ = (int)t->trial[t->batch + i].at.v[k] - 1;
	return nr;
}

void tuner_tell(struct tuner *t, size_t i, double score)
{
	struct tuner_trial *trial = &t->trial[t->batch + i];

	assert(t->batch + i < t->nr_trials);
	trial->score = isfinite(score) ? score : NAN;
	trial->told = true;
}
