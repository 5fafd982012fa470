/* What the source says of its parameters, loops and subscripts. */
#include <stdlib.h>
#include <string.h>

#include "agents/builtin/draft_parts.h"
#include "core/mem.h"

/* A size's type: int, long or size_t; -1 for others. */
static int size_type_of(const char *words)
{
	if (!strcmp(words, "int"))
		return DIM_INT;
	if (!strcmp(words, "long"))
		return DIM_LONG;
	return strcmp(words, "size_t") ? -1 : DIM_SIZE;
}

static int stars(const struct draft *d, const struct cparam *c)
{
	int nr = 0;

	for (uint32_t i = c->first; i <= c->last; i++) {
		if (draft_is(d, i, "["))
			break;
		nr += draft_is(d, i, "*");
	}
	return nr;
}

void draft_set_name(struct draft *d, int sym, const char *name)
{
	while (d->names.nr < SYM_NR)
		strv_push(&d->names, "");
	free(d->names.v[sym]);
	d->names.v[sym] = xstrdup(name);
}

static bool is_integer(enum dtype type)
{
	return !dtype_is_float(type) && type != DT_BOOL;
}

static int read_param(struct draft *d, int n, struct err *err)
{
	struct dparam *p = &d->param[n];
	const struct cparam *c = &d->f->param[n];
	struct buf words = BUF_INIT;
	int type;

	p->c = c;
	if (c->name == CNONE)
		return err_set(err, ERR_FORMAT, "parameter %d of the entry has "
			       "no name", n + 1);
	p->name = draft_spelling(d, c->name);
	draft_set_name(d, n, p->name);
	draft_type_words(d, c->first, c->name - 1, &p->is_const, &words);
	type = draft_type_of(words.ptr);
	p->is_array = c->kind != CPARAM_VALUE;
	p->size_type = (enum dim_type)size_type_of(words.ptr);
	p->is_size = !p->is_array &&
		     (size_type_of(words.ptr) >= 0 ||
		      (d->caller && type >= 0 && is_integer((enum dtype)type)));
	if (type < 0 || stars(d, c) > 1 ||
	    (stars(d, c) && c->kind == CPARAM_ARRAY))
		err_set(err, ERR_FORMAT, "parameter '%.60s' has the type "
			"'%.60s%s', which no section can say", p->name,
			words.ptr, stars(d, c) > 1 ? " **" : "");
	else
		p->type = (enum dtype)type;
	buf_release(&words);
	return err->code;
}

static int read_params(struct draft *d, struct err *err)
{
	int rc = 0;

	d->param = xcalloc(d->f->nr_params + 1, sizeof(*d->param));
	for (size_t n = 0; n < d->f->nr_params && !rc; n++) {
		d->nr_params = (int)n + 1;
		rc = read_param(d, (int)n, err);
	}
	return rc;
}

static int read_return(struct draft *d, struct err *err)
{
	struct buf words = BUF_INIT;
	bool is_const = false;

	draft_type_words(d, d->f->first, d->f->name - 1, &is_const, &words);
	d->returns = !strcmp(words.ptr, "void") ? -1 : draft_type_of(words.ptr);
	if ((d->returns < 0 && strcmp(words.ptr, "void")) ||
	    draft_is(d, d->f->name - 1, "*"))
		err_set(err, ERR_FORMAT, "the entry returns '%.60s', which no "
			"section can say", words.ptr);
	buf_release(&words);
	return err->code;
}

/* ---- loops and locals ---- */

/* How often a name is assigned among some tokens. */
static int assignments(const struct draft *d, uint32_t name, uint32_t first,
		       uint32_t end, uint32_t *last)
{
	static const char *const ops[] = {
		"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "++",
		"--", "<<=", ">>="
	};
	int nr = 0;

	for (uint32_t i = first; i < end; i++) {
		int before = nr;

		if (!clex_same(&d->u->lex, i, name) ||
		    draft_is(d, i - 1, ".") || draft_is(d, i - 1, "->"))
			continue;
		for (size_t k = 0; k < ARRAY_SIZE(ops); k++)
			nr += draft_is(d, i + 1, ops[k]);
		nr += draft_is(d, i - 1, "++") || draft_is(d, i - 1, "--");
		if (nr > before && last)
			*last = i;
	}
	return nr;
}

/* The first change of a name within a loop; UINT32_MAX if there is none. */
static uint32_t first_change(const struct draft *d, uint32_t name,
			     uint32_t first, uint32_t end)
{
	for (uint32_t i = first; i < end; i++)
		if (assignments(d, name, i, i + 1, NULL))
			return i;
	return UINT32_MAX;
}

static bool walks_at(const struct draft *d, uint32_t i)
{
	return draft_is(d, i - 1, "*") && draft_is(d, i + 1, "++");
}

/* Parameters that the body changes. */
static void read_changes(struct draft *d)
{
	for (int k = 0; k < d->nr_params; k++) {
		struct dparam *p = &d->param[k];
		uint32_t at = CNONE;
		int nr = assignments(d, p->c->name, d->f->body, d->f->end, &at);

		p->changed = nr > 0;
		p->walks = p->is_array && nr == 1 && walks_at(d, at);
		p->moved = p->is_array && p->changed && !p->walks;
	}
}

/* "j < n", "n > j", "j + 8 <= n", "j != n", "j >= 0", tokens i to end. */
static bool read_bound(struct draft *d, struct dloop *l, uint32_t i,
		       uint32_t end, bool down)
{
	static const char *const ops[] = { "<", "<=", ">", ">=", "!=" };
	uint16_t sym = (uint16_t)(SYM_LOOP + d->nr_loops);
	struct poly left, right, coef, rest;
	uint32_t op = CNONE;
	size_t which = 0;
	int sign;

	for (; which < ARRAY_SIZE(ops) && op == CNONE; which++)
		op = draft_find(d, i, end, ops[which]);
	if (op == CNONE)
		return false;
	which--;
	/* The variable itself counts in here. */
	d->nr_loops++;
	draft_parse(d, i, op, &left);
	draft_parse(d, op + 1, end, &right);
	d->nr_loops--;
	poly_sub(&left, &right);
	if (left.bad)
		return false;
	poly_split(&left, sym, &coef, &rest);
	if (coef.bad || coef.nr != 1 || coef.t[0].nr)
		return false;
	sign = coef.t[0].coef == 1 ? 1 : coef.t[0].coef == -1 ? -1 : 0;
	if (!sign || (which < 4 && ((which < 2) == (sign > 0)) == down))
		return false;
	/* sign * variable + rest < 0 */
	if (sign > 0) {
		poly_const(&right, 0);
		poly_sub(&right, &rest);
		rest = right;
	}
	if (which == 1 || which == 3)
		poly_add_const(&rest, down ? -1 : 1);
	if (down) {
		poly_add_const(&rest, 1);
		l->lo = rest;
	} else {
		l->hi = rest;
	}
	return true;
}

/* "j < jj + 8", from jj */
static void read_rounds(struct dloop *l)
{
	struct poly rounds = l->hi;

	poly_sub(&rounds, &l->lo);
	if (!rounds.bad && rounds.nr == 1 && !rounds.t[0].nr)
		l->rounds = rounds.t[0].coef;
}

/* Each part of "a && b" bounds; one by sizes alone says more. */
static void read_condition(struct draft *d, struct dloop *l, uint32_t i,
			   uint32_t end, bool down)
{
	struct poly *bound = down ? &l->lo : &l->hi, kept;
	bool found = false;

	if (draft_find(d, i, end, "||") != CNONE)
		return;
	if (draft_find(d, i, end, "&&") != CNONE)
		l->step = 0;	/* it may end earlier */
	while (i < end) {
		uint32_t next = draft_find(d, i, end, "&&");

		next = next == CNONE ? end : next;
		kept = *bound;
		if (read_bound(d, l, i, next, down)) {
			read_rounds(l);
			if (found && !draft_has_loops(d, &kept))
				*bound = kept;
			found = true;
		}
		i = next + 1;
	}
}

static const struct dlocal *integer_local(const struct draft *d, uint32_t i)
{
	for (int k = d->nr_locals - 1; k >= 0; k--)
		if (d->local[k].param == DLOCAL_INTEGER &&
		    d->local[k].name < i && i <= d->local[k].end &&
		    clex_same(&d->u->lex, d->local[k].name, i))
			return &d->local[k];
	return NULL;
}

/* The first of two tokens outside of inner brackets, or the end. */
static uint32_t first_of(const struct draft *d, uint32_t i, uint32_t end,
			 const char *a, const char *b)
{
	uint32_t at = draft_find(d, i, end, a);
	uint32_t other = draft_find(d, i, end, b);

	at = at < other ? at : other;
	return at < end ? at : end;
}

/* "i++", "++i", "i += 4" in tokens i to end; 0: something else. */
static int64_t read_step(const struct draft *d, uint32_t var, uint32_t i,
			 uint32_t end)
{
	struct poly step;

	for (; i < end; i++) {
		if (!clex_same(&d->u->lex, i, var))
			continue;
		if (draft_is(d, i + 1, "++") || draft_is(d, i - 1, "++"))
			return 1;
		if (!draft_is(d, i + 1, "+="))
			continue;
		end = first_of(d, i + 2, end, ",", ";");
		draft_parse(d, i + 2, end, &step);
		return !step.bad && step.nr == 1 && !step.t[0].nr &&
		       step.t[0].coef > 0 ? step.t[0].coef : 0;
	}
	return 0;
}

/*
 * A variable that the loop goes on with: what it was set to where it was
 * declared is the least that it can be, when it is only counted up.
 */
static bool goes_on(struct draft *d, struct dloop *l, uint32_t from)
{
	const struct dlocal *v = integer_local(d, l->c.var);
	struct poly first;
	uint32_t end;

	if (!v)
		return false;
	end = first_of(d, v->name, v->end, ",", ";");
	for (uint32_t i = v->name + 1; i < v->end; i++)
		if (clex_same(&d->u->lex, i, v->name) &&
		    assignments(d, v->name, i, i + 1, NULL) &&
		    !draft_is(d, i + 1, "+=") &&
		    !read_step(d, v->name, i, i + 1))
			return false;
	draft_parse(d, v->name + 2, end, &first);
	l->lo = first;
	l->exact = !assignments(d, v->name, v->name + 2, from, NULL);
	/* Another round of a loop around does not begin anew. */
	for (int k = 0; k < d->nr_loops; k++)
		if (d->loop[k].c.first > v->name &&
		    d->loop[k].c.first <= from &&
		    d->loop[k].c.last >= from)
			l->exact = false;
	return !first.bad;
}

static void add_loop(struct draft *d, struct dloop *l)
{
	l->u = d->u;
	l->outer = -1;
	for (int k = d->nr_loops - 1; k >= 0 && l->outer < 0; k--)
		if (d->loop[k].c.first <= l->c.kw &&
		    d->loop[k].c.last >= l->c.kw)
			l->outer = k;
	d->nr_loops++;
}

static void read_for(struct draft *d, const struct cloop *c)
{
	struct dloop *l = &d->loop[d->nr_loops];
	uint32_t first, second, third;
	bool down;

	*l = (struct dloop){ .u = d->u, .c = *c, .valid = UINT32_MAX };
	poly_bad(&l->lo);
	poly_bad(&l->hi);
	first = draft_find(d, c->lparen + 1, c->rparen, ";");
	second = first == CNONE ? CNONE :
		 draft_find(d, first + 1, c->rparen, ";");
	third = second + 1;
	if (second != CNONE && c->var == CNONE)
		for (uint32_t i = third; i < c->rparen; i++)
			if (assignments(d, i, i, i + 1, NULL))
				l->c.var = i;
	if (second == CNONE || l->c.var == CNONE) {
		add_loop(d, l);
		return;
	}
	down = draft_find(d, second, c->rparen, "--") != CNONE ||
	       draft_find(d, second, c->rparen, "-=") != CNONE;
	l->valid = first_change(d, l->c.var, c->first, c->last + 1);
	l->step = down ? draft_find(d, second, c->rparen, "--") != CNONE :
		  read_step(d, l->c.var, third, c->rparen);
	if (l->valid != UINT32_MAX || (!down && !l->step))
		l->step = 0;
	if (c->var == CNONE) {
		if (down || !goes_on(d, l, c->kw))
			poly_bad(&l->lo);
		else
			read_condition(d, l, first + 1, second, false);
		add_loop(d, l);
		return;
	}
	/* The loop is not among nr_loops yet: outer names count. */
	draft_parse(d, c->var + 2, first_of(d, c->var, first, ",", ","),
		    &l->lo);
	l->exact = true;
	if (down) {
		/* It begins with the greatest value. */
		l->hi = l->lo;
		poly_add_const(&l->hi, 1);
		poly_bad(&l->lo);
	}
	read_condition(d, l, first + 1, second, down);
	add_loop(d, l);
}

/* "while (n--)" of a parameter n that nothing else changes */
static bool counts_down(struct draft *d, struct dloop *l)
{
	uint32_t i = l->c.lparen + 1;
	int k = draft_param_of(d, i);

	if (k < 0 || !d->param[k].is_size || !draft_is(d, i + 1, "--") ||
	    (i + 2 != l->c.rparen &&
	     !(draft_is(d, i + 2, ">") && draft_is(d, i + 3, "0") &&
	       i + 4 == l->c.rparen)) ||
	    assignments(d, i, d->f->body, d->f->end, NULL) != 1)
		return false;
	poly_const(&l->lo, 0);
	poly_sym(&l->hi, (uint16_t)k);
	l->exact = true;
	l->step = 1;
	return true;
}

/* "while (i < n) { ...; i++; }" */
static void read_while(struct draft *d, uint32_t kw)
{
	struct dloop *l = &d->loop[d->nr_loops];
	struct cloop c = { .kw = kw, .lparen = kw + 1, .var = CNONE };

	c.rparen = d->u->match[kw + 1];
	c.first = c.rparen + 1;
	c.last = cunit_statement_end(d->u, c.first);
	if (c.last == CNONE || d->nr_loops == DRAFT_MAX_LOOPS) {
		d->crowded = d->crowded || c.last != CNONE;
		return;
	}
	*l = (struct dloop){ .u = d->u, .c = c, .valid = UINT32_MAX };
	poly_bad(&l->lo);
	poly_bad(&l->hi);
	for (uint32_t i = c.lparen + 1; i < c.rparen && l->c.var == CNONE; i++)
		if (integer_local(d, i) &&
		    first_change(d, i, c.first, c.last) != UINT32_MAX)
			l->c.var = i;
	if (l->c.var != CNONE && goes_on(d, l, kw)) {
		l->valid = first_change(d, l->c.var, c.first, c.last);
		if (assignments(d, l->c.var, c.first, c.last, NULL) == 1)
			l->step = read_step(d, l->c.var, l->valid, c.last);
		read_condition(d, l, c.lparen + 1, c.rparen, false);
	} else if (l->c.var == CNONE) {
		counts_down(d, l);
	}
	add_loop(d, l);
}

/* ---- locals ---- */

int draft_param_of(const struct draft *d, uint32_t i)
{
	for (int k = 0; k < d->nr_params; k++)
		if (draft_is_word(d, i) && draft_is(d, i, d->param[k].name))
			return k;
	return -1;
}

static bool find_base(const struct draft *d, uint32_t i, struct daddress *a)
{
	memset(a, 0, sizeof(*a));
	a->base = i;
	poly_const(&a->offset, 0);
	for (int k = d->nr_locals - 1; k >= 0; k--) {
		const struct dlocal *l = &d->local[k];

		if (l->name >= i || i > l->end || l->param == DLOCAL_INTEGER ||
		    !clex_same(&d->u->lex, l->name, i))
			continue;
		a->param = l->param;
		a->offset = l->value;
		return l->param >= 0 && !l->walks;
	}
	a->param = draft_param_of(d, i);
	return a->param >= 0 && d->param[a->param].is_array &&
	       !d->param[a->param].changed;
}

bool draft_address(const struct draft *d, uint32_t i, uint32_t end,
		   struct daddress *a)
{
	struct poly more;
	bool address = draft_is(d, i, "&");
	int rank;

	i += address;
	if (!find_base(d, i, a))
		return false;
	rank = d->param[a->param].declared;
	for (i++; draft_is(d, i, "[") && d->u->match[i] < end &&
	     a->lead < KERNEL_MAX_RANK; i = d->u->match[i] + 1)
		draft_parse(d, i + 1, d->u->match[i], &a->sub[a->lead++]);
	if (address && a->lead) {
		more = a->sub[--a->lead];
	} else if (address) {
		return false;
	} else if (i == end) {
		poly_const(&more, 0);
	} else if (draft_is(d, i, "+")) {
		draft_parse(d, i + 1, end, &more);
		i = end;
	} else {
		return false;
	}
	if (address && a->lead && d->param[a->param].extent[0].bad)
		return false;	/* it may go on in the next row */
	if (i != end || a->lead >= (rank ? rank : 1))
		return false;
	poly_add(&a->offset, &more);
	return true;
}

static bool is_integer_type(const struct draft *d, uint32_t i)
{
	static const char *const types[] = {
		"int", "long", "size_t", "unsigned", "ptrdiff_t", "ssize_t",
		"int32_t", "uint32_t", "int64_t", "uint64_t"
	};

	for (size_t k = 0; k < ARRAY_SIZE(types); k++)
		if (draft_is(d, i, types[k]))
			return true;
	return false;
}

void draft_name_local(struct draft *d, int k)
{
	struct poly value = d->local[k].value;
	struct buf text = BUF_INIT;

	draft_expand(d, &value);
	buf_addch(&text, '(');
	poly_print(&value, &d->names, &text);
	buf_addch(&text, ')');
	draft_set_name(d, SYM_LOCAL + k, text.ptr);
	buf_release(&text);
}

/* The end of the block that token i stands in. */
static uint32_t block_end(const struct draft *d, uint32_t i)
{
	for (; i < d->f->end; i++) {
		if (draft_is(d, i, "}"))
			return i;
		if (draft_is(d, i, ")"))
			break;
		if (d->u->match[i] != CNONE && d->u->match[i] > i)
			i = d->u->match[i];
	}
	return d->f->end;
}

static bool local_pointer(struct draft *d, struct dlocal *l, uint32_t end)
{
	struct daddress a;
	uint32_t at = CNONE;
	int nr;

	if (!draft_address(d, l->name + 2, end, &a) || a.lead)
		return false;
	l->param = a.param;
	l->base = a.base;
	l->value = a.offset;
	nr = assignments(d, l->name, l->name + 1, l->end, &at);
	l->walks = nr == 1 && walks_at(d, at);
	if (nr && !l->walks)
		d->param[a.param].moved = true;
	return true;
}

/* A name with "=" behind it, in a declaration. */
static void read_local(struct draft *d, uint32_t i, bool integer)
{
	struct dlocal *l = &d->local[d->nr_locals];
	uint32_t end = draft_find(d, i + 2, d->f->end, ";");
	uint32_t comma = draft_find(d, i + 2, d->f->end, ",");

	if (end == CNONE)
		return;
	if (d->nr_locals == DRAFT_MAX_LOCALS) {
		d->crowded = true;
		return;
	}
	end = comma < end ? comma : end;
	*l = (struct dlocal){ .name = i, .base = CNONE,
			      .param = DLOCAL_INTEGER,
			      .end = block_end(d, i) };
	if (draft_is(d, i - 1, "*") || draft_is(d, i - 1, "restrict")) {
		if (!local_pointer(d, l, end))
			return;
	} else if (integer) {
		draft_parse(d, i + 2, end, &l->value);
		if (assignments(d, i, i + 1, l->end, NULL))
			poly_bad(&l->value);
		draft_name_local(d, d->nr_locals);
	} else {
		return;
	}
	d->nr_locals++;
}

/* "float p[1024];" */
static void read_local_array(struct draft *d, uint32_t i)
{
	struct dlocal *l = &d->local[d->nr_locals];

	if (d->nr_locals == DRAFT_MAX_LOCALS ||
	    !draft_is(d, d->u->match[i + 1] + 1, ";"))
		return;
	*l = (struct dlocal){ .name = i, .base = CNONE,
			      .param = DLOCAL_ARRAY,
			      .end = block_end(d, i) };
	draft_parse(d, i + 2, d->u->match[i + 1], &l->value);
	if (l->value.bad || poly_degree(&l->value) || !l->value.nr)
		return;
	d->nr_locals++;
}

static void read_name(struct draft *d, uint32_t i, bool integer)
{
	bool typed = draft_is_word(d, i - 1) ||
		     (draft_is(d, i - 1, "*") && draft_is_word(d, i - 2));

	if (draft_is(d, i + 1, "=") &&
	    (typed || (integer && draft_is(d, i - 1, ","))))
		read_local(d, i, integer);
	else if (draft_is(d, i + 1, "[") && draft_is_word(d, i - 1) &&
		 !draft_is(d, i - 1, "return") && !draft_is(d, i - 1, "else"))
		read_local_array(d, i);
}

/* One that is in order of the tokens, so that names are known when used. */
static void read_loops_and_locals(struct draft *d)
{
	size_t next = 0;
	bool integer = false;

	cunit_loops(d->u, d->f, &d->loops);
	for (uint32_t i = d->f->body + 1; i < d->f->end; i++) {
		while (next < d->loops.nr && d->loops.v[next].kw < i)
			next++;
		if (next < d->loops.nr && d->loops.v[next].kw == i) {
			if (d->nr_loops < DRAFT_MAX_LOOPS)
				read_for(d, &d->loops.v[next]);
			else
				d->crowded = true;
			next++;
			i = d->u->match[i + 1];
			integer = false;
			continue;
		}
		if (draft_is(d, i, "while") && draft_is(d, i + 1, "(") &&
		    !draft_is(d, d->u->match[i + 1] + 1, ";"))
			read_while(d, i);
		if (draft_is(d, i, ";") || draft_is(d, i, "{") ||
		    draft_is(d, i, "}"))
			integer = false;
		else if (is_integer_type(d, i))
			integer = true;
		if (draft_is_word(d, i))
			read_name(d, i, integer);
	}
}

/* ---- scopes ---- */

static bool has_jump(const struct draft *d, uint32_t first, uint32_t last)
{
	for (uint32_t i = first; i <= last; i++)
		if (draft_is(d, i, "break") || draft_is(d, i, "continue") ||
		    draft_is(d, i, "goto") || draft_is(d, i, "return"))
			return true;
	return false;
}

static void add_scope(struct draft *d, uint32_t first, int loop)
{
	struct dscope *s = &d->scope[d->nr_scopes];
	uint32_t last = cunit_statement_end(d->u, first);

	if (last == CNONE || d->nr_scopes == DRAFT_MAX_SCOPES) {
		d->crowded = true;
		return;
	}
	*s = (struct dscope){ .outer = -1, .loop = loop, .first = first,
			      .last = last,
			      .jumps = has_jump(d, first, last) };
	for (int k = 0; k < d->nr_scopes; k++)
		if (d->scope[k].first <= first && d->scope[k].last >= last)
			s->outer = k;
	d->nr_scopes++;
}

static void read_scopes(struct draft *d)
{
	for (uint32_t i = d->f->body + 1; i < d->f->end; i++) {
		bool paren = draft_is(d, i + 1, "(");
		int loop = -1;

		if (draft_is(d, i, "else")) {
			add_scope(d, i + 1, -1);
			continue;
		}
		if (!paren ||
		    (!draft_is(d, i, "for") && !draft_is(d, i, "if") &&
		     !draft_is(d, i, "while") && !draft_is(d, i, "switch")))
			continue;
		if (draft_is(d, i, "while") &&
		    draft_is(d, d->u->match[i + 1] + 1, ";"))
			continue;
		for (int k = 0; k < d->nr_loops; k++)
			if (d->loop[k].c.kw == i)
				loop = k;
		add_scope(d, d->u->match[i + 1] + 1, loop);
	}
}

/* ---- all of it ---- */

/* The brackets of "x[][K]". */
static void read_declared(struct draft *d, struct dparam *p)
{
	uint32_t at = p->c->kind == CPARAM_ARRAY ? p->c->mark : CNONE;

	/* "(*x)[K]" is "x[][K]". */
	if (p->c->kind == CPARAM_POINTER && draft_is(d, p->c->name + 1, ")") &&
	    draft_is(d, p->c->name + 2, "[")) {
		at = p->c->name + 2;
		poly_bad(&p->extent[p->declared++]);
	}
	for (; at != CNONE && draft_is(d, at, "["); at = d->u->match[at] + 1) {
		uint32_t first = at + 1, end = d->u->match[at];

		while (first < end &&
		       (draft_is(d, first, "restrict") ||
			draft_is(d, first, "__restrict") ||
			draft_is(d, first, "static") ||
			draft_is(d, first, "const")))
			first++;
		if (p->declared == KERNEL_MAX_RANK)
			break;
		draft_parse(d, first, end, &p->extent[p->declared++]);
	}
}

int draft_read(struct draft *d, struct err *err)
{
	int rc;

	if (d->f->problem)
		return err_set(err, ERR_FORMAT, "the entry cannot be read: %s",
			       d->f->problem);
	rc = read_params(d, err);
	if (!rc && !d->caller)
		rc = read_return(d, err);
	if (rc)
		return rc;
	read_changes(d);
	for (int k = 0; k < d->nr_params; k++)
		read_declared(d, &d->param[k]);
	read_loops_and_locals(d);
	read_scopes(d);
	draft_walk(d);
	return 0;
}

void draft_release(struct draft *d)
{
	for (int k = 0; k < d->nr_params; k++)
		free(d->param[k].name);
	free(d->param);
	free(d->access);
	free(d->seen);
	cloops_release(&d->loops);
	strv_release(&d->names);
}
