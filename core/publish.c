/* Landing branches from the graph; see core/search.h. */
#include <stdlib.h>

#include "core/landing.h"
#include "core/mem.h"
#include "core/search.h"

#define MAX_BEAM 16

static bool never(void *ctx, uint32_t node)
{
	(void)ctx;
	(void)node;
	return false;
}

/* A branch that a person stands on or has built on is left alone. */
static int land(struct search *s, const struct node *n, const char *dev,
		const char *what, struct strv *warn, struct err *err)
{
	struct record rec;
	struct buf plan = BUF_INIT, message = BUF_INIT;
	int ret;

	record_init(&rec);
	ret = store_record(s, &n->id, dev, &rec, err);
	if (!ret)
		ret = store_plan(s, &n->id, &plan, err);
	if (!ret) {
		land_message(&message, &s->spec, n, &rec, plan.ptr);
		ret = store_land(s, what, &n->id, message.ptr, err);
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

	return node != 0 && (n->confirmed || n->rec.verdict == V_FASTER);
}

int search_publish(struct search *s, const struct graph *g,
		   const struct policy *policy, const char *device,
		   struct strv *warn, struct err *err)
{
	uint32_t last = graph_last_step(g);
	struct policy_view v = {
		.spec = &s->spec, .graph = g, .exhausted = never,
		.round = last ? (last - 1) / (uint32_t)s->spec.round + 1 : 0,
	};
	size_t max = s->spec.width > MAX_BEAM ? MAX_BEAM : (size_t)s->spec.width;
	uint32_t front[MAX_BEAM];
	size_t nr, k = 0;
	struct buf what = BUF_INIT;
	int ret = 0;

	if (g->champion) {
		buf_addf(&what, "best/%s", device);
		ret = land(s, &g->node[g->champion], device, what.ptr, warn, err);
	}
	nr = policy->frontier(&v, front, max);
	for (size_t i = 0; i < nr && !ret; i++) {
		if (!worth_showing(g, front[i]))
			continue;
		buf_reset(&what);
		buf_addf(&what, "beam/%s/%zu", device, ++k);
		ret = land(s, &g->node[front[i]], device, what.ptr, warn, err);
	}
	if (!ret)
		ret = store_land_trim(s, device, (int)k + 1, err);
	buf_release(&what);
	return ret;
}
