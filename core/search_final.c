/* The end of a round and of a search: confirming, and dropping what earns
 * too little. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/search_state.h"

#define CONFIRM_GAIN 0.01	/* ln: a smaller estimated gain is noise */
#define FINAL_CONFIRMS 3
#define MAX_BY_HAND 64		/* commits on top of a landing commit */
#define FINAL_SHARE 0.25	/* of the time budget */

/* Went through a confirmation, whatever came of it. */
static bool was_confirmed(const struct node *n)
{
	return n->confirmed || n->rec.confirming || !isnan(n->rec.speedup);
}

/*
 * Was the node screened against the present champion, not one of before?  A
 * node loaded from its metrics line has that in its blob alone.
 */
static bool beat_champion(const struct state *st, const struct node *n)
{
	const struct graph *g = &st->run->graph;
	struct err unused = ERR_INIT;
	struct record rec;
	bool same;

	record_init(&rec);
	if (n->rec.against)
		rec.against = xstrdup(n->rec.against);
	else
		store_record(st->run->search, &n->id, st->info.device, &rec,
			     &unused);
	same = rec.against &&
	       !strcmp(rec.against, g->champion ?
		       oid_text(&g->node[g->champion].state).s : "root");
	record_release(&rec);
	return same;
}

/* The best of nodes [from, nr) that is worth a confirmation, or NODE_NONE. */
static uint32_t best_unconfirmed(const struct state *st, uint32_t from)
{
	const struct graph *g = &st->run->graph;
	double least = policy_score(g, g->champion) + CONFIRM_GAIN;
	uint32_t best = NODE_NONE;

	for (uint32_t i = from; i < g->nr; i++) {
		const struct node *n = &g->node[i];

		if (n->pending || n->rec.verdict != V_FASTER ||
		    was_confirmed(n) || !(n->score > least) ||
		    !beat_champion(st, n))
			continue;
		least = n->score;
		best = i;
	}
	return best;
}

/* At most one confirmation a round, so that a resumed round does no other. */
uint32_t search_to_confirm(const struct state *st, uint32_t from)
{
	const struct graph *g = &st->run->graph;

	for (uint32_t i = from; i < g->nr; i++)
		if (g->node[i].rec.confirming)
			return NODE_NONE;
	return best_unconfirmed(st, from);
}

int search_confirm_round(struct state *st, uint32_t from, struct err *err)
{
	uint32_t node = search_to_confirm(st, from);

	return node == NODE_NONE ? 0 : search_confirm(st, node, false, err);
}

/* ---- dropping what earns too little ---- */

uint32_t search_next_round_step(const struct state *st)
{
	const struct graph *g = &st->run->graph;
	uint32_t size = (uint32_t)st->run->search->spec.round;
	uint32_t last = graph_last_step(g);
	const char *op = g->node[g->nr - 1].op;

	if (g->node[g->nr - 1].step == last && op && !strcmp(op, "tune"))
		return last + 1;
	return (last + size - 1) / size * size + 1;
}

/* Whose recipe the node has. */
static const struct proposer *maker(const struct search_run *run,
				    const struct node *n)
{
	return run->inner && n->proposer &&
		!strcmp(n->proposer, run->inner->name) ? run->inner :
		run->proposer;
}

/* The step of recipe `large` that `small` lacks, for the subject. */
static char *dropped_step(const char *large, const char *small)
{
	size_t len;

	for (; *large; large += len + strspn(large + len, "; ")) {
		char *step;

		len = strcspn(large, ";");
		step = xstrndup(large, len);
		if (!strstr(small, step))
			return step;
		free(step);
	}
	return xstrdup("a step");
}

/* A version with one step less: confirmed against the root, if it seems to
 * lose no more than the step is worth; *better: it is the champion now. */
static int confirm_smaller(struct state *st, uint32_t node, bool *better,
			   struct err *err)
{
	const struct graph *g = &st->run->graph;
	uint32_t champion = g->champion;
	int ret;

	if (node == NODE_NONE || node == 0 || g->node[node].pending ||
	    was_confirmed(&g->node[node]) ||
	    !(g->node[node].score >
	      g->node[champion].score - GRAPH_SMALLER / 2))
		return 0;
	ret = search_confirm(st, node, true, err);
	*better = !ret && g->champion != champion;
	return ret;
}

/* One smaller recipe of the champion, judged; *better: it took its place. */
static int try_smaller(struct state *st, const char *recipe, bool *better,
		       struct err *err)
{
	struct search_run *run = st->run;
	struct graph *g = &run->graph;
	uint32_t champion = g->champion;
	const struct proposer *by = maker(run, &g->node[champion]);
	struct attempt a = { .step = search_next_round_step(st),
			     .parent = champion, .parent2 = NODE_NONE,
			     .op = "tune", .by = by->name };
	struct srcset origin = SRCSET_INIT;
	char *step = dropped_step(g->node[champion].recipe, recipe);
	int ret = search_source(st, g->node[champion].origin, &origin, err);

	record_init(&a.rec);
	if (!ret)
		ret = by->apply(run->kernel, &origin, recipe, &a.p.source,
				err);
	srcset_release(&origin);
	if (ret)
		goto out;
	srcset_state(&a.p.source, &a.state);
	if (!oidset_add(&st->seen, &a.state)) {
		ret = confirm_smaller(st, graph_find_state(g, &a.state),
				      better, err);
		goto out;
	}
	a.p.recipe = xstrdup(recipe);
	a.p.strategy = xstrdup("minimise");
	a.p.subject = xasprintf("%.30s: drop %.32s", run->kernel->name, step);
	buf_addf(&a.p.plan, "### drop %s\n\nA step that earns under %.0f %% is "
		 "not worth its lines: the champion's recipe without it.\n\n"
		 "Expected: about the champion's speed.\nRecipe: `%s`.\n", step,
		 GRAPH_SMALLER * 100, *recipe ? recipe : "(empty)");
	st->champion = champion;
	ret = search_judge_all(st, &a, 1, NULL, err);
	if (ret || !a.written)
		goto out;
	search_add(st, &a);
	graph_settle(g);
	ret = confirm_smaller(st, g->nr - 1, better, err);
out:
	free(step);
	attempt_release(&a);
	return ret;
}

/* Time that the final stage may take, seconds. */
double search_reserve_s(const struct state *st)
{
	const struct budget *b = &st->run->purse->budget;
	double cap = b->device_s > 0 && !(b->time_s > 0 &&
					  b->time_s < b->device_s) ?
		b->device_s : b->time_s;
	double share = st->run->share > 0 ? st->run->share : 1;
	double r = share * cap * FINAL_SHARE;

	if (!(cap > 0))
		return 0;
	return r < 2 * st->confirm_s ? 2 * st->confirm_s : r;
}

static int minimise(struct state *st, struct err *err)
{
	struct search_run *run = st->run;
	bool better = true;
	int ret = 0;

	while (better && !ret && run->graph.champion) {
		const struct node *n = &run->graph.node[run->graph.champion];
		const struct proposer *by = maker(run, n);
		struct strv smaller = STRV_INIT;

		better = false;
		if (by->shrink && by->apply && n->recipe && *n->recipe)
			ret = by->shrink(n->recipe, &smaller, err);
		if (ret == ERR_FORMAT) {	/* told when it was passed over */
			err->code = ERR_NONE;
			ret = 0;
		}
		for (size_t i = 0; i < smaller.nr && !ret && !better; i++) {
			if (search_stopped(st) ||
			    search_late(st, st->confirm_s) ||
			    purse_ask(run->purse, 0, 0, 0) != PURSE_OPEN)
				break;
			ret = try_smaller(st, smaller.v[i], &better, err);
		}
		strv_release(&smaller);
	}
	return ret;
}

int search_final(struct state *st, struct err *err)
{
	int ret = 0;

	if (st->run->end == SEARCH_UNTIL)
		return 0;
	for (int i = 0; i < FINAL_CONFIRMS && !ret && !search_stopped(st); i++) {
		uint32_t node = best_unconfirmed(st, 1);

		if (node == NODE_NONE || (i && search_late(st, st->confirm_s)))
			break;
		ret = search_confirm(st, node, false, err);
	}
	return ret || st->run->end == SEARCH_ATTEMPTS ? ret :
		minimise(st, err);
}


/* ---- commits made by hand ---- */

struct branch_list {
	struct oid *tip;
	size_t nr, cap;
};

static int add_branch(void *ctx, const char *name, const struct oid *id)
{
	struct branch_list *l = ctx;

	(void)name;
	GROW(l->tip, l->nr, l->cap);
	l->tip[l->nr++] = *id;
	return 0;
}

/* The node that a landing commit stands for, going up from a tip at most
 * MAX_BY_HAND commits; *by_hand counts those above the landing commit. */
static uint32_t landing_node(struct state *st, const struct oid *tip,
			     int *by_hand)
{
	struct err unused = ERR_INIT;
	struct oid at = *tip, node;
	uint32_t found = NODE_NONE;

	for (*by_hand = 0; *by_hand < MAX_BY_HAND; (*by_hand)++) {
		struct buf trailer = BUF_INIT;
		struct commit c;
		bool landing, first;

		if (repo_commit_read(st->run->search->repo, &at, &c, &unused))
			break;
		landing = commit_trailer(c.message, "Maxkernel-Node", &trailer);
		if (landing && trailer.len == OID_HEX &&
		    oid_parse(&node, trailer.ptr))
			found = graph_find(&st->run->graph, &node);
		first = c.nr_parents == 0;
		if (!first)
			at = c.parent[0];
		commit_release(&c);
		buf_release(&trailer);
		if (landing || first)
			break;
	}
	return found;
}

/* One node from a tip; nothing if its state is known. */
static int human_node(struct state *st, const struct oid *tip,
		      uint32_t parent, struct err *err)
{
	struct search_run *run = st->run;
	struct attempt a = { .parent = parent, .parent2 = NODE_NONE,
			     .op = "human", .by = "human",
			     .step = search_next_round_step(st) };
	struct commit c;
	int ret = repo_commit_read(run->search->repo, tip, &c, err);

	if (ret)
		return ret;
	record_init(&a.rec);
	ret = store_source(run->search->repo, tip, run->kernel, false,
			   &a.p.source, err);
	if (ret == ERR_FORMAT || ret == ERR_NOTFOUND || ret == ERR_LIMIT) {
		search_note(st, err->msg);	/* left out, the rest goes on */
		err->code = ERR_NONE;
		ret = 0;
		goto out;
	}
	if (ret)
		goto out;
	srcset_state(&a.p.source, &a.state);
	if (!oidset_add(&st->seen, &a.state))
		goto out;
	a.p.recipe = xstrdup("");
	a.p.strategy = xstrdup("human");
	a.p.subject = xasprintf("%.*s", (int)strcspn(c.message, "\n"),
				c.message);
	if (strlen(a.p.subject) > 72)
		a.p.subject[72] = '\0';
	buf_addf(&a.p.plan, "### made by hand in commit %s\n\n",
		 oid_text(tip).s);
	buf_add_clean(&a.p.plan, c.message, strlen(c.message), true);
	st->champion = run->graph.champion;
	ret = search_judge_all(st, &a, 1, NULL, err);
	if (!ret && a.written) {
		search_add(st, &a);
		graph_settle(&run->graph);
		if (a.rec.verdict == V_FASTER)
			ret = search_confirm(st, run->graph.nr - 1, false, err);
	}
out:
	commit_release(&c);
	attempt_release(&a);
	return ret;
}

int search_humans(struct state *st, struct err *err)
{
	struct branch_list l = { NULL, 0, 0 };
	char *prefix = xasprintf("refs/heads/maxkernel/%s/",
				 st->run->search->spec.slug);
	int ret = repo_ref_each(st->run->search->repo, prefix, add_branch, &l,
				err);

	for (size_t i = 0; i < l.nr && !ret && !search_stopped(st); i++) {
		int by_hand;
		uint32_t parent = landing_node(st, &l.tip[i], &by_hand);

		if (parent != NODE_NONE && by_hand > 0)
			ret = human_node(st, &l.tip[i], parent, err);
	}
	free(l.tip);
	free(prefix);
	return ret;
}
