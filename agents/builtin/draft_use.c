/* Whether an array is an input, an output, or both. */
#include <string.h>

#include "agents/builtin/draft_parts.h"

#define MAX_CHAIN 8

/* ---- values ---- */

/* Never negative, whatever sizes of at least 1 there are. */
static bool never_negative(const struct draft *d, const struct poly *value)
{
	struct poly p = *value;
	int64_t sum = 0;

	draft_expand(d, &p);
	if (p.bad || !draft_least(d, &p))
		return false;
	draft_expand(d, &p);
	for (int i = 0; i < p.nr; i++) {
		if (p.t[i].nr && p.t[i].coef < 0)
			return false;
		sum += p.t[i].coef;
	}
	return sum >= 0;
}

/* ---- a store before a read ---- */

struct match {
	const struct draft *d;
	/* Around the store alone, and around the read alone; outer first. */
	int loop[MAX_CHAIN], nr;
	int other[MAX_CHAIN], nr_other;
	struct poly value[MAX_CHAIN];	/* of the variables of loop */
	const struct daccess *read;
};

static bool is_around(const struct draft *d, int scope, int inner)
{
	if (scope < 0)
		return true;
	for (; inner >= 0; inner = d->scope[inner].outer)
		if (inner == scope)
			return true;
	return false;
}

/* The loops from an inner scope to the one that is common; false if there
 * are too many, or a branch among them, when there must be none. */
static bool chain(const struct draft *d, int inner, int common, bool strict,
		  int loop[MAX_CHAIN], int *nr)
{
	*nr = 0;
	for (; inner != common; inner = d->scope[inner].outer) {
		const struct dscope *s = &d->scope[inner];

		if (strict && (s->loop < 0 || s->jumps))
			return false;
		if (s->loop < 0)
			continue;
		if (*nr == MAX_CHAIN)
			return false;
		memmove(loop + 1, loop, (size_t)*nr * sizeof(*loop));
		loop[0] = s->loop;
		++*nr;
	}
	return true;
}

static void put_values(const struct match *m, int known, struct poly *p)
{
	draft_expand(m->d, p);
	for (int k = known - 1; k >= 0; k--)
		poly_put(p, (uint16_t)(SYM_LOOP + m->loop[k]), &m->value[k]);
}

/* The store's k-th loop comes by a value. */
static bool comes_by(const struct match *m, int k, const struct poly *value)
{
	const struct dloop *l = &m->d->loop[m->loop[k]];
	struct poly above = *value, below = l->hi, lo = l->lo;

	put_values(m, k, &below);
	put_values(m, k, &lo);
	poly_sub(&above, &lo);
	poly_sub(&below, value);
	poly_add_const(&below, -1);
	return never_negative(m->d, &above) && never_negative(m->d, &below);
}

static bool same_element(const struct match *m, const struct daccess *store)
{
	for (int k = 0; k < store->nr; k++) {
		struct poly a = store->sub[k], b = m->read->sub[k];

		put_values(m, m->nr, &a);
		draft_expand(m->d, &b);
		if (!poly_eq(&a, &b))
			return false;
	}
	return true;
}

static bool match_from(struct match *m, int k, const struct daccess *store);

static bool try_value(struct match *m, int k, const struct daccess *store)
{
	return !m->value[k].bad && comes_by(m, k, &m->value[k]) &&
	       match_from(m, k + 1, store);
}

/* The value that the only loop of "x[i]" needs. */
static void solve(struct match *m, int k, const struct daccess *store)
{
	struct poly coef, rest, sub = store->sub[0];

	poly_bad(&m->value[k]);
	if (store->nr != 1)
		return;
	put_values(m, k, &sub);
	poly_split(&sub, (uint16_t)(SYM_LOOP + m->loop[k]), &coef, &rest);
	poly_add_const(&coef, -1);
	if (coef.bad || coef.nr)
		return;
	m->value[k] = m->read->sub[0];
	draft_expand(m->d, &m->value[k]);
	poly_sub(&m->value[k], &rest);
}

/* Finds values for the loops around the store with which it stores what is
 * read. */
static bool match_from(struct match *m, int k, const struct daccess *store)
{
	if (k == m->nr)
		return same_element(m, store);
	for (int j = 0; j < m->nr_other; j++) {
		poly_sym(&m->value[k], (uint16_t)(SYM_LOOP + m->other[j]));
		if (try_value(m, k, store))
			return true;
	}
	m->value[k] = m->d->loop[m->loop[k]].lo;
	put_values(m, k, &m->value[k]);
	if (try_value(m, k, store))
		return true;
	if (k + 1 < m->nr)
		return false;
	solve(m, k, store);
	return try_value(m, k, store);
}

static bool stores_what_is_read(const struct draft *d,
				const struct daccess *store,
				const struct daccess *read)
{
	struct match m = { .d = d, .read = read };
	int common = store->scope;

	if (store->nr != read->nr)
		return false;
	for (int k = 0; k < read->nr; k++)
		if (store->sub[k].bad || read->sub[k].bad)
			return false;
	while (!is_around(d, common, read->scope))
		common = d->scope[common].outer;
	if (!chain(d, store->scope, common, true, m.loop, &m.nr) ||
	    !chain(d, read->scope, common, false, m.other, &m.nr_other) ||
	    m.nr > 4 || m.nr_other > 5)
		return false;
	for (int k = 0; k < m.nr; k++) {
		const struct dloop *l = &d->loop[m.loop[k]];

		if (!l->exact || l->step != 1 || l->lo.bad || l->hi.bad)
			return false;
	}
	return match_from(&m, 0, store);
}

/* ---- stores of everything ---- */

static double sub_value(const struct dparam *p, const struct daccess *a,
			const struct poly *sub, const double *values)
{
	double at = 0;

	if (a->nr == 1)
		return poly_eval(&sub[0], values);
	for (int k = 0; k < a->nr; k++)
		at = at * (k ? poly_eval(&p->extent[k], values) : 1) +
		     poly_eval(&sub[k], values);
	return at;
}

/* How many elements a store that runs in any case stores; 0: unknown. */
static double stores(const struct draft *d, int param,
		     const struct daccess *a, const double *values,
		     double *first, double *last)
{
	struct poly least[KERNEL_MAX_RANK], most[KERNEL_MAX_RANK];
	int loop[MAX_CHAIN], nr;
	double rounds = 1;

	if (!chain(d, a->scope, -1, true, loop, &nr))
		return 0;
	for (int k = 0; k < a->nr; k++) {
		least[k] = most[k] = a->sub[k];
		draft_expand(d, &least[k]);
		draft_expand(d, &most[k]);
		if (!draft_least(d, &least[k]) || !draft_greatest(d, &most[k]))
			return 0;
		draft_expand(d, &least[k]);
		draft_expand(d, &most[k]);
	}
	for (int i = 0; i < nr; i++) {
		const struct dloop *l = &d->loop[loop[i]];
		struct poly trips = l->hi;
		bool used = false;

		for (int k = 0; k < a->nr; k++) {
			struct poly sub = a->sub[k];

			draft_expand(d, &sub);
			used = used || poly_has(&sub, (uint16_t)(SYM_LOOP +
								 loop[i]));
		}
		if (!used)
			continue;
		poly_sub(&trips, &l->lo);
		if (trips.bad || !l->step || draft_has_loops(d, &trips))
			return 0;
		rounds *= poly_eval(&trips, values) / (double)l->step;
	}
	*first = sub_value(&d->param[param], a, least, values);
	*last = sub_value(&d->param[param], a, most, values);
	return rounds;
}

static bool same_subs(const struct daccess *a, const struct daccess *b)
{
	for (int k = 0; k < a->nr; k++)
		if (a->nr != b->nr || !poly_eq(&a->sub[k], &b->sub[k]))
			return false;
	return true;
}

/* The store is over and done with when the read comes. */
static bool is_done(const struct draft *d, const struct daccess *store,
		    const struct daccess *read)
{
	int top = read->scope;

	while (top >= 0 && d->scope[top].outer >= 0)
		top = d->scope[top].outer;
	return top < 0 || !is_around(d, top, store->scope);
}

/* Every element is stored by the end, or before a read, as far as can be
 * seen. */
static bool stores_all(const struct draft *d, int n,
		       const struct daccess *read)
{
	const struct dparam *p = &d->param[n];
	double values[SYM_NR], sum = 0, size = 1, end = 0, from = 1, to = 0;

	draft_sample(d, values);
	for (int k = 0; k < p->declared; k++) {
		bool row = k && k == p->declared - 1 && p->has_ld;
		double extent = poly_eval(&p->extent[k], values);

		size *= extent;
		end = end * (row ? poly_eval(&p->ld, values) : extent) +
		      extent - 1;
	}
	for (int i = 0; i < d->nr_accesses; i++) {
		const struct daccess *a = &d->access[i];
		double first = 1, last = 0;
		bool known = a->param != n || a->kind != DACCESS_WRITE ||
			     (read && !is_done(d, a, read));

		if (a == read)
			break;
		for (int k = 0; k < i && !known; k++)
			known = d->access[k].param == n &&
				d->access[k].kind == DACCESS_WRITE &&
				same_subs(&d->access[k], a);
		if (known)
			continue;
		sum += stores(d, n, a, values, &first, &last);
		from = first < from ? first : from;
		to = last > to ? last : to;
	}
	return from <= 0 && to > end - 0.5 && sum > size * 0.99;
}

/* ---- all of it ---- */

static bool is_stored_before(const struct draft *d, int read, bool *any)
{
	const struct daccess *r = &d->access[read];

	for (int i = 0; i < read; i++) {
		const struct daccess *a = &d->access[i];

		if (a->param != r->param || a->kind != DACCESS_WRITE)
			continue;
		*any = true;
		if (stores_what_is_read(d, a, r))
			return true;
	}
	return *any && stores_all(d, r->param, r);
}

const char *draft_use(struct draft *d, int n)
{
	const struct dparam *p = &d->param[n];
	bool written = false, any = false, all = true;

	if (p->is_const)
		return "in";
	for (int i = 0; i < d->nr_accesses; i++)
		written = written || (d->access[i].param == n &&
				      d->access[i].kind == DACCESS_WRITE);
	if (!written && !p->moved)
		return "in";
	for (int i = 0; i < d->nr_accesses && all && !p->moved; i++)
		if (d->access[i].param == n &&
		    d->access[i].kind == DACCESS_READ)
			all = is_stored_before(d, i, &any);
	if (p->moved || (!all && any))
		strv_pushf(d->notes, "whether '%s' is read before it is "
			   "written is not known; it is taken as inout",
			   p->name);
	else if (all && stores_all(d, n, NULL))
		return "out";
	else if (all)
		strv_pushf(d->notes, "whether all of '%s' is written is not "
			   "known; it is taken as inout", p->name);
	return "inout";
}
