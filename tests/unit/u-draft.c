/* needs: agents/builtin/draft.c agents/builtin/draft_expr.c
	agents/builtin/draft_read.c agents/builtin/draft_shape.c
	agents/builtin/draft_use.c agents/builtin/draft_walk.c
	agents/builtin/poly.c agents/builtin/clex.c agents/builtin/cfunc.c
	core/oid.c core/source.c core/sha1.c core/kernel.c core/kernel_arg.c
	core/kernel_flags.c core/kernel_keys.c core/kernel_shape.c core/ini.c core/expr.c
	core/dtype.c */
#include "tests/unit/tap.h"

#include <stdlib.h>

#include "agents/builtin/draft.h"
#include "agents/builtin/poly.h"
#include "core/kernel.h"

static const char *header;	/* inc/h.h, or NULL */

/* The section, then the notes as "# ..."; the caller frees. */
static char *drafted(const char *source, const char *entry)
{
	struct srcset src = SRCSET_INIT;
	struct buf out = BUF_INIT;
	struct strv notes = STRV_INIT;
	struct err err = ERR_INIT;
	struct kernel_file f;

	srcset_put(&src, "lib/k.c", source, strlen(source), true);
	if (header)
		srcset_put(&src, "inc/h.h", header, strlen(header), false);
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

/* Every part, divided by '|', stands in the draft; one that begins with '!'
 * does not. */
static void holds(const char *source, const char *parts, const char *title)
{
	char *got = drafted(source, NULL);
	bool good = !strstr(got, "refused:");

	for (const char *p = parts; *p;) {
		size_t n = strcspn(p, "|");

		bool not = *p == '!';

		good = good && not == !memmem(got, strlen(got), p + not,
					      n - not);
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
	      "\tcheck = n=7 m=9 ldx=11\n\tcheck = n=33 m=41 ldx=43\n"
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
	      "require = H+1-R >= 1\n|R=3 S=3\n|B=5 ",
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
	      "inout f32 x[n]\n|inout u8 m[n+1]\n|# whether all of 'm' is "
	      "written is not known", "in place, and an offset");
	holds("void sm(const float *x, float *y, int M, int N)\n{\n"
	      "	for (int i = 0; i < M; i++) {\n		float m = x[i * N];\n"
	      "		for (int j = 0; j < N; j++)\n"
	      "			y[i * N + j] = x[i * N + j] - m;\n	}\n}\n",
	      "in f32 x[M][N]\n|out f32 y[M][N]\n",
	      "whole rows before single columns of them");
	holds("void vl(int M, int N, float x[restrict M][N], float y[static M])"
	      "\n{\n	y[0] = x[0][0];\n}\n",
	      "in f32 x[M][N]\n|inout f32 y[M]\n|could not be counted|"
	      "# whether all of 'y'",
	      "extents that are declared");
}

#define MIX "float mix(const float *x, int ldx, float alpha, int M, int N,"	\
	    " float *y)\n{\n	float total = 0.0f;\n"			\
	    "	for (int i = 0; i < M; i++) {\n"				\
	    "		float w = weight(x + i * ldx, N);\n"			\
	    "		for (int j = 0; j < N; j++) {\n"			\
	    "			y[i * N + j] = alpha * x[i * ldx + j] * w;\n"	\
	    "			total += y[i * N + j];\n		}\n	}\n"	\
	    "	return total;\n}\n"
#define WEIGHT "static float weight(const float *row, int n)\n{\n"	\
	       "	float sum = 0.0f;\n	for (int i = 0; i < n; i++)\n"	\
	       "		sum += expf(row[i]);\n	return sum / n;\n}\n"

static void calls(void)
{
	const char *mix = "arg = in f32 x[M][N] ld(ldx)\n|out f32 y[M][N]\n|"
			  "!is a guess: |!taken as|require = ldx >= N\n";

	holds("#include <math.h>\n" WEIGHT MIX, mix, "rows for a helper");
	header = WEIGHT;
	holds("#include \"../inc/h.h\"\n" MIX, mix, "a helper in a header");
	header = "static void broken(";
	holds(WEIGHT MIX, mix, "a header that cannot be read");
	header = NULL;
	holds("static void zero(float *y, int n)\n{\n"
	      "	for (int i = 0; i < n; i++)\n		y[i] = 0;\n}\n"
	      "static void axpy(float a, const float *x, float *y, int n)\n{\n"
	      "	for (int j = 0; j < n; j++)\n		y[j] += a * x[j];\n}\n"
	      "void mm(const float *a, const float *b, float *c, int M, int N,"
	      " int K)\n{\n	for (int i = 0; i < M; i++) {\n"
	      "		zero(&c[i * N], N);\n"
	      "		for (int k = 0; k < K; k++)\n"
	      "			axpy(a[i * K + k], b + k * N, c + i * N, N);\n"
	      "	}\n}\n",
	      "in f32 a[M][K]\n|in f32 b[K][N]\n|out f32 c[M][N]\n|"
	      "flops = 2*M*N*K\n|!# ",
	      "a product of helpers, the result set to zero first");
	holds("static void add(float *y, long n, float v)\n{\n"
	      "	for (long i = 0; i < n; i++)\n		y[i] += v;\n}\n"
	      "void up(float *y, int n)\n{\n	add(y, 2 * n + 1, 3);\n}\n",
	      "inout f32 y[2*n+1]\n|!# the extent", "what a helper adds to");
	holds("static float at(const float *x, int i)\n{\n	return x[i];\n}\n"
	      "static float two(const float *p, int i, int ld)\n{\n"
	      "	const float *q = p + ld;\n	return at(p, i) + at(q, i);\n}\n"
	      "void f(const float *x, float *y, int n, int m)\n{\n"
	      "	for (int i = 0; i < n; i++)\n"
	      "		for (int j = 0; j < m; j++)\n"
	      "			y[i * m + j] = two(x + i * m, j, m);\n}\n",
	      "in f32 x[n+1][m]\n|out f32 y[n][m]\n|!# ",
	      "helpers of helpers");
	holds("static void one(float *y, int n)\n{\n"
	      "	for (int i = 0; i < n; i++)\n		y[i] = 1;\n}\n"
	      "static void all(float *y, int m, int n)\n{\n"
	      "	for (int i = 0; i < m; i++)\n		one(y + i * n, n);\n}\n"
	      "void f(float *y, int m, int n)\n{\n	all(y, m, n);\n}\n",
	      "out f32 y[m][n]\n|!the extent", "loops in helpers of helpers");
	holds("static void r(float *x, int n)\n{\n	if (n)\n"
	      "		r(x + 1, n - 1);\n	x[0] = 1;\n}\n"
	      "void f(float *x, int n)\n{\n	r(x, n);\n}\n",
	      "inout f32 x[n]\n|# the extent of 'x' is a guess: it is passed",
	      "recursion is not followed");
	holds("static void set(float (*x)[8], int n)\n{\n"
	      "	for (int i = 0; i < n; i++)\n"
	      "		for (int j = 0; j < 8; j++)\n			x[i][j] = j;\n}\n"
	      "static float sum(const float *row)\n{\n	float s = 0;\n"
	      "	for (int j = 0; j < 8; j++)\n		s += row[j];\n"
	      "	return s;\n}\n"
	      "void f(float x[][8], const float y[][8], float *z, int n)\n{\n"
	      "	set(x, n);\n	for (int i = 0; i < n; i++)\n"
	      "		z[i] = sum(y[i]);\n}\n",
	      "out f32 x[n][8]\n|in f32 y[n][8]\n|out f32 z[n]\n|!# ",
	      "arrays of rows, and single rows");
	holds("static void put(float *y, const int *at, int n)\n{\n"
	      "	if (n > 9)\n		return;\n"
	      "	for (int i = 0; i < n; i++)\n		y[i] = at[i];\n}\n"
	      "void f(float *y, const int *at, int n)\n{\n"
	      "	put(y, at, n);\n}\n",
	      "inout f32 y[n]\n|in i32 at[n]\n|# whether all of 'y'",
	      "a helper that may return early");
	holds("static void t(float *x, int n)\n{\n	float b[64];\n"
	      "	for (int i = 0; i < n; i++)\n		b[i] = x[i];\n"
	      "	for (int i = 0; i < n; i++)\n		x[i] = b[n - 1 - i];\n}\n"
	      "void f(float *x, int m, int n)\n{\n"
	      "	for (int i = 0; i < m; i++)\n		t(x + i * n, n);\n}\n",
	      "inout f32 x[m][n]\n|require = n <= 64\n",
	      "a helper's local array limits a size");
}

static void uses(void)
{
	holds("void f(const float *x, float *y, int n, float a)\n{\n"
	      "	for (int i = 0; i < n; i++)\n"
	      "		y[i] = a * x[i] + y[i];\n}\n",
	      "inout f32 y[n]\n|!taken as", "read in the statement that writes");
	holds("void f(const float *x, float *y, int n)\n{\n"
	      "	for (int i = 0; i < n; i++)\n		y[i] += x[i];\n}\n",
	      "inout f32 y[n]\n|!taken as", "added to");
	holds("void f(const float *x, float *y, int n, int m)\n{\n"
	      "	for (int i = 0; i < n; i++) {\n		y[i] = 0;\n"
	      "		for (int k = 0; k < m; k++)\n"
	      "			y[i] += x[i * m + k];\n	}\n}\n",
	      "out f32 y[n]\n|!inout", "set before it is added to");
	holds("void f(const float *x, float *y, int n, int m)\n{\n"
	      "	for (int j = 0; j < m; j++)\n		y[j] = 0;\n"
	      "	for (int i = 0; i < n; i++)\n"
	      "		for (int k = 0; k < m; k++)\n"
	      "			y[k] += x[i * m + k];\n}\n",
	      "out f32 y[m]\n|!inout", "set in a loop before");
	holds("void f(const float *x, float *y, int n, int m)\n{\n"
	      "	for (int j = 0; j < n * m; j++)\n		y[j] = 0;\n"
	      "	for (int i = 0; i < n; i++)\n"
	      "		for (int k = 0; k < i && k < m; k++)\n"
	      "			y[i * m + k] += x[k];\n}\n",
	      "out f32 y[n][m]\n|in f32 x[m]\n|!inout", "set in one loop, used in two");
	holds("void f(const float *x, float *y, int n)\n{\n"
	      "	for (int i = 0; i < n; i++) {\n"
	      "		if (x[i] > 0)\n			y[i] = 0;\n"
	      "		y[i] += x[i];\n	}\n}\n",
	      "inout f32 y[n]\n|# whether 'y' is read before",
	      "set in a branch alone");
	holds("void f(const float *x, float *y, int n)\n{\n"
	      "	for (int i = 0; i < n - 1; i++)\n		y[i] = 0;\n"
	      "	for (int i = 0; i < n; i++)\n		y[i] += x[i];\n}\n",
	      "inout f32 y[n]\n|# whether 'y' is read before",
	      "the last one is not set");
	holds("void f(const float *x, float *y, int n)\n{\n"
	      "	for (int i = 0; i < n; i++) {\n"
	      "		if (x[i] < 0)\n			continue;\n"
	      "		y[i] = x[i];\n	}\n}\n",
	      "inout f32 y[n]\n|# whether all of 'y'", "jumped over");
	holds("void f(const float *x, float *y, int n)\n{\n"
	      "	for (int i = 0; i < n; i++) {\n"
	      "		y[2 * i] = x[i];\n		y[2 * i + 1] = -x[i];\n	}\n}\n",
	      "out f32 y[n][2]\n|in f32 x[n]\n", "pairs");
	holds("void f(int *p, int n)\n{\n	int i = 0;\n"
	      "	for (; i + 4 <= n; i += 4) {\n"
	      "		p[i] = 0;\n		p[i + 1] = 0;\n		p[i + 2] = 0;\n"
	      "		p[i + 3] = 0;\n	}\n	for (; i < n; i++)\n"
	      "		p[i] = 0;\n}\n",
	      "out i32 p[n]\n|!the extent", "four at a time, and the rest");
	holds("void f(const float *x, float *y, int n, int m)\n{\n"
	      "	for (int i = 0; i < n; i++)\n"
	      "		for (int j = 0; j < m; j++)\n"
	      "			y[i * m + j] = x[j];\n"
	      "	for (int i = 0; i < n * m; i++)\n"
	      "		y[i] = y[i] > 0 ? y[i] : 0;\n}\n",
	      "out f32 y[n][m]\n|in f32 x[m]\n|!# whether",
	      "set in two loops, used in one");
	holds("void f(const float *x, float *y, int n, int m)\n{\n"
	      "	for (int i = 0; i < n; i++) {\n"
	      "		for (int j = 0; j < m; j++)\n"
	      "			y[i * m + j] = x[j];\n"
	      "		y[0] += y[m * n - 1];\n	}\n}\n",
	      "inout f32 y[n][m]\n|# whether 'y' is read before",
	      "used before the loop has set it");
	holds("void f(const float *x, float *y, int n, int m)\n{\n"
	      "	for (int jj = 0; jj < m; jj += 8)\n"
	      "		for (int i = 0; i < n; i++)\n"
	      "			for (int j = jj; j < m && j < jj + 8; j++)\n"
	      "				y[i * m + j] += 2 * x[j];\n}\n",
	      "inout f32 y[n][m]\n|in f32 x[m]\n|flops = 2*n*m\n",
	      "tiles");
}

static void styles(void)
{
	holds("void st(const float *u, float *v, int n)\n{\n"
	      "	for (int i = 1; i < n - 1; i++)\n"
	      "		v[i] = u[i - 1] - 2 * u[i] + u[i + 1];\n}\n",
	      "in f32 u[n]\n|inout f32 v[n-1]\n|# whether all of 'v'",
	      "a stencil with a halo");
	holds("void bm(const double *ab, const double *x, double *y, int n,"
	      " int k)\n{\n	for (int i = 0; i < n; i++) {\n"
	      "		y[i] = 0;\n		for (int b = 0; b < 2 * k + 1; b++)\n"
	      "			y[i] += ab[i * (2 * k + 1) + b] * x[i + b];\n"
	      "	}\n}\n",
	      "in f64 ab[n][2*k+1]\n|in f64 x[2*k+n]\n|out f64 y[n]\n", "a band matrix");
	holds("void hg(const unsigned char *v, int *h, int n)\n{\n"
	      "	for (int i = 0; i < n; i++)\n		h[v[i]]++;\n}\n",
	      "in u8 v[n]\n|inout i32 h[n]\n|# the extent of 'h' is a guess",
	      "a histogram");
	holds("void cp(const float *s, float *d, size_t n)\n{\n"
	      "	while (n--)\n		*d++ = *s++ * 2;\n}\n",
	      "in f32 s[n]\n|out f32 d[n]\n|dim size_t n\n|!# ",
	      "two pointers that walk");
	holds("void wk(const float *x, float *y, int m, int n)\n{\n"
	      "	const float *p = x;\n	for (int i = 0; i < m; i++) {\n"
	      "		float s = 0;\n		for (int j = 0; j < n; j++)\n"
	      "			s += *p++;\n		*y++ = s;\n	}\n}\n",
	      "in f32 x[m][n]\n|out f32 y[m]\n|!# ", "a walk over rows");
	holds("void wh(const float *x, float *y, long n)\n{\n	long i = 0;\n"
	      "	while (i < n) {\n		y[i] = x[i] + 1;\n		i++;\n"
	      "	}\n}\n",
	      "in f32 x[n]\n|out f32 y[n]\n|dim long n\n|!the extent",
	      "a while loop");
	holds("void wb(const float *x, float *y, int n)\n{\n	int i = 0;\n"
	      "	while (i < n) {\n		i++;\n		y[i] = x[i];\n	}\n}\n",
	      "# the extent of 'x' is a guess|# the extent of 'y' is a guess",
	      "a while loop that counts before it reads");
	holds("void tw(const float a[4][6], float b[][6], int n)\n{\n"
	      "	for (int i = 0; i < n; i++)\n"
	      "		for (int j = 0; j < 6; j++)\n"
	      "			b[i][j] = a[i & 3][j];\n}\n",
	      "in f32 a[4][6]\n|out f32 b[n][6]\n|!the extent",
	      "rows of a constant length");
	holds("void mk(const float *x, const _Bool *m, float *y, size_t r,"
	      " long c)\n{\n	for (size_t i = 0; i < r; i++)\n"
	      "		for (long j = 0; j < c; j++)\n"
	      "			y[i * c + j] = m[i * c + j] ? 2 * x[i * c + j] : 0;\n"
	      "}\n",
	      "in f32 x[r][c]\n|in bool m[r][c]\n|out f32 y[r][c]\n|"
	      "dim size_t r\n|dim long c\n|!# ", "a mask");
	holds("void lo(const float *l, float *x, int n)\n{\n"
	      "	for (int i = 0; i < n; i++) {\n"
	      "		for (int j = 0; j < i; j++)\n"
	      "			x[i] -= l[i * n + j] * x[j];\n"
	      "		x[i] /= l[i * n + i];\n	}\n}\n",
	      "in f32 l[n][n]\n|inout f32 x[n]\n|!the extent",
	      "a triangle that is solved");
	holds("void sy(const float *a, float *c, int n)\n{\n"
	      "	for (int i = 0; i < n; i++)\n"
	      "		for (int j = 0; j <= i; j++)\n"
	      "			c[i * n + j] = a[i] * a[j];\n}\n",
	      "inout f32 c[n][n]\n|# whether all of 'c'",
	      "a triangle that is written");
	holds("void dn(float *x, int n)\n{\n	for (; n > 0; n--)\n"
	      "		x[n - 1] = 0;\n}\n",
	      "# the extent of 'x' is a guess", "a size that is counted down");
	holds("void pe(const float *x, const float *e, float *s)\n{\n"
	      "	for (const float *p = x; p < e; p++)\n		*s += *p;\n}\n",
	      "# the extent of 'x' is a guess|# the extent of 'e' is a guess|"
	      "inout f32 s[1]\n", "an end that is a pointer");
	holds("void nx(const float *x, float *y, int m, int n)\n{\n"
	      "	for (int i = 0; i < m; i++) {\n"
	      "		const float *row = x + i * n;\n"
	      "		y[i] = row[0];\n	}\n"
	      "	for (int i = 0; i < m; i++) {\n"
	      "		const float *row = x + i * n;\n"
	      "		for (int j = 1; j < n; j++)\n"
	      "			if (row[j] > y[i])\n				y[i] = row[j];\n"
	      "	}\n}\n",
	      "in f32 x[m][n]\n|out f32 y[m]\n|!# ", "names that come again");
	holds("void od(float *x, const float *b, int n)\n{\n"
	      "	float *q;\n	q = x + n;\n"
	      "	for (int i = 0; i < n; i++)\n		q[i] = b ? *(b + i) : 0;\n}\n",
	      "# the extent of 'x' is a guess|# the extent of 'b' is a guess",
	      "a pointer that is set later");
}

/* Numbers of a shape behind the key, in order. */
static void sizes(void)
{
	const char *source = "void f(const float *x, float *y, long ld, int M,"
		" int N, int K)\n{\n	for (int i = 0; i < M; i++)\n"
		"		for (int j = 0; j < N; j++)\n"
		"			for (int k = 0; k < K; k++)\n"
		"				y[(i * N + j) * K + k] = x[i * ld + k];\n"
		"}\n";
	char *got = drafted(source, NULL), *at;
	long v[4] = { 0, 0, 0, 0 };
	bool even = true;

	at = strstr(got, "\ttime = ");
	ok(at && sscanf(at, " time = ld=%ld M=%ld N=%ld K=%ld", &v[0], &v[1],
			&v[2], &v[3]) == 4, "a timed shape");
	for (int k = 0; k < 4; k++)
		ok(v[k] % 64 && (v[k] & (v[k] - 1)),
		   "%ld is no multiple of 64, no power of two", v[k]);
	ok(v[0] > v[3], "rows lie further apart than they are long");
	at = strstr(got, "\tcheck = ");
	ok(at && sscanf(at, " check = ld=%ld M=%ld N=%ld K=%ld", &v[0], &v[1],
			&v[2], &v[3]) == 4, "a shape that is checked");
	for (int k = 0; k < 4; k++)
		even = even && (v[k] % 2 == 0 || v[k] > 16);
	ok(!even && v[0] % 2 && v[1] % 2 && v[2] % 2 && v[3] % 2 &&
	   v[0] > v[3], "it is small and odd");
	free(got);
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
	      "out f32 x[n]\n", "a pointer that walks");
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
		"error: lib/k.c: several functions (f, g): "
		"name one with --entry");
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
	calls();
	uses();
	styles();
	sizes();
	guesses();
	errors();
	polynomials();
	return tap_done();
}
