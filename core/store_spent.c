/* What a search has spent besides what its nodes say: attempts that made no
 * node, and calls of models. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/store_loader.h"

/* ---- reading ---- */

static void add_call(struct graph *g, const struct line *line,
		     uint32_t ledger)
{
	const struct metric *m = &line->m;
	struct call c = {
		.used = m->used, .step = m->step,
		.worker = graph_text(g, m->worker),
		.time = metric_seconds(m->t), .claimed = !line->ours,
		.ledger = ledger
	};

	c.used.agent = graph_text(g, m->used.agent);
	c.used.model = graph_text(g, m->used.model);
	GROW(g->call, g->nr_call, g->cap_call);
	g->call[g->nr_call++] = c;
}

static uint64_t line_number(const struct line *line)
{
	struct oid id;
	uint64_t nr;

	source_blob_id(line->text, strlen(line->text), &id);
	memcpy(&nr, id.id, sizeof(nr));
	return nr;
}

static void add_spend(struct graph *g, const struct line *line,
		      uint32_t ledger)
{
	const struct metric *m = &line->m;

	GROW(g->spend, g->nr_spend, g->cap_spend);
	g->spend[g->nr_spend++] = (struct spend){
		.step = m->step, .verdict = m->rec.verdict,
		.state = m->state, .attempt_s = m->rec.attempt_s,
		.device_s = m->rec.device_s, .claimed = !line->ours,
		.ledger = ledger, .line = line_number(line),
		.recipe = graph_text(g, m->recipe), .parent = m->from,
		.origin = m->on, .score = NAN
	};
	if (verdict_is_timed(m->rec.verdict) && m->rec.est_speedup > 0)
		g->spend[g->nr_spend - 1].score = log(m->rec.est_speedup);
}

void loader_spends(struct loader *l, struct graph *g, uint32_t ledger)
{
	for (size_t i = 0; i < l->lines.nr; i++) {
		const struct line *line = &l->lines.v[i];
		const struct metric *m = &line->m;

		if (m->event != METRIC_SPEND)
			continue;
		if (!line->ours && m->step > METRIC_MAX_STEP) {
			store_warn(l->warn, "an attempt of worker '%s' is left "
				   "out: its step is %u", m->worker, m->step);
			continue;
		}
		if (*m->used.id)
			add_call(g, line, ledger);
		else
			add_spend(g, line, ledger);
	}
}

void loader_forget_spends(struct graph *g, const bool *gone)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < g->nr_spend; i++)
		if (!gone[g->spend[i].ledger])
			g->spend[nr++] = g->spend[i];
	g->nr_spend = nr;
	nr = 0;
	for (uint32_t i = 0; i < g->nr_call; i++)
		if (!gone[g->call[i].ledger])
			g->call[nr++] = g->call[i];
	g->nr_call = nr;
}

/* ---- order ---- */

static int by_number(double a, double b)
{
	if (isnan(a) || isnan(b))
		return isnan(a) - isnan(b);
	return a < b ? -1 : a > b;
}

static int by_count(int64_t a, int64_t b)
{
	return a < b ? -1 : a > b;
}

static int by_spend(const void *a, const void *b)
{
	const struct spend *x = a, *y = b;
	int c = oid_cmp(&x->state, &y->state);

	if (x->step != y->step)
		return x->step < y->step ? -1 : 1;
	if (!c)
		c = by_number(x->attempt_s, y->attempt_s);
	if (!c)
		c = (int)x->verdict - (int)y->verdict;
	if (!c)
		c = x->claimed - y->claimed;
	if (!c)
		c = x->line < y->line ? -1 : x->line > y->line;
	return c;
}

static int by_usage(const struct usage *x, const struct usage *y)
{
	int c = by_number(x->cost, y->cost);

	if (!c)
		c = by_count(x->tokens_in, y->tokens_in);
	if (!c)
		c = by_count(x->tokens_cached, y->tokens_cached);
	if (!c)
		c = by_count(x->tokens_out, y->tokens_out);
	if (!c)
		c = by_count(x->tokens_reasoning, y->tokens_reasoning);
	if (!c)
		c = strcmp(x->agent, y->agent);
	if (!c)
		c = strcmp(x->model, y->model);
	return c ? c : by_number(x->seconds, y->seconds);
}

/* Of the lines with one id the one that counts comes first: ours, and then the
 * oldest. */
static int by_call(const void *a, const void *b)
{
	const struct call *x = a, *y = b;
	int c = strcmp(x->used.id, y->used.id);

	if (!c)
		c = x->claimed - y->claimed;
	if (!c)
		c = by_count(x->time, y->time);
	if (!c)
		c = strcmp(x->worker, y->worker);
	if (!c)
		c = by_count(x->step, y->step);
	return c ? c : by_usage(&x->used, &y->used);
}

void loader_sort_spends(struct graph *g)
{
	if (g->nr_spend > 1)
		qsort(g->spend, g->nr_spend, sizeof(*g->spend), by_spend);
	if (g->nr_call > 1)
		qsort(g->call, g->nr_call, sizeof(*g->call), by_call);
}

static int by_step(const void *a, const void *b)
{
	const struct call *x = a, *y = b;
	int c = by_count(x->step, y->step);

	return c ? c : strcmp(x->used.id, y->used.id);
}

/* ---- sums ---- */

static void add_seconds(struct graph *g, double attempt_s, double device_s)
{
	if (isfinite(attempt_s))
		g->spent_s += attempt_s;
	if (isfinite(device_s))
		g->device_s += device_s;
}

void loader_sum_spends(struct graph *g)
{
	uint32_t nr = 0;

	g->spent_s = g->device_s = g->cost = 0;
	g->tokens = 0;
	for (uint32_t i = 0; i < g->nr; i++)
		add_seconds(g, g->node[i].spent_s, g->node[i].device_s);
	for (uint32_t i = 0; i < g->nr_spend; i++)
		add_seconds(g, g->spend[i].attempt_s, g->spend[i].device_s);
	for (uint32_t i = 0; i < g->nr_call; i++) {
		struct call *c = &g->call[i];

		if (nr && !strcmp(g->call[nr - 1].used.id, c->used.id))
			continue;
		g->tokens = usage_sum(g->tokens, usage_tokens(&c->used));
		if (isfinite(c->used.cost))
			g->cost += c->used.cost;
		g->call[nr++] = *c;
	}
	g->nr_call = nr;
	if (nr > 1)
		qsort(g->call, nr, sizeof(*g->call), by_step);
}
