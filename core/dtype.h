/*
 * Element types of kernel arguments.  16-bit and 8-bit floats are carried as
 * their bits; dtype_get/dtype_set convert through double, rounding to nearest
 * even.
 *
 * Storing what the type cannot hold: f32, f16, bf16 and f8e5m2 overflow to
 * infinity, as IEEE 754 says.  f8e4m3 (the OCP format: no infinity, one NaN)
 * keeps to +-448 for a finite value, and an infinity becomes its NaN.
 * Integers keep to their ends, NaN becomes 0; bool is "not 0".
 * i64 and u64 past 2^53 lose their low bits in dtype_get.
 */
#ifndef CORE_DTYPE_H
#define CORE_DTYPE_H

#include <stdbool.h>
#include <stddef.h>

enum dtype {
	DT_F64, DT_F32, DT_F16, DT_BF16, DT_F8E4M3, DT_F8E5M2,
	DT_I64, DT_I32, DT_I16, DT_I8, DT_U64, DT_U32, DT_U16, DT_U8, DT_BOOL,
	DT_NR
};

/* "f32"; -1 from dtype_parse() for an unknown name. */
const char *dtype_name(enum dtype t);
int dtype_parse(const char *name);
size_t dtype_size(enum dtype t);	/* bytes */
bool dtype_is_float(enum dtype t);
/* The type in a C prototype: "float", "uint16_t", "_Bool". */
const char *dtype_ctype(enum dtype t);
/* Unit roundoff, 2^-24 for f32; 0 for integers. */
double dtype_roundoff(enum dtype t);
/* Least and greatest finite value (i64 and u64: rounded to double). */
double dtype_min(enum dtype t);
double dtype_max(enum dtype t);
/* The array may be unaligned. */
double dtype_get(enum dtype t, const void *array, size_t i);
void dtype_set(enum dtype t, void *array, size_t i, double value);

#endif
