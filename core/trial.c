#include "core/trial.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "core/mem.h"

#define FILE_NAME "chain.c"
#define PROBE_STEPS 4000000
/* Without it the processor begins a call before the last one has ended, and
 * calls take less time than their chains are long. */
#if defined(__x86_64__)
#define FENCE "__builtin_ia32_lfence();"
#else
#define FENCE "__asm__ volatile(\"isb\");"
#endif
#define HEAD "void chain(const float *x, float one, float *y, int n)\n{\n"

static double thread_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int trial_steps(double call_us)
{
	volatile float one = 1;
	double best = INFINITY, steps;

	for (int try = 0; try < 5; try++) {
		volatile float factor = one;
		float m = factor, v = 3;
		double began = thread_ns();

		for (int i = 0; i < PROBE_STEPS; i++)
			v *= m;
		one = v > 0 ? 1 : 2;
		best = fmin(best, (thread_ns() - began) / PROBE_STEPS);
	}
	steps = call_us * 1e3 / best / TRIAL_LENGTH;
	return steps < 1 ? 1 : steps > 1e8 ? 100000000 : (int)steps;
}

void trial_section(struct buf *out, const char *cc)
{
	buf_addf(out, "[kernel \"chain\"]\n\tfile = " FILE_NAME "\n"
		 "\tentry = chain\n\tcc = %s\n\tflags = -O2\n"
		 "\targ = in f32 x[n]\n\targ = in f32 one = 1\n"
		 "\targ = out f32 y[n]\n\targ = dim n\n"
		 "\ttime = n=%d\n\tcheck = n=3\n\tatol = 1e-5\n", cc,
		 TRIAL_LENGTH);
}

static void add_pad(struct buf *b, unsigned nr, int pad)
{
	buf_addf(b, "__attribute__((used)) static int before_%u(int x)\n{\n",
		 nr);
	for (int i = 0; i < pad; i++)
		buf_addf(b, "\tx ^= x >> %d;\n\tx *= %d;\n", i % 7 + 1,
			 2 * i + 3);
	buf_addstr(b, "\treturn x;\n}\n\n");
}

static void put_source(struct srcset *out, struct buf *text)
{
	memset(out, 0, sizeof(*out));
	srcset_put(out, FILE_NAME, text->ptr, text->len, true);
	buf_release(text);
}

void trial_source(struct srcset *out, int steps, unsigned nr, int pad)
{
	struct buf b = BUF_INIT;

	buf_addf(&b, "/* variant %u */\n", nr);
	if (pad > 0)
		add_pad(&b, nr, pad);
	buf_addf(&b, HEAD
		 "\t" FENCE "\n"
		 "\tfloat v = x[0];\n\n"
		 "\tfor (int i = 0; i < n; i++) {\n"
		 "\t\tfor (int k = 0; k < %d; k++)\n"
		 "\t\t\tv *= one;\n"
		 "\t\ty[i] = v + x[i];\n"
		 "\t}\n"
		 "}\n", steps);
	put_source(out, &b);
}

/* ---- cheats ---- */

const struct trial_cheat trial_cheats[] = {
	{ "half", "leaves out the second half", HEAD
		"\tfor (int i = 0; i < n / 2; i++)\n"
		"\t\ty[i] = x[0] * one + x[i];\n"
		"}\n" },
	{ "memo", "returns its first answer again", HEAD
		"\tstatic float kept[4096];\n"
		"\tstatic int known;\n\n"
		"\tfor (int i = 0; i < n; i++) {\n"
		"\t\tif (!known)\n"
		"\t\t\tkept[i] = x[0] * one + x[i];\n"
		"\t\ty[i] = kept[i];\n"
		"\t}\n"
		"\tknown = 1;\n"
		"}\n" },
	{ "constructor", "works before it is called",
		"static float table[64];\n"
		"__attribute__((constructor)) static void early(void)\n{\n"
		"\tfor (int i = 0; i < 64; i++)\n"
		"\t\ttable[i] = i;\n"
		"}\n" HEAD
		"\tfor (int i = 0; i < n; i++)\n"
		"\t\ty[i] = x[0] * one + x[i] + 0 * table[i % 64];\n"
		"}\n" },
	{ "input", "writes to an input", HEAD
		"\tfloat *w = (float *)(unsigned long)x;\n\n"
		"\tfor (int i = 0; i < n; i++)\n"
		"\t\ty[i] = x[0] * one + x[i];\n"
		"\tw[0] = w[n - 1];\n"
		"}\n" },
	{ "outside", "writes past the end of an output", HEAD
		"\tfor (int i = 0; i <= n; i++)\n"
		"\t\ty[i] = x[0] * one + x[i < n ? i : 0];\n"
		"}\n" },
	{ "less", "rounds its result to 16 bits", HEAD
		"\tfor (int i = 0; i < n; i++) {\n"
		"\t\tunion { float f; unsigned u; } v = "
		"{ x[0] * one + x[i] };\n\n"
		"\t\tv.u &= 0xffff0000u;\n"
		"\t\ty[i] = v.f;\n"
		"\t}\n"
		"}\n" },
	{ "endless", "does not come back", HEAD
		"\tfor (volatile int i = 0; i >= 0; i = (i + n) & 1)\n"
		"\t\ty[0] = x[0] * one;\n"
		"}\n" },
};
const size_t trial_nr_cheats = ARRAY_SIZE(trial_cheats);

void trial_cheat_source(struct srcset *out, const struct trial_cheat *c)
{
	struct buf b = BUF_INIT;

	buf_addstr(&b, c->text);
	put_source(out, &b);
}
