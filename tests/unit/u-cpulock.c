/* needs: core/judge/cpulock.c
 *
 * Timing has a CPU to itself: across processes, and across users where the
 * test may become another.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "core/judge/cpulock.h"
#include "tests/unit/tap.h"

#define OTHER_USER 65534

/* In a process of its own, as another user if may be: how many CPUs it gets at
 * once, without waiting. */
static int gets(int wanted, double wait_s)
{
	pid_t pid = fork();
	int status = -1;

	if (!pid) {
		struct cpulock l;

		if (!getuid() && (setgid(OTHER_USER) || setuid(OTHER_USER)))
			_exit(99);
		cpulock_init(&l);
		cpulock_take(&l, wanted, wait_s, NULL, NULL);
		_exit(l.nr);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

/* A child that takes what it can, says so and holds it until told. */
static pid_t holder(int ready[2], int go[2], int wanted)
{
	pid_t pid;

	if (pipe(ready) || pipe(go))
		return -1;
	pid = fork();
	if (!pid) {
		struct cpulock l;
		char c;

		close(go[1]);
		cpulock_init(&l);
		cpulock_take(&l, wanted, 120, NULL, NULL);
		c = (char)l.nr;
		if (write(ready[1], &c, 1) != 1 || read(go[0], &c, 1) < 0)
			_exit(1);
		_exit(0);
	}
	return pid;
}

int main(void)
{
	int ready[2], go[2], all, status;
	struct cpulock l;
	char held = 0;
	pid_t pid;

	cpulock_init(&l);
	all = CPU_COUNT(&l.allowed);
	if (all > CPULOCK_MAX)
		all = CPULOCK_MAX;
	pid = holder(ready, go, all);
	ok(pid > 0 && read(ready[0], &held, 1) == 1 && held == all,
	   "one process holds all %d CPUs", all);
	is_int(gets(1, 0), 0, "another gets none of them");
	ok(write(go[1], "", 1) == 1 && waitpid(pid, &status, 0) == pid,
	   "the first ends");
	is_int(gets(all, 120), all, "then the other has them all");
	is_int(cpulock_take(&l, 1, 120, NULL, NULL) >= 0 ? l.nr : -1, 1,
	       "one is enough for a kernel without threads");
	is_int(l.pinned, l.cpu[0], "which is pinned there");
	cpulock_drop(&l);
	is_int(l.nr, 0, "and gives it back");
	return tap_done();
}
