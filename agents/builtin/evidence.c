/* What the loops of the entry do, as far as tokens tell. */
#include <stdio.h>
#include <string.h>

#include "agents/builtin/strategy.h"
#include "agents/builtin/vectext.h"

static bool is(const struct site *s, uint32_t i, const char *text)
{
	return clex_is(&s->unit.lex, i, text);
}

static void copy_token(const struct site *s, uint32_t i, char *to)
{
	const struct ctok *t = &s->unit.lex.v[i];

	snprintf(to, 64, "%.*s", t->len > 40 ? 40 : (int)t->len,
		 s->text.ptr + t->pos);
}

/* "sum += ..." with a plain name. */
static void look_for_sum(const struct site *s, const struct cloop *l,
			 struct evidence *e)
{
	for (uint32_t i = l->first; i + 1 <= l->last; i++) {
		if (s->unit.lex.v[i].kind != CTOK_WORD ||
		    !is(s, i + 1, "+=") || is(s, i - 1, ".") ||
		    is(s, i - 1, "->"))
			continue;
		if (!e->reductions++)
			copy_token(s, i, e->sum);
		return;
	}
}

/* The loop's variable times something in a subscript, or in one that is not
 * the last: "b[k * n + j]", "b[k][j]". */
static void look_for_stride(const struct site *s, const struct cloop *l,
			    struct evidence *e)
{
	const struct cunit *u = &s->unit;

	for (uint32_t i = l->first; i <= l->last; i++) {
		uint32_t close = u->match[i];

		if (!is(s, i, "["))
			continue;
		for (uint32_t k = i + 1; k < close; k++) {
			if (!clex_same(&u->lex, k, l->var))
				continue;
			if (!is(s, k + 1, "*") && !is(s, k - 1, "*") &&
			    !is(s, close + 1, "["))
				continue;
			if (e->strided++)
				return;
			copy_token(s, l->var, e->var);
			if (u->lex.v[i - 1].kind == CTOK_WORD)
				copy_token(s, i - 1, e->array);
			return;
		}
	}
}

static void look_for_stores(const struct site *s, const struct cloop *l,
			    struct evidence *e)
{
	for (uint32_t i = l->first; i < l->last; i++)
		if (is(s, i, "]") && (is(s, i + 1, "=") || is(s, i + 1, "+=")))
			e->stores++;
}

static void look_for_calls(const struct site *s, struct evidence *e)
{
	const struct cunit *u = &s->unit;

	for (uint32_t i = 0; i < u->lex.nr; i++) {
		const struct ctok *t = &u->lex.v[i];

		if (t->kind == CTOK_WORD && cunit_is_call(u, i) &&
		    vecfunc_by_cname(s->text.ptr + t->pos, t->len) >= 0)
			e->calls++;
	}
}

void evidence_find(const struct site *s, struct evidence *e)
{
	*e = s->evidence;
}

void evidence_look(struct site *s)
{
	struct evidence *e = &s->evidence;

	memset(e, 0, sizeof(*e));
	if (!s->readable)
		return;
	look_for_calls(s, e);
	for (size_t i = 0; i < s->loops.nr; i++) {
		const struct cloop *l = &s->loops.v[i];

		if (l->depth == 0 || l->innermost)
			look_for_stores(s, l, e);
		if (!l->innermost)
			continue;
		look_for_sum(s, l, e);
		if (l->var != CNONE)
			look_for_stride(s, l, e);
	}
}
