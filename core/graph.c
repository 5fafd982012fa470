#include "core/graph.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "core/mem.h"

enum { BY_COMMIT, BY_STATE };

#define CHUNK (256u << 10)	/* bytes of texts at a time */

void graph_init(struct graph *g)
{
	memset(g, 0, sizeof(*g));
}

/* ---- texts ---- */

struct texts {
	char **chunk;
	size_t nr, cap, left;	/* left: bytes in the last chunk */
	char **slot;		/* those that are there; NULL is free */
	size_t nr_texts, nr_slots;
};

static size_t text_slot(const struct texts *t, const char *s)
{
	uint64_t h = 0xcbf29ce484222325u;
	size_t at;

	for (const char *p = s; *p; p++)
		h = (h ^ (unsigned char)*p) * 0x100000001b3u;
	at = (size_t)(h ^ h >> 32) & (t->nr_slots - 1);
	for (; t->slot[at]; at = (at + 1) & (t->nr_slots - 1))
		if (!strcmp(t->slot[at], s))
			break;
	return at;
}

static void texts_grow(struct texts *t)
{
	char **old = t->slot;
	size_t nr = t->nr_slots;

	t->nr_slots = nr ? nr * 2 : 256;
	t->slot = xcalloc(t->nr_slots, sizeof(*t->slot));
	for (size_t i = 0; i < nr; i++)
		if (old[i])
			t->slot[text_slot(t, old[i])] = old[i];
	free(old);
}

static char *text_put(struct texts *t, const char *s)
{
	size_t size = strlen(s) + 1;
	char *to;

	if (size > t->left) {
		GROW(t->chunk, t->nr, t->cap);
		t->left = size > CHUNK ? size : CHUNK;
		t->chunk[t->nr++] = xmalloc(t->left);
	}
	to = t->chunk[t->nr - 1] + (size > CHUNK ? 0 : CHUNK - t->left);
	memcpy(to, s, size);
	t->left = size > CHUNK ? 0 : t->left - size;
	return to;
}

char *graph_text(struct graph *g, const char *s)
{
	struct texts *t = g->texts;
	size_t at;

	if (!s)
		return NULL;
	if (!t)
		t = g->texts = xcalloc(1, sizeof(*t));
	if (t->nr_texts * 2 >= t->nr_slots)
		texts_grow(t);
	at = text_slot(t, s);
	if (!t->slot[at]) {
		t->slot[at] = text_put(t, s);
		t->nr_texts++;
	}
	return t->slot[at];
}

static void texts_free(struct texts *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->nr; i++)
		free(t->chunk[i]);
	free(t->chunk);
	free(t->slot);
	free(t);
}

/* ---- nodes ---- */

static void node_release(struct node *n)
{
	if (!n->borrowed) {
		free(n->op);
		free(n->proposer);
		free(n->strategy);
		free(n->recipe);
		free(n->subject);
		free(n->worker);
		free(n->rec_worker);
	}
	record_release(&n->rec);
}

void graph_release(struct graph *g)
{
	for (uint32_t i = 0; i < g->nr; i++)
		node_release(&g->node[i]);
	free(g->node);
	free(g->spend);
	free(g->call);
	free(g->slot[BY_COMMIT]);
	free(g->slot[BY_STATE]);
	texts_free(g->texts);
	if (g->pool)
		munmap(g->pool, g->pool_len);
	graph_init(g);
}

/* ---- the index: open addressing, NODE_NONE is free ---- */

static const struct oid *key(const struct graph *g, int by, uint32_t i)
{
	return by == BY_COMMIT ? &g->node[i].id : &g->node[i].state;
}

static uint32_t probe(const struct graph *g, int by, const struct oid *id)
{
	uint32_t mask = g->nr_slots - 1, at;

	memcpy(&at, id->id, sizeof(at));
	for (at &= mask; g->slot[by][at] != NODE_NONE; at = (at + 1) & mask)
		if (oid_eq(key(g, by, g->slot[by][at]), id))
			break;
	return at;
}

static void index_node(struct graph *g, uint32_t i)
{
	for (int by = BY_COMMIT; by <= BY_STATE; by++) {
		uint32_t at = probe(g, by, key(g, by, i));

		if (g->slot[by][at] == NODE_NONE)
			g->slot[by][at] = i;
	}
}

static void index_make(struct graph *g, uint32_t nr_slots)
{
	g->nr_slots = nr_slots;
	for (int by = BY_COMMIT; by <= BY_STATE; by++) {
		g->slot[by] = xreallocarray(g->slot[by], g->nr_slots,
					    sizeof(*g->slot[by]));
		memset(g->slot[by], 0xff, g->nr_slots *
		       sizeof(*g->slot[by]));
	}
	for (uint32_t i = 0; i < g->nr; i++)
		index_node(g, i);
}

void graph_reindex(struct graph *g)
{
	if (g->nr_slots)
		index_make(g, g->nr_slots);
}

void graph_reserve(struct graph *g, uint32_t nr)
{
	uint32_t slots = g->nr_slots ? g->nr_slots : 64;

	if (nr > g->cap) {
		g->node = xreallocarray(g->node, nr, sizeof(*g->node));
		g->cap = nr;
	}
	while (slots < (uint64_t)nr * 2)
		slots *= 2;
	if (slots > g->nr_slots)
		index_make(g, slots);
}

static uint32_t find(const struct graph *g, int by, const struct oid *id)
{
	return g->nr_slots ? g->slot[by][probe(g, by, id)] : NODE_NONE;
}

uint32_t graph_add(struct graph *g, const struct node *n)
{
	if ((g->nr + 1) * 2 > g->nr_slots)
		index_make(g, g->nr_slots ? g->nr_slots * 2 : 64);
	GROW(g->node, g->nr, g->cap);
	g->node[g->nr] = *n;
	index_node(g, g->nr);
	return g->nr++;
}

uint32_t graph_find(const struct graph *g, const struct oid *commit)
{
	return find(g, BY_COMMIT, commit);
}

uint32_t graph_find_state(const struct graph *g, const struct oid *state)
{
	return find(g, BY_STATE, state);
}

/* ---- what follows from the records ---- */

static bool is_confirmation(const struct record *r)
{
	return isfinite(r->speedup);
}

bool record_replaces(const struct record *newer, const struct record *older)
{
	if (newer->verdict == V_NO_VERDICT)
		return false;
	if (is_confirmation(older) && verdict_is_timed(newer->verdict))
		return is_confirmation(newer);
	return true;
}

static void settle_score(struct node *n, bool root)
{
	const struct record *r = &n->rec;

	n->confirmed = !root && r->verdict == V_CONFIRMED && r->speedup > 0;
	if (root)
		n->score = 0;
	else if (n->confirmed)	/* the baseline need not be the root */
		n->score = log(r->est_speedup > 0 ? r->est_speedup
						  : r->speedup);
	else if (verdict_is_timed(r->verdict) && r->est_speedup > 0)
		n->score = log(r->est_speedup);
	else
		n->score = NAN;
}

static bool is_origin(const struct node *n)
{
	return n->parent[0] == NODE_NONE || !n->recipe || !*n->recipe;
}

/* Are the two recipes in one language, that of the proposer of both? */
static bool same_maker(const struct node *a, const struct node *b)
{
	return !a->proposer || !b->proposer ||
		!strcmp(a->proposer, b->proposer);
}

static uint32_t origin_of(const struct graph *g, uint32_t i)
{
	const struct node *n = &g->node[i], *p;

	if (is_origin(n) || n->parent[0] >= g->nr)
		return i;
	p = &g->node[n->parent[0]];
	return is_origin(p) || same_maker(n, p) ? p->origin : n->parent[0];
}

/*
 * Depth and origin follow the first parents.  A parent may stand behind its
 * child (searches of several workers), so that each chain is walked up to a
 * node that is settled and then down again.
 */
static void settle_chain(struct graph *g, uint32_t i, bool *settled,
			 uint32_t *stack)
{
	uint32_t nr = 0;

	while (i < g->nr && !settled[i]) {
		settled[i] = true;	/* a cycle cannot hang us */
		stack[nr++] = i;
		i = g->node[i].parent[0];
	}
	while (nr) {
		struct node *n = &g->node[stack[--nr]];
		const struct node *p = n->parent[0] < g->nr ?
			&g->node[n->parent[0]] : NULL;

		n->depth = p ? p->depth + 1 : 0;
		n->origin = origin_of(g, stack[nr]);
	}
}

/* own: what another worker claims does not count. */
static bool is_candidate(const struct node *n, bool own)
{
	return n->confirmed && !(own && n->claimed);
}

/* A version with fewer steps that is about as fast as the best, or the best. */
static uint32_t smaller_champion(const struct graph *g, uint32_t nr,
				 uint32_t best, bool own)
{
	double least = g->node[best].score - GRAPH_SMALLER;
	uint32_t found = best;

	for (uint32_t i = 1; i < nr && best; i++) {
		const struct node *n = &g->node[i];
		const char *old = g->node[found].recipe;

		if (is_candidate(n, own) && n->recipe && *n->recipe && old &&
		    n->origin == g->node[best].origin && !(n->score < least) &&
		    strlen(n->recipe) < strlen(old))
			found = i;
	}
	return found;
}

static uint32_t find_champion(const struct graph *g, uint32_t nr, bool own)
{
	uint32_t best = 0;

	for (uint32_t i = 1; i < nr; i++)
		if (is_candidate(&g->node[i], own) &&
		    g->node[i].score > g->node[best].score)
			best = i;
	return smaller_champion(g, nr, best, own);
}

uint32_t graph_champion(const struct graph *g, uint32_t nr)
{
	return find_champion(g, nr, false);
}

uint32_t graph_own_champion(const struct graph *g)
{
	return find_champion(g, g->nr, true);
}

void graph_settle(struct graph *g)
{
	bool *settled = xcalloc(g->nr, sizeof(*settled));
	uint32_t *stack = xcalloc(g->nr, sizeof(*stack));

	g->champion = 0;
	for (uint32_t i = 0; i < g->nr; i++) {
		settle_score(&g->node[i], i == 0);
		settle_chain(g, i, settled, stack);
	}
	g->champion = graph_champion(g, g->nr);
	free(settled);
	free(stack);
}

uint32_t graph_last_step(const struct graph *g)
{
	uint32_t last = 0;

	for (uint32_t i = 0; i < g->nr; i++)
		if (g->node[i].step > last)
			last = g->node[i].step;
	for (uint32_t i = 0; i < g->nr_spend; i++)
		if (g->spend[i].step > last)
			last = g->spend[i].step;
	return last;
}

bool graph_spend_tells(const struct graph *g, uint32_t spend)
{
	const struct spend *x = &g->spend[spend];
	uint32_t node = x->recipe ? graph_find_state(g, &x->state) : NODE_NONE;

	if (!x->recipe || (node != NODE_NONE && g->node[node].step == x->step))
		return false;
	while (spend-- > 0 && g->spend[spend].step == x->step &&
	       oid_eq(&g->spend[spend].state, &x->state))
		if (g->spend[spend].recipe)
			return false;
	return true;
}

/* Of nr things of this size, sorted by the step at their beginning + at. */
static uint32_t first_from(const void *v, uint32_t nr, size_t size, size_t at,
			   uint32_t step)
{
	uint32_t lo = 0, hi = nr;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2, there;

		memcpy(&there, (const char *)v + mid * size + at,
		       sizeof(there));
		if (there < step)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

uint32_t graph_node_from(const struct graph *g, uint32_t step)
{
	return first_from(g->node, g->nr, sizeof(*g->node),
			  offsetof(struct node, step), step);
}

uint32_t graph_spend_from(const struct graph *g, uint32_t step)
{
	return first_from(g->spend, g->nr_spend, sizeof(*g->spend),
			  offsetof(struct spend, step), step);
}

uint32_t graph_call_from(const struct graph *g, uint32_t step)
{
	return first_from(g->call, g->nr_call, sizeof(*g->call),
			  offsetof(struct call, step), step);
}
