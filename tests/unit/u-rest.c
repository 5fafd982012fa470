/* needs: cmd/rest.c cmd/out*.c core/[a-z]*.c agents/registry.c agents/builtin/[a-z]*.c agents/scripted/s*.c */
/* What searches have used of a budget, and what is left of it. */
#include <math.h>
#include <string.h>

#include "cmd/rest.h"
#include "core/mem.h"
#include "tests/unit/tap.h"

static char op[] = "seed", tune[] = "tune", none[] = "";

/* A graph with a root. */
static void begin(struct graph *g)
{
	struct node root = { .op = none, .worker = none, .borrowed = true,
			     .parent = { NODE_NONE, NODE_NONE } };

	graph_init(g);
	record_init(&root.rec);
	graph_add(g, &root);
}

/* Committed at a time, of which the record that counts took so long, and all
 * of them. */
static void add(struct graph *g, uint32_t step, char *how, int64_t time,
		double counts, double spent)
{
	struct node n = { .op = how, .worker = none, .borrowed = true,
			  .step = step, .time = time, .spent_s = spent,
			  .parent = { 0, NODE_NONE } };

	record_init(&n.rec);
	n.rec.attempt_s = counts;
	n.rec.confirming = spent > counts;
	n.id.id[0] = n.state.id[0] = (unsigned char)step;
	graph_add(g, &n);
}

static void add_line(struct graph *g, uint32_t step, double seconds)
{
	GROW(g->spend, g->nr_spend, g->cap_spend);
	memset(&g->spend[g->nr_spend], 0, sizeof(*g->spend));
	g->spend[g->nr_spend].step = step;
	g->spend[g->nr_spend].verdict = V_NO_PROPOSAL;
	g->spend[g->nr_spend++].attempt_s = seconds;
}

static double wall(const struct graph *g, int64_t *attempts)
{
	struct spent s = SPENT_INIT;
	double all;

	spent_add(&s, g);
	all = spent_wall_s(&s);
	*attempts = s.used.attempts;
	spent_release(&s);
	return all;
}

static bool near(double a, double b)
{
	return fabs(a - b) < 1e-9;
}

static void check_wall(void)
{
	int64_t nr;
	struct graph g;

	begin(&g);
	for (uint32_t i = 1; i <= 4; i++)
		add(&g, i, op, 1000, 0.25, 0.25);
	ok(near(wall(&g, &nr), 1) && nr == 4,
	   "short ones in one second are not taken for one");
	for (uint32_t i = 5; i <= 8; i++)
		add(&g, i, op, 2000, 100, 100);
	ok(near(wall(&g, &nr), 1 + 101), "at most what passed: four at once");
	add(&g, 9, op, 3000, 30, 40);
	ok(near(wall(&g, &nr), 102 + 40),
	   "a confirmation and what it confirms both count");
	graph_release(&g);
}

static void check_paid(void)
{
	int64_t nr;
	struct graph g;

	begin(&g);
	add(&g, 1, op, 1000, 10, 10);
	add(&g, 2, op, 1000, 10, 10);
	ok(near(wall(&g, &nr), 11), "judged before they were written: at once");
	GROW(g.call, g.nr_call, g.cap_call);
	memset(&g.call[0], 0, sizeof(g.call[0]));
	g.call[0].step = 2;
	g.call[0].worker = none;
	g.nr_call = 1;
	ok(near(wall(&g, &nr), 20), "what was paid for is judged afterwards");
	graph_release(&g);
}

static void check_trials(void)
{
	int64_t nr;
	struct graph g;

	begin(&g);
	add_line(&g, 0, 50);
	add_line(&g, 1, 2);
	add(&g, 2, tune, 1000, 5, 5);
	ok(near(wall(&g, &nr), 57) && nr == 1,
	   "the time of trials counts, and they are no attempts");
	graph_release(&g);
}

static void check_spender(void)
{
	char builtin[] = "builtin", no[] = "nosuch";
	struct spec s = { .proposer = builtin, .inner = none };

	ok(!spec_spender(&s), "nobody spends");
	s.inner = no;
	ok(!spec_spender(&s), "one that is not there spends nothing");
}

int main(void)
{
	check_wall();
	check_paid();
	check_trials();
	check_spender();
	return tap_done();
}
