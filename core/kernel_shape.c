#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/kernel_parts.h"
#include "core/mem.h"

#define MAX_ELEMS ((int64_t)1 << 33)	/* of one array */

/* "argument 'x'", for messages. */
struct who {
	char s[KERNEL_MAX_NAME + 16];
};

static struct who who(const struct arg *a)
{
	struct who w;

	snprintf(w.s, sizeof(w.s), "argument '%s'", a->name ? a->name : "ret");
	return w;
}

/* Multiplies into *n: 1, or 0 when the array becomes too large. */
static int times(const struct arg *a, int64_t *n, int64_t by, struct err *err)
{
	if (!__builtin_mul_overflow(*n, by, n) && *n <= MAX_ELEMS)
		return 1;
	err_set(err, ERR_LIMIT, "%s would have over %lld elements",
		who(a).s, (long long)MAX_ELEMS);
	return 0;
}

/* Rows (product of all extents but the last) and the last extent: 1 good,
 * 0 not legal (err set), negative on an overflow. */
static int extents(const struct arg *a, const struct shape *s, int64_t *rows,
		   int64_t *last, struct err *err)
{
	*rows = *last = 1;
	for (int i = 0; i < a->rank; i++) {
		int64_t n;
		int ret = expr_eval(&a->extent[i], s->dim, &n, err);

		if (ret)
			return ret;
		if (n < 1) {
			err_set(err, ERR_FORMAT, "extent '%s' of %s would be "
				"%lld", a->extent[i].text, who(a).s,
				(long long)n);
			return 0;
		}
		*last = n;
		if (i + 1 < a->rank && times(a, rows, n, err) == 0)
			return 0;
	}
	return 1;
}

/* As kernel_arg_elems, but 1 good, 0 not legal, negative on an overflow. */
static int elems(const struct arg *a, const struct shape *s, int64_t *out,
		 struct err *err)
{
	int64_t rows, last, ld, n;
	int ret = extents(a, s, &rows, &last, err);

	*out = 1;
	if (ret != 1)
		return ret;
	ld = last;
	if (a->has_ld) {
		ret = expr_eval(&a->ld, s->dim, &ld, err);
		if (ret)
			return ret;
		if (ld < last) {
			err_set(err, ERR_FORMAT, "ld '%s' of %s would be "
				"%lld, less than its last extent %lld",
				a->ld.text, who(a).s, (long long)ld,
				(long long)last);
			return 0;
		}
	}
	n = rows;
	if (!times(a, &n, ld, err))
		return 0;
	*out = n - ld + last;
	return 1;
}

int kernel_arg_elems(const struct kernel *k, const struct arg *a,
		     const struct shape *s, int64_t *out, struct err *err)
{
	int ret = elems(a, s, out, err);

	(void)k;
	return ret == 1 ? 0 : ret < 0 ? ret : (int)err->code;
}

int kernel_work(const struct kernel *k, const struct shape *s,
		double *flops, double *bytes, struct err *err)
{
	int64_t n, rows, last;
	int ret;

	*flops = *bytes = 0;
	if (k->has_flops) {
		ret = expr_eval(&k->flops, s->dim, &n, err);
		if (ret)
			return ret;
		if (n < 0)
			return err_set(err, ERR_FORMAT, "flops '%s' would be "
				       "negative", k->flops.text);
		*flops = (double)n;
	}
	if (k->has_bytes) {
		ret = expr_eval(&k->bytes, s->dim, &n, err);
		if (ret)
			return ret;
		if (n < 0)
			return err_set(err, ERR_FORMAT, "bytes '%s' would be "
				       "negative", k->bytes.text);
		*bytes = (double)n;
		return 0;
	}
	for (int i = 0; i < k->nr_args; i++) {
		if (!k->arg[i].rank)
			continue;
		ret = extents(&k->arg[i], s, &rows, &last, err);
		if (ret != 1)
			return ret < 0 ? ret : (int)err->code;
		*bytes += (double)rows * (double)last *
			  (double)dtype_size(k->arg[i].type);
	}
	return 0;
}

int kernel_shape_legal(const struct kernel *k, const struct shape *s,
		       struct err *err)
{
	int64_t v, bytes = 0;
	int ret;

	for (int i = 0; i < k->nr_dims; i++)
		if (s->dim[i] < 1 || s->dim[i] > INT32_MAX) {
			err_set(err, ERR_FORMAT, "the dim '%s' must be 1 to "
				"%d", k->dim[i].name, INT32_MAX);
			return 0;
		}
	for (int i = 0; i < k->nr_require; i++) {
		ret = expr_eval(&k->require[i], s->dim, &v, err);
		if (ret)
			return ret;
		if (!v) {
			err_set(err, ERR_FORMAT, "it breaks 'require = %s'",
				k->require[i].text);
			return 0;
		}
	}
	for (int i = 0; i < k->nr_args; i++) {
		ret = elems(&k->arg[i], s, &v, err);
		if (ret != 1)
			return ret;
		if (k->arg[i].rank)
			bytes += v * (int64_t)dtype_size(k->arg[i].type);
		if (bytes > KERNEL_MAX_BYTES) {
			err_set(err, ERR_FORMAT, "its arguments take over %lld "
				"MiB", (long long)(KERNEL_MAX_BYTES >> 20));
			return 0;
		}
	}
	return 1;
}

void kernel_shape_text(const struct kernel *k, struct shape *s)
{
	struct buf b = BUF_INIT;

	for (int i = 0; i < k->nr_dims; i++)
		buf_addf(&b, "%s%s=%lld", i ? " " : "", k->dim[i].name,
			 (long long)s->dim[i]);
	free(s->text);
	s->text = buf_detach(&b);
}

/* One word "M=500". */
static int read_dim(const struct kernel *k, struct shape *s, bool *seen,
		    const char *word, struct err *err)
{
	size_t len = strcspn(word, "=");
	int i;

	for (i = 0; i < k->nr_dims; i++)
		if (strlen(k->dim[i].name) == len &&
		    !memcmp(k->dim[i].name, word, len))
			break;
	if (!word[len])
		return err_set(err, ERR_FORMAT, "'%.60s': wanted NAME=NUMBER "
			       "for each dim", word);
	if (i == k->nr_dims)
		return err_set(err, ERR_FORMAT, "there is no dim '%.*s'",
			       (int)(len > 60 ? 60 : len), word);
	if (seen[i])
		return err_set(err, ERR_FORMAT, "the dim '%s' is given twice",
			       k->dim[i].name);
	if (!kernel_integer(word + len + 1, INT32_MAX, &s->dim[i]) ||
	    s->dim[i] < 1)
		return err_set(err, ERR_FORMAT, "'%.60s': wanted a number "
			       "from 1 to %d", word, INT32_MAX);
	seen[i] = true;
	return 0;
}

int kernel_shape_parse(const struct kernel *k, struct shape *s,
		       const char *text, struct err *err)
{
	bool seen[KERNEL_MAX_DIMS] = { false };
	struct strv words = STRV_INIT;
	int ret = 0;

	memset(s, 0, sizeof(*s));
	kernel_words(&words, text);
	for (size_t i = 0; i < words.nr && !ret; i++)
		ret = read_dim(k, s, seen, words.v[i], err);
	strv_release(&words);
	for (int i = 0; i < k->nr_dims && !ret; i++)
		if (!seen[i])
			ret = err_set(err, ERR_FORMAT, "the dim '%s' is "
				      "missing: add '%s=NUMBER'",
				      k->dim[i].name, k->dim[i].name);
	if (ret)
		return ret;
	ret = kernel_shape_legal(k, s, err);
	if (ret != 1)
		return ret < 0 ? ret : (int)err->code;
	kernel_shape_text(k, s);
	return 0;
}

void shape_copy(struct shape *to, const struct shape *from)
{
	*to = *from;
	to->text = xstrdup(from->text);
}

void shape_release(struct shape *s)
{
	free(s->text);
	memset(s, 0, sizeof(*s));
}
