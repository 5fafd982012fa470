/* needs: core/dtype.c */
#include <stdint.h>

#include "core/dtype.h"
#include "tests/unit/tap.h"

static double value_of(enum dtype t, unsigned bits)
{
	uint16_t wide = (uint16_t)bits;
	uint8_t narrow = (uint8_t)bits;

	return dtype_size(t) == 2 ? dtype_get(t, &wide, 0) :
				    dtype_get(t, &narrow, 0);
}

static unsigned bits_of(enum dtype t, double v)
{
	uint16_t wide = 0;
	uint8_t narrow = 0;

	if (dtype_size(t) == 2)
		dtype_set(t, &wide, 0, v);
	else
		dtype_set(t, &narrow, 0, v);
	return dtype_size(t) == 2 ? wide : narrow;
}

/* Every pattern reads and writes back as itself; a NaN stays a NaN. */
static void round_trips(enum dtype t)
{
	unsigned nr = 1u << (8 * dtype_size(t)), bad = 0, nans = 0;

	for (unsigned b = 0; b < nr; b++) {
		double v = value_of(t, b);

		if (isnan(v)) {
			nans++;
			bad += !isnan(value_of(t, bits_of(t, v)));
		} else {
			bad += bits_of(t, v) != b;
		}
	}
	is_int(bad, 0, "all patterns of %s round trip", dtype_name(t));
	is_int(nans, t == DT_F16 ? 2046 : t == DT_BF16 ? 254 :
	       t == DT_F8E4M3 ? 2 : 6, "NaNs of %s", dtype_name(t));
}

/* Between neighbours: the middle goes to the even one, what lies beside it
 * to the nearer one. */
static void rounds(enum dtype t)
{
	unsigned bad = 0, half = 1u << (8 * dtype_size(t) - 1), b;

	for (b = 0; b + 1 < half; b++) {
		double lo = value_of(t, b), hi = value_of(t, b + 1);
		double mid = lo + (hi - lo) / 2;
		unsigned even = b & 1 ? b + 1 : b;

		if (!isfinite(hi))
			break;
		bad += !(lo < hi);
		bad += bits_of(t, mid) != even;
		bad += bits_of(t, -mid) != (even | half);
		bad += bits_of(t, nextafter(mid, -INFINITY)) != b;
		bad += bits_of(t, nextafter(mid, INFINITY)) != b + 1;
	}
	is_int(bad, 0, "%s rounds to nearest even", dtype_name(t));
	is_near(value_of(t, b), dtype_max(t), 0, "the greatest %s",
		dtype_name(t));
	is_near(dtype_min(t), -dtype_max(t), 0, "the least %s",
		dtype_name(t));
	is_near((value_of(t, bits_of(t, 1) + 1) - 1) / 2, dtype_roundoff(t),
		0, "unit roundoff of %s", dtype_name(t));
}

static void known_values(void)
{
	is_int(bits_of(DT_F16, 1), 0x3c00, "f16 1");
	is_int(bits_of(DT_F16, 65504), 0x7bff, "f16 65504");
	is_int(bits_of(DT_F16, 65519.99), 0x7bff, "f16 under the last middle");
	is_int(bits_of(DT_F16, 65520), 0x7c00, "f16 overflows to infinity");
	is_int(bits_of(DT_F16, -1e300), 0xfc00, "f16 -1e300");
	is_int(bits_of(DT_F16, -0.0), 0x8000, "f16 -0");
	is_int(bits_of(DT_F16, 0x1p-24), 1, "f16 least subnormal");
	is_int(bits_of(DT_F16, 0x1p-25), 0, "f16 half of it");
	is_int(bits_of(DT_F16, 0x1.8p-25), 1, "f16 three quarters of it");
	is_int(bits_of(DT_F16, 0x1p-1074), 0, "f16 of the least double");
	is_int(bits_of(DT_F16, 1.0 / 3), 0x3555, "f16 1/3");
	is_int(bits_of(DT_BF16, 1), 0x3f80, "bf16 1");
	is_int(bits_of(DT_BF16, 3.14159265), 0x4049, "bf16 pi");
	is_int(bits_of(DT_BF16, 3.4e38), 0x7f80, "bf16 overflows");
	is_int(bits_of(DT_F8E4M3, 1), 0x38, "e4m3 1");
	is_int(bits_of(DT_F8E4M3, 448), 0x7e, "e4m3 448");
	is_int(bits_of(DT_F8E4M3, 1e9), 0x7e, "e4m3 keeps to 448");
	is_int(bits_of(DT_F8E4M3, -1e9), 0xfe, "e4m3 keeps to -448");
	is_int(bits_of(DT_F8E4M3, INFINITY), 0x7f, "e4m3 has no infinity");
	is_int(bits_of(DT_F8E4M3, 0x1p-9), 1, "e4m3 least subnormal");
	is_int(bits_of(DT_F8E5M2, 1), 0x3c, "e5m2 1");
	is_int(bits_of(DT_F8E5M2, 57344), 0x7b, "e5m2 57344");
	is_int(bits_of(DT_F8E5M2, 61440), 0x7c, "e5m2 overflows");
	is_int(bits_of(DT_F8E5M2, -INFINITY), 0xfc, "e5m2 -infinity");
	ok(isnan(value_of(DT_F8E5M2, 0x7e)), "e5m2 NaN");
}

static double through(enum dtype t, double v)
{
	unsigned char cell[9];

	dtype_set(t, cell + 1, 0, v);	/* unaligned on purpose */
	return dtype_get(t, cell + 1, 0);
}

static void integers(void)
{
	static const struct { enum dtype t; double in, out; } cases[] = {
		{ DT_I8, 127, 127 }, { DT_I8, 128, 127 },
		{ DT_I8, -128, -128 }, { DT_I8, -1e9, -128 },
		{ DT_I8, 2.5, 2 }, { DT_I8, 3.5, 4 }, { DT_I8, -2.5, -2 },
		{ DT_I8, -0.75, -1 }, { DT_U8, 255, 255 }, { DT_U8, 256, 255 },
		{ DT_U8, -1, 0 }, { DT_U8, NAN, 0 }, { DT_I16, 40000, 32767 },
		{ DT_I16, -5, -5 }, { DT_U16, 65535.4, 65535 },
		{ DT_I32, 1e10, 2147483647.0 }, { DT_I32, -7, -7 },
		{ DT_I32, -INFINITY, -2147483648.0 },
		{ DT_U32, 4294967295.0, 4294967295.0 },
		{ DT_I64, -0x1p63, -0x1p63 }, { DT_I64, 0x1p53, 0x1p53 },
		{ DT_I64, INFINITY, 0x1p63 }, { DT_I64, -3, -3 },
		{ DT_U64, INFINITY, 0x1p64 }, { DT_U64, 0x1p63, 0x1p63 },
		{ DT_U64, -1, 0 }, { DT_BOOL, 0.25, 1 }, { DT_BOOL, 0, 0 },
		{ DT_F32, 0.5, 0.5 }, { DT_F64, 0.1, 0.1 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		is_near(through(cases[i].t, cases[i].in), cases[i].out, 0,
			"%g as %s", cases[i].in, dtype_name(cases[i].t));
	ok(isinf(through(DT_F32, 1e39)), "f32 overflows to infinity");
	ok(isnan(through(DT_F32, NAN)), "f32 NaN");
}

static void names(void)
{
	for (int t = 0; t < DT_NR; t++)
		is_int(dtype_parse(dtype_name((enum dtype)t)), t,
		       "the name %s", dtype_name((enum dtype)t));
	is_int(dtype_parse("float"), -1, "float is no name");
	is_int(dtype_parse(""), -1, "nothing is no name");
	is_str(dtype_ctype(DT_BF16), "uint16_t", "bf16 is carried as bits");
	is_str(dtype_ctype(DT_BOOL), "_Bool", "bool in C");
	is_int((long long)dtype_size(DT_I64), 8, "size of i64");
	ok(dtype_is_float(DT_F8E5M2) && !dtype_is_float(DT_U16),
	   "which are floats");
	is_near(dtype_roundoff(DT_F64), 0x1p-53, 0, "unit roundoff of f64");
	is_near(dtype_roundoff(DT_I32), 0, 0, "unit roundoff of i32");
}

static void arrays(void)
{
	float f[4] = { 1, 2, 3, 4 };
	int32_t n[4] = { 1, 2, 3, 4 };

	dtype_set(DT_F32, f, 2, 9);
	ok(f[1] == 2 && f[2] == 9 && f[3] == 4, "one f32 of an array");
	dtype_set(DT_I32, n, 1, -9);
	ok(n[0] == 1 && n[1] == -9 && n[2] == 3, "one i32 of an array");
	is_near(dtype_get(DT_I32, n, 1), -9, 0, "and it is read");
}

int main(void)
{
	static const enum dtype small[] = {
		DT_F16, DT_BF16, DT_F8E4M3, DT_F8E5M2
	};

	names();
	for (int i = 0; i < 4; i++) {
		round_trips(small[i]);
		rounds(small[i]);
	}
	known_values();
	integers();
	arrays();
	return tap_done();
}
