/* What is read and written of arrays, here and in functions called here. */
#include <stdlib.h>
#include <string.h>

#include "agents/builtin/draft_parts.h"
#include "core/mem.h"

/* ---- places ---- */

static int scope_of(const struct draft *d, uint32_t i)
{
	for (int k = d->nr_scopes - 1; k >= 0; k--)
		if (d->scope[k].first != CNONE && d->scope[k].first <= i &&
		    i <= d->scope[k].last)
			return k;
	return -1;
}

static int loop_of(const struct draft *d, uint32_t i)
{
	for (int k = d->nr_loops - 1; k >= 0; k--)
		if (d->loop[k].u == d->u && d->loop[k].c.first <= i &&
		    i <= d->loop[k].c.last)
			return k;
	return -1;
}

/* Where what a statement stores has been stored. */
static uint32_t stored_at(const struct draft *d, uint32_t i)
{
	for (; i < d->f->end; i++) {
		if (draft_is(d, i, ";") || draft_is(d, i, ",") ||
		    draft_is(d, i, ")") || draft_is(d, i, "}"))
			return i;
		if (d->u->match[i] != CNONE && d->u->match[i] > i)
			i = d->u->match[i];
	}
	return d->f->end;
}

static bool is_any(const struct draft *d, uint32_t i, const char *const *list)
{
	for (; *list; list++)
		if (draft_is(d, i, *list))
			return true;
	return false;
}

/* ")" of "if (...)" */
static bool is_head_end(const struct draft *d, uint32_t i)
{
	static const char *const heads[] = {
		"if", "while", "for", "switch", NULL
	};

	return draft_is(d, i, ")") && is_any(d, d->u->match[i] - 1, heads);
}

static bool is_value_end(const struct draft *d, uint32_t i)
{
	static const char *const words[] = {
		"return", "else", "do", "case", "sizeof", NULL
	};

	if (is_any(d, i, words) || is_head_end(d, i))
		return false;
	return draft_is_word(d, i) || draft_is(d, i, ")") ||
	       draft_is(d, i, "]") || d->u->lex.v[i].kind == CTOK_NUMBER;
}

/* "*" or "&" that takes one operand */
static bool is_unary(const struct draft *d, uint32_t i, const char *op)
{
	return draft_is(d, i, op) && !is_value_end(d, i - 1);
}

/* ---- accesses ---- */

/* Keeps them in the order of what happens. */
static void add_access(struct draft *d, const struct daccess *a)
{
	int k = d->nr_accesses;

	if (k == DRAFT_MAX_ACCESSES) {
		d->crowded = true;
		return;
	}
	for (; k > 0 && d->access[k - 1].at > a->at; k--)
		d->access[k] = d->access[k - 1];
	d->access[k] = *a;
	d->nr_accesses++;
}

/* An element whose expression lies between two tokens. */
static void add_element(struct draft *d, struct daccess *a, uint32_t before,
			uint32_t after)
{
	static const char *const changes[] = {
		"+=", "-=", "*=", "/=", "%=", "|=", "^=", "&=", "<<=", ">>=",
		"++", "--", NULL
	};
	static const char *const steps[] = { "++", "--", NULL };
	bool assigns = draft_is(d, after, "=");

	a->at = before + 1;
	a->scope = scope_of(d, a->at);
	if (!assigns) {
		a->kind = DACCESS_READ;
		add_access(d, a);
	}
	if (assigns || is_any(d, after, changes) || is_any(d, before, steps)) {
		a->kind = DACCESS_WRITE;
		a->at = stored_at(d, after);
		add_access(d, a);
	}
}

/* "x[a][b]", the name at i */
static void read_brackets(struct draft *d, uint32_t i, int param,
			  const struct poly *offset)
{
	struct daccess a = { .param = param };
	uint32_t at = i + 1;
	int rank = d->param[param].declared;

	for (; draft_is(d, at, "[") && a.nr < KERNEL_MAX_RANK; a.nr++) {
		draft_parse(d, at + 1, d->u->match[at], &a.sub[a.nr]);
		at = d->u->match[at] + 1;
	}
	poly_add(&a.sub[0], offset);
	/* A whole row, which goes somewhere. */
	if (a.nr < rank)
		d->param[param].moved = true;
	add_element(d, &a, i - 1, at);
}

/*
 * "*p++": one for each round of the loops since p was set; false if that is
 * not so.
 */
static bool steps_so_far(const struct draft *d, uint32_t i, uint32_t since,
			 struct poly *steps)
{
	int scope = scope_of(d, i), chain[DRAFT_MAX_LOOPS], nr = 0;

	poly_const(steps, 0);
	for (; scope >= 0 && d->scope[scope].first > since;
	     scope = d->scope[scope].outer) {
		if (d->scope[scope].loop < 0)
			return false;
		chain[nr++] = d->scope[scope].loop;
	}
	while (nr-- > 0) {
		const struct dloop *l = &d->loop[chain[nr]];
		struct poly rounds = l->hi, round;

		poly_sub(&rounds, &l->lo);
		if (rounds.bad || !l->exact || l->step != 1)
			return false;
		for (int k = 0; k < d->nr_loops; k++)
			if (poly_has(&rounds, (uint16_t)(SYM_LOOP + k)))
				return false;
		poly_sym(&round, (uint16_t)(SYM_LOOP + chain[nr]));
		poly_sub(&round, &l->lo);
		poly_mul(steps, &rounds);
		poly_add(steps, &round);
	}
	return !steps->bad;
}

/* "*p", "*p++", "*(p + e)", "(*p)++"; false if it is something else. */
static bool read_pointed(struct draft *d, uint32_t i, int param,
			 const struct poly *offset, bool walks, uint32_t since)
{
	struct daccess a = { .param = param, .nr = 1 };
	uint32_t star = i - 1, after = i + 1;
	struct daddress inner;

	if (d->param[param].declared > 1)
		return false;
	a.sub[0] = *offset;
	if (is_unary(d, star, "*") && walks) {
		struct poly steps;

		if (!draft_is(d, after, "++") ||
		    !steps_so_far(d, i, since, &steps))
			return false;
		poly_add(&a.sub[0], &steps);
		after++;
	} else if (walks) {
		return false;
	} else if (draft_is(d, star, "(") && is_unary(d, star - 1, "*") &&
		   draft_address(d, i, d->u->match[star], &inner)) {
		a.sub[0] = inner.offset;
		after = d->u->match[star] + 1;
		star--;
	} else if (!is_unary(d, star, "*") || draft_is(d, after, "++") ||
		   draft_is(d, after, "--")) {
		return false;
	}
	if (draft_is(d, star - 1, "(") && draft_is(d, after, ")")) {
		star--;
		after++;
	}
	add_element(d, &a, star - 1, after);
	return true;
}

/* A use of a local array of fixed size limits what its subscript may be. */
static void add_limit(struct draft *d, struct poly *need, int64_t have)
{
	if (need->bad || !draft_greatest(d, need))
		return;
	poly_add_const(need, 1);
	for (int k = 0; k < d->nr_limits; k++)
		if (poly_eq(&d->limit[k].need, need))
			return;
	if (!poly_degree(need))
		return;
	if (d->nr_limits == DRAFT_MAX_LOCALS) {
		d->crowded = true;
		return;
	}
	d->limit[d->nr_limits].need = *need;
	d->limit[d->nr_limits++].have = have;
}

/* ---- calls ---- */

struct dcall {
	struct draft sub;
	struct daddress arg[KERNEL_MAX_ARGS];
	bool is_address[KERNEL_MAX_ARGS];
	uint32_t first[KERNEL_MAX_ARGS], end[KERNEL_MAX_ARGS];
	int nr;
	uint32_t lparen;
	/* What is added to the numbers of loops and scopes. */
	int loops, scopes, around;
	struct poly map[SYM_NR];
};

/* False: more arguments than a function that is followed can have. */
static bool read_args(const struct draft *d, struct dcall *c)
{
	uint32_t close = d->u->match[c->lparen], first = c->lparen + 1;

	while (first < close) {
		uint32_t end = draft_find(d, first, close, ",");

		if (end == CNONE)
			end = close;
		if (c->nr == KERNEL_MAX_ARGS)
			return false;
		c->first[c->nr] = first;
		c->end[c->nr] = end;
		c->is_address[c->nr] = draft_address(d, first, end,
						     &c->arg[c->nr]);
		c->nr++;
		first = end + 1;
	}
	return true;
}

static bool has_address(const struct dcall *c)
{
	for (int k = 0; k < c->nr; k++)
		if (c->is_address[k])
			return true;
	return false;
}

/* The only definition of a name, in its own file or in another source. */
static bool find_callee(const struct draft *d, uint32_t name,
			struct draft *sub)
{
	const struct ctok *t = &d->u->lex.v[name];
	const char *spelled = d->u->lex.text + t->pos;
	int nr = 0;

	for (int pass = 0; pass < 2 && !nr; pass++) {
		for (int k = 0; k < d->units->nr; k++) {
			const struct cunit *u = &d->units->v[k];

			if ((u == d->u) != (pass == 0))
				continue;
			for (size_t i = 0; i < u->nr; i++) {
				const struct ctok *n = &u->lex.v[u->v[i].name];

				if (u->v[i].body == CNONE || n->len != t->len ||
				    memcmp(u->lex.text + n->pos, spelled,
					   t->len) != 0)
					continue;
				sub->u = u;
				sub->f = &u->v[i];
				nr++;
			}
		}
	}
	return nr == 1;
}

static bool calls_itself(const struct draft *d, const struct cfunc *f)
{
	for (; d; d = d->caller)
		if (d->f == f)
			return true;
	return false;
}

static bool read_callee(struct draft *d, struct dcall *c, uint32_t name)
{
	struct err ignored = ERR_INIT;
	struct draft *sub = &c->sub;

	if (d->depth == DRAFT_MAX_DEPTH || d->units->calls == DRAFT_MAX_CALLS ||
	    !find_callee(d, name, sub) || calls_itself(d, sub->f) ||
	    sub->f->nr_params != (size_t)c->nr)
		return false;
	sub->units = d->units;
	sub->caller = d;
	sub->depth = d->depth + 1;
	sub->notes = d->notes;
	d->units->calls++;
	return draft_read(sub, &ignored) == 0 && !sub->crowded;
}

/* A value of the function called, in the symbols of the caller. */
static void translate(const struct dcall *c, const struct poly *p,
		      struct poly *out)
{
	struct poly term;

	poly_const(out, 0);
	if (p->bad)
		poly_bad(out);
	for (int i = 0; i < p->nr; i++) {
		poly_const(&term, p->t[i].coef);
		for (int k = 0; k < p->t[i].nr; k++)
			poly_mul(&term, &c->map[p->t[i].sym[k]]);
		poly_add(out, &term);
	}
}

static void take_params(struct draft *d, struct dcall *c)
{
	for (int k = 0; k < SYM_NR; k++)
		poly_bad(&c->map[k]);
	for (int k = 0; k < c->nr; k++)
		if (c->sub.param[k].is_size)
			draft_parse(d, c->first[k], c->end[k], &c->map[k]);
}

static void take_locals(struct draft *d, struct dcall *c)
{
	for (int k = 0; k < c->sub.nr_locals; k++) {
		struct dlocal l = { .name = CNONE, .base = CNONE,
				    .param = DLOCAL_INTEGER };
		struct poly *to = &c->map[SYM_LOCAL + k];

		if (c->sub.local[k].param != DLOCAL_INTEGER)
			continue;
		translate(c, &c->sub.local[k].value, &l.value);
		*to = l.value;
		if (l.value.bad || l.value.nr < 2)
			continue;
		if (d->nr_locals == DRAFT_MAX_LOCALS) {
			d->crowded = true;
			return;
		}
		d->local[d->nr_locals] = l;
		draft_name_local(d, d->nr_locals);
		poly_sym(to, (uint16_t)(SYM_LOCAL + d->nr_locals++));
	}
}

static void take_loops(struct draft *d, struct dcall *c)
{
	const struct draft *sub = &c->sub;
	int around = loop_of(d, c->lparen);

	c->loops = d->nr_loops;
	if (d->nr_loops + sub->nr_loops > DRAFT_MAX_LOOPS) {
		d->crowded = true;
		return;
	}
	for (int k = 0; k < sub->nr_loops; k++)
		poly_sym(&c->map[SYM_LOOP + k],
			 (uint16_t)(SYM_LOOP + c->loops + k));
	take_locals(d, c);
	for (int k = 0; k < sub->nr_loops; k++) {
		struct dloop *l = &d->loop[c->loops + k];

		*l = sub->loop[k];
		l->outer = l->outer < 0 ? around : l->outer + c->loops;
		translate(c, &sub->loop[k].lo, &l->lo);
		translate(c, &sub->loop[k].hi, &l->hi);
	}
	d->nr_loops += sub->nr_loops;
}

/* A return that is not the last statement. */
static bool may_return(const struct draft *sub)
{
	for (int k = 0; k < sub->nr_scopes; k++) {
		const struct dscope *s = &sub->scope[k];

		for (uint32_t i = s->first; s->first != CNONE && i <= s->last;
		     i++)
			if (draft_is(sub, i, "return"))
				return true;
	}
	return false;
}

static void take_scopes(struct draft *d, struct dcall *c)
{
	const struct draft *sub = &c->sub;
	bool branch = may_return(sub);

	c->around = scope_of(d, c->lparen);
	if (d->nr_scopes + branch + sub->nr_scopes > DRAFT_MAX_SCOPES) {
		d->crowded = true;
		return;
	}
	if (branch) {
		d->scope[d->nr_scopes] = (struct dscope){
			.outer = c->around, .loop = -1, .first = CNONE };
		c->around = d->nr_scopes++;
	}
	c->scopes = d->nr_scopes;
	for (int k = 0; k < sub->nr_scopes; k++) {
		struct dscope s = sub->scope[k];

		s.first = s.last = CNONE;
		s.outer = s.outer < 0 ? c->around : s.outer + c->scopes;
		s.loop += s.loop < 0 ? 0 : c->loops;
		d->scope[d->nr_scopes++] = s;
	}
}

/* An access of the function called is one of the caller. */
static void take_access(struct draft *d, const struct dcall *c,
			const struct daccess *from)
{
	const struct daddress *at = &c->arg[from->param];
	struct daccess a = { .kind = from->kind, .nr = at->lead };
	int rank = d->param[at->param].declared;

	a.param = at->param;
	a.at = d->u->match[c->lparen];
	a.scope = from->scope < 0 ? c->around : from->scope + c->scopes;
	memcpy(a.sub, at->sub, sizeof(a.sub));
	for (int k = 0; k < from->nr && a.nr < KERNEL_MAX_RANK; k++)
		translate(c, &from->sub[k], &a.sub[a.nr++]);
	poly_add(&a.sub[at->lead], &at->offset);
	/* Rows of another length than the caller's. */
	if (a.nr != (rank ? rank : 1))
		d->param[at->param].moved = true;
	add_access(d, &a);
}

static void take_over(struct draft *d, struct dcall *c)
{
	const struct draft *sub = &c->sub;

	take_params(d, c);
	take_loops(d, c);
	take_scopes(d, c);
	if (d->crowded)
		return;
	for (int k = 0; k < sub->nr_accesses; k++)
		if (c->is_address[sub->access[k].param])
			take_access(d, c, &sub->access[k]);
	for (int k = 0; k < c->nr; k++) {
		if (!c->is_address[k] || !sub->param[k].is_array)
			continue;
		d->seen[c->arg[k].base] = true;
		if (sub->param[k].moved)
			d->param[c->arg[k].param].moved = true;
	}
	for (int k = 0; k < sub->nr_limits; k++) {
		struct poly need;

		translate(c, &sub->limit[k].need, &need);
		poly_add_const(&need, -1);
		add_limit(d, &need, sub->limit[k].have);
	}
}

static void follow(struct draft *d, uint32_t name)
{
	struct dcall *c = xcalloc(1, sizeof(*c));

	c->lparen = name + 1;
	if (read_args(d, c) && has_address(c)) {
		if (draft_is(d, name, "__builtin_prefetch"))
			d->seen[c->arg[0].base] = c->is_address[0];
		else if (read_callee(d, c, name))
			take_over(d, c);
	}
	draft_release(&c->sub);
	free(c);
}

/* ---- the body ---- */

static void read_use(struct draft *d, uint32_t i, int param,
		     const struct poly *offset, bool walks, uint32_t since)
{
	if (draft_is(d, i + 1, "[") && !walks) {
		if (is_unary(d, i - 1, "&"))
			d->param[param].moved = true;
		read_brackets(d, i, param, offset);
	} else if (draft_is(d, i - 1, ")") && draft_is(d, i - 2, "void") &&
		   draft_is(d, i + 1, ";")) {
		return;		/* "(void)x;" */
	} else if (!read_pointed(d, i, param, offset, walks, since)) {
		d->param[param].moved = true;
	}
}

static void read_word(struct draft *d, uint32_t i)
{
	int param = draft_param_of(d, i);
	struct poly none;

	if (draft_is(d, i - 1, ".") || draft_is(d, i - 1, "->"))
		return;
	for (int k = d->nr_locals - 1; k >= 0; k--) {
		const struct dlocal *l = &d->local[k];
		struct poly need;

		if (l->name > i || i > l->end ||
		    !clex_same(&d->u->lex, l->name, i))
			continue;
		if (l->name == i || l->param == DLOCAL_INTEGER)
			return;
		if (l->param >= 0) {
			read_use(d, i, l->param, &l->value, l->walks, l->name);
		} else if (draft_is(d, i + 1, "[")) {
			draft_parse(d, i + 2, d->u->match[i + 1], &need);
			add_limit(d, &need, l->value.t[0].coef);
		}
		return;
	}
	poly_const(&none, 0);
	if (param >= 0 && d->param[param].is_array)
		read_use(d, i, param, &none, d->param[param].walks,
			 d->f->body);
}

void draft_walk(struct draft *d)
{
	d->access = xcalloc(DRAFT_MAX_ACCESSES, sizeof(*d->access));
	d->seen = xcalloc(d->u->lex.nr + 1, sizeof(*d->seen));
	for (int k = 0; k < d->nr_locals; k++)
		if (d->local[k].base != CNONE)
			d->seen[d->local[k].base] = true;
	for (uint32_t i = d->f->body + 1; i < d->f->end; i++) {
		if (!draft_is_word(d, i) || d->seen[i])
			continue;
		if (cunit_is_call(d->u, i))
			follow(d, i);
		else
			read_word(d, i);
	}
	for (int k = 0; k < d->nr_params && d->crowded; k++)
		d->param[k].moved = d->param[k].moved ||
				    d->param[k].is_array;
}
