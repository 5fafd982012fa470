/* needs: core/judge/compare.c core/judge/inputs.c core/judge/layout.c
 * core/judge/philox.c core/judge/poison.c core/dtype.c core/expr.c core/ini.c
 * core/kernel.c core/kernel_arg.c core/kernel_flags.c core/kernel_keys.c
 * core/kernel_shape.c core/sha1.c core/source.c */
/*
 * Lines of a kernel's section up to one that is "--"; behind it bytes that
 * choose a placement and are what a worker leaves in its outputs, any bits in
 * any type.  Nothing is read or written past the outputs; a hole, a broken
 * canary and written padding are seen; equal outputs are right, and of one
 * changed element a plain sum says what the verdict is.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/judge/compare.h"
#include "core/judge/layout.h"
#include "core/judge/ctl.h"
#include "core/judge/poison.h"
#include "core/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MAX_BYTES (1u << 16)
#define SALT 0x5eed0123456789abu

struct bytes {
	const uint8_t *p;
	size_t len, at;
};

struct outputs {
	const struct kernel *k;
	struct layout l;
	unsigned char *mem, *before;	/* before: as poisoned */
	int slot;
};

static void must(bool good)
{
	if (!good)
		abort();
}

static uint8_t take(struct bytes *b)
{
	return b->len ? b->p[b->at++ % b->len] : 0;
}

static uint32_t take4(struct bytes *b)
{
	uint32_t v = take(b);

	v = v << 8 | take(b);
	v = v << 8 | take(b);
	return v << 8 | take(b);
}

static bool is_written(const struct kernel *k, int i)
{
	return k->arg[i].kind == ARG_OUT || k->arg[i].kind == ARG_RET ||
	       k->arg[i].kind == ARG_INOUT;
}

/* ---- the layout ---- */

static void check_place(const struct layout *l, int slot, int i)
{
	const struct place *p = layout_at(l, slot, i);
	const struct arg *a = &l->kernel->arg[i];
	size_t total = p->writable ? l->out_size : l->in_size;
	size_t from = p->off - p->slack_before;
	size_t to = p->off + p->bytes + p->slack_after;

	must(p->writable == is_written(l->kernel, i) && p->bytes);
	must(p->slack_before <= p->off && to <= total);
	must(p->bytes == (size_t)l->elems[i] *
			 dtype_size(layout_type(l, i)));
	must(p->addr % dtype_size(layout_type(l, i)) == 0);
	must(!a->rank || !a->align || p->addr % (unsigned)a->align == 0);
	for (int k = 0; k < l->slots * l->kernel->nr_args; k++) {
		const struct place *q = &l->place[k];

		if (q == p || q->writable != p->writable)
			continue;
		must(q->off - q->slack_before >= to ||
		     q->off + q->bytes + q->slack_after <= from);
	}
}

static void check_layout(const struct layout *l)
{
	for (int s = 0; s < l->slots; s++)
		for (int i = 0; i < l->kernel->nr_args; i++)
			check_place(l, s, i);
	must(l->in_size % 4096 == 0 && l->out_size % 4096 == 0);
	for (size_t i = 0; i < l->nr_maps; i++) {
		const struct ctl_map *m = &l->map[i];

		must(m->addr % 4096 == 0 && m->len && m->len % 4096 == 0);
		must(m->off + m->len <= (m->out ? l->out_size : l->in_size));
		for (size_t k = 0; k < i; k++)
			must(l->map[k].addr + l->map[k].len + CTL_GUARD <=
			     m->addr || m->addr + m->len + CTL_GUARD <=
			     l->map[k].addr);
	}
}

/* ---- what a worker leaves ---- */

static bool is_element(const struct outputs *o, int arg, int64_t e)
{
	return !layout_is_padding(&o->l, arg, e);
}

static size_t offset(const struct outputs *o, int arg, int64_t e)
{
	return layout_at(&o->l, o->slot, arg)->off +
	       (size_t)e * dtype_size(layout_type(&o->l, arg));
}

/* Any bits but those that stand there: they are no hole. */
static void write_all(struct outputs *o, struct bytes *b)
{
	for (int i = 0; i < o->k->nr_args; i++) {
		size_t n = dtype_size(layout_type(&o->l, i));

		if (!is_written(o->k, i))
			continue;
		for (int64_t e = 0; e < o->l.elems[i]; e++) {
			unsigned char *p = o->mem + offset(o, i, e);

			if (!is_element(o, i, e))
				continue;
			for (size_t k = 0; k < n; k++)
				p[k] = take(b);
			if (!memcmp(p, o->before + (p - o->mem), n))
				p[0] ^= 1;
		}
	}
}

static bool gone(const struct outputs *o, int *arg, int64_t *elem)
{
	return poison_gone(&o->l, o->mem, o->slot, SALT, arg, elem);
}

static void flip(const struct outputs *o, size_t at, unsigned bit, int want)
{
	int arg;
	int64_t elem;

	o->mem[at] ^= (unsigned char)(1u << (bit & 7));
	must(!gone(o, &arg, &elem) && arg == want && elem == -1);
	o->mem[at] ^= (unsigned char)(1u << (bit & 7));
}

static void break_canaries(const struct outputs *o, int i, uint32_t r)
{
	const struct place *p = layout_at(&o->l, o->slot, i);
	int64_t e = r % o->l.elems[i];

	if (p->slack_before)
		flip(o, p->off - 1 - r % p->slack_before, r >> 16, i);
	if (p->slack_after)
		flip(o, p->off + p->bytes + r % p->slack_after, r >> 16, i);
	if (!is_element(o, i, e) && o->k->arg[i].kind != ARG_INOUT)
		flip(o, offset(o, i, e) + r %
		     dtype_size(layout_type(&o->l, i)), r >> 16, i);
}

/* One element that was never written, of a type that shows it. */
static void leave_hole(const struct outputs *o, int i, uint32_t r)
{
	enum dtype t = layout_type(&o->l, i);
	int64_t e = r % o->l.elems[i], elem;
	size_t n = dtype_size(t), at = offset(o, i, e);
	unsigned char saved[8];
	int arg;

	if (o->k->arg[i].kind == ARG_INOUT || !is_element(o, i, e) ||
	    !(n == 8 || (n > 1 && dtype_is_float(t))))
		return;
	memcpy(saved, o->mem + at, n);
	memcpy(o->mem + at, o->before + at, n);
	must(!gone(o, &arg, &elem) && arg == i && elem == e);
	memcpy(o->mem + at, saved, n);
}

/* ---- comparing ---- */

static bool is_close(const struct compare *c, double got, double want,
		     double max)
{
	double tol = c->atol + c->rtol * fabs(want);

	if (!isfinite(want) && c->finite)
		return true;
	if (isnan(want) || isnan(got))
		return isnan(want) && isnan(got);
	if (isinf(want) || isinf(got))
		return want == got;
	return fabs(got - want) <= (tol > 8 * max ? tol : 8 * max);
}

static void is_clean(struct buf *b)
{
	must(b->len && b->len < 1000);
	for (size_t i = 0; i < b->len; i++)
		must(b->ptr[i] >= 32 && b->ptr[i] < 127);
	buf_reset(b);
}

static void say(const struct outputs *o, int i, const struct mismatch *m)
{
	struct buf text = BUF_INIT;

	must(m->elem >= 0 && m->elem < o->l.elems[i] && m->count > 0);
	must(is_element(o, i, m->elem));
	mismatch_text(&text, m, o->k, i, o->l.shape);
	is_clean(&text);
	element_text(&text, o->k, i, o->l.shape, m->elem);
	is_clean(&text);
	buf_release(&text);
}

/* The error of all elements is under its limit (1), over it (-1), or so near
 * that the order of a sum decides (0). */
static int rms_says(const struct compare *c, const struct want *w,
		    const void *got)
{
	double sum = 0, n = 0, limit;

	for (int64_t e = 0; e < c->rows.elems; e++) {
		double d = dtype_get(c->type, got, (size_t)e) - w->value[e];

		if (e % c->rows.stride >= c->rows.cols)
			continue;
		n++;
		if (isfinite(w->value[e]))
			sum += d * d;
	}
	limit = (c->rms_factor * w->ref_rms +
		 dtype_roundoff(c->type) * w->rms) * (1 + 8 / sqrt(n));
	sum = sqrt(sum / n);
	return sum > limit * 1.0001 ? -1 : sum < limit * 0.9999 ? 1 : 0;
}

static void one_changed(const struct outputs *o, int i,
			const struct compare *c, struct want *w,
			struct bytes *b)
{
	unsigned char *got = o->mem + layout_at(&o->l, o->slot, i)->off;
	int64_t e = take4(b) % o->l.elems[i];
	size_t n = dtype_size(c->type);
	bool right, close;
	struct mismatch m;

	for (size_t k = 0; k < n; k++)
		got[(size_t)e * n + k] = take(b);
	close = dtype_is_float(c->type) ?
		is_close(c, dtype_get(c->type, got, (size_t)e), w->value[e],
			 w->ref_max) :
		!memcmp(got + (size_t)e * n,
			(const char *)w->exact + (size_t)e * n, n);
	close = close || !is_element(o, i, e);
	right = compare_full(c, w, got, &m);
	if (w->ref_rms >= 0 && close) {
		int says = rms_says(c, w, got);

		must(says > 0 ? right : says < 0 ? !right : true);
	} else {
		must(right == close);
	}
	if (right)
		return;
	must(close == (m.rule == RULE_RMS));
	must(m.rule == RULE_RMS || (m.elem == e && m.count == 1));
	say(o, i, &m);
}

/* An error of one element that makes the rms a little less, or more, than is
 * allowed decides, where the tolerance does not. */
static void near_rms(const struct outputs *o, int i, const struct compare *c,
		     struct want *w, struct bytes *b)
{
	double *got = (double *)(void *)(o->mem +
					 layout_at(&o->l, o->slot, i)->off);
	int64_t e = take4(b) % o->l.elems[i];
	double n = (double)(c->rows.elems / c->rows.stride * c->rows.cols +
			    (c->rows.elems % c->rows.stride < c->rows.cols ?
			     c->rows.elems % c->rows.stride : c->rows.cols));
	double v = w->value[e], limit = 1e-3 * fabs(v);
	struct mismatch m;

	/* Squares past a double's range leave the rule without effect. */
	if (c->type != DT_F64 || !is_element(o, i, e) || !(limit > 1e-140) ||
	    !(limit < 1e140))
		return;
	/* Said to be the reference's own, so that this is the limit. */
	w->ref_rms = limit / (c->rms_factor * (1 + 8 / sqrt(n)));
	w->rms = 0;
	w->ref_max = 2 * limit * sqrt(n);
	got[e] = v + limit * sqrt(n) * 0.99;
	must(compare_full(c, w, got, &m));
	got[e] = v - limit * sqrt(n) * 1.01;
	must(!compare_full(c, w, got, &m) && m.rule == RULE_RMS &&
	     m.elem == e);
	got[e] = v;
}

static void compare_one(const struct outputs *o, int i, struct bytes *b)
{
	const struct place *p = layout_at(&o->l, o->slot, i);
	unsigned char *got = o->mem + p->off;
	struct want w = { .ref_rms = -1 };
	struct err err = ERR_INIT;
	void *exact = xmalloc(p->bytes);
	double *value = xcalloc((size_t)o->l.elems[i], sizeof(*value));
	struct mismatch m;
	struct compare c;
	struct rows rows;
	struct dice dice;
	struct seed seed = { { 1, 2, 3, 4 } };

	must(rows_of(o->k, i, o->l.shape, &rows, &err) == 0);
	must(rows.elems == o->l.elems[i] && rows.cols == o->l.row[i] &&
	     rows.stride == o->l.row_ld[i]);
	compare_init(&c, o->k, i, &rows);
	memcpy(exact, got, p->bytes);
	for (int64_t e = 0; e < rows.elems; e++)
		value[e] = dtype_get(c.type, got, (size_t)e);
	w.value = value;
	w.exact = exact;
	must(compare_full(&c, &w, got, &m));
	dice_init_from(&dice, &seed, 0);
	must(compare_sample(&c, &w, got, 9, &dice, &m));
	one_changed(o, i, &c, &w, b);
	if (dtype_is_float(c.type)) {
		/* As if this were the reference's own error. */
		compare_reference(c.type, &rows, got, &w);
		must(w.ref_rms >= 0 && w.rms >= 0 && w.ref_max >= 0);
		if (take(b) & 1)
			w.ref_max = 0;
		memcpy(got, exact, p->bytes);
		one_changed(o, i, &c, &w, b);
		memcpy(got, exact, p->bytes);
		near_rms(o, i, &c, &w, b);
	}
	memcpy(got, exact, p->bytes);
	free(exact);
	free(value);
}

/* ---- all together ---- */

static void try_outputs(struct outputs *o, struct bytes *b)
{
	int64_t elem;
	int arg;

	o->mem = xcalloc(1, o->l.out_size);
	o->before = xmalloc(o->l.out_size);
	o->slot = take(b) % o->l.slots;
	for (int s = 0; s < o->l.slots; s++)
		poison_slot(&o->l, o->mem, s, SALT);
	memcpy(o->before, o->mem, o->l.out_size);
	write_all(o, b);
	must(gone(o, &arg, &elem));
	for (int i = 0; i < o->k->nr_args; i++) {
		if (!is_written(o->k, i))
			continue;
		break_canaries(o, i, take4(b));
		leave_hole(o, i, take4(b));
		if (!o->l.as_double)
			compare_one(o, i, b);
	}
	must(gone(o, &arg, &elem));
	free(o->mem);
	free(o->before);
}

static void try_slack(const struct layout *l)
{
	unsigned char *in = xcalloc(1, l->in_size);

	poison_slack(l, in, SALT);
	for (int i = 0; i < l->kernel->nr_args; i++) {
		const struct place *p = layout_at(l, 0, i);

		for (size_t k = 0; !p->writable && k < p->bytes; k++)
			must(!in[p->off + k]);
	}
	free(in);
}

static void try_kernel(const struct kernel *k, struct bytes *b)
{
	const struct shape *s = &k->time[take(b) % k->nr_time];
	struct placement pl = { take(b) * 16u + take(b) % 4 * 4u,
				take(b) & 1 };
	int slots = 1 + take(b) % 3;
	bool as_double = take(b) % 4 == 3;
	struct outputs o = { .k = k };
	struct err err = ERR_INIT;
	double flops, bytes;

	if (kernel_work(k, s, &flops, &bytes, &err))
		return;
	for (int i = 0; i < k->nr_args; i++) {
		int64_t n;

		if (kernel_arg_elems(k, &k->arg[i], s, &n, &err) ||
		    n > (int64_t)MAX_BYTES / 8)
			return;
	}
	if (layout_make(&o.l, k, s, as_double, slots, pl, &err)) {
		must(err.msg[0] && !o.l.place);
		return;
	}
	check_layout(&o.l);
	if (o.l.out_size <= MAX_BYTES && o.l.in_size <= MAX_BYTES) {
		try_slack(&o.l);
		try_outputs(&o, b);
	}
	layout_release(&o.l);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *end = memmem(data, size, "\n--\n", 4);
	struct err err = ERR_INIT;
	struct kernel_file f;
	struct bytes b;
	size_t len;

	if (!end)
		return 0;
	len = (size_t)(end + 1 - (const char *)data);
	b.p = data + len + 3;
	b.len = size - len - 3;
	b.at = 0;
	if (kernel_section_parse(&f, "k", (const char *)data, len, &err))
		return 0;
	try_kernel(&f.v[0], &b);
	kernel_file_release(&f);
	return 0;
}
