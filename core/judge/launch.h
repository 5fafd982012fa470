/*
 * One launch: a fresh worker for each arm, equal inputs at equal addresses,
 * pairs (rounds) interleaved in random order, every call verified.
 */
#ifndef CORE_JUDGE_LAUNCH_H
#define CORE_JUDGE_LAUNCH_H

#include "core/judge/pool.h"

#define LAUNCH_MAX_ARMS 16
#define LAUNCH_MAX_ROUNDS 24
#define LAUNCH_SINGLES 3	/* single calls that guard a batch, at least */

struct launch_arm {
	const char *so;
	/* Results. */
	enum verdict verdict;	/* V_NONE: all calls right; V_WRONG V_CRASH
				 * V_TIMEOUT V_CHEAT */
	char *why;		/* owned; NULL when right */
	double ns[LAUNCH_MAX_ROUNDS];	/* a call, the empty call subtracted */
	int nr;
	double single_ns;	/* the same of calls one by one; NAN */
	double median_ns;	/* of ns; NAN when nr is 0 */
};

struct launch {
	const struct kernel *kernel;
	const struct shape *shape;
	struct pool *pool;
	struct worker_limits limits;
	int slots;		/* calls in a hand-off, each of an own set */
	int rounds, warm;
	double timeout_s;	/* of one hand-off */
	/* Stop after the first round when arm 0 is this much slower than
	 * arm 1; 0: never. */
	double hopeless;
	bool singles;		/* cross-check batches by single calls */
	bool fresh_first;	/* draw never-used sets first */
	struct launch_arm *arm;
	int nr_arms;
	struct dice *dice;
	/* Results. */
	struct placement placement;
	int rounds_done;
	double single_gap_ns;	/* arm 0 over arm 1, single calls in pairs */
};

void launch_arm_init(struct launch_arm *a, const char *so);
void launch_arm_release(struct launch_arm *a);
/*
 * Runs it.  Arms that fail drop out; the launch ends when arm 0 does, or no
 * arm is left.  Errors are those that keep us from knowing.
 */
int launch_run(struct launch *l, struct err *err);
/* Log-ratio of arm b's time over arm a's: the median of the rounds. */
double launch_ratio(const struct launch_arm *a, const struct launch_arm *b);
/*
 * The same of arm 1 over arm 0 from the single calls; NAN if there were none.
 * Of calls that are short beside their hand-off, what a call costs more by
 * itself is taken off: it is the same for both arms, give or take 0.3 us.
 */
double launch_single_ratio(const struct launch *l);
/* Sets that the single calls of a launch take. */
int launch_singles(double call_ns);
/* How many calls to batch, when one takes call_ns and its arguments bytes. */
int launch_slots(const struct kernel *k, double call_ns, size_t bytes);

#endif
