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

#define EXIT_GRACE_MS 2000	/* from asking it to end to killing it */
#define LOOK_MS 200		/* how often to see if it has ended */

enum { IN, OUT, ERRORS, PIPES };

struct child {
	pid_t pid;
	bool session;		/* leads a session of its own */
	int fd[PIPES];		/* our ends; -1: closed */
	struct buf line;	/* of stderr, so far */
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

static bool has_terminal(void)
{
	int fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);

	if (fd < 0)
		return false;
	close(fd);
	return true;
}

static bool replaced(const char *entry, bool asks)
{
	static const char *const ours[] = {
		"LC_ALL=", "LANGUAGE=", "GIT_TERMINAL_PROMPT=",
		"SSH_ASKPASS_REQUIRE="
	};

	for (size_t i = 0; i < (asks ? 2 : ARRAY_SIZE(ours)); i++)
		if (!strncmp(entry, ours[i], strlen(ours[i])))
			return true;
	return false;
}

/* Our environment with what git is to see otherwise. */
static void make_environ(struct strv *env, bool asks)
{
	for (char **e = environ; *e; e++)
		if (!replaced(*e, asks))
			strv_push(env, *e);
	strv_push(env, "LC_ALL=C");
	if (!asks) {
		strv_push(env, "GIT_TERMINAL_PROMPT=0");
		strv_push(env, "SSH_ASKPASS_REQUIRE=never");
	}
}

/* theirs[i]: the child's ends, to become 0, 1 and 2 in it. */
static int start(struct child *c, char **argv, int *theirs, bool asks,
		 struct err *err)
{
	posix_spawn_file_actions_t actions;
	struct strv env = STRV_INIT;
	posix_spawnattr_t attr;
	sigset_t none, dfl;
	int rc;

	sigemptyset(&none);
	sigemptyset(&dfl);
	sigaddset(&dfl, SIGPIPE);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &dfl);
	posix_spawnattr_setflags(&attr, (short)(POSIX_SPAWN_SETSIGMASK |
				 POSIX_SPAWN_SETSIGDEF |
				 (c->session ? POSIX_SPAWN_SETSID : 0)));
	posix_spawn_file_actions_init(&actions);
	for (int i = 0; i < PIPES; i++)
		posix_spawn_file_actions_adddup2(&actions, theirs[i], i);
	make_environ(&env, asks);
	rc = posix_spawnp(&c->pid, argv[0], &actions, &attr, argv,
			  strv_argv(&env));
	strv_release(&env);
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

static int drain_output(struct child *c, struct git_run *run,
			struct err *err)
{
	char chunk[16384];
	ssize_t n = read(c->fd[OUT], chunk, sizeof(chunk));

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n <= 0) {
		shut(&c->fd[OUT]);
		return 0;
	}
	if (buf_add_max(&run->out, chunk, (size_t)n, GIT_MAX_OUTPUT))
		return 0;
	return err_set(err, ERR_LIMIT, "git printed more than %u bytes",
		       GIT_MAX_OUTPUT);
}

/* Tells of the lines that are complete; progress ends in '\r'. */
static void tell(struct child *c, struct git_run *run, const char *text,
		 size_t len)
{
	struct buf clean = BUF_INIT;

	for (size_t i = 0; run->said && i < len; i++) {
		if (text[i] != '\n' && text[i] != '\r') {
			if (c->line.len < GIT_MAX_ERRORS)
				buf_addch(&c->line, text[i]);
			continue;
		}
		buf_reset(&clean);
		buf_add_clean(&clean, c->line.ptr, c->line.len, false);
		if (clean.len)
			run->said(run->ctx, clean.ptr);
		buf_reset(&c->line);
	}
	buf_release(&clean);
}

static void drain_errors(struct child *c, struct git_run *run)
{
	char chunk[4096];
	ssize_t n = read(c->fd[ERRORS], chunk, sizeof(chunk));

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		shut(&c->fd[ERRORS]);
		return;
	}
	buf_add(&run->errors, chunk, (size_t)n);
	if (run->errors.len > GIT_MAX_ERRORS)
		buf_splice(&run->errors, 0, run->errors.len - GIT_MAX_ERRORS,
			   "", 0);
	tell(c, run, chunk, (size_t)n);
}

/* A child of git that stays behind keeps our pipes open. */
static bool has_ended(const struct child *c)
{
	siginfo_t info;

	memset(&info, 0, sizeof(info));
	return waitid(P_PID, (id_t)c->pid, &info,
		      WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid;
}

static int wait_ms(long long left, bool limited)
{
	return limited && left < LOOK_MS ? (int)left : LOOK_MS;
}

static int talk(struct child *c, struct git_run *run, struct err *err)
{
	long long end = now_ms() + run->timeout_ms;
	size_t sent = 0;
	bool ended = false;
	int ret = 0;

	while (!ret && (c->fd[OUT] >= 0 || c->fd[ERRORS] >= 0)) {
		struct pollfd p[PIPES + 1] = {
			{ c->fd[IN], POLLOUT, 0 },
			{ c->fd[OUT], POLLIN, 0 },
			{ c->fd[ERRORS], POLLIN, 0 },
			{ run->stop_fd > 0 ? run->stop_fd : -1, POLLIN, 0 },
		};
		long long left = end - now_ms();
		int nr;

		if (run->timeout_ms && left <= 0)
			return err_set(err, ERR_LIMIT, "git took longer than "
				       "%d ms", run->timeout_ms);
		nr = poll(p, PIPES + 1, ended ? 0 : wait_ms(left,
							run->timeout_ms > 0));
		if (nr < 0 && errno != EINTR)
			return err_sys(err, "cannot wait for git");
		if (nr > 0 && p[PIPES].revents)
			return err_set(err, ERR_STOPPED, "interrupted");
		if (nr > 0 && p[IN].revents)
			feed(c, run, &sent);
		if (nr > 0 && p[OUT].revents)
			ret = drain_output(c, run, err);
		if (nr > 0 && p[ERRORS].revents)
			drain_errors(c, run);
		if (nr == 0 && ended)
			break;
		ended = nr == 0 && has_ended(c);
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

/* Asks git, and in a session of its own its children too, to end. */
static void put_down(const struct child *c)
{
	pid_t whom = c->session ? -c->pid : c->pid;
	struct timespec pause = { 0, 20000000L };

	kill(whom, SIGTERM);
	for (int ms = 0; ms < EXIT_GRACE_MS && !has_ended(c); ms += 20)
		nanosleep(&pause, NULL);
	kill(whom, SIGKILL);
}

static int run_argv(char **argv, struct git_run *run, struct err *err)
{
	struct child c = { -1, false, { -1, -1, -1 }, BUF_INIT };
	int theirs[PIPES] = { -1, -1, -1 };
	struct sigaction ignore = { .sa_handler = SIG_IGN }, old;
	bool asks = run->may_ask && has_terminal();
	int ret = open_pipes(&c, theirs, run->input != NULL, err);

	c.session = !asks;
	if (!ret)
		ret = start(&c, argv, theirs, asks, err);
	for (int i = 0; i < PIPES; i++)
		shut(&theirs[i]);
	if (!ret) {
		sigaction(SIGPIPE, &ignore, &old);
		ret = talk(&c, run, err);
		sigaction(SIGPIPE, &old, NULL);
		if (ret < 0)
			put_down(&c);
		reap(&c, run);
	}
	for (int i = 0; i < PIPES; i++)
		shut(&c.fd[i]);
	buf_release(&c.line);
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

static bool worth_telling(const char *line, size_t len)
{
	static const char *const skip[] = {
		"hint:", "To ", "From ", "remote: Enumerating", "remote: Counting",
		"remote: Compressing", "remote: Total", "Enumerating objects",
		"Counting objects", "Compressing objects", "Writing objects",
		"Delta compression", "Total ", "Receiving objects",
		"Resolving deltas", "Unpacking objects",
	};

	for (size_t i = 0; i < ARRAY_SIZE(skip); i++)
		if (len >= strlen(skip[i]) &&
		    !strncmp(line, skip[i], strlen(skip[i])))
			return false;
	return len > 0;
}

void git_run_words(const struct git_run *run, struct buf *out)
{
	const char *p = run->errors.ptr, *end = p + run->errors.len;

	while (p < end) {
		size_t len = strcspn(p, "\n\r");

		if (worth_telling(p, len)) {
			size_t head = !strncmp(p, "fatal: ", 7) ||
				      !strncmp(p, "error: ", 7) ? 7 : 0;

			head = head > len ? 0 : head;
			if (out->len)
				buf_addstr(out, "; ");
			buf_add_clean(out, p + head, len - head, false);
		}
		p += len + 1;
	}
}

/* git's complaint on one clean line. */
static int complain(struct git_run *run, struct err *err)
{
	struct buf text = BUF_INIT;

	git_run_words(run, &text);
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

int git_refs_delete(struct repo *r, const struct strv *names,
		    const struct oid *ids, struct err *err)
{
	struct strv args = STRV_INIT;
	struct buf input = BUF_INIT;
	struct git_run run = { .args = &args };
	int ret;

	if (!names->nr)
		return 0;
	strv_push(&args, "update-ref");
	strv_push(&args, "--no-deref");
	strv_push(&args, "--stdin");
	buf_addstr(&input, "start\n");
	for (size_t i = 0; i < names->nr; i++)
		buf_addf(&input, "delete %s %s\n", names->v[i],
			 oid_text(&ids[i]).s);
	buf_addstr(&input, "commit\n");
	run.input = input.ptr;
	run.input_len = input.len;
	ret = git_run(r, &run, err);
	if (!ret && run.status)
		ret = complain(&run, err);
	git_run_release(&run);
	strv_release(&args);
	buf_release(&input);
	return ret;
}
