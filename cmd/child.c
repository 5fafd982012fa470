#include "cmd/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/mem.h"

/* The child's side; a failure goes through the report pipe as its errno. */
static void become(char **argv, int out, bool quiet, int report)
{
	int null = -1, code;

	if (out >= 0 || quiet)
		null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (out >= 0) {
		dup2(null, STDIN_FILENO);
		dup2(out, STDOUT_FILENO);
	}
	if (quiet)
		dup2(null, STDERR_FILENO);
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	execvp(argv[0], argv);
	code = errno;
	if (write(report, &code, sizeof(code)) < 0)
		_exit(126);
	_exit(127);
}

static int reap(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return 128;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) :
	       WEXITSTATUS(status);
}

static int exec_error(const char *name, int code, struct err *err)
{
	if (code == ENOENT)
		return err_set(err, ERR_NOTFOUND, "cannot run '%s': there is "
			       "no such program", name);
	errno = code;
	return err_sys(err, "cannot run '%s'", name);
}

static int start(char **argv, int out, bool quiet, pid_t *pid,
		 struct err *err)
{
	int report[2], code = 0;
	ssize_t n;

	if (pipe2(report, O_CLOEXEC) < 0)
		return err_sys(err, "cannot make a pipe");
	fflush(stdout);
	fflush(stderr);
	*pid = fork();
	if (*pid == 0)
		become(argv, out, quiet, report[1]);
	close(report[1]);
	if (*pid < 0) {
		close(report[0]);
		return err_sys(err, "cannot start '%s'", argv[0]);
	}
	do
		n = read(report[0], &code, sizeof(code));
	while (n < 0 && errno == EINTR);
	close(report[0]);
	if (n != (ssize_t)sizeof(code))
		return 0;
	reap(*pid);
	return exec_error(argv[0], code, err);
}

int child_run(struct strv *argv, int *status, struct err *err)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, old;
	pid_t pid;
	int ret;

	/* the interrupt key is for the child; its status tells us */
	sigaction(SIGINT, &ignore, &old);
	ret = start(strv_argv(argv), -1, false, &pid, err);
	if (!ret)
		*status = reap(pid);
	sigaction(SIGINT, &old, NULL);
	return ret;
}

int child_read(struct strv *argv, bool quiet, size_t max, struct buf *out,
	       int *status, struct err *err)
{
	int pipefd[2], ret;
	pid_t pid;

	if (pipe2(pipefd, O_CLOEXEC) < 0)
		return err_sys(err, "cannot make a pipe");
	ret = start(strv_argv(argv), pipefd[1], quiet, &pid, err);
	close(pipefd[1]);
	if (!ret) {
		ret = buf_read_fd(out, pipefd[0], max, err);
		if (ret)
			kill(pid, SIGKILL);
		*status = reap(pid);
		if (ret)
			err_wrap(err, "output of '%s'", argv->v[0]);
	}
	close(pipefd[0]);
	return ret;
}

int child_exec(struct strv *argv, struct err *err)
{
	char **v = strv_argv(argv);

	fflush(stdout);
	fflush(stderr);
	/* ignored signals stay ignored in what we become */
	signal(SIGPIPE, SIG_DFL);
	execvp(v[0], v);
	return exec_error(v[0], errno, err);
}

bool child_exists(const char *name)
{
	const char *path = getenv("PATH");
	bool found = false;

	if (strchr(name, '/'))
		return !access(name, X_OK);
	while (path && *path && !found) {
		size_t len = strcspn(path, ":");
		char *full = xasprintf("%.*s/%s", (int)len, path, name);

		found = len && !access(full, X_OK);
		free(full);
		path += len;
		path += *path == ':';
	}
	return found;
}
