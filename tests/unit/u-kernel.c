/* needs: core/dtype.c core/expr.c core/ini.c core/kernel.c core/kernel_arg.c
 * core/kernel_flags.c core/kernel_keys.c core/kernel_shape.c core/sha1.c core/source.c */
#include <stdint.h>
#include <stdlib.h>

#include "core/kernel.h"
#include "core/mem.h"
#include "tests/unit/tap.h"

#define HEAD "[kernel \"a\"]\nfile = a.c\nentry = f\n"
#define OUT "arg = out f32 y[4]\n"
#define DIMS "arg = out f32 y[M][N]\narg = dim M\narg = dim N\n"
#define TIME "time = M=3 N=5\n"

static const char full[] =
	"; a comment\n"
	"[kernel \"linear-gelu\"]\n"
	"\tfile = kernels/linear_gelu.c   ; may change\n"
	"\tfile = \"kernels/gen *.c\"\n"
	"\tuse = kernels/util.h\n"
	"\tentry = linear_gelu\n"
	"\ttarget = c\n"
	"\tcc = gcc\n"
	"\tflags = -O2   -march=native\n"
	"\tflags = -DT=1.5f\n"
	"\targ = in f32 x[M][K]\n"
	"\targ = in  f32 w[N] [ K ]  ld(ldw) align(64)\n"
	"\targ = in f32 alpha = 1.5\n"
	"\targ = weight bf16 b[N+1]\n"
	"\targ = out f32 y[M][N]\n"
	"\targ = inout i32 count[4]\n"
	"\targ = dim M\n"
	"\targ = dim long N\n"
	"\targ = dim size_t K\n"
	"\targ = dim ldw\n"
	"\targ = ret f64\n"
	"\ttime = M=500 N=1000 K=1000 ldw=1024\n"
	"\ttime = ldw=1000 K=1000 N=1000 M=1\n"
	"\tcheck = M=129 N=67 K=33 ldw=40\n"
	"\trequire = K % 1 == 0\n"
	"\trequire = ldw >= K\n"
	"\tinput = x uniform(-1, 1)\n"
	"\tinput = count offsets(M*2)\n"
	"\trtol = 1e-2\n"
	"\tatol = .5E-3\n"
	"\tmath = finite\n"
	"\treentrant = no\n"
	"\talias = y x\n"
	"\talias = count y\n"
	"\tscratch = 1M malloc\n"
	"\tdeny = ccopt vw\n"
	"\tdeny = vw rt\n"
	"\ttunable = TILE 16\t032 65536\n"
	"\ttunable = _u 1\n"
	"\treference = ref/linear.c:linear_ref double\n"
	"\tbaseline = kernels/linear_gelu.c\n"
	"\trival = tuned/a.c:linear\n"
	"\trival = tuned/b c.c\n"
	"\tflops = 2*M*N*K\n"
	"\tbytes = 4*(M*K+N*K+M*N)\n"
	"\tthreads = 2\n"
	"\tcache = llc\n"
	"\tshapes = fixed\n";

static const char normal[] =
	"file = kernels/linear_gelu.c\n"
	"file = kernels/gen *.c\n"
	"use = kernels/util.h\n"
	"entry = linear_gelu\n"
	"target = c\n"
	"cc = gcc\n"
	"flags = -O2 -march=native\n"
	"flags = -DT=1.5f\n"
	"arg = in f32 x[M][K]\n"
	"arg = in f32 w[N] [ K ] ld(ldw) align(64)\n";

/* One kernel that must parse; the caller releases f. */
static const struct kernel *parse(struct kernel_file *f, const char *text)
{
	struct err err = ERR_INIT;

	if (!ok(!kernel_file_parse(f, ".maxkernel", text, strlen(text), &err),
		"parsed")) {
		printf("# %s\n", err.msg);
		exit(1);
	}
	return f->v;
}

static void full_args(const struct kernel *k)
{
	const struct arg *w = &k->arg[1];

	is_int(k->nr_args, 11, "arguments, in call order");
	is_int(k->nr_dims, 4, "dims");
	ok(k->dim[0].type == DIM_INT && k->dim[1].type == DIM_LONG &&
	   k->dim[2].type == DIM_SIZE, "types of dims");
	ok(k->dim_names.nr == 4 && !strcmp(k->dim_names.v[3], "ldw"),
	   "names of dims");
	ok(w->kind == ARG_IN && w->type == DT_F32 && w->rank == 2 &&
	   w->has_ld && w->align == 64 && !strcmp(w->name, "w"),
	   "a matrix with ld and align");
	ok(k->arg[2].rank == 0 && k->arg[2].has_value &&
	   k->arg[2].value == 1.5, "a scalar");
	ok(k->arg[3].kind == ARG_WEIGHT && k->arg[3].type == DT_BF16 &&
	   k->arg[3].input.kind == INPUT_NORMAL && k->arg[3].input.b == 1 &&
	   !k->arg[3].has_input, "a weight, normal by default");
	ok(k->arg[0].has_input && k->arg[0].input.kind == INPUT_UNIFORM &&
	   k->arg[0].input.a == -1 && k->arg[0].input.b == 1, "uniform");
	ok(k->arg[5].kind == ARG_INOUT &&
	   k->arg[5].input.kind == INPUT_OFFSETS, "offsets");
	is_str(k->arg[5].input.total.text, "M*2", "with a total");
	ok(k->arg[7].kind == ARG_DIM && k->arg[7].dim == 1 &&
	   !strcmp(k->arg[7].name, "N"), "a dim among the arguments");
	ok(k->arg[10].kind == ARG_RET && k->arg[10].type == DT_F64 &&
	   !k->arg[10].name, "a return value");
}

static void full_rest(const struct kernel *k)
{
	is_str(k->name, "linear-gelu", "name");
	is_int(k->line, 2, "line of its head");
	ok(k->file.nr == 2 && k->use.nr == 1 && k->flags.nr == 3, "lists");
	is_str(k->entry, "linear_gelu", "entry");
	is_str(k->cc, "gcc", "cc");
	ok(k->nr_time == 2 && k->nr_check == 1 && k->nr_require == 2,
	   "shapes");
	is_str(k->time[1].text, "M=1 N=1000 K=1000 ldw=1000",
	       "a shape in the order of the dims");
	is_near(k->rtol, 1e-2, 0, "rtol");
	is_near(k->atol, 5e-4, 1e-18, "atol");
	ok(k->math == MATH_FINITE && !k->reentrant && k->shapes_fixed &&
	   k->cache == CACHE_LLC && k->threads == 2, "choices");
	ok(k->alias.nr == 4 && !strcmp(k->alias.v[2], "count"), "aliases");
	ok(k->scratch == 1 << 20 && k->scratch_malloc, "scratch");
	ok(k->deny.nr == 3 && strv_has(&k->deny, "rt"), "denied");
	ok(k->nr_tunables == 2 && k->tunable[0].values.nr == 3 &&
	   !strcmp(k->tunable[0].name, "TILE") &&
	   !strcmp(k->tunable[0].values.v[1], "32") &&
	   !strcmp(k->tunable[1].name, "_u"), "numbers to tune");
	ok(strstr(k->text.ptr, "\ntunable = TILE 16 032 65536\n") != NULL,
	   "are in the normal text");
	is_str(k->reference.symbol, "linear_ref", "the reference's symbol");
	ok(k->reference.is_double && !k->baseline.is_double, "in double");
	is_str(k->baseline.symbol, "linear_gelu", "symbol by default");
	ok(k->nr_rivals == 2 && !strcmp(k->rival[1].path, "tuned/b c.c"),
	   "rivals");
	ok(!strncmp(k->text.ptr, normal, sizeof(normal) - 1), "normal text");
}

static void whole_section(void)
{
	struct kernel_file f, again;
	struct err err = ERR_INIT;
	const struct kernel *k = parse(&f, full);

	full_args(k);
	full_rest(k);
	is_int(kernel_section_parse(&again, k->name, k->text.ptr, k->text.len,
				    &err), 0, "the normal text is read");
	is_str(again.v[0].text.ptr, k->text.ptr, "and is its own normal text");
	is_int(again.v[0].nr_args, k->nr_args, "with all arguments");
	kernel_file_release(&again);
	is_int(kernel_section_parse(&again, "x", "file = a.c\nentry = 1f\n",
				    21, &err), ERR_FORMAT, "a bad section");
	ok(strstr(err.msg, "x:3: entry") != NULL, "and the line of the text");
	is_int(kernel_section_parse(&again, "a", HEAD OUT, strlen(HEAD OUT),
				    &err), ERR_FORMAT,
	       "a section within a section");
	ok(!again.nr && !again.v, "gives nothing");
	ok(kernel_find(&f, "linear-gelu") == k && !kernel_find(&f, "linear"),
	   "found by name");
	kernel_file_release(&f);
}

static void normal_form(void)
{
	struct kernel_file f, again;
	struct err err = ERR_INIT;
	const struct kernel *k = parse(&f,
		"[KERNEL \"a\"]\nFile = \"a;b \\\"q\\\" #c.c\"\nENTRY\t=\tf ; c\n"
		"use = \"d  e.h\"\nuse = \" lead.h\"\nuse = back\\\\slash.h\n"
		"reentrant\nflags =\narg = \"out \\tf32\" y[ 4 ]\n");

	is_str(k->text.ptr,
	       "file = \"a;b \\\"q\\\" #c.c\"\nentry = f\nuse = \"d  e.h\"\n"
	       "use = \" lead.h\"\nuse = \"back\\\\slash.h\"\n"
	       "reentrant = yes\nflags = \"\"\narg = out f32 y[ 4 ]\n",
	       "odd values in their normal form");
	is_int((long long)k->flags.nr, 0, "no flags at all");
	is_int(kernel_section_parse(&again, "b", k->text.ptr, k->text.len,
				    &err), 0, "read again");
	is_str(again.v[0].text.ptr, k->text.ptr, "the same, whatever the name");
	is_str(again.v[0].file.v[0], "a;b \"q\" #c.c", "the path is whole");
	kernel_file_release(&again);
	kernel_file_release(&f);
}

static void defaults(void)
{
	struct kernel_file f;
	const struct kernel *k = parse(&f, HEAD OUT);

	ok(k->flags.nr == 2 && !strcmp(k->flags.v[0], "-O3") &&
	   !strcmp(k->flags.v[1], "-march=native"), "flags");
	is_str(k->cc, "gcc", "compiler");
	is_str(k->target, "c", "target");
	ok(k->math == MATH_REASSOC && k->reentrant && !k->shapes_fixed &&
	   k->cache == CACHE_HOT && k->threads == 1 && !k->scratch &&
	   !k->has_flops && !k->has_bytes, "choices");
	ok(k->nr_time == 1 && k->nr_check == 1 && !*k->time[0].text &&
	   !*k->check[0].text, "one empty shape");
	ok(!k->reference.path && !k->baseline.path && !k->nr_rivals,
	   "no reference, baseline or rival");
	kernel_file_release(&f);
	k = parse(&f, HEAD DIMS TIME);
	ok(k->nr_time == 1 && !k->nr_check, "no check shapes unless given");
	kernel_file_release(&f);
}

static void tolerances(void)
{
	static const struct { const char *args; double rtol, atol; } cases[] = {
		{ "arg = out f64 y[4]\n", 1e-9, 1e-12 },
		{ "arg = out f32 y[4]\n", 1e-3, 1e-4 },
		{ "arg = out f16 y[4]\n", 2e-2, 2e-2 },
		{ "arg = inout bf16 y[4]\n", 2e-2, 2e-2 },
		{ "arg = out f8e4m3 y[4]\n", 0.125, 0.125 },
		{ "arg = out f8e5m2 y[4]\n", 0.25, 0.25 },
		{ "arg = out i32 y[4]\n", 0, 0 },
		{ "arg = out f64 y[4]\narg = ret f32\n", 1e-3, 1e-4 },
		{ "arg = in f16 x[4]\narg = out f32 y[4]\n", 1e-3, 1e-4 },
		{ "arg = out f32 y[4]\nrtol = 0.5\n", 0.5, 1e-4 },
		{ "arg = out f32 y[4]\natol = 0\n", 1e-3, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct kernel_file f;
		char *text = xasprintf("%s%s", HEAD, cases[i].args);
		const struct kernel *k = parse(&f, text);

		ok(k->rtol == cases[i].rtol && k->atol == cases[i].atol,
		   "tolerance %zu", i);
		kernel_file_release(&f);
		free(text);
	}
}

struct wrong {
	const char *text, *part;
};

static void refused(const struct wrong *w, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		struct kernel_file f;
		struct err err = ERR_INIT;

		is_int(kernel_file_parse(&f, ".maxkernel", w[i].text,
					 strlen(w[i].text), &err), ERR_FORMAT,
		       "refused: %.60s", w[i].part);
		if (!ok(strstr(err.msg, w[i].part) != NULL, "and says it"))
			printf("# %s\n", err.msg);
		ok(!f.nr && !f.v, "and gives nothing");
	}
}

static void wrong_files(void)
{
	static const struct wrong w[] = {
		{ "x = 1\n", ".maxkernel:1: 'x' stands outside" },
		{ "\n[include]\npath = x\n", ".maxkernel:2: [include] is not" },
		{ "[includeIf \"a\"]\n", ":1: [includeif] is not allowed" },
		{ "[core]\n", ":1: [core] is not allowed: only" },
		{ "[kernel]\n", ":1: [kernel] lacks a name" },
		{ "[kernel.a]\n", "write [kernel \"a\"], not [kernel.a]" },
		{ "[kernel \"\"]\n", "a kernel's name is 1 to 60" },
		{ "[kernel \"a@b\"]\n", "a kernel's name is" },
		{ "[kernel \"/a\"]\n", "a kernel's name is" },
		{ "[kernel \"a/\"]\n", "a kernel's name is" },
		{ "[kernel \"-a\"]\n", "a kernel's name is" },
		{ "[kernel \"a\tb\"]\n", "a kernel's name is" },
		{ "[kernel \"a123456789012345678901234567890123456789012345678"
		  "90123456789x\"]\n", "a kernel's name is" },
		{ HEAD OUT HEAD OUT, ":5: a second [kernel \"a\"]: the first "
		  "is in line 1" },
		{ "[kernel \"a\"\nx\n", ":1: the section's head lacks its ']'" },
		{ "[kernel \"a\"]\nfile = \"a\n", ":2: a value lacks its" },
		{ HEAD OUT "tim = M=1\n", ":5: unknown key 'tim': did you mean "
		  "'time'?" },
		{ HEAD "fils = x\n", "did you mean 'file'" },
		{ HEAD "frobnicate = x\n", "unknown key 'frobnicate'; 'git" },
		{ HEAD "entry = g\n", ":4: a second 'entry': the first is in "
		  "line 3" },
		{ HEAD OUT "rtol = 1\nrtol = 1\n", ":6: a second 'rtol'" },
		{ HEAD "use\n", ":4: 'use' lacks its value" },
		{ HEAD "use =\n", ":4: 'use' lacks its value" },
		{ HEAD "use = a\\nb\n", ":4: the value of 'use' holds a" },
		{ HEAD "use = \"a\tb\"\n", ":4: the value of 'use' holds a" },
		{ HEAD "use = \xff\n", "control character or bad UTF-8" },
		{ "[kernel \"a\"]\nentry = f\n" OUT, ":1: kernel 'a' lacks "
		  "'file'" },
		{ "[kernel \"a\"]\nfile = a.c\n" OUT, "lacks 'entry'" },
		{ HEAD, "kernel 'a' has no output" },
		{ HEAD "arg = in f32 x[4]\n", "has no output" },
		{ "[kernel \"a\"]\n", ":1: kernel 'a' lacks 'file'" },
	};

	refused(w, ARRAY_SIZE(w));
}

static void wrong_args(void)
{
	static const struct wrong w[] = {
		{ HEAD "arg = f32 x\n", ":4: an argument begins with in," },
		{ HEAD "arg = in float x\n", "'float' is not a type" },
		{ HEAD "arg = in\n", "is not a type" },
		{ HEAD "arg = in f32\n", "lacks its name" },
		{ HEAD "arg = in f32 *x\n", "declared by its extents" },
		{ HEAD "arg = in f32 restrict\n", "can't be the name" },
		{ HEAD "arg = in f32 2x\n", "can't be the name" },
		{ HEAD OUT "arg = in i8 y\n", ":5: the argument 'y' is "
		  "declared twice" },
		{ HEAD "arg = in f32 M[3]\narg = dim M\n", "declared twice" },
		{ HEAD "arg = dim M\narg = dim M\n", ":5: the dim 'M' is" },
		{ HEAD "arg = dim short M\n", "'M' after the dim 'short'" },
		{ HEAD "arg = dim\n", "wanted 'arg = dim NAME'" },
		{ HEAD "arg = dim long\n", "wanted 'arg = dim long NAME'" },
		{ HEAD "arg = dim for\n", "can't be the name of a dim" },
		{ HEAD "arg = in f32 x[P]\n", ":4: extent 'P' of argument 'x' "
		  "is not declared: add 'arg = dim P'" },
		{ HEAD "arg = in f32 x[min(3,Q)*2]\n", "extent 'Q' of" },
		{ HEAD "arg = in f32 x[4][4] ld(l)\n", "ld 'l' of argument "
		  "'x' is not declared" },
		{ HEAD "arg = in f32 x[3\n", "lacks its ']'" },
		{ HEAD "arg = in f32 x[]\n", "extent of argument 'x': the "
		  "expression '' ends" },
		{ HEAD "arg = in f32 x[3+]\n", "ends where" },
		{ HEAD "arg = in f32 x[1][1][1][1][1][1][1][1][1]\n",
		  "over 8 extents" },
		{ HEAD "arg = in f32 x[4] ld(4)\n", "two or more extents" },
		{ HEAD "arg = in f32 x[4][4] ld(4) ld(4)\n", "two ld()" },
		{ HEAD "arg = in f32 x[4] align(48)\n", "power of two" },
		{ HEAD "arg = in f32 x[4] align(2)\n", "less than that" },
		{ HEAD "arg = in f32 x[4] align(8192)\n", "power of two" },
		{ HEAD "arg = in f32 x[4] align(8) align(8)\n", "two align" },
		{ HEAD "arg = in f32 x align(8)\n", "it is a scalar" },
		{ HEAD "arg = in f32 x[4] wide(4)\n", "'wide(...)' after" },
		{ HEAD "arg = in f32 x[4] 5\n", "'5' after argument 'x'" },
		{ HEAD "arg = in f32 x[4] ld(4\n", "after argument 'x'" },
		{ HEAD "arg = in f32 x = nan\n", "is not a number" },
		{ HEAD "arg = in f32 x = 0x10\n", "is not a number" },
		{ HEAD "arg = in f32 x = 1 2\n", "is not a number" },
		{ HEAD "arg = in f32 x = 1e39\n", "does not fit in f32" },
		{ HEAD "arg = in u8 x = 256\n", "does not fit in u8" },
		{ HEAD "arg = in i32 x = 1.5\n", "does not fit in i32" },
		{ HEAD "arg = in bool x = 2\n", "does not fit in bool" },
		{ HEAD "arg = in f32 x[4] = 1\n", "no scalar that goes in" },
		{ HEAD "arg = out f32 x = 1\n", "no scalar that goes in" },
		{ HEAD "arg = out f32 x\n", "is an output by value" },
		{ HEAD "arg = ret f32 x\n", "it has no name" },
		{ HEAD "arg = ret f32\narg = ret f32\n", "two 'arg = ret'" },
		{ HEAD OUT "alias = y\n", "names of two arrays" },
		{ HEAD OUT "alias = y y\n", "names of two arrays" },
		{ HEAD OUT "alias = y z\n", "names of two arrays" },
		{ HEAD OUT "arg = in f32 a[4]\narg = in f32 b[4]\n"
		  "alias = a b\n", "neither is written" },
	};

	refused(w, ARRAY_SIZE(w));
}

static void wrong_values(void)
{
	static const struct wrong w[] = {
		{ HEAD "use = /etc/x\n", "must be relative" },
		{ HEAD "use = ../x\n", "may not hold empty parts" },
		{ HEAD "use = a/../x\n", "may not hold" },
		{ HEAD "use = .git/config\n", "may not hold" },
		{ HEAD "use = -o.c\n", "may not begin with '-'" },
		{ HEAD "use = .maxkernel\n", "declaration itself" },
		{ HEAD "file = a.c\n", "is there twice" },
		{ "[kernel \"a\"]\nentry = a-b\n", "the name of a C function" },
		{ HEAD "target = cuda\n", "target 'cuda' is not built in" },
		{ HEAD "cc = tcc\n", "cc = tcc: wanted 'gcc' or 'clang'" },
		{ HEAD OUT "rtol = -1e-3\n", ":5: rtol = -1e-3: a tolerance "
		  "can't be negative" },
		{ HEAD OUT "atol = -0.1\n", "can't be negative" },
		{ HEAD OUT "rtol = nan\n", "wanted a number" },
		{ HEAD OUT "atol = inf\n", "wanted a number" },
		{ HEAD OUT "atol = 1e999\n", "wanted a number" },
		{ HEAD OUT "rtol = 1\n", "zeros would pass" },
		{ HEAD OUT "math = fast\n", "wanted 'strict', 'reassoc' or "
		  "'finite'" },
		{ HEAD OUT "reentrant = maybe\n", "wanted 'no' or 'yes'" },
		{ HEAD OUT "scratch = 17G\n", "scratch = 17G" },
		{ HEAD OUT "scratch = 1M mmap\n", "wanted a size" },
		{ HEAD OUT "scratch = M\n", "wanted a size" },
		{ HEAD OUT "scratch = 99999999999999999999\n", "a size" },
		{ HEAD OUT "deny = Vw\n", "no such strategy" },
		{ HEAD OUT "tunable = a-b 1\n", ":5: tunable = a-b: wanted "
		  "the name of a #define" },
		{ HEAD OUT "tunable = for 1\n", "wanted the name" },
		{ HEAD OUT "tunable = T\n", "lacks the values" },
		{ HEAD OUT "tunable = T 0\n", "'0' is not a number from 1 to "
		  "65536" },
		{ HEAD OUT "tunable = T 65537\n", "'65537' is not" },
		{ HEAD OUT "tunable = T -4\n", "'-4' is not" },
		{ HEAD OUT "tunable = T 4k\n", "'4k' is not" },
		{ HEAD OUT "tunable = T 99999999999999999999\n", "is not" },
		{ HEAD OUT "tunable = T 4 04\n", "4 is there twice" },
		{ HEAD OUT "tunable = T 4\ntunable = T 8\n", ":6: tunable = T "
		  "is there twice" },
		{ HEAD OUT "tunable = T 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 "
		  "17\n", "over 16 values" },
		{ HEAD DIMS "tunable = M 4\n" TIME, "that is a dim" },
		{ HEAD OUT "threads = 0\n", "wanted 1 to 256" },
		{ HEAD OUT "threads = 257\n", "wanted 1 to 256" },
		{ HEAD OUT "threads = 2\ncc = clang\n", "needs cc = gcc" },
		{ HEAD OUT "cache = warm\n", "'hot', 'llc' or 'cold'" },
		{ HEAD OUT "shapes = some\n", "'free' or 'fixed'" },
		{ HEAD OUT "reference = /a.c\n", "must be relative" },
		{ HEAD OUT "reference = a.c:1x\n", "'1x' can't be the name" },
		{ HEAD OUT "reference = :f\n", "may not hold empty parts" },
		{ HEAD OUT "rival = a.c: double\n", "can't be the name" },
		{ HEAD OUT "flops = 2*M\n", "flops 'M' is not declared" },
		{ HEAD OUT "flops = -1\n", "would be negative" },
		{ HEAD DIMS "require = M > P\n" TIME, "require 'P' is not" },
		{ HEAD DIMS "require = M >\n" TIME, "require: the expression" },
	};

	refused(w, ARRAY_SIZE(w));
}

static void wrong_inputs(void)
{
	static const char *const cases[][2] = {
		{ "z uniform(0,1)", "input for 'z', which is no argument" },
		{ "n iota", "'n' is a dim" },
		{ "y iota", "only written" },
		{ "v const(1)", "has a value already" },
		{ "x iota\ninput = x iota", "two inputs for 'x'" },
		{ "x gauss(0,1)", "'gauss' is no kind of input" },
		{ "x uniform", "wanted 'uniform(...)'" },
		{ "x uniform(1)", "takes 2 numbers" },
		{ "x uniform(0,1,2)", "takes 2 numbers" },
		{ "x uniform(0,nan)", "takes 2 numbers" },
		{ "x uniform(1,0)", "wrong way round" },
		{ "x uniform(0,1e39)", "goes beyond f32" },
		{ "x normal(0,-1)", "deviation" },
		{ "x uniform(0,1) x", "wanted 'uniform(...)'" },
		{ "x uniform(0,1", "wanted 'uniform(...)'" },
		{ "x iota()", "wanted 'iota'" },
		{ "x perm", "perm is for integers" },
		{ "x sizes(n)", "sizes is for integers" },
		{ "i uniform(0,1)", "try randint" },
		{ "i randint(0,1.5)", "must be integers" },
		{ "u randint(0,300)", "goes beyond u8" },
		{ "u randint(-1,3)", "goes beyond u8" },
		{ "i sizes(q)", "total 'q' is not declared" },
		{ "s iota", "is for arrays" },
		{ "x file(../a)", "a path below" },
		{ "x file(/etc/passwd)", "a path below" },
		{ "x file()", "a path below" },
		{ "x const(x)", "takes 1 number" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct wrong w;
		char *text = xasprintf("%s%sarg = in f32 x[n]\n"
			"arg = in i32 i[n]\narg = in u8 u[n]\n"
			"arg = in f32 s\narg = in f32 v = 1\narg = dim n\n"
			"time = n=5\ninput = %s\n", HEAD, OUT, cases[i][0]);

		w.text = text;
		w.part = cases[i][1];
		refused(&w, 1);
		free(text);
	}
}

static void wrong_shapes(void)
{
	static const struct wrong w[] = {
		{ HEAD DIMS, ":1: kernel 'a': give at least one 'time = M=..." },
		{ HEAD OUT "time = M=1\n", "the kernel has no dims" },
		{ HEAD DIMS "time = M=1\n", "the dim 'N' is missing: add" },
		{ HEAD DIMS "time = M=1 N=2 P=3\n", "there is no dim 'P'" },
		{ HEAD DIMS "time = M=1 N=2 M=3\n", "'M' is given twice" },
		{ HEAD DIMS "time = M=1 N\n", "wanted NAME=NUMBER" },
		{ HEAD DIMS "time = M=1 N=0\n", "from 1 to 2147483647" },
		{ HEAD DIMS "time = M=1 N=-5\n", "from 1 to" },
		{ HEAD DIMS "time = M=1 N=2147483648\n", "from 1 to" },
		{ HEAD DIMS "time = M=1 N=1e3\n", "from 1 to" },
		{ HEAD DIMS "time = M=1 N=\n", "from 1 to" },
		{ HEAD DIMS TIME "time = N=5 M=3\n", "is there twice" },
		{ HEAD DIMS TIME "check = M=9\n", ":8: check = M=9: the dim" },
		{ HEAD DIMS "require = N % 8 == 0\n" TIME,
		  "it breaks 'require = N % 8 == 0'" },
		{ HEAD DIMS "require = M / (N-5)\n" TIME, "divides by zero" },
		{ HEAD DIMS "time = M=2147483647 N=2147483647\n",
		  "argument 'y' would have over 8589934592 elements" },
		{ HEAD DIMS "arg = in f32 x[M-3]\n" TIME, "extent 'M-3' of "
		  "argument 'x' would be 0" },
		{ HEAD DIMS "arg = in f32 x[M*M*M*M*M*M]\n"
		  "time = M=100000000 N=1\n", "64 bits" },
		{ HEAD DIMS "time = M=2147483647 N=1\n", "over 2048 MiB" },
		{ HEAD DIMS "arg = in f32 x[M][N] ld(M)\n" TIME, "ld 'M' of "
		  "argument 'x' would be 3, less than" },
		{ HEAD DIMS "flops = M*M*M*M*M\ntime = M=100000000 N=1\n",
		  "64 bits" },
		{ HEAD "arg = out f32 y[0]\n", "kernel 'a': extent '0'" },
	};

	refused(w, ARRAY_SIZE(w));
}

static void limits(void)
{
	struct kernel_file f;
	struct err err = ERR_INIT;
	struct buf b = BUF_INIT;

	buf_addstr(&b, HEAD);
	for (int i = 0; i < KERNEL_MAX_ARGS + 1; i++)
		buf_addf(&b, "arg = in f32 x%d\n", i);
	is_int(kernel_file_parse(&f, "m", b.ptr, b.len, &err), ERR_FORMAT,
	       "too many arguments");
	is_str(err.msg, "m:36: over 32 arguments", "and says where");
	buf_reset(&b);
	buf_addstr(&b, HEAD);
	for (int i = 0; i < KERNEL_MAX_DIMS + 1; i++)
		buf_addf(&b, "arg = dim d%d\n", i);
	is_int(kernel_file_parse(&f, "m", b.ptr, b.len, &err), ERR_FORMAT,
	       "too many dims");
	buf_reset(&b);
	buf_addstr(&b, HEAD DIMS);
	for (int i = 0; i < KERNEL_MAX_SHAPES + 1; i++)
		buf_addf(&b, "time = M=%d N=1\n", i + 1);
	is_int(kernel_file_parse(&f, "m", b.ptr, b.len, &err), ERR_FORMAT,
	       "too many shapes");
	buf_reset(&b);
	for (int i = 0; i < 257; i++)
		buf_addf(&b, "[kernel \"k%d\"]\nfile = a.c\nentry = f\n"
			 "arg = ret f32\n", i);
	is_int(kernel_file_parse(&f, "m", b.ptr, b.len, &err), ERR_FORMAT,
	       "too many kernels");
	ok(strstr(err.msg, "m:1025: over 256 kernels") != NULL, "at the last");
	buf_reset(&b);
	while (b.len <= KERNEL_MAX_TEXT)
		buf_addstr(&b, "# a comment\n");
	is_int(kernel_file_parse(&f, "m", b.ptr, b.len, &err), ERR_LIMIT,
	       "too long a file");
	b.len = KERNEL_MAX_TEXT;
	is_int(kernel_file_parse(&f, "m", b.ptr, b.len, &err), 0,
	       "a file at the cap, with nothing in it");
	kernel_file_release(&f);
	buf_release(&b);
}

static void flags(void)
{
	static const char *const good[] = {
		"-O", "-O2", "-Ofast", "-std=gnu11", "-std=c2x", "-march=x86-64-v3",
		"-march=armv8.2-a+fp16", "-mtune=native", "-mavx2", "-mfma",
		"-mno-avx512f", "-mavx512vnni", "-mprefer-vector-width=512",
		"-ffast-math", "-fno-math-errno", "-fno-tree-vectorize",
		"-ftree-loop-distribution", "-fno-ivopts", "-funroll-loops",
		"-ffp-contract=off", "-fno-strict-aliasing", "-DX", "-DX=",
		"-DX_1=1.5f", "-DN=-3", "-UX", "-Wall", "-Wno-unused",
		"-Wformat=2", "-w", "-g", "-g3", "-lm", "-lgomp",
		"-fomit-frame-pointer", "-fno-trapping-math",
	};
	static const char *const bad[] = {
		"", "-", "x.c", "@file", "-o", "-O4", "-O2,", "-c",
		"-I", "-I.", "-include", "-isystem", "-L.", "-ldl", "-lm2",
		"-xc", "-B.", "-specs=x", "-wrapper", "-w,x", "-fplugin=x.so",
		"-fplugin-arg-x-y", "-fopenmp", "-flto", "-fprofile-use=x",
		"-fdump-tree-all", "-fno-", "-f", "-ftree-",
		"-ftree-parallelize-loops=4", "-Wl,-z,x", "-Wa,x", "-Wp,-MD,x",
		"-Xlinker", "-mllvm", "-mcmodel=large", "-march=", "-march=a b",
		"-march=a,b", "-std=", "-std=c++11", "-std=gnu", "-D", "-D1X",
		"-DX=a b", "-DX(a)=a", "-DX=\"a\"", "-DX=a;b", "-U", "-UX=1",
		"-mavx512", "-mno-", "-m", "-save-temps", "-pipe", "-static",
		"-shared", "-nostdlib", "-fsanitize=address", "-g4", "-pg",
		"-MD", "-MF", "--sysroot=/", "--param=x=1", 
		"-finstrument-functions", "-fuse-ld=x", "-pthread", "-fno-fast-math=1",
	};

	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		ok(kernel_flag_allowed(good[i]), "%s is allowed", good[i]);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		ok(!kernel_flag_allowed(bad[i]), "%s is not", bad[i]);
	refused((const struct wrong[]){
		{ HEAD OUT "flags = -O2 -fplugin=./x.so\n",
		  ":5: the flag '-fplugin=./x.so' is not allowed: leave it" },
		{ HEAD OUT "flags = -fopenmp\n", "set 'threads = N' instead" },
		{ HEAD OUT "flags = -Iinc\n", "name the headers in 'use'" },
		{ HEAD OUT "flags = -lblas\n", "only -lm and -lgomp" },
		{ HEAD OUT "flags = O2\n", "a flag begins with '-'" },
	}, 5);
}

static void sizes(void)
{
	struct kernel_file f;
	struct err err = ERR_INIT;
	const struct kernel *k = parse(&f, HEAD
		"arg = out f32 y[M][N]\narg = in f64 x[M][N][4] ld(L)\n"
		"arg = in i8 v[N+1]\narg = in f32 c\narg = dim M\narg = dim N\n"
		"arg = dim L\nrequire = M != 7\ntime = M=3 N=5 L=6\n");
	const int64_t want[] = { 15, 14 * 6 + 4, 6, 1, 1, 1, 1 };
	struct shape s, t;
	int64_t n;
	double flops, bytes;

	for (int i = 0; i < 7; i++) {
		is_int(kernel_arg_elems(k, &k->arg[i], &k->time[0], &n, &err),
		       0, "elements of argument %d", i);
		is_int(n, want[i], "are right");
	}
	is_int(kernel_work(k, &k->time[0], &flops, &bytes, &err), 0, "work");
	is_near(flops, 0, 0, "flops are not given");
	is_near(bytes, 15 * 4 + 60 * 8 + 6, 0, "each array once");

	is_int(kernel_shape_parse(k, &s, " L=4\tN=2  M=1 ", &err), 0,
	       "another shape");
	is_str(s.text, "M=1 N=2 L=4", "in order");
	shape_copy(&t, &s);
	shape_release(&s);
	is_str(t.text, "M=1 N=2 L=4", "copied");
	is_int(kernel_shape_legal(k, &t, &err), 1, "legal");
	t.dim[0] = 7;
	is_int(kernel_shape_legal(k, &t, &err), 0, "against a require");
	t.dim[0] = 8;
	t.dim[2] = 3;
	is_int(kernel_shape_legal(k, &t, &err), 0, "ld too small");
	t.dim[2] = 4;
	t.dim[1] = 0;
	is_int(kernel_shape_legal(k, &t, &err), 0, "a dim of 0");
	t.dim[1] = INT32_MAX;
	t.dim[0] = INT32_MAX;
	is_int(kernel_shape_legal(k, &t, &err), 0, "an array too large");
	is_int(kernel_arg_elems(k, &k->arg[0], &t, &n, &err), ERR_LIMIT,
	       "which has no number of elements");
	t.dim[0] = t.dim[1] = 2;
	kernel_shape_text(k, &t);
	is_str(t.text, "M=2 N=2 L=4", "its text is made anew");
	shape_release(&t);
	kernel_file_release(&f);
}

static void work(void)
{
	struct kernel_file f;
	struct err err = ERR_INIT;
	const struct kernel *k = parse(&f, HEAD DIMS
		"require = M*M*M*M*M*M*M > 0\nflops = 2*M*N\nbytes = M+N\n"
		TIME);
	double flops, bytes;
	struct shape s = k->time[0];

	is_int(kernel_work(k, &s, &flops, &bytes, &err), 0, "given work");
	is_near(flops, 30, 0, "flops");
	is_near(bytes, 8, 0, "bytes");
	s.dim[0] = INT32_MAX;
	ok(kernel_shape_legal(k, &s, &err) < 0, "an overflow is an error");
	kernel_file_release(&f);
}

int main(void)
{
	whole_section();
	normal_form();
	defaults();
	tolerances();
	wrong_files();
	wrong_args();
	wrong_values();
	wrong_inputs();
	wrong_shapes();
	limits();
	flags();
	sizes();
	work();
	return tap_done();
}
