/* What a tuning found: ranked, in words, and as lines of JSON. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "core/mem.h"
#include "core/search_state.h"
#include "core/tune.h"

#define BEST_ROWS 5
#define MAX_LISTED 24		/* values of a name that are listed */

/* ---- ranked ---- */

size_t tune_rank(const struct tune *t, size_t max, size_t *out)
{
	size_t nr = 0;

	for (size_t i = 0; i < t->nr; i++) {
		const struct tune_trial *one = &t->trial[i];
		size_t at = nr;

		if (isnan(one->score) || one->again)
			continue;
		while (at && t->trial[out[at - 1]].score < one->score)
			at--;
		if (at == max)
			continue;
		nr += nr < max;
		memmove(out + at + 1, out + at, (nr - at - 1) * sizeof(*out));
		out[at] = i;
	}
	return nr;
}

enum verdict tune_verdict(const struct tune_trial *one)
{
	if (!one->res)
		return V_NO_VERDICT;
	if (!verdict_is_timed(one->res->verdict))
		return one->res->verdict;
	if (isnan(one->score))
		return V_NO_VERDICT;
	return one->score > TUNE_GAIN ? V_FASTER :
		one->score < -TUNE_GAIN ? V_SLOWER : V_SAME;
}

double tune_worth(const struct tune *t, size_t name)
{
	int now = t->space->sel.v[name].now;
	/* The node is a trial of its own. */
	double best = t->by ? 0 : NAN, as_is = best;

	for (size_t i = 0; i < t->nr; i++) {
		double s = t->trial[i].score;

		best = fmax(best, s);
		if (t->trial[i].set[name] == now)
			as_is = fmax(as_is, s);
	}
	return exp(best - as_is);
}

/* ---- the winner ---- */

bool tune_confirmed(const struct tune *t, const struct node *n)
{
	const struct node *node = &t->run->graph.node[t->node];
	struct oid_hex state = oid_text(&node->state);
	struct err unused = ERR_INIT;
	struct record rec;
	bool same;

	if (n->confirmed || !n->rec.confirming)
		return n->confirmed;
	record_init(&rec);
	store_record(t->run->search, &n->id, t->run->state->info.device, &rec,
		     &unused);
	same = !rec.against ||
		!strcmp(rec.against, t->node ? state.s : "root");
	record_release(&rec);
	return same;
}

/* ---- the plan ---- */

static const char verdict_bad[] = "no source";

static const char *verdict_of(const struct tune_trial *one)
{
	return one->res ? verdict_name(tune_verdict(one)) : verdict_bad;
}

void tune_tally(const struct tune *t, struct buf *out)
{
	size_t count[V_NR] = { 0 }, bad = 0, begin = out->len;

	for (size_t i = 0; i < t->nr; i++)
		if (t->trial[i].res && !t->trial[i].again)
			count[tune_verdict(&t->trial[i])]++;
		else
			bad += t->trial[i].error != NULL;
	for (int v = V_NR - 1; v >= 0; v--)
		if (count[v])
			buf_addf(out, "%s%zu %s", out->len > begin ? ", " : "",
				 count[v], verdict_name((enum verdict)v));
	if (bad)
		buf_addf(out, "%s%zu of which no source came",
			 out->len > begin ? ", " : "", bad);
}

static void add_value(const struct locus_values *l, int value,
		      struct buf *out)
{
	size_t len;
	const char *text = tuner_value(l, value, &len);

	buf_add(out, text, len);
}

static void add_space(const struct tune *t, struct buf *out)
{
	const struct space *s = &t->space->sel;

	for (size_t i = 0; i < s->nr; i++) {
		const struct locus_values *l = &s->v[i];

		buf_addf(out, "- `%s`:%s", l->name, l->needed ? "" : " not set,");
		for (size_t k = 0; k < l->values.nr && k < MAX_LISTED; k++) {
			buf_addch(out, ' ');
			add_value(l, (int)k, out);
		}
		if (l->values.nr > MAX_LISTED)
			buf_addf(out, " and %zu more",
				 l->values.nr - MAX_LISTED);
		if (l->now >= 0) {
			buf_addstr(out, "; before: ");
			add_value(l, l->now, out);
		} else if (!l->needed) {
			buf_addstr(out, "; before: not set");
		}
		buf_addch(out, '\n');
	}
	for (size_t i = 0; i < t->space->nr_require; i++)
		buf_addf(out, "- required: `%s`\n", t->space->require[i].text);
}

static void add_tried(const struct tune *t, struct buf *out)
{
	buf_addch(out, '\n');
	if (t->whole && t->end == TUNE_WHOLE && t->legal == 1)
		buf_addstr(out, "The one other setting was tried");
	else if (t->whole && t->end == TUNE_WHOLE)
		buf_addf(out, "All %.0f other settings were tried", t->legal);
	else if (isnan(t->legal))
		buf_addf(out, "%zu of more settings than can be counted were "
			 "tried", t->evals);
	else
		buf_addf(out, "%zu of %.0f other settings were tried",
			 t->evals, t->legal);
	if (!t->whole)
		buf_addf(out, ", chosen by a seeded evolution (seed %llu)",
			 (unsigned long long)t->seed);
	buf_addstr(out, ": ");
	tune_tally(t, out);
	buf_addstr(out, ".\n");
}

static void add_best(const struct tune *t, struct buf *out)
{
	const struct space *s = &t->space->sel;
	size_t rank[BEST_ROWS], nr = tune_rank(t, BEST_ROWS, rank);

	buf_addstr(out, "\n|");
	for (size_t i = 0; i < s->nr; i++)
		buf_addf(out, " %s |", s->v[i].name);
	buf_addstr(out, " over the parent | verdict |\n|");
	for (size_t i = 0; i < s->nr + 2; i++)
		buf_addstr(out, "---|");
	buf_addch(out, '\n');
	for (size_t k = 0; k < nr; k++) {
		const struct tune_trial *one = &t->trial[rank[k]];

		buf_addch(out, '|');
		for (size_t i = 0; i < s->nr; i++) {
			buf_addch(out, ' ');
			add_value(&s->v[i], one->set[i], out);
			buf_addstr(out, " |");
		}
		buf_addf(out, " ~%.2fx | %s |\n", exp(one->score),
			 verdict_of(one));
	}
}

static void add_worths(const struct tune *t, struct buf *out)
{
	const struct space *s = &t->space->sel;
	bool any = false;

	for (size_t i = 0; i < s->nr && t->by; i++) {
		double worth = tune_worth(t, i);

		if (isnan(worth))
			continue;
		if (!any)
			buf_addstr(out, "\nWhat each is worth, the best over "
				   "the best that leaves it as it was: ");
		buf_addf(out, "%s`%s` ~%.2fx", any ? ", " : "", s->v[i].name,
			 worth);
		any = true;
	}
	if (any)
		buf_addstr(out, ".\n");
}

void tune_plan(const struct tune *t, const struct tune_trial *best,
	       const char *recipe, struct buf *out)
{
	const struct node *n = &t->run->graph.node[t->node];

	buf_addstr(out, "### tune ");
	tune_set_text(t->space, best->set, out);
	buf_addf(out, "\n\nSettings of node %s were tried: each was built, "
		 "checked, and screened against the best so far.\n\n",
		 oid_short(&n->id).s);
	add_space(t, out);
	add_tried(t, out);
	add_best(t, out);
	add_worths(t, out);
	buf_addf(out, "\nExpected: about %.2fx of the parent's speed.\n",
		 exp(best->score));
	if (t->by)
		buf_addf(out, "Recipe: `%s`.\n", *recipe ? recipe : "(empty)");
	else
		buf_addf(out, "Template: `%s`, in the place of `%s`.\n",
			 t->template_name, t->file);
}

/* ---- the trials ---- */

static void put_value(const struct locus_values *l, int value,
		      struct buf *out)
{
	struct buf text = BUF_INIT;

	if (value < 0) {
		json_put_raw(out, NULL, "null");
		return;
	}
	add_value(l, value, &text);
	json_put_str(out, NULL, text.ptr);
	buf_release(&text);
}

static void put_trial(const struct tune *t, const struct tune_trial *one,
		      struct buf *out)
{
	const struct space *s = &t->space->sel;

	json_open(out, NULL, '{');
	json_open(out, "set", '[');
	for (size_t i = 0; i < s->nr; i++)
		put_value(&s->v[i], one->set[i], out);
	json_shut(out, ']');
	json_put_str(out, "st", oid_text(&one->state).s);
	json_put_str(out, "verdict", verdict_of(one));
	json_put_num(out, "lr", one->score, 6);
	json_put_num(out, "s", one->res ? one->res->seconds : 0, 4);
	json_shut(out, '}');
	buf_addch(out, '\n');
}

static const char samples_head[] = "{\"tune\":{";

void tune_samples(const struct tune *t, struct buf *out)
{
	const struct space *s = &t->space->sel;
	size_t nr = 0;

	for (size_t i = 0; i < t->nr; i++)
		nr += t->trial[i].res && !t->trial[i].again;
	json_open(out, NULL, '{');
	json_open(out, "tune", '{');
	json_open(out, "names", '[');
	for (size_t i = 0; i < s->nr; i++)
		json_put_str(out, NULL, s->v[i].name);
	json_shut(out, ']');
	json_put_num(out, "settings", t->legal, 0);
	json_put_int(out, "trials", (int64_t)nr);
	json_put_str(out, "way", t->whole ? "grid" : "evolution");
	json_put_int(out, "seed", (int64_t)t->seed);
	json_shut(out, '}');
	json_shut(out, '}');
	buf_addch(out, '\n');
	for (size_t i = 0; i < t->nr; i++)
		if (t->trial[i].res && !t->trial[i].again)
			put_trial(t, &t->trial[i], out);
}

const char *tune_find_samples(const struct record *r)
{
	const char *p = r->samples.ptr, *end = p + r->samples.len;

	while (p && p < end) {
		size_t left = (size_t)(end - p);

		if (left >= sizeof(samples_head) - 1 &&
		    !memcmp(p, samples_head, sizeof(samples_head) - 1))
			return p;
		p = memchr(p, '\n', left);
		p += p != NULL;
	}
	return NULL;
}
