#include "core/ini.h"

#include <string.h>

/* As Git reads them, in any locale. */
static bool is_blank(int c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_letter(int c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_key(int c)
{
	return is_letter(c) || (c >= '0' && c <= '9') || c == '-';
}

static int lower(int c)
{
	return c >= 'A' && c <= 'Z' ? c + 'a' - 'A' : c;
}

void ini_init(struct ini *r, const char *text, size_t len)
{
	memset(r, 0, sizeof(*r));
	r->p = text;
	r->end = text + len;
	r->nul = len ? memchr(text, '\0', len) : NULL;
	r->at = r->line = 1;
	buf_init(&r->section);
	buf_init(&r->sub);
	buf_init(&r->key);
	buf_init(&r->value);
	if (len >= 3 && !memcmp(text, "\xef\xbb\xbf", 3))
		r->p += 3;
}

void ini_release(struct ini *r)
{
	buf_release(&r->section);
	buf_release(&r->sub);
	buf_release(&r->key);
	buf_release(&r->value);
}

/* The next character; CR LF is one newline, and the end reads as one. */
static int next(struct ini *r)
{
	int c;

	if (r->p == r->end)
		return '\n';
	c = (unsigned char)*r->p++;
	if (c == '\r' && r->p < r->end && *r->p == '\n')
		c = (unsigned char)*r->p++;
	if (c == '\n')
		r->at++;
	return c;
}

static int bad(struct ini *r, struct err *err, const char *what)
{
	return err_set(err, ERR_FORMAT, "%s%s", what,
		       r->p == r->end ? ", but the file ends" : "");
}

/* Behind the blank after the section's word. */
static int read_sub(struct ini *r, struct err *err)
{
	int c;

	do {
		c = r->p < r->end ? next(r) : '\n';
		if (c == '\n')
			return bad(r, err, "the section's name is to be in "
				   "quotes on the same line");
	} while (is_blank(c));
	if (c != '"')
		return bad(r, err, "the section's name must be in quotes");
	r->has_sub = true;
	for (;;) {
		c = next(r);
		if (c == '"')
			break;
		if (c == '\\')
			c = next(r);
		if (c == '\n')
			return bad(r, err, "the section's name lacks its "
				   "closing quote");
		buf_addch(&r->sub, c);
	}
	if (r->p == r->end || next(r) != ']')
		return bad(r, err, "the section's head lacks its ']'");
	return INI_SECTION;
}

/* Behind the '['. */
static int read_head(struct ini *r, struct err *err)
{
	buf_reset(&r->section);
	buf_reset(&r->sub);
	r->has_sub = false;
	for (;;) {
		int c = r->p < r->end ? next(r) : -1;

		if (c == ']')
			return INI_SECTION;
		if (c == '\n')
			return bad(r, err, "the section's head lacks its ']'");
		if (c >= 0 && is_blank(c))
			return read_sub(r, err);
		if (c < 0 || (!is_key(c) && c != '.'))
			return bad(r, err, "a section's head looks like "
				   "[kernel \"name\"]");
		buf_addch(&r->section, lower(c));
	}
}

/* Behind a backslash in a value: 0, or negative. */
static int read_escape(struct ini *r, struct err *err)
{
	int c = next(r);

	switch (c) {
	case '\n':
		return 0;	/* the value goes on in the next line */
	case 't':
		c = '\t';
		break;
	case 'b':
		c = '\b';
		break;
	case 'n':
		c = '\n';
		break;
	case '\\':
	case '"':
		break;
	default:
		return bad(r, err, "a backslash in a value stands before "
			   "'\"', '\\', n, t, b or the end of the line");
	}
	buf_addch(&r->value, c);
	return 0;
}

/* Behind the '='. */
static int read_value(struct ini *r, struct err *err)
{
	bool quote = false, comment = false;
	size_t spaces = 0;

	for (;;) {
		int c = next(r);

		if (c == '\n' && quote)
			return bad(r, err, "a value lacks its closing quote");
		if (c == '\n')
			return INI_KEY;
		if (comment)
			continue;
		if (is_blank(c) && !quote) {
			spaces += r->value.len > 0;
			continue;
		}
		if (!quote && (c == ';' || c == '#')) {
			comment = true;
			continue;
		}
		for (; spaces; spaces--)
			buf_addch(&r->value, ' ');
		if (c == '"') {
			quote = !quote;
		} else if (c == '\\') {
			int ret = read_escape(r, err);

			if (ret)
				return ret;
		} else {
			buf_addch(&r->value, c);
		}
	}
}

static int read_key(struct ini *r, int c, struct err *err)
{
	buf_reset(&r->key);
	buf_reset(&r->value);
	while (is_key(c)) {
		buf_addch(&r->key, lower(c));
		c = next(r);
	}
	while (c == ' ' || c == '\t')
		c = next(r);
	r->has_value = c != '\n';
	if (!r->has_value)
		return INI_KEY;
	if (c != '=')
		return bad(r, err, "wanted '=' after the key");
	return read_value(r, err);
}

int ini_next(struct ini *r, struct err *err)
{
	bool comment = false;
	int c, ret;

	while (r->p < r->end) {
		r->line = r->at;
		c = next(r);
		if (c == '\n')
			comment = false;
		if (comment || is_blank(c))
			continue;
		if (c == '#' || c == ';') {
			comment = true;
			continue;
		}
		if (c == '[')
			ret = read_head(r, err);
		else if (is_letter(c))
			ret = read_key(r, c, err);
		else
			ret = bad(r, err, "wanted a section, a key or a "
				  "comment");
		if (ret > 0 && r->nul && r->nul < r->p)
			ret = bad(r, err, "a NUL byte");
		return ret;
	}
	return r->nul ? bad(r, err, "a NUL byte") : INI_END;
}
