#include "cmd/rest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agents/agents.h"
#include "cmd/out.h"
#include "core/journal.h"
#include "core/mem.h"

#define NEXT_TO_NOTHING 1e-9	/* 0 would be no cap */

/* ---- what was used ---- */

static void add_span(struct spent *s, double from, double to)
{
	GROW(s->span, s->nr, s->cap);
	s->span[s->nr++] = (struct span){ from, to };
}

/* Nodes that were written before they were judged: those with calls. */
static bool *find_paid(const struct graph *g)
{
	bool *paid = xcalloc(g->nr ? g->nr : 1, sizeof(*paid));

	for (uint32_t i = 0; i < g->nr_call; i++) {
		uint32_t at = graph_call_node(g, g->call[i].step,
					      g->call[i].worker);

		if (at != NODE_NONE)
			paid[at] = true;
	}
	return paid;
}

/* The attempt itself may have had company; what else was measured of the node,
 * a confirmation mostly, had the device alone. */
static void add_measured(struct spent *s, const struct node *n, bool paid)
{
	double counts = n->rec.attempt_s > 0 ? n->rec.attempt_s : 0;
	bool is_later = n->rec.confirming || !isnan(n->rec.speedup);
	double rest = fmax(n->spent_s - counts, 0);
	double first = is_later && rest > 0 ? rest : counts;
	double time = (double)n->time;

	s->more_s += is_later && rest > 0 ? counts : rest;
	if (first > 0 && paid)
		add_span(s, time, time + first);
	else if (first > 0)
		add_span(s, time - first, time);
}

void spent_add(struct spent *s, const struct graph *g)
{
	bool *paid = find_paid(g);

	for (uint32_t i = 0; i < g->nr_spend; i++) {
		const struct spend *x = &g->spend[i];

		s->used.attempts += x->step > 0;	/* of no node, or pruned */
		if (x->attempt_s > 0 && !x->claimed)
			s->more_s += x->attempt_s;
		if (x->device_s > 0 && !x->claimed)
			s->used.device_s += x->device_s;
	}
	/* What others say that they used is no use of ours. */
	for (uint32_t i = 0; i < g->nr_call; i++) {
		const struct call *c = &g->call[i];

		if (c->claimed)
			continue;
		s->used.tokens = usage_sum(s->used.tokens,
					   usage_tokens(&c->used));
		s->used.cost += c->used.cost > 0 ? c->used.cost : 0;
	}
	for (uint32_t i = 1; i < g->nr; i++) {
		const struct node *n = &g->node[i];

		s->used.attempts += n->step > 0 && n->op && !n->united &&
			strcmp(n->op, "tune") != 0;
		if (n->device_s > 0 && !n->united && !n->claimed)
			s->used.device_s += n->device_s;
		if (!n->united && !n->claimed)
			add_measured(s, n, paid[i]);
	}
	free(paid);
}

void spent_add_unsettled(struct spent *s, struct search *search,
			 const struct graph *g)
{
	struct spent_calls calls = { NULL, 0, 0 };

	journal_read(search, g, &calls, NULL);
	for (size_t i = 0; i < calls.nr; i++) {
		const struct usage *u = &calls.v[i].used;

		if (!calls.v[i].unsettled)
			continue;
		s->used.tokens += usage_tokens(u);
		s->used.cost += u->cost > 0 ? u->cost : 0;
	}
	spent_calls_release(&calls);
}

static int by_begin(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	return (x->from > y->from) - (x->from < y->from);
}

/* Commits have whole seconds: of spans that touch within one it is not known
 * whether they overlap, but no more than all of them together has passed. */
double spent_wall_s(struct spent *s)
{
	double sum = s->more_s;

	if (s->nr)
		qsort(s->span, s->nr, sizeof(*s->span), by_begin);
	for (size_t i = 0, next; i < s->nr; i = next) {
		double end = s->span[i].to + 1, all = 0;

		for (next = i; next < s->nr && s->span[next].from <= end;
		     next++) {
			all += s->span[next].to - s->span[next].from;
			end = fmax(end, s->span[next].to + 1);
		}
		sum += fmin(all, end - s->span[i].from);
	}
	return sum;
}

void spent_release(struct spent *s)
{
	free(s->span);
	s->span = NULL;
	s->nr = s->cap = 0;
}

/* ---- what is left ---- */

static bool less_amount(double all, double used, double *rest)
{
	if (!(all > 0))
		return false;
	*rest = fmax(all - used, NEXT_TO_NOTHING);
	return used >= all;
}

static bool less_count(int64_t all, int64_t used, int64_t *rest)
{
	if (!all)
		return false;
	*rest = all > used ? all - used : -1;
	return used >= all;
}

bool rest_of(const struct budget *all, struct spent *s, struct budget *rest)
{
	bool up = false;

	*rest = *all;
	up |= less_count(all->attempts, s->used.attempts, &rest->attempts);
	up |= less_count(all->tokens, s->used.tokens, &rest->tokens);
	up |= less_amount(all->time_s, spent_wall_s(s), &rest->time_s);
	up |= less_amount(all->device_s, s->used.device_s, &rest->device_s);
	up |= less_amount(all->cost, s->used.cost, &rest->cost);
	return up;
}

bool rest_of_search(const struct spec *spec, const struct graph *g,
		    struct budget *rest)
{
	struct spent s = SPENT_INIT;
	bool up;

	spent_add(&s, g);
	up = rest_of(&spec->budget, &s, rest);
	spent_release(&s);
	return up;
}

const char *spec_group(const struct spec *s)
{
	return s->group && *s->group ? s->group : s->slug;
}

static int add_search(struct spent *sum, struct repo *r,
		      const struct spec *spec, struct err *err)
{
	struct search *s;
	struct graph g;
	int ret = store_open(r, spec->slug, &s, err);

	if (ret)
		return ret;
	graph_init(&g);
	ret = store_load(s, spec->device, &g, NULL, err);
	if (!ret) {
		spent_add(sum, &g);
		spent_add_unsettled(sum, s, &g);
	}
	graph_release(&g);
	store_close(s);
	return ret;
}

int rest_of_group(struct repo *r, const struct spec_list *list,
		  const struct spec *spec, struct budget *rest, bool *up,
		  struct err *err)
{
	struct spent sum = SPENT_INIT;
	int ret = 0;

	for (size_t i = 0; i < list->nr && !ret; i++)
		if (!strcmp(spec_group(&list->v[i]), spec_group(spec)))
			ret = add_search(&sum, r, &list->v[i], err);
	if (!ret)
		*up = rest_of(&spec->budget, &sum, rest);
	spent_release(&sum);
	return ret;
}

const struct proposer *spec_spender(const struct spec *spec)
{
	const struct proposer *p = proposer_find(spec->proposer);
	const struct proposer *inner = spec->inner && *spec->inner ?
		proposer_find(spec->inner) : NULL;

	if (p && p->spends)
		return p;
	return inner && inner->spends ? inner : NULL;
}

/* ---- of options ---- */

static int check_amount(double *x, double least, bool equal, const char *text,
			struct err *err)
{
	if (isnan(*x)) {
		*x = 0;
		return 0;
	}
	if (!isfinite(*x) || *x < least || (!equal && !(*x > least)))
		return err_set(err, ERR_USAGE, "%s", text);
	return 0;
}

int budget_check(struct budget *b, struct err *err)
{
	if (check_amount(&b->time_s, 1, true,
			 "--time takes a second or more", err) ||
	    check_amount(&b->device_s, 1, true,
			 "--device-time takes a second or more", err) ||
	    check_amount(&b->cost, 0, false,
			 "--cost takes an amount of dollars over 0", err) ||
	    check_amount(&b->until, 1, false,
			 "--until takes a speedup over 1", err))
		return err->code;
	return 0;
}

bool budget_has_cap(const struct budget *b)
{
	return b->attempts || b->tokens || b->time_s > 0 || b->device_s > 0 ||
	       b->cost > 0;
}

static const char *comma(const struct buf *b, size_t from)
{
	return b->len > from ? ", " : "";
}

void budget_dollars(double cost, struct buf *out)
{
	char text[64];

	for (int digits = 2; digits < 10; digits++) {
		snprintf(text, sizeof(text), "$%.*f", digits, cost);
		if (fabs(strtod(text + 1, NULL) - cost) < 1e-9)
			break;
	}
	buf_addstr(out, text);
}

void budget_text(const struct budget *b, struct buf *out)
{
	size_t from = out->len;

	if (b->attempts > 0)
		buf_addf(out, "%lld attempts", (long long)b->attempts);
	if (b->time_s > 0) {
		buf_addstr(out, comma(out, from));
		fmt_seconds(out, b->time_s);
	}
	if (b->device_s > 0) {
		buf_addstr(out, comma(out, from));
		fmt_seconds(out, b->device_s);
		buf_addstr(out, " of the device");
	}
	if (b->tokens > 0)
		buf_addf(out, "%s%lld tokens", comma(out, from),
			 (long long)b->tokens);
	if (b->cost > 0)
		buf_addstr(out, comma(out, from));
	if (b->cost > 0)
		budget_dollars(b->cost, out);
}
