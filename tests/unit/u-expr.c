/* needs: core/expr.c */
#include <stdint.h>
#include <stdlib.h>

#include "core/expr.h"
#include "core/mem.h"
#include "tests/unit/tap.h"

static struct strv names = STRV_INIT;
static const int64_t values[] = { 10, 3, 64, INT64_MAX, INT64_MIN };

static int eval(const char *text, int64_t *out, struct err *err)
{
	struct expr e;
	int ret = expr_parse(&e, text, &names, err);

	if (ret)
		return ret;
	ret = expr_eval(&e, values, out, err);
	expr_release(&e);
	return ret;
}

static void gives(const char *text, int64_t want)
{
	struct err err = ERR_INIT;
	int64_t got = -12345;

	if (!ok(!eval(text, &got, &err), "'%s' has a value", text))
		printf("# %s\n", err.msg);
	is_int(got, want, "it is %lld", (long long)want);
}

static void fails(const char *text, int code, const char *part)
{
	struct err err = ERR_INIT;
	int64_t got;

	is_int(eval(text, &got, &err), code, "'%.40s' fails", text);
	if (!ok(strstr(err.msg, part) != NULL, "and says '%s'", part))
		printf("# %s\n", err.msg);
}

static void good_ones(void)
{
	gives("42", 42);
	gives(" M ", 10);
	gives("2*M*N+1", 61);
	gives("M-N-1", 6);
	gives("100/M/3", 3);
	gives("-M%N", -1);
	gives("-(M-13)", 3);
	gives("- -M", 10);
	gives("M--N", 13);
	gives("min(M,N)*max(M, N+8)", 33);
	gives("max(min(1,2),min(4,3))", 3);
	gives("M%8==0", 0);
	gives("ldw % 8 == 0", 1);
	gives("M>=10", 1);
	gives("M<=9", 0);
	gives("M<N", 0);
	gives("M>N", 1);
	gives("M!=N", 1);
	gives("M>0 && N>0 && ldw>=64", 1);
	gives("M==1||N==1||ldw==64", 1);
	gives("M==1 || N==3 && ldw==0", 0);
	gives("(M==10 || N==0) && ldw", 1);
	gives("(M==10 || N==0) && ldw==0", 0);
	gives("(M==0 && N==0) + 5", 5);
	gives("5 && 7", 1);
	gives("0 || 7", 1);
	gives("(M > 3) + (N > 3)", 1);
	gives("0 && 1/0", 0);
	gives("N == 3 || M % (N-3) == 0", 1);
	gives("big", INT64_MAX);
	gives("-9223372036854775807-1", INT64_MIN);
	gives("(1+2)*(3+4)", 21);
}

static void bad_ones(void)
{
	fails("", ERR_FORMAT, "ends where a number");
	fails("M+", ERR_FORMAT, "ends where a number");
	fails("M N", ERR_FORMAT, "wanted an operator");
	fails("(M", ERR_FORMAT, "')'");
	fails("M)", ERR_FORMAT, "wanted an operator");
	fails("min(M)", ERR_FORMAT, "','");
	fails("min(M,N", ERR_FORMAT, "')'");
	fails("M<N<ldw", ERR_FORMAT, "wanted an operator");
	fails("M&N", ERR_FORMAT, "wanted an operator");
	fails("1.5", ERR_FORMAT, "wanted an operator");
	fails("0x10", ERR_FORMAT, "wanted an operator");
	fails("M[1]", ERR_FORMAT, "wanted an operator");
	fails("!M", ERR_FORMAT, "wanted a number");
	fails("99999999999999999999", ERR_FORMAT, "too large");
	fails("P*2", ERR_NOTFOUND, "'P' is not declared: add 'arg = dim P'");
	fails("MN", ERR_NOTFOUND, "'MN'");
	fails("min", ERR_NOTFOUND, "'min'");
	fails("big+1", ERR_LIMIT, "64 bits");
	fails("small-1", ERR_LIMIT, "64 bits");
	fails("big*2", ERR_LIMIT, "64 bits");
	fails("-small", ERR_LIMIT, "64 bits");
	fails("small/-1", ERR_LIMIT, "64 bits");
	fails("small%-1", ERR_LIMIT, "64 bits");
	fails("M/0", ERR_FORMAT, "divides by zero");
	fails("M%(N-3)", ERR_FORMAT, "divides by zero");
	fails("1 && 1/0", ERR_FORMAT, "divides by zero");
}

static char *repeated(const char *part, int nr, const char *tail)
{
	struct buf b = BUF_INIT;

	while (nr--)
		buf_addstr(&b, part);
	buf_addstr(&b, tail);
	return buf_detach(&b);
}

static void limits(void)
{
	struct { const char *part; int nr; const char *tail; } cases[] = {
		{ "(", 100, "1" }, { "-", 100, "1" }, { "min(1,", 100, "1" },
		{ "1+", 60, "1" }, { "0||", 60, "0" }, { "1*", 2000, "1" },
	};
	struct err err = ERR_INIT;
	int64_t v = 0;
	char *text;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		text = repeated(cases[i].part, cases[i].nr, cases[i].tail);
		is_int(eval(text, &v, &err), ERR_LIMIT, "%d times '%s'",
		       cases[i].nr, cases[i].part);
		free(text);
	}
	text = repeated("1+", 30, "1");
	is_int(eval(text, &v, &err), 0, "31 terms are read");
	is_int(v, 31, "and summed");
	free(text);
	text = repeated("0||", 20, "N==3");
	is_int(eval(text, &v, &err), 0, "21 alternatives are read");
	is_int(v, 1, "and tried");
	free(text);
}

int main(void)
{
	static const char *const list[] = { "M", "N", "ldw", "big", "small" };
	struct err err = ERR_INIT;
	struct expr e;

	for (int i = 0; i < 5; i++)
		strv_push(&names, list[i]);
	good_ones();
	bad_ones();
	limits();
	ok(!expr_parse(&e, "M*ldw", &names, &err), "parsed");
	ok(expr_uses(&e, 0) && !expr_uses(&e, 1) && expr_uses(&e, 2),
	   "which names it uses");
	is_str(e.text, "M*ldw", "it keeps its text");
	expr_release(&e);
	expr_release(&e);
	strv_release(&names);
	return tap_done();
}
