/* needs: core/expr.c */
/*
 * Three bytes choose the values of the dims, the rest is an expression.  One
 * that parses gives the same value, or fails in the same way, when its own
 * text in parentheses is parsed.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/expr.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const int64_t values[] = {
	0, 1, -1, 2, 3, 7, 64, 1000, INT32_MAX, INT32_MIN, INT64_MAX,
	INT64_MIN, INT64_MAX / 2, -5, 10, 1 << 20,
};

static void again(const struct expr *e, const struct strv *names,
		  const int64_t *dim, int want_ret, int64_t want)
{
	struct buf text = BUF_INIT;
	struct err err = ERR_INIT;
	struct expr twice;
	int64_t got = 0;
	int ret;

	buf_addf(&text, "(%s)", e->text);
	ret = expr_parse(&twice, text.ptr, names, &err);
	if (ret && ret != ERR_LIMIT)	/* nested or long beyond the cap */
		abort();
	if (!ret) {
		ret = expr_eval(&twice, dim, &got, &err);
		if (ret != want_ret || (!ret && got != want))
			abort();
		expr_release(&twice);
	}
	buf_release(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char m[] = "M", n[] = "N", ldw[] = "ldw", *list[] = { m, n, ldw };
	struct strv names = { list, 3, 3 };
	struct err err = ERR_INIT;
	struct expr e;
	int64_t dim[3], v = 0;
	char *text;
	int ret;

	if (size < 3)
		return 0;
	for (int i = 0; i < 3; i++)
		dim[i] = values[data[i] % 16];
	text = strndup((const char *)data + 3, size - 3);
	if (!text)
		abort();
	ret = expr_parse(&e, text, &names, &err);
	if (ret && (!err.msg[0] || e.text))
		abort();
	if (!ret) {
		ret = expr_eval(&e, dim, &v, &err);
		again(&e, &names, dim, ret, v);
		for (int i = 0; i < 3; i++)
			if (expr_uses(&e, i) && !strstr(text, list[i]))
				abort();
		expr_release(&e);
	}
	free(text);
	return 0;
}
