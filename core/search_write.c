/* Attempts into the store: as they end, or before they are judged. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/mem.h"
#include "core/search_state.h"

static void add_measured(struct buf *plan, const struct record *r)
{
	buf_addf(plan, "\n## Measured\n\nVerdict: %s", verdict_name(r->verdict));
	if (!isnan(r->est_speedup))
		buf_addf(plan, ", estimated %.2fx over the root",
			 r->est_speedup);
	if (!isnan(r->vs_parent))
		buf_addf(plan, ", %.2fx over its parent", r->vs_parent);
	buf_addstr(plan, ".\n");
	if (r->error) {
		buf_addstr(plan, "\n");
		buf_add_clean(plan, r->error, strlen(r->error), true);
		buf_addstr(plan, "\n");
	}
}

static void tell_written(struct state *st, struct attempt *a)
{
	struct search_event e = {
		.kind = SEARCH_ATTEMPT, .step = a->step,
		.subject = a->p.subject, .commit = &a->id,
		.rec = &a->rec, .known = a->known,
	};

	a->written = true;
	/* One that was stored before counted then. */
	if (!a->stored) {
		st->run->made++;
		purse_use(st->run->purse, 1, 0, 0, 0);
	}
	search_emit(st, &e);
}

/* Records of nodes that a killed run wrote and had no time to judge. */
static int write_stored(struct state *st, struct attempt *at, size_t nr,
			struct err *err)
{
	int ret = 0;

	for (size_t i = 0; i < nr && !ret; i++) {
		struct attempt *a = &at[i];

		if (a->phase != AT_DONE || a->written || !a->stored)
			continue;
		ret = store_measure(st->run->search, &a->id, &a->state,
				    &a->rec, err);
		if (!ret)
			tell_written(st, a);
	}
	return ret;
}

/* Trials are the caller's to keep. */
static void tell_trials(struct state *st, struct attempt *at, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (at[i].trial && at[i].phase == AT_DONE && !at[i].written)
			tell_written(st, &at[i]);
}

static void fill_out(const struct state *st, const struct attempt *a,
		     struct oid parent[2], struct store_attempt *out)
{
	const struct graph *g = &st->run->graph;
	bool two = a->parent2 != NODE_NONE;

	parent[0] = g->node[a->parent].id;
	if (two)
		parent[1] = g->node[a->parent2].id;
	*out = (struct store_attempt){
		.op = a->op, .proposer = a->by, .strategy = a->p.strategy,
		.recipe = a->p.recipe, .subject = a->p.subject,
		.step = a->step, .parent = parent, .nr_parents = two ? 2 : 1,
		.source = a->empty ? NULL : &a->p.source,
		.plan = a->p.plan.ptr, .steps = a->p.steps,
		.used = a->used.nr ? &a->used : NULL, .rec = &a->rec,
		.state = a->state,
	};
}

int search_write_done(struct state *st, struct attempt *at, size_t nr,
		      struct err *err)
{
	struct store_attempt *out = xcalloc(nr, sizeof(*out));
	struct oid (*parent)[2] = xcalloc(nr, sizeof(*parent));
	size_t *from = xcalloc(nr, sizeof(*from)), n = 0;
	int ret = 0;

	tell_trials(st, at, nr);
	for (size_t i = 0; i < nr; i++) {
		struct attempt *a = &at[i];

		if (a->phase != AT_DONE || a->written || a->stored)
			continue;
		if (!a->empty)
			add_measured(&a->p.plan, &a->rec);
		fill_out(st, a, parent[n], &out[n]);
		from[n++] = i;
	}
	if (n)
		ret = store_append(st->run->search, out, n, err);
	if (!ret)
		ret = write_stored(st, at, nr, err);
	for (size_t i = 0; i < n && !ret; i++) {
		at[from[i]].id = out[i].id;
		tell_written(st, &at[from[i]]);
	}
	free(from);
	free(parent);
	free(out);
	return ret;
}

int search_write_paid(struct state *st, struct attempt *a, struct err *err)
{
	struct store_attempt out;
	struct oid parent[2];
	int ret;

	fill_out(st, a, parent, &out);
	if (!a->empty)
		out.rec = NULL;
	ret = store_append(st->run->search, &out, 1, err);
	if (ret)
		return ret;
	a->id = out.id;
	if (a->empty) {
		tell_written(st, a);
		return 0;
	}
	a->stored = true;
	st->run->made++;
	purse_use(st->run->purse, 1, 0, 0, 0);
	return 0;
}

/* ---- into the graph at hand ---- */

static void add_spend(struct graph *g, const struct attempt *a)
{
	GROW(g->spend, g->nr_spend, g->cap_spend);
	g->spend[g->nr_spend++] = (struct spend){
		.step = a->step, .verdict = a->rec.verdict, .state = a->state,
		.attempt_s = a->rec.attempt_s, .device_s = a->rec.device_s,
		.score = NAN,
	};
	if (isfinite(a->rec.attempt_s))
		g->spent_s += a->rec.attempt_s;
}

void search_add(struct state *st, struct attempt *a)
{
	struct graph *g = &st->run->graph;
	struct node n;

	if (a->empty) {
		add_spend(g, a);
		return;
	}
	n = (struct node){
		.id = a->id, .state = a->state,
		.parent = { a->parent, a->parent2 }, .step = a->step,
		.steps = a->p.steps, .op = xstrdup(a->op),
		.proposer = xstrdup(a->by),
		.strategy = xstrdup(a->p.strategy), .recipe = xstrdup(a->p.recipe),
		.subject = xstrdup(a->p.subject),
		.worker = xstrdup(st->run->search->worker),
		.time = (int64_t)time(NULL),
	};

	record_copy(&n.rec, &a->rec);
	graph_add(g, &n);
}
