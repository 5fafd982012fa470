/* Names, types and expressions of the source. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agents/builtin/draft_parts.h"
#include "core/mem.h"

#define MAX_NESTING 60

bool draft_is(const struct draft *d, uint32_t i, const char *s)
{
	return clex_is(&d->u->lex, i, s);
}

bool draft_is_word(const struct draft *d, uint32_t i)
{
	return i < d->u->lex.nr && d->u->lex.v[i].kind == CTOK_WORD;
}

char *draft_spelling(const struct draft *d, uint32_t i)
{
	const struct ctok *t = &d->u->lex.v[i];

	return xstrndup(d->u->lex.text + t->pos, t->len);
}

/* ---- types ---- */

/* The words of a type without qualifiers, joined by blanks. */
void draft_type_words(const struct draft *d, uint32_t first, uint32_t last,
		       bool *is_const, struct buf *out)
{
	static const char *const skip[] = {
		"volatile", "restrict", "__restrict", "__restrict__",
		"register", "extern", "inline", "static"
	};

	for (uint32_t i = first; i <= last; i++) {
		bool drop = !draft_is_word(d, i);
		char *word;

		if (draft_is(d, i, "[") || draft_is(d, i, "(") ||
		    draft_is(d, i, "*"))
			break;
		if (draft_is(d, i, "const")) {
			*is_const = true;
			continue;
		}
		for (size_t k = 0; k < ARRAY_SIZE(skip); k++)
			drop = drop || draft_is(d, i, skip[k]);
		if (drop)
			continue;
		word = draft_spelling(d, i);
		buf_addf(out, "%s%s", out->len ? " " : "", word);
		free(word);
	}
}

/* The type of a C name; -1 if there is none. */
int draft_type_of(const char *words)
{
	static const struct {
		const char *words;
		enum dtype type;
	} known[] = {
		{ "float", DT_F32 }, { "double", DT_F64 },
		{ "_Float16", DT_F16 }, { "__fp16", DT_F16 },
		{ "__bf16", DT_BF16 },
		{ "int", DT_I32 }, { "signed int", DT_I32 },
		{ "int32_t", DT_I32 }, { "unsigned", DT_U32 },
		{ "unsigned int", DT_U32 }, { "uint32_t", DT_U32 },
		{ "long", DT_I64 }, { "long int", DT_I64 },
		{ "long long", DT_I64 }, { "int64_t", DT_I64 },
		{ "ptrdiff_t", DT_I64 }, { "ssize_t", DT_I64 },
		{ "unsigned long", DT_U64 }, { "uint64_t", DT_U64 },
		{ "unsigned long long", DT_U64 }, { "size_t", DT_U64 },
		{ "short", DT_I16 }, { "int16_t", DT_I16 },
		{ "unsigned short", DT_U16 }, { "uint16_t", DT_U16 },
		{ "char", DT_I8 }, { "signed char", DT_I8 },
		{ "int8_t", DT_I8 }, { "unsigned char", DT_U8 },
		{ "uint8_t", DT_U8 }, { "_Bool", DT_BOOL }, { "bool", DT_BOOL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (!strcmp(known[i].words, words))
			return (int)known[i].type;
	return -1;
}

uint32_t draft_find(const struct draft *d, uint32_t i, uint32_t end,
			const char *what)
{
	for (; i < end; i++) {
		if (draft_is(d, i, what))
			return i;
		if (d->u->match[i] != CNONE && d->u->match[i] > i)
			i = d->u->match[i];
	}
	return CNONE;
}

/* ---- expressions ---- */

struct expr_scan {
	const struct draft *d;
	uint32_t at, end;	/* end is not part of it */
	int nesting;
};

static void parse_sum(struct expr_scan *s, struct poly *p);

/* The value of a macro's name, from the last "#define NAME ..." of it. */
static bool macro_value(const struct draft *d, const char *name, size_t len,
			int nesting, int64_t *value);

struct macro_scan {
	const struct draft *d;
	const char *at, *end;
	int nesting;
};

static void macro_blanks(struct macro_scan *s)
{
	while (s->at < s->end && (*s->at == ' ' || *s->at == '\t'))
		s->at++;
}

static bool macro_char(struct macro_scan *s, char c)
{
	macro_blanks(s);
	if (s->at >= s->end || *s->at != c)
		return false;
	s->at++;
	return true;
}

static bool macro_sum(struct macro_scan *s, int64_t *value);

static bool macro_factor(struct macro_scan *s, int64_t *value)
{
	const char *start;
	char *text, *end;
	bool good;

	if (++s->nesting > MAX_NESTING)
		return false;
	if (macro_char(s, '('))
		return macro_sum(s, value) && macro_char(s, ')');
	macro_blanks(s);
	start = s->at;
	while (s->at < s->end && (isalnum((unsigned char)*s->at) ||
				  *s->at == '_'))
		s->at++;
	if (s->at == start)
		return false;
	if (!isdigit((unsigned char)*start))
		return macro_value(s->d, start, (size_t)(s->at - start),
				   s->nesting, value);
	text = xstrndup(start, (size_t)(s->at - start));
	errno = 0;
	*value = strtoll(text, &end, 0);
	good = !errno && strspn(end, "uUlL") == strlen(end) &&
	       *value < POLY_MAX_COEF;
	free(text);
	return good;
}

static bool macro_product(struct macro_scan *s, int64_t *value)
{
	int64_t more;

	if (!macro_factor(s, value))
		return false;
	while (macro_char(s, '*'))
		if (!macro_factor(s, &more) ||
		    __builtin_mul_overflow(*value, more, value))
			return false;
	return true;
}

static bool macro_sum(struct macro_scan *s, int64_t *value)
{
	int64_t more;

	if (!macro_product(s, value))
		return false;
	for (;;) {
		bool minus = false;

		if (!macro_char(s, '+')) {
			minus = macro_char(s, '-');
			if (!minus)
				return true;
		}
		if (!macro_product(s, &more) ||
		    __builtin_add_overflow(*value, minus ? -more : more, value))
			return false;
	}
}

/* The body of "#define NAME body" on a line, NULL if it is another's. */
static const char *macro_body(const char *line, const char *end,
			      const char *name, size_t len)
{
	const char *p = line + 1;

	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	if (end - p < 8 || memcmp(p, "define", 6))
		return NULL;
	for (p += 6; p < end && (*p == ' ' || *p == '\t');)
		p++;
	if ((size_t)(end - p) <= len || memcmp(p, name, len) ||
	    (p[len] != ' ' && p[len] != '\t'))
		return NULL;
	return p + len;
}

static bool macro_in(const struct draft *d, const struct clex *l,
		     const char *name, size_t len, int nesting,
		     int64_t *value, bool *found)
{
	bool any = false;

	for (size_t k = 0; k < l->nr_all; k++) {
		const char *line = l->text + l->all[k].pos;
		struct macro_scan s = { d, NULL, line + l->all[k].len,
					nesting };

		if (l->all[k].kind != CTOK_LINE)
			continue;
		s.at = macro_body(line, s.end, name, len);
		if (!s.at)
			continue;
		any = true;
		*found = macro_sum(&s, value);
		macro_blanks(&s);
		*found = *found && (s.at == s.end || *s.at == '/' ||
				    *s.at == '\r');
	}
	return any;
}

/* Of the own file, or else of another source. */
static bool macro_value(const struct draft *d, const char *name, size_t len,
			int nesting, int64_t *value)
{
	bool found = false;

	if (macro_in(d, &d->u->lex, name, len, nesting, value, &found))
		return found;
	for (int k = 0; k < d->units->nr; k++)
		if (&d->units->v[k] != d->u &&
		    macro_in(d, &d->units->v[k].lex, name, len, nesting, value,
			     &found))
			return found;
	return false;
}

/* The variable of a loop around token i; false if it is of none. */
static bool resolve_loop(const struct draft *d, uint32_t i, struct poly *p)
{
	for (int k = d->nr_loops - 1; k >= 0; k--) {
		const struct dloop *l = &d->loop[k];

		if (l->u != d->u || l->c.var == CNONE || i <= l->c.lparen ||
		    i > l->c.last || !clex_same(&d->u->lex, l->c.var, i))
			continue;
		if (i > l->valid)
			poly_bad(p);
		else
			poly_sym(p, (uint16_t)(SYM_LOOP + k));
		return true;
	}
	return false;
}

static bool resolve_local(const struct draft *d, uint32_t i, struct poly *p)
{
	for (int k = d->nr_locals - 1; k >= 0; k--) {
		const struct dlocal *l = &d->local[k];

		if (l->name >= i || i > l->end || l->param != DLOCAL_INTEGER ||
		    !clex_same(&d->u->lex, l->name, i))
			continue;
		if (l->value.nr > 1 && !l->value.bad)
			poly_sym(p, (uint16_t)(SYM_LOCAL + k));
		else
			*p = l->value;
		return true;
	}
	return false;
}

static void resolve(const struct draft *d, uint32_t i, struct poly *p)
{
	int k = draft_param_of(d, i);
	int64_t value = 0;

	if (resolve_loop(d, i, p) || resolve_local(d, i, p))
		return;
	if (k >= 0 && d->param[k].is_size && !d->param[k].changed)
		poly_sym(p, (uint16_t)k);
	else if (k < 0 && draft_is_word(d, i) &&
		 macro_value(d, d->u->lex.text + d->u->lex.v[i].pos,
			     d->u->lex.v[i].len, 0, &value) &&
		 value > -POLY_MAX_COEF && value < POLY_MAX_COEF)
		poly_const(p, value);
	else
		poly_bad(p);
}

static void parse_number(struct expr_scan *s, struct poly *p)
{
	char *text = draft_spelling(s->d, s->at), *end;
	long long value;

	errno = 0;
	value = strtoll(text, &end, 0);
	if (errno || end == text || strspn(end, "uUlL") != strlen(end) ||
	    value > POLY_MAX_COEF)
		poly_bad(p);
	else
		poly_const(p, value);
	free(text);
	s->at++;
}

/* "(size_t)" in front of something */
static bool skip_cast(struct expr_scan *s)
{
	static const char *const types[] = {
		"int", "long", "size_t", "ptrdiff_t", "int64_t",
		"ssize_t", "int32_t", "uint32_t", "uint64_t", "unsigned"
	};

	for (size_t k = 0; k < ARRAY_SIZE(types); k++) {
		if (draft_is(s->d, s->at, "(") &&
		    draft_is(s->d, s->at + 1, types[k])) {
			s->at = s->d->u->match[s->at] + 1;
			return true;
		}
	}
	return false;
}

static void parse_factor(struct expr_scan *s, struct poly *p)
{
	const struct cunit *u = s->d->u;

	while (skip_cast(s))
		;
	if (s->at >= s->end || s->nesting > MAX_NESTING) {
		poly_bad(p);
	} else if (draft_is(s->d, s->at, "(")) {
		struct expr_scan in = { s->d, s->at + 1, u->match[s->at],
					s->nesting + 1 };

		parse_sum(&in, p);
		if (in.at != in.end)
			poly_bad(p);
		s->at = u->match[s->at] + 1;
	} else if (u->lex.v[s->at].kind == CTOK_NUMBER) {
		parse_number(s, p);
	} else if (draft_is_word(s->d, s->at) &&
		   !draft_is(s->d, s->at + 1, "(") &&
		   !draft_is(s->d, s->at + 1, "[")) {
		resolve(s->d, s->at, p);
		/* "x[i++]": the value is that of before. */
		s->at += draft_is(s->d, s->at + 1, "++") ? 2 : 1;
	} else {
		poly_bad(p);
	}
}

static void parse_product(struct expr_scan *s, struct poly *p)
{
	parse_factor(s, p);
	while (s->at < s->end && draft_is(s->d, s->at, "*")) {
		struct poly q;

		s->at++;
		parse_factor(s, &q);
		poly_mul(p, &q);
	}
}

static void parse_sum(struct expr_scan *s, struct poly *p)
{
	parse_product(s, p);
	while (s->at < s->end &&
	       (draft_is(s->d, s->at, "+") || draft_is(s->d, s->at, "-"))) {
		bool minus = draft_is(s->d, s->at, "-");
		struct poly q;

		s->at++;
		parse_product(s, &q);
		if (minus)
			poly_sub(p, &q);
		else
			poly_add(p, &q);
	}
}

/* Tokens first to end, end not included. */
void draft_parse(const struct draft *d, uint32_t first, uint32_t end,
		  struct poly *p)
{
	struct expr_scan s = { d, first, end, 0 };

	parse_sum(&s, p);
	if (s.at != end)
		poly_bad(p);
}

