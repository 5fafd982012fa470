/* needs: core/prior.c core/graph.c core/record.c */
#include "tests/unit/tap.h"

#include <stdlib.h>
#include <unistd.h>

#include "core/mem.h"
#include "core/prior.h"

#define SHAPE "d3r1s1c0w1-f32"

static void is_text(const struct prior *p, const char *want,
		    const char *title)
{
	struct buf got = BUF_INIT;

	prior_format(p, PRIOR_MAX_TEXT, &got);
	is_str(got.ptr, want, "%s", title);
	buf_release(&got);
}

static void read_good(struct prior *p, const char *text)
{
	struct err err = ERR_INIT;

	if (!ok(!prior_parse(p, text, strlen(text), &err), "it is read"))
		printf("# %s\n", err.msg);
}

/* ---- text ---- */

static const char sample[] =
"c d1r0s0c0w1-f32 TILE=32 1 1 0 0.0000\n"
"c " SHAPE " ccopt(no-ivopts,unroll-loops) 4 0 2 -0.1250\n"
"c " SHAPE " restrict 10 2 5 3.5000\n"
"c " SHAPE " vect-cost-model=unlimited 4294967295 0 0 1000000.0000\n"
"c++ x-f64 restrict 1 0 1 0.3000\n";

static void round_trip(void)
{
	struct prior p, twin;
	struct err err = ERR_INIT;
	static const char shuffled[] =
	"# a head\n#\nc b restrict 1 0 0 -0.00001\n"
	"c a vw(512) 2 0 0 .5";

	read_good(&p, sample);
	is_int((long long)p.nr, 5, "all of it");
	is_text(&p, sample, "as it was");
	prior_copy(&twin, &p);
	prior_release(&p);
	is_text(&twin, sample, "so is a copy");
	prior_release(&twin);
	is_text(&twin, "", "nothing is left");
	is_int(prior_parse(&p, shuffled, sizeof(shuffled) - 1, &err),
	       ERR_FORMAT, "a number begins with a digit");
	read_good(&p, "# a head\n#\nc b restrict 1 0 0 -0.00001\n"
		      "c a vw(512) 2 0 0 0.5");
	is_text(&p, "c a vw(512) 2 0 0 0.5000\nc b restrict 1 0 0 0.0000\n",
		"sorted, without comments and without -0");
	prior_release(&p);
	read_good(&p, "");
	is_int((long long)p.nr, 0, "an empty one");
	prior_release(&p);
}

static void refused(const char *text, size_t len, int line,
		    const char *title)
{
	struct err err = ERR_INIT;
	struct prior p;
	char where[32];

	snprintf(where, sizeof(where), "line %d ", line);
	ok(prior_parse(&p, text, len, &err) == ERR_FORMAT && !p.nr && !p.v &&
	   strstr(err.msg, where), "refused: %s", title);
	prior_release(&p);
}

static void hostile(void)
{
	static const char *const lines[][2] = {
		{ "", "a blank line" },
		{ "c a b 1 0 0", "a word missing" },
		{ "c a b 1 0 0 0 ", "a word too many" },
		{ "c  a b 1 0 0 0", "two blanks" },
		{ "c\ta b 1 0 0 0", "a tab" },
		{ " c a b 1 0 0 0", "a blank first" },
		{ "c a b 1 0 0 0\r", "a carriage return" },
		{ "C a b 1 0 0 0", "a target in capitals" },
		{ "c A b 1 0 0 0", "a shape in capitals" },
		{ "c a b\x1b[2J 1 0 0 0", "an escape" },
		{ "c a \xc3\xa4 1 0 0 0", "no ASCII" },
		{ "c a b;c 1 0 0 0", "two genes" },
		{ "c a %n 1 0 0 0", "a per cent sign" },
		{ "c a b 0 0 0 0", "never tried" },
		{ "c a b -1 0 0 0", "a negative count" },
		{ "c a b 1e3 0 0 0", "an exponent" },
		{ "c a b 4294967296 0 0 0", "past 32 bits" },
		{ "c a b 99999999999999999999 0 0 0", "past 64 bits" },
		{ "c a b 1 2 0 0", "failed more often than tried" },
		{ "c a b 3 2 2 0", "won what failed" },
		{ "c a b 1 0 0 nan", "no number" },
		{ "c a b 1 0 0 inf", "infinite" },
		{ "c a b 1 0 0 0x1", "hexadecimal" },
		{ "c a b 1 0 0 1.2.3", "two points" },
		{ "c a b 1 0 0 --1", "two signs" },
		{ "c a b 1 0 0 -", "a sign alone" },
		{ "c a b 1 0 0 1000001", "a gain past belief" },
		{ "c z restrict 1 0 0 0", "a key twice" },
	};
	struct err err = ERR_INIT;
	struct buf big = BUF_INIT;
	struct prior p;

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		struct buf text = BUF_INIT;

		buf_addf(&text, "c z restrict 1 0 0 0\n%s\n", lines[i][0]);
		refused(text.ptr, text.len, 2, lines[i][1]);
		buf_release(&text);
	}
	refused("c a b 1 0 0 0\nc a c 1 0 0 0\0", 28, 2, "a NUL byte");
	refused("# \0\n", 4, 1, "one in a comment");
	buf_addstr(&big, "c a ");
	for (int i = 0; i <= PRIOR_MAX_WORD; i++)
		buf_addch(&big, 'g');
	buf_addstr(&big, " 1 0 0 0\n");
	refused(big.ptr, big.len, 1, "a long word");
	buf_reset(&big);
	while (big.len <= PRIOR_MAX_TEXT)
		buf_addf(&big, "c s g%zu 1 0 0 0\n", big.len);
	is_int(prior_parse(&p, big.ptr, big.len, &err), ERR_LIMIT,
	       "too long");
	buf_release(&big);
}

static void kept(void)
{
	struct buf got = BUF_INIT;
	struct prior p;

	read_good(&p, "c a few 1 0 0 0\nc a many 9 0 0 0\nc b some 5 0 0 0\n");
	prior_format(&p, 50, &got);
	is_str(got.ptr, "c a many 9 0 0 0.0000\nc b some 5 0 0 0.0000\n",
	       "what was tried most is kept, in its order");
	buf_reset(&got);
	prior_format(&p, 5, &got);
	is_str(got.ptr, "", "no room at all");
	buf_release(&got);
	prior_release(&p);
}

static void files(void)
{
	char path[] = "/tmp/u-prior.XXXXXX";
	struct err err = ERR_INIT;
	struct prior p;
	int fd = mkstemp(path);

	ok(fd >= 0 && write(fd, sample, sizeof(sample) - 1) ==
	   (ssize_t)sizeof(sample) - 1, "a file");
	ok(!prior_load(&p, path, &err), "is loaded");
	is_text(&p, sample, "as it stands");
	prior_release(&p);
	ok(write(fd, "x\n", 2) == 2 && !close(fd), "a bad line more");
	ok(prior_load(&p, path, &err) == ERR_FORMAT && !p.nr &&
	   strstr(err.msg, path) && strstr(err.msg, "line 6"),
	   "is an error that names the file and the line");
	unlink(path);
	ok(!prior_load(&p, path, &err) && !p.nr, "no file is nothing known");
}

/* ---- keys ---- */

static void are_keys(const char *recipe, const char *want)
{
	struct strv keys = STRV_INIT;
	struct buf got = BUF_INIT;

	prior_keys(recipe, &keys);
	for (size_t i = 0; i < keys.nr; i++)
		buf_addf(&got, "%s%s", i ? " " : "", keys.v[i]);
	is_str(got.ptr, want, "the keys of '%.60s'", recipe);
	strv_release(&keys);
	buf_release(&got);
}

static void keys(void)
{
	char longer[PRIOR_MAX_WORD + 8];

	are_keys("", "");
	are_keys("restrict; vecmath(exp, tanh);vw(512)",
		 "restrict vecmath(exp,tanh) vw(512)");
	are_keys("tunables(TILE=32,N_J=4)", "TILE=32 N_J=4");
	are_keys("ccopt(vect-cost-model=unlimited)",
		 "ccopt(vect-cost-model=unlimited)");
	are_keys("ccopt(a=1,unroll-loops)", "ccopt(a=1,unroll-loops)");
	are_keys("t(1A=2)", "t(1A=2)");
	are_keys("t(A=)", "t(A=)");
	are_keys("t(", "t(");
	are_keys("t()", "t()");
	are_keys(";;a;(;", "a (");
	are_keys("a\x1b[2J; b; \xff", "b");
	memset(longer, 'a', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	are_keys(longer, "");
}

/* ---- counting ---- */

static uint32_t add(struct graph *g, uint32_t parent, const char *recipe,
		    enum verdict v, double est)
{
	struct node n = {
		.parent = { parent, NODE_NONE }, .step = g->nr,
		.recipe = xstrdup(recipe),
	};

	n.id.id[0] = n.state.id[0] = (unsigned char)g->nr;
	n.id.id[19] = n.state.id[19] = 1;
	record_init(&n.rec);
	n.rec.verdict = v;
	n.rec.est_speedup = est;
	return graph_add(g, &n);
}

static void make_graph(struct graph *g)
{
	uint32_t a, b, c, llm, d;

	graph_init(g);
	add(g, NODE_NONE, NULL, V_NONE, NAN);
	a = add(g, 0, "restrict", V_FASTER, exp(0.5));
	b = add(g, a, "restrict; vw(512); tunables(A=2,B=4)", V_FASTER,
		exp(0.8));
	c = add(g, b, "restrict; vw(256); tunables(A=2,B=4)", V_SLOWER,
		exp(0.7));
	add(g, c, "restrict; vw(256); tunables(A=2,B=8)", V_WRONG, NAN);
	add(g, c, "restrict; vw(256); tunables(B=4)", V_SAME, exp(0.7));
	add(g, a, "restrict; fastmath(assoc)", V_NO_VERDICT, NAN);
	llm = add(g, a, NULL, V_FASTER, exp(1.0));
	d = add(g, llm, "restrict", V_SAME, exp(1.01));
	add(g, d, "restrict; vw(512)", V_CRASH, NAN);
	add(g, g->nr - 1, "restrict; vw(512); vecmath", V_FASTER, exp(2.0));
	graph_settle(g);
}

static void counts(void)
{
	struct prior p = PRIOR_INIT, once = PRIOR_INIT;
	struct buf whole = BUF_INIT;
	struct graph g;

	make_graph(&g);
	prior_count_graph(&once, &g, 0, g.nr, "c", "s");
	is_text(&once,
		"c s A=2 1 0 1 0.1000\n"	/* a third of the step's */
		"c s B=4 1 0 1 0.1000\n"
		"c s B=8 1 1 0 0.0000\n"	/* wrong */
		/* 0.5 from the root, 0.01 from a node that has no recipe */
		"c s restrict 2 0 1 0.5100\n"
		"c s vw(256) 1 0 0 -0.1000\n"
		"c s vw(512) 2 1 1 0.1000\n",
		"what each gene did; no removal, no step without a verdict, "
		"none from a node without a time");
	prior_format(&once, PRIOR_MAX_TEXT, &whole);
	for (uint32_t i = 0; i < g.nr; i++)
		prior_count_graph(&p, &g, i, i + 1, "c", "s");
	is_text(&p, whole.ptr, "one by one it is the same");
	prior_count_graph(&p, &g, g.nr, g.nr + 100, "c", "s");
	is_text(&p, whole.ptr, "and ends with the graph");
	prior_count_graph(&p, &g, 0, g.nr, "c d", "s");
	prior_count_graph(&p, &g, 0, g.nr, "c", "");
	is_text(&p, whole.ptr, "words that cannot be written count nothing");
	prior_add(&p, &once);
	is_int(p.v[p.nr - 1].tried, 4, "counts add up");
	is_near(p.v[p.nr - 1].gain, 0.2, 1e-12, "and gains");
	prior_release(&p);
	prior_release(&once);
	buf_release(&whole);
	graph_release(&g);
}

/* Of several genes that failed together. */
static void blame(void)
{
	struct prior p = PRIOR_INIT;
	struct graph g;
	uint32_t a;

	graph_init(&g);
	add(&g, NODE_NONE, NULL, V_NONE, NAN);
	add(&g, 0, "good; bad", V_WRONG, NAN);
	graph_settle(&g);
	prior_count_graph(&p, &g, 0, g.nr, "c", "s");
	is_text(&p, "", "either may be to blame: neither is");
	a = add(&g, 0, "good; fine", V_SAME, 1);
	add(&g, 0, "good; bad; fine", V_WRONG, NAN);
	add(&g, a, "good(2); fine(2)", V_CRASH, NAN);
	add(&g, a, "good; fine(3)", V_TIMEOUT, NAN);
	graph_settle(&g);
	prior_count_graph(&p, &g, 1, g.nr, "c", "s");
	is_text(&p, "c s bad 1 1 0 0.0000\nc s fine 1 0 0 0.0000\n"
		"c s fine(3) 1 1 0 0.0000\nc s good 1 0 0 0.0000\n",
		"the one that never went well, and one alone");
	add(&g, 0, "good; fine", V_BUILD_FAIL, NAN);
	graph_settle(&g);
	prior_count_graph(&p, &g, g.nr - 2, g.nr, "c", "s");
	is_text(&p, "c s bad 1 1 0 0.0000\nc s fine 2 1 0 0.0000\n"
		"c s fine(3) 1 1 0 0.0000\nc s good 2 1 0 0.0000\n",
		"none that is suspected: all");
	ok(prior_fails(&p, "c", "s", "bad") &&
	   !prior_fails(&p, "c", "s", "good") &&
	   !prior_fails(&p, "c", "t", "bad") &&
	   !prior_fails(&p, "c", "s", "other") &&
	   !prior_fails(NULL, "c", "s", "bad"), "what fails on a shape");
	prior_release(&p);
	graph_release(&g);
}

/* Adds a spend line for a node, as pruning it would leave. */
static void spend_for(struct graph *g, const struct graph *whole, uint32_t i)
{
	const struct node *n = &whole->node[i];
	struct spend x = {
		.step = n->step, .verdict = n->rec.verdict,
		.state = n->state, .recipe = graph_text(g, n->recipe),
		.parent = whole->node[n->parent[0]].step,
		.origin = whole->node[n->origin].step, .score = n->score,
	};

	GROW(g->spend, g->nr_spend, g->cap_spend);
	g->spend[g->nr_spend++] = x;
}

/* As whole, with some nodes pruned. */
static void prune_some(struct graph *g, const struct graph *whole,
		       const bool *gone)
{
	uint32_t map[16];

	graph_init(g);
	for (uint32_t i = 0; i < whole->nr; i++) {
		struct node n = whole->node[i];

		if (gone[i]) {
			spend_for(g, whole, i);
			continue;
		}
		n.recipe = graph_text(g, n.recipe);
		n.borrowed = true;
		if (n.parent[0] != NODE_NONE)
			n.parent[0] = map[n.parent[0]];
		record_copy(&n.rec, &whole->node[i].rec);
		map[i] = graph_add(g, &n);
	}
	graph_settle(g);
}

static void same_counts(const struct graph *whole, const struct graph *pruned,
			const char *title)
{
	struct prior a = PRIOR_INIT, b = PRIOR_INIT;
	bool same;

	prior_count_graph(&a, whole, 0, UINT32_MAX, "c", "s");
	for (uint32_t step = 0; step < 16; step += 3)
		prior_count_graph(&b, pruned, step, step + 3, "c", "s");
	same = a.nr == b.nr;
	for (size_t i = 0; same && i < a.nr; i++)
		same = !strcmp(a.v[i].gene, b.v[i].gene) &&
			a.v[i].tried == b.v[i].tried &&
			a.v[i].failed == b.v[i].failed &&
			a.v[i].won == b.v[i].won &&
			!memcmp(&a.v[i].gain, &b.v[i].gain, sizeof(double));
	ok(same && a.nr, "%s", title);
	prior_release(&a);
	prior_release(&b);
}

static void pruned(void)
{
	struct graph whole, g;
	bool gone[16] = { false };

	graph_init(&whole);
	add(&whole, NODE_NONE, NULL, V_NONE, NAN);
	add(&whole, 0, "good; bad", V_WRONG, NAN);
	add(&whole, 0, "good; fine", V_SLOWER, exp(-0.1));
	add(&whole, 0, "good; bad; fine", V_WRONG, NAN);
	add(&whole, 2, "good; fine; vw(512)", V_SLOWER, 1.0 / 3.0);
	add(&whole, 4, "good; fine; vw(256)", V_SLOWER, 1.0 / 7.0);
	add(&whole, 0, "vw(256)", V_FASTER, 1.1);
	add(&whole, 0, "good", V_NO_VERDICT, NAN);
	graph_settle(&whole);
	gone[1] = gone[3] = gone[5] = true;
	prune_some(&g, &whole, gone);
	same_counts(&whole, &g, "pruned leaves count as before");
	graph_release(&g);
	gone[2] = gone[4] = gone[7] = true;
	prune_some(&g, &whole, gone);
	same_counts(&whole, &g, "so do those whose parents went as well");
	graph_release(&g);
	gone[6] = true;
	prune_some(&g, &whole, gone);
	same_counts(&whole, &g, "all of them");
	spend_for(&g, &whole, 6);
	g.spend[g.nr_spend - 1] = g.spend[g.nr_spend - 2];
	g.spend[g.nr_spend - 2] = g.spend[g.nr_spend - 3];
	same_counts(&whole, &g, "told by two workers they count once");
	graph_release(&g);
	gone[6] = false;
	prune_some(&g, &whole, gone);
	spend_for(&g, &whole, 6);
	for (uint32_t i = g.nr_spend - 1; i && g.spend[i - 1].step > 6; i--) {
		struct spend swap = g.spend[i];

		g.spend[i] = g.spend[i - 1];
		g.spend[i - 1] = swap;
	}
	same_counts(&whole, &g, "and not where another has the node");
	graph_release(&g);
	graph_release(&whole);
}

static void sums_end(void)
{
	struct prior p, more;

	read_good(&p, "c s g 4294967290 0 0 999999\n");
	read_good(&more, "c s g 10 0 10 999999\n");
	prior_add(&p, &more);
	is_text(&p, "c s g 4294967295 0 10 1000000.0000\n",
		"counts stay within their bounds");
	prior_release(&p);
	prior_release(&more);
}

/* ---- asking ---- */

static double asked(const char *text, const char *shape, double fallback)
{
	struct prior p;
	double gain;

	read_good(&p, text);
	gain = prior_gain(&p, "c", shape, "g", fallback);
	prior_release(&p);
	return gain;
}

static void gains(void)
{
	is_near(prior_gain(NULL, "c", "s", "g", 1.3), 1.3, 0,
		"nothing at hand: the fallback");
	is_near(asked("c s h 9 0 9 9\n", "s", 1.3), 1.3, 0, "nor of others");
	is_near(asked("c++ s g 9 0 9 9\n", "s", 1.3), 1.3, 0,
		"nor for another target");
	is_near(log(asked("c s g 3 0 3 1.5\n", "s", 1)), 1.5 / 5, 1e-12,
		"a mean with the fallback, which has two tries' weight");
	is_near(log(asked("c s g 3 0 3 1.5\n", "s", exp(0.1))), 1.7 / 5,
		1e-12, "whatever that says");
	is_near(log(asked("c s g 3 0 3 1.5\n", "t", 1)), 0.375 / 2.75, 1e-12,
		"other shapes tell a quarter");
	is_near(log(asked("c a g 4 0 4 4\nc a z 9 9 0 0\nc s a 9 9 0 0\n"
			  "c s g 2 0 0 -0.2\nc s z 9 9 0 0\nc t g 8 0 0 0\n"
			  "d s g 9 9 0 0\n", "s", 1)),
		(1 - 0.2) / (2 + 1 + 2 + 2), 1e-12, "all shapes together");
	is_near(log(asked("c s g 4 4 0 0\n", "s", 1)), -2.0 / 6, 1e-12,
		"what failed is worth less than nothing");
	ok(asked("c s g 4 4 0 0\n", "s", 2) < asked("c s g 4 0 0 0\n", "s", 2)
	   && asked("c s g 4 0 0 0\n", "s", 2) <
	   asked("c s g 4 0 4 2.8\n", "s", 2) &&
	   asked("c t g 4 4 0 0\n", "s", 2) > asked("c s g 4 4 0 0\n", "s", 2),
	   "failed, no gain, gain; elsewhere counts less");
	is_near(asked("c s g 1 0 1 1000000\n", "s", 1), exp(5), 1e-9,
		"what cannot be believed is cut");
	is_near(asked("c s g 1 0 0 -1000000\n", "s", 1), exp(-5), 1e-9,
		"at both ends");
}

static void tries(void)
{
	struct prior p;

	read_good(&p, "c s g 3 1 1 0\nc t g 4 0 0 0\nd s g 9 0 0 0\n");
	is_near(prior_tries(&p, "c", "s", "g"), 4, 0, "tries, weighted");
	is_near(prior_tries(&p, "c", "u", "g"), 1.75, 0, "on other shapes");
	is_near(prior_tries(&p, "c", "s", "h"), 0, 0, "none");
	is_near(prior_tries(NULL, "c", "s", "g"), 0, 0, "nothing at hand");
	prior_release(&p);
}

int main(void)
{
	round_trip();
	hostile();
	kept();
	files();
	keys();
	counts();
	blame();
	pruned();
	sums_end();
	gains();
	tries();
	return tap_done();
}
