/* needs: core/portfolio.c core/graph.c core/record.c */
#include <stdlib.h>

#include "core/mem.h"
#include "core/portfolio.h"
#include "tests/unit/tap.h"

static const struct share_round rising[] = {
	{ 4, 0.4 }, { 4, 0.8 }, { 4, 1.2 }
};
static const struct share_round tired[] = {
	{ 4, 1.2 }, { 4, 1.2 }, { 4, 1.2 }
};
static const struct share_round none[] = { { 4, 0 }, { 4, 0 }, { 4, 0 } };

static struct share of(const struct share_round *r, size_t nr)
{
	struct share s = { .left = INFINITY, .nr_rounds = nr };

	s.round = (struct share_round *)r;
	return s;
}

static void gains(void)
{
	struct share up = of(rising, 3), down = of(tired, 3);
	double one;

	ok(portfolio_gain(&up) > 0.1 && portfolio_gain(&up) < 0.12,
	   "a steady gain an attempt, and a little hope");
	down.nr_rounds = 0;
	one = portfolio_gain(&down);
	down = of(none, 1);
	ok(one > portfolio_gain(&down) && portfolio_gain(&down) > 0,
	   "a round without gain leaves less hope");
	one = portfolio_gain(&down);
	down = of(none, 3);
	ok(portfolio_gain(&down) < one, "three leave less");
	down = of(tired, 3);
	ok(portfolio_gain(&up) > portfolio_gain(&down),
	   "of an equal sum, what came late counts more");
	up.left = 0.01;
	is_near(portfolio_gain(&up), 0.01, 1e-12, "at most what is left");
	up.left = -1;
	is_near(portfolio_gain(&up), 0, 0, "above the roof nothing is");
	is_int((long long)portfolio_attempts(&down), 12, "its attempts");
}

static void order(void)
{
	struct share s[3] = { of(tired, 3), of(rising, 3), of(none, 3) };

	is_int(portfolio_next(s, 3), 1, "the one that gains");
	s[1].over = true;
	is_int(portfolio_next(s, 3), 0, "then the one that gained");
	s[1].over = false;
	s[2].nr_rounds = 0;
	is_int(portfolio_next(s, 3), 2, "first what has no round yet");
	s[0].cut = true;
	is_int(portfolio_next(s, 3), 0, "but what was cut comes before");
	s[0].over = true;
	is_int(portfolio_next(s, 3), 2, "unless it is over");
	s[1].over = s[2].over = true;
	is_int(portfolio_next(s, 3), -1, "all are over");
	is_int(portfolio_next(s, 0), -1, "of none");
}

static void ties(void)
{
	struct share s[3] = { of(none, 3), of(none, 2), of(none, 2) };

	is_int(portfolio_next(s, 3), 1, "of equals the one with least, the "
	       "first of them");
	s[1] = of(none, 3);
	is_int(portfolio_next(s, 3), 2, "and so in turn");
}

/* The floor: one gains, the other never does. */
static void floor_kept(void)
{
	struct share_round up[64] = { { 0, 0 } }, flat[64] = { { 0, 0 } };
	struct share s[2] = { of(up, 0), of(flat, 0) };
	uint64_t had[2];

	for (int i = 0; i < 60; i++) {
		int next = portfolio_next(s, 2);
		size_t nr = s[next].nr_rounds++;

		(next ? flat : up)[nr].attempts = 4;
		up[nr].best = next ? up[nr].best : (double)(nr + 1) * 0.1;
	}
	had[0] = portfolio_attempts(&s[0]);
	had[1] = portfolio_attempts(&s[1]);
	ok((double)had[1] >= PORTFOLIO_FLOOR * (double)(had[0] + had[1]) / 2 - 4,
	   "what never gains keeps its floor: %u of %u", (unsigned)had[1],
	   (unsigned)(had[0] + had[1]));
	ok(had[1] * 3 < had[0], "and the other has most");
	s[0].over = true;
	is_int(portfolio_next(s, 2), 1, "which it gives up when it is over");
}

/* A new budget has shares of its own. */
static void anew(void)
{
	struct share_round up[64] = { { 4, 1 }, { 4, 2 }, { 4, 3 } };
	struct share_round flat[64] = { { 4, 0 } };
	struct share s[2] = { of(up, 3), of(flat, 1) };
	uint64_t had[2] = { 0, 0 };

	is_int(portfolio_next(s, 2), 0, "its share was had");
	portfolio_anew(&s[0]);
	portfolio_anew(&s[1]);
	for (int i = 0; i < 30; i++) {
		int next = portfolio_next(s, 2);
		size_t nr = s[next].nr_rounds++;

		(next ? flat : up)[nr].attempts = 4;
		up[nr].best = next ? up[nr].best : (double)(nr + 1);
		had[next] += 4;
		if (i == 1)
			ok(had[0] == 4 && had[1] == 4,
			   "each has a round of a new budget first");
	}
	ok(had[0] > had[1] && had[1] >= 12 && had[1] <= 20,
	   "and its floor of it: %u", (unsigned)had[1]);
}

static void add_node(struct graph *g, uint32_t step, const char *op,
		     double score)
{
	struct node n = { .step = step, .parent = { 0, NODE_NONE } };

	n.id.id[0] = (unsigned char)(step & 255);
	n.id.id[1] = (unsigned char)(step >> 8 & 255);
	n.state = n.id;
	n.op = xstrdup(op);
	record_init(&n.rec);
	n.rec.verdict = V_SLOWER;
	if (score > 0) {
		n.rec.verdict = V_CONFIRMED;
		n.rec.speedup = n.rec.est_speedup = exp(score);
		n.rec.ci_low = n.rec.ci_high = exp(score);
		n.rec.lr = score;
		n.rec.roof = 0.5;
	}
	graph_add(g, &n);
}

static void graphs(void)
{
	struct spend dup = { .step = 6, .verdict = V_DUP };
	struct share s = { .cut = true };
	struct graph g;

	graph_init(&g);
	add_node(&g, 0, "root", 0);
	portfolio_read(&s, &g, 4);
	ok(s.nr_rounds == 0 && isinf(s.left), "a root alone");
	for (uint32_t i = 1; i <= 4; i++)
		add_node(&g, i, "seed", i == 3 ? 0.5 : 0);
	add_node(&g, 5, "mutate", 0.25);
	GROW(g.spend, g.nr_spend, g.cap_spend);
	g.spend[g.nr_spend++] = dup;
	add_node(&g, 13, "tune", 0.75);
	add_node(&g, 4294967290u, "mutate", 0);
	graph_settle(&g);
	portfolio_read(&s, &g, 4);
	is_int((long long)s.nr_rounds, 3, "its rounds with attempts");
	ok(s.cut, "cut is the caller's");
	is_int(s.round[0].attempts, 4, "the first");
	is_near(s.round[0].best, 0.5, 1e-9, "and its best");
	is_int(s.round[1].attempts, 2, "a node and an attempt without");
	is_near(s.round[1].best, 0.5, 1e-9, "which was no better");
	is_int(s.round[2].attempts, 1, "steps of any size");
	is_near(s.round[2].best, 0.75, 1e-9, "a smaller champion is no attempt");
	is_near(s.left, log(2), 1e-9, "half of the roof is left");
	free(s.round);
	graph_release(&g);
}

int main(void)
{
	gains();
	order();
	ties();
	floor_kept();
	anew();
	graphs();
	return tap_done();
}
