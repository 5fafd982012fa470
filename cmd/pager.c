/* The pager, as Git starts it. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/child.h"
#include "cmd/out.h"

static pid_t pager_pid = -1;

static const char *choose(const char *core_pager)
{
	const char *p = getenv("GIT_PAGER");

	if (!p)
		p = core_pager;
	if (!p)
		p = getenv("PAGER");
	if (!p)
		p = "less";
	if (!*p || !strcmp(p, "cat"))
		return NULL;
	/* a plain name that is not there would swallow the output */
	if (!p[strcspn(p, " \t\"'\\$`|&;<>()*?[#~=%")] && !child_exists(p))
		return NULL;
	return p;
}

static void become_pager(const char *program, const int pipefd[2])
{
	signal(SIGINT, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	dup2(pipefd[0], STDIN_FILENO);
	close(pipefd[0]);
	close(pipefd[1]);
	setenv("LESS", "FRX", 0);
	setenv("LV", "-c", 0);
	execl("/bin/sh", "sh", "-c", program, (char *)NULL);
	_exit(127);
}

void pager_start(const char *core_pager)
{
	const char *program;
	int pipefd[2];

	if (pager_pid > 0 || !isatty(STDOUT_FILENO))
		return;
	program = choose(core_pager);
	if (!program || pipe2(pipefd, O_CLOEXEC) < 0)
		return;
	fflush(stdout);
	fflush(stderr);
	pager_pid = fork();
	if (pager_pid == 0)
		become_pager(program, pipefd);
	if (pager_pid > 0) {
		dup2(pipefd[1], STDOUT_FILENO);
		if (isatty(STDERR_FILENO))
			dup2(pipefd[1], STDERR_FILENO);
		/* the interrupt key is the pager's */
		signal(SIGINT, SIG_IGN);
		/* what runs below, git diff say, must not start another */
		setenv("GIT_PAGER_IN_USE", "true", 1);
	}
	close(pipefd[0]);
	close(pipefd[1]);
}

void pager_wait(void)
{
	int status;

	if (pager_pid <= 0)
		return;
	fflush(stdout);
	fflush(stderr);
	/* the pager waits for the end of its input */
	close(STDOUT_FILENO);
	close(STDERR_FILENO);
	while (waitpid(pager_pid, &status, 0) < 0 && errno == EINTR)
		;
	pager_pid = -1;
}
