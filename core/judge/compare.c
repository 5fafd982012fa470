#include "core/judge/compare.h"

#include <math.h>
#include <string.h>

#define MAX_FACTOR 8.0
/* An rms of few elements is mostly luck: the limit is 9 times as wide for
 * one, twice for 64, a tenth wider for 6400. */
#define FEW 8.0

void compare_init(struct compare *c, const struct kernel *k, int arg,
		  const struct rows *rows)
{
	c->type = k->arg[arg].type;
	c->rows = *rows;
	c->atol = k->atol;
	c->rtol = k->rtol;
	c->rms_factor = k->math == MATH_STRICT ? 1 : 4;
	c->finite = k->math == MATH_FINITE;
}

static double get(enum dtype t, const void *array, int64_t i)
{
	if (t == DT_F32)
		return (double)((const float *)array)[i];
	if (t == DT_F64)
		return ((const double *)array)[i];
	return dtype_get(t, array, (size_t)i);
}

static bool is_padding(const struct rows *r, int64_t i)
{
	return r->stride != r->cols && i % r->stride >= r->cols;
}

static void note(struct mismatch *m, enum compare_rule rule, int64_t elem,
		 double got, double want, double err, double limit)
{
	m->count++;
	/* A wrong NaN or Inf tells more than the largest error. */
	if (m->rule == RULE_NONFINITE ||
	    (m->rule == rule && !(err > m->err)))
		return;
	m->rule = rule;
	m->elem = elem;
	m->got = got;
	m->want = want;
	m->err = err;
	m->limit = limit;
}

static bool same_special(double a, double b)
{
	return isnan(a) ? isnan(b) : a == b;
}

/* Adds the squared error of element i; notes a broken rule. */
static void float_one(const struct compare *c, const struct want *w,
		      double got, int64_t i, double *sum, struct mismatch *m)
{
	double want = w->value[i], err, tol;

	if (!isfinite(want)) {
		if (!c->finite && !same_special(want, got))
			note(m, RULE_NONFINITE, i, got, want, INFINITY, 0);
		return;
	}
	if (!isfinite(got)) {
		note(m, RULE_NONFINITE, i, got, want, INFINITY, 0);
		return;
	}
	err = fabs(got - want);
	tol = fmax(c->atol + c->rtol * fabs(want), MAX_FACTOR * w->ref_max);
	if (!(err <= tol))
		note(m, RULE_TOLERANCE, i, got, want, err, tol);
	*sum += err * err;
}

static void exact_one(const struct compare *c, const struct want *w,
		      const void *got, int64_t i, struct mismatch *m)
{
	size_t size = dtype_size(c->type), at = (size_t)i * size;

	if (memcmp((const char *)got + at, (const char *)w->exact + at, size))
		note(m, RULE_EXACT, i, get(c->type, got, i),
		     get(c->type, w->exact, i),
		     fabs(get(c->type, got, i) - get(c->type, w->exact, i)),
		     0);
}

/* Runs without branches, so that the compiler can use vectors; false means
 * "look closer", not "wrong". */
static bool quick_f32(const struct compare *c, const struct want *w,
		      const float *got, double *sum)
{
	const double *want = w->value;
	double total = 0, least = MAX_FACTOR * w->ref_max;
	int64_t i, bad = 0;

	for (i = 0; i < c->rows.elems; i++) {
		double err = fabs((double)got[i] - want[i]);
		double tol = c->atol + c->rtol * fabs(want[i]);

		bad += !(err <= (tol > least ? tol : least));
		total += err * err;
	}
	*sum = total;
	return !bad && isfinite(total);
}

static int64_t real_elems(const struct rows *r)
{
	int64_t full = r->elems / r->stride, rest = r->elems % r->stride;

	return full * r->cols + (rest < r->cols ? rest : r->cols);
}

static bool rms_right(const struct compare *c, const struct want *w,
		      double sum, const void *got, struct mismatch *m)
{
	double n = (double)real_elems(&c->rows), rms = sqrt(sum / n);
	double limit = (c->rms_factor * w->ref_rms +
			dtype_roundoff(c->type) * w->rms) *
		       (1 + FEW / sqrt(n));
	double worst = -1;
	int64_t i;

	if (w->ref_rms < 0 || rms <= limit)
		return true;
	m->rule = RULE_RMS;
	m->count = 1;
	for (i = 0; i < c->rows.elems; i++) {
		double err = fabs(get(c->type, got, i) - w->value[i]);

		if (is_padding(&c->rows, i) || !(err > worst))
			continue;
		worst = err;
		m->elem = i;
		m->got = get(c->type, got, i);
		m->want = w->value[i];
	}
	m->err = rms;
	m->limit = limit;
	return false;
}

bool compare_full(const struct compare *c, const struct want *w,
		  const void *got, struct mismatch *m)
{
	double sum = 0;
	int64_t i;

	memset(m, 0, sizeof(*m));
	if (!dtype_is_float(c->type)) {
		for (i = 0; i < c->rows.elems; i++)
			if (!is_padding(&c->rows, i))
				exact_one(c, w, got, i, m);
		return !m->count;
	}
	if (c->type == DT_F32 && c->rows.stride == c->rows.cols &&
	    quick_f32(c, w, got, &sum))
		return rms_right(c, w, sum, got, m);
	sum = 0;
	for (i = 0; i < c->rows.elems; i++)
		if (!is_padding(&c->rows, i))
			float_one(c, w, get(c->type, got, i), i, &sum, m);
	return !m->count && rms_right(c, w, sum, got, m);
}

bool compare_sample(const struct compare *c, const struct want *w,
		    const void *got, int nr, struct dice *d,
		    struct mismatch *m)
{
	double sum = 0;
	int k;

	memset(m, 0, sizeof(*m));
	for (k = 0; k < nr; k++) {
		int64_t i = (int64_t)dice_below(d, (uint64_t)c->rows.elems);

		if (is_padding(&c->rows, i))
			continue;
		if (dtype_is_float(c->type))
			float_one(c, w, get(c->type, got, i), i, &sum, m);
		else
			exact_one(c, w, got, i, m);
	}
	return !m->count;
}

void compare_reference(enum dtype type, const struct rows *rows,
		       const void *got, struct want *w)
{
	double err = 0, size = 0, max = 0;
	int64_t i, n = 0;

	for (i = 0; i < rows->elems; i++) {
		double g = get(type, got, i), e = fabs(g - w->value[i]);

		if (is_padding(rows, i) || !isfinite(w->value[i]) ||
		    !isfinite(g))
			continue;
		err += e * e;
		size += w->value[i] * w->value[i];
		if (e > max)
			max = e;
		n++;
	}
	w->ref_rms = n ? sqrt(err / (double)n) : 0;
	w->rms = n ? sqrt(size / (double)n) : 0;
	w->ref_max = max;
}

void element_text(struct buf *out, const struct kernel *k, int arg,
		  const struct shape *s, int64_t elem)
{
	const struct arg *a = &k->arg[arg];
	int64_t index[KERNEL_MAX_RANK], extent;
	struct err err = ERR_INIT;
	int i;

	buf_addstr(out, a->name ? a->name : "the return value");
	for (i = a->rank - 1; i >= 0; i--) {
		const struct expr *e = &a->extent[i];

		if (i == a->rank - 1 && a->has_ld)
			e = &a->ld;
		if (expr_eval(e, s->dim, &extent, &err) || extent < 1)
			return;
		index[i] = i ? elem % extent : elem;
		elem /= extent;
	}
	for (i = 0; i < a->rank; i++)
		buf_addf(out, "[%lld]", (long long)index[i]);
}

void mismatch_text(struct buf *out, const struct mismatch *m,
		   const struct kernel *k, int arg, const struct shape *s)
{
	if (m->rule == RULE_RMS)
		buf_addf(out, "rms error %.3g is over the limit %.3g that the "
			 "errors of reference and root set; worst: ", m->err,
			 m->limit);
	element_text(out, k, arg, s, m->elem);
	buf_addf(out, " is %.9g, should be %.9g", m->got, m->want);
	if (m->rule == RULE_TOLERANCE)
		buf_addf(out, " (off by %.3g, allowed %.3g)", m->err,
			 m->limit);
	if (m->rule == RULE_NONFINITE)
		buf_addstr(out, " (NaN and Inf must be where the reference "
			   "has them)");
	if (m->rule != RULE_RMS && m->count > 1)
		buf_addf(out, "; %lld elements", (long long)m->count);
}
