#include "core/judge/cpulock.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FOLDER "/tmp/git-maxkernel-locks"
#define STEP_NS 20000000L

void cpulock_init(struct cpulock *l)
{
	memset(l, 0, sizeof(*l));
	l->last = l->pinned = -1;
	if (sched_getaffinity(0, sizeof(l->allowed), &l->allowed))
		CPU_ZERO(&l->allowed);
}

/* The folder as the first user made it: sticky, for all. */
static int open_folder(void)
{
	struct stat st;
	int fd;

	if (!mkdir(FOLDER, 0700)) {
		fd = open(FOLDER, O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
			  O_CLOEXEC);
		if (fd >= 0 && fchmod(fd, 01777)) {
			close(fd);
			return -1;
		}
		return fd;
	}
	fd = open(FOLDER, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -1;
	/* One that others could swap files in would lock nothing. */
	if (fstat(fd, &st) || ((st.st_mode & 022) && !(st.st_mode & S_ISVTX))) {
		close(fd);
		return -1;
	}
	return fd;
}

/* -1: can't be had; -2: held by another. */
static int lock_cpu(int folder, int cpu)
{
	struct stat st;
	char name[32];
	int fd;

	snprintf(name, sizeof(name), "cpu%d", cpu);
	/* Without O_CREAT first: in a sticky folder the kernel may refuse
	 * O_CREAT on what another user made. */
	fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC |
		    O_NONBLOCK);
	if (fd < 0) {
		fd = openat(folder, name, O_RDONLY | O_CREAT | O_EXCL |
			    O_NOFOLLOW | O_CLOEXEC, 0666);
		if (fd >= 0 && fchmod(fd, 0666)) {
			close(fd);
			return -1;
		}
	}
	if (fd < 0)
		return -1;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return -1;
	}
	if (flock(fd, LOCK_EX | LOCK_NB)) {
		close(fd);
		return -2;
	}
	return fd;
}

/* One pass over the CPUs; false when some were held by others. */
static bool try_all(struct cpulock *l, int folder, int n)
{
	bool held = false;
	int i, cpu;

	for (i = -1; i < CPU_SETSIZE && l->nr < n; i++) {
		int fd;

		cpu = i < 0 ? l->last : i;
		if (cpu < 0 || (i >= 0 && cpu == l->last) ||
		    !CPU_ISSET(cpu, &l->allowed))
			continue;
		fd = lock_cpu(folder, cpu);
		if (fd == -2) {
			held = true;
			continue;
		}
		l->cpu[l->nr] = cpu;
		l->fd[l->nr++] = fd;
	}
	return l->nr >= n || !held;
}

static void drop_locks(struct cpulock *l)
{
	int i;

	for (i = 0; i < l->nr; i++)
		if (l->fd[i] >= 0)
			close(l->fd[i]);
	l->nr = 0;
}

static int first_allowed(const struct cpulock *l)
{
	int cpu;

	if (l->last >= 0)
		return l->last;
	for (cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &l->allowed))
			return cpu;
	return -1;
}

static void pin(int cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

int cpulock_take(struct cpulock *l, int n, double wait_s,
		 void (*tick)(void *ctx), void *ctx)
{
	int folder = open_folder(), cpu;
	double waited = 0;

	if (n < 1)
		n = 1;
	if (n > CPULOCK_MAX)
		n = CPULOCK_MAX;
	while (folder >= 0 && !try_all(l, folder, n) && waited < wait_s) {
		const struct timespec step = { 0, STEP_NS };

		/* All or none, so that two that want two never deadlock. */
		drop_locks(l);
		if (tick)
			tick(ctx);
		nanosleep(&step, NULL);
		waited += STEP_NS * 1e-9;
	}
	if (folder >= 0)
		close(folder);
	cpu = l->nr ? l->cpu[0] : first_allowed(l);
	if (n > 1 || cpu < 0)
		return -1;
	l->last = l->pinned = cpu;
	pin(cpu);
	return cpu;
}

void cpulock_roam(struct cpulock *l, bool roam)
{
	if (l->pinned < 0)
		return;
	if (!roam)
		pin(l->pinned);
	else if (CPU_COUNT(&l->allowed))
		sched_setaffinity(0, sizeof(l->allowed), &l->allowed);
}

void cpulock_drop(struct cpulock *l)
{
	drop_locks(l);
	l->pinned = -1;
	if (CPU_COUNT(&l->allowed))
		sched_setaffinity(0, sizeof(l->allowed), &l->allowed);
}
