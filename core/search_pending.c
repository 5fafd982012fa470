/* Nodes that a killed run wrote and had no time to judge. */
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/search_state.h"
#include "core/worker.h"

bool search_is_own_round(const struct node *n)
{
	static const char *const ops[] = { "human", "tune", "import" };

	for (size_t i = 0; n->op && i < ARRAY_SIZE(ops); i++)
		if (!strcmp(n->op, ops[i]))
			return true;
	return n->op && !strcmp(n->op, "crossover") && n->strategy &&
	       !strcmp(n->strategy, "merge");
}

static int begin_pending(struct state *st, uint32_t node, struct attempt *a,
			 struct err *err)
{
	const struct node *n = &st->run->graph.node[node];

	*a = (struct attempt){ .step = n->step, .parent = n->parent[0],
			       .parent2 = NODE_NONE, .state = n->state,
			       .id = n->id, .stored = true };
	record_init(&a->rec);
	a->p.subject = xstrdup(n->subject);
	return search_source(st, node, &a->p.source, err);
}

/* Nodes of one round, or one that numbers a round of its own. */
static int judge_nodes(struct state *st, const uint32_t *node, size_t nr,
		       bool *cut, struct err *err)
{
	struct graph *g = &st->run->graph;
	const struct node *first = &g->node[node[0]];
	uint32_t size = (uint32_t)st->run->search->spec.round;
	struct attempt *a = xcalloc(nr, sizeof(*a));
	int ret = 0;

	for (size_t i = 0; i < nr && !ret; i++)
		ret = begin_pending(st, node[i], &a[i], err);
	/* What they were, or would have been, screened against. */
	st->champion = graph_champion(g, search_nodes_before(g,
			search_is_own_round(first) ? first->step - 1 :
			(first->step - 1) / size * size));
	if (!ret)
		ret = search_judge_all(st, a, nr, cut, err);
	for (size_t i = 0; i < nr; i++) {
		struct node *n = &g->node[node[i]];

		if (!ret && a[i].written) {
			record_release(&n->rec);
			record_copy(&n->rec, &a[i].rec);
			n->pending = false;
		}
		attempt_release(&a[i]);
	}
	free(a);
	if (!ret)
		graph_settle(g);
	return ret;
}

int search_judge_pending(struct state *st, uint32_t node, struct err *err)
{
	return judge_nodes(st, &node, 1, NULL, err);
}

/* Made by this slot of this clone, whatever its id was then. */
static bool is_ours(const struct search *s, const struct strv *ids,
		    const char *worker)
{
	char *now = worker_now(ids, worker ? worker : "");
	bool ours = !strcmp(now, s->worker);

	free(now);
	return ours;
}

static bool is_waiting(const struct search *s, const struct strv *ids,
		       const struct node *n)
{
	return n->pending && n->step && is_ours(s, ids, n->worker) &&
		strcmp(n->op, "plan") != 0;
}

/* Would the two be judged together? */
static bool one_round(const struct node *a, const struct node *b,
		      uint32_t size)
{
	return !search_is_own_round(a) && !search_is_own_round(b) &&
		(a->step - 1) / size == (b->step - 1) / size;
}

/* Ours alone; on another device than the search's all are unmeasured. */
int search_judge_all_pending(struct state *st, struct err *err)
{
	const struct search *s = st->run->search;
	const struct graph *g = &st->run->graph;
	uint32_t size = (uint32_t)s->spec.round;
	uint32_t *list = xcalloc(g->nr, sizeof(*list));
	struct strv ids = STRV_INIT;
	size_t nr = 0, from = 0;
	bool cut = false;
	int ret = 0;

	if (!strcmp(st->info.device, s->spec.device))
		ret = worker_ids(s->repo, &ids, err);
	for (uint32_t i = 1; ids.nr && i < g->nr; i++)
		if (is_waiting(s, &ids, &g->node[i]))
			list[nr++] = i;
	while (!ret && from < nr && !cut && !search_stopped(st)) {
		size_t to = from + 1;

		while (to < nr && one_round(&g->node[list[from]],
					    &g->node[list[to]], size))
			to++;
		ret = judge_nodes(st, list + from, to - from, &cut, err);
		from = to;
	}
	strv_release(&ids);
	free(list);
	return ret;
}
