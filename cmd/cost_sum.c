#include "cmd/cost_sum.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

static const char *const names[] = {
	[COST_SEARCH] = "search", [COST_AGENT] = "agent",
	[COST_MODEL] = "model", [COST_NODE] = "node",
};

const char *cost_by_name(enum cost_by by)
{
	return names[by];
}

int cost_by_parse(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(names[i], name))
			return (int)i;
	return -1;
}

void cost_init(struct cost *c, enum cost_by by)
{
	memset(c, 0, sizeof(*c));
	c->by = by;
}

static void row_release(struct cost_row *r)
{
	free(r->key);
	free(r->kernel);
	free(r->search);
	free(r->subject);
}

void cost_release(struct cost *c)
{
	for (size_t i = 0; i < c->nr; i++)
		row_release(&c->v[i]);
	free(c->v);
	free(c->slot);
	row_release(&c->total);
	oidset_release(&c->calls);
	oidset_release(&c->nodes);
	oidset_release(&c->spends);
	memset(c, 0, sizeof(*c));
}

bool cost_is_empty(const struct cost *c)
{
	return !c->total.attempts && !c->total.calls;
}

/* ---- rows ---- */

static size_t slot_of(const struct cost *c, const char *key)
{
	uint64_t h = 0xcbf29ce484222325u;
	size_t at;

	for (const char *p = key; *p; p++)
		h = (h ^ (unsigned char)*p) * 0x100000001b3u;
	at = (size_t)(h ^ h >> 32) & (c->nr_slots - 1);
	for (; c->slot[at]; at = (at + 1) & (c->nr_slots - 1))
		if (!strcmp(c->v[c->slot[at] - 1].key, key))
			break;
	return at;
}

static void grow(struct cost *c)
{
	c->nr_slots = c->nr_slots ? c->nr_slots * 2 : 64;
	free(c->slot);
	c->slot = xcalloc(c->nr_slots, sizeof(*c->slot));
	for (size_t i = 0; i < c->nr; i++)
		c->slot[slot_of(c, c->v[i].key)] = i + 1;
}

/* Good until the next one is asked for. */
static struct cost_row *row_of(struct cost *c, const char *key)
{
	size_t at;

	if (c->nr * 2 >= c->nr_slots)
		grow(c);
	at = slot_of(c, key);
	if (!c->slot[at]) {
		GROW(c->v, c->nr, c->cap);
		memset(&c->v[c->nr], 0, sizeof(c->v[c->nr]));
		c->v[c->nr].key = xstrdup(key);
		c->slot[at] = ++c->nr;
	}
	return &c->v[c->slot[at] - 1];
}

static struct cost_row *row_of_search(struct cost *c, const struct spec *s)
{
	struct cost_row *r = row_of(c, s->slug);

	if (!r->search) {
		r->search = xstrdup(s->slug);
		r->kernel = xstrdup(s->kernel);
	}
	return r;
}

/* NODE_NONE: an attempt that made no node, or whose node is gone. */
static struct cost_row *row_of_step(struct cost *c, const struct spec *s,
				    const struct graph *g, uint32_t step,
				    uint32_t node)
{
	const struct node *n = node == NODE_NONE ? NULL : &g->node[node];
	char *key = n ? xstrdup(oid_text(&n->id).s) :
		xasprintf("%s %" PRIu32, s->slug, step);
	struct cost_row *r = row_of(c, key);

	free(key);
	if (r->search)
		return r;
	r->search = xstrdup(s->slug);
	r->kernel = xstrdup(s->kernel);
	r->step = step;
	if (n) {
		r->id = n->id;
		memcpy(r->node, oid_short(&n->id).s, sizeof(r->node) - 1);
		r->subject = xstrdup(n->subject);
	}
	return r;
}

/* ---- calls ---- */

static void add_call(struct cost_row *r, const struct spent_call *call)
{
	const struct usage *u = &call->used;

	r->calls++;
	usage_add(&r->used, u);
	r->claimed += call->claimed;
	r->unsettled += call->unsettled;
	if (!isfinite(u->cost)) {
		r->unpriced++;
		return;
	}
	if (call->claimed)
		r->claimed_cost += u->cost;
}

static bool is_new(struct oidset *set, const char *id)
{
	struct oid key;

	source_blob_id(id, strlen(id), &key);
	return oidset_add(set, &key);
}

/* g: NULL, of a search that was pruned. */
static void take_call(struct cost *c, const struct spec *s,
		      const struct graph *g, const struct spent_call *call)
{
	bool new = is_new(&c->calls, call->used.id);
	uint32_t node = g ? graph_call_node(g, call->step, call->worker) :
		NODE_NONE;

	if (new)
		add_call(&c->total, call);
	if (c->by == COST_SEARCH)
		add_call(row_of_search(c, s), call);
	else if (new && c->by == COST_NODE)
		add_call(row_of_step(c, s, g, call->step, node), call);
	else if (new)
		add_call(row_of(c, c->by == COST_AGENT ? call->used.agent :
				call->used.model), call);
}

/* ---- attempts ---- */

static void add_attempt(struct cost_row *r, bool attempt, double attempt_s,
			double device_s)
{
	r->attempts += attempt;
	if (isfinite(attempt_s))
		r->attempt_s += attempt_s;
	if (isfinite(device_s))
		r->device_s += device_s;
}

static void take_node(struct cost *c, struct view *v, uint32_t i)
{
	const struct node *n = &v->graph.node[i];
	/* many searches start from one root, each with its own measurements */
	bool new = !i || oidset_add(&c->nodes, &n->id);

	if (new)
		add_attempt(&c->total, i, n->spent_s, n->device_s);
	if (c->by == COST_SEARCH)
		add_attempt(row_of_search(c, &v->search->spec), i, n->spent_s,
			    n->device_s);
	else if (c->by == COST_NODE && new && (i || n->spent_s > 0))
		add_attempt(row_of_step(c, &v->search->spec, &v->graph,
					n->step, i), i, n->spent_s,
			    n->device_s);
}

static void take_spend(struct cost *c, struct view *v, const struct spend *s)
{
	struct oid key = { { 0 } };
	struct cost_row *r;
	bool new;

	memcpy(key.id, &s->line, sizeof(s->line));
	new = oidset_add(&c->spends, &key);
	if (new)
		add_attempt(&c->total, true, s->attempt_s, s->device_s);
	if (c->by == COST_SEARCH) {
		add_attempt(row_of_search(c, &v->search->spec), true,
			    s->attempt_s, s->device_s);
	} else if (c->by == COST_NODE && new) {
		r = row_of_step(c, &v->search->spec, &v->graph, s->step,
				NODE_NONE);
		add_attempt(r, true, s->attempt_s, s->device_s);
		if (!r->subject)
			r->subject = xasprintf("(%s)",
					       verdict_name(s->verdict));
	}
}

static void tell(struct strv *warnings)
{
	for (size_t i = 0; i < warnings->nr; i++)
		warn_once(warnings->v[i]);
	strv_release(warnings);
}

void cost_add(struct cost *c, struct view *v)
{
	struct spent_calls calls;
	struct strv warnings = STRV_INIT;

	if (c->by == COST_SEARCH)
		row_of_search(c, &v->search->spec);
	for (uint32_t i = 0; i < v->graph.nr; i++)
		take_node(c, v, i);
	for (uint32_t i = 0; i < v->graph.nr_spend; i++)
		take_spend(c, v, &v->graph.spend[i]);
	journal_read(v->search, &v->graph, &calls, &warnings);
	for (size_t i = 0; i < calls.nr; i++)
		take_call(c, &v->search->spec, &v->graph, &calls.v[i]);
	tell(&warnings);
	spent_calls_release(&calls);
}

void cost_add_pruned(struct cost *c, struct repo *r, const char *slug)
{
	struct spec s = { .slug = xstrdup(slug) };
	struct spent_calls calls;
	struct strv warnings = STRV_INIT;

	journal_read_orphan(r, slug, &calls, &warnings);
	for (size_t i = 0; i < calls.nr; i++) {
		calls.v[i].unsettled = false;	/* they may have been */
		take_call(c, &s, NULL, &calls.v[i]);
	}
	tell(&warnings);
	spent_calls_release(&calls);
	spec_release(&s);
}
