/* Shared by the files of draft.h alone. */
#ifndef AGENTS_BUILTIN_DRAFT_PARTS_H
#define AGENTS_BUILTIN_DRAFT_PARTS_H

#include "agents/builtin/cfunc.h"
#include "agents/builtin/poly.h"
#include "core/buf.h"
#include "core/dtype.h"
#include "core/kernel.h"

#define DRAFT_MAX_LOOPS 64
#define DRAFT_MAX_ACCESSES 256
#define DRAFT_MAX_LOCALS 32

/*
 * Symbols: the parameters, the loops' variables, and locals such as P in
 * "int P = H - R + 1", which stay whole in products.
 */
#define SYM_LOOP KERNEL_MAX_ARGS
#define SYM_LOCAL (SYM_LOOP + DRAFT_MAX_LOOPS)
#define SYM_NR (SYM_LOCAL + DRAFT_MAX_LOCALS)

struct dparam {
	const struct cparam *c;
	char *name;
	enum dtype type;
	bool is_array, is_const;
	bool is_size;		/* an integer that can be a dim */
	enum dim_type size_type;
	bool is_read, is_written, first_is_write;
	bool moved;		/* used in a way that is not followed */
	/* Of an array: */
	int declared;		/* brackets with an extent, or empty */
	struct poly extent[KERNEL_MAX_RANK];	/* bad: unknown */
	bool has_ld;
	struct poly ld;
};

struct dloop {
	const struct cloop *c;
	struct poly lo, hi;	/* lo <= variable < hi */
};

struct daccess {
	int param;
	int nr;			/* subscripts */
	struct poly sub[KERNEL_MAX_RANK];
};

struct dlocal {			/* "int P = H - 2;", "float *p = x + i * n;" */
	uint32_t name;		/* token */
	int param;		/* that it points into, or -1 */
	struct poly value;
};

struct dlimit {			/* a local array that a size must not exceed */
	struct poly need;
	int64_t have;
};

struct draft {
	const struct cunit *u;
	const struct cfunc *f;
	struct dparam *param;
	int nr_params;
	struct cloops loops;
	struct dloop loop[DRAFT_MAX_LOOPS];
	int nr_loops;
	struct dlocal local[DRAFT_MAX_LOCALS];
	int nr_locals;
	struct daccess *access;
	int nr_accesses;
	struct dlimit limit[DRAFT_MAX_LOCALS];
	int nr_limits;
	struct strv names;	/* of the symbols; SYM_NR */
	int returns;		/* dtype, or -1 */
	struct strv *notes;
};

int draft_read(struct draft *d, struct err *err);
void draft_release(struct draft *d);
/* Puts the last value of each loop in the place of its variable; false if
 * that is not the greatest value. */
bool draft_greatest(const struct draft *d, struct poly *p);
/* Puts their values in the place of locals. */
void draft_expand(const struct draft *d, struct poly *p);
/* Fills in the values of the locals, when those of the parameters stand. */
void draft_values(const struct draft *d, double values[SYM_NR]);
/* Values for the parameters that are far apart, to compare sizes with. */
void draft_sample(const struct draft *d, double values[SYM_NR]);
/* Extents of every array. */
void draft_extents(struct draft *d);

#endif
