/* Crossovers: a source out of two nodes, and its node. */
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/merge_parts.h"
#include "core/rng.h"
#include "core/store_parts.h"

void crossing_release(struct crossing *c)
{
	srcset_release(&c->source);
	free(c->recipe);
	memset(c, 0, sizeof(*c));
}

static bool has_recipe(const struct node *n)
{
	return n->recipe && *n->recipe;
}

/* 0: c has the crossed recipe and its source; 1: it cannot be done so. */
static int cross_recipes(struct search *s, const struct graph *g,
			 const struct proposer *p, const struct kernel *k,
			 struct crossing *c, struct err *err)
{
	const struct node *a = &g->node[c->parent[0]];
	const struct node *b = &g->node[c->parent[1]];
	uint64_t seed = rng_mix(s->spec.seed, merge_step(g, s->spec.round));
	struct srcset origin = SRCSET_INIT;
	struct buf recipe = BUF_INIT;
	int ret;

	if (!p || !p->cross || !p->apply || !has_recipe(a) ||
	    !has_recipe(b) || a->origin != b->origin)
		return 1;
	ret = store_source(s->repo, &g->node[a->origin].id, k, false, &origin,
			   err);
	if (ret < 0)
		return ret;
	ret = p->cross(k, &origin, a->recipe, b->recipe, seed, &recipe, err);
	if (!ret)
		ret = p->apply(k, &origin, recipe.ptr, &c->source, err);
	if (!ret) {
		c->recipe = buf_detach(&recipe);
		c->proposer = p->name;
	} else if (ret == ERR_NOTFOUND || ret == ERR_FORMAT ||
		   ret == ERR_LIMIT) {
		srcset_release(&c->source);
		err->code = ERR_NONE;
		ret = 1;
	}
	buf_release(&recipe);
	srcset_release(&origin);
	return ret;
}

int merge_cross(struct search *s, const struct graph *g,
		const struct proposer *p, uint32_t a, uint32_t b,
		struct crossing *c, struct merge_conflicts *conflicts,
		struct err *err)
{
	struct kernel k;
	int ret;

	memset(c, 0, sizeof(*c));
	memset(conflicts, 0, sizeof(*conflicts));
	c->parent[0] = a;
	c->parent[1] = b;
	ret = store_spec_kernel(&s->spec, &k, err);
	if (ret < 0)
		return ret;
	ret = cross_recipes(s, g, p, &k, c, err);
	kernel_release(&k);
	if (ret == 1) {
		c->recipe = xstrdup("");
		c->proposer = "merge";
		ret = merge_nodes(s, &g->node[a].id, &g->node[b].id,
				  &c->source, conflicts, err);
	}
	if (ret < 0)
		crossing_release(c);
	else
		srcset_state(&c->source, &c->state);
	return ret;
}

static void add_parent(struct buf *b, const struct node *n)
{
	buf_addf(b, "- %s", oid_text(&n->id).s);
	if (n->subject) {
		buf_addstr(b, ": ");
		buf_add_clean(b, n->subject, strlen(n->subject), false);
	}
	buf_addch(b, '\n');
}

static void write_plan(const struct crossing *c, const struct node *a,
		       const struct node *b, struct buf *plan)
{
	buf_addf(plan, "### cross %s with %s\n\n", oid_short(&a->id).s,
		 oid_short(&b->id).s);
	add_parent(plan, a);
	add_parent(plan, b);
	if (*c->recipe)
		buf_addf(plan, "\nThe steps of both, replayed together on what "
			 "they came from.\nRecipe: `%s`.\n", c->recipe);
	else
		buf_addf(plan, "\nThe changes of both to what they came from, "
			 "%s.\n", !strcmp(c->proposer, "human") ?
			 "put together by hand where they met" :
			 "merged as texts");
}

int merge_store(struct search *s, const struct graph *g,
		const struct crossing *c, struct oid *id, struct err *err)
{
	const struct node *a = &g->node[c->parent[0]];
	const struct node *b = &g->node[c->parent[1]];
	struct oid parent[2] = { a->id, b->id };
	char *subject = xasprintf("%.24s: cross %s with %s", s->spec.kernel,
				  oid_short(&a->id).s, oid_short(&b->id).s);
	struct buf plan = BUF_INIT;
	struct store_attempt at = {
		.op = "crossover", .proposer = c->proposer,
		.strategy = "merge", .recipe = c->recipe, .subject = subject,
		.step = merge_step(g, s->spec.round), .parent = parent,
		.nr_parents = 2, .source = &c->source, .state = c->state,
	};
	int ret;

	write_plan(c, a, b, &plan);
	at.plan = plan.ptr;
	ret = store_append(s, &at, 1, err);
	*id = at.id;
	buf_release(&plan);
	free(subject);
	return ret;
}
