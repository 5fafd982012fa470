#include "cmd/detach.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cmd/out.h"
#include "cmd/task.h"
#include "core/clock.h"
#include "core/mem.h"

#define WAIT_S 600		/* for the first search to begin */
#define END_MS 10000		/* from asking the process to end to killing it */
#define MAX_NEWS 4096		/* bytes that it tells us */
#define MAX_LOG (1u << 20)	/* that are printed of a failure */

static struct {
	bool on;
	int fd;			/* to who waits; -1: nobody does */
	char *log;
} mine = { .fd = -1 };

bool detach_is_on(void)
{
	return mine.on;
}

const char *detach_log(void)
{
	return mine.log ? mine.log : "";
}

/* ---- the background process ---- */

/* One write: it comes whole or not at all. */
static void tell(char kind, const char *text)
{
	char news[MAX_NEWS];
	int len = snprintf(news, sizeof(news), "%c%s", kind, text);

	if (len >= (int)sizeof(news))
		len = (int)sizeof(news) - 1;
	while (write(mine.fd, news, (size_t)len) < 0 && errno == EINTR)
		;
	close(mine.fd);
	mine.fd = -1;
}

void detach_tell(const char *slug, const char *kernel)
{
	char *text;

	if (mine.fd < 0)
		return;
	text = xasprintf("%s %s", slug, kernel);
	tell('S', text);
	free(text);
}

/*
 * What the caller had open for purposes of its own, a pipe that somebody reads
 * to its end, say.  All of ours is closed on exec.
 */
static void close_foreign(void)
{
	DIR *d = opendir("/proc/self/fd");
	struct dirent *e;

	while (d) {
		int fd, flags;

		e = readdir(d);
		if (!e)
			break;
		fd = (int)strtol(e->d_name, NULL, 10);
		flags = fcntl(fd, F_GETFD);
		if (fd > STDERR_FILENO && flags >= 0 && !(flags & FD_CLOEXEC))
			close(fd);
	}
	if (d)
		closedir(d);
}

static char *log_path(struct repo *r, const char *command, time_t when,
		      pid_t pid)
{
	struct tm tm = { 0 };
	char text[32];

	gmtime_r(&when, &tm);
	strftime(text, sizeof(text), "%Y%m%dT%H%M%SZ", &tm);
	return xasprintf("%smaxkernel/log/%s-%s-%ld.log", repo_gitdir(r),
			 command, text, (long)pid);
}

static int open_log(struct repo *r, struct err *err)
{
	char *top = xasprintf("%smaxkernel", repo_gitdir(r));
	char *dir = xasprintf("%s/log", top);
	int null, log = -1;

	if ((mkdir(top, 0777) < 0 && errno != EEXIST) ||
	    (mkdir(dir, 0777) < 0 && errno != EEXIST)) {
		err_sys(err, "cannot create '%s'", dir);
	} else {
		log = open(mine.log, O_WRONLY | O_CREAT | O_EXCL | O_APPEND |
			   O_NOFOLLOW | O_CLOEXEC, 0600);
		if (log < 0)
			err_sys(err, "cannot create '%s'", mine.log);
	}
	free(top);
	free(dir);
	if (log < 0)
		return err->code;
	null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (null < 0 || dup2(null, STDIN_FILENO) < 0 ||
	    dup2(log, STDOUT_FILENO) < 0 || dup2(log, STDERR_FILENO) < 0)
		err_sys(err, "cannot leave the terminal");
	if (null > STDERR_FILENO)
		close(null);
	if (log > STDERR_FILENO)
		close(log);
	return err->code;
}

static void begin(struct session *s, const char *command, time_t when, int fd)
{
	struct err err = ERR_INIT;

	mine.on = true;
	mine.fd = fd;
	mine.log = log_path(s->repo, command, when, getpid());
	setsid();
	signal(SIGHUP, SIG_IGN);
	if (open_log(s->repo, &err)) {
		tell('E', err.msg);
		_exit(EXIT_FAILED);
	}
	close_foreign();
	setvbuf(stdout, NULL, _IOLBF, 0);
	colour_setup("never");
}

/* ---- who waits for it ---- */

struct waiting {
	const char *command;
	char *log;
	pid_t pid;
	int fd;
	bool json;
};

static void print_begun(const struct waiting *w, const char *news)
{
	const char *space = strchr(news, ' ');
	char *slug = xstrndup(news, space ? (size_t)(space - news) :
			      strlen(news));
	struct jout j;

	if (w->json) {
		jout_begin(&j);
		jout_str(&j, "kernel", space ? space + 1 : NULL);
		jout_str(&j, "search", slug);
		jout_int(&j, "pid", w->pid);
		jout_str(&j, "log", w->log);
		jout_end(&j, stdout);
	} else {
		put_clean(stdout, space ? space + 1 : slug);
		printf(": search %s runs in the background, pid %ld\n"
		       "log:    %s\n"
		       "watch:  git maxkernel status --watch %s\n"
		       "halt:   git maxkernel halt %s\n", slug, (long)w->pid,
		       w->log, slug, slug);
	}
	free(slug);
}

static int print_waiting(const struct waiting *w)
{
	struct jout j;

	say("no search has begun yet: the log tells more");
	if (w->json) {
		jout_begin(&j);
		jout_str(&j, "kernel", NULL);
		jout_str(&j, "search", NULL);
		jout_int(&j, "pid", w->pid);
		jout_str(&j, "log", w->log);
		jout_end(&j, stdout);
	} else {
		printf("pid:    %ld\nlog:    %s\n", (long)w->pid, w->log);
	}
	return EXIT_DONE;
}

/* It came to its end without a search: what it said is the answer. */
static int print_ended(const struct waiting *w, struct err *err)
{
	struct err unused = ERR_INIT;
	struct buf text = BUF_INIT;
	int st = 0, status = EXIT_FAILED;

	while (waitpid(w->pid, &st, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(st))
		status = WEXITSTATUS(st);
	if (buf_read_file(&text, w->log, MAX_LOG, &unused))
		say("see '%s'", w->log);
	else
		put_clean_lines(status > EXIT_NO ? stderr : stdout, "",
				text.ptr);
	if (WIFSIGNALED(st))
		err_set(err, ERR_SYS, "%s was ended by signal %d; see '%s'",
			w->command, WTERMSIG(st), w->log);
	else if (!unused.code)
		unlink(w->log);
	buf_release(&text);
	return status;
}

static int give_up(const struct waiting *w)
{
	double end = clock_s() + END_MS / 1000.0;

	kill(w->pid, SIGTERM);
	while (waitpid(w->pid, NULL, WNOHANG) == 0) {
		if (clock_s() > end)
			kill(w->pid, SIGKILL);
		poll(NULL, 0, 50);
	}
	return EXIT_INTERRUPTED;
}

static int wait_for(const struct waiting *w, struct err *err)
{
	double start = clock_s();
	char news[MAX_NEWS + 1];
	ssize_t n = -1;

	task_signals();
	while (n < 0 && !task_stop) {
		struct pollfd p[2] = {
			{ .fd = w->fd, .events = POLLIN },
			{ .fd = task_stop_fd, .events = POLLIN },
		};

		if (clock_s() - start > WAIT_S)
			return print_waiting(w);
		live("%s: beginning in the background, %.0f s", w->command,
		     clock_s() - start);
		if (poll(p, 2, 200) > 0 && p[0].revents)
			n = read(w->fd, news, sizeof(news) - 1);
	}
	live("%s", "");
	if (task_stop)
		return give_up(w);
	news[n] = '\0';
	if (!n)
		return print_ended(w, err);
	if (*news == 'S') {
		print_begun(w, news + 1);
		return EXIT_DONE;
	}
	err_set(err, ERR_SYS, "%s", news + 1);
	return EXIT_FAILED;
}

bool detach(struct session *s, const char *command, bool json, int *status,
	    struct err *err)
{
	struct waiting w = { .command = command, .json = json };
	time_t when = time(NULL);
	int p[2];

	*status = EXIT_FAILED;
	if (pipe2(p, O_CLOEXEC) < 0) {
		err_sys(err, "cannot make a pipe");
		return false;
	}
	fflush(stdout);
	fflush(stderr);
	w.pid = fork();
	if (!w.pid) {
		close(p[0]);
		begin(s, command, when, p[1]);
		return true;
	}
	close(p[1]);
	w.fd = p[0];
	if (w.pid < 0) {
		err_sys(err, "cannot fork");
	} else {
		w.log = log_path(s->repo, command, when, w.pid);
		*status = wait_for(&w, err);
	}
	free(w.log);
	close(p[0]);
	return false;
}
