/*
 * Integer expressions over the dims of a kernel, as `.maxkernel` uses them:
 * extents ("K+1"), `ld`, `flops`, `bytes`, `require` ("K % 8 == 0").
 *
 *	or:  and { "||" and }      and: cmp { "&&" cmp }
 *	cmp: sum [ (== != < <= > >=) sum ]
 *	sum: term { (+ -) term }   term: unary { (* / %) unary }
 *	unary: [-] (number | name | "(" or ")" | min(a,b) | max(a,b))
 *
 * Arithmetic is in 64 bits; overflow and division by zero are errors.
 */
#ifndef CORE_EXPR_H
#define CORE_EXPR_H

#include <stdint.h>

#include "core/buf.h"
#include "core/err.h"

#define EXPR_MAX_OPS 64

struct expr_op {
	unsigned char op;
	int64_t arg;		/* the number, or the index of the name */
};

struct expr {
	struct expr_op op[EXPR_MAX_OPS];	/* reverse Polish */
	int nr;
	char *text;		/* as written, for messages; owned */
};

/* names: what may occur, in the order of the values given to expr_eval(). */
int expr_parse(struct expr *e, const char *text, const struct strv *names,
	       struct err *err);
int expr_eval(const struct expr *e, const int64_t *values, int64_t *out,
	      struct err *err);
bool expr_uses(const struct expr *e, int name);
void expr_release(struct expr *e);

#endif
