#include "agents/builtin/builtin.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agents/builtin/cross.h"
#include "agents/builtin/learn.h"
#include "agents/builtin/memo.h"
#include "agents/builtin/moves.h"
#include "agents/builtin/recipe.h"
#include "agents/builtin/shape.h"
#include "agents/builtin/space.h"
#include "agents/builtin/strategy.h"
#include "agents/builtin/tunable.h"
#include "core/mem.h"

#define MAX_SUBJECT 72

/* ---- words ---- */

/* What a change sets, as a gene alone; false for a removal. */
static bool gene_of(const struct moves *m, const struct change *c,
		    struct recipe *r)
{
	*r = (struct recipe)RECIPE_INIT;
	if (!c->value)
		return false;
	recipe_set(r, m->locus[c->locus].st->name, c->value);
	return true;
}

static void strategy_names(const struct moves *m, const struct move *mv,
			   const char *between, struct buf *out)
{
	const struct change *changes = m->change + mv->first;
	const struct strategy *last = NULL;

	for (size_t i = 0; i < mv->nr; i++) {
		const struct strategy *st = m->locus[changes[i].locus].st;

		if (st == last)
			continue;
		buf_addf(out, "%s%s", last ? between : "", st->name);
		last = st;
	}
}

static void add_part(const struct site *s, const struct moves *m,
		     const struct change *c, struct buf *out)
{
	const struct strategy *st = m->locus[c->locus].st;
	struct recipe r;

	if (gene_of(m, c, &r))
		st->subject(s, &r.v[0], out);
	else
		buf_addstr(out, st->undo);
	recipe_release(&r);
}

static char *subject_of(const struct site *s, const struct moves *m,
			const struct move *mv)
{
	struct buf text = BUF_INIT;
	size_t head;

	buf_addf(&text, "%.30s: ", s->k->name);
	head = text.len;
	for (size_t i = 0; i < mv->nr; i++) {
		if (i)
			buf_addstr(&text, i + 1 < mv->nr ? ", " : " and ");
		add_part(s, m, &m->change[mv->first + i], &text);
	}
	if (text.len > MAX_SUBJECT) {
		buf_splice(&text, head, text.len - head, "combine ", 8);
		strategy_names(m, mv, ", ", &text);
	}
	if (text.len > MAX_SUBJECT)
		buf_splice(&text, MAX_SUBJECT, text.len - MAX_SUBJECT, "", 0);
	return buf_detach(&text);
}

static void add_paragraph(const struct site *s, const struct moves *m,
			  const struct change *c, struct buf *out)
{
	const struct strategy *st = m->locus[c->locus].st;
	struct recipe r;

	buf_addstr(out, "\n### ");
	add_part(s, m, c, out);
	buf_addstr(out, "\n\n");
	if (gene_of(m, c, &r))
		st->plan(s, &r.v[0], out);
	else
		buf_addf(out, "`%s` is taken out again, to see whether it "
			 "earns its place beside the other steps; if not, the "
			 "change gets shorter.\n", st->name);
	recipe_release(&r);
}

static void plan_of(const struct site *s, const struct moves *m,
		    const struct move *mv, struct proposal *p)
{
	buf_addf(&p->plan, "File `%s`, function `%s`.\n",
		 s->src->v[s->file].path, s->k->entry);
	for (size_t i = 0; i < mv->nr; i++)
		add_paragraph(s, m, &m->change[mv->first + i], &p->plan);
	buf_addf(&p->plan, "\nExpected: about %.3gx of the parent's speed.\n",
		 p->expect);
	if (p->recipe[0])
		buf_addf(&p->plan, "Recipe: `%s`.\n", p->recipe);
}

/* ---- the proposer ---- */

#define MAX_DRAWS 256		/* that come to nothing, before the list */
#define MAX_SWEEP 4096		/* settings that are all gone through */

struct hunt {
	const struct propose_ask *ask;
	const struct site *site;
	struct oid parent;	/* the state that moves start from */
	struct oid origin;
	const struct recipe *from;	/* its recipe, or an empty one */
};

static bool is_new(const struct hunt *h, const struct oid *state)
{
	if (oid_is_zero(state) || oid_eq(state, &h->parent) ||
	    oid_eq(state, &h->origin))
		return false;
	return !h->ask->seen || !h->ask->seen(h->ask->seen_ctx, state);
}

/* Replays a recipe if it leads to a new state. */
static bool is_worth(const struct hunt *h, const struct recipe *r,
		     const char *text, struct srcset *out)
{
	struct err ignored = ERR_INIT;
	struct oid key, state = { { 0 } };
	bool told;

	memo_key(h->site->k, &h->origin, text, &key);
	told = memo_find(&key, &state);
	if (told && !is_new(h, &state))
		return false;
	if (!strategy_apply(h->site, r, out, &ignored))
		srcset_state(out, &state);
	if (!told)
		memo_add(&key, &state);
	if (told || is_new(h, &state))
		return true;
	srcset_release(out);
	return false;
}

/* Fills *out if the move leads to a new state; a move that cannot be carried
 * out is passed over. */
static bool try_move(const struct hunt *h, const struct moves *m,
		     const struct move *mv, struct proposal *out)
{
	struct buf names = BUF_INIT, text = BUF_INIT;
	struct recipe r;
	bool good;

	move_apply(m, mv, h->from, &r);
	recipe_print(&r, &text);
	/* An empty recipe means the origin, blocks and all. */
	good = r.nr && is_worth(h, &r, text.ptr, &out->source);
	recipe_release(&r);
	if (!good) {
		buf_release(&text);
		return false;
	}
	strategy_names(m, mv, "+", &names);
	out->recipe = buf_detach(&text);
	out->strategy = buf_detach(&names);
	out->subject = subject_of(h->site, m, mv);
	out->expect = move_ratio(m, mv);
	plan_of(h->site, m, mv, out);
	return true;
}

static bool try_drawn(const struct hunt *h, struct moves *m,
		      struct proposal *out)
{
	bool whole = h->ask->how == PROPOSE_SAMPLE, found = false;
	struct rng rng;

	rng_init(&rng, rng_mix(h->ask->seed, 1 + whole));
	for (int i = 0; i < MAX_DRAWS && !found; i++) {
		struct move mv = whole ? moves_sample(m, &rng) :
					 moves_draw(m, &rng);

		found = mv.nr && try_move(h, m, &mv, out);
		moves_undraw(m, &mv);
	}
	return found;
}

/* Why this one, of all that could be tried. */
static void plan_learned(const struct learned *l, const struct choice *c,
			 struct proposal *out)
{
	buf_addf(&out->plan, "\nOf all versions it is the most promising by "
		 "what %zu of them showed: %.3gx over the root is expected of "
		 "it, most likely between %.3gx and %.3gx.\n", l->nr_tried,
		 exp(c->mean), exp(c->mean - c->sd), exp(c->mean + c->sd));
	out->expect = exp(c->mean) / out->expect;
}

static bool try_learned(const struct hunt *h, struct moves *m,
			struct proposal *out)
{
	struct learned l;
	bool found = false;

	learn_find(&l, m, h->site, h->ask);
	for (size_t i = 0; i < l.nr && !found; i++) {
		struct move mv = learn_move(&l.v[i], m);

		found = mv.nr && try_move(h, m, &mv, out);
		moves_undraw(m, &mv);
		if (found) {
			out->expect = h->ask->parent_speedup;
			plan_learned(&l, &l.v[i], out);
		}
	}
	learn_release(&l);
	return found;
}

static bool try_in_order(const struct hunt *h, struct moves *m,
			 struct proposal *out)
{
	bool found = false;
	size_t i = 0;

	for (; i < m->nr && !found; i++)
		found = try_move(h, m, &m->v[i], out);
	if (found)
		return true;
	moves_pairs(m, h->ask->seed);
	for (; i < m->nr && !found; i++)
		found = try_move(h, m, &m->v[i], out);
	return found;
}

/* So that what is said to be exhausted is, where that can be. */
static bool try_all(const struct hunt *h, struct moves *m,
		    struct proposal *out)
{
	double size = moves_settings(m);
	uint64_t nr = size > MAX_SWEEP ? 0 : (uint64_t)size;
	uint64_t first = nr ? h->ask->seed % nr : 0;
	bool found = false;

	for (uint64_t i = 0; i < nr && !found; i++) {
		struct move mv = moves_nth(m, (first + i) % nr);

		found = mv.nr && try_move(h, m, &mv, out);
		moves_undraw(m, &mv);
	}
	return found;
}

static bool hunt(const struct hunt *h, struct proposal *out)
{
	struct moves m;
	bool found = false;

	moves_find(&m, h->site, h->from, h->ask->prior);
	if (h->ask->how == PROPOSE_LEARN)
		found = try_learned(h, &m, out);
	else if (h->ask->how != PROPOSE_BEST)
		found = try_drawn(h, &m, out);
	if (!found)
		found = try_in_order(h, &m, out);
	if (!found && h->ask->how != PROPOSE_BEST)
		found = try_all(h, &m, out);
	moves_release(&m);
	return found;
}

static int hunt_from(struct hunt *h, const struct recipe *parent,
		     struct proposal *out, struct err *err)
{
	struct recipe none = RECIPE_INIT;
	bool found = false;

	if (h->ask->how == PROPOSE_SAMPLE) {
		h->from = &none;
		found = hunt(h, out);
	}
	h->from = parent;
	if (found || hunt(h, out))
		return 0;
	return err_set(err, ERR_NOTFOUND,
		       "nothing untried is left from this state");
}

static int builtin_propose(const struct propose_ask *ask,
			   struct proposal *out, struct err *err)
{
	struct srcset parent = SRCSET_INIT;
	struct recipe given = RECIPE_INIT, from = RECIPE_INIT;
	struct site s;
	struct hunt h = { .ask = ask, .site = &s };
	int rc;

	proposal_init(out);
	rc = site_init(&s, ask->kernel, ask->origin, err);
	if (rc)
		return rc;
	rc = recipe_parse(&given, ask->recipe, err);
	if (!rc)
		rc = strategy_apply(&s, &given, &parent, err);
	if (!rc)
		rc = site_recipe(&s, ask->recipe, &from, err);
	if (!rc) {
		srcset_state(&parent, &h.parent);
		srcset_state(ask->origin, &h.origin);
		rc = hunt_from(&h, &from, out, err);
	}
	recipe_release(&given);
	recipe_release(&from);
	srcset_release(&parent);
	site_release(&s);
	return rc;
}

static int builtin_apply(const struct kernel *k, const struct srcset *origin,
			 const char *recipe, struct srcset *out,
			 struct err *err)
{
	struct recipe r;
	struct site s;
	int rc;

	*out = (struct srcset)SRCSET_INIT;
	rc = site_init(&s, k, origin, err);
	if (rc)
		return rc;
	rc = recipe_parse(&r, recipe, err);
	if (!rc) {
		recipe_normalise(&r, strategy_rank);
		rc = strategy_apply(&s, &r, out, err);
	}
	recipe_release(&r);
	site_release(&s);
	return rc;
}

static int builtin_explain(const struct kernel *k,
			   const struct srcset *origin, const char *recipe,
			   struct buf *out, struct err *err)
{
	struct recipe r;
	struct site s;
	int rc = site_init(&s, k, origin, err);

	if (rc)
		return rc;
	rc = recipe_parse(&r, recipe, err);
	if (!rc)
		recipe_normalise(&r, strategy_rank);
	for (size_t i = 0; !rc && i < r.nr; i++) {
		const struct strategy *st = strategy_find(r.v[i].name);

		if (!st)
			continue;
		buf_addstr(out, "### ");
		st->subject(&s, &r.v[i], out);
		buf_addstr(out, "\n\n");
		st->plan(&s, &r.v[i], out);
		buf_addch(out, '\n');
	}
	recipe_release(&r);
	site_release(&s);
	return rc;
}

static void push_recipe(struct recipe *r, struct strv *out)
{
	struct buf text = BUF_INIT;

	recipe_print(r, &text);
	strv_push(out, text.ptr);
	buf_release(&text);
}

/* The gene without its n-th word. */
static void without_word(const struct recipe *r, size_t gene, size_t word,
			 struct strv *out)
{
	const struct gene *g = &r->v[gene];
	struct buf args = BUF_INIT;
	struct recipe less;

	for (size_t i = 0; i < g->args.nr; i++)
		if (i != word)
			buf_addf(&args, "%s%s", args.len ? "," : "",
				 g->args.v[i]);
	recipe_copy(&less, r);
	recipe_set(&less, g->name, args.ptr);
	recipe_normalise(&less, strategy_rank);
	push_recipe(&less, out);
	recipe_release(&less);
	buf_release(&args);
}

static int builtin_shrink(const char *recipe, struct strv *out,
			  struct err *err)
{
	struct recipe r;
	int rc = recipe_parse(&r, recipe, err);

	if (rc)
		return rc;
	recipe_normalise(&r, strategy_rank);
	for (size_t i = 0; i < r.nr; i++) {
		struct recipe less;

		recipe_copy(&less, &r);
		recipe_set(&less, r.v[i].name, NULL);
		push_recipe(&less, out);
		recipe_release(&less);
	}
	for (size_t i = 0; i < r.nr; i++)
		for (size_t k = 0; r.v[i].args.nr > 1 && k < r.v[i].args.nr;
		     k++)
			without_word(&r, i, k, out);
	recipe_release(&r);
	return 0;
}

static void builtin_unfit(const struct kernel *k, const struct srcset *origin,
			  struct strv *out)
{
	struct err err = ERR_INIT;
	struct site s;

	if (site_init(&s, k, origin, &err)) {
		strv_push(out, err.msg);
		return;
	}
	for (int i = 0; strategies[i]; i++) {
		struct buf why = BUF_INIT;

		if (!strategy_fits(strategies[i], &s, &why))
			strv_pushf(out, "%s: %s", strategies[i]->name,
				   why.ptr);
		buf_release(&why);
	}
	tunable_unfit(&s, out);
	site_release(&s);
}

static void builtin_shape(const struct kernel *k, const struct srcset *origin,
			  struct buf *out)
{
	struct err ignored = ERR_INIT;
	struct site s;

	if (site_init(&s, k, origin, &ignored))
		return;
	shape_add(&s, out);
	site_release(&s);
}

const struct proposer proposer_builtin = {
	.name = "builtin",
	.summary = "rewrite the source by known strategies, offline",
	.propose = builtin_propose,
	.apply = builtin_apply,
	.explain = builtin_explain,
	.shrink = builtin_shrink,
	.cross = builtin_cross,
	.unfit = builtin_unfit,
	.shape = builtin_shape,
	.space = builtin_space,
	.compose = builtin_compose,
};
