#include "core/dtype.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

/* Exponent and mantissa bits of the floats that C has no type for. */
struct minifloat {
	int ebits, mbits;
	bool ocp;		/* no infinity; all ones alone is NaN */
};

static const struct info {
	const char *name, *ctype;
	size_t size;
	bool is_float;
	double roundoff, min, max;
	struct minifloat mini;
} types[DT_NR] = {
	[DT_F64] = { "f64", "double", 8, true, 0x1p-53,
		     -0x1.fffffffffffffp1023, 0x1.fffffffffffffp1023,
		     { 0, 0, false } },
	[DT_F32] = { "f32", "float", 4, true, 0x1p-24,
		     -0x1.fffffep127, 0x1.fffffep127, { 0, 0, false } },
	[DT_F16] = { "f16", "uint16_t", 2, true, 0x1p-11,
		     -65504, 65504, { 5, 10, false } },
	[DT_BF16] = { "bf16", "uint16_t", 2, true, 0x1p-8,
		      -0x1.fep127, 0x1.fep127, { 8, 7, false } },
	[DT_F8E4M3] = { "f8e4m3", "uint8_t", 1, true, 0x1p-4,
			-448, 448, { 4, 3, true } },
	[DT_F8E5M2] = { "f8e5m2", "uint8_t", 1, true, 0x1p-3,
			-57344, 57344, { 5, 2, false } },
	[DT_I64] = { "i64", "int64_t", 8, false, 0, -0x1p63, 0x1p63,
		     { 0, 0, false } },
	[DT_I32] = { "i32", "int32_t", 4, false, 0, -2147483648.0,
		     2147483647.0, { 0, 0, false } },
	[DT_I16] = { "i16", "int16_t", 2, false, 0, -32768, 32767,
		     { 0, 0, false } },
	[DT_I8] = { "i8", "int8_t", 1, false, 0, -128, 127,
		    { 0, 0, false } },
	[DT_U64] = { "u64", "uint64_t", 8, false, 0, 0, 0x1p64,
		     { 0, 0, false } },
	[DT_U32] = { "u32", "uint32_t", 4, false, 0, 0, 4294967295.0,
		     { 0, 0, false } },
	[DT_U16] = { "u16", "uint16_t", 2, false, 0, 0, 65535,
		     { 0, 0, false } },
	[DT_U8] = { "u8", "uint8_t", 1, false, 0, 0, 255, { 0, 0, false } },
	[DT_BOOL] = { "bool", "_Bool", 1, false, 0, 0, 1, { 0, 0, false } },
};

static const struct info *info(enum dtype t)
{
	assert((unsigned)t < DT_NR);
	return &types[t];
}

const char *dtype_name(enum dtype t)
{
	return info(t)->name;
}

int dtype_parse(const char *name)
{
	for (int t = 0; t < DT_NR; t++)
		if (!strcmp(types[t].name, name))
			return t;
	return -1;
}

size_t dtype_size(enum dtype t)
{
	return info(t)->size;
}

bool dtype_is_float(enum dtype t)
{
	return info(t)->is_float;
}

const char *dtype_ctype(enum dtype t)
{
	return info(t)->ctype;
}

double dtype_roundoff(enum dtype t)
{
	return info(t)->roundoff;
}

double dtype_min(enum dtype t)
{
	return info(t)->min;
}

double dtype_max(enum dtype t)
{
	return info(t)->max;
}

static double mini_decode(const struct minifloat *m, unsigned bits)
{
	unsigned top = (1u << m->ebits) - 1, ones = (1u << m->mbits) - 1;
	unsigned mant = bits & ones, exp = bits >> m->mbits & top;
	int bias = (1 << (m->ebits - 1)) - 1;
	bool minus = bits >> (m->ebits + m->mbits) & 1;
	double v;

	if (exp == top && m->ocp && mant == ones)
		v = NAN;
	else if (exp == top && !m->ocp)
		v = mant ? NAN : INFINITY;
	else if (exp == 0)
		v = ldexp(mant, 1 - bias - m->mbits);
	else
		v = ldexp(mant + ones + 1, (int)exp - bias - m->mbits);
	return minus ? -v : v;
}

/* To nearest even, whatever rounding mode the caller runs in; v >= 0. */
static double nearest(double v)
{
	double low = floor(v), rest = v - low;

	if (rest > 0.5 || (rest == 0.5 && fmod(low, 2) != 0))
		low += 1;
	return low;
}

static unsigned mini_encode(const struct minifloat *m, double value,
			    double max)
{
	unsigned top = (1u << m->ebits) - 1, ones = (1u << m->mbits) - 1;
	unsigned sign = (signbit(value) ? 1u : 0u) << (m->ebits + m->mbits);
	unsigned inf = top << m->mbits;
	int bias = (1 << (m->ebits - 1)) - 1, exp;
	double v = fabs(value), q;

	if (isnan(v))
		return sign | inf |
		       (m->ocp ? ones : 1u << (m->mbits - 1));
	if (isinf(v))
		return sign | inf | (m->ocp ? ones : 0);
	if (v == 0)
		return sign;
	exp = ilogb(v);
	if (exp < 1 - bias)
		exp = 1 - bias;
	/* In units of the last place; past the mantissa it carries into the
	 * exponent by plain addition of the fields. */
	q = nearest(ldexp(v, m->mbits - exp));
	if (ldexp(q, exp - m->mbits) > max)
		return m->ocp ? sign | (inf | (ones - 1)) : sign | inf;
	return sign | (((unsigned)(exp + bias - 1) << m->mbits) + (unsigned)q);
}

double dtype_get(enum dtype t, const void *array, size_t i)
{
	const struct info *d = info(t);
	const unsigned char *p = (const unsigned char *)array + i * d->size;
	uint64_t bits = 0;
	double f64;
	float f32;

	switch (t) {
	case DT_F64:
		memcpy(&f64, p, sizeof(f64));
		return f64;
	case DT_F32:
		memcpy(&f32, p, sizeof(f32));
		return f32;
	default:
		break;
	}
	for (size_t k = 0; k < d->size; k++)
		bits |= (uint64_t)p[k] << (8 * k);
	switch (t) {
	case DT_I64:
		return (double)(int64_t)bits;
	case DT_I32:
		return (int32_t)bits;
	case DT_I16:
		return (int16_t)bits;
	case DT_I8:
		return (int8_t)bits;
	case DT_BOOL:
		return bits != 0;
	default:
		return d->mini.ebits ? mini_decode(&d->mini, (unsigned)bits) :
				       (double)bits;
	}
}

static uint64_t to_integer(const struct info *d, double value)
{
	double v;

	if (isnan(value))
		return 0;
	v = copysign(nearest(fabs(value)), value);
	if (v >= d->max)	/* covers 2^63 and 2^64, which do not fit */
		return d->min < 0 ? UINT64_MAX >> (65 - 8 * d->size) :
				    UINT64_MAX >> (64 - 8 * d->size);
	if (v <= d->min)
		return d->min < 0 ? (uint64_t)1 << (8 * d->size - 1) : 0;
	return v < 0 ? (uint64_t)(int64_t)v : (uint64_t)v;
}

void dtype_set(enum dtype t, void *array, size_t i, double value)
{
	const struct info *d = info(t);
	unsigned char *p = (unsigned char *)array + i * d->size;
	float f32 = (float)value;
	uint64_t bits;

	if (t == DT_F64) {
		memcpy(p, &value, sizeof(value));
		return;
	}
	if (t == DT_F32) {
		memcpy(p, &f32, sizeof(f32));
		return;
	}
	if (t == DT_BOOL)
		bits = value != 0;
	else if (d->is_float)
		bits = mini_encode(&d->mini, value, d->max);
	else
		bits = to_integer(d, value);
	for (size_t k = 0; k < d->size; k++)
		p[k] = (unsigned char)(bits >> (8 * k));
}
