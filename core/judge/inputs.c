#include "core/judge/inputs.h"

#include <errno.h>
#include <fcntl.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/mem.h"
#include "core/source.h"

#define RUN 32			/* elements of one scale in REGIME_MIXED */

/* Streams of an argument. */
enum { S_VALUE, S_REGIME, S_ORDER, S_SPECIAL };

struct fill {
	void *data;
	const struct arg *arg;
	const struct shape *shape;
	struct rows rows;
	const struct seed *seed;
	uint32_t stream;	/* of S_VALUE */
	enum regime regime;
};

const char *regime_name(enum regime r)
{
	static const char *const name[REGIME_NR] = {
		"plain", "mixed scales", "ends of the range", "ties"
	};

	return name[r];
}

const char *special_name(enum special s)
{
	static const char *const name[SPECIAL_NR] = {
		"", "NaN", "Inf", "-Inf", "-Inf masks", "denormals", "zeros"
	};

	return name[s];
}

int rows_of(const struct kernel *k, int arg, const struct shape *s,
	    struct rows *out, struct err *err)
{
	const struct arg *a = &k->arg[arg];
	int ret;

	out->elems = out->cols = out->stride = 1;
	ret = kernel_arg_elems(k, a, s, &out->elems, err);
	if (ret || !a->rank)
		return ret;
	ret = expr_eval(&a->extent[a->rank - 1], s->dim, &out->cols, err);
	if (ret)
		return ret;
	out->stride = out->cols;
	if (a->has_ld) {
		ret = expr_eval(&a->ld, s->dim, &out->stride, err);
		if (ret)
			return ret;
	}
	if (out->cols < 1 || out->stride < out->cols)
		return err_set(err, ERR_FORMAT,
			       "argument '%s': rows of %lld elements do not "
			       "fit a distance of %lld", a->name,
			       (long long)out->cols, (long long)out->stride);
	return 0;
}

bool input_is_read(const struct arg *a)
{
	return a->kind != ARG_OUT && a->kind != ARG_RET;
}

/* ---- sources of numbers ---- */

struct words {			/* a stream, word by word */
	const struct seed *seed;
	uint32_t stream, block;
	uint32_t word[4];
	int left;
};

static void words_init(struct words *w, const struct seed *seed,
		       uint32_t stream)
{
	w->seed = seed;
	w->stream = stream;
	w->block = 0;
	w->left = 0;
}

static uint32_t word(struct words *w)
{
	if (!w->left) {
		seed_block(w->seed, w->stream, w->block++, w->word);
		w->left = 4;
	}
	return w->word[4 - w->left--];
}

static double unit(struct words *w, bool wide)
{
	uint64_t bits;

	if (!wide)
		return (double)(word(w) >> 8) * 0x1p-24;
	bits = (uint64_t)word(w) << 32;
	bits |= word(w);
	return (double)(bits >> 11) * 0x1p-53;
}

/* 1 / sqrt(8 (2^32 - 1) / 12), rounded to double. */
#define NORMAL_SCALE 1.8688123650118534e-05

static double standard_normal(struct words *w)
{
	uint32_t sum = 0;
	int i;

	for (i = 0; i < 4; i++) {
		uint32_t v = word(w);

		sum += (v & 0xffff) + (v >> 16);
	}
	return ((double)sum - 262140.0) * NORMAL_SCALE;
}

static void put(const struct fill *f, int64_t i, double v)
{
	if (f->arg->type == DT_F32)
		((float *)f->data)[i] = (float)v;
	else if (f->arg->type == DT_F64)
		((double *)f->data)[i] = v;
	else
		dtype_set(f->arg->type, f->data, (size_t)i, v);
}

/* ---- generators ---- */

static void fill_normal(const struct fill *f)
{
	const struct input_spec *in = &f->arg->input;
	struct words w, r;
	double scale = 1;
	int64_t i;

	words_init(&w, f->seed, f->stream);
	words_init(&r, f->seed, f->stream + S_REGIME);
	for (i = 0; i < f->rows.elems; i++) {
		double z = standard_normal(&w);

		if (f->regime == REGIME_MIXED && i % RUN == 0) {
			uint32_t pick = word(&r) >> 28;

			/* Large runs are rare, so that a tolerance chosen for
			 * plain inputs still fits. */
			scale = pick == 0 ? 4 : pick <= 4 ? 0x1p-8 : 1;
		}
		if (f->regime == REGIME_ENDS)
			z = f->seed->w[0] & 1 ? fabs(z) : -fabs(z);
		if (f->regime == REGIME_TIES)
			z = floor(z);
		put(f, i, in->a + in->b * (z * scale));
	}
}

static double uniform_one(const struct fill *f, struct words *w,
			  struct words *r)
{
	const struct input_spec *in = &f->arg->input;
	double u = unit(w, f->arg->type == DT_F64);
	uint32_t pick;

	if (f->regime == REGIME_TIES)
		u = floor(u * 4) / 3;
	if (f->regime == REGIME_ENDS)
		u = u < 0.5 ? 0 : 1;
	if (f->regime == REGIME_MIXED) {
		pick = word(r);
		if (pick >> 26 == 0)
			u = pick & 1;
	}
	return in->a + (in->b - in->a) * u;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void fill_uniform(const struct fill *f, bool sorted)
{
	struct words w, r;
	double *v = NULL;
	int64_t i;

	words_init(&w, f->seed, f->stream);
	words_init(&r, f->seed, f->stream + S_REGIME);
	if (sorted)
		v = xreallocarray(NULL, (size_t)f->rows.elems, sizeof(*v));
	for (i = 0; i < f->rows.elems; i++) {
		double x = uniform_one(f, &w, &r);

		if (sorted)
			v[i] = x;
		else
			put(f, i, x);
	}
	if (!sorted)
		return;
	qsort(v, (size_t)f->rows.elems, sizeof(*v), ascending);
	for (i = 0; i < f->rows.elems; i++)
		put(f, i, v[i]);
	free(v);
}

static void fill_randint(const struct fill *f)
{
	const struct input_spec *in = &f->arg->input;
	double low = ceil(in->a), high = floor(in->b);
	uint64_t span = high > low ? (uint64_t)(high - low) + 1 : 1;
	struct words w;
	int64_t i;

	words_init(&w, f->seed, f->stream);
	for (i = 0; i < f->rows.elems; i++) {
		uint64_t bits = (uint64_t)word(&w) << 32;

		bits |= word(&w);
		bits %= span;
		if (f->regime == REGIME_ENDS)
			bits = bits & 1 ? span - 1 : 0;
		if (f->regime == REGIME_TIES)
			bits -= bits % (span > 4 ? span / 4 : 1);
		put(f, i, low + (double)bits);
	}
}

static void fill_perm(const struct fill *f)
{
	int64_t n = f->rows.elems, i, *v;
	struct dice d;

	v = xreallocarray(NULL, (size_t)n, sizeof(*v));
	for (i = 0; i < n; i++)
		v[i] = i;
	dice_init_from(&d, f->seed, f->stream);
	for (i = n - 1; i > 0; i--) {
		int64_t j = (int64_t)dice_below(&d, (uint64_t)i + 1);
		int64_t swap = v[i];

		v[i] = v[j];
		v[j] = swap;
	}
	for (i = 0; i < n; i++)
		put(f, i, (double)v[i]);
	free(v);
}

/* cut[0..n]: ascending from 0 to total. */
static void draw_cuts(const struct fill *f, double *cut, int64_t n,
		      int64_t total)
{
	struct dice d;
	int64_t i;

	dice_init_from(&d, f->seed, f->stream);
	cut[0] = 0;
	for (i = 1; i < n; i++)
		cut[i] = (double)dice_below(&d, (uint64_t)total + 1);
	cut[n] = (double)total;
	qsort(cut, (size_t)n + 1, sizeof(*cut), ascending);
}

static int fill_cuts(const struct fill *f, struct err *err)
{
	bool offsets = f->arg->input.kind == INPUT_OFFSETS;
	int64_t parts = f->rows.elems - (offsets ? 1 : 0), total, i;
	double *cut;
	int ret = expr_eval(&f->arg->input.total, f->shape->dim, &total, err);

	if (ret)
		return ret;
	if (total < 0)
		return err_set(err, ERR_FORMAT,
			       "argument '%s': the total is negative",
			       f->arg->name);
	if (parts < 1) {
		put(f, 0, 0);
		return 0;
	}
	cut = xreallocarray(NULL, (size_t)parts + 1, sizeof(*cut));
	draw_cuts(f, cut, parts, total);
	for (i = 0; i < parts; i++)
		put(f, i, offsets ? cut[i] : cut[i + 1] - cut[i]);
	if (offsets)
		put(f, parts, cut[parts]);
	free(cut);
	return 0;
}

static void fill_onehot(const struct fill *f)
{
	struct words w;
	int64_t i, at = 0;

	words_init(&w, f->seed, f->stream);
	for (i = 0; i < f->rows.elems; i++) {
		int64_t col = i % f->rows.stride;

		if (!col)
			at = (int64_t)(word(&w) % (uint64_t)f->rows.cols);
		put(f, i, col == at);
	}
}

static int fill_file(const struct fill *f, const char *aux, struct err *err)
{
	size_t want = (size_t)f->rows.elems * dtype_size(f->arg->type), got;
	struct buf b = BUF_INIT;
	char *path;
	int ret;

	if (!aux || !path_is_safe(f->arg->input.path))
		return err_set(err, ERR_FORMAT, "cannot use the input file '%s'",
			       f->arg->input.path);
	path = xasprintf("%s/%s", aux, f->arg->input.path);
	ret = buf_read_file(&b, path, want > (1u << 30) ? want : 1u << 30, err);
	free(path);
	/* The section's fault, and the name as it stands there. */
	if (ret == ERR_NOTFOUND)
		ret = err_set(err, ERR_FORMAT, "argument '%s': there is no "
			      "input file '%s'", f->arg->name,
			      f->arg->input.path);
	if (!ret && !b.len)
		ret = err_set(err, ERR_FORMAT, "the input file '%s' is empty",
			      f->arg->input.path);
	for (got = 0; !ret && got < want; got += b.len)
		memcpy((char *)f->data + got, b.ptr,
		       want - got < b.len ? want - got : b.len);
	buf_release(&b);
	return ret;
}

static void fill_dim(void *data, const struct kernel *k, const struct arg *a,
		     const struct shape *s)
{
	int64_t v = s->dim[a->dim];
	long as_long = (long)v;
	size_t as_size = (size_t)v;
	int as_int = (int)v;

	switch (k->dim[a->dim].type) {
	case DIM_INT:
		memcpy(data, &as_int, sizeof(as_int));
		break;
	case DIM_LONG:
		memcpy(data, &as_long, sizeof(as_long));
		break;
	case DIM_SIZE:
		memcpy(data, &as_size, sizeof(as_size));
		break;
	}
}

static int fill_array(const struct fill *f, const char *aux, struct err *err)
{
	const struct input_spec *in = &f->arg->input;
	int64_t i;

	switch (in->kind) {
	case INPUT_NORMAL:
		fill_normal(f);
		return 0;
	case INPUT_UNIFORM:
		fill_uniform(f, false);
		return 0;
	case INPUT_SORTED:
		fill_uniform(f, true);
		return 0;
	case INPUT_RANDINT:
		fill_randint(f);
		return 0;
	case INPUT_PERM:
		fill_perm(f);
		return 0;
	case INPUT_SIZES:
	case INPUT_OFFSETS:
		return fill_cuts(f, err);
	case INPUT_ONEHOT:
		fill_onehot(f);
		return 0;
	case INPUT_IOTA:
		for (i = 0; i < f->rows.elems; i++)
			put(f, i, (double)i);
		return 0;
	case INPUT_CONST:
		for (i = 0; i < f->rows.elems; i++)
			put(f, i, in->a);
		return 0;
	case INPUT_FILE:
		return fill_file(f, aux, err);
	}
	return err_set(err, ERR_FORMAT, "unknown kind of input");
}

int input_fill(void *data, const struct kernel *k, int arg,
	       const struct shape *s, const struct seed *seed,
	       enum regime regime, const char *aux, struct err *err)
{
	const struct arg *a = &k->arg[arg];
	struct fill f = { data, a, s, { 0, 0, 0 }, seed, 8 * (uint32_t)arg,
			  regime };
	int ret;

	if (a->kind == ARG_DIM) {
		fill_dim(data, k, a, s);
		return 0;
	}
	ret = rows_of(k, arg, s, &f.rows, err);
	if (ret)
		return ret;
	if (!a->rank && a->has_value) {
		put(&f, 0, a->value);
		return 0;
	}
	return fill_array(&f, aux, err);
}

static double special_value(enum special special, struct dice *d)
{
	switch (special) {
	case SPECIAL_NAN:
		return NAN;
	case SPECIAL_INF:
		return INFINITY;
	case SPECIAL_NINF:
	case SPECIAL_NINF_ROWS:
		return -INFINITY;
	case SPECIAL_DENORMAL:
		return (double)(FLT_MIN / 8) * (double)(1 + dice_below(d, 6));
	default:
		return dice_u32(d) & 1 ? 0.0 : -0.0;
	}
}

/* The first, the last, and some in between. */
static void plant_some(const struct fill *f, enum special special,
		       struct dice *d)
{
	int64_t n = f->rows.elems, nr = 2 + n / 64, i;

	if (nr > 64)
		nr = 64;
	for (i = 0; i < nr; i++) {
		int64_t at = (int64_t)dice_below(d, (uint64_t)n);

		if (i == 0 && dice_u32(d) & 1)
			at = 0;
		if (i == 1 && dice_u32(d) & 1)
			at = n - 1;
		put(f, at, special_value(special, d));
	}
}

static void plant_rows(const struct fill *f, struct dice *d)
{
	int64_t nr = f->rows.elems / f->rows.stride + 1, row, i;

	for (row = 0; row < nr; row++) {
		int64_t first = row * f->rows.stride, from = 0;

		switch (row ? dice_below(d, 4) : 1) {
		case 0:		/* the whole row */
			break;
		case 1:		/* its end, as a causal mask */
			from = (int64_t)dice_below(d, (uint64_t)f->rows.cols);
			from++;
			break;
		default:
			continue;
		}
		for (i = from; i < f->rows.cols && first + i < f->rows.elems;
		     i++)
			put(f, first + i, -INFINITY);
	}
}

int input_plant(void *data, const struct kernel *k, int arg,
		const struct shape *s, const struct seed *seed,
		enum special special, struct err *err)
{
	const struct arg *a = &k->arg[arg];
	struct fill f = { data, a, s, { 0, 0, 0 }, seed, 8 * (uint32_t)arg,
			  REGIME_PLAIN };
	struct dice d;
	int ret = rows_of(k, arg, s, &f.rows, err);

	if (ret)
		return ret;
	dice_init_from(&d, seed, f.stream + S_SPECIAL);
	if (special == SPECIAL_NINF_ROWS)
		plant_rows(&f, &d);
	else if (special != SPECIAL_NONE)
		plant_some(&f, special, &d);
	return 0;
}
