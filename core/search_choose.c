/* Whether a round is made alone or with other workers. */
#include <string.h>

#include "core/search_state.h"

int64_t search_attempts_in(const struct graph *g, uint32_t nodes,
			   uint32_t step)
{
	int64_t nr = 0;

	for (uint32_t i = 1; i < nodes; i++)
		nr += g->node[i].step && g->node[i].op &&
			!g->node[i].united &&
			strcmp(g->node[i].op, "tune") != 0;
	for (uint32_t i = 0; i < g->nr_spend; i++)
		nr += g->spend[i].step && g->spend[i].step <= step;
	return nr;
}

void search_crowd_begin(struct state *st)
{
	const struct search_crowd *c = st->run->crowd;

	st->joint = c && !c->company;
	st->joint_attempts = st->joint ? c->attempts : -1;
	st->run->search->together = st->joint;
}

int search_crowd_choose(struct state *st, struct err *err)
{
	struct search_run *run = st->run;
	const struct search_crowd *c = run->crowd;
	const struct graph *g = &run->graph;
	bool was = st->joint;
	int64_t all = search_attempts_in(g, g->nr, UINT32_MAX);
	int ret = 0;

	if (!c || !c->company)
		return 0;
	if (st->joint_attempts < 0) {	/* at the beginning */
		int64_t most = run->purse->budget.attempts;

		st->joint_attempts = most ? all + most -
			run->purse->used.attempts : 0;
		st->at_first = all;
	}
	/* Each worker plans the whole round: each would pay for all of it. */
	st->joint = !run->proposer->spends &&
		!(run->inner && run->inner->spends) && c->company(c->ctx);
	run->search->together |= st->joint;
	if (st->joint != was)
		ret = search_reload(st, err);
	all = search_attempts_in(g, g->nr, UINT32_MAX) - st->at_first -
		run->made;
	st->others = all > 0 ? all : 0;
	return ret;
}

bool search_crowd_lost(const struct state *st)
{
	const struct search_crowd *c = st->run->crowd;

	return st->joint && c->lost && c->lost(c->ctx);
}
