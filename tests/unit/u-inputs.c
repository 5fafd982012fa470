/* needs: core/judge/inputs.c core/judge/philox.c core/kernel.c core/kernel_arg.c core/kernel_flags.c core/kernel_keys.c core/kernel_shape.c core/ini.c core/expr.c core/dtype.c core/source.c core/oid.c core/sha1.c */
#include "core/judge/inputs.h"

#include <stdlib.h>
#include <unistd.h>

#include "core/mem.h"
#include "tests/unit/tap.h"

static const char text[] =
	"[kernel \"k\"]\n"
	"file = k.c\n"
	"entry = k\n"
	"arg = in f32 n[N]\n"
	"arg = in f32 u[N]\n"
	"arg = in i32 r[N]\n"
	"arg = in i32 p[N]\n"
	"arg = in i32 io[N]\n"
	"arg = in f32 so[N]\n"
	"arg = in i32 si[N]\n"
	"arg = in i32 of[N]\n"
	"arg = in f32 oh[N][M] ld(L)\n"
	"arg = in f32 co[N]\n"
	"arg = in u8 fi[N]\n"
	"arg = in f32 alpha = 1.5\n"
	"arg = out f32 y[N]\n"
	"arg = dim N\n"
	"arg = dim M\n"
	"arg = dim L\n"
	"input = n normal(3,2)\n"
	"input = u uniform(-2,5)\n"
	"input = r randint(-3,9)\n"
	"input = p perm\n"
	"input = io iota\n"
	"input = so sorted(0,1)\n"
	"input = si sizes(4*N)\n"
	"input = of offsets(3*N)\n"
	"input = oh onehot\n"
	"input = co const(2.5)\n"
	"input = fi file(in.bin)\n"
	"time = N=1000 M=5 L=7\n";

enum { A_NORMAL, A_UNIFORM, A_RANDINT, A_PERM, A_IOTA, A_SORTED, A_SIZES,
       A_OFFSETS, A_ONEHOT, A_CONST, A_FILE, A_ALPHA, A_OUT, A_N };

#define N 1000

static struct kernel_file file;
static const struct kernel *k;
static const struct seed seed = { { 1, 2, 3, 4 } };
static char dir[] = "/tmp/maxkernel-unit.XXXXXX";

/* The filled argument, in memory that the caller frees. */
static void *fill(int arg, enum regime regime, const struct seed *s)
{
	struct err err = ERR_INIT;
	struct rows r;
	void *p;

	if (rows_of(k, arg, &k->time[0], &r, &err))
		return NULL;
	p = xcalloc((size_t)r.elems, 8);
	if (input_fill(p, k, arg, &k->time[0], s, regime, dir, &err)) {
		printf("# %s\n", err.msg);
		free(p);
		return NULL;
	}
	return p;
}

static void geometry(void)
{
	struct err err = ERR_INIT;
	struct rows r;

	ok(!rows_of(k, A_ONEHOT, &k->time[0], &r, &err), "rows of a matrix");
	is_int(r.cols, 5, "columns");
	is_int(r.stride, 7, "their distance");
	is_int(r.elems, 999 * 7 + 5, "its elements");
	ok(input_is_read(&k->arg[A_ALPHA]) && input_is_read(&k->arg[A_N]) &&
	   !input_is_read(&k->arg[A_OUT]), "what the judge fills");
}

static void normals(void)
{
	float *v = fill(A_NORMAL, REGIME_PLAIN, &seed);
	float *again = fill(A_NORMAL, REGIME_PLAIN, &seed);
	float *mixed = fill(A_NORMAL, REGIME_MIXED, &seed);
	float *side = fill(A_NORMAL, REGIME_ENDS, &seed);
	double sum = 0, square = 0;
	int i, over = 0, small = 0, large = 0;
	uint32_t block[4], halves = 0;

	for (i = 0; i < N; i++) {
		double z = ((double)v[i] - 3) / 2;
		double m = ((double)mixed[i] - 3) / 2;

		sum += z;
		square += z * z;
		over += side[i] > 3;
		small += fabs(m) < 0.02;
		large += fabs(m) > 4.9;
	}
	is_near(sum / N, 0, 0.1, "mean of a normal");
	is_near(square / N, 1, 0.12, "its variance");
	ok(!memcmp(v, again, N * sizeof(*v)), "a seed repeats");
	ok(small > N / 20, "mixed: small runs");
	ok(large <= N / 8, "mixed: few large ones");
	ok(over == 0 || over == N, "ends: one side of the mean");
	/* Element 5 by the words of the header. */
	seed_block(&seed, 8 * A_NORMAL, 5, block);
	for (i = 0; i < 4; i++)
		halves += (block[i] & 0xffff) + (block[i] >> 16);
	is_near(v[5], 3 + 2 * ((double)halves - 262140.0) /
		sqrt(8 * 4294967295.0 / 12), 1e-6, "specified to the bit");
	free(v);
	free(again);
	free(mixed);
	free(side);
}

static void uniforms(void)
{
	struct seed other = { { 1, 2, 3, 5 } };
	float *v = fill(A_UNIFORM, REGIME_PLAIN, &seed);
	float *w = fill(A_UNIFORM, REGIME_PLAIN, &other);
	float *mixed = fill(A_UNIFORM, REGIME_MIXED, &seed);
	float *ends = fill(A_UNIFORM, REGIME_ENDS, &seed);
	float *ties = fill(A_UNIFORM, REGIME_TIES, &seed);
	int i, in = 0, at = 0, both[2] = { 0, 0 }, four = 0;
	uint32_t block[4];

	for (i = 0; i < N; i++) {
		in += v[i] >= -2 && v[i] < 5;
		at += mixed[i] == -2 || mixed[i] == 5;
		both[0] += ends[i] == -2;
		both[1] += ends[i] == 5;
		four += fmod((double)ties[i] + 2 + 1e-6, 7.0 / 3) < 1e-4;
	}
	is_int(in, N, "a uniform stays within its ends");
	ok(at > 2 && at < N / 8, "mixed: some lie at the ends");
	ok(both[0] > 100 && both[1] > 100 && both[0] + both[1] == N,
	   "ends: all do");
	is_int(four, N, "ties: four values");
	ok(memcmp(v, w, N * sizeof(*v)), "another seed, other numbers");
	seed_block(&seed, 8 * A_UNIFORM, 1, block);
	is_near(v[6], -2 + 7 * ((double)(block[2] >> 8) * 0x1p-24), 1e-6,
		"specified to the bit");
	free(v);
	free(w);
	free(mixed);
	free(ends);
	free(ties);
}

static void integers(void)
{
	int32_t *r = fill(A_RANDINT, REGIME_PLAIN, &seed);
	int32_t *e = fill(A_RANDINT, REGIME_ENDS, &seed);
	int32_t *p = fill(A_PERM, REGIME_PLAIN, &seed);
	int32_t *io = fill(A_IOTA, REGIME_MIXED, &seed);
	int32_t *si = fill(A_SIZES, REGIME_PLAIN, &seed);
	int32_t *of = fill(A_OFFSETS, REGIME_PLAIN, &seed);
	int i, low = 0, high = 0, in = 1, ends = 1, iota = 1, once = 1;
	int ascending = 1, positive = 1, seen[N] = { 0 };
	long sum = 0;

	for (i = 0; i < N; i++) {
		in &= r[i] >= -3 && r[i] <= 9;
		low += r[i] == -3;
		high += r[i] == 9;
		ends &= e[i] == -3 || e[i] == 9;
		iota &= io[i] == i;
		if (p[i] >= 0 && p[i] < N)
			seen[p[i]]++;
		positive &= si[i] >= 0;
		sum += si[i];
		ascending &= i == 0 || of[i] >= of[i - 1];
	}
	for (i = 0; i < N; i++)
		once &= seen[i] == 1;
	ok(in && low && high, "randint: both ends included");
	ok(ends, "randint at its ends");
	ok(once, "perm: each number once");
	ok(iota, "iota");
	ok(positive && sum == 4 * N, "sizes: their sum");
	ok(ascending && of[0] == 0 && of[N - 1] == 3 * N,
	   "offsets: from 0 to the total");
	free(r);
	free(e);
	free(p);
	free(io);
	free(si);
	free(of);
}

static void others(void)
{
	float *so = fill(A_SORTED, REGIME_PLAIN, &seed);
	float *oh = fill(A_ONEHOT, REGIME_PLAIN, &seed);
	float *co = fill(A_CONST, REGIME_PLAIN, &seed);
	unsigned char *fi = fill(A_FILE, REGIME_PLAIN, &seed);
	float *alpha = fill(A_ALPHA, REGIME_MIXED, &seed);
	int *n = fill(A_N, REGIME_PLAIN, &seed);
	int i, j, sorted = 1, hot = 1, same = 1;

	for (i = 0; i < N; i++) {
		float sum = 0;

		sorted &= i == 0 || so[i] >= so[i - 1];
		for (j = 0; j < 5; j++)
			sum += oh[i * 7 + j];
		hot &= sum == 1;
		same &= co[i] == 2.5f;
	}
	ok(sorted, "sorted");
	ok(hot, "onehot: one in each row, by its distance");
	ok(same, "const");
	ok(fi && !memcmp(fi, "abcabca", 7), "file: repeated");
	ok(*alpha == 1.5f, "a scalar with a value");
	is_int(*n, N, "a dim");
	free(so);
	free(oh);
	free(co);
	free(fi);
	free(alpha);
	free(n);
}

static int count(const float *v, enum special s)
{
	int i, nr = 0;

	for (i = 0; i < N; i++)
		nr += s == SPECIAL_NAN ? isnan(v[i]) :
		      s == SPECIAL_INF ? v[i] == INFINITY :
		      s == SPECIAL_DENORMAL ?
		      fpclassify(v[i]) == FP_SUBNORMAL :
		      s == SPECIAL_ZERO ? v[i] == 0 : v[i] == -INFINITY;
	return nr;
}

static void specials(void)
{
	struct err err = ERR_INIT;
	int s;

	for (s = SPECIAL_NONE + 1; s < SPECIAL_NR; s++) {
		float *v = fill(A_UNIFORM, REGIME_PLAIN, &seed);
		int nr;

		ok(!count(v, (enum special)s), "no %s of themselves",
		   special_name((enum special)s));
		ok(!input_plant(v, k, A_UNIFORM, &k->time[0], &seed,
				(enum special)s, &err), "planted");
		nr = count(v, (enum special)s);
		ok(nr > 0 && nr < N, "%d %s", nr,
		   special_name((enum special)s));
		free(v);
	}
}

int main(void)
{
	struct err err = ERR_INIT;
	char path[64];

	ok(mkdtemp(dir) != NULL, "a folder");
	snprintf(path, sizeof(path), "%s/in.bin", dir);
	ok(!buf_write_file(path, "abc", 3, &err), "an input file");
	if (!ok(!kernel_file_parse(&file, "test", text, strlen(text), &err),
		"the section is read")) {
		printf("# %s\n", err.msg);
		return tap_done();
	}
	k = &file.v[0];
	geometry();
	normals();
	uniforms();
	integers();
	others();
	specials();
	unlink(path);
	rmdir(dir);
	kernel_file_release(&file);
	return tap_done();
}
