/* needs: core/paths.c core/judge/worker.c core/judge/jail.c core/judge/nspace.c core/judge/layout.c core/judge/poison.c core/judge/build.c core/judge/stub.c core/judge/run.c core/judge/elf*.c core/judge/diagnostics.c core/judge/ctl_read.c core/record.c core/dtype.c core/expr.c core/ini.c core/kernel.c core/kernel_arg.c core/kernel_flags.c core/kernel_keys.c core/kernel_shape.c core/source.c core/oid.c core/sha1.c */
/* Real kernels, built and run in the real worker. */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/judge/build.h"
#include "core/judge/worker.h"
#include "core/mem.h"
#include "tests/unit/tap.h"

#define LEN 1000

static const char head[] =
	"[kernel \"k\"]\n"
	"file = k.c\nuse = sub/*.h\nuse = *.c\n"
	"entry = k\n"
	"cc = gcc\n"
	"flags = -O2\n";
static const char plain[] =
	"arg = in f32 x[n]\narg = out f32 y[n]\narg = dim n\n"
	"time = n=1000\n";
#define PROTO "void k(const float *x, float *y, int n) "
#define DOUBLE_ALL "for (int i = 0; i < n; i++) y[i] = 2 * x[i]; "
/* A system call that no import gives away. */
#define RAW "static long raw(long nr, long a, long b, long c) { long r; " \
	"__asm__ volatile(\"syscall\" : \"=a\"(r) : \"a\"(nr), \"D\"(a), " \
	"\"S\"(b), \"d\"(c) : \"rcx\", \"r11\", \"memory\"); return r; }\n"

static char top[] = "/tmp/u-worker.XXXXXX";
static bool no_jail;		/* there is none here: plain tests only */

struct bench {			/* one kernel, built and started */
	char *dir, *so;
	struct kernel_file file;
	const struct kernel *k;
	struct build_job job;
	struct build_result built;
	struct layout l;
	struct arena in;
	struct worker *w;
	struct worker_limits lim;
	bool ready;
};

static void put(const struct bench *b, const char *name, const char *text)
{
	char *path = xasprintf("%s/%s", b->dir, name);
	struct err err = ERR_INIT;

	if (buf_write_file(path, text, strlen(text), &err) < 0)
		printf("# %s\n", err.msg);
	free(path);
}

static void prepare(struct bench *b, const char *more)
{
	static int nr;
	struct buf text = BUF_INIT;
	struct err err = ERR_INIT;
	char *sub;

	memset(b, 0, sizeof(*b));
	b->dir = xasprintf("%s/b%d", top, ++nr);
	b->so = xasprintf("%s/%d.so", top, nr);
	sub = xasprintf("%s/sub", b->dir);
	if (mkdir(b->dir, 0755) < 0 || mkdir(sub, 0755) < 0)
		printf("# cannot make '%s'\n", sub);
	free(sub);
	buf_addf(&text, "%s%s", head, more);
	if (kernel_file_parse(&b->file, "k", text.ptr, text.len, &err) < 0) {
		ok(false, "the section: %s", err.msg);
		exit(1);
	}
	buf_release(&text);
	b->k = b->file.v;
	b->job.kernel = b->k;
	b->job.dir = b->dir;
	b->job.so = b->so;
	b->job.sandbox_none = no_jail;
	b->lim.load_s = 5;
	b->lim.threads = b->k->threads;
	b->lim.cpu = -1;
	b->lim.sandbox_none = no_jail;
}

static bool build(struct bench *b, const char *source)
{
	struct err err = ERR_INIT;

	put(b, "k.c", source);
	if (build_run(&b->job, &b->built, &err) < 0) {
		ok(false, "build: %s", err.msg);
		return false;
	}
	return b->built.verdict == V_NONE;
}

static bool launch(struct bench *b, int slots, struct placement p)
{
	struct err err = ERR_INIT;

	b->ready = true;
	if (layout_make(&b->l, b->k, b->k->time, b->job.as_double, slots, p,
			&err) < 0 ||
	    arena_open(&b->in, &b->l, &err) < 0 ||
	    worker_start(&b->w, b->so, &b->in, &b->lim, &err) < 0) {
		ok(false, "start: %s", err.msg);
		return false;
	}
	for (int s = 0; s < slots; s++)
		for (int i = 0; i < b->k->nr_args; i++)
			for (int64_t e = 0; !layout_at(&b->l, s, i)->writable
			     && e < b->l.elems[i]; e++)
				dtype_set(layout_type(&b->l, i),
					  arena_in(&b->in, s, i), (size_t)e,
					  b->k->arg[i].kind == ARG_DIM ?
					  (double)b->k->time->dim[
						b->k->arg[i].dim] :
					  b->k->arg[i].rank ?
					  (double)(e % 100 + s) : 3);
	worker_poison(b->w, 0, slots, 99);
	return true;
}

static void drop(struct bench *b)
{
	worker_end(b->w);
	if (b->ready) {
		if (b->in.map)
			arena_close(&b->in);
		layout_release(&b->l);
	}
	build_result_release(&b->built);
	kernel_file_release(&b->file);
	free(b->dir);
	free(b->so);
}

static enum worker_state call_for(struct bench *b, int first, int n,
				  double timeout_s)
{
	enum worker_state state = WORKER_OK;
	struct err err = ERR_INIT;
	struct call_time t;

	if (worker_call(b->w, first, n, false, timeout_s, &t, &state, &err))
		ok(false, "call: %s", err.msg);
	return state;
}

static double out_at(const struct bench *b, int slot, int arg, size_t e)
{
	return dtype_get(layout_type(&b->l, arg), worker_out(b->w, slot, arg),
			 e);
}

/* Builds and calls once; the state, and *why for the caller to free. */
static enum worker_state fate(const char *section, const char *source,
			      struct placement p, double timeout_s, char **why)
{
	enum worker_state state = WORKER_CHEAT;
	struct bench b;

	prepare(&b, section);
	*why = NULL;
	if (!build(&b, source))
		*why = xasprintf("not built: %s", b.built.error);
	else if (launch(&b, 1, p))
		state = call_for(&b, 0, 1, timeout_s);
	if (b.w)
		*why = xstrdup(worker_why(b.w));
	drop(&b);
	return state;
}

static void ends(const char *name, const char *source, struct placement p,
		 enum worker_state want, const char *why_want)
{
	char *why;
	enum worker_state got = fate(plain, source, p, want == WORKER_TIMEOUT ?
				     0.3 : 10, &why);

	if (!ok(got == want && why && strstr(why, why_want),
		"%s: %s", name, why_want))
		printf("# got %d, '%s'\n", got, why ? why : "");
	free(why);
}

static void gate(const char *name, const char *section, const char *source,
		 enum verdict want, const char *why)
{
	struct bench b;

	prepare(&b, section);
	build(&b, source);
	if (!ok(b.built.verdict == want && b.built.error &&
		strstr(b.built.error, why), "%s: %s", name, why))
		printf("# got %s, '%s'\n", verdict_name(b.built.verdict),
		       b.built.error ? b.built.error : "");
	drop(&b);
}

static const struct placement left = { 16, false }, right = { 0, true };

static void test_honest(void)
{
	static const char source[] =
		"#include \"sub/two.h\"\n"
		"static float twice(float v) { return TWO * v; }\n"
		PROTO "{ for (int i = 0; i < n; i++) y[i] = twice(x[i]); }\n";
	struct bench b;
	bool good = true;
	int64_t elem;
	int arg;

	prepare(&b, plain);
	put(&b, "sub/two.h", "#define TWO 2\n");
	if (!ok(build(&b, source), "an honest kernel with a helper and a "
		"header is built") || !launch(&b, 4, left)) {
		printf("# %s\n", b.built.error ? b.built.error : "");
		drop(&b);
		return;
	}
	ok(worker_state(b.w) == WORKER_OK, "and loaded");
	ok(worker_untouched(b.w, 0, 4, &arg, &elem) && arg == 1,
	   "nothing is written before the call");
	ok(call_for(&b, 0, 4, 5) == WORKER_OK, "and called in a batch %s",
	   worker_why(b.w));
	ok(!worker_untouched(b.w, 0, 4, &arg, &elem), "all is written");
	for (int s = 0; s < 4; s++)
		for (int e = 0; e < LEN; e++)
			good = good && out_at(&b, s, 1, (size_t)e) ==
			       2.0 * (e % 100 + s);
	ok(good, "its results are right in each slot");
	worker_poison(b.w, 0, 4, 100);
	ok(call_for(&b, 2, 1, 5) == WORKER_OK &&
	   !worker_untouched(b.w, 2, 1, &arg, &elem) &&
	   worker_untouched(b.w, 0, 2, &arg, &elem),
	   "one slot is called, the others are left alone");
	drop(&b);
}

/* Inputs change while the worker is stopped; the next call sees them. */
static void test_fresh(void)
{
	enum worker_state state;
	struct err err = ERR_INIT;
	struct call_time t = { 0, 0 };
	struct bench b;
	bool good = true;

	prepare(&b, plain);
	if (!ok(build(&b, PROTO "{ " DOUBLE_ALL "}"), "built") ||
	    !launch(&b, 1, right)) {
		drop(&b);
		return;
	}
	for (int i = 0; i < 50; i++) {
		worker_poison(b.w, 0, 1, (uint64_t)i);
		*(float *)arena_in(&b.in, 0, 0) = (float)i;
		good = good && call_for(&b, 0, 1, 5) == WORKER_OK &&
		       out_at(&b, 0, 1, 0) == 2 * i;
	}
	ok(good, "fresh inputs at each of 50 calls");
	worker_poison(b.w, 0, 1, 5);
	ok(!worker_call(b.w, 0, 1, true, 5, &t, &state, &err) &&
	   state == WORKER_OK && isnan(out_at(&b, 0, 1, 0)) && t.cpu_ns > 0 &&
	   t.wall_ns > 0, "an empty call calls nothing and is timed");
	ok(worker_unaccounted_ns(b.w) >= 0, "the ledger is not negative");
	is_int(worker_call(b.w, 1, 1, false, 1, &t, &state, &err), ERR_LIMIT,
	       "no such slot");
	drop(&b);
}

static void test_mixed_types(void)
{
	static const char section[] =
		"arg = in f64 a[m][n]\narg = in i32 s = 3\n"
		"arg = inout i64 c[m]\narg = dim m\narg = dim long n\n"
		"arg = dim size_t z\narg = ret f32\n"
		"time = m=3 n=5 z=7\n";
	static const char source[] =
		"#include <stddef.h>\n"
		"float k(double a[3][5], int s, long long *c, int m, long n, "
		"size_t z) { for (int i = 0; i < m; i++) "
		"c[i] += (long long)a[i][n - 1] * s; return (float)z / 2; }\n";
	struct bench b;
	int64_t *c;

	prepare(&b, section);
	if (ok(build(&b, source), "a scalar, dims of each type, a 2-D "
	       "parameter and a return value") && launch(&b, 1, left)) {
		c = worker_out(b.w, 0, 2);
		c[0] = 1000;
		c[1] = c[2] = 0;
		ok(call_for(&b, 0, 1, 5) == WORKER_OK, "called %s",
		   worker_why(b.w));
		ok(c[0] == 1000 + 4 * 3 && c[1] == 9 * 3 && c[2] == 14 * 3,
		   "inout is read and written");
		ok(out_at(&b, 0, 6, 0) == 3.5, "the return value");
	}
	if (b.built.error)
		printf("# %s\n", b.built.error);
	drop(&b);
}

static void test_as_double(void)
{
	static const char source[] =
		PROTO "{ for (int i = 0; i < n; i++) "
		"y[i] = x[i] / 3.0f; }\n";
	static const char prelude[] = "#define float double\n";
	char *path = xasprintf("%s/prelude.h", top);
	struct strv names = STRV_INIT;
	struct err err = ERR_INIT;
	struct bench b;

	buf_write_file(path, prelude, strlen(prelude), &err);
	prepare(&b, plain);
	b.job.as_double = true;
	b.job.prelude = path;
	if (ok(build(&b, source), "built as double, by a prelude") &&
	    launch(&b, 1, left)) {
		ok(call_for(&b, 0, 1, 5) == WORKER_OK, "called");
		ok(out_at(&b, 0, 1, 1) == 1 / 3.0, "its result is a double");
	}
	drop(&b);
	prepare(&b, plain);
	ok(build(&b, "#include <math.h>\n" PROTO
		 "{ for (int i = 0; i < n; i++) y[i] = expf(x[i]); }") &&
	   !build_imports(b.so, &names, &err) && strv_has(&names, "expf") &&
	   !strv_has(&names, "mk_call"), "the imports of an artefact");
	strv_release(&names);
	drop(&b);
	free(path);
}

static void test_noop(void)
{
	struct bench b;
	int64_t elem;
	int arg;

	prepare(&b, plain);
	ok(build(&b, PROTO "{ (void)x; (void)y; (void)n; }") &&
	   launch(&b, 1, left) && call_for(&b, 0, 1, 5) == WORKER_OK &&
	   worker_untouched(b.w, 0, 1, &arg, &elem) && arg == 1 && elem == 0,
	   "a kernel that does nothing is found out");
	drop(&b);
	prepare(&b, plain);
	ok(build(&b, PROTO "{ " DOUBLE_ALL "y[n] = 1; }") &&
	   launch(&b, 1, left) && call_for(&b, 0, 1, 5) == WORKER_OK &&
	   worker_untouched(b.w, 0, 1, &arg, &elem) && arg == 1 && elem == -1,
	   "a write past the end hits the canary");
	drop(&b);
}

static void test_crashes(void)
{
	ends("null write", PROTO "{ (void)x; (void)y; "
	     "*(volatile int *)0 = n; }", left, WORKER_CRASH, "SIGSEGV");
	ends("write past the end", PROTO "{ " DOUBLE_ALL "y[n] = 1; }", right,
	     WORKER_CRASH, "SIGSEGV");
	ends("write before the start", PROTO "{ " DOUBLE_ALL "y[-1] = 1; }",
	     (struct placement){ 0, false }, WORKER_CRASH, "SIGSEGV");
	ends("read past the end", PROTO "{ " DOUBLE_ALL
	     "y[0] = *(volatile const float *)(x + n); }", right,
	     WORKER_CRASH, "SIGSEGV");
	ends("write to an input", PROTO "{ " DOUBLE_ALL
	     "*(volatile float *)x = 1; }", left, WORKER_CRASH, "SIGSEGV");
	ends("endless loop", PROTO "{ (void)x; (void)n; "
	     "for (;;) *(volatile float *)y = 0; }", left, WORKER_TIMEOUT,
	     "no answer in 0.3 s");
	ends("exit", RAW PROTO "{ " DOUBLE_ALL "raw(231, 0, 0, 0); }", left,
	     WORKER_CRASH, "exited with 0");
	ends("division by zero", PROTO "{ (void)x; "
	     "y[0] = 7 / (*(volatile int *)&n - 1000); }", left,
	     WORKER_CRASH, "SIGFPE");
	ends("deep recursion", "static int f(int n) { volatile char b[65536]; "
	     "b[n & 65535] = 1; return n < 0 ? 0 : f(n + 1) + b[5]; }\n"
	     PROTO "{ " DOUBLE_ALL "y[0] = (float)f(n); }", left,
	     WORKER_CRASH, "SIGSEGV");
	ends("rounding mode", PROTO "{ " DOUBLE_ALL
	     "__builtin_ia32_ldmxcsr(0x9fc0); }", left, WORKER_CHEAT,
	     "floating-point mode changed");
}

/* The control page belongs to whoever runs there; the judge lives on. */
static void test_scribbles(void)
{
	static const char *const sources[] = {
		PROTO "{ " DOUBLE_ALL "memset((void *)0x548000000000, 255, "
		"4096); }", PROTO "{ " DOUBLE_ALL "memset((void *)"
		"0x548000000000, 0, 4096); }", PROTO "{ for (int i = 0; ; "
		"i++) { ((volatile unsigned *)0x548000000000)[i % 1024] = "
		"(unsigned)i * 2654435761u; y[i % n] = x[i % n]; } }",
	};
	struct bench b;

	for (size_t i = 0; i < ARRAY_SIZE(sources); i++) {
		char *text = xasprintf("#include <string.h>\n%s", sources[i]);
		enum worker_state state = WORKER_OK;

		prepare(&b, plain);
		ok(build(&b, text) && launch(&b, 1, left), "built");
		for (int j = 0; j < 5 && b.w; j++)
			state = call_for(&b, 0, 1, 0.2);
		ok(b.w && state == worker_state(b.w) &&
		   (state == WORKER_OK || *worker_why(b.w)),
		   "scribbling over the control page: %s",
		   b.w ? worker_why(b.w) : "");
		drop(&b);
		free(text);
	}
}

static void test_prints(void)
{
	static const char source[] =
		"#include <stdio.h>\n" PROTO "{ " DOUBLE_ALL
		"for (int i = 0; i < 20000; i++) printf(\"%d megabytes of "
		"a debugging print that nobody reads\\n\", i); "
		"fflush(stdout); puts(\"x\"); }\n";
	struct bench b;
	int64_t elem;
	int arg;

	prepare(&b, plain);
	ok(build(&b, source) && launch(&b, 1, left) &&
	   call_for(&b, 0, 1, 10) == WORKER_OK &&
	   !worker_untouched(b.w, 0, 1, &arg, &elem),
	   "a kernel that prints works and prints nothing");
	drop(&b);
}

static void test_memory(void)
{
	static const char source[] =
		"#include <stdlib.h>\n#include <string.h>\n" PROTO
		"{ size_t big = (size_t)40 << 20; float *t = malloc(big); "
		"for (int i = 0; i < n; i++) y[i] = t ? 1 : 2; "
		"if (t) memset(t, 1, big); "
		"free(t); t = malloc(sizeof(float) * (size_t)n); "
		"for (int i = 0; i < n; i++) t[i] = x[i]; "
		"y[1] = t[1]; free(t); }\n";
	struct bench b;

	prepare(&b, plain);
	ok(build(&b, source) && launch(&b, 1, left) &&
	   call_for(&b, 0, 1, 5) == WORKER_OK && out_at(&b, 0, 1, 0) == 2 &&
	   out_at(&b, 0, 1, 1) == 1, "malloc beyond scratch gives NULL");
	drop(&b);
	prepare(&b, plain);
	b.lim.scratch = (size_t)64 << 20;
	ok(build(&b, source) && launch(&b, 1, left) &&
	   call_for(&b, 0, 1, 5) == WORKER_OK && out_at(&b, 0, 1, 0) == 1,
	   "malloc within scratch works %s", b.w ? worker_why(b.w) : "");
	drop(&b);
}

static void test_jail(void)
{
	ends("socket", RAW PROTO "{ " DOUBLE_ALL "raw(41, 2, 1, 0); }", left,
	     WORKER_CRASH, "socket()");
	ends("open", RAW PROTO "{ " DOUBLE_ALL
	     "raw(2, (long)\"/etc/passwd\", 0, 0); }", left, WORKER_CRASH,
	     "open()");
	ends("mprotect", RAW PROTO "{ " DOUBLE_ALL
	     "raw(10, (long)x & ~4095l, 4096, 3); }", left, WORKER_CRASH,
	     "mprotect()");
	ends("fork", RAW PROTO "{ " DOUBLE_ALL "raw(57, 0, 0, 0); }", left,
	     WORKER_CRASH, "fork()");
	ends("kill", RAW PROTO "{ " DOUBLE_ALL "raw(62, 1, 9, 0); }", left,
	     WORKER_CRASH, "kill()");
	ends("a handler", RAW PROTO "{ " DOUBLE_ALL "raw(13, 11, 0, 0); }",
	     left, WORKER_CRASH, "rt_sigaction()");
	ends("clock", RAW PROTO "{ " DOUBLE_ALL
	     "raw(228, 1, (long)y, 0); }", left, WORKER_CRASH,
	     "clock_gettime()");
	ends("time stamp", PROTO "{ " DOUBLE_ALL
	     "y[0] = (float)__builtin_ia32_rdtsc(); }", left, WORKER_CRASH,
	     "SIGSEGV");
	ends("unmapping a guard", RAW PROTO "{ " DOUBLE_ALL
	     "raw(11, ((long)y & ~4095l) - 4096, 4096, 0); }", left,
	     WORKER_CRASH, "munmap()");
	ends("an unknown call", RAW PROTO "{ " DOUBLE_ALL
	     "raw(467, 0, 0, 0); }", left, WORKER_CRASH, "system call 467");
	ends("a 32-bit call", PROTO "{ " DOUBLE_ALL
	     "__asm__ volatile(\"int $0x80\" : : \"a\"(20) : \"memory\"); }",
	     left, WORKER_CRASH, "SIGSYS");
	ends("failed assertion", "#include <assert.h>\n" PROTO "{ " DOUBLE_ALL
	     "assert(n == 1); }", left, WORKER_CRASH, "aborted");
}

static void test_builds(void)
{
	gate("a syntax error", plain, "int f(void) { return 0 }\n" PROTO "{}",
	     V_BUILD_FAIL, "k.c:1:23: error: expected");
	gate("no entry", plain, "int other;\n", V_BUILD_FAIL,
	     "undefined reference to `k'");
	gate("the stub's name is taken", plain,
	     "void mk_call(void) {}\n" PROTO "{" DOUBLE_ALL "}",
	     V_BUILD_FAIL, "mk_call");
	gate("an unknown function", plain,
	     "void cblas(void);\n" PROTO "{ " DOUBLE_ALL "cblas(); }",
	     V_BUILD_FAIL, "cblas");
	if (!no_jail)
		gate("a file of the system", plain,
		     "#include \"/etc/passwd\"\n" PROTO "{}", V_BUILD_FAIL,
		     "/etc/passwd");
	gate("constructor", plain, "static int a; __attribute__((constructor))"
	     " static void c(void) { a++; }\n" PROTO "{ " DOUBLE_ALL "}",
	     V_GATE_FAIL, "constructor");
	gate("destructor", plain, "static int a; __attribute__((destructor))"
	     " static void c(void) { a++; }\n" PROTO "{ " DOUBLE_ALL "}",
	     V_GATE_FAIL, "destructor");
	gate("ifunc", plain, "static void d(float *y) { *y = 1; }\n"
	     "static void *r(void) { return d; }\n"
	     "static void i(float *) __attribute__((ifunc(\"r\")));\n"
	     "void (*volatile p)(float *);\n"
	     PROTO "{ " DOUBLE_ALL "p = i; p(y); }", V_GATE_FAIL, "ifunc");
	gate("executable stack", plain, PROTO "{ " DOUBLE_ALL "}\n"
	     "__asm__(\".section .note.GNU-stack,\\\"x\\\",@progbits\\n\""
	     "\".section .mk,\\\"awx\\\",@progbits\\n.long 1\\n.text\\n\");\n",
	     V_GATE_FAIL, "executable");
	gate("system()", plain, "int system(const char *);\n" PROTO "{ "
	     DOUBLE_ALL "system(\"id\"); }", V_GATE_FAIL, "'system'");
	gate("socket()", plain, "#include <sys/socket.h>\n" PROTO "{ "
	     DOUBLE_ALL "y[0] = (float)socket(2, 1, 0); }", V_GATE_FAIL,
	     "'socket'");
	gate("exit()", plain, "#include <stdlib.h>\n" PROTO "{ " DOUBLE_ALL
	     "exit(0); }", V_GATE_FAIL, "'exit'");
	gate("dlopen()", plain, "void *dlopen(const char *, int);\n" PROTO
	     "{ " DOUBLE_ALL "y[0] = dlopen(\"x\", 1) != 0; }", V_GATE_FAIL,
	     "'dlopen'");
	gate("OpenMP", plain, "int omp_get_thread_num(void);\n" PROTO
	     "{ " DOUBLE_ALL "y[0] = (float)omp_get_thread_num(); }",
	     V_BUILD_FAIL, "omp_get_thread_num");
}

static void test_leftovers(void)
{
	struct bench b;
	struct dirent *e;
	DIR *d;
	int extra = 0;
	char *name = NULL;
	struct err err = ERR_INIT;

	prepare(&b, plain);
	ok(build(&b, PROTO "{ " DOUBLE_ALL "}"), "built");
	d = opendir(b.dir);
	for (e = readdir(d); e; e = readdir(d))
		extra += !strncmp(e->d_name, "mk_", 3);
	closedir(d);
	is_int(extra, 0, "the build folder holds nothing of ours");
	ok(b.built.seconds > 0, "it took time");
	ok(!build_compiler("gcc", &name, &err) && !strncmp(name, "gcc ", 4) &&
	   strchr("123456789", name[4]), "the compiler is %s", name);
	free(name);
	is_int(build_compiler("no-such-cc", &name, &err), ERR_NOTFOUND,
	       "a compiler that is not there");
	drop(&b);
}

static void test_two_entries(void)
{
	struct strv sources = STRV_INIT, flags = STRV_INIT;
	struct bench b;

	prepare(&b, plain);
	put(&b, "ref.c", "void ref(const float *x, float *y, int n) "
	    "{ for (int i = 0; i < n; i++) y[i] = THREE * x[i]; }");
	strv_push(&sources, "ref.c");
	strv_push(&flags, "-O1");
	strv_push(&flags, "-DTHREE=3");
	b.job.sources = &sources;
	b.job.flags = &flags;
	b.job.symbol = "ref";
	ok(build(&b, "not C at all") && launch(&b, 1, left) &&
	   call_for(&b, 0, 1, 5) == WORKER_OK && out_at(&b, 0, 1, 5) == 15,
	   "sources, flags and symbol given %s", b.built.error ?
	   b.built.error : "");
	drop(&b);
	strv_release(&sources);
	strv_release(&flags);
}

/* Equal sources give equal artefacts, wherever and whenever built. */
static void test_same_bytes(void)
{
	struct buf text[2] = { BUF_INIT, BUF_INIT };
	struct err err = ERR_INIT;
	struct bench b;

	for (int i = 0; i < 2; i++) {
		prepare(&b, plain);
		ok(build(&b, PROTO "{ " DOUBLE_ALL "}") &&
		   !buf_read_file(&text[i], b.so, 1u << 20, &err), "built");
		drop(&b);
	}
	ok(text[0].len && text[0].len == text[1].len &&
	   !memcmp(text[0].ptr, text[1].ptr, text[0].len),
	   "two builds are equal");
	buf_release(&text[0]);
	buf_release(&text[1]);
}

/* What the kernels of this program are really built with. */
static void test_fast_flags(const char *cc)
{
	static const char source[] =
		"#include <math.h>\n"
		PROTO "{ for (int i = 0; i < n; i++) "
		"y[i] = expf(x[i] * 0.01f) + sqrtf(x[i]); }\n";
	struct strv flags = STRV_INIT;
	struct err err = ERR_INIT;
	struct bench b;
	char *name = NULL;

	if (build_compiler(cc, &name, &err)) {
		ok(true, "%s # skip: %s", cc, err.msg);
		return;
	}
	strv_push(&flags, "-O3");
	strv_push(&flags, "-march=native");
	strv_push(&flags, "-ffast-math");
	prepare(&b, plain);
	b.job.cc = cc;
	b.job.flags = &flags;
	ok(build(&b, source) && launch(&b, 1, right) &&
	   call_for(&b, 0, 1, 5) == WORKER_OK &&
	   fabs(out_at(&b, 0, 1, 4) - (exp(0.04) + 2)) < 1e-5,
	   "%s, fast-math and all: %s %s", name, b.built.error ?
	   b.built.error : "", b.w ? worker_why(b.w) : "");
	drop(&b);
	strv_release(&flags);
	free(name);
}

static void test_unjailed(void)
{
	static const char source[] = RAW PROTO "{ " DOUBLE_ALL
		"y[0] = raw(41, 1, 1, 0) > 0; }";
	struct bench b;

	prepare(&b, plain);
	b.lim.sandbox_none = b.job.sandbox_none = true;
	ok(build(&b, source) && launch(&b, 1, left) &&
	   call_for(&b, 0, 1, 5) == WORKER_OK && out_at(&b, 0, 1, 0) == 1,
	   "without a jail a kernel may do what it likes %s",
	   b.w ? worker_why(b.w) : "");
	drop(&b);
}

static int count_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n;
}

static void test_leaks(void)
{
	struct bench b;
	struct err err = ERR_INIT;
	int before = 0;
	bool good;

	prepare(&b, plain);
	good = build(&b, PROTO "{ " DOUBLE_ALL "}") && launch(&b, 1, left);
	for (int i = 0; i < 20 && good; i++) {
		worker_end(b.w);
		b.w = NULL;
		if (!i)
			before = count_fds();
		good = !worker_start(&b.w, b.so, &b.in, &b.lim, &err);
	}
	worker_end(b.w);
	b.w = NULL;
	ok(good, "20 launches %s", err.msg);
	is_int(count_fds(), before, "leave no descriptor open");
	is_int(waitpid(-1, NULL, WNOHANG), -1, "and no child");
	unlink(b.so);
	is_int(worker_start(&b.w, b.so, &b.in, &b.lim, &err), ERR_NOTFOUND,
	       "an artefact that is gone is an error");
	buf_write_file(b.so, "text", 4, &err);
	ok(!worker_start(&b.w, b.so, &b.in, &b.lim, &err) &&
	   worker_state(b.w) == WORKER_CRASH &&
	   strstr(worker_why(b.w), "does not load"),
	   "one that does not load is a result: %s",
	   b.w ? worker_why(b.w) : err.msg);
	drop(&b);
}

/* Sources that are meant to hurt the compiler. */
static void test_bombs(void)
{
	gate("a huge array", plain, "char big[1ul << 33] = { 1 };\n" PROTO
	     "{ " DOUBLE_ALL "y[0] = big[n]; }", V_BUILD_FAIL, "");
	gate("endless inclusion", plain, "#include \"k.c\"\n" PROTO "{}",
	     V_BUILD_FAIL, "nested");
	gate("many errors", plain, "#define E e e e e e e e e\n"
	     "#define F E E E E E E E E\n#define G F F F F F F F F\n"
	     "#define H G G G G G G G G\nint f(void) { H H H H H H }\n",
	     V_BUILD_FAIL, "error:");
}

static void test_pair(void)
{
	static const char source[] =
		"static float t[1000];\n"
		PROTO "{ for (int r = 0; r < 300; r++) { "
		"for (int i = 0; i < n; i++) t[i] = x[i] + (float)r; "
		"for (int i = 0; i < n; i++) y[i] = t[i]; } }";
	enum worker_state state;
	struct err err = ERR_INIT;
	struct bench b;
	bool good = true;

	prepare(&b, plain);
	b.lim.pair = true;
	if (ok(build(&b, PROTO "{ " DOUBLE_ALL "}") && launch(&b, 2, left),
	       "a worker with two threads")) {
		for (int i = 0; i < 20; i++) {
			worker_poison(b.w, 0, 2, (uint64_t)i);
			good = good && !worker_pair(b.w, 0, 1, 5, &state,
						    &err) &&
			       state == WORKER_OK;
			for (size_t e = 0; e < LEN; e++)
				good = good && out_at(&b, 0, 1, e) ==
				       2.0 * (double)(e % 100) &&
				       out_at(&b, 1, 1, e) ==
				       2.0 * (double)(e % 100 + 1);
		}
		ok(good, "calls two slots at once, 20 times %s",
		   worker_why(b.w));
		ok(call_for(&b, 0, 1, 5) == WORKER_OK, "and one alone");
	}
	drop(&b);
	/* Static data: whether it shows in one call is chance, not in 200. */
	prepare(&b, plain);
	b.lim.pair = true;
	good = build(&b, source) && launch(&b, 2, left);
	for (int i = 0; i < 200 && good; i++) {
		if (worker_pair(b.w, 0, 1, 5, &state, &err) ||
		    state != WORKER_OK)
			break;
		good = !memcmp(worker_out(b.w, 0, 1), worker_out(b.w, 0, 1),
			       4) && out_at(&b, 0, 1, 7) == 7 + 299 &&
		       out_at(&b, 1, 1, 7) == 8 + 299;
	}
	ok(b.w && worker_state(b.w) == WORKER_OK, "a kernel with static data runs %s",
	   good ? "(and did not show it)" : "");
	drop(&b);
}

static void test_openmp(void)
{
	static const char section[] =
		"arg = in f32 x[n]\narg = out f32 y[n]\narg = dim n\n"
		"time = n=1000\nthreads = 2\n";
	static const char source[] =
		"#include <omp.h>\n#include <stdlib.h>\n" PROTO "{\n"
		"float *t = malloc(4000);\n#pragma omp parallel for\n"
		"for (int i = 0; i < n; i++) { t[i] = x[i]; "
		"y[i] = 100 * omp_get_num_threads() + t[i]; }\nfree(t); }\n";
	static const char many[] =
		PROTO "{\n#pragma omp parallel for num_threads(9)\n"
		"for (int i = 0; i < n; i++) y[i] = x[i];\n}\n";
	struct bench b;
	bool good;

	prepare(&b, section);
	good = build(&b, source) && launch(&b, 1, left);
	for (int i = 0; i < 20 && good; i++)
		good = call_for(&b, 0, 1, 10) == WORKER_OK &&
		       out_at(&b, 0, 1, 3) == 203;
	ok(good, "OpenMP with two threads %s %s", b.built.error ?
	   b.built.error : "", b.w ? worker_why(b.w) : "");
	drop(&b);
	if (no_jail)
		return;
	prepare(&b, section);
	ok(build(&b, many) && launch(&b, 1, left) &&
	   call_for(&b, 0, 1, 10) == WORKER_CRASH, "more threads than "
	   "declared are refused: %s", b.w ? worker_why(b.w) : "");
	drop(&b);
}

/* The judge is killed: what becomes of its workers?  They die with it. */
static void test_orphans(void)
{
	struct bench b;
	int pipes[2], status;
	pid_t judge, worker = 0;
	char name[64];
	bool gone = false;

	prepare(&b, plain);
	if (!ok(build(&b, PROTO "{ " DOUBLE_ALL "}") && !pipe(pipes),
		"built")) {
		drop(&b);
		return;
	}
	judge = fork();
	if (!judge) {
		pid_t list[2] = { 0, 0 };
		FILE *f;

		if (!launch(&b, 1, left))
			_exit(1);
		snprintf(name, sizeof(name), "/proc/self/task/%ld/children",
			 (long)getpid());
		f = fopen(name, "r");
		if (f && fscanf(f, "%d", &list[0]) == 1 &&
		    write(pipes[1], list, sizeof(list[0])) > 0)
			fclose(f);
		for (;;)
			pause();
	}
	close(pipes[1]);
	if (read(pipes[0], &worker, sizeof(worker)) != sizeof(worker))
		worker = 0;
	close(pipes[0]);
	kill(judge, SIGKILL);
	waitpid(judge, &status, 0);
	/* Nobody's child now: init reaps it, at some time. */
	for (int i = 0; i < 500 && worker > 0 && !gone; i++) {
		struct timespec tick = { 0, 10000000 };
		char state = 0;
		FILE *f;

		snprintf(name, sizeof(name), "/proc/%ld/stat", (long)worker);
		f = fopen(name, "r");
		gone = !f || fscanf(f, "%*d (%*[^)]) %c", &state) != 1 ||
		       state == 'Z' || state == 'X';
		if (f)
			fclose(f);
		nanosleep(&tick, NULL);
	}
	if (worker > 0)
		ok(gone, "a worker dies with its judge");
	else
		ok(true, "a worker dies with its judge # skip: the kernel "
		   "does not list children");
	drop(&b);
}

static void show_cost(void)
{
	double cpu[201], wall[201];
	enum worker_state state;
	struct call_time t;
	struct err err = ERR_INIT;
	struct timespec a, z;
	struct bench b;

	prepare(&b, plain);
	b.lim.cpu = 0;
	if (build(&b, PROTO "{ " DOUBLE_ALL "}") && launch(&b, 1, left)) {
		for (int i = 0; i < 201; i++) {
			if (worker_call(b.w, 0, 1, true, 5, &t, &state, &err))
				break;
			cpu[i] = t.cpu_ns;
			wall[i] = t.wall_ns;
		}
		for (int i = 1; i < 201; i++)
			for (int j = i; j && cpu[j] < cpu[j - 1]; j--) {
				double c = cpu[j];

				cpu[j] = cpu[j - 1];
				cpu[j - 1] = c;
			}
		for (int i = 1; i < 201; i++)
			for (int j = i; j && wall[j] < wall[j - 1]; j--) {
				double c = wall[j];

				wall[j] = wall[j - 1];
				wall[j - 1] = c;
			}
		printf("# hand-off: CPU %.1f us (p95 %.1f), wall %.1f us "
		       "(p95 %.1f)\n", cpu[100] / 1e3, cpu[190] / 1e3,
		       wall[100] / 1e3, wall[190] / 1e3);
		worker_end(b.w);
		b.w = NULL;
		clock_gettime(CLOCK_MONOTONIC, &a);
		for (int i = 0; i < 10; i++) {
			if (worker_start(&b.w, b.so, &b.in, &b.lim, &err))
				break;
			worker_end(b.w);
			b.w = NULL;
		}
		clock_gettime(CLOCK_MONOTONIC, &z);
		printf("# launch: %.2f ms; build: %.0f ms\n",
		       ((double)(z.tv_sec - a.tv_sec) * 1e3 +
			(double)(z.tv_nsec - a.tv_nsec) / 1e6) / 10,
		       b.built.seconds * 1e3);
	}
	drop(&b);
}

int main(void)
{
	struct buf why = BUF_INIT;
	const char *level;
	char *clean;

	if (!mkdtemp(top)) {
		ok(false, "no folder for the test");
		return tap_done();
	}
	level = sandbox_level(&why);
	printf("# sandbox: %s %s\n", level, why.ptr);
	no_jail = strcmp(level, "S2") && strcmp(level, "S3");
	test_honest();
	test_fresh();
	test_mixed_types();
	test_as_double();
	test_noop();
	test_crashes();
	test_scribbles();
	test_prints();
	test_memory();
	test_builds();
	test_two_entries();
	test_leftovers();
	test_same_bytes();
	test_fast_flags("gcc");
	test_fast_flags("clang");
	test_unjailed();
	test_leaks();
	test_bombs();
	test_pair();
	test_openmp();
	test_orphans();
	if (no_jail)
		ok(true, "the jail # skip: %s", why.ptr);
	else
		test_jail();
	show_cost();
	buf_release(&why);
	clean = xasprintf("rm -rf '%s'", top);
	if (system(clean))
		printf("# cannot remove %s\n", top);
	free(clean);
	return tap_done();
}
