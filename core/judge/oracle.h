/*
 * What is right.  The oracle is the reference computed in double: by itself
 * ("auto": the reference's source behind a prelude that turns float into
 * double), from a double version that the section names ("given"), or, where
 * neither can be, the reference as it stands ("native").  The native
 * reference runs beside it: its NaN and Inf are the ones expected, and its
 * error sets the limit for the rms rule.  A reference that is not the root
 * may be more exact than what its user runs today (sums in double): then the
 * root runs on each set, too, and the larger of both errors sets the limit.
 */
#ifndef CORE_JUDGE_ORACLE_H
#define CORE_JUDGE_ORACLE_H

#include "core/judge/build.h"
#include "core/judge/compare.h"
#include "core/judge/worker.h"

enum oracle_kind { ORACLE_AUTO, ORACLE_GIVEN, ORACLE_NATIVE };

struct oracle {
	const struct kernel *kernel;	/* borrowed */
	const char *aux;		/* folder of the sources; borrowed */
	enum oracle_kind kind;
	char *native_so, *double_so;	/* double_so: NULL for native */
	char *why;			/* why not auto, or NULL */
	const char *root_so;		/* set by oracle_use_root() */
	struct worker_limits limits;
};

/* One set of inputs and what should come of it. */
struct set {
	struct seed seed;
	enum regime regime;
	enum special special;
	int special_arg;
	void *in[KERNEL_MAX_ARGS];	/* native type; NULL: not read */
	struct want want[KERNEL_MAX_ARGS];
	struct rows rows[KERNEL_MAX_ARGS];
	void *own[KERNEL_MAX_ARGS];	/* memory of want */
	size_t bytes;			/* of all of it */
	int launches;			/* how often it was drawn */
};

const char *oracle_name(enum oracle_kind kind);
/*
 * Builds in work.  ERR_FORMAT when the reference does not build.  The
 * caller sets limits.cpu when it changes.
 */
int oracle_open(struct oracle *o, const struct kernel *k, const char *aux,
		const char *work, bool sandbox_none, struct err *err);
void oracle_close(struct oracle *o);
/*
 * Builds a function that the section names (reference, baseline, rival) from
 * aux: its file and the `use` sources; everything when it stands among the
 * kernel's own files, or when f->path is NULL (the root).
 */
int oracle_build_func(const struct kernel *k, const struct func_ref *f,
		      const char *aux, const char *so,
		      const struct strv *flags, bool sandbox_none,
		      struct build_result *out, struct err *err);
/* The error of one that was not built: "baseline ref.c:sum does not build:
 * ...".  ERR_FORMAT. */
int oracle_func_failed(const struct kernel *k, const struct func_ref *f,
		       const char *key, const struct build_result *res,
		       struct err *err);
/*
 * The root's artefact, borrowed: run on each set from now on where the
 * reference is another function, else left alone.
 */
void oracle_use_root(struct oracle *o, const char *so);
/* Falls back to the native reference, with the reason. */
void oracle_make_native(struct oracle *o, const char *why);
/*
 * Does the automatic oracle agree with the native reference on a set that
 * both have answered?  False with the reason otherwise.
 */
bool oracle_agrees(const struct oracle *o, const struct shape *s,
		   const struct set *set, const void *const *native,
		   struct buf *why);

struct set *set_new(const struct seed *seed, enum regime regime,
		    enum special special, int special_arg);
void set_free(struct set *set);
/*
 * Makes the inputs of the sets and answers them.  ERR_FORMAT: the reference
 * itself fails at this shape, and the message says how.  An automatic oracle
 * that disagrees is given up for the native one first.  *call_ns, when not
 * NULL: mean time of the oracle, the native reference and the root a set.
 */
int oracle_answer(struct oracle *o, const struct shape *s,
		  struct set *const *sets, int nr, double *call_ns,
		  struct err *err);

/* Copies the inputs of a set into a slot. */
void set_load(const struct set *set, const struct arena *in, int slot);
/* The starting contents of its inout arrays, and of inputs that lie in the
 * place of an output, into a worker's outputs. */
void set_load_inout(const struct set *set, const struct layout *l,
		    const struct worker *w, int slot);
/*
 * Verifies all outputs of a slot: never-written elements, canaries, values.
 * sample: elements looked at in each output; 0: all.  False with the reason.
 */
bool set_verify(const struct set *set, const struct layout *l,
		struct worker *w, int slot, int sample, struct dice *d,
		struct buf *why);

#endif
