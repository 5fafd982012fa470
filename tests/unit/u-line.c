/* needs: core/judge/line.c */
#include "core/judge/line.h"
#include "tests/unit/tap.h"

static int parse(struct line *l, const char *text)
{
	struct err err = ERR_INIT;

	return line_parse(l, text, strlen(text), &err);
}

static void refuses(const char *text, const char *why)
{
	struct line l;
	int ret = parse(&l, text);

	ok(ret == ERR_FORMAT && l.nr == 0, "refused: %s", why);
	if (!ret)
		line_release(&l);
}

static void good_lines(void)
{
	struct line l;
	double v;

	ok(!parse(&l, "{}"), "an empty object");
	ok(l.nr == 0, "has no field");
	ok(!parse(&l, " { \"op\" : \"open\" , \"id\":7,\"x\":-1.5e-3,"
		   "\"t\":true,\"f\":false,\"n\":null} \r"),
	   "all types and blanks");
	is_str(line_str(&l, "op"), "open", "a string");
	ok(line_num(&l, "id", &v) && v == 7, "an integer");
	ok(line_num(&l, "x", &v) && v == -1.5e-3, "a fraction");
	ok(line_num(&l, "t", &v) && v == 1, "true");
	ok(line_num(&l, "f", &v) && v == 0, "false");
	ok(!line_num(&l, "n", &v) && !line_str(&l, "n"), "null is neither");
	ok(!line_str(&l, "id"), "a number is no string");
	ok(!line_str(&l, "absent"), "absent");
	line_release(&l);
	ok(!parse(&l, "{\"s\":\"a\\n\\t\\\"\\\\\\/\\u00e9\\ud83d\\ude00\"}"),
	   "escapes");
	is_str(line_str(&l, "s"), "a\n\t\"\\/\xc3\xa9\xf0\x9f\x98\x80",
	       "are decoded");
	line_release(&l);
}

static void bad_lines(void)
{
	char many[2048] = "{";
	int i;

	refuses("", "nothing");
	refuses("[1]", "an array");
	refuses("{\"a\":1", "a cut object");
	refuses("{\"a\":1}x", "text after it");
	refuses("{\"a\":1,}", "a comma too many");
	refuses("{\"a\":1 \"b\":2}", "no comma");
	refuses("{\"a\" 1}", "no colon");
	refuses("{a:1}", "a bare key");
	refuses("{\"a\":\"\xff\"}", "a byte of no character");
	refuses("{\"a\":\"\xc3\"}", "half a character");
	refuses("{\"a\":\"\xc0\x80\"}", "a character that is too long");
	refuses("{\"a\":\"\xed\xa0\x80\"}", "a surrogate");
	refuses("{\"\xf4\x90\x80\x80\":1}", "a character past the last");
	refuses("{\"a\":1,\"a\":2}", "a repeated key");
	refuses("{\"a\":{}}", "a nested object");
	refuses("{\"a\":[1]}", "a nested array");
	refuses("{\"a\":01}", "a leading zero");
	refuses("{\"a\":+1}", "a plus sign");
	refuses("{\"a\":1.}", "a bare point");
	refuses("{\"a\":.5}", "no digit in front");
	refuses("{\"a\":1e}", "no exponent");
	refuses("{\"a\":1e999}", "too large a number");
	refuses("{\"a\":NaN}", "NaN");
	refuses("{\"a\":0x10}", "hexadecimal");
	refuses("{\"a\":tru}", "half a word");
	refuses("{\"a\":\"b}", "a cut string");
	refuses("{\"a\":\"\\x\"}", "an unknown escape");
	refuses("{\"a\":\"\\u12\"}", "a cut escape");
	refuses("{\"a\":\"\\u0000\"}", "NUL");
	refuses("{\"a\":\"\\ud83d\"}", "half a pair");
	refuses("{\"a\":\"\\udc00\"}", "the other half");
	refuses("{\"a\":\"\n\"}", "a newline in a string");
	for (i = 0; i <= LINE_MAX_FIELDS; i++)
		snprintf(many + strlen(many), sizeof(many) - strlen(many),
			 "%s\"k%d\":%d", i ? "," : "", i, i);
	strncat(many, "}", sizeof(many) - strlen(many) - 1);
	refuses(many, "too many fields");
}

static void writer(void)
{
	struct buf b = BUF_INIT;
	struct line l;
	double v;

	line_begin(&b);
	line_add_int(&b, "id", 3);
	line_add_str(&b, "s", "q\"\n");
	line_add_str(&b, "none", NULL);
	line_add_num(&b, "pi", 3.14159265358979);
	line_add_num(&b, "nan", NAN);
	line_add_num(&b, "inf", -INFINITY);
	line_add_bool(&b, "yes", true);
	line_end(&b);
	is_str(b.ptr, "{\"id\":3,\"s\":\"q\\\"\\n\",\"none\":null,"
	       "\"pi\":3.14159265,\"nan\":null,\"inf\":null,\"yes\":true}\n",
	       "a line as written");
	ok(!parse(&l, b.ptr), "is read back");
	is_str(line_str(&l, "s"), "q\"\n", "with its string");
	ok(line_num(&l, "yes", &v) && v == 1, "and its truth");
	line_release(&l);
	buf_release(&b);
}

int main(void)
{
	good_lines();
	bad_lines();
	writer();
	return tap_done();
}
