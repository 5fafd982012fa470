#include "agents/builtin/maxloop.h"

#include <stdlib.h>
#include <string.h>

#include "agents/builtin/vectext.h"
#include "core/mem.h"

static bool is(const struct cunit *u, uint32_t i, const char *s)
{
	return clex_is(&u->lex, i, s);
}

static bool is_word(const struct cunit *u, uint32_t i)
{
	return i < u->lex.nr && u->lex.v[i].kind == CTOK_WORD;
}

static bool same_range(const struct cunit *u, uint32_t a, uint32_t a_end,
		       uint32_t b, uint32_t b_end)
{
	if (a > a_end || a_end - a != b_end - b)
		return false;
	for (uint32_t i = 0; a + i <= a_end; i++)
		if (!clex_same(&u->lex, a + i, b + i))
			return false;
	return true;
}

/* The first operator of a comparison outside brackets. */
static uint32_t find_compare(const struct cunit *u, uint32_t i, uint32_t end)
{
	for (; i <= end; i++) {
		if (is(u, i, "<") || is(u, i, ">") || is(u, i, "<=") ||
		    is(u, i, ">="))
			return i;
		if (u->match[i] != CNONE && u->match[i] > i)
			i = u->match[i];
	}
	return CNONE;
}

static uint32_t find_at_top(const struct cunit *u, uint32_t i, uint32_t end,
			    const char *what)
{
	for (; i <= end; i++) {
		if (is(u, i, what))
			return i;
		if (u->match[i] != CNONE && u->match[i] > i)
			i = u->match[i];
	}
	return CNONE;
}

/*
 * [i, end] compares m->var with an expression so that the expression wins;
 * sets from, to and is_min.
 */
static bool read_compare(const struct cunit *u, struct maxloop *m,
			 uint32_t i, uint32_t end)
{
	uint32_t op = find_compare(u, i, end);
	bool greater;

	if (op == CNONE || op == i || op == end ||
	    find_compare(u, op + 1, end) != CNONE)
		return false;
	greater = is(u, op, ">") || is(u, op, ">=");
	if (op + 1 == end && clex_same(&u->lex, end, m->var)) {
		m->from = i;
		m->to = op - 1;
		m->is_min = !greater;
	} else if (i + 1 == op && clex_same(&u->lex, i, m->var)) {
		m->from = op + 1;
		m->to = end;
		m->is_min = greater;
	} else {
		return false;
	}
	m->by_compare = true;
	return true;
}

/* if (E > m) m = E; with or without braces */
static bool read_if(const struct cunit *u, struct maxloop *m, uint32_t i)
{
	uint32_t close, at, end;
	bool braces;

	if (!is(u, i, "if") || !is(u, i + 1, "("))
		return false;
	close = u->match[i + 1];
	braces = is(u, close + 1, "{");
	at = close + 1 + braces;
	if (!is_word(u, at) || !is(u, at + 1, "="))
		return false;
	end = cunit_statement_end(u, at);
	if (end == CNONE || (braces && !is(u, end + 1, "}")))
		return false;
	m->first = i;
	m->last = end + braces;
	m->var = at;
	return !is(u, m->last + 1, "else") &&
	       read_compare(u, m, i + 2, close - 1) &&
	       same_range(u, m->from, m->to, at + 2, end - 1);
}

/* m = E > m ? E : m; the condition perhaps in parentheses */
static bool read_choice(const struct cunit *u, struct maxloop *m, uint32_t i)
{
	uint32_t end = m->last, ask, colon, from = i + 2, to;

	ask = find_at_top(u, from, end, "?");
	colon = ask == CNONE ? CNONE : find_at_top(u, ask + 1, end, ":");
	if (colon == CNONE || colon + 2 != end ||
	    !clex_same(&u->lex, colon + 1, m->var))
		return false;
	to = ask - 1;
	if (is(u, from, "(") && u->match[from] == to) {
		from++;
		to--;
	}
	return read_compare(u, m, from, to) &&
	       same_range(u, m->from, m->to, ask + 1, colon - 1);
}

/* m = fmaxf(m, E); */
static bool read_call(const struct cunit *u, struct maxloop *m, uint32_t i)
{
	uint32_t open = i + 3, close, comma;

	if (!is(u, open, "(") || (!is(u, i + 2, "fmaxf") &&
				  !is(u, i + 2, "fminf")))
		return false;
	close = u->match[open];
	comma = find_at_top(u, open + 1, close - 1, ",");
	if (close + 1 != m->last || comma == CNONE ||
	    find_at_top(u, comma + 1, close - 1, ",") != CNONE)
		return false;
	m->is_min = is(u, i + 2, "fminf");
	if (comma == open + 2 && clex_same(&u->lex, open + 1, m->var)) {
		m->from = comma + 1;
		m->to = close - 1;
		return m->from <= m->to;
	}
	if (comma + 2 == close && clex_same(&u->lex, comma + 1, m->var)) {
		m->from = open + 1;
		m->to = comma - 1;
		return m->from <= m->to;
	}
	return false;
}

static bool read_statement(const struct cunit *u, struct maxloop *m,
			   uint32_t i)
{
	if (read_if(u, m, i))
		return true;
	if (!is_word(u, i) || !is(u, i + 1, "="))
		return false;
	m->first = m->var = i;
	m->last = cunit_statement_end(u, i);
	m->by_compare = false;
	if (m->last == CNONE)
		return false;
	return read_call(u, m, i) || read_choice(u, m, i);
}

/* Nothing in the expression that must happen a certain number of times. */
static bool is_pure(const struct site *s, const struct maxloop *m)
{
	const struct cunit *u = &s->unit;

	for (uint32_t i = m->from; i <= m->to; i++) {
		const struct ctok *t = &u->lex.v[i];
		const char *p = s->text.ptr + t->pos;

		if (is(u, i, "++") || is(u, i, "--") || is(u, i, ",") ||
		    (t->kind == CTOK_PUNCT && p[t->len - 1] == '=' &&
		     !is(u, i, "==") && !is(u, i, "!=") && !is(u, i, "<=") &&
		     !is(u, i, ">=")))
			return false;
		if (cunit_is_call(u, i) && !is(u, i, "fabsf") &&
		    !is(u, i, "sqrtf") && vecfunc_by_cname(p, t->len) < 0)
			return false;
	}
	return true;
}

/* The function declares the variable once, as a float, and never takes its
 * address. */
static bool is_local_float(const struct cunit *u, const struct cfunc *f,
			   uint32_t var)
{
	int declared = 0, floats = 0;
	bool in_float = false;

	for (uint32_t i = f->body + 1; i < f->end; i++) {
		if (is(u, i, "float") && !is(u, i - 1, "(") &&
		    !is(u, i + 1, "*"))
			in_float = true;
		if (is(u, i, ";"))
			in_float = false;
		if (is(u, i, "&") && clex_same(&u->lex, i + 1, var) &&
		    !is_word(u, i - 1) && !is(u, i - 1, ")") &&
		    !is(u, i - 1, "]"))
			return false;
		if (!clex_same(&u->lex, i, var))
			continue;
		if (is_word(u, i - 1) && !is(u, i - 1, "return") &&
		    !is(u, i - 1, "else")) {
			declared++;
			floats += is(u, i - 1, "float");
		} else if (in_float && is(u, i - 1, ",") &&
			   (is(u, i + 1, "=") || is(u, i + 1, ",") ||
			    is(u, i + 1, ";"))) {
			declared++;
			floats++;
		} else if (is(u, i - 1, "*") && in_float &&
			   is(u, i - 2, "float")) {
			return false;
		}
	}
	return declared == 1 && floats == 1;
}

/* The variable occurs in its statement alone, and control leaves the loop
 * at its end alone. */
static bool loop_permits(const struct site *s, const struct maxloop *m)
{
	const struct cunit *u = &s->unit;
	uint32_t before = m->loop.kw - 1;

	for (uint32_t i = m->loop.kw; i <= m->loop.last; i++) {
		if (is(u, i, "return") || is(u, i, "goto"))
			return false;
		if (clex_same(&u->lex, i, m->var) &&
		    (i < m->first || i > m->last))
			return false;
	}
	for (uint32_t i = m->from; i <= m->to; i++)
		if (clex_same(&u->lex, i, m->var))
			return false;
	/* A pragma on the loop must stay next to it. */
	return !clex_line_between(&u->lex, u->lex.v[before].pos,
				  u->lex.v[m->loop.kw].pos) &&
	       !clex_line_between(&u->lex, u->lex.v[m->first].pos,
				  u->lex.v[m->last].pos);
}

static size_t in_loop(const struct site *s, const struct cfunc *f,
		      const struct cloop *l, struct maxloop *out, size_t nr)
{
	const struct cunit *u = &s->unit;

	for (uint32_t i = l->first; i <= l->last && nr < MAXLOOP_MAX; i++) {
		struct maxloop m = { .loop = *l };

		if (i != l->first && !is(u, i - 1, "{") &&
		    !is(u, i - 1, "}") && !is(u, i - 1, ";"))
			continue;
		if (!read_statement(u, &m, i) || m.last > l->last ||
		    !is_pure(s, &m) || !is_local_float(u, f, m.var) ||
		    !loop_permits(s, &m))
			continue;
		out[nr++] = m;
		i = m.last;
	}
	return nr;
}

size_t maxloop_find(const struct site *s, struct maxloop *out)
{
	size_t nr = 0;

	if (!s->readable || s->unit.lex.nr > 200000)
		return 0;
	for (size_t i = 0; i < s->unit.nr; i++) {
		const struct cfunc *f = &s->unit.v[i];
		struct cloops loops = CLOOPS_INIT;

		cunit_loops(&s->unit, f, &loops);
		for (size_t k = 0; k < loops.nr; k++)
			if (loops.v[k].innermost)
				nr = in_loop(s, f, &loops.v[k], out, nr);
		cloops_release(&loops);
	}
	return nr;
}

/* The blanks in front of the line of a byte. */
static char *indent_of(const struct site *s, uint32_t pos)
{
	const char *text = s->text.ptr;
	uint32_t start = pos, end;

	while (start > 0 && text[start - 1] != '\n')
		start--;
	for (end = start; text[end] == '\t' || text[end] == ' ';)
		end++;
	return xstrndup(text + start, end - start);
}

static void rewrite(const struct site *s, const struct maxloop *m, size_t nr,
		    struct emit *e)
{
	const struct clex *l = &s->unit.lex;
	const struct ctok *kw = &l->v[m->loop.kw], *end = &l->v[m->loop.last];
	const struct ctok *from = &l->v[m->from], *to = &l->v[m->to];
	const struct ctok *first = &l->v[m->first], *last = &l->v[m->last];
	const char *minus = m->is_min ? "-" : "";
	char *indent = indent_of(s, kw->pos);
	char *var = xstrndup(s->text.ptr + l->v[m->var].pos,
			     l->v[m->var].len);
	char *expr = xstrndup(s->text.ptr + from->pos,
			      to->pos + to->len - from->pos);
	struct buf text = BUF_INIT;

	buf_addf(&text, "{ int mk_max%zu = mk_%s(%s%s);\n%s", nr,
		 m->by_compare ? "first" : "key", minus, var, indent);
	emit_edit(e, kw->pos, 0, text.ptr);
	buf_reset(&text);
	buf_addf(&text, m->is_min ? "mk_max%zu = mk_most(mk_max%zu, "
				    "mk_key(-(%s)));" :
				    "mk_max%zu = mk_most(mk_max%zu, "
				    "mk_key(%s));", nr, nr, expr);
	emit_edit(e, first->pos, last->pos + last->len - first->pos, text.ptr);
	buf_reset(&text);
	buf_addf(&text, "\n%s%s = %smk_unkey(mk_max%zu); }", indent, var,
		 minus, nr);
	emit_edit(e, end->pos + end->len, 0, text.ptr);
	free(indent);
	free(var);
	free(expr);
	buf_release(&text);
}

void maxloop_apply(const struct site *s, struct emit *e)
{
	struct maxloop m[MAXLOOP_MAX];
	size_t nr = maxloop_find(s, m);

	for (size_t i = 0; i < nr; i++) {
		rewrite(s, &m[i], i, e);
		if (m[i].by_compare)
			e->vec |= 1u << VEC_FIRST;
	}
}
