/* Strategy restrict: pointer parameters of the entry and of the static
 * functions it uses promise not to overlap. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agents/builtin/strategy.h"
#include "core/mem.h"

/* A parameter that gets the promise. */
struct mark {
	const struct cfunc *f;
	const struct cparam *p;
};

struct marks {
	struct mark *v;
	size_t nr, cap;
};

static void add_mark(struct marks *m, const struct cfunc *f,
		     const struct cparam *p)
{
	GROW(m->v, m->nr, m->cap);
	m->v[m->nr++] = (struct mark){ f, p };
}

static bool is_pointer(const struct cparam *p)
{
	return p->kind != CPARAM_VALUE && p->mark != CNONE;
}

/* True if the section lets the n-th argument overlap another. */
static bool may_alias(const struct site *s, size_t n)
{
	size_t at = 0;

	for (int i = 0; i < s->k->nr_args; i++) {
		const struct arg *a = &s->k->arg[i];

		if (a->kind == ARG_RET)
			continue;
		if (at++ == n)
			return a->name && strv_has(&s->k->alias, a->name);
	}
	return false;
}

static void mark_entry(const struct site *s, struct marks *m)
{
	for (size_t i = 0; i < s->unit.nr; i++) {
		const struct cfunc *f = &s->unit.v[i];

		if (!clex_is(&s->unit.lex, f->name, s->k->entry))
			continue;
		for (size_t n = 0; n < f->nr_params; n++)
			if (is_pointer(&f->param[n]) && !f->param[n].restricted &&
			    !may_alias(s, n))
				add_mark(m, f, &f->param[n]);
	}
}

/* The definition that holds a token. */
static const struct cfunc *around(const struct cunit *u, uint32_t i)
{
	for (size_t k = 0; k < u->nr; k++)
		if (u->v[k].body != CNONE && u->v[k].body < i &&
		    i < u->v[k].end)
			return &u->v[k];
	return NULL;
}

static bool is_array_type(const struct cunit *u, uint32_t i)
{
	static const char *const types[] = {
		"float", "double", "int", "long", "unsigned", "char", "short"
	};

	for (size_t k = 0; k < ARRAY_SIZE(types); k++)
		if (clex_is(&u->lex, i, types[k]))
			return true;
	return false;
}

/*
 * True if token i names memory of its own where it stands: a pointer
 * parameter that may not overlap, or a local array.
 */
static bool own_memory(const struct site *s, const struct cfunc *caller,
		       uint32_t i)
{
	const struct cunit *u = &s->unit;

	for (size_t n = 0; n < caller->nr_params; n++) {
		const struct cparam *p = &caller->param[n];

		if (p->name != CNONE && clex_same(&u->lex, p->name, i))
			return is_pointer(p) &&
			       (caller != s->entry || !may_alias(s, n));
	}
	for (uint32_t k = caller->body + 1; k < caller->end; k++)
		if (clex_same(&u->lex, k, i) && clex_is(&u->lex, k + 1, "[") &&
		    is_array_type(u, k - 1))
			return true;
	return false;
}

/* The name that an argument's address comes from, "x" of "&x[i * n]". */
static uint32_t base_of(const struct cunit *u, uint32_t first, uint32_t last)
{
	if (first <= last && clex_is(&u->lex, first, "&"))
		first++;
	if (first > last || u->lex.v[first].kind != CTOK_WORD ||
	    cunit_is_call(u, first))
		return CNONE;
	return first;
}

/*
 * True if one call passes different memory to each pointer parameter.
 * call is the token of the name.
 */
static bool call_is_apart(const struct site *s, const struct cfunc *f,
			  uint32_t call)
{
	const struct cunit *u = &s->unit;
	const struct cfunc *caller = around(u, call);
	uint32_t close = u->match[call + 1], first = call + 2;
	uint32_t base[16];
	size_t n = 0, nr = 0;

	if (!caller || (caller != s->entry && !caller->is_static))
		return false;
	for (uint32_t i = first; i <= close; i++) {
		if (i < close && u->match[i] != CNONE) {
			i = u->match[i];
			continue;
		}
		if (i < close && !clex_is(&u->lex, i, ","))
			continue;
		if (n < f->nr_params && is_pointer(&f->param[n])) {
			uint32_t b = base_of(u, first, i - 1);

			if (b == CNONE || nr >= ARRAY_SIZE(base) ||
			    !own_memory(s, caller, b))
				return false;
			for (size_t k = 0; k < nr; k++)
				if (clex_same(&u->lex, base[k], b))
					return false;
			base[nr++] = b;
		}
		n++;
		first = i + 1;
	}
	return n == f->nr_params;
}

/* Every use of the name in the file is a call that passes apart. */
static bool calls_are_apart(const struct site *s, const struct cfunc *f)
{
	const struct cunit *u = &s->unit;
	size_t calls = 0;

	for (uint32_t i = 0; i < u->lex.nr; i++) {
		bool declared = false;

		if (!clex_same(&u->lex, i, f->name))
			continue;
		for (size_t k = 0; k < u->nr; k++)
			declared = declared || u->v[k].name == i;
		if (declared)
			continue;
		if (!cunit_is_call(u, i) || !call_is_apart(s, f, i))
			return false;
		calls++;
	}
	return calls > 0;
}

static void mark_helpers(const struct site *s, struct marks *m)
{
	for (size_t i = 0; i < s->unit.nr; i++) {
		const struct cfunc *f = &s->unit.v[i];
		size_t pointers = 0;

		if (!f->is_static || f->body == CNONE)
			continue;
		for (size_t n = 0; n < f->nr_params; n++)
			pointers += is_pointer(&f->param[n]) &&
				    !f->param[n].restricted;
		if (!pointers || !calls_are_apart(s, f))
			continue;
		for (size_t n = 0; n < f->nr_params; n++)
			if (is_pointer(&f->param[n]) &&
			    !f->param[n].restricted)
				add_mark(m, f, &f->param[n]);
	}
}

static size_t pointers_of_entry(const struct site *s)
{
	size_t nr = 0;

	for (size_t n = 0; n < s->entry->nr_params; n++)
		nr += is_pointer(&s->entry->param[n]);
	return nr;
}

static void find_marks(const struct site *s, struct marks *m)
{
	*m = (struct marks){ NULL, 0, 0 };
	mark_entry(s, m);
	if (s->unit.nr < 1000 && s->unit.lex.nr < 200000)	/* quadratic */
		mark_helpers(s, m);
}

static bool fits(const struct site *s, struct buf *why)
{
	const char *problem = site_problem(s);
	struct marks m;

	if (!problem)
		problem = s->entry->problem;
	if (problem) {
		buf_addstr(why, problem);
		return false;
	}
	if (pointers_of_entry(s) < 2) {
		buf_addstr(why, "the entry has fewer than two pointers");
		return false;
	}
	find_marks(s, &m);
	free(m.v);
	if (m.nr)
		return true;
	buf_addstr(why, "every pointer parameter has it already, or may "
			"overlap another as the section says");
	return false;
}

static void settings(const struct site *s, struct strv *out)
{
	(void)s;
	strv_push(out, "");
}

/* C90 has no such word; gcc and clang take it with underscores. */
static const char *word_for(const struct kernel *k)
{
	static const char *const old[] = {
		"-ansi", "-std=c89", "-std=c90", "-std=gnu89", "-std=gnu90",
		"-std=iso9899:1990", "-std=iso9899:199409"
	};

	for (size_t i = 0; i < ARRAY_SIZE(old); i++)
		if (strv_has(&k->flags, old[i]))
			return "__restrict";
	return "restrict";
}

static int apply(const struct site *s, const struct gene *g, struct emit *e,
		 struct err *err)
{
	const struct clex *l = &s->unit.lex;
	const char *word = word_for(s->k);
	struct marks m;

	if (g->args.nr)
		return err_set(err, ERR_FORMAT,
			       "recipe: 'restrict' takes no parameter");
	find_marks(s, &m);
	for (size_t i = 0; i < m.nr; i++) {
		uint32_t at = m.v[i].p->mark, next = at + 1;
		char text[16];
		bool close = clex_is(l, next, "]") || clex_is(l, next, ")") ||
			     clex_is(l, next, ",");

		snprintf(text, sizeof(text), "%s%s", word, close ? "" : " ");
		emit_edit(e, l->v[at].pos + l->v[at].len, 0, text);
	}
	free(m.v);
	return 0;
}

/* "a, b, c", the entry's; at most max of them. */
static void names(const struct site *s, size_t max, bool ticks,
		  struct buf *out)
{
	struct marks m;
	size_t nr = 0;

	if (!s->entry)
		return;
	find_marks(s, &m);
	for (size_t i = 0; i < m.nr && nr < max; i++) {
		const struct ctok *t;

		if (m.v[i].f != s->entry || m.v[i].p->name == CNONE)
			continue;
		t = &s->unit.lex.v[m.v[i].p->name];
		buf_addf(out, "%s%s%.*s%s", nr++ ? ", " : "",
			 ticks ? "`" : "", t->len > 24 ? 24 : (int)t->len,
			 s->text.ptr + t->pos, ticks ? "`" : "");
	}
	free(m.v);
}

static void subject(const struct site *s, const struct gene *g,
		    struct buf *out)
{
	struct buf list = BUF_INIT;

	(void)g;
	names(s, 32, false, &list);
	buf_addstr(out, "promise restrict");
	if (list.len && list.len <= 30)
		buf_addf(out, " on %s", list.ptr);
	buf_release(&list);
}

static void plan(const struct site *s, const struct gene *g, struct buf *out)
{
	struct evidence e;

	(void)g;
	evidence_find(s, &e);
	buf_addstr(out, "Declare ");
	names(s, 32, true, out);
	buf_addstr(out, " as `restrict`: the section names no overlap. "
			"Without it the compiler must assume that each store "
			"may change what is loaded next, so it can neither "
			"keep values in registers across stores nor change "
			"the order of loops.");
	if (e.strided)
		buf_addf(out, " Here that matters: the inner loop over `%s` "
			 "reads `%s` a whole row apart each time; with the "
			 "promise gcc may interchange the loops and read "
			 "along the rows.", e.var, e.array);
	buf_addstr(out, "\n\nRisk: a caller that passes overlapping buffers "
			"in spite of the section gets other results.\n");
}

static double gain(const struct site *s, const struct gene *g)
{
	struct evidence e;

	(void)g;
	evidence_find(s, &e);
	return e.strided ? 2.5 : e.stores ? 1.2 : 1.05;
}

const struct strategy strategy_restrict = {
	.name = "restrict", .fits = fits, .settings = settings,
	.apply = apply, .subject = subject, .plan = plan, .gain = gain,
	.undo = "take restrict away",
};
