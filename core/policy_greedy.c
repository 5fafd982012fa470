/*
 * Greedy: hill climbing with restarts.  Every attempt of a round expands the
 * best node of the climb; when nothing untried is left from it, the best of
 * all others, and so down to the slowest.  After STALL rounds without a gain
 * the climb is given up: a round of samples is drawn from the root, and the
 * next climb begins at the best of them.  Ends when every node is exhausted.
 * Where a climb began follows from the nodes and their rounds.
 */
#include "core/policy.h"

#define STALL 8			/* rounds; 0 gains in 4 * 8 attempts */

static int greedy_round(const struct spec *spec)
{
	return spec->branches > 0 ? spec->branches : 1;
}

struct climb {
	uint32_t top;		/* its best node; NODE_NONE: it is to begin */
	uint32_t gained;	/* round of the last gain, or of its begin */
};

/* The climb as it stands at the beginning of a round. */
static void climb_at(struct climb *c, uint32_t round)
{
	uint32_t span = STALL + 1;

	if (round < c->gained || round - c->gained < span)
		return;
	c->gained += (round - c->gained) / span * span;
	c->top = NODE_NONE;
}

static struct climb climb_find(const struct policy_view *v)
{
	const struct graph *g = v->graph;
	struct climb c = { .top = 0, .gained = 0 };

	for (uint32_t i = 1; i < g->nr; i++) {
		uint32_t round = policy_round_of(v->spec, g->node[i].step);
		double score = policy_score(g, i);

		if (!policy_usable(g, i))
			continue;
		climb_at(&c, round);
		if (c.top != NODE_NONE && !(score > policy_score(g, c.top)))
			continue;
		if (c.top == NODE_NONE ||
		    score > policy_score(g, c.top) + POLICY_GAIN)
			c.gained = round;
		c.top = i;
	}
	climb_at(&c, v->round);
	return c;
}

static bool greedy_expand(const struct policy_view *v, uint32_t slot,
			  uint32_t fails, struct policy_move *out)
{
	struct climb c = climb_find(v);

	(void)slot;
	(void)fails;
	if (c.top == NODE_NONE)
		policy_move_set(out, MOVE_SAMPLE, 0);
	else
		policy_move_set(out, MOVE_BEST, c.top);
	return !v->exhausted(v->ctx, out->parent[0], false) ||
	       policy_any(v, out);
}

static void greedy_why(const struct policy_view *v, struct buf *out)
{
	struct climb c = climb_find(v);

	if (c.top == NODE_NONE)
		buf_addf(out, "samples of the root: %d rounds brought no gain",
			 STALL);
	else
		buf_addf(out, "from the best node%s", c.top ? "" : ", the root");
}

const struct policy policy_greedy = {
	.name = "greedy",
	.summary = "expand the best node so far; start afresh when it stalls",
	.round = greedy_round,
	.expand = greedy_expand,
	.frontier = policy_believed,
	.finished = policy_endless,
	.why = greedy_why,
};
