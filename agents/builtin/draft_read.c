/* What the source says of its parameters, loops and subscripts. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agents/builtin/draft_parts.h"
#include "core/mem.h"

#define MAX_NESTING 60

static bool is(const struct draft *d, uint32_t i, const char *s)
{
	return clex_is(&d->u->lex, i, s);
}

static bool is_word(const struct draft *d, uint32_t i)
{
	return i < d->u->lex.nr && d->u->lex.v[i].kind == CTOK_WORD;
}

static char *spelling(const struct draft *d, uint32_t i)
{
	const struct ctok *t = &d->u->lex.v[i];

	return xstrndup(d->u->lex.text + t->pos, t->len);
}

static bool is_name(const struct draft *d, uint32_t i, const char *name)
{
	return is_word(d, i) && is(d, i, name);
}

/* ---- types ---- */

/* The words of a type without qualifiers, joined by blanks. */
static void type_words(const struct draft *d, uint32_t first, uint32_t last,
		       bool *is_const, struct buf *out)
{
	static const char *const skip[] = {
		"volatile", "restrict", "__restrict", "__restrict__",
		"register", "extern", "inline", "static"
	};

	for (uint32_t i = first; i <= last; i++) {
		bool drop = !is_word(d, i);
		char *word;

		if (is(d, i, "[") || is(d, i, "(") || is(d, i, "*"))
			break;
		if (is(d, i, "const")) {
			*is_const = true;
			continue;
		}
		for (size_t k = 0; k < ARRAY_SIZE(skip); k++)
			drop = drop || is(d, i, skip[k]);
		if (drop)
			continue;
		word = spelling(d, i);
		buf_addf(out, "%s%s", out->len ? " " : "", word);
		free(word);
	}
}

/* The type of a C name; -1 if there is none. */
static int type_of(const char *words)
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
		if (is(d, i, "["))
			break;
		nr += is(d, i, "*");
	}
	return nr;
}

static void set_name(struct draft *d, int sym, const char *name)
{
	while (d->names.nr < SYM_NR)
		strv_push(&d->names, "");
	free(d->names.v[sym]);
	d->names.v[sym] = xstrdup(name);
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
	p->name = spelling(d, c->name);
	set_name(d, n, p->name);
	type_words(d, c->first, c->name - 1, &p->is_const, &words);
	type = type_of(words.ptr);
	p->is_array = c->kind != CPARAM_VALUE;
	p->size_type = (enum dim_type)size_type_of(words.ptr);
	p->is_size = !p->is_array && size_type_of(words.ptr) >= 0;
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

	type_words(d, d->f->first, d->f->name - 1, &is_const, &words);
	d->returns = !strcmp(words.ptr, "void") ? -1 : type_of(words.ptr);
	if ((d->returns < 0 && strcmp(words.ptr, "void")) ||
	    is(d, d->f->name - 1, "*"))
		err_set(err, ERR_FORMAT, "the entry returns '%.60s', which no "
			"section can say", words.ptr);
	buf_release(&words);
	return err->code;
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

static bool macro_value(const struct draft *d, const char *name, size_t len,
			int nesting, int64_t *value)
{
	const struct clex *l = &d->u->lex;
	bool found = false;

	for (size_t k = 0; k < l->nr_all; k++) {
		const char *line = l->text + l->all[k].pos;
		struct macro_scan s = { d, NULL, line + l->all[k].len,
					nesting };

		if (l->all[k].kind != CTOK_LINE)
			continue;
		s.at = macro_body(line, s.end, name, len);
		if (!s.at)
			continue;
		found = macro_sum(&s, value);
		macro_blanks(&s);
		found = found && (s.at == s.end || *s.at == '/' ||
				  *s.at == '\r');
	}
	return found;
}

static void resolve(const struct draft *d, uint32_t i, struct poly *p)
{
	int64_t value = 0;

	for (int k = d->nr_loops - 1; k >= 0; k--) {
		const struct cloop *c = d->loop[k].c;

		if (c->var != CNONE && i > c->lparen && i <= c->last &&
		    clex_same(&d->u->lex, c->var, i)) {
			poly_sym(p, (uint16_t)(SYM_LOOP + k));
			return;
		}
	}
	for (int k = d->nr_locals - 1; k >= 0; k--) {
		if (d->local[k].name < i && d->local[k].param < 0 &&
		    clex_same(&d->u->lex, d->local[k].name, i)) {
			if (d->local[k].value.nr > 1 && !d->local[k].value.bad)
				poly_sym(p, (uint16_t)(SYM_LOCAL + k));
			else
				*p = d->local[k].value;
			return;
		}
	}
	for (int k = 0; k < d->nr_params; k++) {
		if (d->param[k].is_size && is_name(d, i, d->param[k].name)) {
			poly_sym(p, (uint16_t)k);
			return;
		}
	}
	if (is_word(d, i) &&
	    macro_value(d, d->u->lex.text + d->u->lex.v[i].pos,
			d->u->lex.v[i].len, 0, &value) && value > -POLY_MAX_COEF &&
	    value < POLY_MAX_COEF)
		poly_const(p, value);
	else
		poly_bad(p);
}

static void parse_number(struct expr_scan *s, struct poly *p)
{
	char *text = spelling(s->d, s->at), *end;
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
		"int", "long", "size_t", "unsigned", "ptrdiff_t", "int64_t",
		"ssize_t"
	};

	for (size_t k = 0; k < ARRAY_SIZE(types); k++) {
		if (is(s->d, s->at, "(") && is(s->d, s->at + 1, types[k])) {
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
	} else if (is(s->d, s->at, "(")) {
		struct expr_scan in = { s->d, s->at + 1, u->match[s->at],
					s->nesting + 1 };

		parse_sum(&in, p);
		if (in.at != in.end)
			poly_bad(p);
		s->at = u->match[s->at] + 1;
	} else if (u->lex.v[s->at].kind == CTOK_NUMBER) {
		parse_number(s, p);
	} else if (is_word(s->d, s->at) && !is(s->d, s->at + 1, "(") &&
		   !is(s->d, s->at + 1, "[")) {
		resolve(s->d, s->at, p);
		s->at++;
	} else {
		poly_bad(p);
	}
}

static void parse_product(struct expr_scan *s, struct poly *p)
{
	parse_factor(s, p);
	while (s->at < s->end && is(s->d, s->at, "*")) {
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
	       (is(s->d, s->at, "+") || is(s->d, s->at, "-"))) {
		bool minus = is(s->d, s->at, "-");
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
static void parse(const struct draft *d, uint32_t first, uint32_t end,
		  struct poly *p)
{
	struct expr_scan s = { d, first, end, 0 };

	parse_sum(&s, p);
	if (s.at != end)
		poly_bad(p);
}

/* ---- loops and locals ---- */

static uint32_t find_in(const struct draft *d, uint32_t i, uint32_t end,
			const char *what)
{
	for (; i < end; i++) {
		if (is(d, i, what))
			return i;
		if (d->u->match[i] != CNONE && d->u->match[i] > i)
			i = d->u->match[i];
	}
	return CNONE;
}

/* "j < n", "n > j", "j <= n", "j != n", "j >= 0" of the condition. */
static void read_condition(struct draft *d, struct dloop *l, uint32_t i,
			   uint32_t end, bool down)
{
	bool left = clex_same(&d->u->lex, i, l->c->var);
	uint32_t op = left ? i + 1 : end - 2;
	struct poly limit;

	if (end < i + 3 || (!left && !clex_same(&d->u->lex, end - 1,
						l->c->var))) {
		poly_bad(&l->hi);
		return;
	}
	parse(d, left ? op + 1 : i, left ? end : op, &limit);
	if (down) {
		/* It begins with the greatest value. */
		l->hi = l->lo;
		poly_add_const(&l->hi, 1);
		l->lo = limit;
		poly_add_const(&l->lo, is(d, op, ">=") ? 0 : 1);
		return;
	}
	l->hi = limit;
	if (is(d, op, left ? "<=" : ">="))
		poly_add_const(&l->hi, 1);
	else if (!is(d, op, left ? "<" : ">") && !is(d, op, "!="))
		poly_bad(&l->hi);
}

static void read_loop(struct draft *d, const struct cloop *c)
{
	struct dloop *l = &d->loop[d->nr_loops];
	uint32_t first, second;
	bool down;

	l->c = c;
	poly_bad(&l->lo);
	poly_bad(&l->hi);
	first = find_in(d, c->lparen + 1, c->rparen, ";");
	second = first == CNONE ? CNONE : find_in(d, first + 1, c->rparen, ";");
	if (second != CNONE && c->var != CNONE) {
		down = find_in(d, second, c->rparen, "--") != CNONE ||
		       find_in(d, second, c->rparen, "-=") != CNONE;
		/* The loop is not among nr_loops yet: outer names count. */
		parse(d, c->var + 2, first, &l->lo);
		read_condition(d, l, first + 1, second, down);
	}
	d->nr_loops++;
}

/* How often a name is assigned in the function, its declaration included. */
static int assignments(const struct draft *d, uint32_t name)
{
	int nr = 0;

	for (uint32_t i = d->f->body; i < d->f->end; i++) {
		static const char *const ops[] = {
			"=", "+=", "-=", "*=", "/=", "++", "--", "<<=", ">>="
		};

		if (!clex_same(&d->u->lex, i, name))
			continue;
		for (size_t k = 0; k < ARRAY_SIZE(ops); k++)
			nr += is(d, i + 1, ops[k]);
		nr += is(d, i - 1, "++") || is(d, i - 1, "--");
	}
	return nr;
}

static int param_of(const struct draft *d, uint32_t i)
{
	for (int k = 0; k < d->nr_params; k++)
		if (is_name(d, i, d->param[k].name))
			return k;
	return -1;
}

/* The array and offset of "x", "x + e", "&x[e]", with x a parameter or a
 * local pointer; false for anything else. */
static bool read_address(const struct draft *d, uint32_t i, uint32_t end,
			 int *param, struct poly *offset)
{
	struct poly more;
	bool address = is(d, i, "&");

	i += address;
	*param = param_of(d, i);
	poly_const(offset, 0);
	if (*param < 0 || !d->param[*param].is_array)
		*param = -1;
	for (int k = d->nr_locals - 1; k >= 0 && *param < 0; k--) {
		if (d->local[k].param < 0 ||
		    !clex_same(&d->u->lex, d->local[k].name, i))
			continue;
		*param = d->local[k].param;
		*offset = d->local[k].value;
	}
	if (*param < 0)
		return false;
	if (address) {
		if (!is(d, i + 1, "[") || d->u->match[i + 1] + 1 != end)
			return false;
		parse(d, i + 2, end - 1, &more);
	} else if (i + 1 == end) {
		return true;
	} else if (is(d, i + 1, "+")) {
		parse(d, i + 2, end, &more);
	} else {
		return false;
	}
	poly_add(offset, &more);
	return true;
}

static bool is_integer_type(const struct draft *d, uint32_t i)
{
	return is(d, i, "int") || is(d, i, "long") || is(d, i, "size_t") ||
	       is(d, i, "unsigned") || is(d, i, "ptrdiff_t");
}

/* "(H-R+1)" */
static void name_local(struct draft *d, int k)
{
	struct poly value = d->local[k].value;
	struct buf text = BUF_INIT;

	draft_expand(d, &value);
	buf_addch(&text, '(');
	poly_print(&value, &d->names, &text);
	buf_addch(&text, ')');
	set_name(d, SYM_LOCAL + k, text.ptr);
	buf_release(&text);
}

/* A name with "=" behind it, in a declaration. */
static void read_local(struct draft *d, uint32_t i, bool integer)
{
	struct dlocal *l = &d->local[d->nr_locals];
	uint32_t end = find_in(d, i + 2, d->f->end, ";");
	uint32_t comma = find_in(d, i + 2, d->f->end, ",");

	if (end == CNONE || d->nr_locals == DRAFT_MAX_LOCALS)
		return;
	end = comma < end ? comma : end;
	l->name = i;
	l->param = -1;
	if (is(d, i - 1, "*") || is(d, i - 1, "restrict")) {
		if (!read_address(d, i + 2, end, &l->param, &l->value))
			return;
		if (assignments(d, i) > 1)
			d->param[l->param].moved = true;
	} else if (integer) {
		parse(d, i + 2, end, &l->value);
		if (assignments(d, i) > 1)
			poly_bad(&l->value);
		name_local(d, d->nr_locals);
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
	    !is(d, d->u->match[i + 1] + 1, ";"))
		return;
	parse(d, i + 2, d->u->match[i + 1], &l->value);
	if (l->value.bad || poly_degree(&l->value) || !l->value.nr)
		return;
	l->name = i;
	l->param = -2;
	d->nr_locals++;
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
		if (next < d->loops.nr && d->loops.v[next].kw == i &&
		    d->nr_loops < DRAFT_MAX_LOOPS) {
			read_loop(d, &d->loops.v[next++]);
			i = d->u->match[i + 1];
			continue;
		}
		if (is(d, i, ";") || is(d, i, "{") || is(d, i, "}"))
			integer = false;
		else if (is_integer_type(d, i))
			integer = true;
		if (!is_word(d, i))
			continue;
		if (is(d, i + 1, "=") &&
		    (is_word(d, i - 1) || is(d, i - 1, "*") ||
		     (integer && is(d, i - 1, ","))))
			read_local(d, i, integer);
		else if (is(d, i + 1, "[") && is_word(d, i - 1) &&
			 !is(d, i - 1, "return"))
			read_local_array(d, i);
	}
}

/* ---- accesses ---- */

/* The token after the last bracket of "x[a][b]", whose name is at i. */
static uint32_t read_brackets(struct draft *d, uint32_t i, struct daccess *a,
			      const struct poly *offset)
{
	uint32_t at = i + 1;

	for (a->nr = 0; is(d, at, "[") && a->nr < KERNEL_MAX_RANK; a->nr++) {
		parse(d, at + 1, d->u->match[at], &a->sub[a->nr]);
		at = d->u->match[at] + 1;
	}
	if (a->nr)
		poly_add(&a->sub[0], offset);
	return at;
}

static void note_use(struct draft *d, int param, uint32_t before,
		     uint32_t after)
{
	struct dparam *p = &d->param[param];
	bool assigns = is(d, after, "=");
	bool both = is(d, after, "+=") || is(d, after, "-=") ||
		    is(d, after, "*=") || is(d, after, "/=") ||
		    is(d, after, "++") || is(d, after, "--") ||
		    is(d, before, "++") || is(d, before, "--") ||
		    is(d, after, "|=") || is(d, after, "^=") ||
		    is(d, after, "&=");

	if (!p->is_read && !p->is_written)
		p->first_is_write = assigns;
	p->is_written = p->is_written || assigns || both;
	p->is_read = p->is_read || !assigns;
}

/* Something like x[e] at token i. */
static void read_access(struct draft *d, uint32_t i, int param,
			const struct poly *offset)
{
	struct daccess a = { .param = param };
	uint32_t after = read_brackets(d, i, &a, offset);

	note_use(d, param, i - 1, after);
	if (d->nr_accesses == DRAFT_MAX_ACCESSES)
		return;
	d->access[d->nr_accesses++] = a;
}

/* A use of a local array of fixed size limits what its subscript may be. */
static void read_limit(struct draft *d, uint32_t i, const struct dlocal *l)
{
	struct dlimit *m = &d->limit[d->nr_limits];

	if (d->nr_limits == DRAFT_MAX_LOCALS || l->name == i)
		return;
	parse(d, i + 2, d->u->match[i + 1], &m->need);
	if (m->need.bad || !draft_greatest(d, &m->need))
		return;
	poly_add_const(&m->need, 1);
	m->have = l->value.t[0].coef;
	for (int k = 0; k < d->nr_limits; k++)
		if (poly_eq(&d->limit[k].need, &m->need))
			return;
	if (poly_degree(&m->need))
		d->nr_limits++;
}

static void read_accesses(struct draft *d)
{
	struct poly none;

	poly_const(&none, 0);
	d->access = xcalloc(DRAFT_MAX_ACCESSES, sizeof(*d->access));
	for (uint32_t i = d->f->body + 1; i < d->f->end; i++) {
		int param = param_of(d, i);
		const struct dlocal *l = NULL;

		if (!is_word(d, i) || is(d, i - 1, ".") || is(d, i - 1, "->"))
			continue;
		for (int k = 0; k < d->nr_locals; k++)
			if (d->local[k].param != -1 && d->local[k].name <= i &&
			    clex_same(&d->u->lex, d->local[k].name, i))
				l = &d->local[k];
		if (l && l->param == -2) {
			if (is(d, i + 1, "["))
				read_limit(d, i, l);
		} else if (l) {
			if (is(d, i + 1, "["))
				read_access(d, i, l->param, &l->value);
			else if (l->name != i)
				d->param[l->param].moved = true;
		} else if (param >= 0 && d->param[param].is_array) {
			if (is(d, i + 1, "["))
				read_access(d, i, param, &none);
			else if (!is(d, i - 1, "=") && !is(d, i - 1, "&"))
				d->param[param].moved = true;
		}
	}
}

/* The brackets of "x[][K]". */
static void read_declared(struct draft *d, struct dparam *p)
{
	uint32_t at = p->c->kind == CPARAM_ARRAY ? p->c->mark : CNONE;

	for (; at != CNONE && is(d, at, "["); at = d->u->match[at] + 1) {
		uint32_t first = at + 1, end = d->u->match[at];

		while (first < end &&
		       (is(d, first, "restrict") || is(d, first, "static") ||
			is(d, first, "const") || is(d, first, "__restrict")))
			first++;
		if (p->declared == KERNEL_MAX_RANK)
			break;
		parse(d, first, end, &p->extent[p->declared++]);
	}
}

void draft_expand(const struct draft *d, struct poly *p)
{
	for (int k = d->nr_locals - 1; k >= 0; k--)
		if (d->local[k].param == -1)
			poly_put(p, (uint16_t)(SYM_LOCAL + k),
				 &d->local[k].value);
}

void draft_values(const struct draft *d, double values[SYM_NR])
{
	for (int k = d->nr_params; k < SYM_NR; k++)
		values[k] = 0;
	for (int k = 0; k < d->nr_locals; k++)
		if (d->local[k].param == -1 && !d->local[k].value.bad)
			values[SYM_LOCAL + k] =
				poly_eval(&d->local[k].value, values);
}

bool draft_greatest(const struct draft *d, struct poly *p)
{
	for (int k = d->nr_loops - 1; k >= 0; k--) {
		uint16_t sym = (uint16_t)(SYM_LOOP + k);
		struct poly coef, rest, value = d->loop[k].hi;
		int up = 0, down = 0;

		if (!poly_has(p, sym))
			continue;
		poly_split(p, sym, &coef, &rest);
		for (int i = 0; i < coef.nr; i++) {
			up += coef.t[i].coef > 0;
			down += coef.t[i].coef < 0;
		}
		if (coef.bad || (up && down))
			return false;
		if (down)
			value = d->loop[k].lo;
		else
			poly_add_const(&value, -1);
		if (value.bad)
			return false;
		poly_put(p, sym, &value);
	}
	return !p->bad;
}

int draft_read(struct draft *d, struct err *err)
{
	int rc;

	if (d->f->problem)
		return err_set(err, ERR_FORMAT, "the entry cannot be read: %s",
			       d->f->problem);
	rc = read_params(d, err);
	if (!rc)
		rc = read_return(d, err);
	if (rc)
		return rc;
	read_loops_and_locals(d);
	read_accesses(d);
	for (int k = 0; k < d->nr_params; k++)
		read_declared(d, &d->param[k]);
	return 0;
}

void draft_release(struct draft *d)
{
	for (int k = 0; k < d->nr_params; k++)
		free(d->param[k].name);
	free(d->param);
	free(d->access);
	cloops_release(&d->loops);
	strv_release(&d->names);
}
