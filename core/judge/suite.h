/*
 * The check suite: small and odd shapes, several regimes, special values,
 * data against either guard page.  Made once, with secret contents, and run
 * on every candidate, cheapest shape first; it stops at the first failure.
 */
#ifndef CORE_JUDGE_SUITE_H
#define CORE_JUDGE_SUITE_H

#include "core/judge/oracle.h"

#define SUITE_ODD_SHAPES 4

struct suite_shape {
	struct shape shape;
	double elems;			/* of all arguments */
	struct set **set;
	int nr;
};

struct suite {
	const struct kernel *kernel;
	struct suite_shape *v;		/* ascending in elems */
	int nr;
	uint32_t in_place;		/* see suite_find_in_place() */
};

/*
 * ERR_FORMAT when the reference fails at a shape that the section names; odd
 * shapes at which it fails are left out.  With neither a declared nor a
 * legal odd shape the smallest timed one is checked: nr is never 0.
 */
int suite_open(struct suite *s, const struct kernel *k, struct oracle *o,
	       struct dice *d, struct err *err);
void suite_close(struct suite *s);

/*
 * Which pairs of `alias` are run with one memory for both, from now on in
 * suite_run(): an output and an input of one size at which the root is right,
 * too.  Where it is not, `alias` means another overlap, of which nothing is
 * known.
 */
int suite_find_in_place(struct suite *s, const char *root_so,
			const struct worker_limits *lim, double timeout_s,
			struct dice *d, struct err *err);

struct suite_result {
	enum verdict verdict;	/* V_NONE: right; V_WRONG V_CRASH V_TIMEOUT
				 * V_CHEAT */
	char *why;		/* owned */
};
/*
 * brief: the smallest shapes only, for arms that are ours.  timeout_s: of a
 * call.
 */
int suite_run(const struct suite *s, const char *so,
	      const struct worker_limits *lim, double timeout_s, bool brief,
	      struct dice *d, struct suite_result *out, struct err *err);
void suite_result_release(struct suite_result *r);
/* One case on one shape in a fresh worker: all of its outputs. */
int suite_run_set(const struct kernel *k, const struct shape *shape,
		  const struct set *set, const char *so,
		  const struct worker_limits *lim, double timeout_s,
		  struct dice *d, struct suite_result *out, struct err *err);

/*
 * Two calls at once in two threads, on different sets of nr; both must be
 * right.  tries: how often.
 */
int suite_run_pair(const struct kernel *k, const struct shape *shape,
		   struct set *const *set, int nr, int tries, const char *so,
		   const struct worker_limits *lim, double timeout_s,
		   struct dice *d, struct suite_result *out, struct err *err);

/*
 * Draws a legal shape: each dim from pick(); extents, distances between rows
 * and `require` hold.  Elements of all arguments within max.  False if none
 * was found.
 */
bool shape_draw(const struct kernel *k, struct dice *d, double max_elems,
		int64_t (*pick)(struct dice *d, int dim, const void *ctx),
		const void *ctx, struct shape *out);
/* Legal in every way; *elems: of all arguments. */
bool shape_is_usable(const struct kernel *k, const struct shape *s,
		     double *elems);
bool shape_equal(const struct kernel *k, const struct shape *a,
		 const struct shape *b);

#endif
