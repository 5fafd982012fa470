#include "agents/builtin/clex.h"

#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/source.h"

struct scan {
	struct clex *l;
	size_t at;
	bool line_start;	/* only blanks and comments so far */
	struct err *err;
};

static bool is_digit(int c)
{
	return c >= '0' && c <= '9';
}

/* Bytes of UTF-8 names and '$' count as letters, as gcc takes them. */
static bool is_letter(int c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       c == '_' || c == '$' || c >= 0x80;
}

static int peek(const struct scan *s, size_t ahead)
{
	size_t i = s->at + ahead;

	return i < s->l->len ? (unsigned char)s->l->text[i] : -1;
}

static int fail(struct scan *s, size_t pos, const char *what)
{
	return err_set(s->err, ERR_FORMAT, "line %u: %s",
		       clex_line_nr(s->l, (uint32_t)pos), what);
}

static void add(struct scan *s, enum ctok_kind kind, size_t pos)
{
	struct clex *l = s->l;
	struct ctok t = { kind, (uint32_t)pos, (uint32_t)(s->at - pos) };

	GROW(l->all, l->nr_all, l->cap_all);
	l->all[l->nr_all++] = t;
	if (kind == CTOK_COMMENT)
		return;
	s->line_start = false;
	if (kind == CTOK_LINE)
		return;
	GROW(l->v, l->nr, l->cap);
	l->v[l->nr++] = t;
}

/* The length of a backslash with a newline at the place, else 0. */
static size_t splice(const struct scan *s)
{
	if (peek(s, 0) != '\\')
		return 0;
	if (peek(s, 1) == '\n')
		return 2;
	return peek(s, 1) == '\r' && peek(s, 2) == '\n' ? 3 : 0;
}

static int block_comment(struct scan *s)
{
	size_t start = s->at;

	for (s->at += 2; s->at + 1 < s->l->len; s->at++) {
		if (peek(s, 0) == '*' && peek(s, 1) == '/') {
			s->at += 2;
			return 0;
		}
	}
	return fail(s, start, "a comment does not end");
}

static void line_comment(struct scan *s)
{
	while (s->at < s->l->len && peek(s, 0) != '\n')
		s->at += splice(s) ? splice(s) : 1;
}

static int quoted(struct scan *s, int quote)
{
	size_t start = s->at++;

	while (s->at < s->l->len && peek(s, 0) != '\n') {
		int c = peek(s, 0);

		if (c == quote) {
			s->at++;
			return 0;
		}
		s->at += splice(s) ? splice(s) : c == '\\' ? 2 : 1;
	}
	return fail(s, start, quote == '"' ? "a string does not end" :
					     "a character does not end");
}

/* A quoted text within a preprocessor line, where it need not end. */
static void loose_quoted(struct scan *s, int quote)
{
	for (s->at++; s->at < s->l->len && peek(s, 0) != '\n';) {
		int c = peek(s, 0);

		s->at += splice(s) ? splice(s) : c == '\\' ? 2 : 1;
		if (c == quote)
			return;
	}
	if (s->at > s->l->len)
		s->at = s->l->len;
}

static int directive(struct scan *s)
{
	size_t start = s->at;

	while (s->at < s->l->len && peek(s, 0) != '\n') {
		int c = peek(s, 0);

		if (c == '/' && peek(s, 1) == '*') {
			int rc = block_comment(s);

			if (rc)
				return rc;
		} else if (c == '/' && peek(s, 1) == '/') {
			line_comment(s);
		} else if (c == '"') {
			loose_quoted(s, c);
		} else {
			s->at += splice(s) ? splice(s) : 1;
		}
	}
	add(s, CTOK_LINE, start);
	return 0;
}

static int word(struct scan *s)
{
	size_t start = s->at;

	while (is_letter(peek(s, 0)) || is_digit(peek(s, 0)))
		s->at++;
	if (splice(s)) {
		int next = peek(s, splice(s));

		if (is_letter(next) || is_digit(next))
			return fail(s, start, "a word goes on in the next line");
	}
	add(s, CTOK_WORD, start);
	return 0;
}

static void number(struct scan *s)
{
	size_t start = s->at;
	int c = peek(s, 0), before;

	do {
		before = c;
		s->at++;
		c = peek(s, 0);
	} while (is_letter(c) || is_digit(c) || c == '.' ||
		 ((c == '+' || c == '-') && before > 0 &&
		  strchr("eEpP", before)));
	add(s, CTOK_NUMBER, start);
}

static void punct(struct scan *s)
{
	static const char *const ops[] = {
		"...", "<<=", ">>=", "->", "++", "--", "<<", ">>", "<=", ">=",
		"==", "!=", "&&", "||", "*=", "/=", "%=", "+=", "-=", "&=",
		"^=", "|=", "##"
	};
	size_t start = s->at, left = s->l->len - s->at, len = 1;

	for (size_t i = 0; i < ARRAY_SIZE(ops); i++) {
		size_t n = strlen(ops[i]);

		if (n <= left && !memcmp(s->l->text + start, ops[i], n)) {
			len = n;
			break;
		}
	}
	s->at += len;
	add(s, CTOK_PUNCT, start);
}

static bool blank(struct scan *s)
{
	int c = peek(s, 0);

	if (c == '\n')
		s->line_start = true;
	if (c != '\n' && c != ' ' && c != '\t' && c != '\r' && c != '\f' &&
	    c != '\v' && !splice(s))
		return false;
	s->at += splice(s) ? splice(s) : 1;
	return true;
}

static int comment(struct scan *s)
{
	size_t start = s->at;

	if (peek(s, 1) == '*') {
		int rc = block_comment(s);

		if (rc)
			return rc;
	} else {
		line_comment(s);
	}
	add(s, CTOK_COMMENT, start);
	return 0;
}

static int one_token(struct scan *s)
{
	size_t start = s->at;
	int c = peek(s, 0), rc;

	if (c == '/' && (peek(s, 1) == '*' || peek(s, 1) == '/'))
		return comment(s);
	if (c == '#' && s->line_start)
		return directive(s);
	if (is_letter(c))
		return word(s);
	if (c == '"' || c == '\'') {
		rc = quoted(s, c);
		if (!rc)
			add(s, c == '"' ? CTOK_STRING : CTOK_CHAR, start);
		return rc;
	}
	if (is_digit(c) || (c == '.' && is_digit(peek(s, 1))))
		number(s);
	else if (c < ' ' || c == 0x7f)
		return fail(s, start, "a control byte");
	else
		punct(s);
	return 0;
}

int clex_run(struct clex *l, const char *text, size_t len, struct err *err)
{
	struct scan s = { l, 0, true, err };
	int rc = 0;

	*l = (struct clex)CLEX_INIT;
	if (len > SOURCE_MAX_FILE)
		return err_set(err, ERR_LIMIT, "the source is over %u bytes",
			       SOURCE_MAX_FILE);
	l->text = text;
	l->len = len;
	if (len >= 3 && !memcmp(text, "\xef\xbb\xbf", 3))
		s.at = 3;
	while (!rc && s.at < len)
		if (!blank(&s))
			rc = one_token(&s);
	if (rc)
		clex_release(l);
	return rc;
}

void clex_release(struct clex *l)
{
	free(l->all);
	free(l->v);
	*l = (struct clex)CLEX_INIT;
}

bool clex_is(const struct clex *l, size_t i, const char *s)
{
	size_t n = strlen(s);

	return i < l->nr && l->v[i].len == n &&
	       !memcmp(l->text + l->v[i].pos, s, n);
}

bool clex_same(const struct clex *l, size_t i, size_t j)
{
	return i < l->nr && j < l->nr && l->v[i].len == l->v[j].len &&
	       !memcmp(l->text + l->v[i].pos, l->text + l->v[j].pos,
		       l->v[i].len);
}

bool clex_line_between(const struct clex *l, uint32_t a, uint32_t b)
{
	size_t lo = 0, hi = l->nr_all;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (l->all[mid].pos <= a)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < l->nr_all && l->all[lo].pos < b; lo++)
		if (l->all[lo].kind == CTOK_LINE)
			return true;
	return false;
}

unsigned clex_line_nr(const struct clex *l, uint32_t pos)
{
	unsigned nr = 1;

	for (size_t i = 0; i < pos && i < l->len; i++)
		nr += l->text[i] == '\n';
	return nr;
}
