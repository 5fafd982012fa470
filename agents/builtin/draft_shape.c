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

void draft_expand(const struct draft *d, struct poly *p)
{
	for (int k = d->nr_locals - 1; k >= 0; k--)
		if (d->local[k].param == DLOCAL_INTEGER)
			poly_put(p, (uint16_t)(SYM_LOCAL + k),
				 &d->local[k].value);
}

void draft_values(const struct draft *d, double values[SYM_NR])
{
	for (int k = d->nr_params; k < SYM_NR; k++)
		values[k] = 0;
	for (int k = 0; k < d->nr_locals; k++)
		if (d->local[k].param == DLOCAL_INTEGER &&
		    !d->local[k].value.bad)
			values[SYM_LOCAL + k] =
				poly_eval(&d->local[k].value, values);
}

/* A symbol makes a loop shorter, as R does in "p < H - R + 1". */
static bool shortens(const struct draft *d, uint16_t sym)
{
	for (int k = 0; k < d->nr_loops; k++) {
		struct poly rounds = d->loop[k].hi;

		poly_sub(&rounds, &d->loop[k].lo);
		draft_expand(d, &rounds);
		for (int i = 0; i < rounds.nr; i++) {
			const struct term *t = &rounds.t[i];

			for (int j = 0; j < t->nr && t->coef < 0; j++)
				if (t->sym[j] == sym)
					return true;
		}
	}
	return false;
}

void draft_sample(const struct draft *d, double values[SYM_NR])
{
	for (int k = 0; k < d->nr_params; k++)
		values[k] = shortens(d, (uint16_t)k) ? 3 + k : 1009 + 64 * k;
	draft_values(d, values);
}

/* The greatest or the least value over all loops; false if it is unknown. */
static bool put_ends(const struct draft *d, struct poly *p, bool least)
{
	for (int k = d->nr_loops - 1; k >= 0; k--) {
		uint16_t sym = (uint16_t)(SYM_LOOP + k);
		struct poly coef, rest, value = d->loop[k].hi;
		int up = 0, down = 0;

		if (!poly_has(p, sym))
			continue;
		poly_split(p, sym, &coef, &rest);
		for (int i = 0; i < coef.nr; i++) {
			up += coef.t[i].coef > 0;
			down += coef.t[i].coef < 0;
		}
		if (coef.bad || (up && down))
			return false;
		if (least ? up : down)
			value = d->loop[k].lo;
		else
			poly_add_const(&value, -1);
		if (value.bad)
			return false;
		poly_put(p, sym, &value);
	}
	return !p->bad;
}

bool draft_greatest(const struct draft *d, struct poly *p)
{
	return put_ends(d, p, false);
}

bool draft_least(const struct draft *d, struct poly *p)
{
	return put_ends(d, p, true);
}

bool draft_has_loops(const struct draft *d, const struct poly *value)
{
	struct poly p = *value;

	draft_expand(d, &p);
	for (int k = 0; k < d->nr_loops; k++)
		if (poly_has(&p, (uint16_t)(SYM_LOOP + k)))
			return true;
	return false;
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

/* "i * (2 * k + 1) + j" with j < 2 * k + 1 */
static bool guess_rows(const struct draft *d, const struct poly *p,
		       struct guess *out)
{
	memset(out, 0, sizeof(*out));
	out->rank = 2;
	for (int k = 0; k < d->nr_loops; k++) {
		struct poly coef, rest, var;

		poly_split(p, (uint16_t)(SYM_LOOP + k), &coef, &rest);
		poly_sym(&var, (uint16_t)(SYM_LOOP + k));
		if (coef.bad || coef.nr < 2 || !length_of(d, &rest, &rest) ||
		    !same_value(d, &coef, &rest) ||
		    !length_of(d, &var, &out->extent[0]))
			continue;
		out->extent[1] = rest;
		draft_expand(d, &out->extent[0]);
		draft_expand(d, &out->extent[1]);
		return true;
	}
	return false;
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

/* The extents hold what the subscript reaches, and rows do not overlap. */
static bool holds_all(const struct draft *d, const struct guess *g,
		      const struct poly *p, const double *values)
{
	struct poly length;

	if (g->has_ld)
		for (int i = 0; i < g->ld.nr; i++)
			for (int k = 0; k < g->ld.t[i].nr; k++)
				if (poly_has(&g->extent[g->rank - 1],
					     g->ld.t[i].sym[k]))
					return false;
	return g->has_ld || !length_of(d, p, &length) ||
	       elements(g, values) > poly_eval(&length, values) - 0.5;
}

/* The best form of an extent; false if there is none. */
static bool guess_one(const struct draft *d, const struct poly *p,
		      const double *values, struct guess *g)
{
	if (p->bad)
		return false;
	if (guess_extents(d, p, g) && holds_all(d, g, p, values))
		return true;
	if (guess_rows(d, p, g))
		return true;
	memset(g, 0, sizeof(*g));
	g->rank = 1;
	return length_of(d, p, &g->extent[0]);
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
		struct guess g;
		double reach;

		if (a->param != n)
			continue;
		if (a->nr != 1 || !guess_one(d, &a->sub[0], values, &g)) {
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
