/* What git maxkernel tune tells, and its result. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/out.h"
#include "cmd/tune.h"
#include "core/mem.h"
#include "core/policy.h"

#define ROWS 10			/* of the table */

/* ---- telling ---- */

void tuning_trial(void *ctx, const struct tune *t,
		  const struct tune_trial *one)
{
	const struct tuning *g = ctx;
	enum verdict verdict = tune_verdict(one);
	struct buf b = BUF_INIT;
	char ratio[32] = "";

	if (one->again ||
	    (live_on() && !g->o->verbose && verdict != V_FASTER))
		return;
	if (!isnan(one->score))
		snprintf(ratio, sizeof(ratio), "~%.2fx", exp(one->score));
	buf_addf(&b, "%5zu %-10s %9s  ", (size_t)(one - t->trial) + 1,
		 one->res ? verdict_name(verdict) : "no source",
		 ratio);
	tune_set_text(t->space, one->set, &b);
	if (one->res && !one->paid)
		buf_addstr(&b, "  (known)");
	if (one->error || (one->res && one->res->error &&
			   !verdict_is_timed(verdict))) {
		const char *why = one->error ? one->error : one->res->error;

		buf_addstr(&b, ": ");
		buf_add_clean(&b, why, strcspn(why, "\n"), false);
	}
	say("%s", b.ptr);
	buf_release(&b);
}

void tuning_event(void *ctx, const struct search_event *e)
{
	(void)ctx;
	switch (e->kind) {
	case SEARCH_NOTE:
		warn("%s", e->text);
		break;
	case SEARCH_WHY:	/* of a policy: none is asked */
		break;
	case SEARCH_CONFIRM:
		if (e->rec->verdict == V_CONFIRMED)
			say("      confirmed  %.2fx [%.2f, %.2f] over the "
			    "baseline: %s  %s", e->rec->speedup,
			    e->rec->ci_low, e->rec->ci_high,
			    oid_short(e->commit).s, e->subject);
		else
			say("      not confirmed (%s): %s  %s",
			    verdict_name(e->rec->verdict),
			    oid_short(e->commit).s, e->subject);
		break;
	case SEARCH_ATTEMPT:
		if (e->rec->verdict != V_NO_PROPOSAL)
			say("      %-10s written: %s  %s",
			    verdict_name(e->rec->verdict),
			    oid_short(e->commit).s, e->subject);
		break;
	}
}

void tuning_tick(void *ctx, const struct search_now *n)
{
	struct tuning *g = ctx;
	const struct tune *t = &g->tune;
	double best = 0;

	if (running_tick(g->running, n))
		g->run.halt = true;
	if (!live_on())
		return;
	for (size_t i = 0; i < t->nr; i++)
		best = fmax(best, t->trial[i].score);
	live("%s: %zu settings, best %.2fx of the node, %.0f s; %s",
	     g->task.kernel->name, t->nr, exp(best), n->elapsed_s, n->doing);
}

/* ---- the result ---- */

static const struct node *made(const struct tuning *g)
{
	return g->tune.made == NODE_NONE ? NULL :
		&g->run.graph.node[g->tune.made];
}

bool tuning_is_better(const struct tuning *g)
{
	const struct graph *gr = &g->run.graph;
	const struct node *n = made(g);

	return n && n->confirmed &&
		n->score > policy_score(gr, g->tune.node) + TUNE_GAIN;
}

static void put_set(struct jout *j, const struct tune *t,
		    const struct tune_trial *one)
{
	struct jout set;
	struct buf text = BUF_INIT;

	jout_begin(&set);
	for (size_t i = 0; i < t->space->sel.nr; i++) {
		const struct locus_values *l = &t->space->sel.v[i];
		size_t len;
		const char *v = tuner_value(l, one->set[i], &len);
		char *word = xstrndup(v, len);

		jout_str(&set, l->name, one->set[i] < 0 ? NULL : word);
		free(word);
	}
	jout_detach(&set, &text);
	jout_raw(j, "setting", text.ptr);
	buf_release(&text);
}

static void put_best(struct jout *j, const struct tune *t)
{
	size_t rank[ROWS], nr = tune_rank(t, ROWS, rank);
	struct buf list = BUF_INIT;

	buf_addch(&list, '[');
	for (size_t i = 0; i < nr; i++) {
		const struct tune_trial *one = &t->trial[rank[i]];
		struct jout row;

		if (i)
			buf_addch(&list, ',');
		jout_begin(&row);
		put_set(&row, t, one);
		jout_str(&row, "state", oid_text(&one->state).s);
		jout_str(&row, "verdict", verdict_name(tune_verdict(one)));
		jout_num(&row, "vs_parent", exp(one->score));
		jout_num(&row, "est_speedup", one->res->est);
		jout_detach(&row, &list);
	}
	buf_addch(&list, ']');
	jout_raw(j, "best", list.ptr);
	buf_release(&list);
}

static void put_worths(struct jout *j, const struct tune *t)
{
	struct jout one;
	struct buf text = BUF_INIT;

	jout_begin(&one);
	for (size_t i = 0; i < t->space->sel.nr; i++)
		jout_num(&one, t->space->sel.v[i].name, t->by ?
			 tune_worth(t, i) : NAN);
	jout_detach(&one, &text);
	jout_raw(j, "worth", text.ptr);
	buf_release(&text);
}

static const char *end_name(const struct tune *t)
{
	static const char *const names[] = {
		[TUNE_WHOLE] = "exhausted", [TUNE_ATTEMPTS] = "attempts",
		[TUNE_TIME] = "time", [TUNE_DEVICE] = "device time",
		[TUNE_UNTIL] = "until",
		[TUNE_STOPPED] = "stopped",
	};

	return names[t->end];
}

static int print_json(struct tuning *g, struct err *err)
{
	const struct tune *t = &g->tune;
	const struct node *n = made(g);
	struct record rec;
	struct jout j;
	int ret = 0;

	record_init(&rec);
	if (n)
		ret = store_record(g->search, &n->id, g->device,
				   &rec, err);
	jout_begin(&j);
	jout_str(&j, "kernel", g->task.kernel->name);
	jout_str(&j, "search", g->search->spec.slug);
	jout_str(&j, "parent", oid_text(&g->node).s);
	jout_str(&j, "node", n ? oid_text(&n->id).s : NULL);
	jout_bool(&j, "known", t->known);
	jout_str(&j, "way", t->whole ? "grid" : "evolution");
	jout_num(&j, "settings", t->legal);
	jout_int(&j, "trials", (long long)t->evals);
	jout_str(&j, "end", end_name(t));
	if (n && t->best < t->nr)
		put_set(&j, t, &t->trial[t->best]);
	put_best(&j, t);
	put_worths(&j, t);
	jout_bool(&j, "better", tuning_is_better(g));
	jout_record(&j, &rec);
	jout_end(&j, stdout);
	record_release(&rec);
	return ret;
}

static void print_table(const struct tune *t)
{
	const struct space *s = &t->space->sel;
	size_t rank[ROWS], nr = tune_rank(t, ROWS, rank);
	int cols = (int)s->nr + 2;
	struct table table;

	if (!nr)
		return;
	table_init(&table, cols, (1u << (cols - 1)) - 1);
	for (size_t i = 0; i < s->nr; i++)
		table_cell(&table, "%s", s->v[i].name);
	table_cell(&table, "over the node");
	table_cell(&table, "verdict");
	for (size_t k = 0; k < nr; k++) {
		const struct tune_trial *one = &t->trial[rank[k]];

		for (size_t i = 0; i < s->nr; i++) {
			size_t len;
			const char *v = tuner_value(&s->v[i], one->set[i],
						    &len);

			table_cell(&table, "%.*s", (int)len, v);
		}
		table_cell(&table, "~%.2fx", exp(one->score));
		table_cell(&table, "%s", verdict_name(tune_verdict(one)));
		table_tint(&table, verdict_colour(tune_verdict(one)));
	}
	table_print(&table, stdout);
	table_release(&table);
}

static void print_worths(const struct tune *t)
{
	bool any = false;

	for (size_t i = 0; i < t->space->sel.nr && t->by; i++) {
		double worth = tune_worth(t, i);

		if (isnan(worth))
			continue;
		printf("%s%s ~%.2fx", any ? ", " : "worth: ",
		       t->space->sel.v[i].name, worth);
		any = true;
	}
	if (any)
		putchar('\n');
}

/* What may be picked, or whatever else is the best of the search. */
static void print_next(const struct tuning *g, const struct node *n)
{
	const struct graph *gr = &g->run.graph;
	const struct node *best = &gr->node[gr->champion];
	struct oid_hex id = oid_short(&n->id);

	if (best == n)
		printf("next: git maxkernel show %s, git maxkernel pick %s\n",
		       id.s, id.s);
	else if (gr->champion)
		printf("the champion is %s, %.2fx over the root\n",
		       oid_short(&best->id).s, exp(best->score));
}

static void print_node(const struct tuning *g)
{
	const struct tune *t = &g->tune;
	const struct node *n = made(g);
	struct buf set = BUF_INIT;

	if (t->best < t->nr)
		tune_set_text(t->space, t->trial[t->best].set, &set);
	printf("%s%s: %s", t->known ? "known: " : "", oid_short(&n->id).s,
	       set.ptr);
	if (!isnan(n->rec.speedup))
		printf(", %s %.2fx [%.2f, %.2f] over the baseline, %.2fx over "
		       "the node\n", verdict_name(n->rec.verdict),
		       n->rec.speedup, n->rec.ci_low, n->rec.ci_high,
		       exp(n->score - policy_score(&g->run.graph, t->node)));
	else
		printf(", %s, not confirmed\n", verdict_name(n->rec.verdict));
	print_next(g, n);
	buf_release(&set);
}

static void print_tried(const struct tuning *g)
{
	const struct tune *t = &g->tune;
	const char *kernel = g->task.kernel->name;

	if (isnan(t->legal))
		printf("%s: %zu setting%s tried", kernel, t->evals,
		       t->evals == 1 ? "" : "s");
	else if (t->whole && t->end == TUNE_WHOLE && t->legal == 1)
		printf("%s: the one other setting tried", kernel);
	else if (t->whole && t->end == TUNE_WHOLE)
		printf("%s: all %.0f other settings tried", kernel, t->legal);
	else
		printf("%s: %zu of %.0f other setting%s tried", kernel,
		       t->evals, t->legal, t->legal == 1 ? "" : "s");
}

static void print_people(const struct tuning *g)
{
	const struct tune *t = &g->tune;
	struct buf tally = BUF_INIT;

	tune_tally(t, &tally);
	print_tried(g);
	printf(" (%s)%s%s\n", t->whole ? "grid" : "evolution",
	       tally.len ? ": " : "", tally.ptr);
	print_table(t);
	print_worths(t);
	if (made(g))
		print_node(g);
	if (t->end == TUNE_STOPPED)
		printf("halted; the same command goes on\n");
	else if (!made(g))
		printf("none is faster than %s\n", oid_short(&g->node).s);
	buf_release(&tally);
}

int tuning_print(struct tuning *g, struct err *err)
{
	if (g->o->json)
		return print_json(g, err);
	print_people(g);
	return 0;
}
