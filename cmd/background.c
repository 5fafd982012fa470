#include "cmd/background.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cmd/out.h"
#include "cmd/task.h"
#include "core/lease.h"
#include "core/mem.h"

#define INTERVAL_S 60
#define LAST_MS 60000		/* that the last push may take */
#define STOP_MS 10000		/* the same, after a signal */
#define GRACE_MS 5000		/* from asking it to end to killing it */
#define MAX_TOLD 50		/* different complaints */
#define MAX_LINE 2000

struct background {
	char *self, *remote, *slug;
	int64_t interval_ms, next_ms;
	pid_t pid;		/* 0: none is under way */
	int fd;			/* its stderr */
	struct buf line;
	struct strv told;
};

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000LL + ts.tv_nsec / 1000000;
}

/* The program that runs now, even if it was not found through PATH. */
static char *own_path(void)
{
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (n > 0)
		path[n] = '\0';
	return xstrdup(n > 0 && !access(path, X_OK) ? path : "git-maxkernel");
}

int background_open(struct background **out, struct repo *r,
		    const char *remote, struct err *err)
{
	struct background *b = xcalloc(1, sizeof(*b));
	enum share_branches unused;
	int64_t s = INTERVAL_S, ttl_s = LEASE_TTL_S;
	int ret = share_branches(r, &unused, err);

	*out = NULL;
	b->fd = -1;
	if (!ret)
		ret = repo_config_range(r, "maxkernel.pushInterval", 1, 86400,
					&s, err);
	if (!ret)
		ret = repo_config_range(r, "maxkernel.leaseSeconds",
					LEASE_MIN_TTL_S, LEASE_MAX_TTL_S, &ttl_s,
					err);
	if (!ret && *remote)
		b->remote = xstrdup(remote);
	else if (!ret)
		ret = remote_default(r, &b->remote, err);
	if (ret) {
		free(b);
		return ret;
	}
	b->self = own_path();
	b->interval_ms = s * 1000;
	*out = b;
	return 0;
}

/* ---- what it complains of ---- */

static void tell_line(struct background *b)
{
	const char *s = b->line.ptr;

	if (!strncmp(s, "warning: ", 9))
		s += 9;
	else if (!strncmp(s, "fatal: ", 7) || !strncmp(s, "error: ", 7))
		s += 7;
	if (*s && b->told.nr < MAX_TOLD && !strv_has(&b->told, s)) {
		struct buf clean = BUF_INIT;

		strv_push(&b->told, s);
		buf_add_clean(&clean, s, strlen(s), false);
		live("%s", "");
		warn("%s", clean.ptr);
		buf_release(&clean);
	}
	buf_reset(&b->line);
}

/* False at its end. */
static bool hear(struct background *b)
{
	char chunk[1024];
	ssize_t n = read(b->fd, chunk, sizeof(chunk));

	for (ssize_t i = 0; i < n; i++) {
		if (chunk[i] == '\n')
			tell_line(b);
		else if (b->line.len < MAX_LINE)
			buf_addch(&b->line, chunk[i]);
	}
	return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

/* ---- one push ---- */

static int spawn(struct background *b, char **argv, int fd)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t none, dfl;
	int rc;

	sigemptyset(&none);
	sigemptyset(&dfl);
	sigaddset(&dfl, SIGPIPE);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &dfl);
	/* A session of its own: the interrupt key is for the search. */
	posix_spawnattr_setflags(&attr, (short)(POSIX_SPAWN_SETSIGMASK |
				 POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID));
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, fd, 2);
	rc = posix_spawnp(&b->pid, argv[0], &actions, &attr, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attr);
	return rc;
}

static void start(struct background *b, bool last)
{
	struct strv argv = STRV_INIT;
	int p[2], rc;

	b->next_ms = now_ms() + b->interval_ms;
	if (pipe2(p, O_CLOEXEC) < 0)
		return;
	fcntl(p[0], F_SETFL, O_NONBLOCK);
	strv_push(&argv, b->self);
	strv_push(&argv, "push");
	strv_push(&argv, "-q");
	strv_push(&argv, "--background");
	if (!last)
		strv_push(&argv, "--branches=none");
	strv_push(&argv, "--");
	strv_push(&argv, b->remote);
	strv_push(&argv, b->slug);
	rc = spawn(b, strv_argv(&argv), p[1]);
	strv_release(&argv);
	close(p[1]);
	if (rc) {
		b->pid = 0;
		close(p[0]);
		buf_reset(&b->line);
		buf_addf(&b->line, "cannot start '%s': %s", b->self,
			 strerror(rc));
		tell_line(b);
		return;
	}
	b->fd = p[0];
}

/* Reaps it if it has ended: *status is its exit status then. */
static bool has_ended(struct background *b, int *status)
{
	struct pollfd p = { b->fd, POLLIN, 0 };
	int st;
	pid_t pid = waitpid(b->pid, &st, WNOHANG);

	if (pid == 0 || (pid < 0 && errno == EINTR))
		return false;
	while (poll(&p, 1, 0) > 0 && hear(b))
		;
	if (b->line.len)
		tell_line(b);
	close(b->fd);
	b->fd = -1;
	b->pid = 0;
	*status = pid > 0 && WIFEXITED(st) ? WEXITSTATUS(st) : EXIT_FAILED;
	return true;
}

static void look(struct background *b)
{
	struct pollfd p = { b->fd, POLLIN, 0 };
	int unused;

	while (b->pid && poll(&p, 1, 0) > 0 && hear(b))
		;
	if (b->pid)
		has_ended(b, &unused);
}

/* Waits for it, and ends it when it takes too long: false then. */
static bool wait_for(struct background *b, int max_ms, int *status)
{
	int64_t now, end = now_ms() + max_ms;
	bool asked = false, hurried = false;

	while (b->pid) {
		struct pollfd p = { b->fd, POLLIN, 0 };

		if (poll(&p, 1, 50) > 0 && !hear(b))
			poll(NULL, 0, 20);
		if (has_ended(b, status))
			return !asked;
		now = now_ms();
		if (task_stop && !hurried) {
			hurried = true;
			end = end < now + STOP_MS ? end : now + STOP_MS;
		}
		if (now < end)
			continue;
		kill(b->pid, asked ? SIGKILL : SIGTERM);
		asked = true;
		end = now_ms() + GRACE_MS;
	}
	return true;
}

void background_begin(struct background *b, const char *slug)
{
	free(b->slug);
	b->slug = xstrdup(slug);
	b->next_ms = 0;
}

const char *background_remote(const struct background *b)
{
	return b->remote;
}

double background_interval_s(const struct background *b)
{
	return (double)b->interval_ms / 1000;
}

void background_tick(struct background *b)
{
	if (b->pid)
		look(b);
	if (!b->pid && now_ms() >= b->next_ms)
		start(b, false);
}

void background_end(struct background *b)
{
	int status = EXIT_FAILED;

	live("%s: pushing", b->remote);
	wait_for(b, LAST_MS, &status);
	start(b, true);
	status = EXIT_FAILED;
	if (!wait_for(b, LAST_MS, &status) || status > EXIT_NO)
		warn("the search is not pushed in full; later: git maxkernel "
		     "push %s %s", b->remote, b->slug);
	live("%s", "");
}

void background_close(struct background *b)
{
	if (!b)
		return;
	buf_release(&b->line);
	strv_release(&b->told);
	free(b->self);
	free(b->remote);
	free(b->slug);
	free(b);
}
