#include "agents/builtin/cfunc.h"

#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

#define MAX_NESTING 200
#define MAX_LOOPS 4096	/* of one function; more are not looked at */

static bool is(const struct cunit *u, uint32_t i, const char *s)
{
	return clex_is(&u->lex, i, s);
}

static bool is_one_of(const struct cunit *u, uint32_t i,
		      const char *const *list)
{
	for (; *list; list++)
		if (is(u, i, *list))
			return true;
	return false;
}

static bool is_word(const struct cunit *u, uint32_t i)
{
	return i < u->lex.nr && u->lex.v[i].kind == CTOK_WORD;
}

/* Words that are followed by "(...)" and are no function. */
static const char *const attribute_like[] = {
	"__attribute__", "__attribute", "__asm__", "asm", "__asm",
	"_Alignas", "__typeof__", "typeof", "__typeof", "__declspec",
	"_Atomic", "_Static_assert", NULL
};

static const char *const keywords[] = {
	"if", "for", "while", "switch", "return", "sizeof", "do", "else",
	"int", "void", "char", "float", "double", "long", "short", "unsigned",
	"signed", "_Bool", "const", "volatile", "restrict", "__restrict",
	"__restrict__", "static", "extern", "inline", "__inline",
	"__inline__", "register", "struct", "union", "enum", "typedef",
	"_Alignof", "__extension__", NULL
};

static const char *const restrict_words[] = {
	"restrict", "__restrict", "__restrict__", NULL
};

static const char *const type_words[] = { "struct", "union", "enum", NULL };

static int pair_brackets(struct cunit *u, struct err *err)
{
	size_t nr = u->lex.nr, depth = 0;
	uint32_t *open;
	int rc = 0;

	u->match = xcalloc(nr + 1, sizeof(*u->match));
	open = xcalloc(nr + 1, sizeof(*open));
	for (uint32_t i = 0; i < nr && !rc; i++) {
		const struct ctok *t = &u->lex.v[i];
		const char *closers = ")]}", *at;
		int c = u->lex.text[t->pos];

		u->match[i] = CNONE;
		if (t->kind != CTOK_PUNCT || t->len != 1)
			continue;
		if (c == '(' || c == '[' || c == '{') {
			open[depth++] = i;
			continue;
		}
		at = strchr(closers, c);
		if (!at)
			continue;
		if (!depth || u->lex.text[u->lex.v[open[depth - 1]].pos] !=
		    "([{"[at - closers]) {
			rc = err_set(err, ERR_FORMAT,
				     "line %u: brackets do not pair up",
				     clex_line_nr(&u->lex, t->pos));
			break;
		}
		u->match[i] = open[--depth];
		u->match[open[depth]] = i;
	}
	if (!rc && depth)
		rc = err_set(err, ERR_FORMAT,
			     "line %u: a bracket is not closed",
			     clex_line_nr(&u->lex,
					  u->lex.v[open[depth - 1]].pos));
	free(open);
	return rc;
}

/* "(*x)" or "(*restrict x)" in a parameter, a pointer to an array. */
static bool inner_pointer(const struct cunit *u, struct cparam *p, uint32_t i)
{
	uint32_t close = u->match[i];

	if (!is(u, i + 1, "*") || !is(u, close + 1, "["))
		return false;
	p->kind = CPARAM_POINTER;
	p->mark = i + 1;
	for (uint32_t j = i + 2; j < close; j++) {
		if (is(u, j, "*"))
			p->mark = j;
		if (is_one_of(u, j, restrict_words))
			p->restricted = true;
		else if (is_word(u, j))
			p->name = j;
	}
	return true;
}

/* False: a parameter of a form that is not read. */
static bool read_param(const struct cunit *u, struct cparam *p)
{
	p->name = p->mark = CNONE;
	for (uint32_t i = p->first; i <= p->last; i++) {
		if (is_one_of(u, i, attribute_like) && is(u, i + 1, "(")) {
			i = u->match[i + 1];
		} else if (is(u, i, "(")) {
			/* Pointers to functions are only passed through. */
			if (!inner_pointer(u, p, i)) {
				p->kind = CPARAM_VALUE;
				p->mark = CNONE;
			}
			return true;
		} else if (is(u, i, "[")) {
			p->kind = CPARAM_ARRAY;
			p->mark = i;
			for (uint32_t j = i; j < u->match[i]; j++)
				if (is_one_of(u, j, restrict_words))
					p->restricted = true;
			return true;
		} else if (is(u, i, "*")) {
			p->kind = CPARAM_POINTER;
			p->mark = i;
			p->restricted = false;
		} else if (is_one_of(u, i, restrict_words)) {
			p->restricted = true;
		} else if (is_word(u, i)) {
			/* The type's words come first, the name last. */
			p->name = i > p->first &&
				  !is_one_of(u, i, keywords) ? i : p->name;
		} else if (!is(u, i, "...")) {
			return false;
		}
	}
	return true;
}

static void read_params(const struct cunit *u, struct cfunc *f)
{
	uint32_t first = f->lparen + 1;
	size_t cap = 0;

	if (clex_line_between(&u->lex, u->lex.v[f->lparen].pos,
			      u->lex.v[f->rparen].pos)) {
		f->problem = "a preprocessor line stands among its parameters";
		return;
	}
	if (first == f->rparen ||
	    (first + 1 == f->rparen && is(u, first, "void")))
		return;
	for (uint32_t i = first; i <= f->rparen; i++) {
		struct cparam p = { .first = first, .last = i - 1 };

		if (i < f->rparen && u->match[i] != CNONE) {
			i = u->match[i];
			continue;
		}
		if (i < f->rparen && !is(u, i, ","))
			continue;
		if (i == first || !read_param(u, &p)) {
			f->problem = "its parameters cannot be read";
			return;
		}
		GROW(f->param, f->nr_params, cap);
		f->param[f->nr_params++] = p;
		first = i + 1;
	}
}

/*
 * What follows the parameter list: the body, or the end of a declaration.
 * Attributes in between are skipped.
 */
static bool read_tail(const struct cunit *u, struct cfunc *f)
{
	uint32_t i = f->rparen + 1;

	while (is_word(u, i)) {
		if (is(u, i + 1, "(") && is_one_of(u, i, attribute_like)) {
			i = u->match[i + 1] + 1;
			continue;
		}
		if (is(u, i + 1, "{") || is(u, i + 1, ";")) {
			i++;	/* a macro that stands for an attribute */
			continue;
		}
		break;
	}
	if (is(u, i, "{")) {
		f->body = i;
		f->end = u->match[i];
		return true;
	}
	if (is(u, i, ";") || is(u, i, ","))
		return true;
	/* int f(a, b) float *a, *b; { ... } */
	while (i < u->lex.nr && !is(u, i, "{") && !is(u, i, "="))
		i++;
	if (!is(u, i, "{") || !is(u, i - 1, ";"))
		return false;
	f->body = i;
	f->end = u->match[i];
	f->problem = "its parameters are declared in the old style";
	return true;
}

/* A function whose declaration begins at first; the name is at i. */
static bool read_func(struct cunit *u, uint32_t first, uint32_t i)
{
	struct cfunc f = { .first = first, .name = i, .lparen = i + 1,
			   .body = CNONE, .end = CNONE };

	f.rparen = u->match[i + 1];
	if (i == first || !read_tail(u, &f))
		return false;
	for (uint32_t j = first; j < i; j++) {
		if (is(u, j, "typedef") || is(u, j, "="))
			return false;
		if (is(u, j, "static"))
			f.is_static = true;
	}
	if (!f.problem)
		read_params(u, &f);
	GROW(u->v, u->nr, u->cap);
	u->v[u->nr++] = f;
	return true;
}

/* One declaration at file scope; the token after it. */
static uint32_t external(struct cunit *u, uint32_t first)
{
	bool found = false, has_type = false;

	for (uint32_t i = first; i < u->lex.nr; i++) {
		if (is_one_of(u, i, attribute_like) && is(u, i + 1, "(")) {
			i = u->match[i + 1];
		} else if (is(u, i, ";")) {
			return i + 1;
		} else if (is(u, i, "{")) {
			/* Those of a type or a value are not the end. */
			bool ends = !has_type && !is(u, i - 1, "=");

			i = u->match[i];
			if (ends)
				return i + 1;
		} else if (is_one_of(u, i, type_words)) {
			has_type = true;
		} else if (is(u, i, "(") || is(u, i, "[")) {
			i = u->match[i];
		} else if (!found && is_word(u, i) && is(u, i + 1, "(") &&
			   !is_one_of(u, i, keywords)) {
			found = read_func(u, first, i);
			if (found && u->v[u->nr - 1].body != CNONE)
				return u->v[u->nr - 1].end + 1;
		}
	}
	return (uint32_t)u->lex.nr;
}

int cunit_parse(struct cunit *u, const char *text, size_t len,
		struct err *err)
{
	int rc;

	*u = (struct cunit)CUNIT_INIT;
	rc = clex_run(&u->lex, text, len, err);
	if (!rc)
		rc = pair_brackets(u, err);
	for (uint32_t i = 0; !rc && i < u->lex.nr;)
		i = external(u, i);
	if (rc)
		cunit_release(u);
	return rc;
}

void cunit_release(struct cunit *u)
{
	for (size_t i = 0; i < u->nr; i++)
		free(u->v[i].param);
	free(u->v);
	free(u->match);
	clex_release(&u->lex);
	*u = (struct cunit)CUNIT_INIT;
}

const struct cfunc *cunit_find(const struct cunit *u, const char *name)
{
	for (size_t i = 0; i < u->nr; i++)
		if (u->v[i].body != CNONE && is(u, u->v[i].name, name))
			return &u->v[i];
	return NULL;
}

static uint32_t statement_end(const struct cunit *u, uint32_t i, int nesting)
{
	if (i >= u->lex.nr || nesting > MAX_NESTING)
		return CNONE;
	if (is(u, i, "{"))
		return u->match[i];
	if ((is(u, i, "for") || is(u, i, "while") || is(u, i, "switch")) &&
	    is(u, i + 1, "("))
		return statement_end(u, u->match[i + 1] + 1, nesting + 1);
	if (is(u, i, "if") && is(u, i + 1, "(")) {
		uint32_t end = statement_end(u, u->match[i + 1] + 1,
					     nesting + 1);

		if (end == CNONE || !is(u, end + 1, "else"))
			return end;
		return statement_end(u, end + 2, nesting + 1);
	}
	if (is(u, i, "do")) {
		uint32_t end = statement_end(u, i + 1, nesting + 1);

		if (end == CNONE || !is(u, end + 1, "while") ||
		    !is(u, end + 2, "("))
			return CNONE;
		return u->match[end + 2] + 1;
	}
	for (; i < u->lex.nr; i++) {
		if (is(u, i, ";"))
			return i;
		if (is(u, i, "}") || is(u, i, ")") || is(u, i, "]"))
			return CNONE;
		if (u->match[i] != CNONE)
			i = u->match[i];
	}
	return CNONE;
}

uint32_t cunit_statement_end(const struct cunit *u, uint32_t i)
{
	return statement_end(u, i, 0);
}

/* "for (int j = 0; ..." and "for (j = 0; ..." set j. */
static uint32_t loop_variable(const struct cunit *u, const struct cloop *l)
{
	for (uint32_t i = l->lparen + 1; i + 1 < l->rparen; i++) {
		if (is(u, i, ";"))
			break;
		if (is_word(u, i) && is(u, i + 1, "="))
			return i;
	}
	return CNONE;
}

void cunit_loops(const struct cunit *u, const struct cfunc *f,
		 struct cloops *out)
{
	if (f->body == CNONE)
		return;
	for (uint32_t i = f->body; i < f->end && out->nr < MAX_LOOPS; i++) {
		struct cloop l = { .kw = i, .lparen = i + 1,
				   .innermost = true };

		if (!is(u, i, "for") || !is(u, i + 1, "("))
			continue;
		l.rparen = u->match[i + 1];
		l.first = l.rparen + 1;
		l.last = cunit_statement_end(u, l.first);
		if (l.last == CNONE)
			continue;
		l.var = loop_variable(u, &l);
		/* Those that are open still are the last ones of a chain. */
		for (size_t k = out->nr; k-- > 0;) {
			if (out->v[k].last < i)
				continue;
			l.depth = out->v[k].depth + 1;
			out->v[k].innermost = false;
			break;
		}
		GROW(out->v, out->nr, out->cap);
		out->v[out->nr++] = l;
	}
}

void cloops_release(struct cloops *l)
{
	free(l->v);
	*l = (struct cloops)CLOOPS_INIT;
}

bool cunit_is_call(const struct cunit *u, uint32_t i)
{
	return is_word(u, i) && is(u, i + 1, "(") &&
	       !is_one_of(u, i, keywords) && !is_one_of(u, i, attribute_like);
}
