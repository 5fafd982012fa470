#include "core/json.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

/* ---- the grammar ---- */

struct scan {
	const unsigned char *text, *p, *end;
	size_t values;
	struct err *err;
};

static int bad(struct scan *s, const char *what)
{
	return err_set(s->err, ERR_FORMAT, "not JSON: %s at byte %zu", what,
		       (size_t)(s->p - s->text) + 1);
}

static int too_much(struct scan *s, const char *what)
{
	return err_set(s->err, ERR_LIMIT, "JSON with too many %s", what);
}

static void skip_space(struct scan *s)
{
	while (s->p < s->end && (*s->p == ' ' || *s->p == '\t' ||
				 *s->p == '\n' || *s->p == '\r'))
		s->p++;
}

static bool next_is(const struct scan *s, int c)
{
	return s->p < s->end && *s->p == c;
}

/* Decodes one UTF-8 sequence: its length, or 0. */
static size_t utf8(const unsigned char *p, size_t left, unsigned *code)
{
	static const unsigned least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t n = *p < 0x80 ? 1 : *p >= 0xc2 && *p < 0xe0 ? 2 :
		   (*p & 0xf0) == 0xe0 ? 3 : *p >= 0xf0 && *p < 0xf5 ? 4 : 0;

	if (!n || n > left)
		return 0;
	*code = n == 1 ? *p : *p & (0x7fu >> n);
	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		*code = *code << 6 | (p[i] & 0x3fu);
	}
	return *code < least[n] || *code > 0x10ffff ||
	       (*code >= 0xd800 && *code < 0xe000) ? 0 : n;
}

static int hex4(struct scan *s, unsigned *code)
{
	*code = 0;
	for (int i = 0; i < 4; i++, s->p++) {
		static const char digits[] = "0123456789abcdef";
		const char *d;

		if (s->p >= s->end || !*s->p)
			return bad(s, "a bad \\u escape");
		d = strchr(digits, *s->p >= 'A' && *s->p <= 'F' ?
			   *s->p + 32 : *s->p);
		if (!d)
			return bad(s, "a bad \\u escape");
		*code = *code << 4 | (unsigned)(d - digits);
	}
	return 0;
}

static int scan_escape(struct scan *s)
{
	unsigned hi, lo;

	s->p++;
	if (s->p >= s->end)
		return bad(s, "a string that does not end");
	if (*s->p != 'u') {
		if (!*s->p || !strchr("\"\\/bfnrt", *s->p))
			return bad(s, "a bad escape");
		s->p++;
		return 0;
	}
	s->p++;
	if (hex4(s, &hi) < 0)
		return s->err->code;
	if (!hi)
		return bad(s, "U+0000");
	if (hi < 0xd800 || hi > 0xdfff)
		return 0;
	if (hi > 0xdbff || s->end - s->p < 6 || s->p[0] != '\\' ||
	    s->p[1] != 'u')
		return bad(s, "half a surrogate pair");
	s->p += 2;
	if (hex4(s, &lo) < 0)
		return s->err->code;
	return lo < 0xdc00 || lo > 0xdfff ?
		bad(s, "half a surrogate pair") : 0;
}

static int scan_string(struct scan *s)
{
	unsigned code;
	size_t n;

	s->p++;
	while (s->p < s->end && *s->p != '"') {
		if (*s->p == '\\') {
			if (scan_escape(s) < 0)
				return s->err->code;
			continue;
		}
		if (*s->p < 0x20)
			return bad(s, "a control character in a string");
		n = utf8(s->p, (size_t)(s->end - s->p), &code);
		if (!n)
			return bad(s, "bad UTF-8");
		s->p += n;
	}
	if (s->p >= s->end)
		return bad(s, "a string that does not end");
	s->p++;
	return 0;
}

static int scan_digits(struct scan *s)
{
	const unsigned char *start = s->p;

	while (s->p < s->end && *s->p >= '0' && *s->p <= '9')
		s->p++;
	return s->p == start ? bad(s, "a bad number") : 0;
}

static int scan_number(struct scan *s)
{
	if (next_is(s, '-'))
		s->p++;
	if (next_is(s, '0'))
		s->p++;
	else if (scan_digits(s) < 0)
		return s->err->code;
	if (next_is(s, '.')) {
		s->p++;
		if (scan_digits(s) < 0)
			return s->err->code;
	}
	if (next_is(s, 'e') || next_is(s, 'E')) {
		s->p++;
		if (next_is(s, '+') || next_is(s, '-'))
			s->p++;
		if (scan_digits(s) < 0)
			return s->err->code;
	}
	return 0;
}

static int scan_word(struct scan *s, const char *word)
{
	size_t len = strlen(word);

	if ((size_t)(s->end - s->p) < len || memcmp(s->p, word, len))
		return bad(s, "an unknown word");
	s->p += len;
	return 0;
}

static int scan_value(struct scan *s, int depth);

static int scan_member(struct scan *s, int depth)
{
	if (!next_is(s, '"'))
		return bad(s, "a name is missing");
	if (scan_string(s) < 0)
		return s->err->code;
	skip_space(s);
	if (!next_is(s, ':'))
		return bad(s, "':' is missing");
	s->p++;
	return scan_value(s, depth);
}

static int scan_group(struct scan *s, int close, int depth)
{
	size_t nr = 0;

	if (depth >= JSON_MAX_DEPTH)
		return err_set(s->err, ERR_LIMIT, "JSON nested deeper than %d",
			       JSON_MAX_DEPTH);
	s->p++;
	skip_space(s);
	if (next_is(s, close)) {
		s->p++;
		return 0;
	}
	for (;;) {
		skip_space(s);
		if ((close == '}' ? scan_member(s, depth + 1) :
		     scan_value(s, depth + 1)) < 0)
			return s->err->code;
		if (close == '}' && ++nr > JSON_MAX_NAMES)
			return too_much(s, "names");
		skip_space(s);
		if (next_is(s, close))
			break;
		if (!next_is(s, ','))
			return bad(s, "',' is missing");
		s->p++;
	}
	s->p++;
	return 0;
}

static int scan_value(struct scan *s, int depth)
{
	skip_space(s);
	if (++s->values > JSON_MAX_VALUES)
		return too_much(s, "values");
	if (s->p >= s->end)
		return bad(s, "a value is missing");
	switch (*s->p) {
	case '{':
		return scan_group(s, '}', depth);
	case '[':
		return scan_group(s, ']', depth);
	case '"':
		return scan_string(s);
	case 't':
		return scan_word(s, "true");
	case 'f':
		return scan_word(s, "false");
	case 'n':
		return scan_word(s, "null");
	default:
		return scan_number(s);
	}
}

/* ---- reading ---- */

static const cJSON *in(const struct json *v)
{
	return (const cJSON *)(const void *)v;
}

static const struct json *out_of(const cJSON *v)
{
	return (const struct json *)(const void *)v;
}

static int by_key(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int check_twice(const cJSON *v, struct err *err)
{
	size_t nr = 0, cap = 0;
	const char **key = NULL;
	int ret = 0;

	for (const cJSON *c = v->child; c; c = c->next) {
		if (!ret && (cJSON_IsObject(c) || cJSON_IsArray(c)))
			ret = check_twice(c, err);
		if (!cJSON_IsObject(v))
			continue;
		GROW(key, nr, cap);
		key[nr++] = c->string;
	}
	if (nr > 1)
		qsort(key, nr, sizeof(*key), by_key);
	for (size_t i = 1; !ret && i < nr; i++)
		if (!strcmp(key[i], key[i - 1]))
			ret = err_set(err, ERR_FORMAT, "not JSON that can be "
				      "trusted: '%.64s' stands twice in one "
				      "object", key[i]);
	free(key);
	return ret;
}

int json_parse(struct json **out, const char *text, size_t len,
	       struct err *err)
{
	const unsigned char *start = (const unsigned char *)text;
	struct scan s = { start, start, start + len, 0, err };
	cJSON *doc;
	int ret;

	*out = NULL;
	ret = scan_value(&s, 0);
	if (ret < 0)
		return ret;
	skip_space(&s);
	if (s.p < s.end)
		return bad(&s, "text after the value");
	doc = cJSON_ParseWithLength(text, len);
	if (!doc)
		return err_set(err, ERR_FORMAT, "not JSON");
	ret = check_twice(doc, err);
	if (ret < 0) {
		cJSON_Delete(doc);
		return ret;
	}
	*out = (struct json *)(void *)doc;
	return 0;
}

int json_parse_object(struct json **out, const char *text, size_t len,
		      struct err *err)
{
	int ret = json_parse(out, text, len, err);

	if (ret < 0 || json_type(*out) == JSON_OBJECT)
		return ret;
	json_free(*out);
	*out = NULL;
	return err_set(err, ERR_FORMAT, "not a JSON object");
}

void json_free(struct json *doc)
{
	cJSON_Delete((cJSON *)(void *)doc);
}

enum json_type json_type(const struct json *v)
{
	const cJSON *c = in(v);

	if (!c)
		return JSON_NONE;
	return cJSON_IsObject(c) ? JSON_OBJECT : cJSON_IsArray(c) ?
		JSON_ARRAY : cJSON_IsString(c) ? JSON_STRING :
		cJSON_IsNumber(c) ? JSON_NUMBER : cJSON_IsBool(c) ?
		JSON_BOOL : JSON_NULL;
}

const struct json *json_get(const struct json *object, const char *key)
{
	if (json_type(object) != JSON_OBJECT)
		return NULL;
	return out_of(cJSON_GetObjectItemCaseSensitive(in(object), key));
}

size_t json_count(const struct json *v)
{
	size_t nr = 0;

	for (v = json_first(v); v; v = json_next(v))
		nr++;
	return nr;
}

const struct json *json_first(const struct json *v)
{
	enum json_type type = json_type(v);

	return type == JSON_ARRAY || type == JSON_OBJECT ?
		out_of(in(v)->child) : NULL;
}

const struct json *json_next(const struct json *v)
{
	return v ? out_of(in(v)->next) : NULL;
}

const char *json_key(const struct json *v)
{
	return v ? in(v)->string : NULL;
}

const char *json_string(const struct json *v)
{
	return json_type(v) == JSON_STRING ? in(v)->valuestring : NULL;
}

double json_number(const struct json *v)
{
	return json_type(v) == JSON_NUMBER && isfinite(in(v)->valuedouble) ?
		in(v)->valuedouble : NAN;
}

const char *json_str(const struct json *object, const char *key,
		     const char *otherwise)
{
	const char *s = json_string(json_get(object, key));

	return s ? s : otherwise;
}

double json_num(const struct json *object, const char *key, double otherwise)
{
	double x = json_number(json_get(object, key));

	return isnan(x) ? otherwise : x;
}

bool json_bool(const struct json *object, const char *key, bool otherwise)
{
	const struct json *v = json_get(object, key);

	return json_type(v) == JSON_BOOL ? cJSON_IsTrue(in(v)) : otherwise;
}

static const struct json *need(const struct json *object, const char *key,
			       enum json_type type, const char *what,
			       struct err *err)
{
	const struct json *v = json_get(object, key);

	if (!v)
		err_set(err, ERR_NOTFOUND, "'%s' is missing", key);
	else if (json_type(v) != type)
		err_set(err, ERR_FORMAT, "'%s' is not %s", key, what);
	return v && json_type(v) == type ? v : NULL;
}

int json_need_str(const struct json *object, const char *key, size_t max,
		  const char **out, struct err *err)
{
	const struct json *v = need(object, key, JSON_STRING, "a string", err);

	if (!v)
		return err->code;
	if (strlen(in(v)->valuestring) > max)
		return err_set(err, ERR_FORMAT, "'%s' is longer than %zu "
			       "bytes", key, max);
	*out = in(v)->valuestring;
	return 0;
}

int json_need_num(const struct json *object, const char *key, double *out,
		  struct err *err)
{
	const struct json *v = need(object, key, JSON_NUMBER, "a number", err);

	if (!v)
		return err->code;
	if (!isfinite(in(v)->valuedouble))
		return err_set(err, ERR_FORMAT, "'%s' is too large", key);
	*out = in(v)->valuedouble;
	return 0;
}

int json_need_int(const struct json *object, const char *key, int64_t lo,
		  int64_t hi, int64_t *out, struct err *err)
{
	double x = 0, most = 9007199254740992.0;
	int ret = json_need_num(object, key, &x, err);

	if (ret < 0)
		return ret;
	if (x != floor(x) || fabs(x) > most || (int64_t)x < lo ||
	    (int64_t)x > hi)
		return err_set(err, ERR_FORMAT, "'%s' is not a whole number "
			       "from %lld to %lld", key, (long long)lo,
			       (long long)hi);
	*out = (int64_t)x;
	return 0;
}

int json_need_bool(const struct json *object, const char *key, bool *out,
		   struct err *err)
{
	const struct json *v = need(object, key, JSON_BOOL, "true or false",
				    err);

	if (!v)
		return err->code;
	*out = cJSON_IsTrue(in(v));
	return 0;
}

int json_need_array(const struct json *object, const char *key,
		    const struct json **out, struct err *err)
{
	const struct json *v = need(object, key, JSON_ARRAY, "an array", err);

	if (!v)
		return err->code;
	*out = v;
	return 0;
}

static bool absent(const struct json *object, const char *key)
{
	enum json_type type = json_type(json_get(object, key));

	return type == JSON_NONE || type == JSON_NULL;
}

int json_opt_str(const struct json *object, const char *key, size_t max,
		 const char **out, struct err *err)
{
	return absent(object, key) ? 0 :
		json_need_str(object, key, max, out, err);
}

int json_opt_num(const struct json *object, const char *key, double *out,
		 struct err *err)
{
	return absent(object, key) ? 0 : json_need_num(object, key, out, err);
}

int json_opt_int(const struct json *object, const char *key, int64_t lo,
		 int64_t hi, int64_t *out, struct err *err)
{
	return absent(object, key) ? 0 :
		json_need_int(object, key, lo, hi, out, err);
}

int json_opt_bool(const struct json *object, const char *key, bool *out,
		  struct err *err)
{
	return absent(object, key) ? 0 : json_need_bool(object, key, out, err);
}

int json_only(const struct json *object, const char *const *keys,
	      struct err *err)
{
	const struct json *v;

	for (v = json_first(object); v; v = json_next(v)) {
		const char *const *k = keys;

		while (*k && strcmp(*k, json_key(v)))
			k++;
		if (!*k)
			return err_set(err, ERR_FORMAT, "'%.64s' is not known "
				       "here", json_key(v));
	}
	return 0;
}

/* ---- writing ---- */

void json_add_string(struct buf *b, const char *s)
{
	const unsigned char *p = (const unsigned char *)s;
	size_t left = strlen(s), n;
	unsigned code;

	buf_addch(b, '"');
	for (; left; p += n, left -= n) {
		n = utf8(p, left, &code);
		if (!n) {
			n = 1;
			code = 0xfffd;
		}
		if (code == '"' || code == '\\')
			buf_addf(b, "\\%c", (int)code);
		else if (code == '\n')
			buf_addstr(b, "\\n");
		else if (code == '\t')
			buf_addstr(b, "\\t");
		else if (code >= 0x20 && code < 0x7f)
			buf_addch(b, (int)code);
		else if (code < 0x10000)
			buf_addf(b, "\\u%04x", code);
		else
			buf_addf(b, "\\u%04x\\u%04x",
				 0xd800 + ((code - 0x10000) >> 10),
				 0xdc00 + ((code - 0x10000) & 0x3ff));
	}
	buf_addch(b, '"');
}

/* The comma and the name before a value. */
static void lead(struct buf *b, const char *key)
{
	char last = b->len ? b->ptr[b->len - 1] : '{';

	if (last != '{' && last != '[' && last != '\n')
		buf_addch(b, ',');
	if (key) {
		json_add_string(b, key);
		buf_addch(b, ':');
	}
}

void json_open(struct buf *b, const char *key, char bracket)
{
	lead(b, key);
	buf_addch(b, bracket);
}

void json_shut(struct buf *b, char bracket)
{
	buf_addch(b, bracket);
}

void json_put_str(struct buf *b, const char *key, const char *s)
{
	lead(b, key);
	if (s)
		json_add_string(b, s);
	else
		buf_addstr(b, "null");
}

void json_put_num(struct buf *b, const char *key, double x, int digits)
{
	char text[40];

	lead(b, key);
	if (!isfinite(x)) {
		buf_addstr(b, "null");
		return;
	}
	if (digits > 0) {
		snprintf(text, sizeof(text), "%.*g", digits, x);
	} else {
		for (int d = 6; d <= 17; d++) {
			snprintf(text, sizeof(text), "%.*g", d, x);
			if (strtod(text, NULL) == x)
				break;
		}
	}
	buf_addstr(b, text);
}

void json_put_int(struct buf *b, const char *key, int64_t x)
{
	lead(b, key);
	buf_addf(b, "%lld", (long long)x);
}

void json_put_bool(struct buf *b, const char *key, bool x)
{
	lead(b, key);
	buf_addstr(b, x ? "true" : "false");
}

void json_put_raw(struct buf *b, const char *key, const char *text)
{
	lead(b, key);
	buf_addstr(b, text);
}
