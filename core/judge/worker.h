/*
 * Workers, as the judge drives them.  A launch is one fresh worker process,
 * jailed, with one artefact.  The worker is stopped whenever the judge
 * writes inputs, reads outputs or reads a clock.  Inputs are in one sealed
 * memfd that all workers of a launch share, mapped read-only by them; each
 * worker has its own outputs.
 */
#ifndef CORE_JUDGE_WORKER_H
#define CORE_JUDGE_WORKER_H

#include "core/judge/layout.h"
#include "core/record.h"

struct arena {			/* the inputs of a launch */
	const struct layout *layout;
	int fd;
	unsigned char *map;	/* the judge's own, writable */
	unsigned shift;		/* of the stacks of this launch's workers */
};
/* layout is borrowed and must outlive it. */
int arena_open(struct arena *a, const struct layout *l, struct err *err);
void arena_close(struct arena *a);
/* Where the judge writes an input (arg in, weight, dim, scalar). */
void *arena_in(const struct arena *a, int slot, int arg);

struct worker_limits {
	double load_s;		/* to load and get ready, CPU seconds */
	size_t scratch;		/* malloc'd bytes allowed besides */
	int threads;
	bool sandbox_none;
	int cpu;		/* pinned to; -1: not pinned */
	bool pair;		/* worker_pair() will be called */
};

struct worker;
enum worker_state { WORKER_OK, WORKER_CRASH, WORKER_TIMEOUT, WORKER_CHEAT };

/* Starts it; on return it has loaded the artefact and is stopped.  A worker
 * that dies while loading is *out with that state, not an error. */
int worker_start(struct worker **out, const char *so, const struct arena *in,
		 const struct worker_limits *lim, struct err *err);
/* The judge's view of an output (out, inout, ret) of a slot. */
void *worker_out(const struct worker *w, int slot, int arg);
/* Fills outputs with NaNs of a random payload (integers: random bits) and
 * the canaries around them.  `inout` arrays are left to the caller. */
void worker_poison(struct worker *w, int first, int n, uint64_t salt);
/* 0: all outputs of the slots are written and canaries are whole; else *arg,
 * *elem name the first that is not (elem -1: a canary). */
int worker_untouched(struct worker *w, int first, int n, int *arg,
		     int64_t *elem);

struct call_time {
	double cpu_ns, wall_ns;	/* of the whole batch */
};
/*
 * Calls slots first .. first+n-1 in one frozen hand-off.  Returns 0 and the
 * state; in any state but OK the worker is dead and *why says it ("killed by
 * SIGSEGV", "exited with 0", "no answer in 2.0 s", "floating-point mode
 * changed").  empty: runs the protocol without calling the kernel, for
 * calibration.
 */
int worker_call(struct worker *w, int first, int n, bool empty,
		double timeout_s, struct call_time *t,
		enum worker_state *state, struct err *err);
/* The same for two slots at once, in two threads; needs limits.pair.  Not for
 * timing. */
int worker_pair(struct worker *w, int a, int b, double timeout_s,
		enum worker_state *state, struct err *err);
const char *worker_why(const struct worker *w);
enum worker_state worker_state(const struct worker *w);
/* What a state other than WORKER_OK means: crash, timeout or cheat. */
enum verdict worker_verdict(enum worker_state s);
/* The CPU ledger: time spent outside calls, in ns, since it was ready. */
double worker_unaccounted_ns(const struct worker *w);
void worker_end(struct worker *w);	/* kills and reaps it; NULL allowed */

/*
 * The level that workers get here: "S3" (with namespaces), "S2" (seccomp,
 * Landlock and no clock: what is required) or "none"; with why the higher
 * ones are not to be had.  Without Landlock neither a worker nor a compiler
 * can be kept from files, so that there is no level between.
 */
const char *sandbox_level(struct buf *why);

#endif
