#include "core/round.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/mem.h"

void planned_release(struct planned *a)
{
	proposal_release(&a->p);
	usages_release(&a->used);
	free(a->why);
	a->why = NULL;
}

void round_release(struct round_plan *r)
{
	for (size_t i = 0; i < r->nr; i++)
		planned_release(&r->v[i]);
	free(r->v);
	free(r->failed);
	free(r->spent);
	r->v = NULL;
	r->failed = NULL;
	r->spent = NULL;
	r->nr = r->nr_failed = r->cap_failed = 0;
}

uint64_t round_seed(uint64_t seed, uint32_t step)
{
	uint64_t z = seed + 0x9e3779b97f4a7c15u * ((uint64_t)step + 1);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

int round_size(const struct spec *spec)
{
	const struct policy *p = policy_find(spec->policy);
	int size = p ? p->round(spec) : 1;

	return size < 1 ? 1 : size;
}

/* ---- what the policy asks ---- */

/* Without an inner proposer the only one is asked for inner moves too. */
static unsigned char gone_bit(const struct round_plan *r, bool inner)
{
	return inner && r->inner ? ROUND_GONE_INNER : ROUND_GONE;
}

static bool exhausted(void *ctx, uint32_t node, bool inner)
{
	const struct round_plan *r = ctx;

	return r->spent[node] & gone_bit(r, inner);
}

static bool barren(void *ctx, uint32_t a, uint32_t b)
{
	const struct round_plan *r = ctx;

	for (size_t i = 0; i < r->nr_failed; i++) {
		const uint32_t *node = r->failed[i].node;

		if ((node[0] == a && node[1] == b) ||
		    (node[0] == b && node[1] == a))
			return true;
	}
	return false;
}

static void add_failed(struct round_plan *r, const struct policy_move *m)
{
	if (m->kind != MOVE_CROSS) {
		r->spent[m->parent[0]] |= gone_bit(r, m->inner);
		return;
	}
	GROW(r->failed, r->nr_failed, r->cap_failed);
	r->failed[r->nr_failed++] = (struct round_barren){
		.node = { m->parent[0], m->parent[1] },
	};
}

/* ---- one proposal ---- */

static bool seen(void *ctx, const struct oid *state)
{
	return oidset_has(((struct round_plan *)ctx)->seen, state);
}

static int on_used(void *ctx, const struct usage *one, struct err *err)
{
	struct round_plan *r = ctx;
	struct usage named = *one;

	/* In the journal and in the attempt it is one call. */
	if (!*named.id)
		usage_make_id(named.id);
	usages_add(&r->asking->used, &named);
	return r->used ? r->used(r->ctx, r->asking->step, &named, err) : 0;
}

static struct planned *add_planned(struct round_plan *r, uint32_t step)
{
	struct planned *a = &r->v[r->nr++];

	*a = (struct planned){ .step = step,
			       .parent = { NODE_NONE, NODE_NONE },
			       .verdict = V_NONE };
	proposal_init(&a->p);
	return a;
}

static void drop_planned(struct round_plan *r)
{
	planned_release(&r->v[--r->nr]);
}

/* Its recipe is one of another version, or what another worker made up. */
static int pass_over(struct round_plan *r, uint32_t node, struct err *err)
{
	if (r->unread)
		r->unread(r->ctx, node, err->msg);
	err->code = ERR_NONE;
	return ERR_NOTFOUND;
}

static enum propose_how how_of(enum move_kind kind)
{
	return kind == MOVE_SAMPLE ? PROPOSE_SAMPLE :
	       kind == MOVE_LEARN ? PROPOSE_LEARN :
	       kind == MOVE_DRAW ? PROPOSE_DRAW : PROPOSE_BEST;
}

/* Versions that were pruned, up to a step. */
static uint32_t add_pruned(const struct graph *g, uint32_t from, uint32_t step,
			   uint32_t origin, struct tried *v, size_t *nr)
{
	for (; from < g->nr_spend && g->spend[from].step <= step; from++) {
		const struct spend *x = &g->spend[from];

		if (graph_spend_tells(g, from) &&
		    x->origin == g->node[origin].step)
			v[(*nr)++] = (struct tried){ x->recipe, x->score,
						     false };
	}
	return from;
}

/* The versions of one origin, and those planned in this round; the caller
 * frees. */
static struct tried *list_tried(const struct round_plan *r, uint32_t origin,
				size_t *nr)
{
	const struct graph *g = r->graph;
	struct tried *v = xcalloc((size_t)r->prefix + r->nr + g->nr_spend,
				  sizeof(*v));
	uint32_t pruned = 0;

	*nr = 0;
	for (uint32_t i = 0; i < r->prefix; i++) {
		const struct node *n = &g->node[i];

		pruned = add_pruned(g, pruned, n->step, origin, v, nr);
		if ((n->origin != origin && i != origin) || n->pending)
			continue;
		v[(*nr)++] = (struct tried){
			n->recipe && i != origin ? n->recipe : "",
			policy_usable(g, i) ? policy_score(g, i) : NAN, false
		};
	}
	add_pruned(g, pruned, r->round * (uint32_t)r->spec->round, origin, v,
		   nr);
	for (size_t i = 0; i + 1 < r->nr; i++) {
		const struct planned *a = &r->v[i];

		if (a->p.recipe && a->parent[0] != NODE_NONE &&
		    g->node[a->parent[0]].origin == origin)
			v[(*nr)++] = (struct tried){ a->p.recipe, NAN, true };
	}
	return v;
}

/* Does the node have a recipe that the proposer can read?  One of another
 * proposer is sources to it, like any. */
static bool reads(const struct proposer *by, const struct node *n)
{
	return n->recipe && *n->recipe &&
		(!n->proposer || !strcmp(n->proposer, by->name));
}

/* Asks for a step from one parent. */
static int propose(struct round_plan *r, const struct policy_move *m,
		   struct planned *a, struct err *err)
{
	const struct node *n = &r->graph->node[m->parent[0]];
	bool readable = reads(a->by, n);
	uint32_t from = readable || !n->recipe || !*n->recipe ? n->origin :
		m->parent[0];
	struct srcset origin = SRCSET_INIT;
	struct propose_ask ask = {
		.how = how_of(m->kind), .kernel = r->kernel,
		.origin = &origin, .recipe = readable ? n->recipe : "",
		.seed = round_seed(r->spec->seed, a->step), .step = a->step,
		.parent_speedup = exp(policy_score(r->graph, m->parent[0])),
		.parent_steps = n->steps, .prior = r->prior,
		.seen = seen, .seen_ctx = r, .used = on_used, .used_ctx = r,
	};
	struct tried *tried = NULL;
	int ret = r->source(r->ctx, from, &origin, err);

	if (m->kind == MOVE_LEARN)
		ask.tried = tried = list_tried(r, from, &ask.nr_tried);
	a->op = m->parent[0] == 0 ? "seed" : "mutate";
	r->asking = a;
	if (!ret)
		ret = a->by->propose(&ask, &a->p, err);
	r->asking = NULL;
	free(tried);
	srcset_release(&origin);
	if (ret == ERR_FORMAT && *ask.recipe)
		return pass_over(r, m->parent[0], err);
	if (ret == ERR_PROPOSAL) {
		a->verdict = V_NO_PROPOSAL;
		a->why = xstrdup(err->msg);
		err->code = ERR_NONE;
		ret = 0;
	}
	return ret;
}

static void describe_cross(struct round_plan *r, const struct policy_move *m,
			   struct planned *a)
{
	const struct node *x = &r->graph->node[m->parent[0]];
	const struct node *y = &r->graph->node[m->parent[1]];
	double better = fmax(policy_score(r->graph, m->parent[0]),
			     policy_score(r->graph, m->parent[1]));

	a->op = "crossover";
	a->p.strategy = xstrdup("crossover");
	a->p.subject = xasprintf("%.30s: cross %s with %s", r->kernel->name,
				 oid_short(&x->id).s, oid_short(&y->id).s);
	a->p.expect = 1;
	buf_addf(&a->p.plan, "### cross two versions\n\nThe steps of `%s` "
		 "(%.2fx over the root) and of `%s` (%.2fx) together; where "
		 "they set one thing differently, one of the two by chance.\n\n"
		 "Expected: at least the better one's %.2fx, if their gains "
		 "add up.\nRecipe: `%s`.\n",
		 oid_short(&x->id).s, exp(policy_score(r->graph, m->parent[0])),
		 oid_short(&y->id).s, exp(policy_score(r->graph, m->parent[1])),
		 exp(better), a->p.recipe);
}

/* One version of the steps of two; both are of one origin. */
static int cross(struct round_plan *r, const struct policy_move *m,
		 struct planned *a, struct err *err)
{
	const struct node *x = &r->graph->node[m->parent[0]];
	const struct node *y = &r->graph->node[m->parent[1]];
	struct srcset origin = SRCSET_INIT;
	struct buf recipe = BUF_INIT;
	int ret;

	if (!a->by->cross || !a->by->apply || x->origin != y->origin ||
	    (x->recipe && *x->recipe && !reads(a->by, x)) ||
	    (y->recipe && *y->recipe && !reads(a->by, y)))
		return ERR_NOTFOUND;
	ret = r->source(r->ctx, x->origin, &origin, err);
	if (!ret)
		ret = a->by->cross(r->kernel, &origin,
				   x->recipe ? x->recipe : "",
				   y->recipe ? y->recipe : "",
				   round_seed(r->spec->seed, a->step), &recipe,
				   err);
	if (!ret)
		ret = a->by->apply(r->kernel, &origin, recipe.ptr,
				   &a->p.source, err);
	srcset_release(&origin);
	if (!ret) {
		srcset_state(&a->p.source, &a->state);
		a->p.recipe = buf_detach(&recipe);
		describe_cross(r, m, a);
		a->parent[1] = m->parent[1];
		if (oidset_has(r->seen, &a->state))
			ret = ERR_NOTFOUND;
	}
	buf_release(&recipe);
	if (ret == ERR_FORMAT)
		return pass_over(r, m->parent[0], err);
	return ret;
}

/* Did this move make the step in an earlier run?  Where that is not known, the
 * first move is taken for it. */
static bool same_move(const struct round_made *was, const struct planned *a,
		      const struct policy_move *m)
{
	uint32_t second = m->kind == MOVE_CROSS ? m->parent[1] : NODE_NONE;

	return !was->by || (!strcmp(was->by, a->by->name) &&
			    was->parent[0] == m->parent[0] &&
			    was->parent[1] == second);
}

/* Has the node been found to be exhausted in an earlier round? */
static bool is_gone(const struct round_plan *r, const struct policy_move *m)
{
	return r->gone && m->kind != MOVE_CROSS &&
		(r->gone[m->parent[0]] & gone_bit(r, m->inner));
}

static int ask(struct round_plan *r, const struct policy_move *m,
	       struct planned *a, struct err *err)
{
	double began = clock_s();
	int ret = is_gone(r, m) ? ERR_NOTFOUND : m->kind == MOVE_CROSS ?
		cross(r, m, a, err) : propose(r, m, a, err);

	a->plan_s = clock_s() - began;
	if (ret == ERR_NOTFOUND && r->gone && m->kind != MOVE_CROSS &&
	    !a->by->spends)
		r->gone[m->parent[0]] |= gone_bit(r, m->inner);
	return ret;
}

/* The move as an attempt; ERR_NOTFOUND: it came to nothing, and can be told
 * from the others by add_failed(). */
static int try_move(struct round_plan *r, const struct policy_move *m,
		    uint32_t step, struct err *err)
{
	struct planned *a = add_planned(r, step);
	struct round_made was;
	int ret = 0;

	a->by = m->inner && r->inner ? r->inner : r->proposer;
	a->parent[0] = m->parent[0];
	a->made = r->made && r->made(r->ctx, step, &was);
	if (a->made && a->by->spends) {
		a->state = was.state;
		if (!same_move(&was, a, m)) {
			drop_planned(r);
			return ERR_NOTFOUND;
		}
		oidset_add(r->seen, &a->state);
		return 0;
	}
	ret = ask(r, m, a, err);
	if (ret) {
		drop_planned(r);
		return ret;
	}
	if (a->verdict == V_NONE) {
		srcset_state(&a->p.source, &a->state);
		if (!oidset_add(r->seen, &a->state))
			a->verdict = V_DUP;
	}
	return a->used.nr && r->keep ? r->keep(r->ctx, a, err) : 0;
}

/* ---- recipes of earlier searches ---- */

/* Replayed on this root; ERR_NOTFOUND: it gives nothing new here. */
static int replay(struct round_plan *r, const char *recipe, size_t len,
		  uint32_t step, struct err *err)
{
	struct planned *a = add_planned(r, step);
	struct srcset root = SRCSET_INIT;
	struct round_made unused;
	char *text = xstrndup(recipe, len);
	int ret = r->source(r->ctx, 0, &root, err);

	a->by = r->inner ? r->inner : r->proposer;
	a->parent[0] = 0;
	a->p.recipe = text;
	if (!ret)
		ret = a->by->apply(r->kernel, &root, text, &a->p.source, err);
	srcset_release(&root);
	srcset_state(&a->p.source, &a->state);
	if (ret || !oidset_add(r->seen, &a->state)) {
		drop_planned(r);
		err->code = ERR_NONE;
		return ERR_NOTFOUND;
	}
	a->p.strategy = xstrdup("replay");
	a->p.subject = xasprintf("%.24s: replay %.35s%s", r->kernel->name, text,
				 len > 35 ? "..." : "");
	buf_addf(&a->p.plan, "### replay an earlier recipe\n\nIt was among the "
		 "best of an earlier search of this kernel.\n\nExpected: about what it gave there.\n"
		 "Recipe: `%s`.\n", text);
	a->p.expect = 1;
	a->op = "seed";
	a->made = r->made && r->made(r->ctx, step, &unused);
	return 0;
}

static uint32_t fresh(const struct round_plan *r)
{
	uint32_t nr = 0;

	for (size_t i = 0; i < r->nr; i++)
		nr += !r->v[i].made && !r->v[i].kept;
	return nr;
}

/* Is the next slot within the budget?  What was made is. */
static bool may(struct round_plan *r, const struct proposer *by,
		uint32_t step)
{
	struct round_made unused;

	if ((r->made && r->made(r->ctx, step, &unused)) || !r->may ||
	    r->may(r->ctx, by, fresh(r)))
		return true;
	r->cut = true;
	return false;
}

/* The spec's seeds come first in the search's first round. */
static void plan_seeds(struct round_plan *r, uint32_t size, struct err *err)
{
	const struct proposer *by = r->inner ? r->inner : r->proposer;
	const char *line = r->spec->seeds;
	size_t len;

	if (!by->apply)
		return;
	for (; line && *line && r->nr < size; line += len + (line[len] == '\n')) {
		uint32_t step = r->round * size + (uint32_t)r->nr + 1;

		len = strcspn(line, "\n");
		if (len && !may(r, by, step))
			return;
		if (len)
			replay(r, line, len, step, err);
	}
}

/* One slot; ERR_NOTFOUND: nothing is left to expand. */
static int plan_slot(struct round_plan *r, const struct policy_view *v,
		     uint32_t slot, uint32_t step, struct err *err)
{
	/* Each node can fail twice, and so many crossings. */
	uint32_t most = 2 * v->graph->nr + POLICY_MAX_FAILS;

	for (uint32_t fails = 0; fails <= most; fails++) {
		struct policy_move m = { .parent = { NODE_NONE, NODE_NONE } };
		int ret;

		if (!r->policy->expand(v, slot, fails, &m))
			break;
		if (!may(r, m.inner && r->inner ? r->inner : r->proposer,
			 step))
			return 0;
		ret = try_move(r, &m, step, err);
		if (ret != ERR_NOTFOUND)
			return ret;
		err->code = ERR_NONE;
		add_failed(r, &m);
	}
	return ERR_NOTFOUND;
}

int round_make(struct round_plan *r, struct err *err)
{
	struct graph view = *r->graph;
	struct policy_view v = {
		.spec = r->spec, .graph = &view, .round = r->round,
		.exhausted = exhausted, .barren = barren, .ctx = r,
	};
	uint32_t size = (uint32_t)r->spec->round;

	view.nr = r->prefix;
	r->v = xcalloc(size, sizeof(*r->v));
	r->spent = xcalloc(r->prefix + 1, sizeof(*r->spent));
	r->nr = r->nr_failed = 0;
	r->cut = false;
	if (r->own_round == 0)
		plan_seeds(r, size, err);
	while (r->nr < size && !r->cut) {
		uint32_t slot = (uint32_t)r->nr;
		int ret = plan_slot(r, &v, slot, r->round * size + slot + 1,
				    err);

		if (ret == ERR_NOTFOUND)
			break;
		if (ret)
			return ret;
	}
	return 0;
}
