#include "agents/builtin/space.h"

#include <stdlib.h>
#include <string.h>

#include "agents/builtin/moves.h"
#include "core/mem.h"

static void add_values(const struct locus *l, struct space *out)
{
	struct buf gene = BUF_INIT;
	struct locus_values *v;

	GROW(out->v, out->nr, out->cap);
	v = &out->v[out->nr++];
	/* A number that no word of a recipe sets is as the source has it. */
	*v = (struct locus_values){ xstrdup(l->key ? l->key : l->st->name),
				    STRV_INIT, l->now, false, l->key != NULL };
	for (size_t i = 0; i < l->values.nr; i++) {
		buf_reset(&gene);
		locus_gene(l, l->values.v[i], &gene);
		strv_push(&v->values, gene.ptr);
	}
	buf_release(&gene);
}

int builtin_space(const struct kernel *k, const struct srcset *origin,
		  const char *recipe, struct space *out, struct err *err)
{
	struct moves m = MOVES_INIT;
	struct recipe from;
	struct site s;
	int rc;

	*out = (struct space)SPACE_INIT;
	rc = site_init(&s, k, origin, err);
	if (rc)
		return rc;
	rc = site_recipe(&s, recipe, &from, err);
	if (!rc)
		loci_find(&m, &s, &from);
	for (size_t i = 0; i < m.nr_loci; i++)
		if (m.locus[i].values.nr)
			add_values(&m.locus[i], out);
	moves_release(&m);
	recipe_release(&from);
	site_release(&s);
	return rc;
}

/* One locus into the recipe; value NULL takes it out. */
static int set_locus(struct recipe *r, const struct locus_values *l,
		     const char *value, struct err *err)
{
	struct recipe gene;
	int rc = 0;

	if (l->tunable) {
		recipe_set_word(r, strategy_tunables.name, l->name, value);
		return 0;
	}
	recipe_set(r, l->name, NULL);
	if (!value)
		return 0;
	rc = recipe_parse(&gene, value, err);
	if (!rc && gene.nr == 1 && !strcmp(gene.v[0].name, l->name)) {
		struct buf args = BUF_INIT;

		gene_args(&gene.v[0], &args);
		recipe_set(r, l->name, args.ptr);
		buf_release(&args);
	} else if (!rc) {
		rc = err_set(err, ERR_FORMAT, "'%.60s' is no setting of "
			     "'%.60s'", value, l->name);
	}
	recipe_release(&gene);
	return rc;
}

int builtin_compose(const struct space *s, const int *setting,
		    const char *recipe, struct buf *out, struct err *err)
{
	struct recipe r;
	int rc = recipe_parse(&r, recipe, err);

	for (size_t i = 0; i < s->nr && !rc; i++) {
		const struct locus_values *l = &s->v[i];

		if (setting[i] < -1 || (setting[i] < 0 && l->needed) ||
		    (setting[i] >= 0 && (size_t)setting[i] >= l->values.nr))
			rc = err_set(err, ERR_FORMAT, "'%.60s' has no setting "
				     "%d", l->name, setting[i]);
		else
			rc = set_locus(&r, l, setting[i] < 0 ? NULL :
				       l->values.v[setting[i]], err);
	}
	if (!rc) {
		recipe_normalise(&r, strategy_rank);
		recipe_print(&r, out);
	}
	recipe_release(&r);
	return rc;
}
