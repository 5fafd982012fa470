#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/kernel_parts.h"
#include "core/mem.h"
#include "core/source.h"

#define MAX_ALIGN 4096
#define MAX_EXACT 0x1p53	/* integers that a double holds */

static void blanks(const char **s)
{
	while (**s == ' ' || **s == '\t')
		(*s)++;
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Takes letters, digits and '_'; false if there is none, or too many. */
static bool take_word(const char **s, char word[KERNEL_MAX_NAME + 1])
{
	size_t len = 0;

	blanks(s);
	while (is_word((*s)[len]))
		len++;
	if (!len || len > KERNEL_MAX_NAME)
		return false;
	memcpy(word, *s, len);
	word[len] = '\0';
	*s += len;
	return true;
}

static bool take_char(const char **s, char c)
{
	blanks(s);
	if (**s != c)
		return false;
	(*s)++;
	return true;
}

/* Behind the opening bracket: the text up to the one that closes it. */
static bool take_inside(const char **s, char open, char close,
			struct buf *out)
{
	int depth = 1;

	buf_reset(out);
	for (; **s; (*s)++) {
		if (**s == open)
			depth++;
		if (**s == close && --depth == 0) {
			(*s)++;
			return true;
		}
		buf_addch(out, **s);
	}
	return false;
}

struct arg *kernel_find_arg(struct kernel *k, const char *name)
{
	for (int i = 0; i < k->nr_args; i++)
		if (k->arg[i].name && !strcmp(k->arg[i].name, name))
			return &k->arg[i];
	return NULL;
}

void kernel_arg_release(struct arg *a)
{
	free(a->name);
	for (int i = 0; i < a->rank; i++)
		expr_release(&a->extent[i]);
	expr_release(&a->ld);
	expr_release(&a->input.total);
	free(a->input.path);
	memset(a, 0, sizeof(*a));
}

/* The first name in text that is no dim. */
static bool undeclared(const struct kernel *k, const char *text,
		       char word[KERNEL_MAX_NAME + 1])
{
	for (const char *s = text; *s; s++) {
		if (!is_word(*s))
			continue;
		if (!take_word(&s, word))
			return false;
		if (!isdigit((unsigned char)*word) &&
		    !strv_has(&k->dim_names, word) &&
		    !((!strcmp(word, "min") || !strcmp(word, "max")) &&
		      s[strspn(s, " \t")] == '('))
			return true;
		s--;
	}
	return false;
}

int kernel_parse_expr(struct kernel_parse *p, struct expr *e,
		      const char *text, const char *what, const char *of)
{
	struct err why = ERR_INIT;
	char word[KERNEL_MAX_NAME + 1];
	int ret = expr_parse(e, text, &p->k->dim_names, &why);

	if (!ret)
		return 0;
	if (ret == ERR_NOTFOUND && undeclared(p->k, text, word))
		return kernel_fail(p, "%s '%s'%s%s is not declared: "
				   "add 'arg = dim %s'", what, word,
				   of ? " of " : "", of ? of : "", word);
	return kernel_fail(p, "%s%s%s: %s", what, of ? " of " : "",
			   of ? of : "", why.msg);
}

/* Behind the word "dim": [int|long|size_t] NAME. */
static int read_dim(struct kernel_parse *p, const char *s,
		    char name[KERNEL_MAX_NAME + 1], enum dim_type *type)
{
	static const char *const types[] = { "int", "long", "size_t" };

	*type = DIM_INT;
	if (!take_word(&s, name))
		return kernel_fail(p, "wanted 'arg = dim NAME'");
	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		if (strcmp(name, types[i]))
			continue;
		*type = (enum dim_type)i;
		if (!take_word(&s, name))
			return kernel_fail(p, "wanted 'arg = dim %s NAME'",
					   types[i]);
		break;
	}
	blanks(&s);
	if (*s)
		return kernel_fail(p, "'%.40s' after the dim '%s': wanted "
				   "'arg = dim [int|long|size_t] NAME'", s,
				   name);
	if (!kernel_is_name(name))
		return kernel_fail(p, "'%s' can't be the name of a dim",
				   name);
	return 0;
}

int kernel_parse_dim(struct kernel_parse *p, const char *value)
{
	struct kernel *k = p->k;
	char word[KERNEL_MAX_NAME + 1];
	enum dim_type type;
	int ret;

	if (!take_word(&value, word) || strcmp(word, "dim"))
		return 0;	/* another kind of argument */
	ret = read_dim(p, value, word, &type);
	if (ret)
		return ret;
	if (strv_has(&k->dim_names, word))
		return kernel_fail(p, "the dim '%s' is declared twice", word);
	if (k->nr_dims == KERNEL_MAX_DIMS)
		return kernel_fail(p, "over %d dims", KERNEL_MAX_DIMS);
	k->dim[k->nr_dims].name = xstrdup(word);
	k->dim[k->nr_dims++].type = type;
	strv_push(&k->dim_names, word);
	return 0;
}

static int dim_arg(struct kernel_parse *p, struct arg *a, const char *s)
{
	char name[KERNEL_MAX_NAME + 1];
	enum dim_type type;
	int ret = read_dim(p, s, name, &type);

	if (ret)
		return ret;
	if (kernel_find_arg(p->k, name))
		return kernel_fail(p, "the argument '%s' is declared twice",
				   name);
	a->kind = ARG_DIM;
	a->name = xstrdup(name);
	for (int i = 0; i < p->k->nr_dims; i++)
		if (!strcmp(p->k->dim[i].name, name))
			a->dim = i;
	return 0;
}

static int read_kind(struct kernel_parse *p, const char **s,
		     enum arg_kind *kind)
{
	static const char *const kinds[] = {
		[ARG_IN] = "in", [ARG_OUT] = "out", [ARG_INOUT] = "inout",
		[ARG_DIM] = "dim", [ARG_RET] = "ret", [ARG_WEIGHT] = "weight",
	};
	char word[KERNEL_MAX_NAME + 1] = "";

	if (take_word(s, word))
		for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
			if (!strcmp(kinds[i], word)) {
				*kind = (enum arg_kind)i;
				return 0;
			}
	return kernel_fail(p, "an argument begins with in, out, inout, dim, "
			   "ret or weight, not with '%s'", word);
}

static int read_type(struct kernel_parse *p, const char **s, enum dtype *type)
{
	char word[KERNEL_MAX_NAME + 1] = "";
	int t = take_word(s, word) ? dtype_parse(word) : -1;

	if (t < 0)
		return kernel_fail(p, "'%s' is not a type: wanted f64 f32 f16 "
				   "bf16 f8e4m3 f8e5m2 i64 i32 i16 i8 u64 u32 "
				   "u16 u8 or bool", word);
	*type = (enum dtype)t;
	return 0;
}

static int read_name(struct kernel_parse *p, const char **s, struct arg *a)
{
	char word[KERNEL_MAX_NAME + 1];

	if (take_char(s, '*'))
		return kernel_fail(p, "an array is declared by its extents, "
				   "as in 'x[M][N]'; a pointer to pointers "
				   "can't be");
	if (!take_word(s, word))
		return kernel_fail(p, "an argument lacks its name");
	if (!kernel_is_name(word))
		return kernel_fail(p, "'%s' can't be the name of an argument",
				   word);
	if (kernel_find_arg(p->k, word) || strv_has(&p->k->dim_names, word))
		return kernel_fail(p, "the argument '%s' is declared twice",
				   word);
	a->name = xstrdup(word);
	return 0;
}

static int read_extents(struct kernel_parse *p, const char **s, struct arg *a,
			const char *of)
{
	struct buf text = BUF_INIT;
	int ret = 0;

	while (!ret && take_char(s, '[')) {
		if (a->rank == KERNEL_MAX_RANK)
			ret = kernel_fail(p, "%s has over %d extents", of,
					  KERNEL_MAX_RANK);
		else if (!take_inside(s, '[', ']', &text))
			ret = kernel_fail(p, "an extent of %s lacks its ']'",
					  of);
		else
			ret = kernel_parse_expr(p, &a->extent[a->rank],
						text.ptr, "extent", of);
		if (!ret)
			a->rank++;
	}
	buf_release(&text);
	return ret;
}

static int set_ld(struct kernel_parse *p, struct arg *a, const char *inside,
		  const char *of)
{
	if (a->has_ld)
		return kernel_fail(p, "%s has two ld()", of);
	if (a->rank < 2)
		return kernel_fail(p, "ld() of %s needs two or more extents",
				   of);
	a->has_ld = true;
	return kernel_parse_expr(p, &a->ld, inside, "ld", of);
}

static int set_align(struct kernel_parse *p, struct arg *a,
		     const char *inside, const char *of)
{
	int64_t n;

	if (!kernel_integer(inside, MAX_ALIGN, &n) || n < 1 || (n & (n - 1)))
		return kernel_fail(p, "align(%.40s) of %s: wanted a power of "
				   "two up to %d", inside, of, MAX_ALIGN);
	if (!a->rank)
		return kernel_fail(p, "align() of %s: it is a scalar", of);
	if ((size_t)n < dtype_size(a->type))
		return kernel_fail(p, "align(%d) of %s is less than that of "
				   "its type", (int)n, of);
	if (a->align)
		return kernel_fail(p, "%s has two align()", of);
	a->align = (int)n;
	return 0;
}

static bool fits(enum dtype t, double v)
{
	double back;

	if (v < dtype_min(t) || v > dtype_max(t))
		return false;
	if (dtype_is_float(t))
		return true;
	back = nearbyint(v);
	return back == v && fabs(v) <= MAX_EXACT;
}

static int set_value(struct kernel_parse *p, struct arg *a, const char *text,
		     const char *of)
{
	if (a->rank || (a->kind != ARG_IN && a->kind != ARG_WEIGHT))
		return kernel_fail(p, "%s is no scalar that goes in, so it "
				   "can't be given a value", of);
	if (a->type == DT_BOOL && !strcmp(text, "true"))
		a->value = 1;
	else if (a->type == DT_BOOL && !strcmp(text, "false"))
		a->value = 0;
	else if (!kernel_number(text, &a->value))
		return kernel_fail(p, "the value '%.40s' of %s is not a "
				   "number", text, of);
	if (!fits(a->type, a->value))
		return kernel_fail(p, "the value '%.40s' of %s does not fit "
				   "in %s", text, of, dtype_name(a->type));
	a->has_value = true;
	return 0;
}

static int read_attribute(struct kernel_parse *p, const char **s,
			  struct arg *a, const char *of)
{
	struct buf inside = BUF_INIT;
	const char *from = *s;
	char word[KERNEL_MAX_NAME + 1];
	int ret;

	if (!take_word(s, word) || !take_char(s, '(') ||
	    !take_inside(s, '(', ')', &inside))
		ret = kernel_fail(p, "'%.40s' after %s: wanted an extent, "
				  "ld(...), align(N) or = value", from, of);
	else if (!strcmp(word, "ld"))
		ret = set_ld(p, a, inside.ptr, of);
	else if (!strcmp(word, "align"))
		ret = set_align(p, a, inside.ptr, of);
	else
		ret = kernel_fail(p, "'%s(...)' after %s: wanted ld(...) or "
				  "align(N)", word, of);
	buf_release(&inside);
	return ret;
}

static int read_attributes(struct kernel_parse *p, const char *s,
			   struct arg *a, const char *of)
{
	int ret = 0;

	for (;;) {
		blanks(&s);
		if (ret || !*s)
			return ret;
		if (*s == '=') {
			s++;
			blanks(&s);
			return set_value(p, a, s, of);
		}
		ret = read_attribute(p, &s, a, of);
	}
}

static void default_input(struct arg *a)
{
	a->input.kind = dtype_is_float(a->type) ? INPUT_NORMAL : INPUT_RANDINT;
	a->input.a = 0;
	a->input.b = dtype_is_float(a->type) || a->type == DT_BOOL ? 1 : 3;
}

static int ret_arg(struct kernel_parse *p, const struct arg *a, const char *s)
{
	for (const struct arg *b = p->k->arg; b < a; b++)
		if (b->kind == ARG_RET)
			return kernel_fail(p, "there are two 'arg = ret'");
	blanks(&s);
	if (*s)
		return kernel_fail(p, "'%.40s' after the type of 'ret': it "
				   "has no name and no extents", s);
	return 0;
}

static int named_arg(struct kernel_parse *p, struct arg *a, const char *s)
{
	char of[KERNEL_MAX_NAME + 16];
	int ret = read_name(p, &s, a);

	if (ret)
		return ret;
	snprintf(of, sizeof(of), "argument '%s'", a->name);
	ret = read_extents(p, &s, a, of);
	if (!ret)
		ret = read_attributes(p, s, a, of);
	if (ret)
		return ret;
	if (!a->rank && (a->kind == ARG_OUT || a->kind == ARG_INOUT))
		return kernel_fail(p, "%s is an output by value: write its "
				   "extents, '%s[1]' for a single element",
				   of, a->name);
	if (a->kind != ARG_OUT)
		default_input(a);
	return 0;
}

int kernel_parse_arg(struct kernel_parse *p, const char *value)
{
	struct kernel *k = p->k;
	enum arg_kind kind = ARG_IN;
	struct arg *a;
	int ret = read_kind(p, &value, &kind);

	if (ret)
		return ret;
	if (k->nr_args == KERNEL_MAX_ARGS)
		return kernel_fail(p, "over %d arguments", KERNEL_MAX_ARGS);
	a = &k->arg[k->nr_args];
	a->kind = kind;
	/* Counted only now, so that its name does not find itself. */
	if (kind == ARG_DIM)
		ret = dim_arg(p, a, value);
	else
		ret = read_type(p, &value, &a->type);
	if (!ret && kind == ARG_RET)
		ret = ret_arg(p, a, value);
	else if (!ret && kind != ARG_DIM)
		ret = named_arg(p, a, value);
	k->nr_args++;
	return ret;
}

enum need { ANY, FLOATS, INTEGERS };

static const struct input_rule {
	const char *name;
	int numbers;		/* in the parentheses; -1: an expression or a
				 * path */
	enum need need;
	bool scalar;		/* makes sense for one value */
} rules[] = {
	[INPUT_NORMAL] = { "normal", 2, FLOATS, true },
	[INPUT_UNIFORM] = { "uniform", 2, FLOATS, true },
	[INPUT_RANDINT] = { "randint", 2, ANY, true },
	[INPUT_PERM] = { "perm", 0, INTEGERS, false },
	[INPUT_IOTA] = { "iota", 0, ANY, false },
	[INPUT_SORTED] = { "sorted", 2, ANY, false },
	[INPUT_SIZES] = { "sizes", -1, INTEGERS, false },
	[INPUT_OFFSETS] = { "offsets", -1, INTEGERS, false },
	[INPUT_ONEHOT] = { "onehot", 0, ANY, false },
	[INPUT_CONST] = { "const", 1, ANY, true },
	[INPUT_FILE] = { "file", -1, ANY, false },
};

/* "a,b" into a and b; false unless there are exactly nr numbers. */
static bool read_numbers(const char *text, int nr, double v[2])
{
	char *copy = xstrdup(text), *s = copy;
	bool good = true;

	for (int i = 0; i < nr && good; i++) {
		char *comma = strchr(s, ',');
		char *end;

		good = (comma != NULL) == (i + 1 < nr);
		if (comma)
			*comma = '\0';
		s += strspn(s, " \t");
		end = s + strlen(s);
		while (end > s && (end[-1] == ' ' || end[-1] == '\t'))
			*--end = '\0';
		good = good && kernel_number(s, &v[i]);
		if (comma)
			s = comma + 1;
	}
	free(copy);
	return good;
}

static int check_numbers(struct kernel_parse *p, const struct arg *a,
			 const struct input_rule *r, const double v[2])
{
	enum input_kind kind = (enum input_kind)(r - rules);

	if (kind == INPUT_NORMAL)
		return v[1] >= 0 ? 0 : kernel_fail(p, "the deviation of "
			"normal() for '%s' is negative", a->name);
	if (kind == INPUT_RANDINT && (nearbyint(v[0]) != v[0] ||
				      nearbyint(v[1]) != v[1] ||
				      fabs(v[0]) > MAX_EXACT ||
				      fabs(v[1]) > MAX_EXACT))
		return kernel_fail(p, "the ends of randint() for '%s' must be "
				   "integers", a->name);
	if (r->numbers == 2 && v[0] > v[1])
		return kernel_fail(p, "the ends of %s() for '%s' are the "
				   "wrong way round", r->name, a->name);
	for (int i = 0; i < r->numbers; i++)
		if (!fits(a->type, v[i]))
			return kernel_fail(p, "%s() for '%s' goes beyond %s",
					   r->name, a->name,
					   dtype_name(a->type));
	return 0;
}

static int read_input(struct kernel_parse *p, struct arg *a,
		      const struct input_rule *r, const char *inside)
{
	struct input_spec in = { .kind = (enum input_kind)(r - rules) };
	double v[2] = { 0, 0 };
	int ret = 0;

	if (in.kind == INPUT_FILE) {
		if (!path_is_safe(inside) || *inside == '-')
			return kernel_fail(p, "file(%.80s) for '%s': wanted a "
					   "path below the repository's top",
					   inside, a->name);
		in.path = xstrdup(inside);
	} else if (r->numbers < 0) {
		ret = kernel_parse_expr(p, &in.total, inside, "total", NULL);
	} else if (!read_numbers(inside, r->numbers, v)) {
		ret = kernel_fail(p, "%s() for '%s' takes %d number%s",
				  r->name, a->name, r->numbers,
				  r->numbers == 1 ? "" : "s");
	} else {
		ret = check_numbers(p, a, r, v);
	}
	if (ret)
		return ret;
	in.a = v[0];
	in.b = v[1];
	a->input = in;
	a->has_input = true;
	return 0;
}

static int input_target(struct kernel_parse *p, const char **s,
			struct arg **out)
{
	char word[KERNEL_MAX_NAME + 1] = "";
	struct arg *a = take_word(s, word) ? kernel_find_arg(p->k, word) :
		NULL;

	*out = a;
	if (!a)
		return kernel_fail(p, "input for '%s', which is no argument",
				   word);
	if (a->kind == ARG_DIM)
		return kernel_fail(p, "'%s' is a dim: its values stand in "
				   "'time' and 'check'", word);
	if (a->kind == ARG_OUT)
		return kernel_fail(p, "'%s' is only written: it takes no "
				   "input (or declare it inout)", word);
	if (a->has_value)
		return kernel_fail(p, "'%s' has a value already", word);
	if (a->has_input)
		return kernel_fail(p, "two inputs for '%s'", word);
	return 0;
}

static int input_rule(struct kernel_parse *p, const char **s,
		      const struct arg *a, const struct input_rule **out)
{
	char word[KERNEL_MAX_NAME + 1] = "";
	const struct input_rule *r = NULL;

	if (take_word(s, word))
		for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
			if (!strcmp(rules[i].name, word))
				r = &rules[i];
	if (!r)
		return kernel_fail(p, "'%s' is no kind of input: wanted "
				   "normal uniform randint perm iota sorted "
				   "sizes offsets onehot const or file", word);
	if (!a->rank && !r->scalar)
		return kernel_fail(p, "%s is for arrays, and '%s' is a scalar",
				   word, a->name);
	if (r->need == FLOATS && !dtype_is_float(a->type))
		return kernel_fail(p, "%s is for floats, and '%s' is %s: try "
				   "randint(lo,hi)", word, a->name,
				   dtype_name(a->type));
	if (r->need == INTEGERS && dtype_is_float(a->type))
		return kernel_fail(p, "%s is for integers, and '%s' is %s",
				   word, a->name, dtype_name(a->type));
	*out = r;
	return 0;
}

int kernel_parse_input(struct kernel_parse *p, const char *value)
{
	struct buf inside = BUF_INIT;
	const struct input_rule *r = NULL;
	struct arg *a;
	bool closed = true, open;
	int ret = input_target(p, &value, &a);

	if (!ret)
		ret = input_rule(p, &value, a, &r);
	if (ret || !r)
		return ret;
	open = take_char(&value, '(');
	if (open)
		closed = take_inside(&value, '(', ')', &inside);
	blanks(&value);
	if (open != (r->numbers != 0) || !closed || *value)
		ret = kernel_fail(p, "input of '%s': wanted '%s%s'", a->name,
				  r->name, r->numbers ? "(...)" : "");
	else
		ret = read_input(p, a, r, inside.ptr);
	buf_release(&inside);
	return ret;
}
