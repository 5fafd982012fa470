#include "core/template.h"

#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/tuner.h"

static bool name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_';
}

bool template_name_ok(const char *name, size_t len)
{
	if (!len || len > TEMPLATE_MAX_WORD || (*name >= '0' && *name <= '9'))
		return false;
	for (size_t i = 0; i < len; i++)
		if (!name_char(name[i]))
			return false;
	return true;
}

bool template_value_ok(const char *value, size_t len)
{
	if (!len || len > TEMPLATE_MAX_WORD)
		return false;
	for (size_t i = 0; i < len; i++)
		if (!name_char(value[i]) && value[i] != '.' &&
		    value[i] != '+' && value[i] != '-')
			return false;
	return true;
}

struct locus_values *space_add(struct space *s, const char *name, size_t len)
{
	GROW(s->v, s->nr, s->cap);
	s->v[s->nr] = (struct locus_values){ .name = xstrndup(name, len),
					     .now = -1 };
	return &s->v[s->nr++];
}

static int find_name(const struct space *s, const char *name, size_t len)
{
	for (size_t i = 0; i < s->nr; i++)
		if (strlen(s->v[i].name) == len &&
		    !memcmp(s->v[i].name, name, len))
			return (int)i;
	return -1;
}

/* ---- templates ---- */

/* One `@` at *p; moves *p behind what it begins. */
static int read_at(struct template *t, const char **p, const char *end,
		   const struct space *s, const char *where, int line,
		   struct err *err)
{
	const char *name = *p + 1, *stop = name;
	size_t len;
	int n;

	while (stop < end && name_char(*stop))
		stop++;
	len = (size_t)(stop - name);
	if (stop == end || *stop != '@' ||
	    (len && !template_name_ok(name, len)))
		return err_set(err, ERR_FORMAT, "%s:%d: an '@' that begins no "
			       "'@NAME@' (a plain one is '@@')", where, line);
	*p = stop + 1;
	if (!len) {
		buf_addch(&t->text, '@');
		return 0;
	}
	n = find_name(s, name, len);
	if (n < 0)
		return err_set(err, ERR_FORMAT, "%s:%d: '@%.*s@' has no values: "
			       "name them in the space file or with --values",
			       where, line, (int)len, name);
	if (t->nr >= TEMPLATE_MAX_PLACES)
		return err_set(err, ERR_LIMIT, "%s:%d: over %d places for "
			       "values", where, line, TEMPLATE_MAX_PLACES);
	GROW(t->place, t->nr, t->cap);
	t->place[t->nr++] = (struct template_place){ t->text.len, n };
	return 0;
}

static int check_used(const struct template *t, const struct space *s,
		      const char *source, struct err *err)
{
	for (size_t i = 0; i < s->nr; i++) {
		size_t k = 0;

		while (k < t->nr && t->place[k].name != (int)i)
			k++;
		if (k == t->nr)
			return err_set(err, ERR_FORMAT, "'%s' has values, but "
				       "'@%s@' is nowhere in %s", s->v[i].name,
				       s->v[i].name, source);
	}
	return 0;
}

int template_parse(struct template *t, const char *source, const char *text,
		   size_t len, const struct space *s, struct err *err)
{
	const char *p = text, *end = text + len;
	int line = 1;

	if (len > TEMPLATE_MAX_TEXT)
		return err_set(err, ERR_LIMIT, "%s: over %u bytes", source,
			       TEMPLATE_MAX_TEXT);
	if (memchr(text, '\0', len))
		return err_set(err, ERR_FORMAT, "%s: a NUL byte", source);
	while (p < end) {
		size_t plain = 0;

		while (p + plain < end && p[plain] != '@')
			line += p[plain++] == '\n';
		buf_add(&t->text, p, plain);
		p += plain;
		if (p < end && read_at(t, &p, end, s, source, line, err))
			return err->code;
	}
	return check_used(t, s, source, err);
}

int template_fill(const struct template *t, const struct space *s,
		  const int *setting, struct buf *out, struct err *err)
{
	size_t from = 0, begin = out->len;

	for (size_t i = 0; i < t->nr; i++) {
		const struct template_place *p = &t->place[i];
		size_t len;
		const char *value;

		buf_add(out, t->text.ptr + from, p->at - from);
		from = p->at;
		value = tuner_value(&s->v[p->name], setting[p->name], &len);
		buf_add(out, value, len);
	}
	buf_add(out, t->text.ptr + from, t->text.len - from);
	if (out->len - begin > TEMPLATE_MAX_FILLED)
		return err_set(err, ERR_LIMIT, "a filled template of %zu bytes: "
			       "at most %u", out->len - begin,
			       TEMPLATE_MAX_FILLED);
	return 0;
}

void template_release(struct template *t)
{
	buf_release(&t->text);
	free(t->place);
	*t = (struct template)TEMPLATE_INIT;
}

/* ---- space files ---- */

static size_t skip(const char *s, size_t len, size_t i, bool blanks)
{
	while (i < len && (s[i] == ' ' || s[i] == '\t') == blanks)
		i++;
	return i;
}

static int read_values(struct locus_values *l, const char *s, size_t len,
		       struct err *err)
{
	for (size_t i = skip(s, len, 0, true); i < len;) {
		size_t to = skip(s, len, i, false), n = to - i;
		char *word;
		bool twice;

		if (!template_value_ok(s + i, n))
			return err_set(err, ERR_FORMAT, "a value of '%s' is not "
				       "a word of at most %d letters, digits, "
				       "'_', '.', '+' and '-'", l->name,
				       TEMPLATE_MAX_WORD);
		if (l->values.nr >= TUNER_MAX_VALUES)
			return err_set(err, ERR_LIMIT, "'%s' has over %d "
				       "values", l->name, TUNER_MAX_VALUES);
		word = xstrndup(s + i, n);
		twice = strv_has(&l->values, word);
		if (twice)
			err_set(err, ERR_FORMAT, "'%s' has the value '%s' "
				"twice", l->name, word);
		else
			strv_push(&l->values, word);
		free(word);
		if (twice)
			return err->code;
		i = skip(s, len, to, true);
	}
	if (!l->values.nr)
		return err_set(err, ERR_FORMAT, "'%s' has no value", l->name);
	return 0;
}

static int read_line(struct space *s, const char *line, size_t len,
		     struct err *err)
{
	size_t at = skip(line, len, 0, true), to = at, eq;
	struct locus_values *l;

	if (at == len || line[at] == '#')
		return 0;
	while (to < len && name_char(line[to]))
		to++;
	eq = skip(line, len, to, true);
	if (!template_name_ok(line + at, to - at) || eq == len ||
	    line[eq] != '=')
		return err_set(err, ERR_FORMAT, "not 'NAME = value value ...'");
	if (find_name(s, line + at, to - at) >= 0)
		return err_set(err, ERR_FORMAT, "'%.*s' stands there twice",
			       (int)(to - at), line + at);
	if (s->nr >= TUNER_MAX_NAMES)
		return err_set(err, ERR_LIMIT, "over %d names",
			       TUNER_MAX_NAMES);
	l = space_add(s, line + at, to - at);
	l->needed = l->tunable = true;
	return read_values(l, line + eq + 1, len - eq - 1, err);
}

int template_space(struct space *s, const char *source, const char *text,
		   size_t len, struct err *err)
{
	int line = 0;

	if (len > TEMPLATE_MAX_SPACE)
		return err_set(err, ERR_LIMIT, "%s: over %u bytes", source,
			       TEMPLATE_MAX_SPACE);
	for (size_t i = 0; i < len;) {
		const char *nl = memchr(text + i, '\n', len - i);
		size_t n = nl ? (size_t)(nl - text) - i : len - i;

		line++;
		if (read_line(s, text + i, n && text[i + n - 1] == '\r' ?
			      n - 1 : n, err))
			return err_wrap(err, "%s:%d", source, line);
		i += n + 1;
	}
	return 0;
}
