#include "agents/builtin/cross.h"

#include <stdlib.h>
#include <string.h>

#include "agents/builtin/recipe.h"
#include "agents/builtin/strategy.h"
#include "core/mem.h"
#include "core/rng.h"

#define MAX_DRAWS 16		/* of settings, before steps are left out */

/* How two settings of one strategy become one. */
enum mix { MIX_UNION, MIX_DRAW };

/* The word of a gene for a key ("TILE=64"), or NULL. */
static const char *word_of(const struct gene *g, const char *word)
{
	size_t len = strcspn(word, "=");

	for (size_t i = 0; word[len] && i < g->args.nr; i++)
		if (!strncmp(g->args.v[i], word, len) &&
		    g->args.v[i][len] == '=')
			return g->args.v[i];
	return NULL;
}

static void add_word(struct buf *b, const char *word)
{
	buf_addf(b, "%s%s", b->len ? "," : "", word);
}

/* The words of both; of two values for one key the draw decides. */
static void unite_words(const struct gene *a, const struct gene *b,
			struct rng *rng, struct buf *out)
{
	for (size_t i = 0; i < a->args.nr; i++) {
		const char *word = a->args.v[i], *other = word_of(b, word);

		if (other && strcmp(other, word) && rng_below(rng, 2))
			word = other;
		add_word(out, word);
	}
	for (size_t i = 0; i < b->args.nr; i++)
		if (!word_of(a, b->args.v[i]) &&
		    !strv_has(&a->args, b->args.v[i]))
			add_word(out, b->args.v[i]);
}

static bool same_args(const struct gene *a, const struct gene *b)
{
	bool same = a->args.nr == b->args.nr;

	for (size_t i = 0; same && i < a->args.nr; i++)
		same = strv_has(&b->args, a->args.v[i]);
	return same;
}

static void mix_gene(const struct gene *a, const struct gene *b, enum mix how,
		     struct rng *rng, struct recipe *out)
{
	struct buf args = BUF_INIT;

	if (!b || same_args(a, b))
		gene_args(a, &args);
	else if (how == MIX_UNION && a->args.nr && b->args.nr)
		unite_words(a, b, rng, &args);
	else
		gene_args(rng_below(rng, 2) ? a : b, &args);
	recipe_set(out, a->name, args.ptr);
	buf_release(&args);
}

static void mix_recipes(const struct recipe *a, const struct recipe *b,
			enum mix how, struct rng *rng, struct recipe *out)
{
	*out = (struct recipe)RECIPE_INIT;
	for (size_t i = 0; i < a->nr; i++)
		mix_gene(&a->v[i], recipe_find(b, a->v[i].name), how, rng,
			 out);
	for (size_t i = 0; i < b->nr; i++)
		if (!recipe_find(a, b->v[i].name))
			mix_gene(&b->v[i], NULL, how, rng, out);
	recipe_normalise(out, strategy_rank);
}

struct crossing {
	const struct site *site;
	struct recipe a, b;
	struct buf text_a, text_b;
	struct rng rng;
	bool clash;		/* something new could not be replayed */
};

static bool applies(const struct crossing *c, const struct recipe *r)
{
	struct srcset out = SRCSET_INIT;
	struct err ignored = ERR_INIT;
	bool good = r->nr && !strategy_apply(c->site, r, &out, &ignored);

	srcset_release(&out);
	return good;
}

/* True, and the recipe's text, if it is new and can be replayed. */
static bool try_recipe(struct crossing *c, const struct recipe *r,
		       struct buf *out)
{
	struct buf text = BUF_INIT;
	bool good;

	recipe_print(r, &text);
	good = strcmp(text.ptr, c->text_a.ptr) &&
	       strcmp(text.ptr, c->text_b.ptr);
	if (good && (text.len > RECIPE_MAX_TEXT || r->nr > RECIPE_MAX_GENES ||
		     !applies(c, r))) {
		c->clash = true;
		good = false;
	}
	if (good)
		buf_add(out, text.ptr, text.len);
	buf_release(&text);
	return good;
}

/* Steps that stand in the way of others go, one at a time. */
static bool try_without_one(struct crossing *c, struct buf *out)
{
	struct recipe all;
	bool good = false;

	mix_recipes(&c->a, &c->b, MIX_DRAW, &c->rng, &all);
	for (size_t i = 0; i < all.nr && !good; i++) {
		struct recipe less;

		recipe_copy(&less, &all);
		recipe_set(&less, all.v[i].name, NULL);
		recipe_normalise(&less, strategy_rank);
		good = try_recipe(c, &less, out);
		recipe_release(&less);
	}
	recipe_release(&all);
	return good;
}

static int cross(struct crossing *c, struct buf *out, struct err *err)
{
	bool good = false;

	for (int i = 0; i < MAX_DRAWS && !good; i++) {
		struct recipe r;

		mix_recipes(&c->a, &c->b, i ? MIX_DRAW : MIX_UNION, &c->rng,
			    &r);
		good = try_recipe(c, &r, out);
		recipe_release(&r);
	}
	if (good || (c->clash && try_without_one(c, out)))
		return 0;
	return err_set(err, ERR_NOTFOUND, "the two recipes give nothing new "
		       "together");
}

static int read_recipe(const char *text, struct recipe *r, struct buf *normal,
		       struct err *err)
{
	int rc = recipe_parse(r, text, err);

	if (!rc) {
		recipe_normalise(r, strategy_rank);
		recipe_print(r, normal);
	}
	return rc;
}

int builtin_cross(const struct kernel *k, const struct srcset *origin,
		  const char *a, const char *b, uint64_t seed,
		  struct buf *out, struct err *err)
{
	struct crossing c = { .a = RECIPE_INIT, .b = RECIPE_INIT,
			      .text_a = BUF_INIT, .text_b = BUF_INIT };
	struct site s;
	int rc = site_init(&s, k, origin, err);

	if (rc)
		return rc;
	c.site = &s;
	rng_init(&c.rng, seed);
	rc = read_recipe(a, &c.a, &c.text_a, err);
	if (!rc)
		rc = read_recipe(b, &c.b, &c.text_b, err);
	if (!rc)
		rc = cross(&c, out, err);
	recipe_release(&c.a);
	recipe_release(&c.b);
	buf_release(&c.text_a);
	buf_release(&c.text_b);
	site_release(&s);
	return rc;
}
