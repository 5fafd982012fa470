/* needs: core/json.c */
#include <stdlib.h>

#include "core/json.h"
#include "core/mem.h"
#include "tests/unit/tap.h"

static struct err err;

static int parse(const char *text)
{
	struct json *j;
	int ret = json_parse(&j, text, strlen(text), &err);

	if (ret < 0 && j)
		return 99;	/* *out must be NULL then */
	json_free(j);
	return ret;
}

static void test_good(void)
{
	static const char *const good[] = {
		"{}", "[]", " [ ] ", "null", "true", "false", "0", "-0", "12",
		"-1.5e+3", "1E9", "0.5", "\"\"", "\"a\\n\\u00e9\\\\\\/\"",
		"\"\\ud83d\\ude00\"", "\"\303\251\"", "[1,2,[3,{}]]",
		"{\"a\":1,\"b\":{\"a\":2}}", "\t\r\n{\"a\" : null}\n",
		"{\"\":1}", "1e400",
	};

	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		is_int(parse(good[i]), 0, "good text %zu is taken", i);
}

static void test_bad(void)
{
	static const char *const bad[] = {
		"", " ", "{", "}", "[", "]", "[1,]", "[,1]", "{\"a\"}",
		"{\"a\":}", "{\"a\":1,}", "{a:1}", "{'a':1}", "01", "+1",
		"1.", ".5", "1e", "--1", "0x10", "nul", "nulll", "True",
		"NaN", "Infinity", "-", "\"", "\"a", "\"\t\"", "\"\\x\"",
		"\"\\u12\"", "\"\\u12g4\"", "\"\\u0000\"", "\"\\ud800\"",
		"\"\\ud800\\u0041\"", "\"\\udc00\"", "\"\377\"", "\"\300\200\"",
		"\"\355\240\200\"", "\"\364\220\200\200\"", "\"\342\202\"",
		"{} {}", "1 2", "[1] x", "// c\n1", "{\"a\":1,\"a\":2}",
		"[{\"b\":{\"x\":1,\"x\":1}}]", "{\"a\":1 \"b\":2}", "[1 2]",
		"\357\273\277{}", "{\"a\":1,\"\\u0061\":2}",
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		is_int(parse(bad[i]), ERR_FORMAT, "bad text %zu is refused", i);
}

static void test_exact_length(void)
{
	struct json *j;

	is_int(json_parse(&j, "[1]garbage", 3, &err), 0,
	       "no byte past the length is read");
	json_free(j);
	is_int(json_parse(&j, "[1\0]", 4, &err), ERR_FORMAT, "a NUL byte");
	is_int(json_parse(&j, "\"a\0b\"", 5, &err), ERR_FORMAT,
	       "a NUL byte in a string");
	is_int(json_parse_object(&j, "[]", 2, &err), ERR_FORMAT,
	       "an array is no object");
	ok(!j, "and leaves no document");
}

static void test_caps(void)
{
	struct buf b = BUF_INIT;

	for (int i = 0; i < JSON_MAX_DEPTH; i++)
		buf_addch(&b, '[');
	for (int i = 0; i < JSON_MAX_DEPTH; i++)
		buf_addch(&b, ']');
	is_int(parse(b.ptr), 0, "the deepest");
	buf_reset(&b);
	for (int i = 0; i < 100000; i++)
		buf_addstr(&b, i % 2 ? "[" : "{\"a\":");
	is_int(parse(b.ptr), ERR_LIMIT, "too deep");
	buf_reset(&b);
	buf_addch(&b, '[');
	for (unsigned i = 0; i < JSON_MAX_VALUES; i++)
		buf_addstr(&b, "0,");
	buf_addstr(&b, "0]");
	is_int(parse(b.ptr), ERR_LIMIT, "too many values");
	buf_reset(&b);
	buf_addch(&b, '{');
	for (unsigned i = 0; i <= JSON_MAX_NAMES; i++)
		buf_addf(&b, "%s\"k%u\":0", i ? "," : "", i);
	buf_addch(&b, '}');
	is_int(parse(b.ptr), ERR_LIMIT, "too many names");
	buf_release(&b);
}

static const char text[] =
	"{\"s\":\"str\",\"n\":1.5,\"i\":-7,\"t\":true,\"z\":null,"
	"\"a\":[1,\"x\",{}],\"o\":{\"k\":\"v\"},\"big\":1e400,\"e\":\"\\u00e9\"}";

static void test_lax(const struct json *j)
{
	const struct json *v = json_first(json_get(j, "a"));

	is_str(json_str(j, "s", "?"), "str", "a string");
	is_str(json_str(j, "n", "?"), "?", "a number is no string");
	is_str(json_str(j, "none", "?"), "?", "no string");
	is_str(json_str(j, "S", "?"), "?", "names have case");
	is_near(json_num(j, "n", 9), 1.5, 0, "a number");
	is_near(json_num(j, "z", 9), 9, 0, "null is no number");
	is_near(json_num(j, "big", 9), 9, 0, "too large a number is none");
	ok(json_bool(j, "t", false) && json_bool(j, "s", true), "booleans");
	is_int(json_count(json_get(j, "a")), 3, "elements");
	is_int(json_count(json_get(j, "s")), 0, "a string has none");
	is_near(json_number(v), 1, 0, "the first");
	v = json_next(v);
	is_str(json_string(v), "x", "the second");
	v = json_next(v);
	is_int(json_type(v), JSON_OBJECT, "the third");
	ok(!json_first(v) && !json_next(v), "the ends");
	is_str(json_key(json_first(json_get(j, "o"))), "k", "a name");
	is_int(json_type(json_get(NULL, "x")), JSON_NONE, "nothing of nothing");
	ok(!json_get(json_get(j, "s"), "x"), "nothing of a string");
	is_str(json_str(j, "e", ""), "\303\251", "an escape");
}

static void test_strict(const struct json *j)
{
	const struct json *a = NULL;
	const char *s = "kept";
	double x = 5;
	int64_t i = 5;
	bool b = false;

	is_int(json_need_str(j, "s", 3, &s, &err), 0, "a string");
	is_int(json_need_str(j, "s", 2, &s, &err), ERR_FORMAT, "too long");
	is_int(json_need_str(j, "no", 9, &s, &err), ERR_NOTFOUND, "absent");
	is_str(err.msg, "'no' is missing", "it says which");
	is_int(json_need_str(j, "z", 9, &s, &err), ERR_FORMAT, "null");
	is_int(json_need_int(j, "i", -7, 7, &i, &err), 0, "a whole number");
	is_int(i, -7, "which");
	is_int(json_need_int(j, "i", -6, 7, &i, &err), ERR_FORMAT, "below");
	is_int(json_need_int(j, "n", 0, 7, &i, &err), ERR_FORMAT, "not whole");
	is_int(json_need_num(j, "big", &x, &err), ERR_FORMAT, "too large");
	is_int(json_need_bool(j, "t", &b, &err), 0, "a boolean");
	is_int(json_need_bool(j, "i", &b, &err), ERR_FORMAT, "no boolean");
	is_int(json_need_array(j, "a", &a, &err), 0, "an array");
	is_int(json_need_array(j, "o", &a, &err), ERR_FORMAT, "no array");
	s = "kept";
	is_int(json_opt_str(j, "no", 9, &s, &err), 0, "absent is allowed");
	is_str(s, "kept", "and keeps the value");
	is_int(json_opt_num(j, "z", &x, &err), 0, "null is allowed");
	is_near(x, 5, 0, "and keeps the value");
	is_int(json_opt_int(j, "s", 0, 9, &i, &err), ERR_FORMAT,
	       "another type is not");
	is_int(json_opt_bool(j, "t", &b, &err), 0, "present");
}

static void test_only(const struct json *j)
{
	static const char *const few[] = { "s", "n", NULL };
	static const char *const all[] = {
		"s", "n", "i", "t", "z", "a", "o", "big", "e", "more", NULL
	};

	is_int(json_only(j, all, &err), 0, "all names are known");
	is_int(json_only(j, few, &err), ERR_FORMAT, "one is not");
}

static void test_write(void)
{
	struct buf b = BUF_INIT;
	struct json *j;

	json_open(&b, NULL, '{');
	json_put_str(&b, "s", "q\"\\\n\t\001\177\303\251\360\237\230\200\377{");
	json_put_str(&b, "none", NULL);
	json_put_num(&b, "third", 1.0 / 3.0, 0);
	json_put_num(&b, "short", 0.1, 0);
	json_put_num(&b, "cut", 1.0 / 3.0, 3);
	json_put_num(&b, "nan", NAN, 0);
	json_put_int(&b, "i", -5);
	json_put_bool(&b, "t", true);
	json_open(&b, "a", '[');
	json_put_int(&b, NULL, 1);
	json_put_str(&b, NULL, "x{");
	json_put_raw(&b, NULL, "{}");
	json_shut(&b, ']');
	json_shut(&b, '}');
	is_str(b.ptr, "{\"s\":\"q\\\"\\\\\\n\\t\\u0001\\u007f\\u00e9"
	       "\\ud83d\\ude00\\ufffd{\",\"none\":null,"
	       "\"third\":0.3333333333333333,\"short\":0.1,\"cut\":0.333,"
	       "\"nan\":null,\"i\":-5,\"t\":true,\"a\":[1,\"x{\",{}]}",
	       "an object is written");
	is_int(json_parse(&j, b.ptr, b.len, &err), 0, "and read");
	ok(json_num(j, "third", 0) >= 1.0 / 3.0 &&
	   json_num(j, "third", 0) <= 1.0 / 3.0, "numbers come back equal");
	json_free(j);
	buf_release(&b);
}

int main(void)
{
	struct json *j;

	test_good();
	test_bad();
	test_exact_length();
	test_caps();
	is_int(json_parse_object(&j, text, strlen(text), &err), 0, "an object");
	test_lax(j);
	test_strict(j);
	test_only(j);
	json_free(j);
	test_write();
	return tap_done();
}
