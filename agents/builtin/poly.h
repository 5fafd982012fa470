/*
 * Small integer polynomials over numbered symbols: subscripts, loop bounds
 * and sizes.  A result that would not fit is marked bad, and so is all that
 * comes of it.
 */
#ifndef AGENTS_BUILTIN_POLY_H
#define AGENTS_BUILTIN_POLY_H

#include <stdbool.h>
#include <stdint.h>

#include "core/buf.h"

#define POLY_TERMS 24
#define POLY_DEGREE 8
#define POLY_MAX_COEF (1ll << 40)

struct term {
	int64_t coef;			/* not 0 */
	int nr;				/* of symbols, powers repeated */
	uint16_t sym[POLY_DEGREE];	/* ascending */
};

struct poly {
	struct term t[POLY_TERMS];
	int nr;				/* 0: zero */
	bool bad;
};

void poly_const(struct poly *p, int64_t value);
void poly_sym(struct poly *p, uint16_t sym);
void poly_bad(struct poly *p);
void poly_add(struct poly *p, const struct poly *q);
void poly_add_const(struct poly *p, int64_t value);
void poly_sub(struct poly *p, const struct poly *q);
void poly_mul(struct poly *p, const struct poly *q);
bool poly_eq(const struct poly *p, const struct poly *q);
bool poly_has(const struct poly *p, uint16_t sym);
int poly_degree(const struct poly *p);
/* p = coef * sym + rest; both bad if sym stands in a higher power. */
void poly_split(const struct poly *p, uint16_t sym, struct poly *coef,
		struct poly *rest);
/* Puts q in the place of sym. */
void poly_put(struct poly *p, uint16_t sym, const struct poly *q);
/* One term by another; false if it does not divide. */
bool term_divide(const struct term *a, const struct term *b,
		 struct term *out);
void poly_term(struct poly *p, const struct term *t);
double poly_eval(const struct poly *p, const double *values);
/* As an expression of `.maxkernel`. */
void poly_print(const struct poly *p, const struct strv *names,
		struct buf *out);

#endif
