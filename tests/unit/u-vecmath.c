/* needs: agents/builtin/vectext.c core/rng.c */
/*
 * The functions that strategy vecmath injects, compiled from the very text
 * under several options: as near to the true values as libm, special values
 * as libm has them.
 */
#include "tests/unit/tap.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "agents/builtin/vectext.h"
#include "core/rng.h"

#define POINTS 20000

typedef void array_fn(const float *x, float *y, int n);

struct func {
	const char *name;
	double (*exact)(double);
	float (*libm)(float);
	float low, high;	/* the range that kernels use most */
};

static const struct func funcs[] = {
	{ "exp", exp, expf, -20, 20 },
	{ "log", log, logf, 0.001f, 100 },
	{ "tanh", tanh, tanhf, -4, 4 },
	{ "erf", erf, erff, -4, 4 },
	{ "expm1", expm1, expm1f, -5, 5 },
	{ "log1p", log1p, log1pf, -0.9f, 50 },
	{ "sin", sin, sinf, -10, 10 },
	{ "cos", cos, cosf, -10, 10 },
};

static const float specials[] = {
	0.0f, -0.0f, 1.0f, -1.0f, 2.0f, -2.0f, 0.5f, 88.0f, 88.72f, 88.73f,
	89.0f, 104.0f, -87.3f, -87.4f, -100.0f, -103.9f, -104.0f, -150.0f,
	1e-40f, -1e-40f, 1e-45f, 1e-38f, 1e-30f, -1e-30f, 1e30f, -1e30f,
	3.4e38f, -3.4e38f, 0.93f, 0.9300001f, 4.0f, 9.1f, 10.0f, 1.1754944e-38f,
	3.9f, -3.9f, 8.3e6f, -0.99999994f, 1.0000001f, 0.99999994f
};

struct way {
	const char *what, *command, *head;
	bool reassoc;
};

#define ASSOC "#pragma GCC optimize(\"no-math-errno\", " \
	"\"no-trapping-math\", \"no-signed-zeros\", " \
	"\"associative-math\", \"reciprocal-math\")\n"

static const struct way ways[] = {
	{ "gcc -O2", "gcc -O2", "", false },
	{ "gcc -O3, reassoc", "gcc -O3 -march=native", ASSOC, true },
	{ "gcc -O3, fast-math", "gcc -O3 -march=native",
	  "#pragma GCC optimize(\"fast-math\")\n", true },
	{ "clang -O3, reassoc", "clang -O3 -march=native",
	  "#pragma clang fp reassociate(on) contract(fast)\n", true },
};

static char dir[] = "/tmp/u-vecmath.XXXXXX";

static void *build(const struct way *w, unsigned mask)
{
	struct buf text = BUF_INIT, cmd = BUF_INIT;
	struct err err = ERR_INIT;
	void *lib = NULL;

	buf_addf(&text, "%s#include <math.h>\n#define M 3\n#define x y\n"
		 "#undef x\n", w->head);
	vectext_add(mask, &text);
	for (size_t i = 0; i < sizeof(funcs) / sizeof(funcs[0]); i++)
		buf_addf(&text, "void t_%s(const float *in, float *out, int n)"
			 "\n{\n\tfor (int i = 0; i < n; i++)\n"
			 "\t\tout[i] = %sf(in[i]);\n}\n",
			 funcs[i].name, funcs[i].name);
	buf_addstr(&text, "float t_max(const float *in, int n)\n{\n"
		   "\tint m = mk_key(in[0]);\n"
		   "\tfor (int i = 1; i < n; i++)\n"
		   "\t\tm = mk_most(m, mk_key(in[i]));\n"
		   "\treturn mk_unkey(m);\n}\n"
		   "float t_first(float v)\n{\n"
		   "\treturn mk_unkey(mk_first(v));\n}\n"
		   "float t_fmax(float a, float b)\n{\n"
		   "\treturn fmaxf(a, b);\n}\n"
		   "void t_pow(const float *in, const float *by, float *out, "
		   "int n)\n{\n\tfor (int i = 0; i < n; i++)\n"
		   "\t\tout[i] = powf(in[i], by[i]);\n}\n"
		   "float t_fmin(float a, float b)\n{\n"
		   "\treturn fminf(a, b);\n}\n");
	buf_addf(&cmd, "%s/t.c", dir);
	if (!buf_write_file(cmd.ptr, text.ptr, text.len, &err)) {
		buf_reset(&cmd);
		buf_addf(&cmd, "cd %s && %s -std=c11 -Wall -Wextra -Werror "
			 "-fPIC -c t.c -o t.o && gcc -shared t.o -o t.so -lm",
			 dir, w->command);
		if (!system(cmd.ptr)) {
			buf_reset(&cmd);
			buf_addf(&cmd, "%s/t.so", dir);
			lib = dlopen(cmd.ptr, RTLD_NOW | RTLD_LOCAL);
		}
	}
	buf_reset(&cmd);
	buf_addf(&cmd, "rm -f %s/t.*", dir);
	if (system(cmd.ptr))
		printf("# cannot clean up\n");
	buf_release(&text);
	buf_release(&cmd);
	return lib;
}

static double ulp_at(double v)
{
	int e;

	frexp(v, &e);
	if (e < -125)
		e = -125;
	return ldexp(1, e - 24);
}

/* Squared error in units in the last place; 0 where there is no number. */
static double square(double got, double want)
{
	double d;

	if (!isfinite(want) || fabs(want) > 3.4e38)
		return 0;
	d = (got - want) / ulp_at(want);
	return d * d;
}

static void accuracy(const struct way *w, const struct func *f, array_fn *fn,
		     const float *x, const char *range)
{
	static float y[POINTS];
	double ours = 0, libm = 0, worst = 0;

	fn(x, y, POINTS);
	for (int i = 0; i < POINTS; i++) {
		double want = f->exact(x[i]), e = square(y[i], want);

		ours += e;
		libm += square(f->libm(x[i]), want);
		if (e > worst || isnan(e))
			worst = e;
	}
	ours = sqrt(ours / POINTS);
	libm = sqrt(libm / POINTS);
	/* A function that is nearly constant has no error to compare with. */
	ok(ours <= 2 * libm + 0.01 && worst < 16,
	   "%s: %s, %s: within twice libm's rms error", w->what, f->name,
	   range);
	printf("# rms %.3f ulp, libm %.3f, worst %.2f\n", ours, libm,
	       sqrt(worst));
}

static bool same_special(float got, float want)
{
	if (isnan(want))
		return isnan(got);
	if (isinf(want) || want == 0)
		return got == want;
	return square(got, want) <= 9;
}

static void special(const struct way *w, const struct func *f, array_fn *fn,
		    bool finite_only)
{
	float x[64], y[64];
	int n = 0, bad = 0;

	for (size_t i = 0; i < sizeof(specials) / sizeof(specials[0]); i++)
		x[n++] = specials[i];
	x[n++] = INFINITY;
	x[n++] = -INFINITY;
	x[n++] = NAN;
	x[n++] = -NAN;
	fn(x, y, n);
	for (int i = 0; i < n; i++) {
		if (same_special(y[i], f->libm(x[i])) ||
		    (finite_only && !isfinite(f->libm(x[i]))))
			continue;
		printf("# %s(%g) is %g, libm says %g\n", f->name, x[i], y[i],
		       f->libm(x[i]));
		bad++;
	}
	is_int(bad, 0, "%s: %s of zeros, limits, infinities and NaN", w->what,
	       f->name);
	fn(x + 1, y, 1);
	ok(w->reassoc || signbit(y[0]) == signbit(f->libm(-0.0f)),
	   "%s: the sign of %s(-0)", w->what, f->name);
}

/* Every float once: bit patterns drawn from all. */
static void draw(float *x, const struct func *f, bool all, struct rng *r)
{
	for (int i = 0; i < POINTS; i++) {
		uint32_t bits;

		do {
			bits = (uint32_t)rng_next(r);
			memcpy(&x[i], &bits, sizeof(bits));
		} while (all && !isfinite(x[i]));
		if (!all)
			x[i] = f->low + (f->high - f->low) *
			       (float)rng_unit(r);
	}
}

static void functions(const struct way *w, void *lib)
{
	bool fast = strstr(w->what, "fast-math") != NULL;
	static float x[POINTS];
	struct rng r;

	rng_init(&r, 2);
	for (size_t i = 0; i < sizeof(funcs) / sizeof(funcs[0]); i++) {
		const struct func *f = &funcs[i];
		char name[32];
		array_fn *fn;

		snprintf(name, sizeof(name), "t_%s", f->name);
		*(void **)&fn = dlsym(lib, name);
		if (!ok(fn != NULL, "%s: %s is there", w->what, f->name))
			continue;
		draw(x, f, false, &r);
		accuracy(w, f, fn, x, "usual range");
		draw(x, f, true, &r);
		accuracy(w, f, fn, x, "all floats");
		special(w, f, fn, fast);
	}
}

typedef void power_fn(const float *x, const float *by, float *y, int n);

static void power_specials(const struct way *w, power_fn *fn)
{
	static const float v[] = {
		0, -0.0f, 1, -1, 2, -2, 3, -3, 0.5f, -0.5f, 1.5f, -1.5f,
		INFINITY, -INFINITY, NAN, 1e-45f, -1e-45f, 3.4e38f, -3.4e38f,
		8388607, 8388608.5f, 16777215, -16777218, 1e20f, 0.01f, -0.01f,
		1.0000001f, 0.9999999f, -1.0000001f, 33, -33, 1e-3f
	};
	enum { NR = sizeof(v) / sizeof(v[0]) };
	bool fast = strstr(w->what, "fast-math") != NULL;
	int bad = 0;

	for (int i = 0; i < NR; i++) {
		float x[NR], y[NR];

		for (int k = 0; k < NR; k++)
			x[k] = v[i];
		fn(x, v, y, NR);
		for (int k = 0; k < NR; k++) {
			float want = powf(v[i], v[k]);

			if (same_special(y[k], want) ||
			    (fast && !isfinite(want)))
				continue;
			printf("# pow(%g, %g) is %g, libm says %g\n", v[i],
			       v[k], y[k], want);
			bad++;
		}
	}
	is_int(bad, 0, "%s: pow of zeros, limits, infinities and NaN",
	       w->what);
}

static void powers(const struct way *w, void *lib)
{
	static float x[POINTS], by[POINTS], y[POINTS];
	double ours = 0, libm = 0, worst = 0;
	power_fn *fn;
	struct rng r;

	*(void **)&fn = dlsym(lib, "t_pow");
	rng_init(&r, 3);
	for (int i = 0; i < POINTS; i++) {
		/* Half of them near 1, where the exponent magnifies errors. */
		x[i] = (float)(i % 2 ? exp(12 * rng_unit(&r) - 6) :
			       1 + (rng_unit(&r) - 0.5) * 1e-2);
		by[i] = (float)((rng_unit(&r) - 0.5) * (i % 2 ? 16 : 1e4));
	}
	fn(x, by, y, POINTS);
	for (int i = 0; i < POINTS; i++) {
		double want = pow(x[i], by[i]), e = square(y[i], want);

		ours += e;
		libm += square(powf(x[i], by[i]), want);
		worst = e > worst || isnan(e) ? e : worst;
	}
	ok(ours <= 4 * libm && worst < 16,
	   "%s: pow: within twice libm's rms error", w->what);
	printf("# rms %.3f ulp, libm %.3f, worst %.2f\n",
	       sqrt(ours / POINTS), sqrt(libm / POINTS), sqrt(worst));
	power_specials(w, fn);
}

static void maxima(const struct way *w, void *lib)
{
	bool fast = strstr(w->what, "fast-math") != NULL;
	const float inf = INFINITY;
	float (*max)(const float *, int), (*first)(float);
	float (*fmx)(float, float), (*fmn)(float, float);
	float a[9] = { -3, NAN, 7, -inf, 2, NAN, 6.5f, -0.0f, 1e-42f };
	float none[3] = { NAN, -NAN, NAN }, low[3] = { NAN, -inf, NAN };

	*(void **)&max = dlsym(lib, "t_max");
	*(void **)&first = dlsym(lib, "t_first");
	*(void **)&fmx = dlsym(lib, "t_fmax");
	*(void **)&fmn = dlsym(lib, "t_fmin");
	ok(max(a, 9) == 7, "%s: the maximum leaves NaN out", w->what);
	ok(max(a + 7, 2) == a[8], "%s: subnormals are ordered", w->what);
	ok(max(low, 3) == -inf, "%s: -inf is more than NaN", w->what);
	ok(isnan(max(none, 3)), "%s: of NaN alone it is NaN", w->what);
	ok(isnan(first(NAN)) && first(-2.5f) == -2.5f && first(inf) == inf,
	   "%s: a first value goes there and back", w->what);
	ok(fmx(1, 2) == 2 && fmx(2, 1) == 2 && fmn(1, 2) == 1 &&
	   fmn(inf, -1) == -1, "%s: fmaxf and fminf", w->what);
	if (fast)
		return;
	ok(fmx(NAN, 1) == 1 && fmx(1, NAN) == 1 && isnan(fmx(NAN, NAN)) &&
	   fmn(NAN, 1) == 1 && fmn(1, NAN) == 1,
	   "%s: fmaxf and fminf leave NaN out", w->what);
}

static void lookups(void)
{
	is_int(vecfunc_by_name("tanh"), 2, "by the recipe's name");
	is_int(vecfunc_by_cname("tanhf(", 5), 2, "by the source's name");
	is_int(vecfunc_by_cname("tanhf", 4), -1, "a prefix is no name");
	is_int(vecfunc_by_name("cbrt"), -1, "an unknown name");
	is_str(vecfunc[VEC_MAXLOOP].name, "maxloop", "the last one");
}

int main(void)
{
	lookups();
	if (!mkdtemp(dir))
		return 1;
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		void *lib;

		if (!strncmp(ways[i].command, "clang", 5) &&
		    system("command -v clang >/dev/null")) {
			ok(true, "clang # SKIP there is no clang");
			continue;
		}
		lib = build(&ways[i], (2u << VEC_FIRST) - 1);
		if (!ok(lib != NULL, "%s: compiles without a warning",
			ways[i].what))
			continue;
		functions(&ways[i], lib);
		powers(&ways[i], lib);
		maxima(&ways[i], lib);
		dlclose(lib);
	}
	rmdir(dir);
	return tap_done();
}
