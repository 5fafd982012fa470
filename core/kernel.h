/*
 * Kernels: the sections of `.maxkernel`, parsed and checked.  Text in, plain
 * data out; no files, no Git.  Linked into the program and into the judge.
 *
 * The file has the grammar of git-config, with what may stand in it closed:
 * only [kernel "<name>"] sections, known keys, no include, no repeated
 * section, no repeated single-valued key.  Every error names file and line.
 */
#ifndef CORE_KERNEL_H
#define CORE_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/dtype.h"
#include "core/err.h"
#include "core/expr.h"

#define KERNEL_FILE ".maxkernel"
#define KERNEL_MAX_TEXT (1u << 20)	/* bytes of `.maxkernel` */
#define KERNEL_MAX_ARGS 32
#define KERNEL_MAX_DIMS 16
#define KERNEL_MAX_RANK 8
#define KERNEL_MAX_SHAPES 64
#define KERNEL_MAX_RIVALS 8
#define KERNEL_MAX_TUNABLES 16
#define KERNEL_MAX_VALUES 16		/* of a tunable */
#define KERNEL_MAX_VALUE 65536
#define KERNEL_MAX_BYTES ((int64_t)2 << 30)	/* of all arguments of a call */

enum arg_kind { ARG_IN, ARG_OUT, ARG_INOUT, ARG_DIM, ARG_RET, ARG_WEIGHT };
enum dim_type { DIM_INT, DIM_LONG, DIM_SIZE };
enum kernel_math { MATH_STRICT, MATH_REASSOC, MATH_FINITE };
enum kernel_cache { CACHE_HOT, CACHE_LLC, CACHE_COLD };

enum input_kind {
	INPUT_NORMAL,		/* a = mean, b = standard deviation */
	INPUT_UNIFORM,		/* a, b = ends */
	INPUT_RANDINT,		/* a, b = ends, both included */
	INPUT_PERM,		/* a permutation of 0..n-1 */
	INPUT_IOTA,		/* 0, 1, 2, ... */
	INPUT_SORTED,		/* uniform(a, b), ascending */
	INPUT_SIZES,		/* non-negative, sum is expr(total) */
	INPUT_OFFSETS,		/* ascending from 0, last is expr(total) */
	INPUT_ONEHOT,		/* last axis: one 1, else 0 */
	INPUT_CONST,		/* a */
	INPUT_FILE		/* raw bytes of path, repeated or cut */
};

struct input_spec {
	enum input_kind kind;
	double a, b;
	struct expr total;
	char *path;
};

struct arg {
	enum arg_kind kind;
	enum dtype type;	/* not for ARG_DIM */
	char *name;		/* NULL for ARG_RET */
	int rank;		/* 0: a scalar by value (or the return) */
	struct expr extent[KERNEL_MAX_RANK];
	bool has_ld;		/* rows of the last axis are ld elements apart */
	struct expr ld;
	int align;		/* promised alignment in bytes; 0: of the type */
	bool has_value;		/* scalar: = value */
	double value;
	int dim;		/* ARG_DIM: index into dims */
	/* What is read and has no value: default normal(0,1), integers
	 * randint(0,3), bool randint(0,1). */
	struct input_spec input;
	bool has_input;		/* given in the section */
};

struct dim {
	char *name;
	enum dim_type type;
};

struct shape {
	int64_t dim[KERNEL_MAX_DIMS];
	char *text;		/* "M=500 N=1000", dims in declared order */
};

struct func_ref {		/* reference, baseline, rival */
	char *path;		/* NULL: not given */
	char *symbol;		/* default: entry */
	bool is_double;		/* reference = path:symbol double */
};

struct kernel_tunable {		/* "#define NAME <number>" in a `file` */
	char *name;
	struct strv values;	/* decimal, each once, as given */
};

struct kernel {
	char *name;
	int line;		/* of the section's head, for messages */
	char *source;		/* file name for messages */
	struct strv file, use;	/* paths or globs, as written */
	char *entry, *target, *cc;
	struct strv flags;	/* checked against the allow-list */
	struct arg arg[KERNEL_MAX_ARGS];
	int nr_args;
	struct dim dim[KERNEL_MAX_DIMS];
	int nr_dims;
	struct strv dim_names;
	struct shape *time, *check;	/* one empty shape if there is no dim */
	int nr_time, nr_check;
	struct expr *require;
	int nr_require;
	/*
	 * Defaults by the coarsest float type of the outputs: f64 1e-9 and
	 * 1e-12, f32 1e-3 and 1e-4, f16 and bf16 2e-2 twice, f8e4m3 1/8
	 * twice, f8e5m2 1/4 twice; 0 when no output is a float.
	 */
	double rtol, atol;
	enum kernel_math math;
	bool reentrant;		/* default true */
	struct strv alias;	/* pairs: alias.v[2k], alias.v[2k+1] */
	int64_t scratch;	/* bytes */
	bool scratch_malloc;
	struct strv deny;
	struct kernel_tunable tunable[KERNEL_MAX_TUNABLES];
	int nr_tunables;
	struct func_ref reference, baseline, rival[KERNEL_MAX_RIVALS];
	int nr_rivals;
	bool has_flops, has_bytes;
	struct expr flops, bytes;
	int threads;
	enum kernel_cache cache;
	bool shapes_fixed;	/* shapes = fixed: no hold-out shapes */
	/*
	 * The section in one normal form (keys in the order of the file,
	 * one "key = value" a line, comments and blanks gone): what the spec
	 * holds, what the judge is given and what the evaluation key hashes.
	 * Without the head, so the kernel's name is not in it.
	 */
	struct buf text;
};

struct kernel_file {
	struct kernel *v;
	size_t nr, cap;
};

/* source: the name for messages.  On an error *f is empty. */
int kernel_file_parse(struct kernel_file *f, const char *source,
		      const char *text, size_t len, struct err *err);
/*
 * One kernel from its normal text (struct kernel.text): f->v[0].  Messages
 * name the kernel and the line of the text plus one.
 */
int kernel_section_parse(struct kernel_file *f, const char *name,
			 const char *text, size_t len, struct err *err);
void kernel_file_release(struct kernel_file *f);
const struct kernel *kernel_find(const struct kernel_file *f,
				 const char *name);
void kernel_release(struct kernel *k);

/* dims from "M=1 N=2"; every dim once, positive; legal under `require`. */
int kernel_shape_parse(const struct kernel *k, struct shape *s,
		       const char *text, struct err *err);
void shape_copy(struct shape *to, const struct shape *from);
void shape_release(struct shape *s);
/* 1 legal, 0 not, negative on an overflow. */
int kernel_shape_legal(const struct kernel *k, const struct shape *s,
		       struct err *err);
/* Sets s->text from the dims. */
void kernel_shape_text(const struct kernel *k, struct shape *s);

/* Elements from the first to one past the last of an array at a shape,
 * leading dimension included; 1 for rank 0. */
int kernel_arg_elems(const struct kernel *k, const struct arg *a,
		     const struct shape *s, int64_t *out, struct err *err);
/* Floating-point operations (0 if not given) and bytes (default: each array
 * once) at a shape. */
int kernel_work(const struct kernel *k, const struct shape *s,
		double *flops, double *bytes, struct err *err);

/* True if the flag may stand in `flags` (design: the closed list). */
bool kernel_flag_allowed(const char *flag);

#endif
