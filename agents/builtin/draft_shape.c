/* Extents of arrays, from the subscripts and the loops around them. */
#include <string.h>

#include "agents/builtin/draft_parts.h"

/* Terms of a subscript that step alike: "p" and "r" of "(p + r) * W + q". */
struct group {
	struct term stride;	/* without loop variables */
	struct poly most;	/* greatest value of what steps by it, plus 1 */
};

struct guess {
	struct poly extent[KERNEL_MAX_RANK];
	int rank;
	bool has_ld;
	struct poly ld;
};

void draft_sample(const struct draft *d, double values[SYM_NR])
{
	for (int k = 0; k < d->nr_params; k++)
		values[k] = 1009 + 64 * k;
	draft_values(d, values);
}

/* The length of an array whose greatest subscript this is. */
static bool length_of(const struct draft *d, const struct poly *subscript,
		      struct poly *length)
{
	*length = *subscript;
	if (!draft_greatest(d, length))
		return false;
	poly_add_const(length, 1);
	return !length->bad;
}

static bool is_loop_sym(const struct draft *d, uint16_t sym)
{
	(void)d;
	return sym >= SYM_LOOP && sym < SYM_LOCAL;
}

/* Takes the loop variables out of a term. */
static void without_loops(const struct draft *d, const struct term *t,
			  struct term *stride, struct term *inside)
{
	*stride = (struct term){ .coef = t->coef };
	*inside = (struct term){ .coef = 1 };
	for (int k = 0; k < t->nr; k++) {
		struct term *to = is_loop_sym(d, t->sym[k]) ? inside : stride;

		to->sym[to->nr++] = t->sym[k];
	}
}

static bool same_term(const struct term *a, const struct term *b)
{
	struct term q;

	return term_divide(a, b, &q) && q.coef == 1 && !q.nr;
}

/* Sorts the terms of a subscript by stride; the number of groups, or -1. */
static int group_terms(const struct draft *d, const struct poly *p,
		       struct group *g)
{
	int nr = 1;

	g[0].stride = (struct term){ .coef = 1 };
	poly_const(&g[0].most, 0);
	for (int i = 0; i < p->nr; i++) {
		struct term stride, inside;
		struct poly more;
		int k = 0;

		without_loops(d, &p->t[i], &stride, &inside);
		if (!inside.nr)
			continue;
		if (stride.coef < 0)
			return -1;
		while (k < nr && !same_term(&g[k].stride, &stride))
			k++;
		if (k == nr && nr == KERNEL_MAX_RANK)
			return -1;
		if (k == nr) {
			g[nr].stride = stride;
			poly_const(&g[nr++].most, 0);
		}
		poly_term(&more, &inside);
		poly_add(&g[k].most, &more);
	}
	return nr;
}

static void sort_groups(struct group *g, int nr)
{
	for (int i = 1; i < nr; i++) {
		struct group t = g[i];
		int k = i;

		for (; k > 0; k--) {
			const struct term *a = &g[k - 1].stride;

			if (a->nr < t.stride.nr ||
			    (a->nr == t.stride.nr && a->coef <= t.stride.coef))
				break;
			g[k] = g[k - 1];
		}
		g[k] = t;
	}
}

/* Terms without loop variables go to the widest stride that divides them. */
static bool place_rest(const struct draft *d, const struct poly *p,
		       struct group *g, int nr)
{
	for (int i = 0; i < p->nr; i++) {
		struct term stride, inside, q;
		struct poly more;
		int k = nr - 1;

		without_loops(d, &p->t[i], &stride, &inside);
		if (inside.nr)
			continue;
		while (k > 0 && !term_divide(&stride, &g[k].stride, &q))
			k--;
		if (!k)
			q = stride;
		poly_term(&more, &q);
		poly_add(&g[k].most, &more);
	}
	for (int k = 0; k < nr; k++)
		if (!length_of(d, &g[k].most, &g[k].most))
			return false;
	return true;
}

static bool same_value(const struct draft *d, const struct poly *a,
		       const struct poly *b)
{
	struct poly x = *a, y = *b;

	draft_expand(d, &x);
	draft_expand(d, &y);
	return poly_eq(&x, &y);
}

/* [M][K] out of "i * K + k", or false. */
static bool guess_extents(const struct draft *d, const struct poly *p,
			  struct guess *out)
{
	struct group g[KERNEL_MAX_RANK];
	int nr = group_terms(d, p, g);

	if (nr < 0)
		return false;
	sort_groups(g, nr);
	if (!place_rest(d, p, g, nr))
		return false;
	memset(out, 0, sizeof(*out));
	out->rank = nr;
	out->extent[0] = g[nr - 1].most;
	draft_expand(d, &out->extent[0]);
	for (int k = 0; k + 1 < nr; k++) {
		struct poly *extent = &out->extent[nr - 1 - k];
		struct term ratio;

		if (!term_divide(&g[k + 1].stride, &g[k].stride, &ratio))
			return false;
		poly_term(extent, &ratio);
		if (k || same_value(d, extent, &g[0].most))
			continue;
		/* Rows that are further apart than they are long. */
		if (ratio.nr == 1 && ratio.coef == 1) {
			out->has_ld = true;
			out->ld = *extent;
			*extent = g[0].most;
		}
	}
	return true;
}

static double elements(const struct guess *g, const double *values)
{
	double product = 1;

	for (int k = 0; k < g->rank; k++)
		product *= poly_eval(&g->extent[k], values);
	if (g->has_ld)
		product *= poly_eval(&g->ld, values) /
			   poly_eval(&g->extent[g->rank - 1], values);
	return product;
}

static void keep(const struct draft *d, struct dparam *p,
		 const struct guess *g)
{
	p->declared = g->rank;
	p->has_ld = g->has_ld;
	p->ld = g->ld;
	memcpy(p->extent, g->extent, sizeof(p->extent));
	/* H-2 alone needs no parentheses. */
	for (int k = 0; k < p->declared; k++)
		if (poly_degree(&p->extent[k]) == 1)
			draft_expand(d, &p->extent[k]);
}

/* All sizes multiplied: surely enough, and the guard pages will tell. */
static void guess_wildly(struct draft *d, struct dparam *p)
{
	struct guess g = { .rank = 1 };

	poly_const(&g.extent[0], 1);
	for (int k = 0; k < d->nr_params; k++) {
		struct poly q;

		if (!d->param[k].is_size)
			continue;
		poly_sym(&q, (uint16_t)k);
		poly_mul(&g.extent[0], &q);
	}
	if (g.extent[0].bad)
		poly_const(&g.extent[0], 1);
	keep(d, p, &g);
	strv_pushf(d->notes, "the extent of '%s' is a guess: %s", p->name,
		   p->moved ? "it is passed on, or moved, and not followed" :
			      "its subscripts are not sums of products of "
			      "sizes and loop variables");
}

/* The subscript that reaches furthest decides. */
static void flat_extents(struct draft *d, int n, const double *values)
{
	struct dparam *p = &d->param[n];
	struct guess best = { .rank = 0 };
	double most = 0;
	bool sure = !p->moved;

	for (int i = 0; i < d->nr_accesses; i++) {
		const struct daccess *a = &d->access[i];
		struct guess g = { .rank = 1 };
		double reach;

		if (a->param != n)
			continue;
		if (a->nr != 1 || a->sub[0].bad ||
		    (!guess_extents(d, &a->sub[0], &g) &&
		     !length_of(d, &a->sub[0], &g.extent[0]))) {
			sure = false;
			continue;
		}
		reach = elements(&g, values);
		if (reach > most * 1.000001 ||
		    (reach > most * 0.999999 &&
		     (g.rank > best.rank ||
		      (g.rank == best.rank && best.has_ld && !g.has_ld)))) {
			most = reach > most ? reach : most;
			best = g;
		}
	}
	if (!sure || !best.rank)
		guess_wildly(d, p);
	else
		keep(d, p, &best);
}

/* x[][K]: the first extent from the first subscript. */
static void first_extent(struct draft *d, int n, const double *values)
{
	struct dparam *p = &d->param[n];
	double most = 0;

	for (int i = 0; i < d->nr_accesses; i++) {
		const struct daccess *a = &d->access[i];
		struct poly length;

		if (a->param != n || !a->nr ||
		    !length_of(d, &a->sub[0], &length) ||
		    poly_eval(&length, values) <= most)
			continue;
		most = poly_eval(&length, values);
		p->extent[0] = length;
	}
}

static bool all_known(const struct dparam *p)
{
	for (int k = 0; k < p->declared; k++)
		if (p->extent[k].bad || !p->extent[k].nr)
			return false;
	return p->declared > 0;
}

void draft_extents(struct draft *d)
{
	double values[SYM_NR];

	draft_sample(d, values);
	for (int n = 0; n < d->nr_params; n++) {
		struct dparam *p = &d->param[n];

		if (!p->is_array)
			continue;
		if (p->declared && p->extent[0].bad)
			first_extent(d, n, values);
		if (all_known(p))
			continue;
		if (p->declared > 1)
			guess_wildly(d, p);
		else
			flat_extents(d, n, values);
	}
}
