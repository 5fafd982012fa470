#include "core/judge/run.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/mem.h"

#define CPU_S 120
#define MEMORY (4ull << 30)
#define FILE_SIZE (256ull << 20)

enum { STEP_DIR = 1, STEP_LIMIT, STEP_LOCK, STEP_FILES, STEP_CALLS,
       STEP_EXEC };

struct failure {		/* from the child, through a pipe */
	int step, code;
};

struct child {
	pid_t pid, guard;
	int out, fail, lifeline;	/* our ends; -1: none */
};

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Between fork and exec: system calls alone. */

static int limit(__rlimit_resource_t what, rlim_t n)
{
	const struct rlimit r = { n, n };

	return setrlimit(what, &r);
}

static int set_limits(void)
{
	return limit(RLIMIT_CPU, CPU_S) || limit(RLIMIT_CORE, 0) ||
	       limit(RLIMIT_FSIZE, FILE_SIZE) || limit(RLIMIT_AS, MEMORY);
}

static int prepare(const struct run *r, int parent, int out)
{
	int null = open("/dev/null", O_RDONLY);
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	if (null < 0 || dup2(null, 0) < 0 || dup2(out, 1) < 0 ||
	    dup2(out, 2) < 0 || chdir(r->dir) < 0 ||
	    close_range(3, ~0u, CLOSE_RANGE_CLOEXEC) < 0)
		return STEP_DIR;
	if (jail_lock_privileges(parent) < 0)
		return STEP_LOCK;
	if (r->jailed && jail_files(r->paths, r->nr_paths) < 0)
		return STEP_FILES;
	if (set_limits())
		return STEP_LIMIT;
	if (r->jailed && jail_syscalls_build() < 0)
		return STEP_CALLS;
	return 0;
}

__attribute__((noreturn))
static void child(const struct run *r, int parent, char *const *envp, int out,
		  int fail)
{
	struct failure f = { 0, 0 };
	ssize_t n;

	setpgid(0, 0);
	f.step = prepare(r, parent, out);
	if (!f.step) {
		execve(r->argv[0], r->argv, envp);
		f.step = STEP_EXEC;
	}
	f.code = errno;
	n = write(fail, &f, sizeof(f));
	_exit(n == sizeof(f) ? 127 : 126);
}

/*
 * A compiler has children, whom no death signal reaches: the guard reads a
 * pipe that only we hold, and when we are gone it ends the whole group.
 */
__attribute__((noreturn))
static void guard(pid_t group, int lifeline)
{
	char c;
	ssize_t n;

	setpgid(0, 0);
	if (dup2(lifeline, 0) < 0)
		_exit(1);
	close_range(1, ~0u, 0);
	do
		n = read(0, &c, 1);
	while (n < 0 && errno == EINTR);
	if (n == 0)
		kill(-group, SIGKILL);
	_exit(0);
}

/* In the parent */

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void reap(pid_t pid, int *status)
{
	while (waitpid(pid, status, 0) < 0 && errno == EINTR)
		;
}

static int start_guard(struct child *c, struct err *err)
{
	int pipes[2];

	if (pipe2(pipes, O_CLOEXEC) < 0)
		return err_sys(err, "cannot make a pipe");
	c->guard = fork();
	if (!c->guard) {
		close(pipes[1]);
		guard(c->pid, pipes[0]);
	}
	close(pipes[0]);
	c->lifeline = pipes[1];
	if (c->guard < 0)
		return err_sys(err, "cannot fork");
	return 0;
}

static int start(struct child *c, const struct run *r, char *const *envp,
		 struct err *err)
{
	int out[2], fail[2], parent = getpid();

	if (pipe2(out, O_CLOEXEC) < 0)
		return err_sys(err, "cannot make a pipe");
	c->out = out[0];
	if (pipe2(fail, O_CLOEXEC) < 0) {
		close(out[1]);
		return err_sys(err, "cannot make a pipe");
	}
	c->fail = fail[0];
	c->pid = fork();
	if (!c->pid)
		child(r, parent, envp, out[1], fail[1]);
	close(out[1]);
	close(fail[1]);
	if (c->pid < 0)
		return err_sys(err, "cannot fork");
	setpgid(c->pid, c->pid);
	return start_guard(c, err);
}

/* Reads what it says until it is silent for good; false at the time-out. */
static bool collect(const struct child *c, const struct run *r,
		    struct buf *output, double deadline)
{
	struct pollfd p = { .fd = c->out, .events = POLLIN };
	char chunk[8192];
	double left;
	ssize_t n;
	size_t room;

	for (;;) {
		left = deadline - now_s();
		if (left <= 0)
			return false;
		if (poll(&p, 1, (int)(left * 1e3) + 1) <= 0)
			continue;
		n = read(c->out, chunk, sizeof(chunk));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return true;
		room = r->max_output - output->len;
		buf_add_max(output, chunk, (size_t)n < room ? (size_t)n : room,
			    r->max_output);
	}
}

/* Its end of the pipe may be closed before it has ended.  It is not reaped,
 * so that its number, and its group's, stay its own. */
static bool wait_end(pid_t pid, double deadline)
{
	const struct timespec tick = { 0, 1000000 };
	siginfo_t info;

	for (;;) {
		info.si_pid = 0;
		if (waitid(P_PID, (id_t)pid, &info,
			   WEXITED | WNOHANG | WNOWAIT) < 0 && errno != EINTR)
			return true;
		if (info.si_pid == pid)
			return true;
		if (now_s() >= deadline)
			return false;
		nanosleep(&tick, NULL);
	}
}

static int check_failure(const struct child *c, const struct run *r,
			 struct err *err)
{
	static const char *const doing[] = {
		[STEP_DIR] = "cannot enter the build folder",
		[STEP_LIMIT] = "cannot limit the compiler",
		[STEP_LOCK] = "cannot jail the compiler",
		[STEP_FILES] = "cannot jail the compiler (Landlock)",
		[STEP_CALLS] = "cannot jail the compiler (seccomp)",
		[STEP_EXEC] = "cannot run",
	};
	struct failure f;

	if (read(c->fail, &f, sizeof(f)) != sizeof(f))
		return 0;
	errno = f.code;
	return err_sys(err, "%s: '%s'", doing[f.step], r->argv[0]);
}

static void end_guard(struct child *c)
{
	ssize_t n;

	if (c->guard <= 0)
		return;
	n = write(c->lifeline, "x", 1);
	if (n != 1)
		kill(c->guard, SIGKILL);
	reap(c->guard, NULL);
}

static int finish(struct child *c, const struct run *r, struct buf *output,
		  struct run_end *end, struct err *err)
{
	double begun = now_s();

	end->late = !collect(c, r, output, begun + r->timeout_s) ||
		    !wait_end(c->pid, begun + r->timeout_s);
	end->seconds = now_s() - begun;
	/* Also what it may have left running. */
	kill(-c->pid, SIGKILL);
	reap(c->pid, &end->status);
	return check_failure(c, r, err);
}

int run_program(const struct run *r, struct buf *output, struct run_end *end,
		struct err *err)
{
	char *home = xasprintf("HOME=%s", r->dir);
	char *tmp = xasprintf("TMPDIR=%s", r->dir);
	static char path[] = "PATH=/usr/local/bin:/usr/bin:/bin";
	static char locale[] = "LC_ALL=C";
	char *envp[] = { path, locale, home, tmp, NULL };
	struct child c = { 0, 0, -1, -1, -1 };
	int ret;

	memset(end, 0, sizeof(*end));
	ret = start(&c, r, envp, err);
	if (!ret)
		ret = finish(&c, r, output, end, err);
	else if (c.pid > 0) {
		kill(c.pid, SIGKILL);
		reap(c.pid, NULL);
	}
	end_guard(&c);
	close_fd(&c.out);
	close_fd(&c.fail);
	close_fd(&c.lifeline);
	free(home);
	free(tmp);
	return ret;
}
