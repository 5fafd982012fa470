/* Landing branches from the graph; see core/search.h. */
#include <stdlib.h>

#include "core/landing.h"
#include "core/mem.h"
#include "core/search.h"

#define MAX_BEAM 16

/*
 * What a reviewer reads: every step from the origin, not the last one alone.
 * A node that is its own origin has its plan.
 */
static int explain(const struct publication *p, uint32_t node,
		   struct buf *out, struct strv *warn, struct err *err)
{
	const struct node *n = &p->graph->node[node];
	struct srcset origin = SRCSET_INIT;
	struct err why = ERR_INIT;
	int ret;

	if (!p->proposer || !p->proposer->explain || !n->recipe || !*n->recipe)
		return store_plan(p->search, &n->id, out, err);
	ret = store_source(p->search->repo, n->origin ?
			   &p->graph->node[n->origin].id :
			   &p->search->spec.root, p->kernel, false, &origin,
			   &why);
	if (!ret)
		ret = p->proposer->explain(p->kernel, &origin, n->recipe, out,
					   &why);
	srcset_release(&origin);
	if (!ret)
		return 0;
	/* Another version's recipe, or another worker's claim. */
	strv_pushf(warn, "the recipe of %s cannot be told in words: %s",
		   oid_short(&n->id).s, why.msg);
	buf_reset(out);
	return store_plan(p->search, &n->id, out, err);
}

/* A branch that a person stands on or has built on is left alone. */
static int land(const struct publication *p, uint32_t node, const char *what,
		struct strv *warn, struct err *err)
{
	const struct node *n = &p->graph->node[node];
	struct buf plan = BUF_INIT, message = BUF_INIT;
	struct record rec;
	int ret;

	record_init(&rec);
	ret = store_record(p->search, &n->id, p->device, &rec, err);
	if (!ret)
		ret = explain(p, node, &plan, warn, err);
	if (!ret) {
		land_message(&message, &p->search->spec, n, &rec, plan.ptr);
		ret = store_land(p->search, what, &n->id, message.ptr, err);
	}
	if (ret == ERR_GIT) {
		strv_push(warn, err->msg);
		err->code = ERR_NONE;
		ret = 0;
	}
	buf_release(&message);
	buf_release(&plan);
	record_release(&rec);
	return ret;
}

static bool worth_showing(const struct graph *g, uint32_t node)
{
	const struct node *n = &g->node[node];

	return node != 0 && !n->claimed &&
		(n->confirmed || n->rec.verdict == V_FASTER);
}

int search_publish(const struct publication *p, struct strv *warn,
		   struct err *err)
{
	const struct graph *g = p->graph;
	const struct spec *spec = &p->search->spec;
	uint32_t own = graph_own_champion(g), front[MAX_BEAM];
	size_t max = policy_shown(spec, MAX_BEAM);
	size_t nr, k = 0;
	struct buf what = BUF_INIT;
	int ret;

	buf_addf(&what, "best/%s", p->device);
	ret = own ? land(p, own, what.ptr, warn, err)
		  : store_unland(p->search, what.ptr, err);
	nr = policy_frontier(spec, g, front, max);
	for (size_t i = 0; i < nr && !ret; i++) {
		if (!worth_showing(g, front[i]))
			continue;
		buf_reset(&what);
		buf_addf(&what, "beam/%s/%zu", p->device, ++k);
		ret = land(p, front[i], what.ptr, warn, err);
	}
	if (!ret)
		ret = store_land_trim(p->search, p->device, (int)k + 1, err);
	buf_release(&what);
	return ret;
}
