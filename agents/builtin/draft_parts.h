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
#define DRAFT_MAX_LOCALS 48
#define DRAFT_MAX_SCOPES 160
#define DRAFT_MAX_UNITS 34
#define DRAFT_MAX_CALLS 64	/* calls that are followed, in all */
#define DRAFT_MAX_DEPTH 4

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
	bool changed;		/* assigned in the body */
	bool walks;		/* an array whose only change is one "*x++" */
	enum dim_type size_type;
	bool moved;		/* used in a way that is not followed */
	/* Of an array: */
	int declared;		/* brackets with an extent, or empty */
	struct poly extent[KERNEL_MAX_RANK];	/* bad: unknown */
	bool has_ld;
	struct poly ld;
};

struct dloop {
	const struct cunit *u;	/* whose tokens c has */
	struct cloop c;
	int outer;		/* the loop around it, or -1 */
	uint32_t valid;		/* the variable is changed behind this token */
	bool exact;		/* it begins with lo */
	int64_t step;		/* 0: unknown */
	int64_t rounds;		/* if they are a number, else 0 */
	struct poly lo, hi;	/* lo <= variable < hi */
};

/* What may run less often than what is around it. */
struct dscope {
	int outer;		/* or -1 */
	int loop;		/* or -1: a branch */
	bool jumps;		/* holds a jump out of it */
	uint32_t first, last;	/* CNONE: of a function that is called */
};

enum daccess_kind { DACCESS_READ, DACCESS_WRITE };

struct daccess {
	int param;
	enum daccess_kind kind;
	int scope;		/* or -1 */
	uint32_t at;		/* token, in the order of what happens */
	int nr;			/* subscripts */
	struct poly sub[KERNEL_MAX_RANK];
};

struct dlocal {			/* "int P = H - 2;", "float *p = x + i * n;" */
	uint32_t name;		/* token; CNONE: of a function that is called */
	uint32_t base;		/* token of what it points into, or CNONE */
	int param;		/* that it points into, or DLOCAL_... */
	uint32_t end;		/* of the block that it is known in */
	bool walks;		/* a pointer whose only change is one "*p++" */
	struct poly value;
};
#define DLOCAL_INTEGER (-1)
#define DLOCAL_ARRAY (-2)

struct dlimit {			/* a local array that a size must not exceed */
	struct poly need;
	int64_t have;
};

/* The sources of a draft, and what limits the reading of them. */
struct dunits {
	struct cunit v[DRAFT_MAX_UNITS];	/* v[0]: the entry's */
	int nr;
	int calls;
};

struct draft {
	struct dunits *units;
	const struct cunit *u;
	const struct cfunc *f;
	const struct draft *caller;	/* NULL: the entry */
	int depth;
	struct dparam *param;
	int nr_params;
	struct cloops loops;
	struct dloop loop[DRAFT_MAX_LOOPS];
	int nr_loops;
	struct dlocal local[DRAFT_MAX_LOCALS];
	int nr_locals;
	struct dscope scope[DRAFT_MAX_SCOPES];
	int nr_scopes;
	bool crowded;		/* there was more than fits */
	bool *seen;		/* tokens whose use is accounted for */
	struct daccess *access;
	int nr_accesses;
	struct dlimit limit[DRAFT_MAX_LOCALS];
	int nr_limits;
	struct strv names;	/* of the symbols; SYM_NR */
	int returns;		/* dtype, or -1 */
	struct strv *notes;
};

/* ---- draft_expr.c: names, types and expressions ---- */

bool draft_is(const struct draft *d, uint32_t i, const char *s);
bool draft_is_word(const struct draft *d, uint32_t i);
char *draft_spelling(const struct draft *d, uint32_t i);
/* The words of a type without qualifiers, joined by blanks. */
void draft_type_words(const struct draft *d, uint32_t first, uint32_t last,
		      bool *is_const, struct buf *out);
/* The dtype of a C name; -1 if there is none. */
int draft_type_of(const char *words);
/* Tokens first to end, end not included; bad if it is no polynomial. */
void draft_parse(const struct draft *d, uint32_t first, uint32_t end,
		 struct poly *p);
/* The first such token outside of inner brackets, or CNONE. */
uint32_t draft_find(const struct draft *d, uint32_t i, uint32_t end,
		    const char *what);

/* ---- draft_read.c: parameters, loops, locals ---- */

int draft_read(struct draft *d, struct err *err);
void draft_release(struct draft *d);
void draft_set_name(struct draft *d, int sym, const char *name);
/* Its value as "(H-R+1)". */
void draft_name_local(struct draft *d, int k);
int draft_param_of(const struct draft *d, uint32_t i);

struct daddress {		/* "x", "x + e", "&x[e]", "x[i]" of x[M][N] */
	int param;
	uint32_t base;		/* token of x */
	int lead;		/* subscripts in front of the offset */
	struct poly sub[KERNEL_MAX_RANK];
	struct poly offset;
};
/* False if it is none; else param, and offset may be bad. */
bool draft_address(const struct draft *d, uint32_t i, uint32_t end,
		   struct daddress *a);

/* ---- draft_walk.c: what is read and written ---- */

void draft_walk(struct draft *d);

/* ---- draft_shape.c: extents ---- */

/* Puts the last value of each loop in the place of its variable; false if
 * that is not the greatest value. */
bool draft_greatest(const struct draft *d, struct poly *p);
/* Likewise the least one. */
bool draft_least(const struct draft *d, struct poly *p);
/* The variable of a loop stands in it, or in the value of a local of it. */
bool draft_has_loops(const struct draft *d, const struct poly *value);
/* Puts their values in the place of locals. */
void draft_expand(const struct draft *d, struct poly *p);
/* Fills in the values of the locals, when those of the parameters stand. */
void draft_values(const struct draft *d, double values[SYM_NR]);
/* Values for the parameters that are far apart, to compare sizes with. */
void draft_sample(const struct draft *d, double values[SYM_NR]);
/* Extents of every array. */
void draft_extents(struct draft *d);

/* ---- draft_use.c ---- */

/* "in", "out" or "inout", with a note if that is a guess; after the
 * extents. */
const char *draft_use(struct draft *d, int param);

#endif
