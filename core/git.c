#include "core/git.h"

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

#include "core/mem.h"

enum { IN, OUT, ERRORS, PIPES };

struct child {
	pid_t pid;
	int fd[PIPES];		/* our ends; -1: closed */
};

static long long now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000LL + ts.tv_nsec / 1000000;
}

static void shut(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* theirs[i]: the child's ends, to become 0, 1 and 2 in it. */
static int start(struct child *c, char **argv, int *theirs, struct err *err)
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
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK |
				 POSIX_SPAWN_SETSIGDEF);
	posix_spawn_file_actions_init(&actions);
	for (int i = 0; i < PIPES; i++)
		posix_spawn_file_actions_adddup2(&actions, theirs[i], i);
	rc = posix_spawnp(&c->pid, argv[0], &actions, &attr, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attr);
	errno = rc;
	return rc ? err_sys(err, "cannot start '%s'", argv[0]) : 0;
}

/* Descriptors 0 to 2 may be closed in us: keep the pipes clear of them, or
 * the child's dup2() calls would undo each other. */
static int above_stdio(int *fd)
{
	int high;

	if (*fd > 2)
		return 0;
	high = fcntl(*fd, F_DUPFD_CLOEXEC, 3);
	if (high < 0)
		return -1;
	close(*fd);
	*fd = high;
	return 0;
}

static int open_pipes(struct child *c, int *theirs, bool input,
		      struct err *err)
{
	for (int i = 0; i < PIPES; i++) {
		int p[2] = { -1, -1 };

		if (i == IN && !input) {
			theirs[i] = open("/dev/null", O_RDONLY | O_CLOEXEC);
		} else if (pipe2(p, O_CLOEXEC) == 0) {
			theirs[i] = p[i == IN ? 0 : 1];
			c->fd[i] = p[i == IN ? 1 : 0];
			if (above_stdio(&c->fd[i]) < 0)
				return err_sys(err, "cannot make a pipe");
			fcntl(c->fd[i], F_SETFL, O_NONBLOCK);
		}
		if (theirs[i] < 0 || above_stdio(&theirs[i]) < 0)
			return err_sys(err, "cannot make a pipe");
	}
	return 0;
}

static int feed(struct child *c, struct git_run *run, size_t *sent)
{
	ssize_t n = write(c->fd[IN], run->input + *sent,
			  run->input_len - *sent);

	if (n < 0 && errno != EAGAIN && errno != EINTR)
		*sent = run->input_len;		/* git reads no more */
	else if (n > 0)
		*sent += (size_t)n;
	if (*sent == run->input_len)
		shut(&c->fd[IN]);
	return 0;
}

static int drain(int *fd, struct buf *to, size_t max, bool cut,
		 struct err *err)
{
	char chunk[16384];
	ssize_t n = read(*fd, chunk, sizeof(chunk));

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n <= 0) {
		shut(fd);
		return 0;
	}
	if (buf_add_max(to, chunk, (size_t)n, max) || cut)
		return 0;
	return err_set(err, ERR_LIMIT, "git printed more than %zu bytes", max);
}

static int talk(struct child *c, struct git_run *run, struct err *err)
{
	long long end = now_ms() + run->timeout_ms;
	size_t sent = 0;
	int ret = 0;

	while (!ret && (c->fd[OUT] >= 0 || c->fd[ERRORS] >= 0)) {
		struct pollfd p[PIPES] = {
			{ c->fd[IN], POLLOUT, 0 },
			{ c->fd[OUT], POLLIN, 0 },
			{ c->fd[ERRORS], POLLIN, 0 },
		};
		long long left = end - now_ms();

		if (run->timeout_ms && left <= 0)
			return err_set(err, ERR_LIMIT, "git took longer than "
				       "%d ms", run->timeout_ms);
		if (poll(p, PIPES, run->timeout_ms ? (int)left : -1) < 0 &&
		    errno != EINTR)
			return err_sys(err, "cannot wait for git");
		if (p[IN].revents)
			feed(c, run, &sent);
		if (p[OUT].revents)
			ret = drain(&c->fd[OUT], &run->out, GIT_MAX_OUTPUT,
				    false, err);
		if (!ret && p[ERRORS].revents)
			ret = drain(&c->fd[ERRORS], &run->errors,
				    GIT_MAX_ERRORS, true, err);
	}
	return ret;
}

static void reap(struct child *c, struct git_run *run)
{
	int status;
	pid_t pid;

	do {
		pid = waitpid(c->pid, &status, 0);
	} while (pid < 0 && errno == EINTR);
	run->status = pid < 0 ? 127 : WIFEXITED(status) ?
		WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int run_argv(char **argv, struct git_run *run, struct err *err)
{
	struct child c = { -1, { -1, -1, -1 } };
	int theirs[PIPES] = { -1, -1, -1 };
	struct sigaction ignore = { .sa_handler = SIG_IGN }, old;
	int ret = open_pipes(&c, theirs, run->input != NULL, err);

	if (!ret)
		ret = start(&c, argv, theirs, err);
	for (int i = 0; i < PIPES; i++)
		shut(&theirs[i]);
	if (!ret) {
		sigaction(SIGPIPE, &ignore, &old);
		ret = talk(&c, run, err);
		sigaction(SIGPIPE, &old, NULL);
		if (ret < 0)
			kill(c.pid, SIGKILL);
		reap(&c, run);
	}
	for (int i = 0; i < PIPES; i++)
		shut(&c.fd[i]);
	return ret;
}

int git_run(struct repo *r, struct git_run *run, struct err *err)
{
	struct strv argv = STRV_INIT;
	int ret;

	buf_init(&run->out);
	buf_init(&run->errors);
	run->status = -1;
	strv_push(&argv, "git");
	strv_pushf(&argv, "--git-dir=%s", repo_gitdir(r));
	for (size_t i = 0; i < run->args->nr; i++)
		strv_push(&argv, run->args->v[i]);
	ret = run_argv(strv_argv(&argv), run, err);
	strv_release(&argv);
	return ret;
}

void git_run_release(struct git_run *run)
{
	buf_release(&run->out);
	buf_release(&run->errors);
}

/* git's complaint on one clean line. */
static int complain(struct git_run *run, struct err *err)
{
	struct buf text = BUF_INIT;
	size_t len = run->errors.len;

	while (len && run->errors.ptr[len - 1] == '\n')
		len--;
	buf_add_clean(&text, run->errors.ptr, len, false);
	err_set(err, ERR_GIT, "git %s: exit status %d%s%s",
		run->args->nr ? run->args->v[0] : "", run->status,
		text.len ? ": " : "", text.ptr);
	buf_release(&text);
	return err->code;
}

int git_call(struct repo *r, const struct strv *args, struct buf *out,
	     struct err *err)
{
	struct git_run run = { .args = args };
	int ret = git_run(r, &run, err);

	if (!ret && run.status)
		ret = complain(&run, err);
	if (!ret && out)
		buf_add(out, run.out.ptr, run.out.len);
	git_run_release(&run);
	return ret;
}

int git_ref_delete(struct repo *r, const char *name, const struct oid *old,
		   struct err *err)
{
	struct strv args = STRV_INIT;
	struct err ignored;
	struct oid now;
	int ret = 0;

	strv_push(&args, "update-ref");
	strv_push(&args, "-d");
	strv_push(&args, name);
	strv_push(&args, oid_text(old).s);
	for (int try = 0; try < 5; try++) {
		struct timespec pause = { 0, 20000000L << try };

		ret = git_call(r, &args, NULL, err);
		if (ret != ERR_GIT)
			break;
		if (repo_ref_read(r, name, &now, &ignored) < 0 ||
		    !oid_eq(&now, old)) {
			ret = err_set(err, ERR_RACE, "'%s' was moved by "
				      "another process", name);
			break;
		}
		nanosleep(&pause, NULL);
	}
	strv_release(&args);
	return ret;
}
