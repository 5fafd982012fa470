#include "agents/builtin/builtin.h"

#include <stdlib.h>
#include <string.h>

#include "agents/builtin/cross.h"
#include "agents/builtin/moves.h"
#include "agents/builtin/recipe.h"
#include "agents/builtin/strategy.h"
#include "core/mem.h"

#define MAX_SUBJECT 72

/* A recipe text; where it is empty and the origin carries a block of ours,
 * what that block says, since moves start from there. */
static int parent_recipe(const struct site *s, const char *text,
			 struct recipe *r, struct err *err)
{
	int rc = recipe_parse(r, text, err);

	if (rc || r->nr)
		return rc;
	recipe_copy(r, &s->found);
	recipe_normalise(r, strategy_rank);
	return 0;
}

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
	const struct strategy *last = NULL;

	for (int i = 0; i < mv->nr; i++) {
		const struct strategy *st = m->locus[mv->v[i].locus].st;

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
	for (int i = 0; i < mv->nr; i++) {
		if (i)
			buf_addstr(&text, i + 1 < mv->nr ? ", " : " and ");
		add_part(s, m, &mv->v[i], &text);
	}
	if (text.len > MAX_SUBJECT) {
		buf_splice(&text, head, text.len - head, "combine ", 8);
		strategy_names(m, mv, ", ", &text);
	}
	if (text.len > MAX_SUBJECT)
		buf_splice(&text, MAX_SUBJECT, text.len - MAX_SUBJECT, "", 0);
	return buf_detach(&text);
}

static double expect_of(const struct site *s, const struct moves *m,
			const struct move *mv)
{
	double ratio = 1;

	for (int i = 0; i < mv->nr; i++) {
		const struct strategy *st = m->locus[mv->v[i].locus].st;
		struct recipe r;

		if (gene_of(m, &mv->v[i], &r))
			ratio *= st->gain(s, &r.v[0]);
		recipe_release(&r);
	}
	return ratio;
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
	for (int i = 0; i < mv->nr; i++)
		add_paragraph(s, m, &mv->v[i], &p->plan);
	buf_addf(&p->plan, "\nExpected: about %.3gx of the parent's speed.\n",
		 p->expect);
	if (p->recipe[0])
		buf_addf(&p->plan, "Recipe: `%s`.\n", p->recipe);
}

/* ---- the proposer ---- */

struct hunt {
	const struct propose_ask *ask;
	const struct site *site;
	struct oid parent;	/* the state that moves start from */
	struct oid origin;
};

static bool is_new(const struct hunt *h, const struct srcset *src)
{
	struct oid state;

	srcset_state(src, &state);
	if (oid_eq(&state, &h->parent) || oid_eq(&state, &h->origin))
		return false;
	return !h->ask->seen || !h->ask->seen(h->ask->seen_ctx, &state);
}

/* Fills *out if the move leads to a new state; a move that cannot be carried
 * out is passed over. */
static bool try_move(const struct hunt *h, const struct moves *m,
		     const struct move *mv, const struct recipe *from,
		     struct proposal *out)
{
	struct buf names = BUF_INIT, text = BUF_INIT;
	struct err ignored = ERR_INIT;
	struct recipe r;
	bool good;

	move_apply(m, mv, from, &r);
	recipe_print(&r, &text);
	/* An empty recipe means the origin, blocks and all. */
	good = r.nr && !strategy_apply(h->site, &r, &out->source, &ignored);
	recipe_release(&r);
	if (good && !is_new(h, &out->source)) {
		srcset_release(&out->source);
		good = false;
	}
	if (!good) {
		buf_release(&text);
		return false;
	}
	strategy_names(m, mv, "+", &names);
	out->recipe = buf_detach(&text);
	out->strategy = buf_detach(&names);
	out->subject = subject_of(h->site, m, mv);
	out->expect = expect_of(h->site, m, mv);
	buf_init(&out->plan);
	plan_of(h->site, m, mv, out);
	return true;
}

static int hunt(struct hunt *h, const struct recipe *from,
		struct proposal *out, struct err *err)
{
	struct moves m;
	bool found = false;

	moves_find(&m, h->site, from, h->ask->seed);
	for (size_t i = 0; i < m.nr && !found; i++)
		found = try_move(h, &m, &m.v[i], from, out);
	moves_release(&m);
	if (found)
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

	memset(out, 0, sizeof(*out));
	buf_init(&out->plan);
	rc = site_init(&s, ask->kernel, ask->origin, err);
	if (rc)
		return rc;
	rc = recipe_parse(&given, ask->recipe, err);
	if (!rc)
		rc = strategy_apply(&s, &given, &parent, err);
	if (!rc)
		rc = parent_recipe(&s, ask->recipe, &from, err);
	if (!rc) {
		srcset_state(&parent, &h.parent);
		srcset_state(ask->origin, &h.origin);
		rc = hunt(&h, &from, out, err);
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
};
