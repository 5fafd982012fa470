#include "agents/builtin/vectext.h"

#include <string.h>

/*
 * The polynomials are minimax fits with coefficients rounded to single (pow,
 * sin, cos: double) precision.  The compiler may have leave to regroup sums,
 * and gcc's barrier against it is lost in vectorised code, so nothing here
 * depends on the order of a sum: differences of near equals are fused
 * multiply-adds (in double precision where the machine has none), rounding to
 * an integer is a conversion, and scaling adds to the exponent.  Nor are
 * there any branches, or ?: to be made into branches, since a compiler that
 * has done so no longer vectorises: cases are told apart by masks.
 */

static const char text_fma[] =
"static inline float mk_fma(float mk_x, float mk_y, float mk_z)\n"
"{\n"
"#if defined(__FMA__) || defined(__FP_FAST_FMAF)\n"
"	return __builtin_fmaf(mk_x, mk_y, mk_z);\n"
"#else\n"
"	return (float)((double)mk_x * mk_y + mk_z);\n"
"#endif\n"
"}\n";

static const char text_bits[] =
"union mk_bits { float mk_f; int mk_i; unsigned mk_u; };\n";

static const char text_pick[] =
"/* mk_x where the mask is all ones, mk_y where it is zero. */\n"
"static inline float mk_pick(int mk_mask, unsigned mk_x, float mk_y)\n"
"{\n"
"	union mk_bits mk_b = { mk_y };\n"
"\n"
"	mk_b.mk_u = (mk_x & (unsigned)mk_mask) |\n"
"		    (mk_b.mk_u & ~(unsigned)mk_mask);\n"
"	return mk_b.mk_f;\n"
"}\n";

static const char text_clip[] =
"/* mk_x held within +-mk_top (given by its bits); of NaN, mk_top. */\n"
"static inline float mk_clip(float mk_x, int mk_top)\n"
"{\n"
"	union mk_bits mk_b = { mk_x };\n"
"	int mk_a = mk_b.mk_i & 0x7fffffff;\n"
"\n"
"	mk_a = mk_a < mk_top ? mk_a : mk_top;\n"
"	mk_b.mk_u = (mk_b.mk_u & 0x80000000u) | (unsigned)mk_a;\n"
"	return mk_b.mk_f;\n"
"}\n"
"/* mk_r, but NaN where mk_x is. */\n"
"static inline float mk_pass(float mk_r, float mk_x)\n"
"{\n"
"	union mk_bits mk_b = { mk_x }, mk_c = { mk_r };\n"
"	int mk_nan = (0x7f800000 - (mk_b.mk_i & 0x7fffffff)) >> 31;\n"
"\n"
"	mk_c.mk_i |= mk_nan & 0x7fc00000;\n"
"	return mk_c.mk_f;\n"
"}\n";

/* x = n ln 2 + r with |r| <= ln 2 / 2: the two halves of ln 2 have few bits
 * and the rest. */
static const char text_reduce[] =
"static inline int mk_round(float mk_x)\n"
"{\n"
"	return (int)(mk_x * 1.44269504f + __builtin_copysignf(0.5f, mk_x));\n"
"}\n"
"static inline float mk_rest(float mk_x, float mk_n)\n"
"{\n"
"	return mk_fma(mk_n, 2.12194440e-4f,\n"
"		      mk_fma(mk_n, -0.693359375f, mk_x));\n"
"}\n"
"static inline float mk_two(int mk_n)	/* 2 to the mk_n */\n"
"{\n"
"	union mk_bits mk_b;\n"
"\n"
"	mk_b.mk_u = ((unsigned)mk_n + 127u) << 23;\n"
"	return mk_b.mk_f;\n"
"}\n";

static const char text_exp[] =
"static inline float mk_expf(float mk_x)\n"
"{\n"
"	union mk_bits mk_b;\n"
"	float mk_c = mk_clip(mk_x, 0x42d00000), mk_r, mk_p;\n"
"	int mk_n = mk_round(mk_c), mk_h = mk_n >> 1;\n"
"\n"
"	mk_r = mk_rest(mk_c, (float)mk_n);\n"
"	mk_p = 1.382261165e-3f;\n"
"	mk_p = mk_p * mk_r + 8.368839510e-3f;\n"
"	mk_p = mk_p * mk_r + 4.166824743e-2f;\n"
"	mk_p = mk_p * mk_r + 1.666651964e-1f;\n"
"	mk_p = mk_p * mk_r + 4.999999404e-1f;\n"
"	mk_b.mk_f = mk_fma(mk_p, mk_r * mk_r, mk_r) + 1.0f;\n"
"	mk_b.mk_u += (unsigned)mk_h << 23;\n"
"	return mk_pass(mk_b.mk_f * mk_two(mk_n - mk_h), mk_x);\n"
"}\n";

/* 2^n (e^r - 1) + (2^n - 1), all of it times 1/4 against overflow. */
static const char text_expm1[] =
"static inline float mk_expm1f(float mk_x)\n"
"{\n"
"	union mk_bits mk_b = { mk_x };\n"
"	float mk_c = mk_clip(mk_x, 0x42d00000), mk_k, mk_r, mk_p;\n"
"	int mk_n = mk_round(mk_c);\n"
"	int mk_a = mk_b.mk_i & 0x7fffffff;\n"
"\n"
"	mk_r = mk_rest(mk_c, (float)mk_n);\n"
"	mk_p = 1.386333024e-3f;\n"
"	mk_p = mk_p * mk_r + 8.366570808e-3f;\n"
"	mk_p = mk_p * mk_r + 4.166751727e-2f;\n"
"	mk_p = mk_p * mk_r + 1.666654348e-1f;\n"
"	mk_p = mk_p * mk_r + 4.999999702e-1f;\n"
"	mk_p = mk_fma(mk_p, mk_r * mk_r, mk_r);\n"
"	mk_n = mk_n > -100 ? mk_n : -100;\n"
"	mk_n = mk_n < 129 ? mk_n : 129;\n"
"	mk_k = mk_two(mk_n - 2);\n"
"	mk_p = mk_fma(mk_p, mk_k, mk_k - 0.25f) * 4.0f;\n"
"	mk_p = mk_pick((mk_a - 0x33000000) >> 31, mk_b.mk_u, mk_p);\n"
"	return mk_pass(__builtin_copysignf(mk_p, mk_x), mk_x);\n"
"}\n";

static const char text_tanh[] =
"static inline float mk_tanhf(float mk_x)\n"
"{\n"
"	float mk_e = mk_expm1f(2.0f * __builtin_fabsf(\n"
"				       mk_clip(mk_x, 0x41200000)));\n"
"\n"
"	mk_e = __builtin_copysignf(mk_e / (mk_e + 2.0f), mk_x);\n"
"	return mk_pass(mk_e, mk_x);\n"
"}\n";

/* Small: a polynomial; from 0.93: 1 - exp(log(1 - erf)). */
static const char text_erf[] =
"static inline float mk_erff(float mk_x)\n"
"{\n"
"	float mk_a = __builtin_fabsf(mk_clip(mk_x, 0x40800000));\n"
"	float mk_s = mk_a * mk_a, mk_p, mk_q;\n"
"	union mk_bits mk_b = { mk_a }, mk_c;\n"
"\n"
"	mk_q = 2.122515798e-5f;\n"
"	mk_q = mk_q * mk_a - 4.359616723e-4f;\n"
"	mk_q = mk_q * mk_a + 4.178303760e-3f;\n"
"	mk_q = mk_q * mk_a - 2.513843961e-2f;\n"
"	mk_q = mk_q * mk_a + 1.083094105e-1f;\n"
"	mk_q = mk_q * mk_a + 6.333203316e-1f;\n"
"	mk_q = mk_q * mk_a + 1.129528046f;\n"
"	mk_q = mk_q * mk_a - 1.774054545e-4f;\n"
"	mk_q = 1.0f - mk_expf(-mk_q);\n"
"	mk_p = -5.959578557e-4f;\n"
"	mk_p = mk_p * mk_s + 4.987352062e-3f;\n"
"	mk_p = mk_p * mk_s - 2.676296607e-2f;\n"
"	mk_p = mk_p * mk_s + 1.128173098e-1f;\n"
"	mk_p = mk_p * mk_s - 3.761248887e-1f;\n"
"	mk_p = mk_p * mk_s + 1.283791512e-1f;\n"
"	mk_c.mk_f = mk_fma(mk_p, mk_a, mk_a);\n"
"	mk_p = mk_pick((mk_b.mk_i - 0x3f6e147b) >> 31, mk_c.mk_u, mk_q);\n"
"	return mk_pass(__builtin_copysignf(mk_p, mk_x), mk_x);\n"
"}\n";

/* e ln 2 + log(1 + f), sqrt(1/2) <= 1 + f < sqrt(2). */
static const char text_logsum[] =
"static inline float mk_logsum(float mk_f, float mk_k)\n"
"{\n"
"	float mk_s = mk_f * mk_f, mk_p;\n"
"\n"
"	mk_p = -7.635018229e-2f;\n"
"	mk_p = mk_p * mk_f + 1.276269257e-1f;\n"
"	mk_p = mk_p * mk_f - 1.316028088e-1f;\n"
"	mk_p = mk_p * mk_f + 1.420149058e-1f;\n"
"	mk_p = mk_p * mk_f - 1.662332565e-1f;\n"
"	mk_p = mk_p * mk_f + 2.000124604e-1f;\n"
"	mk_p = mk_p * mk_f - 2.500082254e-1f;\n"
"	mk_p = mk_p * mk_f + 3.333333135e-1f;\n"
"	mk_p = mk_fma(mk_k, -2.12194440e-4f, mk_p * (mk_f * mk_s));\n"
"	mk_p = mk_fma(mk_s, -0.5f, mk_p) + mk_f;\n"
"	return mk_fma(mk_k, 0.693359375f, mk_p);\n"
"}\n";

/* Subnormals are scaled by 2^23 first. */
static const char text_log[] =
"static inline float mk_logf(float mk_x)\n"
"{\n"
"	union mk_bits mk_v = { mk_x }, mk_b, mk_t;\n"
"	int mk_sub = (int)(mk_v.mk_u - 0x00800000u) >> 31, mk_e;\n"
"	int mk_a = mk_v.mk_i & 0x7fffffff;\n"
"\n"
"	mk_t.mk_u = 0x3f800000u + ((unsigned)mk_sub & 0x0b800000u);\n"
"	mk_b.mk_f = mk_x * mk_t.mk_f;\n"
"	mk_e = (int)(mk_b.mk_u - 0x3f3504f3u) >> 23;\n"
"	mk_b.mk_u -= (unsigned)mk_e << 23;\n"
"	mk_b.mk_f = mk_logsum(mk_b.mk_f - 1.0f,\n"
"			      (float)(mk_e + (mk_sub & -23)));\n"
"	mk_b.mk_f = mk_pick((0x7f7fffff - mk_a) >> 31, mk_v.mk_u, mk_b.mk_f);\n"
"	mk_b.mk_f = mk_pick(mk_v.mk_i >> 31, 0x7fc00000u, mk_b.mk_f);\n"
"	return mk_pick((mk_a - 1) >> 31, 0xff800000u, mk_b.mk_f);\n"
"}\n";

static const char text_dbits[] =
"union mk_dbits { double mk_d; unsigned long long mk_w; };\n";

/* 1 + x in double precision keeps what matters down to 2^-25. */
static const char text_log1p[] =
"static inline float mk_log1pf(float mk_x)\n"
"{\n"
"	union mk_dbits mk_d = { 1.0 + mk_x };\n"
"	union mk_bits mk_v = { mk_x };\n"
"	int mk_e = (int)((unsigned)(mk_d.mk_w >> 32) - 0x3fe6a09eu) >> 20;\n"
"	int mk_a = mk_v.mk_i & 0x7fffffff, mk_m = mk_v.mk_i >> 31;\n"
"	float mk_y;\n"
"\n"
"	mk_d.mk_w -= (unsigned long long)(unsigned)mk_e << 52;\n"
"	mk_y = mk_logsum((float)(mk_d.mk_d - 1.0), (float)mk_e);\n"
"	mk_y = mk_pick((mk_a - 0x33000000) >> 31 |\n"
"		       (0x7f7fffff - mk_a) >> 31, mk_v.mk_u, mk_y);\n"
"	/* Of -1, and of less. */\n"
"	mk_y = mk_pick(mk_m & ((mk_a ^ 0x3f800000) - 1) >> 31,\n"
"		       0xff800000u, mk_y);\n"
"	return mk_pick(mk_m & (0x3f800000 - mk_a) >> 31, 0x7fc00000u, mk_y);\n"
"}\n";

/*
 * 2^(y log2 |x|) in double precision, then the cases that the formula does
 * not give, one by one.  y has a fraction if bits below mk_sh are set.
 */
static const char text_pow[] =
"static inline float mk_powf(float mk_x, float mk_y)\n"
"{\n"
"	union mk_dbits mk_d = { __builtin_fabsf(mk_x) };\n"
"	union mk_bits mk_v = { mk_x }, mk_h = { mk_y };\n"
"	int mk_a = mk_v.mk_i & 0x7fffffff, mk_c = mk_h.mk_i & 0x7fffffff;\n"
"	int mk_e = (int)((unsigned)(mk_d.mk_w >> 32) - 0x3fe6a09eu) >> 20;\n"
"	int mk_n, mk_sh, mk_man, mk_neg, mk_m;\n"
"	double mk_z, mk_s, mk_p, mk_t;\n"
"	float mk_r;\n"
"\n"
"	mk_d.mk_w -= (unsigned long long)(unsigned)mk_e << 52;\n"
"	mk_z = (mk_d.mk_d - 1.0) / (mk_d.mk_d + 1.0);\n"
"	mk_s = mk_z * mk_z;\n"
"	mk_p = 2.82908432917344410e-01;\n"
"	mk_p = mk_p * mk_s + 3.19905073884788060e-01;\n"
"	mk_p = mk_p * mk_s + 4.12209268858477695e-01;\n"
"	mk_p = mk_p * mk_s + 5.77077942185718396e-01;\n"
"	mk_p = mk_p * mk_s + 9.61796694114036566e-01;\n"
"	mk_p = mk_p * mk_s + 2.88539008177784950e+00;\n"
"	mk_d.mk_d = (double)mk_y * (mk_z * mk_p + (double)mk_e);\n"
"	/* Held within about +-1000, NaN too. */\n"
"	mk_n = (int)(mk_d.mk_w >> 32) & 0x7fffffff;\n"
"	mk_n = mk_n < 0x408f4000 ? mk_n : 0x408f4000;\n"
"	mk_d.mk_w = (mk_d.mk_w & 0x80000000ffffffffu) |\n"
"		    (unsigned long long)(unsigned)mk_n << 32;\n"
"	mk_t = mk_d.mk_d;\n"
"	mk_n = (int)(mk_t + __builtin_copysign(0.5, mk_t));\n"
"	mk_t -= (double)mk_n;\n"
"	mk_p = 1.53451611872055171e-04;\n"
"	mk_p = mk_p * mk_t + 1.34001885264503498e-03;\n"
"	mk_p = mk_p * mk_t + 9.61849332410131055e-03;\n"
"	mk_p = mk_p * mk_t + 5.55032814548961778e-02;\n"
"	mk_p = mk_p * mk_t + 2.40226468329471754e-01;\n"
"	mk_p = mk_p * mk_t + 6.93147206023740803e-01;\n"
"	mk_p = mk_p * mk_t + 1.00000000056314731e+00;\n"
"	mk_d.mk_w = (unsigned long long)(unsigned)(mk_n + 1023) << 52;\n"
"	mk_r = (float)(mk_p * mk_d.mk_d);\n"
"	/* |x| zero or infinite: zero if y has the other sign. */\n"
"	mk_m = (mk_a - 1) >> 31;\n"
"	mk_n = ~(mk_m ^ mk_h.mk_i >> 31);\n"
"	mk_m |= (0x7f7fffff - mk_a) >> 31;\n"
"	mk_r = mk_pick(mk_m, (unsigned)mk_n & 0x7f800000u, mk_r);\n"
"	mk_m = ((mk_a ^ 0x3f800000) - 1) >> 31;\n"
"	mk_r = mk_pick(mk_m, 0x3f800000u, mk_r);\n"
"	/* Negative x: the sign for odd y, NaN for a fraction. */\n"
"	mk_sh = 150 - (mk_c >> 23);\n"
"	mk_sh = mk_sh < 0 ? 0 : mk_sh;\n"
"	mk_sh = mk_sh > 24 ? 24 : mk_sh;\n"
"	mk_man = (mk_c & 0x7fffff) | 0x800000;\n"
"	mk_neg = mk_v.mk_i >> 31;\n"
"	mk_n = -(mk_man & ((1 << mk_sh) - 1)) >> 31;\n"
"	mk_m = -(mk_man >> mk_sh & 1) & (mk_c - 0x4b800000) >> 31 & ~mk_n;\n"
"	mk_v.mk_f = mk_r;\n"
"	mk_v.mk_u |= (unsigned)(mk_m & mk_neg) & 0x80000000u;\n"
"	mk_m = mk_n & mk_neg & ~((mk_a - 1) >> 31);\n"
"	mk_m &= ~((0x7f7fffff - mk_a) >> 31);\n"
"	mk_r = mk_pick(mk_m, 0x7fc00000u, mk_v.mk_f);\n"
"	mk_m = (0x7f800000 - mk_a) >> 31 | (0x7f800000 - mk_c) >> 31;\n"
"	mk_r = mk_pick(mk_m, 0x7fc00000u, mk_r);\n"
"	mk_m = (mk_c - 1) >> 31 | (((mk_a ^ 0x3f800000) - 1) >> 31 & ~mk_neg);\n"
"	return mk_pick(mk_m, 0x3f800000u, mk_r);\n"
"}\n";

/*
 * sin of x and a number of quarter turns.  x = m 2^e with m of 24 bits; of
 * 2/pi only those bits matter that give m 2^e 2/pi modulo 4: a window of 96,
 * cut out of the table, gives it to 62 bits behind the point, for any x.
 */
static const char text_turn[] =
"static const unsigned mk_two_over_pi[] = {\n"
"	0x00000000u, 0x00000000u, 0xa2f9836eu, 0x4e441529u, 0xfc2757d1u,\n"
"	0xf534ddc0u, 0xdb629599u, 0x3c439041u, 0xfe5163abu\n"
"};\n"
"static inline float mk_turn(float mk_x, unsigned mk_turns)\n"
"{\n"
"	union mk_bits mk_b = { mk_x }, mk_r;\n"
"	int mk_a = mk_b.mk_i & 0x7fffffff, mk_c;\n"
"	unsigned mk_s, mk_i, mk_q;\n"
"	unsigned long long mk_m, mk_0, mk_1, mk_2, mk_3, mk_p;\n"
"	double mk_d, mk_z, mk_sin, mk_cos;\n"
"\n"
"	mk_c = mk_a < 0x7f7fffff ? mk_a : 0x7f7fffff;\n"
"	mk_c = mk_c > 0x2c000000 ? mk_c : 0x2c000000;\n"
"	mk_m = (unsigned)(mk_c & 0x7fffff) | 0x800000u;\n"
"	mk_s = ((unsigned)mk_c >> 23) - 88u;\n"
"	mk_i = mk_s >> 5;\n"
"	mk_s &= 31u;\n"
"	mk_0 = mk_two_over_pi[mk_i];\n"
"	mk_1 = mk_two_over_pi[mk_i + 1u];\n"
"	mk_2 = mk_two_over_pi[mk_i + 2u];\n"
"	mk_3 = mk_two_over_pi[mk_i + 3u];\n"
"	mk_0 = ((mk_0 << 32 | mk_1) << mk_s) >> 32;\n"
"	mk_1 = ((mk_1 << 32 | mk_2) << mk_s) >> 32;\n"
"	mk_2 = ((mk_2 << 32 | mk_3) << mk_s) >> 32;\n"
"	mk_p = ((mk_m * mk_0) << 32) + mk_m * mk_1 + ((mk_m * mk_2) >> 32);\n"
"	mk_q = (unsigned)((mk_p + 0x2000000000000000u) >> 62);\n"
"	mk_p -= (unsigned long long)mk_q << 62;\n"
"	mk_q += mk_turns;\n"
"	mk_d = (double)(int)(unsigned)(mk_p >> 32) * 4294967296.0;\n"
"	mk_d += (double)(int)((unsigned)mk_p >> 1) * 2.0;\n"
"	mk_d *= 3.40612158008655459e-19;\n"
"	mk_z = mk_d * mk_d;\n"
"	mk_sin = 2.71804080352684513e-06;\n"
"	mk_sin = mk_sin * mk_z - 1.98393036930027148e-04;\n"
"	mk_sin = mk_sin * mk_z + 8.33332927765098250e-03;\n"
"	mk_sin = mk_sin * mk_z - 1.66666666405535430e-01;\n"
"	mk_sin = mk_sin * mk_z * mk_d + mk_d;\n"
"	mk_cos = -2.72050333001807669e-07;\n"
"	mk_cos = mk_cos * mk_z + 2.47994513780655442e-05;\n"
"	mk_cos = mk_cos * mk_z - 1.38888834665381222e-03;\n"
"	mk_cos = mk_cos * mk_z + 4.16666666190976254e-02;\n"
"	mk_cos = mk_cos * mk_z * mk_z - 0.5 * mk_z + 1.0;\n"
"	mk_r.mk_f = (float)mk_cos;\n"
"	mk_r.mk_f = mk_pick(-(int)(mk_q & 1u), mk_r.mk_u, (float)mk_sin);\n"
"	mk_r.mk_u ^= (mk_q & 2u) << 30;\n"
"	return mk_pick((0x7f7fffff - mk_a) >> 31, 0x7fc00000u, mk_r.mk_f);\n"
"}\n";

static const char text_sin[] =
"static inline float mk_sinf(float mk_x)\n"
"{\n"
"	union mk_bits mk_b = { mk_x }, mk_r;\n"
"	int mk_a = mk_b.mk_i & 0x7fffffff;\n"
"\n"
"	mk_r.mk_f = mk_turn(mk_x, 0u);\n"
"	mk_r.mk_u ^= mk_b.mk_u & 0x80000000u;\n"
"	return mk_pick((mk_a - 0x33000000) >> 31, mk_b.mk_u, mk_r.mk_f);\n"
"}\n";

static const char text_cos[] =
"static inline float mk_cosf(float mk_x)\n"
"{\n"
"	return mk_turn(mk_x, 1u);\n"
"}\n";

static const char text_max[] =
"static inline float mk_fmaxf(float mk_x, float mk_y)\n"
"{\n"
"	return mk_x > mk_y || mk_y != mk_y ? mk_x : mk_y;\n"
"}\n";

static const char text_min[] =
"static inline float mk_fminf(float mk_x, float mk_y)\n"
"{\n"
"	return mk_x < mk_y || mk_y != mk_y ? mk_x : mk_y;\n"
"}\n";

static const char text_maxloop[] =
"/* Integers in the order of the floats; NaN is the least. */\n"
"static inline int mk_key(float mk_x)\n"
"{\n"
"	union mk_bits mk_b = { mk_x };\n"
"	int mk_nan = (0x7f800000 - (mk_b.mk_i & 0x7fffffff)) >> 31;\n"
"\n"
"	mk_b.mk_i ^= mk_b.mk_i >> 31 & 0x7fffffff;\n"
"	return (mk_b.mk_i & ~mk_nan) | (mk_nan & (-0x7fffffff - 1));\n"
"}\n"
"static inline int mk_most(int mk_m, int mk_n)\n"
"{\n"
"	return mk_m > mk_n ? mk_m : mk_n;\n"
"}\n"
"static inline float mk_unkey(int mk_n)\n"
"{\n"
"	union mk_bits mk_b;\n"
"\n"
"	mk_b.mk_i = mk_n ^ (mk_n >> 31 & 0x7fffffff);\n"
"	return mk_b.mk_f;\n"
"}\n";

static const char text_first[] =
"/* As mk_key, but NaN is the greatest: it stays where a comparison starts. */\n"
"static inline int mk_first(float mk_x)\n"
"{\n"
"	return mk_key(mk_x) == -0x7fffffff - 1 ? 0x7fffffff : mk_key(mk_x);\n"
"}\n";

const struct vecfunc vecfunc[VEC_NR] = {
	{ "exp", "expf", "exponential" },
	{ "log", "logf", "logarithm" },
	{ "tanh", "tanhf", "hyperbolic tangent" },
	{ "erf", "erff", "error function" },
	{ "expm1", "expm1f", "exponential minus 1" },
	{ "log1p", "log1pf", "logarithm of 1 + x" },
	{ "fmax", "fmaxf", "maximum" },
	{ "fmin", "fminf", "minimum" },
	{ "pow", "powf", "power" },
	{ "sin", "sinf", "sine" },
	{ "cos", "cosf", "cosine" },
	{ "maxloop", NULL, "running maximum of a loop" },
};

/* What stands in the text, in this order. */
enum part_id {
	PART_FMA, PART_PICK, PART_CLIP, PART_REDUCE, PART_LOGSUM, PART_EXP,
	PART_LOG,
	PART_EXPM1, PART_TANH, PART_ERF, PART_DBITS, PART_LOG1P, PART_POW,
	PART_TURN, PART_SIN, PART_COS, PART_MAX, PART_MIN, PART_NR
};

#define NEED(part) (1u << (part))
#define NEED_EXP (NEED(PART_FMA) | NEED(PART_CLIP) | NEED(PART_REDUCE))
#define NEED_LOG (NEED(PART_FMA) | NEED(PART_PICK) | NEED(PART_LOGSUM))

static const struct part {
	const char *text;
	int func;		/* that it defines, or -1 */
	unsigned needs;		/* parts before it */
} parts[PART_NR] = {
	[PART_FMA] = { text_fma, -1, 0 },
	[PART_PICK] = { text_pick, -1, 0 },
	[PART_CLIP] = { text_clip, -1, 0 },
	[PART_REDUCE] = { text_reduce, -1, 0 },
	[PART_LOGSUM] = { text_logsum, -1, 0 },
	[PART_EXP] = { text_exp, 0, NEED_EXP },
	[PART_LOG] = { text_log, 1, NEED_LOG },
	[PART_EXPM1] = { text_expm1, 4, NEED_EXP | NEED(PART_PICK) },
	[PART_TANH] = { text_tanh, 2,
			NEED_EXP | NEED(PART_PICK) | NEED(PART_EXPM1) },
	[PART_ERF] = { text_erf, 3,
		       NEED_EXP | NEED(PART_PICK) | NEED(PART_EXP) },
	[PART_DBITS] = { text_dbits, -1, 0 },
	[PART_LOG1P] = { text_log1p, 5, NEED_LOG | NEED(PART_DBITS) },
	[PART_POW] = { text_pow, 8, NEED(PART_PICK) | NEED(PART_DBITS) },
	[PART_TURN] = { text_turn, -1, 0 },
	[PART_SIN] = { text_sin, 9, NEED(PART_PICK) | NEED(PART_TURN) },
	[PART_COS] = { text_cos, 10, NEED(PART_PICK) | NEED(PART_TURN) },
	[PART_MAX] = { text_max, 6, 0 },
	[PART_MIN] = { text_min, 7, 0 },
};

int vecfunc_by_name(const char *name)
{
	for (int i = 0; i < VEC_NR; i++)
		if (!strcmp(vecfunc[i].name, name))
			return i;
	return -1;
}

int vecfunc_by_cname(const char *cname, size_t len)
{
	for (int i = 0; i < VEC_NR; i++)
		if (vecfunc[i].cname && strlen(vecfunc[i].cname) == len &&
		    !memcmp(vecfunc[i].cname, cname, len))
			return i;
	return -1;
}

static void add_macro(int func, struct buf *out)
{
	const char *cname = vecfunc[func].cname;
	bool two = !strcmp(cname, "fmaxf") || !strcmp(cname, "fminf") ||
		   !strcmp(cname, "powf");

	/* A function's address, and a call in parentheses, stay libm's. */
	buf_addf(out, two ? "#define %s(mk_x, mk_y) mk_%s(mk_x, mk_y)\n" :
			    "#define %s(mk_x) mk_%s(mk_x)\n", cname, cname);
}

static void add_functions(unsigned mask, struct buf *out)
{
	unsigned needed = 0;

	for (int i = 0; i < PART_NR; i++)
		if (parts[i].func >= 0 && (mask >> parts[i].func & 1))
			needed |= NEED(i) | parts[i].needs;
	for (int i = 0; i < PART_NR; i++)
		if (needed >> i & 1)
			buf_addstr(out, parts[i].text);
	for (int i = 0; i < VEC_NR; i++)
		if (vecfunc[i].cname && (mask >> i & 1))
			add_macro(i, out);
}

void vectext_add(unsigned mask, struct buf *out)
{
	unsigned functions = mask & ((1u << VEC_MAXLOOP) - 1);

	if (!mask)
		return;
	buf_addstr(out, text_bits);
	if (mask >> VEC_MAXLOOP & 1)
		buf_addstr(out, text_maxloop);
	if (mask >> VEC_FIRST & 1)
		buf_addstr(out, text_first);
	if (!functions)
		return;
	/* Others keep libm: the text uses builtins of these two. */
	buf_addstr(out, "#if defined(__GNUC__)\n");
	add_functions(functions, out);
	buf_addstr(out, "#endif\n");
}
