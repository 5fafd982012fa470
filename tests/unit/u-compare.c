/* needs: core/judge/compare.c core/judge/inputs.c core/judge/philox.c core/kernel.c core/kernel_arg.c core/kernel_flags.c core/kernel_keys.c core/kernel_shape.c core/ini.c core/expr.c core/dtype.c core/source.c core/oid.c core/sha1.c */
#include "core/judge/compare.h"

#include "tests/unit/tap.h"

#define N 24

static const char text[] =
	"[kernel \"k\"]\n"
	"file = k.c\n"
	"entry = k\n"
	"arg = out f32 y[M][N] ld(L)\n"
	"arg = out i32 z[M]\n"
	"arg = out f64 w[M]\n"
	"arg = dim M\n"
	"arg = dim N\n"
	"arg = dim L\n"
	"rtol = 1e-3\n"
	"atol = 1e-2\n"
	"time = M=4 N=6 L=6\n"
	"check = M=4 N=4 L=6\n";

static struct kernel_file file;
static struct kernel *k;
static double value[N];
static float got[N];

static void reset(struct compare *c, struct want *w)
{
	struct rows rows = { N, 6, 6 };
	int i;

	for (i = 0; i < N; i++) {
		value[i] = i - 11.5;
		got[i] = (float)value[i];
	}
	compare_init(c, k, 0, &rows);
	memset(w, 0, sizeof(*w));
	w->value = value;
	w->ref_rms = -1;
}

static void tolerance(void)
{
	struct compare c;
	struct want w;
	struct mismatch m;

	reset(&c, &w);
	ok(compare_full(&c, &w, got, &m), "equal is right");
	got[3] += 0.0099f;
	ok(compare_full(&c, &w, got, &m), "so is within atol");
	got[3] = (float)value[3] + 0.03f;
	ok(!compare_full(&c, &w, got, &m), "past it is not");
	ok(m.rule == RULE_TOLERANCE && m.elem == 3 && m.count == 1,
	   "the element is named");
	is_near(m.limit, 0.01 + 0.001 * 8.5, 1e-12, "with what is allowed");
	got[20] = (float)value[20] + 2;
	ok(!compare_full(&c, &w, got, &m) && m.elem == 20 && m.count == 2,
	   "of two, the worse");
	reset(&c, &w);
	w.ref_max = 0.01;
	got[3] += 0.07f;
	ok(compare_full(&c, &w, got, &m),
	   "within eight times the reference's worst");
	got[3] += 0.03f;
	ok(!compare_full(&c, &w, got, &m), "not past it");
}

static void nonfinite(void)
{
	struct compare c;
	struct want w;
	struct mismatch m;

	reset(&c, &w);
	got[5] = NAN;
	got[6] = 1000;
	ok(!compare_full(&c, &w, got, &m), "NaN is never right");
	ok(m.rule == RULE_NONFINITE && m.elem == 5, "and comes first");
	value[5] = NAN;
	got[6] = (float)value[6];
	ok(compare_full(&c, &w, got, &m), "but where the reference has it");
	value[7] = INFINITY;
	got[7] = INFINITY;
	ok(compare_full(&c, &w, got, &m), "Inf as well");
	got[7] = -INFINITY;
	ok(!compare_full(&c, &w, got, &m) && m.elem == 7, "of its sign");
	got[7] = 3e38f;
	ok(!compare_full(&c, &w, got, &m), "and nothing finite for it");
	got[7] = NAN;
	ok(!compare_full(&c, &w, got, &m), "nor NaN");
	c.finite = true;
	ok(compare_full(&c, &w, got, &m),
	   "math = finite: anything goes there");
	reset(&c, &w);
	c.finite = true;
	got[0] = NAN;
	ok(!compare_full(&c, &w, got, &m), "but not elsewhere");
}

static void rms(void)
{
	struct compare c;
	struct want w;
	struct mismatch m;
	int i;

	reset(&c, &w);
	for (i = 0; i < N; i++)
		got[i] += 1e-4f;
	compare_reference(DT_F32, &c.rows, got, &w);
	is_near(w.ref_rms, 1e-4, 1e-6, "rms error of the reference");
	is_near(w.ref_max, 1e-4, 2e-6, "its largest");
	is_near(w.rms, sqrt((23 * 25) / 12.0), 1e-9, "rms of the values");
	/* 24 elements: the limit is 1 + 8 / sqrt(24) times as wide. */
	for (i = 0; i < N; i++)
		got[i] = (float)(value[i] + 10.3e-4);
	ok(compare_full(&c, &w, got, &m), "four times that is right");
	for (i = 0; i < N; i++)
		got[i] = (float)(value[i] + 10.8e-4);
	got[9] = (float)(value[9] + 12e-4);
	ok(!compare_full(&c, &w, got, &m) && m.rule == RULE_RMS,
	   "more is not, though each is within its tolerance");
	is_int(m.elem, 9, "the worst is named");
	w.ref_rms = -1;
	ok(compare_full(&c, &w, got, &m), "a native oracle sets no rms rule");
	w.ref_rms = 0;
	for (i = 0; i < N; i++)
		got[i] = (float)value[i];
	got[4] = nextafterf(got[4], 100);
	ok(compare_full(&c, &w, got, &m),
	   "an exact reference leaves room for a rounding");
}

static void integers(void)
{
	static const int32_t want[4] = { 1, 2, 3, 4 };
	int32_t z[4] = { 1, 2, 3, 4 };
	struct rows rows = { 4, 4, 4 };
	struct want w = { NULL, want, -1, 0, 0 };
	struct compare c;
	struct mismatch m;

	compare_init(&c, k, 1, &rows);
	ok(compare_full(&c, &w, z, &m), "integers equal");
	z[2] = 4;
	ok(!compare_full(&c, &w, z, &m) && m.rule == RULE_EXACT &&
	   m.elem == 2, "one off is wrong");
}

static void padding(void)
{
	struct compare c;
	struct want w;
	struct mismatch m;
	struct rows rows = { 3 * 6 + 4, 4, 6 };

	reset(&c, &w);
	compare_init(&c, k, 0, &rows);
	got[4] = NAN;
	got[5] = 1e9f;
	ok(compare_full(&c, &w, got, &m), "between rows anything may stand");
	got[3] = 1e9f;
	ok(!compare_full(&c, &w, got, &m), "in them not");
}

static void samples(void)
{
	static const struct seed s = { { 5, 6, 7, 8 } };
	struct compare c;
	struct want w;
	struct mismatch m;
	struct dice d;

	reset(&c, &w);
	dice_init_from(&d, &s, 0);
	ok(compare_sample(&c, &w, got, 200, &d, &m), "a sample that is right");
	got[13] = 0;
	ok(!compare_sample(&c, &w, got, 400, &d, &m) && m.elem == 13,
	   "a sample finds the wrong one");
}

static void words(void)
{
	struct buf b = BUF_INIT;
	struct mismatch m = { RULE_TOLERANCE, 15, 2.5, 2, 0.5, 0.03, 1 };

	element_text(&b, k, 0, &k->time[0], 15);
	is_str(b.ptr, "y[2][3]", "an element by its subscripts");
	buf_reset(&b);
	mismatch_text(&b, &m, k, 0, &k->time[0]);
	is_str(b.ptr, "y[2][3] is 2.5, should be 2 (off by 0.5, allowed "
	       "0.03)", "a mismatch in words");
	buf_release(&b);
}

int main(void)
{
	struct err err = ERR_INIT;

	if (!ok(!kernel_file_parse(&file, "test", text, strlen(text), &err),
		"the section is read")) {
		printf("# %s\n", err.msg);
		return tap_done();
	}
	k = &file.v[0];
	tolerance();
	nonfinite();
	rms();
	integers();
	padding();
	samples();
	words();
	kernel_file_release(&file);
	return tap_done();
}
