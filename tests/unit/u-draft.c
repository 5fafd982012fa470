/* needs: agents/builtin/draft.c agents/builtin/draft_read.c
	agents/builtin/draft_shape.c agents/builtin/poly.c
	agents/builtin/clex.c agents/builtin/cfunc.c core/oid.c core/source.c
	core/sha1.c core/kernel.c core/kernel_arg.c core/kernel_flags.c
	core/kernel_shape.c core/ini.c core/expr.c core/dtype.c */
#include "tests/unit/tap.h"

#include <stdlib.h>

#include "agents/builtin/draft.h"
#include "agents/builtin/poly.h"
#include "core/kernel.h"

/* The section, then the notes as "# ..."; the caller frees. */
static char *drafted(const char *source, const char *entry)
{
	struct srcset src = SRCSET_INIT;
	struct buf out = BUF_INIT;
	struct strv notes = STRV_INIT;
	struct err err = ERR_INIT;
	struct kernel_file f;

	srcset_put(&src, "lib/k.c", source, strlen(source), true);
	if (draft_section(&src, "lib/k.c", entry, &out, &notes, &err)) {
		buf_addf(&out, "error: %s", err.msg);
	} else if (kernel_file_parse(&f, "draft", out.ptr, out.len, &err)) {
		buf_addf(&out, "refused: %s", err.msg);
	} else {
		kernel_file_release(&f);
	}
	for (size_t i = 0; i < notes.nr; i++)
		buf_addf(&out, "# %s\n", notes.v[i]);
	srcset_release(&src);
	strv_release(&notes);
	return buf_detach(&out);
}

static void gives(const char *source, const char *want, const char *title)
{
	char *got = drafted(source, NULL);

	is_str(got, want, "%s", title);
	free(got);
}

/* Every part, divided by '|', stands in the draft. */
static void holds(const char *source, const char *parts, const char *title)
{
	char *got = drafted(source, NULL);
	bool good = !strstr(got, "refused:");

	for (const char *p = parts; *p;) {
		size_t n = strcspn(p, "|");

		good = good && memmem(got, strlen(got), p, n);
		p += n + (p[n] == '|');
	}
	if (!ok(good, "%s", title))
		printf("# %s\n", got);
	free(got);
}

static void whole(void)
{
	gives("#include \"../inc/a.h\"\n#include <math.h>\n"
	      "static float sq(float v) { return v * v; }\n"
	      "double rows(size_t n, int m, const float *x, long ldx,\n"
	      "	float alpha, float *y, const int *idx, int flag)\n{\n"
	      "	double total = 0;\n"
	      "	for (size_t i = 0; i < n; i++) {\n"
	      "		const float *row = x + i * ldx;\n"
	      "		for (int j = 0; j < m; j++) {\n"
	      "			y[i * m + j] = sq(alpha * row[j]) + flag;\n"
	      "			total += y[i * m + j];\n		}\n"
	      "		total += idx[i];\n	}\n	return total;\n}\n",
	      "[kernel \"rows\"]\n\tfile = lib/k.c\n\tuse = inc/a.h\n"
	      "\tentry = rows\n\tflags = -O3 -march=native\n"
	      "\targ = ret f64\n\targ = dim size_t n\n\targ = dim m\n"
	      "\targ = in f32 x[n][m] ld(ldx)\n\targ = dim long ldx\n"
	      "\targ = in f32 alpha = 1.5\n\targ = out f32 y[n][m]\n"
	      "\targ = in i32 idx[n]\n\targ = in i32 flag = 1\n"
	      "\trequire = ldx >= m\n"
	      "\ttime = n=2270 m=2770 ldx=2778\n"
	      "\tcheck = n=7 m=8 ldx=16\n\tcheck = n=33 m=40 ldx=48\n"
	      "\tflops = 3*n*m\n"
	      "# the value of 'alpha' is a guess\n"
	      "# the value of 'flag' is a guess\n",
	      "a helper, a header, rows apart, scalars, a return value");
}

static void shapes(void)
{
	holds("void mm(const float *a, const float *b, float *c, int M, int N,"
	      " int K)\n{\n"
	      "	for (int i = 0; i < M; i++)\n"
	      "		for (int j = 0; j < N; j++) {\n"
	      "			float sum = 0;\n"
	      "			for (int k = 0; k < K; k++)\n"
	      "				sum += a[i * K + k] * b[k * N + j];\n"
	      "			c[i * N + j] = sum;\n		}\n}\n",
	      "in f32 a[M][K]\n|in f32 b[K][N]\n|out f32 c[M][N]\n|"
	      "flops = 2*M*N*K\n", "a product");
	holds("#define N 61\n#define NK (N * 2 - 2)\n"
	      "void mm(const double a[][NK], double (*c)[N], int M)\n{\n"
	      "	for (int i = M - 1; i >= 0; i--)\n"
	      "		for (int j = 0; j <= N - 1; ++j)\n"
	      "			c[i][j] += a[i][j];\n}\n",
	      "in f64 a[M][120]\n", "constants in brackets, a loop downwards");
	holds("void cv(const float *x, const float *w, float *y, int B, int C,"
	      " int H, int W, int R, int S)\n{\n"
	      "	int P = H - R + 1, Q = W - S + 1;\n"
	      "	for (int b = 0; b < B; b++)\n"
	      "		for (int p = 0; p < P; p++)\n"
	      "			for (int q = 0; q < Q; q++) {\n"
	      "				float s = 0;\n"
	      "				for (int c = 0; c < C; c++)\n"
	      "				for (int r = 0; r < R; r++)\n"
	      "				for (int t = 0; t < S; t++)\n"
	      "				s += x[((b * C + c) * H + p + r) * W + q + t]"
	      " * w[(c * R + r) * S + t];\n"
	      "				y[(b * P + p) * Q + q] = s;\n"
	      "			}\n}\n",
	      "x[B][C][H][W]\n|w[C][R][S]\n|y[B][H+1-R][W+1-S]\n|"
	      "require = H+1-R >= 1\n|R=3 S=3\n|B=2 ",
	      "a convolution with sizes of its own");
	holds("void at(const float *q, float *o, int H, int T)\n{\n"
	      "	float s[512];\n"
	      "	for (int h = 0; h < H; h++)\n"
	      "		for (int i = 0; i < T; i++) {\n"
	      "			for (int j = 0; j <= i; j++)\n"
	      "				s[j] = q[(h * T + j) * 8] * 2;\n"
	      "			o[h * T + i] = s[i];\n		}\n}\n",
	      "in f32 q[H][T][8]|out f32 o[H][T]\n|require = T <= 512\n|"
	      "flops = (H*T*T)/2\n",
	      "a triangle, and a local array that limits a size");
	holds("void up(float *x, unsigned char *m, int n)\n{\n"
	      "	for (int i = 0; i < n; i++) {\n		x[i] *= 2;\n"
	      "		m[i + 1] = x[i] > 0;\n	}\n}\n",
	      "inout f32 x[n]\n|out u8 m[n+1]\n", "in place, and an offset");
	holds("void sm(const float *x, float *y, int M, int N)\n{\n"
	      "	for (int i = 0; i < M; i++) {\n		float m = x[i * N];\n"
	      "		for (int j = 0; j < N; j++)\n"
	      "			y[i * N + j] = x[i * N + j] - m;\n	}\n}\n",
	      "in f32 x[M][N]\n|out f32 y[M][N]\n",
	      "whole rows before single columns of them");
	holds("void vl(int M, int N, float x[restrict M][N], float y[static M])"
	      "\n{\n	y[0] = x[0][0];\n}\n",
	      "in f32 x[M][N]\n|out f32 y[M]\n|could not be counted",
	      "extents that are declared");
}

static void guesses(void)
{
	holds("void g(float *, int);\n"
	      "void f(float *x, const int *p, int n, int m)\n{\n"
	      "	for (int i = 0; i < n; i++)\n		x[p[i]] = m;\n"
	      "	for (int i = 0; i < m; i++)\n		g(x, i);\n}\n",
	      "inout f32 x[n*m]\n|in i32 p[n]\n|"
	      "# the extent of 'x' is a guess: it is passed on|"
	      "# whether 'x' is read before", "what is not followed is told");
	holds("void f(float *x, int n)\n{\n"
	      "	for (int i = 0; i < n; i++)\n		x[i % 7] = i / 2;\n}\n",
	      "# the extent of 'x' is a guess: its subscripts",
	      "a remainder");
	holds("void f(float *x, int n)\n{\n	float *p = x;\n"
	      "	for (int i = 0; i < n; i++)\n		*p++ = 0;\n}\n",
	      "x[n]\n|# the extent of 'x' is a guess", "a pointer that moves");
}

static void refuses(const char *source, const char *entry, const char *want)
{
	char *got = drafted(source, entry);

	is_str(got, want, "%s", want);
	free(got);
}

static void errors(void)
{
	refuses("static void f(void) { }\n", NULL,
		"error: lib/k.c: no function that another file could call");
	refuses("void f(void) { }\nvoid g(void) { }\n", NULL,
		"error: lib/k.c: several functions, name one: f, g");
	refuses("void f(void) { }\n", "h", "error: lib/k.c: no function 'h'");
	refuses("void f(float **x) { }\n", NULL, "error: parameter 'x' has "
		"the type 'float **', which no section can say");
	refuses("void f(struct s *x) { }\n", NULL, "error: parameter 'x' has "
		"the type 'struct s', which no section can say");
	refuses("char *f(int n) { }\n", NULL,
		"error: the entry returns 'char', which no section can say");
	refuses("int f(a) int a; { }\n", NULL, "error: the entry cannot be "
		"read: its parameters are declared in the old style");
	refuses("void f(int) { }\n", NULL,
		"error: parameter 1 of the entry has no name");
	refuses("void f(int n) {\n", NULL,
		"error: lib/k.c: line 1: a bracket is not closed");
}

static void polynomials(void)
{
	char a[] = "a", b[] = "b", *list[] = { a, b };
	struct strv names = { list, 2, 2 };
	double values[] = { 3, 5 };
	struct buf text = BUF_INIT;
	struct poly p, q, coef, rest;

	poly_sym(&p, 0);
	poly_add_const(&p, -2);
	poly_sym(&q, 1);
	poly_mul(&p, &q);
	poly_mul(&p, &p);
	poly_print(&p, &names, &text);
	is_str(text.ptr, "a*a*b*b+4*b*b-4*a*b*b", "(a - 2)^2 b^2");
	ok(poly_eval(&p, values) == 25, "its value");
	ok(poly_degree(&p) == 4 && poly_has(&p, 0), "its degree");
	poly_split(&p, 0, &coef, &rest);
	ok(coef.bad, "it is not linear in a");
	poly_sym(&p, 0);
	poly_put(&p, 0, &q);
	ok(poly_eq(&p, &q), "b in the place of a");
	poly_sub(&p, &q);
	ok(!p.nr && !p.bad, "a difference of equals is zero");
	poly_const(&p, POLY_MAX_COEF);
	poly_mul(&p, &p);
	ok(p.bad, "too large");
	poly_sym(&p, 0);
	for (int i = 0; i < POLY_DEGREE; i++)
		poly_mul(&p, &q);
	ok(p.bad, "too high");
	buf_release(&text);
}

int main(void)
{
	whole();
	shapes();
	guesses();
	errors();
	polynomials();
	return tap_done();
}
