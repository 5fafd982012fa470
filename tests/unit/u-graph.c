/* needs: core/graph.c core/record.c */
#include <stdlib.h>

#include "core/graph.h"
#include "core/mem.h"
#include "tests/unit/tap.h"

static struct oid make_id(unsigned x, unsigned kind)
{
	struct oid o = { { 0 } };

	o.id[0] = (unsigned char)(x * 37);
	o.id[1] = (unsigned char)kind;
	o.id[16] = (unsigned char)(x >> 8);
	o.id[17] = (unsigned char)x;
	o.id[19] = 1;
	return o;
}

static uint32_t add(struct graph *g, uint32_t parent, uint32_t step,
		    const char *recipe, enum verdict v, double est,
		    double speedup)
{
	struct node n = {
		.id = make_id(g->nr, 0), .state = make_id(g->nr, 1),
		.parent = { parent, NODE_NONE }, .step = step,
		.recipe = xstrdup(recipe),
	};

	record_init(&n.rec);
	n.rec.verdict = v;
	n.rec.est_speedup = est;
	n.rec.speedup = speedup;
	return graph_add(g, &n);
}

static void test_settle(void)
{
	struct graph g;
	uint32_t a, b, c, d, e;

	graph_init(&g);
	add(&g, NODE_NONE, 0, NULL, V_NONE, NAN, NAN);
	a = add(&g, 0, 1, "uj(2)", V_FASTER, 1.5, NAN);
	/* 1.9 over the root, 1.4 over a baseline that is not the root */
	b = add(&g, a, 2, "uj(4)", V_CONFIRMED, 1.9, 1.4);
	c = add(&g, b, 3, "", V_SAME, 1.8, NAN);
	d = add(&g, c, 4, "vw", V_WRONG, 9, NAN);
	e = add(&g, d, 5, "vw(2)", V_TOO_GOOD, 9, 99);
	graph_settle(&g);
	is_near(g.node[0].score, 0, 0, "the root scores 0");
	is_near(g.node[a].score, log(1.5), 1e-15, "an estimate");
	is_near(g.node[b].score, log(1.9), 1e-15,
		"a confirmed speedup counts as that over the root");
	ok(g.node[b].confirmed && !g.node[a].confirmed, "which is confirmed");
	ok(isnan(g.node[d].score) && isnan(g.node[e].score),
	   "wrong and too good score nothing");
	ok(!g.node[e].confirmed, "too good is not confirmed");
	is_int(g.champion, b, "the champion");
	is_int(g.node[e].depth, 5, "depth");
	is_int(g.node[b].origin, 0, "recipes stand on the root");
	is_int(g.node[c].origin, c, "a node without a recipe is an origin");
	is_int(g.node[e].origin, c, "of those after it");
	is_int(graph_last_step(&g), 5, "the last step");
	graph_release(&g);
}

static void test_no_champion(void)
{
	struct graph g;

	graph_init(&g);
	is_int(graph_find(&g, &(struct oid){ { 1 } }), NODE_NONE,
	       "nothing in an empty graph");
	add(&g, NODE_NONE, 0, NULL, V_NONE, NAN, NAN);
	add(&g, 0, 1, "a", V_CONFIRMED, NAN, 0.9);
	graph_settle(&g);
	is_int(g.champion, 0, "a confirmed loss is no champion");
	graph_release(&g);
}

static void test_parent_behind(void)
{
	struct graph g;

	graph_init(&g);
	add(&g, NODE_NONE, 0, NULL, V_NONE, NAN, NAN);
	add(&g, 2, 1, "a", V_SAME, 1, NAN);
	add(&g, 0, 2, "b", V_SAME, 1, NAN);
	add(&g, 4, 3, "c", V_SAME, 1, NAN);	/* a cycle: damage */
	add(&g, 3, 3, "d", V_SAME, 1, NAN);
	graph_settle(&g);
	is_int(g.node[1].depth, 2, "a parent may stand behind");
	is_int(g.node[1].origin, 0, "its origin");
	ok(g.node[3].depth <= 5 && g.node[4].depth <= 5,
	   "a cycle hangs nothing");
	graph_release(&g);
}

static void test_many(void)
{
	struct graph g;
	bool good = true;
	struct oid none = make_id(60000, 0);

	graph_init(&g);
	for (uint32_t i = 0; i < 5000; i++)
		add(&g, i ? i - 1 : NODE_NONE, i, i ? "x" : NULL, V_SAME, 1,
		    NAN);
	graph_settle(&g);
	for (uint32_t i = 0; i < g.nr; i++)
		good &= graph_find(&g, &g.node[i].id) == i &&
			graph_find_state(&g, &g.node[i].state) == i;
	ok(good, "all are found");
	is_int(graph_find(&g, &none), NODE_NONE, "another is not");
	is_int(graph_find_state(&g, &g.node[3].id), NODE_NONE,
	       "a commit is no state");
	is_int(g.node[4999].depth, 4999, "a long chain");
	graph_release(&g);
}

static void test_same_state(void)
{
	struct graph g;
	struct node n = { .id = make_id(7, 3), .state = make_id(1, 1),
			  .parent = { 0, NODE_NONE }, .step = 9 };

	graph_init(&g);
	add(&g, NODE_NONE, 0, NULL, V_NONE, NAN, NAN);
	add(&g, 0, 1, "a", V_SAME, 1, NAN);
	record_init(&n.rec);
	graph_add(&g, &n);
	is_int(graph_find_state(&g, &n.state), 1, "the first of one state");
	g.spend = xcalloc(1, sizeof(*g.spend));
	g.spend[0].step = 12;
	g.nr_spend = g.cap_spend = 1;
	is_int(graph_node_from(&g, 0), 0, "the root has step 0");
	is_int(graph_node_from(&g, 2), 2, "of what is behind a step the first");
	is_int(graph_node_from(&g, 9), 2, "or of that step");
	is_int(graph_node_from(&g, 10), 3, "none is behind the last");
	is_int(graph_spend_from(&g, 12), 0, "spend lines alike");
	is_int(graph_spend_from(&g, 13), 1, "none is behind that");
	is_int(graph_call_from(&g, 0), 0, "where there is no call");
	is_int(graph_last_step(&g), 12, "a spend line has a step too");
	graph_release(&g);
}

/* r[i]: verdict, speedup */
static enum verdict last_of(const enum verdict *v, const double *speedup,
			    int nr)
{
	struct record best, r;

	for (int i = 0; i < nr; i++) {
		record_init(&r);
		r.verdict = v[i];
		r.speedup = speedup[i];
		if (!i || record_replaces(&r, &best))
			best = r;
	}
	return best.verdict;
}

static void test_which_counts(void)
{
	static const struct { enum verdict v[4], want; double s[4]; int nr; }
	t[] = {
		{ { V_FASTER, V_CONFIRMED }, V_CONFIRMED, { NAN, 2 }, 2 },
		{ { V_CONFIRMED, V_FASTER }, V_CONFIRMED, { 2, NAN }, 2 },
		{ { V_CONFIRMED, V_SLOWER }, V_SLOWER, { 2, 0.9 }, 2 },
		{ { V_CONFIRMED, V_SLOWER, V_FASTER }, V_SLOWER,
		  { 2, 0.9, NAN }, 3 },
		{ { V_CONFIRMED, V_SAME, V_CONFIRMED }, V_CONFIRMED,
		  { 2, 1, 2.1 }, 3 },
		{ { V_CONFIRMED, V_WRONG }, V_WRONG, { 2, NAN }, 2 },
		{ { V_CONFIRMED, V_WRONG, V_CONFIRMED }, V_CONFIRMED,
		  { 2, NAN, 2 }, 3 },
		{ { V_CONFIRMED, V_NO_VERDICT }, V_CONFIRMED, { 2, NAN }, 2 },
		{ { V_NO_VERDICT, V_SAME }, V_SAME, { NAN, NAN }, 2 },
		{ { V_FASTER, V_SLOWER }, V_SLOWER, { NAN, NAN }, 2 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(t); i++)
		is_str(verdict_name(last_of(t[i].v, t[i].s, t[i].nr)),
		       verdict_name(t[i].want), "which record counts, %zu", i);
}

int main(void)
{
	test_settle();
	test_no_champion();
	test_parent_behind();
	test_many();
	test_same_state();
	test_which_counts();
	return tap_done();
}
