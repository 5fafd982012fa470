#include "core/judge/line.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

struct reader {
	const char *p, *end;
	struct err *err;
};

static int bad(struct reader *r, const char *what)
{
	return err_set(r->err, ERR_FORMAT, "bad line: %s", what);
}

static void skip_blank(struct reader *r)
{
	while (r->p < r->end && (*r->p == ' ' || *r->p == '\t' ||
				 *r->p == '\r' || *r->p == '\n'))
		r->p++;
}

static int hex4(struct reader *r, unsigned *out)
{
	unsigned v = 0;
	int i;

	if (r->end - r->p < 4)
		return bad(r, "cut escape");
	for (i = 0; i < 4; i++) {
		char c = *r->p++;

		v <<= 4;
		if (c >= '0' && c <= '9')
			v |= (unsigned)(c - '0');
		else if (c >= 'a' && c <= 'f')
			v |= (unsigned)(c - 'a' + 10);
		else if (c >= 'A' && c <= 'F')
			v |= (unsigned)(c - 'A' + 10);
		else
			return bad(r, "bad escape");
	}
	*out = v;
	return 0;
}

static void put_utf8(struct buf *b, unsigned c)
{
	if (c < 0x80) {
		buf_addch(b, (int)c);
	} else if (c < 0x800) {
		buf_addch(b, (int)(0xc0 | (c >> 6)));
		buf_addch(b, (int)(0x80 | (c & 0x3f)));
	} else if (c < 0x10000) {
		buf_addch(b, (int)(0xe0 | (c >> 12)));
		buf_addch(b, (int)(0x80 | ((c >> 6) & 0x3f)));
		buf_addch(b, (int)(0x80 | (c & 0x3f)));
	} else {
		buf_addch(b, (int)(0xf0 | (c >> 18)));
		buf_addch(b, (int)(0x80 | ((c >> 12) & 0x3f)));
		buf_addch(b, (int)(0x80 | ((c >> 6) & 0x3f)));
		buf_addch(b, (int)(0x80 | (c & 0x3f)));
	}
}

static int read_unicode(struct reader *r, struct buf *out)
{
	unsigned c, low;
	int ret = hex4(r, &c);

	if (ret)
		return ret;
	if (!c)
		return bad(r, "NUL in a string");
	if (c >= 0xdc00 && c < 0xe000)
		return bad(r, "half a surrogate pair");
	if (c >= 0xd800 && c < 0xdc00) {
		if (r->end - r->p < 2 || r->p[0] != '\\' || r->p[1] != 'u')
			return bad(r, "half a surrogate pair");
		r->p += 2;
		ret = hex4(r, &low);
		if (ret)
			return ret;
		if (low < 0xdc00 || low >= 0xe000)
			return bad(r, "half a surrogate pair");
		c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
	}
	put_utf8(out, c);
	return 0;
}

static int read_escape(struct reader *r, struct buf *out)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *at;

	if (r->p >= r->end)
		return bad(r, "cut escape");
	if (*r->p == 'u') {
		r->p++;
		return read_unicode(r, out);
	}
	at = *r->p ? strchr(from, *r->p) : NULL;
	if (!at)
		return bad(r, "bad escape");
	r->p++;
	buf_addch(out, to[at - from]);
	return 0;
}

/* One character of several bytes, of which the first is taken. */
static int read_utf8(struct reader *r, struct buf *out, unsigned char first)
{
	static const unsigned least[] = { 0, 0x80, 0x800, 0x10000 };
	int i, more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
	unsigned c = first & (0x3fu >> more);

	buf_addch(out, first);
	for (i = 0; i < more; i++) {
		if (r->p >= r->end || (*r->p & 0xc0) != 0x80)
			return bad(r, "bad UTF-8");
		c = c << 6 | (*r->p & 0x3fu);
		buf_addch(out, *r->p++);
	}
	if (first < 0xc2 || first > 0xf4 || c < least[more] || c > 0x10ffff ||
	    (c >= 0xd800 && c < 0xe000))
		return bad(r, "bad UTF-8");
	return 0;
}

static int read_string(struct reader *r, char **out)
{
	struct buf b = BUF_INIT;
	int ret = 0;

	if (r->p >= r->end || *r->p != '"')
		return bad(r, "a string is missing");
	r->p++;
	while (!ret && r->p < r->end && *r->p != '"') {
		unsigned char c = (unsigned char)*r->p++;

		if (c == '\\')
			ret = read_escape(r, &b);
		else if (c < 0x20)
			ret = bad(r, "control character in a string");
		else if (c >= 0x80)
			ret = read_utf8(r, &b, c);
		else
			buf_addch(&b, c);
	}
	if (!ret && r->p >= r->end)
		ret = bad(r, "cut string");
	if (ret) {
		buf_release(&b);
		return ret;
	}
	r->p++;
	*out = buf_detach(&b);
	return 0;
}

/* -? (0 | [1-9][0-9]*) (. [0-9]+)? ([eE] [+-]? [0-9]+)? */
static size_t number_length(const char *p, const char *end)
{
	const char *s = p, *first;

	if (s < end && *s == '-')
		s++;
	first = s;
	while (s < end && *s >= '0' && *s <= '9')
		s++;
	if (s == first || (*first == '0' && s - first > 1))
		return 0;
	if (s < end && *s == '.') {
		first = ++s;
		while (s < end && *s >= '0' && *s <= '9')
			s++;
		if (s == first)
			return 0;
	}
	if (s < end && (*s == 'e' || *s == 'E')) {
		s++;
		if (s < end && (*s == '+' || *s == '-'))
			s++;
		first = s;
		while (s < end && *s >= '0' && *s <= '9')
			s++;
		if (s == first)
			return 0;
	}
	return (size_t)(s - p);
}

static int read_number(struct reader *r, double *out)
{
	char text[64];
	size_t len = number_length(r->p, r->end);

	if (!len || len >= sizeof(text))
		return bad(r, "bad number");
	memcpy(text, r->p, len);
	text[len] = '\0';
	r->p += len;
	*out = strtod(text, NULL);
	return isfinite(*out) ? 0 : bad(r, "number out of range");
}

static bool read_word(struct reader *r, const char *word)
{
	size_t len = strlen(word);

	if ((size_t)(r->end - r->p) < len || memcmp(r->p, word, len))
		return false;
	r->p += len;
	return true;
}

static int read_value(struct reader *r, struct line_field *f)
{
	if (r->p < r->end && *r->p == '"') {
		f->type = LINE_STRING;
		return read_string(r, &f->text);
	}
	if (read_word(r, "true") || read_word(r, "false")) {
		f->type = LINE_BOOL;
		f->number = r->p[-2] == 'u';
		return 0;
	}
	if (read_word(r, "null")) {
		f->type = LINE_NULL;
		return 0;
	}
	f->type = LINE_NUMBER;
	return read_number(r, &f->number);
}

static const struct line_field *find(const struct line *l, const char *key)
{
	int i;

	for (i = 0; i < l->nr; i++)
		if (!strcmp(l->v[i].key, key))
			return &l->v[i];
	return NULL;
}

static int read_field(struct reader *r, struct line *l)
{
	struct line_field f = { NULL, LINE_NULL, NULL, 0 };
	int ret;

	if (l->nr == LINE_MAX_FIELDS)
		return bad(r, "too many fields");
	skip_blank(r);
	ret = read_string(r, &f.key);
	if (ret)
		return ret;
	if (find(l, f.key)) {
		free(f.key);
		return bad(r, "repeated key");
	}
	l->v[l->nr++] = f;
	skip_blank(r);
	if (r->p >= r->end || *r->p != ':')
		return bad(r, "':' is missing");
	r->p++;
	skip_blank(r);
	return read_value(r, &l->v[l->nr - 1]);
}

static int read_object(struct reader *r, struct line *l)
{
	int ret;

	skip_blank(r);
	if (r->p >= r->end || *r->p != '{')
		return bad(r, "no object");
	r->p++;
	skip_blank(r);
	if (r->p < r->end && *r->p == '}') {
		r->p++;
	} else {
		for (;;) {
			ret = read_field(r, l);
			if (ret)
				return ret;
			skip_blank(r);
			if (r->p >= r->end)
				return bad(r, "cut object");
			if (*r->p == '}')
				break;
			if (*r->p != ',')
				return bad(r, "',' is missing");
			r->p++;
		}
		r->p++;
	}
	skip_blank(r);
	return r->p == r->end ? 0 : bad(r, "text after the object");
}

int line_parse(struct line *l, const char *text, size_t len, struct err *err)
{
	struct reader r = { text, text + len, err };
	int ret;

	l->nr = 0;
	ret = read_object(&r, l);
	if (ret)
		line_release(l);
	return ret;
}

void line_release(struct line *l)
{
	int i;

	for (i = 0; i < l->nr; i++) {
		free(l->v[i].key);
		free(l->v[i].text);
	}
	l->nr = 0;
}

const char *line_str(const struct line *l, const char *key)
{
	const struct line_field *f = find(l, key);

	return f && f->type == LINE_STRING ? f->text : NULL;
}

bool line_num(const struct line *l, const char *key, double *out)
{
	const struct line_field *f = find(l, key);

	if (!f || (f->type != LINE_NUMBER && f->type != LINE_BOOL))
		return false;
	*out = f->number;
	return true;
}

void line_begin(struct buf *b)
{
	buf_addch(b, '{');
}

void line_add_key(struct buf *b, const char *key)
{
	if (b->len && b->ptr[b->len - 1] != '{')
		buf_addch(b, ',');
	buf_add_json(b, key);
	buf_addch(b, ':');
}

void line_add_str(struct buf *b, const char *key, const char *value)
{
	line_add_key(b, key);
	if (value)
		buf_add_json(b, value);
	else
		buf_addstr(b, "null");
}

void line_put_num(struct buf *b, double value)
{
	if (isfinite(value))
		buf_addf(b, "%.9g", value);
	else
		buf_addstr(b, "null");
}

void line_add_num(struct buf *b, const char *key, double value)
{
	line_add_key(b, key);
	line_put_num(b, value);
}

void line_add_int(struct buf *b, const char *key, int64_t value)
{
	line_add_key(b, key);
	buf_addf(b, "%lld", (long long)value);
}

void line_add_bool(struct buf *b, const char *key, bool value)
{
	line_add_key(b, key);
	buf_addstr(b, value ? "true" : "false");
}

void line_end(struct buf *b)
{
	buf_addstr(b, "}\n");
}
