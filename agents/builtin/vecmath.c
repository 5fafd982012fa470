/* Strategy vecmath: math functions that loops can be vectorised around. */
#include <stdlib.h>
#include <string.h>

#include "agents/builtin/maxloop.h"
#include "agents/builtin/strategy.h"
#include "agents/builtin/vectext.h"
#include "core/mem.h"

static bool word_char(int c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_';
}

/* The functions that macros of the file call; one that a macro replaces is
 * taken out of *mask by way of *taken. */
static unsigned in_macros(const struct clex *l, unsigned *taken)
{
	unsigned mask = 0;

	for (size_t i = 0; i < l->nr_all; i++) {
		const char *p = l->text + l->all[i].pos;
		size_t len = l->all[i].len, n, words = 0;

		if (l->all[i].kind != CTOK_LINE)
			continue;
		for (size_t k = 0; k < len; k += n ? n : 1) {
			int f;

			for (n = 0; k + n < len && word_char(p[k + n]);)
				n++;
			if (!n)
				continue;
			words++;
			f = vecfunc_by_cname(p + k, n);
			if (f < 0)
				continue;
			if (words == 2)		/* #define expf, #undef expf */
				*taken |= 1u << f;
			else if (k + n < len && p[k + n] == '(')
				mask |= 1u << f;
		}
	}
	return mask;
}

/* Functions that the file calls and does not make itself. */
static unsigned called(const struct site *s)
{
	const struct cunit *u = &s->unit;
	unsigned taken = 0, mask = in_macros(&u->lex, &taken);

	for (uint32_t i = 0; i < u->lex.nr; i++) {
		const struct ctok *t = &u->lex.v[i];
		int f;

		if (t->kind != CTOK_WORD || !cunit_is_call(u, i) ||
		    clex_is(&u->lex, i - 1, ".") ||
		    clex_is(&u->lex, i - 1, "->"))
			continue;
		f = vecfunc_by_cname(s->text.ptr + t->pos, t->len);
		if (f >= 0)
			mask |= 1u << f;
	}
	for (size_t i = 0; i < u->nr; i++) {
		const struct ctok *t = &u->lex.v[u->v[i].name];
		int f = vecfunc_by_cname(s->text.ptr + t->pos, t->len);

		if (f >= 0)
			taken |= 1u << f;
	}
	return mask & ~taken;
}

/* True if every call of the function is a statement that maxloop replaces. */
static bool only_in(const struct site *s, int func, const struct maxloop *m,
		    size_t nr)
{
	const struct cunit *u = &s->unit;

	for (uint32_t i = 0; i < u->lex.nr; i++) {
		const struct ctok *t = &u->lex.v[i];
		bool inside = false;

		if (!cunit_is_call(u, i) ||
		    vecfunc_by_cname(s->text.ptr + t->pos, t->len) != func)
			continue;
		for (size_t k = 0; k < nr; k++)
			inside = inside || (i > m[k].first && i < m[k].from);
		if (!inside)
			return false;
	}
	return true;
}

/* What can be put in; *all what is best put in together. */
static unsigned usable(const struct site *s, unsigned *all)
{
	struct maxloop m[MAXLOOP_MAX];
	unsigned mask = called(s);
	size_t nr = s->k->math == MATH_STRICT ? 0 : maxloop_find(s, m);

	*all = mask;
	if (!nr)
		return mask;
	for (int i = 0; i < VEC_NR; i++)
		if ((mask >> i & 1) && only_in(s, i, m, nr))
			*all &= ~(1u << i);
	*all |= 1u << VEC_MAXLOOP;
	return mask | 1u << VEC_MAXLOOP;
}

static bool is_c90(const struct kernel *k)
{
	for (size_t i = 0; i < k->flags.nr; i++)
		if (!strcmp(k->flags.v[i], "-ansi") ||
		    !strcmp(k->flags.v[i], "-std=c89") ||
		    !strcmp(k->flags.v[i], "-std=c90"))
			return true;
	return false;
}

static bool fits(const struct site *s, struct buf *why)
{
	unsigned all;

	if (!s->readable) {
		buf_addstr(why, s->why);
		return false;
	}
	if (is_c90(s->k)) {
		buf_addstr(why, "its functions need C99");
		return false;
	}
	if (usable(s, &all))
		return true;
	buf_addstr(why, "no call of expf, logf, tanhf, erff, fmaxf and the "
			"like, and no running maximum");
	return false;
}

static void print_mask(unsigned mask, struct buf *out)
{
	for (int i = 0; i < VEC_NR; i++)
		if (mask >> i & 1)
			buf_addf(out, "%s%s", out->len ? "," : "",
				 vecfunc[i].name);
}

static bool single(unsigned mask)
{
	return !(mask & (mask - 1));
}

/* All together; then all but one each, since one may be better left alone. */
static void push_mask(unsigned mask, struct strv *out)
{
	struct buf text = BUF_INIT;

	print_mask(mask, &text);
	strv_push(out, text.ptr);
	buf_release(&text);
}

/* All together; then all but one each, since one may be better left alone. */
static void settings(const struct site *s, struct strv *out)
{
	unsigned all, mask = usable(s, &all);
	unsigned functions = mask & ~(1u << VEC_MAXLOOP);

	push_mask(all, out);
	for (int i = 0; i < VEC_MAXLOOP && !single(all); i++)
		if (all >> i & 1)
			push_mask(all & ~(1u << i), out);
	if (all != functions && functions)
		push_mask(functions, out);
}

static int apply(const struct site *s, const struct gene *g, struct emit *e,
		 struct err *err)
{
	unsigned mask = 0, all, good = usable(s, &all);

	for (size_t i = 0; i < g->args.nr; i++) {
		int f = vecfunc_by_name(g->args.v[i]);

		if (f < 0)
			return err_set(err, ERR_FORMAT, "recipe: vecmath does "
				       "not know '%.40s'", g->args.v[i]);
		mask |= 1u << f;
	}
	if (!g->args.nr)
		mask = all;
	/* A name that the file defines itself must stay its own. */
	e->vec |= mask & good;
	if (mask & good & 1u << VEC_MAXLOOP)
		maxloop_apply(s, e);
	return 0;
}

static unsigned mask_of(const struct gene *g)
{
	unsigned mask = 0;

	for (size_t i = 0; i < g->args.nr; i++) {
		int f = vecfunc_by_name(g->args.v[i]);

		mask |= f < 0 ? 0 : 1u << f;
	}
	return mask;
}

static void subject(const struct site *s, const struct gene *g,
		    struct buf *out)
{
	unsigned mask = mask_of(g), functions = mask & ~(1u << VEC_MAXLOOP);
	struct buf list = BUF_INIT;

	(void)s;
	for (int i = 0; i < VEC_NR; i++)
		if (functions >> i & 1)
			buf_addf(&list, "%s%s", list.len ? ", " : "",
				 vecfunc[i].cname);
	if (functions && list.len <= 30)
		buf_addf(out, "vectorise %s", list.ptr);
	else if (functions)
		buf_addstr(out, "vectorise the math functions");
	if (mask >> VEC_MAXLOOP & 1)
		buf_addstr(out, functions ? " and the maximum" :
			   "vectorise the running maximum");
	buf_release(&list);
}

static void plan(const struct site *s, const struct gene *g, struct buf *out)
{
	unsigned mask = mask_of(g), functions = mask & ~(1u << VEC_MAXLOOP);
	bool first = true;

	(void)s;
	if (functions) {
		buf_addstr(out, "Put inline versions without branches in the "
				"place of ");
		for (int i = 0; i < VEC_NR; i++) {
			if (!(functions >> i & 1))
				continue;
			buf_addf(out, "%s`%s`", first ? "" : ", ",
				 vecfunc[i].cname);
			first = false;
		}
		buf_addstr(out, ". A call into libm handles one element, and "
				"a loop that holds one cannot be vectorised; "
				"a polynomial can, 8 or 16 elements at a "
				"time. NaN, infinities and subnormals come "
				"out as from libm.\n");
	}
	if (mask >> VEC_MAXLOOP & 1)
		buf_addf(out, "%sKeep the running maximum as an integer that "
			 "orders like the float: comparing floats in order "
			 "cannot be vectorised while a NaN is possible, the "
			 "maximum of integers can.\n", functions ? "\n" : "");
	buf_addstr(out, "\nRisk: results differ from libm's in the last bit "
			"or two; errno and the floating-point flags are not "
			"set.\n");
}

static double gain(const struct site *s, const struct gene *g)
{
	struct evidence e;

	(void)g;
	evidence_find(s, &e);
	/* Where sums of products dominate, the functions are the epilogue. */
	return e.reductions && e.strided + e.reductions > 1 ? 1.3 : 2.0;
}

const struct strategy strategy_vecmath = {
	.name = "vecmath", .fits = fits, .settings = settings,
	.apply = apply, .subject = subject, .plan = plan, .gain = gain,
	.undo = "call libm again",
};
