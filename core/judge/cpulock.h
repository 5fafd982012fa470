/*
 * One judge times on a CPU at a time: a lock file for each CPU, in a folder
 * that all users of the machine share.  Where the folder can't be had safely
 * there is no lock, and that is all.
 */
#ifndef CORE_JUDGE_CPULOCK_H
#define CORE_JUDGE_CPULOCK_H

#include <sched.h>
#include <stdbool.h>

#define CPULOCK_MAX 64

struct cpulock {
	cpu_set_t allowed;	/* affinity at the start */
	int cpu[CPULOCK_MAX];	/* held; cpu[0] is the one to pin to */
	int fd[CPULOCK_MAX];
	int nr;
	int last;		/* taken before: caches may still be warm */
	int pinned;		/* CPU that the caller is pinned to, or -1 */
};

void cpulock_init(struct cpulock *l);
/*
 * Takes n CPUs, waiting up to wait_s for them; tick, when not NULL, is called
 * while it waits.  Then goes on without a lock.  With n = 1 the caller is
 * pinned to the CPU.  Returns the CPU, or -1 when n > 1.
 */
int cpulock_take(struct cpulock *l, int n, double wait_s,
		 void (*tick)(void *ctx), void *ctx);
/* Lets children run on all CPUs for a while, or back to the pinned one. */
void cpulock_roam(struct cpulock *l, bool roam);
/* Gives them back and restores the affinity. */
void cpulock_drop(struct cpulock *l);

#endif
