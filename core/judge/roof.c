#include "core/judge/roof.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/judge/build.h"
#include "core/mem.h"

#define MIN_BYTES 16384.0
#define MAX_BYTES 134217728.0
#define CALL_BYTES 8388608.0	/* moved in one call, at the least */
#define FMA_ROUNDS 200000
#define CALLS 4

static const char *const probe_name[ROOF_NR] = {
	"roof_fma", "roof_read", "roof_copy", "roof_stream"
};

/*
 * N elements, R times over.  y[0] of the first probe tells how many
 * operations a round has.
 */
static const char section[] =
	"[kernel \"roof_fma\"]\n"
	"file = roof_fma.c\nentry = roof_fma\n"
	"arg = out f64 y[2]\narg = dim T\narg = dim R\n"
	"time = T=1 R=1\n"
	"[kernel \"roof_read\"]\n"
	"file = roof_read.c\nentry = roof_read\n"
	"arg = in f32 x[N]\narg = out f64 y[2]\narg = dim N\narg = dim R\n"
	"arg = dim T\ntime = N=1 R=1 T=1\n"
	"[kernel \"roof_copy\"]\n"
	"file = roof_copy.c\nentry = roof_copy\n"
	"arg = in f32 x[N]\narg = out f32 y[N]\narg = dim N\narg = dim R\n"
	"arg = dim T\ntime = N=1 R=1 T=1\n"
	"[kernel \"roof_stream\"]\n"
	"file = roof_stream.c\nentry = roof_stream\n"
	"arg = in f32 x[N]\narg = out f32 y[N]\narg = dim N\narg = dim R\n"
	"arg = dim T\ntime = N=1 R=1 T=1\n";

static const char vectors[] =
	"#if defined(__AVX512F__)\n"
	"#define BYTES 64\n"
	"#elif defined(__AVX__)\n"
	"#define BYTES 32\n"
	"#else\n"
	"#define BYTES 16\n"
	"#endif\n"
	"typedef ELEM vec __attribute__((vector_size(BYTES), aligned(4)));\n"
	"#define LANES (BYTES / (int)sizeof(ELEM))\n";

/* Enough sums that the latency of one never shows. */
static const char fma_text[] =
	"#define EACH(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) \\\n"
	"	X(8) X(9) X(10) X(11)\n"
	"static double one(int rounds)\n"
	"{\n"
	"	vec m = (vec){0} + (ELEM)0.999, c = (vec){0} + (ELEM)0.001;\n"
	"	vec sum = (vec){0};\n"
	"	double total = 0;\n"
	"	int i;\n"
	"#define DECLARE(k) vec v##k = (vec){0} + (ELEM)(k + 1);\n"
	"	EACH(DECLARE)\n"
	"	for (i = 0; i < rounds; i++) {\n"
	"#define STEP(k) v##k = v##k * m + c;\n"
	"		EACH(STEP)\n"
	"	}\n"
	"#define ADD(k) sum += v##k;\n"
	"	EACH(ADD)\n"
	"	for (i = 0; i < LANES; i++)\n"
	"		total += sum[i];\n"
	"	return total;\n"
	"}\n"
	"void roof_fma(double *y, int T, int R)\n"
	"{\n"
	"	double total = 0;\n"
	"	int t;\n"
	"#pragma omp parallel for reduction(+:total) num_threads(T)\n"
	"	for (t = 0; t < T; t++)\n"
	"		total += one(R);\n"
	"	y[0] = 2.0 * 12 * LANES * T * R;\n"
	"	y[1] = total;\n"
	"}\n";

static const char read_text[] =
	"static double one(const float *x, long n, int rounds)\n"
	"{\n"
	"	vec a = (vec){0}, b = a, c = a, d = a, e = a, f = a, g = a,\n"
	"	    h = a;\n"
	"	double total = 0;\n"
	"	long i;\n"
	"	int r;\n"
	"	for (r = 0; r < rounds; r++) {\n"
	"		const vec *p = (const vec *)x;\n"
	"		__asm__ volatile(\"\" : \"+r\"(p) : : \"memory\");\n"
	"		for (i = 0; i + 8 <= n / LANES; i += 8) {\n"
	"			a += p[i]; b += p[i + 1]; c += p[i + 2];\n"
	"			d += p[i + 3]; e += p[i + 4]; f += p[i + 5];\n"
	"			g += p[i + 6]; h += p[i + 7];\n"
	"		}\n"
	"	}\n"
	"	a += b + c + d + e + f + g + h;\n"
	"	for (i = 0; i < LANES; i++)\n"
	"		total += a[i];\n"
	"	return total;\n"
	"}\n"
	"void roof_read(const float *x, double *y, int N, int R, int T)\n"
	"{\n"
	"	double total = 0;\n"
	"	int t;\n"
	"#pragma omp parallel for reduction(+:total) num_threads(T)\n"
	"	for (t = 0; t < T; t++)\n"
	"		total += one(x + (long)(N / T / 128 * 128) * t,\n"
	"			     N / T, R);\n"
	"	y[0] = total;\n"
	"	y[1] = 0;\n"
	"}\n";

static const char copy_text[] =
	"static void one(const float *x, float *y, long n, int rounds)\n"
	"{\n"
	"	long i;\n"
	"	int r;\n"
	"	for (r = 0; r < rounds; r++) {\n"
	"		const vec *p = (const vec *)x;\n"
	"		vec *q = (vec *)y;\n"
	"		__asm__ volatile(\"\" : \"+r\"(p), \"+r\"(q) : :\n"
	"				 \"memory\");\n"
	"		for (i = 0; i + 4 <= n / LANES; i += 4) {\n"
	"			vec a = p[i], b = p[i + 1], c = p[i + 2],\n"
	"			    d = p[i + 3];\n"
	"			STORE(q + i, a);\n"
	"			STORE(q + i + 1, b);\n"
	"			STORE(q + i + 2, c);\n"
	"			STORE(q + i + 3, d);\n"
	"		}\n"
	"		for (i *= LANES; i < n; i++)\n"
	"			y[i] = x[i];\n"
	"	}\n"
	"	FENCE;\n"
	"}\n"
	"void NAME(const float *x, float *y, int N, int R, int T)\n"
	"{\n"
	"	long part = N / T / 128 * 128;\n"
	"	int t;\n"
	"#pragma omp parallel for num_threads(T)\n"
	"	for (t = 0; t < T; t++)\n"
	"		one(x + part * t, y + part * t,\n"
	"		    t == T - 1 ? N - part * t : part, R);\n"
	"}\n";

static const char plain_store[] =
	"#define NAME roof_copy\n"
	"#define STORE(p, v) (*(p) = (v))\n"
	"#define FENCE ((void)0)\n";

static const char stream_store[] =
	"#include <immintrin.h>\n"
	"#define NAME roof_stream\n"
	"#if defined(__AVX512F__)\n"
	"#define STORE(p, v) _mm512_stream_ps((float *)(p), (__m512)(v))\n"
	"#elif defined(__AVX__)\n"
	"#define STORE(p, v) _mm256_stream_ps((float *)(p), (__m256)(v))\n"
	"#else\n"
	"#define STORE(p, v) _mm_stream_ps((float *)(p), (__m128)(v))\n"
	"#endif\n"
	"#define FENCE _mm_sfence()\n";

static void probe_text(struct buf *b, int probe, bool wide)
{
	if (probe == ROOF_STREAM)
		buf_addstr(b, stream_store);
	if (probe == ROOF_COPY)
		buf_addstr(b, plain_store);
	buf_addf(b, "#define ELEM %s\n",
		 probe == ROOF_FMA && wide ? "double" : "float");
	buf_addstr(b, vectors);
	buf_addstr(b, probe == ROOF_FMA ? fma_text :
		   probe == ROOF_READ ? read_text : copy_text);
}

static int build_probe(struct roof *r, int probe, const char *work,
		       const char *cc, const struct strv *flags, bool wide,
		       struct err *err)
{
	struct build_job job = { .kernel = &r->file.v[probe], .cc = cc,
				 .flags = flags,
				 .sandbox_none = r->limits.sandbox_none };
	struct build_result res = { V_NONE, NULL, 0 };
	struct buf text = BUF_INIT;
	char *dir = xasprintf("%s/mk-%s", work, probe_name[probe]);
	char *path = xasprintf("%s/%s.c", dir, probe_name[probe]);
	char *so = xasprintf("%s/mk-%s.so", work, probe_name[probe]);
	int ret = 0;

	if (mkdir(dir, 0755) && errno != EEXIST)
		ret = err_sys(err, "cannot make '%s'", dir);
	probe_text(&text, probe, wide);
	if (!ret)
		ret = buf_write_file(path, text.ptr, text.len, err);
	job.dir = dir;
	job.so = so;
	if (!ret)
		ret = build_run(&job, &res, err);
	if (!ret && res.verdict == V_NONE) {
		r->so[probe] = so;
		so = NULL;
	}
	build_result_release(&res);
	buf_release(&text);
	free(so);
	free(path);
	free(dir);
	return ret;
}

int roof_open(struct roof *r, const char *work, const char *cc, int threads,
	      bool wide, bool sandbox_none, struct err *err)
{
	struct strv flags = STRV_INIT;
	int ret, i;

	memset(r, 0, sizeof(*r));
	r->limits.load_s = 10;
	r->limits.scratch = (size_t)64 << 20;
	r->limits.threads = threads;
	r->limits.sandbox_none = sandbox_none;
	r->limits.cpu = -1;
	ret = kernel_file_parse(&r->file, "the probes", section,
				strlen(section), err);
	if (ret)
		return ret;
	strv_push(&flags, "-O2");
	strv_push(&flags, "-march=native");
	strv_push(&flags, "-ffp-contract=fast");
	strv_push(&flags, "-w");
	for (i = 0; !ret && i < ROOF_NR; i++) {
		r->file.v[i].threads = threads;
#if !defined(__x86_64__)
		if (i == ROOF_STREAM)
			continue;
#endif
		ret = build_probe(r, i, work, cc, &flags, wide, err);
	}
	strv_release(&flags);
	return ret;
}

void roof_close(struct roof *r)
{
	int i;

	kernel_file_release(&r->file);
	for (i = 0; i < ROOF_NR; i++)
		free(r->so[i]);
	memset(r, 0, sizeof(*r));
}

static double call_ns(const struct roof *r, const struct call_time *t)
{
	return r->limits.threads > 1 ? t->wall_ns : t->cpu_ns;
}

/* Calls a ready probe; the shortest time, or 0 when it died. */
static int probe_calls(const struct roof *r, struct worker *w, double *ns,
		       struct err *err)
{
	int i, ret;

	*ns = 0;
	/* The first call meets pages that nobody touched. */
	for (i = 0; i <= CALLS; i++) {
		enum worker_state state;
		struct call_time t;

		ret = worker_call(w, 0, 1, false, 30, &t, &state, err);
		if (ret || state != WORKER_OK) {
			*ns = 0;
			return ret;
		}
		if (i && (*ns <= 0 || call_ns(r, &t) < *ns))
			*ns = call_ns(r, &t);
	}
	return 0;
}

/* Sets the dims by name and the inputs to small numbers. */
static void probe_load(const struct arena *in, const struct kernel *k,
		       const struct shape *s)
{
	int i;
	int64_t j;

	for (i = 0; i < k->nr_args; i++) {
		const struct arg *a = &k->arg[i];

		if (a->kind == ARG_DIM) {
			int v = (int)s->dim[a->dim];

			memcpy(arena_in(in, 0, i), &v, sizeof(v));
		} else if (a->kind == ARG_IN) {
			float *x = arena_in(in, 0, i);

			for (j = 0; j < in->layout->elems[i]; j++)
				x[j] = (float)(j & 7);
		}
	}
}

static void set_dim(const struct kernel *k, struct shape *s, const char *name,
		    int64_t v)
{
	int i;

	for (i = 0; i < k->nr_dims; i++)
		if (!strcmp(k->dim[i].name, name))
			s->dim[i] = v;
}

/* Seconds of one call of R rounds over N; *y: its first output. */
static int probe_run(struct roof *r, int probe, int64_t n, int rounds,
		     double *seconds, double *y, struct err *err)
{
	const struct kernel *k = &r->file.v[probe];
	struct placement p = { 0, false };
	struct shape s;
	struct layout l;
	struct arena in;
	struct worker *w = NULL;
	double ns = 0;
	int ret;

	memset(&s, 0, sizeof(s));
	set_dim(k, &s, "N", n);
	set_dim(k, &s, "R", rounds);
	set_dim(k, &s, "T", r->limits.threads > 1 ? r->limits.threads : 1);
	kernel_shape_text(k, &s);
	ret = layout_make(&l, k, &s, false, 1, p, err);
	if (!ret) {
		ret = arena_open(&in, &l, err);
		if (!ret) {
			probe_load(&in, k, &s);
			ret = worker_start(&w, r->so[probe], &in, &r->limits,
					   err);
			if (!ret && worker_state(w) == WORKER_OK)
				ret = probe_calls(r, w, &ns, err);
			if (!ret && ns > 0 && y)
				memcpy(y, worker_out(w, 0, 0), sizeof(*y));
			worker_end(w);
			arena_close(&in);
		}
		layout_release(&l);
	}
	shape_release(&s);
	*seconds = ns * 1e-9;
	return ret;
}

int roof_peak(struct roof *r, double *flops, struct err *err)
{
	double seconds, work = 0;
	int ret;

	*flops = r->flops;
	if (!r->so[ROOF_FMA])
		return 0;
	ret = probe_run(r, ROOF_FMA, 0, FMA_ROUNDS, &seconds, &work, err);
	if (ret)
		return ret;
	if (seconds > 0 && work / seconds > r->flops)
		r->flops = work / seconds;
	*flops = r->flops;
	return 0;
}

int roof_bandwidth(struct roof *r, double bytes, double *rate,
		   struct err *err)
{
	int probe, ret;

	*rate = 0;
	if (!(bytes > MIN_BYTES))
		bytes = MIN_BYTES;
	if (bytes > MAX_BYTES)
		bytes = MAX_BYTES;
	for (probe = ROOF_READ; probe < ROOF_NR; probe++) {
		int streams = probe == ROOF_READ ? 1 : 2;
		/* Whole rounds of the unrolled loops. */
		int64_t n = (int64_t)(bytes / 4 / streams) / 128 * 128;
		int rounds = (int)ceil(CALL_BYTES / bytes);
		double seconds, moved = (double)n * 4 * streams * rounds;

		if (!r->so[probe])
			continue;
		ret = probe_run(r, probe, n, rounds, &seconds, NULL, err);
		if (ret)
			return ret;
		if (seconds > 0 && moved / seconds > *rate)
			*rate = moved / seconds;
	}
	return 0;
}

double roof_seconds(double flops, double peak, double bytes, double rate)
{
	double a = flops > 0 && peak > 0 ? flops / peak : 0;
	double b = bytes > 0 && rate > 0 ? bytes / rate : 0;

	return a > b ? a : b;
}
