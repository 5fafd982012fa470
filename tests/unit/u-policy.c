/* needs: core/policy*.c core/graph.c core/record.c core/rng.c */
#include <stdlib.h>

#include "core/mem.h"
#include "core/policy.h"
#include "tests/unit/tap.h"

#define MAX 256			/* nodes */

static struct graph g;
static struct spec spec;
static bool gone[MAX], gone_inner[MAX], sterile[MAX][MAX];

static bool exhausted(void *ctx, uint32_t node, bool inner)
{
	(void)ctx;
	return node < MAX && (inner ? gone_inner[node] : gone[node]);
}

static bool barren(void *ctx, uint32_t a, uint32_t b)
{
	(void)ctx;
	return a < MAX && b < MAX && sterile[a][b];
}

static struct oid make_id(uint32_t x, unsigned kind)
{
	uint64_t h = rng_mix(x, kind);
	struct oid o = { { 0 } };

	memcpy(o.id, &h, sizeof(h));
	o.id[19] = 1;
	return o;
}

/* speedup 0: it failed. */
static uint32_t add(uint32_t parent, uint32_t step, const char *recipe,
		    double speedup)
{
	struct node n = {
		.id = make_id(g.nr, 0), .state = make_id(g.nr, 1),
		.parent = { parent, NODE_NONE }, .step = step,
		.op = xstrdup(step ? "mutate" : "root"),
		.recipe = recipe ? xstrdup(recipe) : NULL,
	};

	record_init(&n.rec);
	n.rec.verdict = !step ? V_NONE : speedup > 1 ? V_FASTER :
			speedup > 0 ? V_SLOWER : V_WRONG;
	n.rec.est_speedup = speedup;
	return graph_add(&g, &n);
}

static void start(const char *policy)
{
	memset(&spec, 0, sizeof(spec));
	memset(gone, 0, sizeof(gone));
	memset(gone_inner, 0, sizeof(gone_inner));
	memset(sterile, 0, sizeof(sterile));
	spec.policy = (char *)policy;
	spec.proposer = (char *)"one";
	spec.seed = 7;
	policy_defaults(policy, &spec);
	graph_init(&g);
	add(NODE_NONE, 0, NULL, 0);
}

static struct policy_view view(uint32_t round)
{
	graph_settle(&g);
	return (struct policy_view){ .spec = &spec, .graph = &g,
				     .round = round, .exhausted = exhausted,
				     .barren = barren };
}

static bool ask(uint32_t round, uint32_t slot, uint32_t fails,
		struct policy_move *m)
{
	struct policy_view v = view(round);

	memset(m, 0xee, sizeof(*m));
	return policy_find(spec.policy)->expand(&v, slot, fails, m);
}

/* "b0 s0 d3 x3,4 -": the moves of a round; inner ones in capitals. */
static const char *moves(uint32_t round)
{
	static char text[1024];
	size_t len = 0;

	for (uint32_t slot = 0; slot < (uint32_t)spec.round; slot++) {
		struct policy_move m;
		char kind;

		if (slot)
			text[len++] = ' ';
		if (!ask(round, slot, 0, &m)) {
			text[len++] = '-';
			continue;
		}
		kind = (m.inner ? "BDSLX" : "bdslx")[m.kind];
		len += (size_t)snprintf(text + len, sizeof(text) - len,
					"%c%u", kind, m.parent[0]);
		if (m.kind == MOVE_CROSS)
			len += (size_t)snprintf(text + len,
						sizeof(text) - len, ",%u",
						m.parent[1]);
	}
	text[len] = '\0';
	return text;
}

static const char *frontier(uint32_t round, size_t max)
{
	static char text[1024];
	struct policy_view v = view(round);
	uint32_t list[MAX];
	size_t nr = policy_find(spec.policy)->frontier(&v, list, max);
	size_t len = 0;

	text[0] = '\0';
	for (size_t i = 0; i < nr; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len,
					"%s%u", i ? " " : "", list[i]);
	return text;
}

static bool finished(uint32_t round)
{
	struct policy_view v = view(round);

	return policy_find(spec.policy)->finished(&v);
}

static const char *why(uint32_t round)
{
	static struct buf text = BUF_INIT;
	struct policy_view v = view(round);

	buf_reset(&text);
	if (policy_find(spec.policy)->why)
		policy_find(spec.policy)->why(&v, &text);
	return text.ptr;
}

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

/* ---- what they share ---- */

static void test_shared(void)
{
	const struct policy *const *list = policy_list();
	uint32_t out[4];
	struct policy_view v;
	struct rng a, b;

	is_str(list[0]->name, "adaptive", "the default stands first");
	for (; *list; list++) {
		start((*list)->name);
		ok(policy_find((*list)->name) == *list && *(*list)->summary,
		   "%s is found", (*list)->name);
		is_int((*list)->round(&spec), spec.round,
		       "%s: its rounds are those of its defaults",
		       (*list)->name);
		is_near(spec.keep, 0.8, 0, "%s: keep", (*list)->name);
		graph_release(&g);
	}
	ok(!policy_find("best"), "no other is");

	start("greedy");
	add(0, 1, "a", 2);
	add(0, 2, "b", 3);
	add(0, 3, "c", 0);
	add(0, 4, "d", 2);
	add(0, 5, "e", 9);
	free(g.node[5].strategy);
	g.node[5].strategy = xstrdup("minimise");
	v = view(1);
	is_int(policy_top(&g, NULL, NULL, out, 4), 4, "four are usable");
	ok(out[0] == 2 && out[1] == 1 && out[2] == 4 && out[3] == 0,
	   "best first, equals in their order; no failed, no smaller one");
	is_int(policy_top(&g, NULL, NULL, out, 2), 2, "two of them");
	ok(out[0] == 2 && out[1] == 1, "are the best two");
	is_int(policy_top(&g, NULL, NULL, out, 0), 0, "none of them");
	is_int(policy_round_of(&spec, 4), 0, "step 4 is of round 0");
	is_int(policy_slot_of(&spec, 5), 0, "step 5 has slot 0");
	is_int(policy_stalled(&v), 0, "the last round brought the best");
	v.round = 5;
	is_int(policy_stalled(&v), 4, "four rounds without a gain");
	policy_rng(&v, 1, 0, &a);
	policy_rng(&v, 1, 0, &b);
	ok(rng_next(&a) == rng_next(&b), "a slot has its generator");
	policy_rng(&v, 1, 1, &b);
	ok(rng_next(&a) != rng_next(&b), "after a fail it is another");
	is_int(policy_frontier(&spec, &g, out, 4), 4, "a frontier");
	spec.policy = (char *)"unheard-of";
	is_int(policy_frontier_at(&spec, &g, 1, out, 4), 4,
	       "of an unknown policy all are");
	is_int(policy_shown(&spec, 16), 4, "four are shown without a width");
	spec.width = 20;
	is_int(policy_shown(&spec, 16), 16, "no more than fit");
	graph_release(&g);
}

/* A graph as a search might leave it: 10 rounds of 4, some failed. */
static void grow(void)
{
	static const char *const recipes[] = { "a", "b", "a; b", "", "c" };

	for (uint32_t i = 1; i <= 40; i++)
		add((i - 1) / 4 * 3, i, recipes[i % 5], i % 4 == 3 ? 0 :
		    1 + (double)(i * 7 % 11) / 10);
}

static void test_all(void)
{
	for (const struct policy *const *p = policy_list(); *p; p++) {
		const char *name = (*p)->name;
		char first[1024];
		bool good = true, usable = true;
		struct policy_move m;
		uint32_t fails = 0;

		start(name);
		spec.inner = (char *)"two";
		spec.space = 1e6;
		grow();
		snprintf(first, sizeof(first), "%s", moves(10));
		is_str(moves(10), first, "%s: the same again", name);
		for (; fails < POLICY_MAX_FAILS && ask(10, 1, fails, &m);
		     fails++) {
			uint32_t a = m.parent[0], b = m.parent[1];

			usable &= a < g.nr && policy_usable(&g, a);
			if (m.kind == MOVE_CROSS) {
				usable &= b < g.nr && policy_usable(&g, b) &&
					  a != b;
				good &= usable && !sterile[a][b];
				sterile[a][b] = sterile[b][a] = true;
				continue;
			}
			good &= b == NODE_NONE && !exhausted(NULL, a, m.inner);
			*(m.inner ? &gone_inner[a] : &gone[a]) = true;
		}
		ok(usable, "%s: expands what was timed alone", name);
		ok(good, "%s: nothing that is exhausted, no barren pair",
		   name);
		ok(fails && fails < POLICY_MAX_FAILS,
		   "%s: ends when all is (%u fails)", name, fails);
		graph_release(&g);
	}
}

/* Hostile or odd specs and graphs do no harm. */
static void test_odd(void)
{
	for (const struct policy *const *p = policy_list(); *p; p++) {
		struct policy_move m;

		start((*p)->name);
		spec.width = spec.branches = spec.depth = 0;
		spec.patience = spec.islands = 0;
		spec.round = 1;
		ok(ask(0, 0, 0, &m) && m.parent[0] == 0,
		   "%s: all parameters 0", (*p)->name);
		ok((*p)->round(&spec) >= 1, "%s: still has rounds",
		   (*p)->name);
		add(0, UINT32_MAX - 1, "a", 2);
		add(2, UINT32_MAX, "b", 3);	/* its own parent */
		ok(ask(UINT32_MAX, 0, 0, &m), "%s: the last of all rounds",
		   (*p)->name);
		gone[0] = gone[1] = gone[2] = true;
		ok(!ask(UINT32_MAX, 0, 0, &m) || m.kind == MOVE_CROSS,
		   "%s: and its end", (*p)->name);
		graph_release(&g);
	}
}

/* ---- each ---- */

static void test_bestofn(void)
{
	start("bestofn");
	is_str(moves(0), "s0 s0 s0 s0", "bestofn: samples of the root");
	add(0, 1, "a", 3);
	add(0, 2, "b", 4);
	is_str(moves(1), "s0 s0 s0 s0", "bestofn: whatever they brought");
	is_str(frontier(1, 8), "2 1 0", "bestofn: the best of all");
	ok(!finished(1000), "bestofn: no end of its own");
	gone[0] = true;
	is_str(moves(1), "- - - -", "bestofn: but that of the root");
	graph_release(&g);
}

static void test_parallel(void)
{
	start("parallel");
	is_str(moves(0), "b0 b0 b0 b0", "parallel: chains from the root");
	add(0, 1, "a", 2);
	add(0, 2, "b", 0);
	add(0, 3, "c", 0.9);
	add(0, 4, "d", 0.5);
	is_str(moves(1), "b1 b0 b3 b0", "parallel: each from its own tip; not "
	       "from a failed one, nor one much slower than the chain's best");
	add(1, 5, "e", 1.9);
	add(0, 6, "f", 5);
	add(3, 7, "g", 2);
	is_str(moves(2), "b5 b6 b7 b0",
	       "parallel: a better chain does not draw the others");
	gone[7] = true;
	is_str(moves(2), "b5 b6 b3 b0", "parallel: a dead end goes back");
	gone[3] = gone[0] = true;
	is_str(moves(2), "b5 b6 b6 b6",
	       "parallel: a dead chain joins the best");
	gone[0] = false;
	is_str(frontier(2, 8), "6 7 5 0", "parallel: the tips, best first");
	spec.depth = 2;
	ok(finished(2) && !finished(1), "parallel: over at its depth");
	spec.depth = 0;
	ok(!finished(1000), "parallel: without a depth it goes on");
	graph_release(&g);
}

static void test_beam(void)
{
	start("beam");
	spec.width = 2;
	spec.branches = 2;
	spec.round = 4;
	is_str(moves(0), "b0 b0 b0 b0", "beam: all from the root");
	add(0, 1, "a", 2);
	add(0, 2, "b", 0);
	add(0, 3, "c", 1.9);
	add(0, 4, "d", 1.8);
	is_str(moves(1), "b1 b1 b3 b3", "beam: of each as often");
	is_str(frontier(1, 9), "1 3", "beam: no wider, no failed node");
	add(1, 5, "e", 1.95);
	add(3, 6, "f", 1.5);
	is_str(moves(2), "b1 b1 b5 b5",
	       "beam: parents compete with their children");
	add(1, 9, "g", 4);
	add(5, 10, "h", 2.1);
	is_str(moves(3), "b7 b7 b7 b7",
	       "beam: much slower ones go, the best has their turns");
	gone[7] = true;
	is_str(moves(3), "- - - -", "beam: an exhausted one has none");
	spec.depth = 3;
	ok(finished(3) && !finished(2), "beam: over at its depth");
	is_str(frontier(50, 9), "7", "beam: rounds without nodes change none");
	graph_release(&g);
}

static void beam_of_two(int patience)
{
	start("beam");
	spec.width = 2;
	spec.branches = 2;
	spec.round = 4;
	spec.patience = patience;
}

static void test_patience(void)
{
	beam_of_two(3);
	add(0, 1, "a", 2);
	add(0, 2, "b", 1.9);
	add(0, 3, "c", 0.3);
	add(0, 4, "d", 0);
	g.node[3].steps = 2;
	g.node[4].steps = 2;
	is_str(frontier(1, 9), "1 3", "patience: a plan that goes on keeps its "
	       "place, beside the best, within the width");
	is_str(frontier(2, 9), "1 3", "patience: for its steps");
	is_str(frontier(3, 9), "1", "patience: and no longer");
	spec.patience = 1;
	is_str(frontier(1, 9), "1 3", "patience: one round");
	is_str(frontier(2, 9), "1", "patience: not two");
	spec.patience = 0;
	is_str(frontier(1, 9), "1 2", "patience: none, no place");
	spec.patience = 3;
	spec.width = 1;
	is_str(frontier(1, 9), "1", "patience: the best has its place first");
	spec.width = 3;
	is_str(frontier(1, 9), "1 2 3", "patience: so has who fits in");

	spec.width = 2;
	add(3, 5, "e", 0.4);
	g.node[5].steps = 1;
	is_str(frontier(2, 9), "1 5",
	       "patience: a child that goes on with the plan takes the place");
	spec.width = 3;
	is_str(frontier(2, 9), "1 2 5", "patience: its parent has none now");
	g.node[5].steps = 2;
	is_str(frontier(2, 9), "1 5 3",
	       "patience: but beside a child with another plan");
	g.node[5].steps = 1;
	spec.width = 2;
	is_str(frontier(3, 9), "1", "patience: for its own steps");
	add(5, 9, "f", 3);
	is_str(frontier(3, 9), "6", "patience: in the end it pays");
	graph_release(&g);

	beam_of_two(3);
	add(0, 1, "a", 2);
	add(0, 2, "b", 0.3);
	g.node[2].steps = 3;
	add(2, 5, "c", 0);
	g.node[3].steps = 2;
	is_str(frontier(2, 9), "1 2",
	       "patience: a failed child has no place, its parent keeps it");
	graph_release(&g);
}

static void test_greedy(void)
{
	start("greedy");
	is_str(moves(0), "b0 b0 b0 b0", "greedy: from the root");
	add(0, 1, "a", 1.5);
	add(0, 2, "b", 2);
	add(0, 3, "c", 0);
	is_str(moves(1), "b2 b2 b2 b2", "greedy: from the best");
	gone[2] = true;
	is_str(moves(1), "b1 b1 b1 b1", "greedy: else from the next best");
	gone[1] = true;
	is_str(moves(1), "b0 b0 b0 b0", "greedy: down to the slowest");
	is_str(frontier(1, 9), "0", "greedy: what is left");
	gone[0] = true;
	is_str(moves(1), "- - - -", "greedy: then it is over");
	memset(gone, 0, sizeof(gone));
	is_str(frontier(1, 9), "2 1 0", "greedy: all, best first");
	ok(begins(why(1), "from the best"), "greedy: says so");
	graph_release(&g);
}

static void test_restarts(void)
{
	uint32_t round = 1;

	start("greedy");
	add(0, 1, "a", 2);
	while (moves(round)[0] == 'b' && round < 100)
		round++;
	ok(round > 2 && round < 100, "greedy: starts afresh, in round %u",
	   round);
	is_str(moves(round), "s0 s0 s0 s0", "greedy: with samples");
	ok(begins(why(round), "samples"), "greedy: and says why");
	is_str(moves(round + 1), "s0 s0 s0 s0",
	       "greedy: until there is one to climb from");
	add(0, round * 4 + 1, "b", 1.2);
	add(0, round * 4 + 2, "c", 1.5);
	add(0, round * 4 + 3, "d", 0);
	is_str(moves(round + 1), "b3 b3 b3 b3",
	       "greedy: and climbs from the best of them");
	add(3, (round + 1) * 4 + 1, "e", 1.6);
	is_str(moves(round + 2), "b5 b5 b5 b5", "greedy: on and on");
	gone[5] = true;
	is_str(moves(round + 2), "b1 b1 b1 b1",
	       "greedy: a dead end leads back to the best of all");
	graph_release(&g);

	for (int small = 0; small < 2; small++) {
		double speedup = 1;

		start("greedy");
		for (round = 0; round < 40 && moves(round)[0] == 'b'; round++) {
			speedup *= small ? 1.001 : 1.05;
			add(g.nr - 1, round * 4 + 1, "a", speedup);
		}
		ok((round < 40) == small, "greedy: %s", small ?
		   "tiny gains do not keep a climb alive" : "gains do");
		graph_release(&g);
	}
}

/* Counts the kinds of moves over many rounds of one graph. */
struct counts {
	int kind[5];
	bool seen[MAX];		/* as parent of a draw or a crossing */
	int drawn[MAX];		/* as parent of a draw */
	bool outside;		/* a cross of others than wanted */
};

static struct counts count(uint32_t from, uint32_t rounds, uint32_t slot,
			   bool (*may_cross)(uint32_t a, uint32_t b))
{
	struct counts c = { .outside = false };

	for (uint32_t r = from; r < from + rounds; r++) {
		struct policy_move m;

		if (!ask(r, slot, 0, &m))
			continue;
		c.kind[m.kind]++;
		if (m.kind == MOVE_CROSS || m.kind == MOVE_DRAW)
			c.seen[m.parent[0]] = true;
		if (m.kind == MOVE_DRAW)
			c.drawn[m.parent[0]]++;
		if (m.kind != MOVE_CROSS)
			continue;
		c.seen[m.parent[1]] = true;
		if (may_cross && !may_cross(m.parent[0], m.parent[1]))
			c.outside = true;
	}
	return c;
}

static bool crossable(uint32_t a, uint32_t b)
{
	const struct node *m = &g.node[a], *n = &g.node[b];

	return a != b && policy_usable(&g, a) && policy_usable(&g, b) &&
	       m->recipe && *m->recipe && n->recipe && *n->recipe &&
	       m->origin == n->origin && m->parent[0] != b &&
	       n->parent[0] != a && m->score >= n->score;
}

static void test_evolve(void)
{
	char first[1024];
	int crossed = 0;
	struct counts c;

	start("evolve");
	spec.width = 6;
	c = count(0, 100, 0, NULL);
	ok(c.kind[MOVE_BEST] > 20 && c.kind[MOVE_SAMPLE] &&
	   c.kind[MOVE_DRAW] > 20 && !c.kind[MOVE_CROSS],
	   "evolve: begins with the likeliest steps, draws and samples");
	add(0, 1, "a", 2);
	add(0, 2, "b", 1.9);
	add(0, 3, "c", 0);
	add(0, 4, "", 1.8);		/* an origin */
	add(4, 5, "a", 1.7);
	add(1, 6, "a; d", 2.5);
	add(0, 7, "e", 0.2);
	add(0, 8, "f", 0.1);
	graph_settle(&g);
	c = count(2, 400, 1, crossable);
	ok(c.kind[MOVE_DRAW] > 200, "evolve: mutations mostly");
	ok(c.kind[MOVE_CROSS] > 20, "evolve: crossovers");
	ok(c.kind[MOVE_SAMPLE] > 0 && c.kind[MOVE_SAMPLE] < 60,
	   "evolve: a sample now and then");
	ok(!c.outside, "evolve: crosses recipes of one origin, the better "
	   "one first, none with its child");
	ok(c.seen[0] && c.seen[1] && c.seen[2] && c.seen[4] && c.seen[5] &&
	   c.seen[6], "evolve: the population breeds");
	ok(!c.seen[3] && !c.seen[7] && !c.seen[8],
	   "evolve: what failed or is slow does not");
	ok(c.drawn[6] > 2 * c.drawn[0], "evolve: the best most of all");
	is_str(frontier(2, 9), "6 1 2 4 5 0", "evolve: the population");
	is_str(frontier(2, 2), "6 1", "evolve: the best of it");
	for (uint32_t fails = 8; fails < 100; fails++) {
		struct policy_move m;

		crossed += ask(2, 1, fails, &m) && m.kind == MOVE_CROSS;
	}
	is_int(crossed, 0, "evolve: crosses no more after many fails");
	memset(sterile, true, sizeof(sterile));
	c = count(2, 200, 1, NULL);
	ok(!c.kind[MOVE_CROSS], "evolve: no barren pair");

	g.node[2].state = g.node[1].state;
	graph_reindex(&g);
	is_str(frontier(2, 9), "6 1 4 5 0 7", "evolve: of different states");

	snprintf(first, sizeof(first), "%s", moves(5));
	is_str(moves(5), first, "evolve: the same draws again");
	for (spec.seed = 8; spec.seed < 20; spec.seed++)
		if (strcmp(moves(5), first) != 0)
			break;
	ok(spec.seed < 20, "evolve: others with another seed");
	graph_release(&g);
}

static void test_islands(void)
{
	int strayed = 0, guests = 0;
	struct counts c;

	start("evolve");
	spec.width = 3;
	spec.islands = 2;
	is_int(policy_evolve.round(&spec), 4, "islands: an even round");
	spec.islands = 3;
	is_int(policy_evolve.round(&spec), 6, "islands: as many on each");
	spec.islands = 2;
	add(0, 1, "a", 2);
	add(0, 2, "b", 3);
	add(0, 3, "c", 1.9);
	add(0, 4, "d", 2.9);
	for (uint32_t r = 8; r < 100; r += r % 4 == 2 ? 2 : 1) {
		c = count(r, 1, 0, NULL);
		strayed += c.seen[2] || c.seen[4];
		c = count(r, 1, 1, NULL);
		strayed += c.seen[1] || c.seen[3];
	}
	is_int(strayed, 0, "islands: each by itself for a few rounds");
	for (uint32_t r = 11; r < 400; r += 4) {
		c = count(r, 1, 0, NULL);
		guests += c.seen[2];
		strayed += c.seen[4];
	}
	ok(guests > 10, "islands: then they have a guest");
	is_int(strayed, 0, "islands: the best alone");
	is_str(frontier(8, 9), "2 4 1 3 0", "islands: the best of each");
	graph_release(&g);
}

static bool two_with_two(uint32_t a, uint32_t b)
{
	return g.node[a].origin == g.node[b].origin;
}

static void test_learn(void)
{
	start("learn");
	is_str(moves(0), "l0 l0 l0 l0", "learn: from the root");
	add(0, 1, "a", 0.5);
	add(0, 2, "b", 1.5);
	is_str(moves(1), "l2 l2 l2 l2", "learn: from the best");
	gone[2] = true;
	is_str(moves(1), "l0 l0 l0 l0", "learn: not from what is exhausted");
	gone[0] = gone[1] = true;
	is_str(moves(1), "- - - -", "learn: ends when nothing is left");
	graph_release(&g);
}

static void test_hybrid(void)
{
	char as_evolve[1024];
	struct counts c;
	int best = 0, second = 0, inner = 0, origins = 0;

	start("hybrid");
	add(0, 1, "a", 2);
	add(0, 2, "b", 1.9);
	snprintf(as_evolve, sizeof(as_evolve), "%s", moves(6));
	spec.policy = (char *)"evolve";
	is_str(moves(6), as_evolve, "hybrid: of one proposer it is evolve");
	spec.policy = (char *)"hybrid";
	spec.inner = (char *)"one";
	is_str(moves(6), as_evolve, "hybrid: also when it is named twice");
	spec.inner = (char *)"two";
	add(0, 3, NULL, 3);
	for (uint32_t r = 1; r <= 100; r++) {
		struct policy_move m;

		best += ask(r, 0, 0, &m) && !m.inner &&
			m.kind == MOVE_BEST && m.parent[0] == 3;
		second += ask(r, 2, 0, &m) && !m.inner && m.parent[0] == 1;
		inner += ask(r, 1, 0, &m) && m.inner;
		origins += g.node[m.parent[0]].origin == 3;
	}
	is_int(best, 100, "hybrid: versions from the best");
	is_int(second, 100, "hybrid: and from the second best");
	is_int(inner, 100, "hybrid: the other slots tune");
	ok(origins > 50 && origins < 100,
	   "hybrid: the better version oftener (%d of 100)", origins);
	spec.width = 2;
	add(3, 5, "a", 3.1);
	add(3, 6, "b", 3.2);
	add(3, 7, "c", 3.3);
	c = count(4, 300, 1, two_with_two);
	ok(c.kind[MOVE_CROSS] > 10 && !c.outside,
	   "hybrid: crosses on one version alone");
	ok(strstr(why(4), "one makes versions, two tunes"),
	   "hybrid: says so");
	is_str(frontier(4, 3), "6 5 4", "hybrid: the best of all");
	gone[0] = gone[1] = gone[2] = gone[3] = gone[4] = gone[5] = true;
	gone[6] = true;
	ok(begins(moves(4), "D") || begins(moves(4), "B") ||
	   begins(moves(4), "X") || begins(moves(4), "S"),
	   "hybrid: without versions it tunes");
	graph_release(&g);
}

static void test_adaptive(void)
{
	start("adaptive");
	is_int(spec.round, 4, "adaptive: rounds of 4");
	ok(begins(why(0), "beam: "), "adaptive: an unknown space: beam");
	is_str(moves(0), "b0 b0 b0 b0", "adaptive: from the root");
	spec.inner = (char *)"two";
	ok(begins(why(0), "hybrid: one makes versions, two tunes them"),
	   "adaptive: two proposers: hybrid");
	spec.inner = (char *)"";
	spec.budget.attempts = 8;
	ok(begins(why(0), "greedy: 8 attempts are too few"),
	   "adaptive: of a few attempts: greedy");
	spec.budget.attempts = 100;
	ok(begins(why(0), "beam: "), "adaptive: of more: beam");
	spec.space = 1e6;
	ok(begins(why(0), "learn: a model of the tried versions"),
	   "adaptive: a known space: learn");
	is_str(moves(0), "b0 l0 l0 l0", "adaptive: the likeliest steps first");
	add(0, 1, "a", 2);
	add(0, 2, "b", 1.5);
	is_str(moves(1), "l1 l1 l1 l1", "adaptive: from the best");
	ok(begins(why(9), "learn, one sample: no gain for 6 rounds"),
	   "adaptive: a model may be blind to something");
	is_str(moves(9), "l1 l1 l1 s0", "adaptive: then a sample as well");
	add(1, 33, "c", 3);
	ok(begins(why(9), "learn: a model"), "adaptive: a gain ends that");
	gone[0] = true;
	is_str(moves(20), "l3 l3 l3 l3", "adaptive: no sample of what is "
	       "exhausted");
	spec.space = 0;
	is_str(moves(9), "b3 b3 b3 b3", "adaptive: its beam");
	graph_release(&g);
}

/* A look at each node, or a few, is what a move costs. */
static void test_large(void)
{
	start("adaptive");
	for (uint32_t i = 1; i < 100000; i++)
		add(i / 2, i, "a", 1 + (double)(i * 2654435761u % 1000) / 1000 +
		    i * 1e-6);
	graph_settle(&g);
	for (const struct policy *const *p = policy_list(); *p; p++) {
		struct policy_view v = { .spec = &spec, .graph = &g,
					 .round = 100000, .exhausted = exhausted,
					 .barren = barren };
		struct policy_move m;
		bool good = true;

		policy_defaults((*p)->name, &spec);
		spec.space = 1e9;
		for (uint32_t slot = 0; slot < 4; slot++)
			good &= (*p)->expand(&v, slot, 0, &m);
		ok(good, "%s: 100000 nodes", (*p)->name);
	}
	graph_release(&g);
}

int main(void)
{
	test_shared();
	test_all();
	test_odd();
	test_bestofn();
	test_parallel();
	test_beam();
	test_patience();
	test_greedy();
	test_restarts();
	test_evolve();
	test_islands();
	test_learn();
	test_hybrid();
	test_adaptive();
	test_large();
	return tap_done();
}
