#include "core/expr.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

#define MAX_DEPTH 32		/* of parentheses and signs */
#define MAX_TEXT 512		/* bytes of an expression */

enum op {
	OP_NUM, OP_NAME, OP_NEG, OP_MUL, OP_DIV, OP_MOD, OP_ADD, OP_SUB,
	OP_EQ, OP_NE, OP_LT, OP_LE, OP_GT, OP_GE, OP_MIN, OP_MAX,
	OP_BOOL,		/* 0 or 1 */
	/* If the top decides the result: makes it 0 or 1 and jumps to arg;
	 * else drops it. */
	OP_AND, OP_OR
};

struct parser {
	struct expr *e;
	const char *text, *p;
	const struct strv *names;
	int depth;
	struct err *err;
};

static int parse_or(struct parser *s);

static int emit(struct parser *s, enum op op, int64_t arg)
{
	if (s->e->nr == EXPR_MAX_OPS)
		return err_set(s->err, ERR_LIMIT, "the expression '%.60s...' "
			       "has over %d steps", s->text, EXPR_MAX_OPS);
	s->e->op[s->e->nr].op = (unsigned char)op;
	s->e->op[s->e->nr++].arg = arg;
	return 0;
}

static void blanks(struct parser *s)
{
	while (*s->p == ' ' || *s->p == '\t')
		s->p++;
}

/* Takes the token if it stands here. */
static bool take(struct parser *s, const char *token)
{
	size_t len = strlen(token);

	blanks(s);
	if (strncmp(s->p, token, len))
		return false;
	s->p += len;
	return true;
}

static int unexpected(struct parser *s, const char *wanted)
{
	blanks(s);
	if (!*s->p)
		return err_set(s->err, ERR_FORMAT,
			       "the expression '%s' ends where %s should be",
			       s->text, wanted);
	return err_set(s->err, ERR_FORMAT,
		       "'%.20s' in the expression '%s': wanted %s",
		       s->p, s->text, wanted);
}

static int parse_number(struct parser *s)
{
	int64_t v = 0;

	for (; isdigit((unsigned char)*s->p); s->p++)
		if (__builtin_mul_overflow(v, (int64_t)10, &v) ||
		    __builtin_add_overflow(v, (int64_t)(*s->p - '0'), &v))
			return err_set(s->err, ERR_FORMAT, "a number in the "
				       "expression '%s' is too large",
				       s->text);
	if (isalpha((unsigned char)*s->p) || *s->p == '_' || *s->p == '.')
		return unexpected(s, "an operator");
	return emit(s, OP_NUM, v);
}

static int parse_pair(struct parser *s, enum op op)
{
	int ret = parse_or(s);

	if (ret)
		return ret;
	if (!take(s, ","))
		return unexpected(s, "','");
	ret = parse_or(s);
	if (ret)
		return ret;
	if (!take(s, ")"))
		return unexpected(s, "')'");
	return emit(s, op, 0);
}

static int parse_name(struct parser *s)
{
	const char *from = s->p;
	size_t len;

	while (isalnum((unsigned char)*s->p) || *s->p == '_')
		s->p++;
	len = (size_t)(s->p - from);
	if (len == 3 && !strncmp(from, "min", 3) && take(s, "("))
		return parse_pair(s, OP_MIN);
	if (len == 3 && !strncmp(from, "max", 3) && take(s, "("))
		return parse_pair(s, OP_MAX);
	for (size_t i = 0; s->names && i < s->names->nr; i++)
		if (strlen(s->names->v[i]) == len &&
		    !memcmp(s->names->v[i], from, len))
			return emit(s, OP_NAME, (int64_t)i);
	return err_set(s->err, ERR_NOTFOUND,
		       "'%.*s' is not declared: add 'arg = dim %.*s'",
		       (int)len, from, (int)len, from);
}

static int parse_operand(struct parser *s)
{
	int ret;

	blanks(s);
	if (isdigit((unsigned char)*s->p))
		return parse_number(s);
	if (isalpha((unsigned char)*s->p) || *s->p == '_')
		return parse_name(s);
	if (take(s, "-")) {
		ret = parse_operand(s);
		return ret ? ret : emit(s, OP_NEG, 0);
	}
	if (!take(s, "("))
		return unexpected(s, "a number, a name or '('");
	ret = parse_or(s);
	if (ret)
		return ret;
	return take(s, ")") ? 0 : unexpected(s, "')'");
}

static int parse_unary(struct parser *s)
{
	int ret;

	if (s->depth >= MAX_DEPTH)
		return err_set(s->err, ERR_LIMIT,
			       "the expression '%.60s...' is nested too deeply",
			       s->text);
	s->depth++;
	ret = parse_operand(s);
	s->depth--;
	return ret;
}

static int parse_term(struct parser *s)
{
	int ret = parse_unary(s);

	while (!ret) {
		enum op op = take(s, "*") ? OP_MUL : take(s, "/") ? OP_DIV :
			     take(s, "%") ? OP_MOD : OP_NUM;

		if (op == OP_NUM)
			return 0;
		ret = parse_unary(s);
		if (!ret)
			ret = emit(s, op, 0);
	}
	return ret;
}

static int parse_sum(struct parser *s)
{
	int ret = parse_term(s);

	while (!ret) {
		enum op op = take(s, "+") ? OP_ADD :
			     take(s, "-") ? OP_SUB : OP_NUM;

		if (op == OP_NUM)
			return 0;
		ret = parse_term(s);
		if (!ret)
			ret = emit(s, op, 0);
	}
	return ret;
}

static int parse_cmp(struct parser *s)
{
	static const struct { const char *token; enum op op; } ops[] = {
		{ "==", OP_EQ }, { "!=", OP_NE }, { "<=", OP_LE },
		{ ">=", OP_GE }, { "<", OP_LT }, { ">", OP_GT },
	};
	int ret = parse_sum(s);

	for (size_t i = 0; !ret && i < ARRAY_SIZE(ops); i++) {
		if (!take(s, ops[i].token))
			continue;
		ret = parse_sum(s);
		return ret ? ret : emit(s, ops[i].op, 0);
	}
	return ret;
}

/* operands joined by && or ||: each but the last jumps to the end if it
 * decides. */
static int parse_chain(struct parser *s, const char *token, enum op op,
		       int (*operand)(struct parser *))
{
	int jumps[EXPR_MAX_OPS], nr = 0;
	int ret = operand(s);

	while (!ret && take(s, token)) {
		jumps[nr++] = s->e->nr;
		ret = emit(s, op, 0);
		if (!ret)
			ret = operand(s);
	}
	if (ret || !nr)
		return ret;
	ret = emit(s, OP_BOOL, 0);
	while (nr)
		s->e->op[jumps[--nr]].arg = s->e->nr;
	return ret;
}

static int parse_and(struct parser *s)
{
	return parse_chain(s, "&&", OP_AND, parse_cmp);
}

static int parse_or(struct parser *s)
{
	return parse_chain(s, "||", OP_OR, parse_and);
}

int expr_parse(struct expr *e, const char *text, const struct strv *names,
	       struct err *err)
{
	struct parser s = { .e = e, .text = text, .p = text, .names = names,
			    .err = err };
	int ret;

	e->nr = 0;
	e->text = NULL;
	if (strlen(text) > MAX_TEXT)
		return err_set(err, ERR_LIMIT,
			       "an expression of over %d bytes", MAX_TEXT);
	ret = parse_or(&s);
	blanks(&s);
	if (!ret && *s.p)
		ret = unexpected(&s, "an operator");
	if (ret) {
		e->nr = 0;
		return ret;
	}
	e->text = xstrdup(text);
	return 0;
}

/* a op b; 0 or a negative code. */
static int apply(const struct expr *e, enum op op, int64_t a, int64_t b,
		 int64_t *out, struct err *err)
{
	bool over = false;

	switch (op) {
	case OP_MUL:
		over = __builtin_mul_overflow(a, b, out);
		break;
	case OP_ADD:
		over = __builtin_add_overflow(a, b, out);
		break;
	case OP_SUB:
		over = __builtin_sub_overflow(a, b, out);
		break;
	case OP_DIV:
	case OP_MOD:
		if (b == 0)
			return err_set(err, ERR_FORMAT,
				       "'%s' divides by zero", e->text);
		over = b == -1 && a == INT64_MIN;
		if (!over)
			*out = op == OP_DIV ? a / b : a % b;
		break;
	case OP_EQ: *out = a == b; break;
	case OP_NE: *out = a != b; break;
	case OP_LT: *out = a < b; break;
	case OP_LE: *out = a <= b; break;
	case OP_GT: *out = a > b; break;
	case OP_GE: *out = a >= b; break;
	case OP_MIN: *out = a < b ? a : b; break;
	case OP_MAX: *out = a > b ? a : b; break;
	default:
		break;
	}
	if (over)
		return err_set(err, ERR_LIMIT,
			       "'%s' does not fit in 64 bits", e->text);
	return 0;
}

int expr_eval(const struct expr *e, const int64_t *values, int64_t *out,
	      struct err *err)
{
	int64_t stack[EXPR_MAX_OPS + 1] = { 0 };
	int top = 0, ret;	/* stack[top - 1] is the last one */

	for (int i = 0; i < e->nr; i++) {
		const struct expr_op *o = &e->op[i];

		switch (o->op) {
		case OP_NUM:
			stack[top++] = o->arg;
			break;
		case OP_NAME:
			stack[top++] = values[o->arg];
			break;
		case OP_NEG:
			ret = apply(e, OP_SUB, 0, stack[top - 1],
				    &stack[top - 1], err);
			if (ret)
				return ret;
			break;
		case OP_BOOL:
			stack[top - 1] = stack[top - 1] != 0;
			break;
		case OP_AND:
		case OP_OR:
			if ((stack[top - 1] != 0) == (o->op == OP_OR)) {
				stack[top - 1] = o->op == OP_OR;
				i = (int)o->arg - 1;
			} else {
				top--;
			}
			break;
		default:
			ret = apply(e, (enum op)o->op, stack[top - 2],
				    stack[top - 1], &stack[top - 2], err);
			if (ret)
				return ret;
			top--;
			break;
		}
	}
	*out = stack[0];
	return 0;
}

bool expr_uses(const struct expr *e, int name)
{
	for (int i = 0; i < e->nr; i++)
		if (e->op[i].op == OP_NAME && e->op[i].arg == name)
			return true;
	return false;
}

void expr_release(struct expr *e)
{
	free(e->text);
	e->text = NULL;
	e->nr = 0;
}
