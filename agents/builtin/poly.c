#include "agents/builtin/poly.h"

#include <inttypes.h>
#include <string.h>

void poly_const(struct poly *p, int64_t value)
{
	p->bad = false;
	p->nr = value != 0;
	p->t[0] = (struct term){ .coef = value };
}

void poly_sym(struct poly *p, uint16_t sym)
{
	poly_const(p, 1);
	p->t[0].nr = 1;
	p->t[0].sym[0] = sym;
}

void poly_bad(struct poly *p)
{
	poly_const(p, 0);
	p->bad = true;
}

void poly_term(struct poly *p, const struct term *t)
{
	poly_const(p, 1);
	p->t[0] = *t;
	p->nr = t->coef != 0;
}

static bool same_symbols(const struct term *a, const struct term *b)
{
	return a->nr == b->nr &&
	       !memcmp(a->sym, b->sym, (size_t)a->nr * sizeof(a->sym[0]));
}

static void add_term(struct poly *p, const struct term *t)
{
	for (int i = 0; i < p->nr; i++) {
		if (!same_symbols(&p->t[i], t))
			continue;
		p->t[i].coef += t->coef;
		if (!p->t[i].coef)
			p->t[i] = p->t[--p->nr];
		else if (p->t[i].coef > POLY_MAX_COEF ||
			 p->t[i].coef < -POLY_MAX_COEF)
			poly_bad(p);
		return;
	}
	if (p->nr == POLY_TERMS)
		poly_bad(p);
	else
		p->t[p->nr++] = *t;
}

void poly_add(struct poly *p, const struct poly *q)
{
	struct poly copy = *q;

	if (p->bad || q->bad) {
		poly_bad(p);
		return;
	}
	for (int i = 0; i < copy.nr && !p->bad; i++)
		add_term(p, &copy.t[i]);
}

void poly_add_const(struct poly *p, int64_t value)
{
	struct poly q;

	poly_const(&q, value);
	poly_add(p, &q);
}

void poly_sub(struct poly *p, const struct poly *q)
{
	struct poly minus = *q;

	for (int i = 0; i < minus.nr; i++)
		minus.t[i].coef = -minus.t[i].coef;
	poly_add(p, &minus);
}

static bool mul_term(const struct term *a, const struct term *b,
		     struct term *out)
{
	int i = 0, k = 0;

	out->coef = a->coef;
	out->nr = 0;
	if (a->nr + b->nr > POLY_DEGREE ||
	    __builtin_mul_overflow(a->coef, b->coef, &out->coef) ||
	    out->coef > POLY_MAX_COEF || out->coef < -POLY_MAX_COEF)
		return false;
	while (i < a->nr || k < b->nr) {
		bool first = k == b->nr ||
			     (i < a->nr && a->sym[i] <= b->sym[k]);

		out->sym[out->nr++] = first ? a->sym[i++] : b->sym[k++];
	}
	return true;
}

void poly_mul(struct poly *p, const struct poly *q)
{
	struct poly product;

	poly_const(&product, 0);
	if (p->bad || q->bad)
		poly_bad(&product);
	for (int i = 0; i < p->nr; i++) {
		for (int k = 0; k < q->nr && !product.bad; k++) {
			struct term t;

			if (mul_term(&p->t[i], &q->t[k], &t))
				add_term(&product, &t);
			else
				poly_bad(&product);
		}
	}
	*p = product;
}

bool poly_eq(const struct poly *p, const struct poly *q)
{
	struct poly d = *p;

	poly_sub(&d, q);
	return !d.bad && d.nr == 0;
}

bool poly_has(const struct poly *p, uint16_t sym)
{
	for (int i = 0; i < p->nr; i++)
		for (int k = 0; k < p->t[i].nr; k++)
			if (p->t[i].sym[k] == sym)
				return true;
	return false;
}

int poly_degree(const struct poly *p)
{
	int degree = 0;

	for (int i = 0; i < p->nr; i++)
		degree = p->t[i].nr > degree ? p->t[i].nr : degree;
	return degree;
}

/* Takes one sym out of a term; how many there were. */
static int take_out(struct term *t, uint16_t sym)
{
	int found = 0, nr = 0;

	for (int k = 0; k < t->nr; k++) {
		if (t->sym[k] == sym && !found++)
			continue;
		t->sym[nr++] = t->sym[k];
	}
	t->nr = nr;
	return found;
}

void poly_split(const struct poly *p, uint16_t sym, struct poly *coef,
		struct poly *rest)
{
	poly_const(coef, 0);
	poly_const(rest, 0);
	for (int i = 0; i < p->nr; i++) {
		struct term t = p->t[i];
		int found = take_out(&t, sym);

		if (found > 1)
			poly_bad(coef);
		else
			add_term(found ? coef : rest, &t);
	}
	if (p->bad || coef->bad) {
		poly_bad(coef);
		poly_bad(rest);
	}
}

void poly_put(struct poly *p, uint16_t sym, const struct poly *q)
{
	struct poly coef, rest;

	if (!poly_has(p, sym))
		return;
	poly_split(p, sym, &coef, &rest);
	poly_mul(&coef, q);
	poly_add(&rest, &coef);
	*p = rest;
}

bool term_divide(const struct term *a, const struct term *b,
		 struct term *out)
{
	*out = *a;
	if (!b->coef || a->coef % b->coef)
		return false;
	out->coef = a->coef / b->coef;
	for (int k = 0; k < b->nr; k++)
		if (!take_out(out, b->sym[k]))
			return false;
	return true;
}

double poly_eval(const struct poly *p, const double *values)
{
	double sum = 0;

	for (int i = 0; i < p->nr; i++) {
		double product = (double)p->t[i].coef;

		for (int k = 0; k < p->t[i].nr; k++)
			product *= values[p->t[i].sym[k]];
		sum += product;
	}
	return sum;
}

static void print_term(const struct term *t, bool first,
		       const struct strv *names, struct buf *out)
{
	int64_t coef = t->coef < 0 ? -t->coef : t->coef;

	buf_addstr(out, t->coef < 0 ? "-" : first ? "" : "+");
	if (coef != 1 || !t->nr)
		buf_addf(out, "%" PRId64 "%s", coef, t->nr ? "*" : "");
	for (int k = 0; k < t->nr; k++)
		buf_addf(out, "%s%s", k ? "*" : "", names->v[t->sym[k]]);
}

/* Positive terms first, so that none begins with a minus if it need not. */
void poly_print(const struct poly *p, const struct strv *names,
		struct buf *out)
{
	bool first = true;

	if (!p->nr)
		buf_addch(out, '0');
	for (int sign = 1; sign >= -1; sign -= 2) {
		for (int i = 0; i < p->nr; i++) {
			if ((p->t[i].coef > 0) != (sign > 0))
				continue;
			print_term(&p->t[i], first, names, out);
			first = false;
		}
	}
}
