#include "core/judge/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/judge/ctl_read.h"
#include "core/judge/jail.h"
#include "core/judge/nspace.h"
#include "core/judge/poison.h"
#include "core/mem.h"
#include "core/paths.h"

#define MAX_SO (256u << 20)
#define MAX_SHIFT 4096u
#define STACK_SIZE (8u << 20)
#define FIRST_LOOK_NS 2e7	/* at a worker that has not answered yet */
#define LAST_LOOK_NS 1e8

struct worker {
	pid_t pid;		/* 0: reaped */
	const struct layout *layout;
	struct ctl *ctl;
	unsigned char *out;
	clockid_t clock;
	double ready_ns, calls_ns, last_ns;	/* CPU */
	uint32_t threads, go;	/* go: number of the last hand-off */
	bool pair;
	enum worker_state state;
	char why[400];
	bool poisoned[LAYOUT_MAX_SLOTS];
	uint64_t salt[LAYOUT_MAX_SLOTS];
};

/* Memory files */

static int memfile(const char *name, size_t size, struct err *err)
{
	int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0)
		return err_sys(err, "cannot create memory for '%s'", name);
	if (ftruncate(fd, (off_t)size) < 0) {
		err_sys(err, "cannot size the memory for '%s'", name);
		close(fd);
		return err->code;
	}
	return fd;
}

static void *map_shared(int fd, size_t size, struct err *err)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED) {
		err_sys(err, "cannot map %zu bytes", size);
		return NULL;
	}
	return p;
}

static int seal(int fd, int more, struct err *err)
{
	if (fcntl(fd, F_ADD_SEALS,
		  F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL | more) < 0)
		return err_sys(err, "cannot seal memory");
	return 0;
}

/* Arena */

static int random_bytes(void *p, size_t n, struct err *err)
{
	if (getrandom(p, n, 0) != (ssize_t)n)
		return err_sys(err, "no random numbers");
	return 0;
}

static void fill_tables(struct arena *a)
{
	const struct layout *l = a->layout;
	size_t n = (size_t)l->slots * (size_t)l->kernel->nr_args;

	for (size_t i = 0; i < n; i++)
		memcpy(a->map + l->table_off + i * 8, &l->place[i].addr, 8);
	memcpy(a->map + l->maps_off, l->map, l->nr_maps * sizeof(*l->map));
}

int arena_open(struct arena *a, const struct layout *l, struct err *err)
{
	uint64_t salt;
	unsigned shift;

	a->layout = l;
	a->map = NULL;
	a->fd = -1;
	if (random_bytes(&salt, sizeof(salt), err) < 0 ||
	    random_bytes(&shift, sizeof(shift), err) < 0)
		return err->code;
	a->shift = shift % MAX_SHIFT;
	a->fd = memfile("inputs", l->in_size, err);
	if (a->fd < 0)
		return err->code;
	a->map = map_shared(a->fd, l->in_size, err);
	if (!a->map || seal(a->fd, F_SEAL_FUTURE_WRITE, err) < 0) {
		arena_close(a);
		return err->code;
	}
	fill_tables(a);
	poison_slack(l, a->map, salt);
	return 0;
}

void arena_close(struct arena *a)
{
	if (a->map)
		munmap(a->map, a->layout->in_size);
	if (a->fd >= 0)
		close(a->fd);
	a->map = NULL;
	a->fd = -1;
}

void *arena_in(const struct arena *a, int slot, int arg)
{
	return a->map + layout_at(a->layout, slot, arg)->off;
}

/* Starting */

struct start {			/* what the child needs; all made before fork */
	int fd[CTL_NR_FDS - CTL_FD_CTL];	/* ctl, in, out, so */
	char *path;
	char *argv[3], *envp[4];
	char threads[32];
	char shift[MAX_SHIFT + 1];
	const struct nspace *ns;
	struct ctl *ctl;
	int cpu;
};

/* The artefact as sealed memory: what was written down is what is loaded, and
 * no folder need be open to the worker's user. */
static int copy_so(const char *so, struct err *err)
{
	struct buf text = BUF_INIT;
	size_t done = 0;
	ssize_t n;
	int fd;

	if (buf_read_file(&text, so, MAX_SO, err) < 0)
		return err->code;
	fd = memfile("kernel", 0, err);
	while (fd >= 0 && done < text.len) {
		n = write(fd, text.ptr + done, text.len - done);
		if (n > 0) {
			done += (size_t)n;
		} else if (errno != EINTR) {
			err_sys(err, "cannot copy '%s'", so);
			close(fd);
			fd = err->code;
		}
	}
	buf_release(&text);
	if (fd >= 0 && seal(fd, F_SEAL_WRITE, err) < 0) {
		close(fd);
		fd = err->code;
	}
	return fd;
}

static void fill_ctl(struct ctl *c, const struct layout *l,
		     const struct worker_limits *lim)
{
	c->magic = CTL_MAGIC;
	c->sandbox_none = lim->sandbox_none;
	c->threads = lim->threads > 1 ? (uint32_t)lim->threads : 1;
	c->pair = lim->pair;
	c->nr_args = (uint32_t)l->kernel->nr_args;
	c->slots = (uint32_t)l->slots;
	c->nr_maps = (uint32_t)l->nr_maps;
	c->parent = (uint32_t)getpid();
	c->table_off = l->table_off;
	c->table_len = l->table_len;
	c->maps_off = l->maps_off;
	c->in_span = l->in_span;
	c->out_span = l->out_span;
	c->scratch = lim->scratch;
}

/* From here to exec: system calls alone. */

__attribute__((noreturn))
static void child_fail(const struct start *s, const char *what, size_t len)
{
	s->ctl->error = (uint32_t)errno;
	memcpy(s->ctl->text, what, len);
	s->ctl->stage = CTL_NO_JAIL;
	_exit(1);
}
#define CHILD_FAIL(s, what) child_fail((s), what, sizeof(what))

static void child_fds(const struct start *s)
{
	int high[CTL_NR_FDS], null = open("/dev/null", O_RDWR);

	/* First out of the way of one another. */
	high[0] = high[1] = high[2] = fcntl(null, F_DUPFD, 64);
	for (int i = CTL_FD_CTL; i < CTL_NR_FDS; i++)
		high[i] = fcntl(s->fd[i - CTL_FD_CTL], F_DUPFD, 64);
	for (int i = 0; i < CTL_NR_FDS; i++)
		if (high[i] < 0 || dup2(high[i], i) < 0)
			CHILD_FAIL(s, "cannot pass the descriptors");
	if (close_range(CTL_NR_FDS, ~0u, 0) < 0)
		CHILD_FAIL(s, "cannot close the other descriptors");
}

__attribute__((noreturn))
static void child(const struct start *s)
{
	struct rlimit stack = { STACK_SIZE, STACK_SIZE };
	sigset_t none;
	cpu_set_t cpus;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/* Out of the reach of the terminal's signals. */
	setpgid(0, 0);
	if (s->ns && nspace_enter(s->ns) < 0)
		CHILD_FAIL(s, "cannot enter the namespaces");
	if (s->cpu >= 0) {
		CPU_ZERO(&cpus);
		CPU_SET(s->cpu, &cpus);
		if (sched_setaffinity(0, sizeof(cpus), &cpus) < 0)
			CHILD_FAIL(s, "cannot pin the worker");
	}
	if (setrlimit(RLIMIT_STACK, &stack) < 0)
		CHILD_FAIL(s, "cannot limit the stack");
	/* Equal addresses in both arms; containers may refuse it. */
	personality(ADDR_NO_RANDOMIZE);
	child_fds(s);
	execve(s->path, s->argv, s->envp);
	CHILD_FAIL(s, "cannot run git-maxkernel-worker");
}

static void fill_start(struct start *s, const struct arena *in,
		       const struct worker_limits *lim)
{
	static char passive[] = "OMP_WAIT_POLICY=passive";
	static char fixed[] = "OMP_DYNAMIC=false";
	static char name[] = "git-maxkernel-worker";

	s->path = paths_exec("git-maxkernel-worker");
	s->argv[0] = name;
	/* An unused argument: it moves the stack. */
	memset(s->shift, '-', in->shift);
	s->shift[in->shift] = '\0';
	s->argv[1] = s->shift;
	s->argv[2] = NULL;
	snprintf(s->threads, sizeof(s->threads), "OMP_NUM_THREADS=%d",
		 lim->threads > 1 ? lim->threads : 1);
	s->envp[0] = s->threads;
	s->envp[1] = passive;
	s->envp[2] = fixed;
	s->envp[3] = NULL;
	s->ns = lim->sandbox_none ? NULL : nspace_get(NULL);
	s->cpu = lim->cpu;
}

/* Time */

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* The worker's CPU time; exact while it is stopped. */
static double cpu_ns(struct worker *w)
{
	struct timespec t;

	if (w->pid && !clock_gettime(w->clock, &t))
		w->last_ns = (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
	return w->last_ns;
}

/* The end of a worker */

static void release(struct worker *w)
{
	if (w->pid) {
		kill(w->pid, SIGKILL);
		while (waitpid(w->pid, NULL, 0) < 0 && errno == EINTR)
			;
		w->pid = 0;
	}
}

__attribute__((format(printf, 3, 4)))
static void end_with(struct worker *w, enum worker_state state,
		     const char *fmt, ...)
{
	va_list ap;

	release(w);
	w->state = state;
	va_start(ap, fmt);
	vsnprintf(w->why, sizeof(w->why), fmt, ap);
	va_end(ap);
}

static void why_refused(struct worker *w)
{
	struct buf text = BUF_INIT;
	struct ctl_said said;

	ctl_read(&said, w->ctl);
	ctl_refused_text(&text, &said);
	end_with(w, WORKER_CRASH, "%s", text.ptr);
	buf_release(&text);
}

/* It has ended by itself: what waitpid() said of it. */
static void died(struct worker *w, int status)
{
	const char *name;

	w->pid = 0;
	if (WIFEXITED(status)) {
		end_with(w, WORKER_CRASH, "exited with %d",
			 WEXITSTATUS(status));
		return;
	}
	if (WTERMSIG(status) == SIGSYS) {
		why_refused(w);
		return;
	}
	name = sigabbrev_np(WTERMSIG(status));
	if (name)
		end_with(w, WORKER_CRASH, "killed by SIG%s", name);
	else
		end_with(w, WORKER_CRASH, "killed by signal %d",
			 WTERMSIG(status));
}

/* Hand-off */

static bool is_dead(struct worker *w)
{
	int status;

	if (waitpid(w->pid, &status, WNOHANG) != w->pid)
		return false;
	died(w, status);
	return true;
}

/*
 * waitpid() for a stop.  The leader of several threads may have ended while
 * others go on, and then says nothing for ever; hence the time-out.
 */
static pid_t wait_stop(struct worker *w, int *status)
{
	const struct timespec tick = { 0, 100000000 };
	sigset_t chld, old;
	pid_t pid = 0;

	if (w->threads < 2 && !w->pair) {
		do
			pid = waitpid(w->pid, status, WUNTRACED);
		while (pid < 0 && errno == EINTR);
		return pid;
	}
	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	sigprocmask(SIG_BLOCK, &chld, &old);
	for (int i = 0; i < 100 && !pid; i++) {
		pid = waitpid(w->pid, status, WUNTRACED | WNOHANG);
		if (!pid)
			sigtimedwait(&chld, NULL, &tick);
	}
	sigprocmask(SIG_SETMASK, &old, NULL);
	return pid;
}

static void stop(struct worker *w)
{
	int status = 0;
	pid_t pid;

	kill(w->pid, SIGSTOP);
	pid = wait_stop(w, &status);
	if (pid != w->pid)
		end_with(w, WORKER_CRASH, "could not be stopped");
	else if (!WIFSTOPPED(status))
		died(w, status);
}

static void futex_wait(uint32_t *word, uint32_t value, double ns)
{
	struct timespec t;

	t.tv_sec = (time_t)(ns / 1e9);
	t.tv_nsec = (long)(ns - (double)t.tv_sec * 1e9);
	syscall(SYS_futex, word, FUTEX_WAIT, value, &t, NULL, 0);
}

/*
 * Out of time?  A worker that did not get the processor is given up to four
 * times as long.
 */
static bool is_late(struct worker *w, double start_wall, double start_cpu,
		    double limit_ns)
{
	double wall = now_ns() - start_wall;

	return wall >= 4 * limit_ns ||
	       (wall >= limit_ns && cpu_ns(w) - start_cpu >= limit_ns / 2);
}

/*
 * Until *word is no longer `from` (true), or it is dead or late (false).  The
 * first look is late: on a shared core each one interrupts the kernel that is
 * timed, which costs a call of 2 ms one part in a hundred.
 */
static bool await(struct worker *w, uint32_t *word, uint32_t from,
		  double start_wall, double start_cpu, double limit_s)
{
	double slice = FIRST_LOOK_NS;

	while (__atomic_load_n(word, __ATOMIC_SEQ_CST) == from) {
		futex_wait(word, from, slice);
		if (__atomic_load_n(word, __ATOMIC_SEQ_CST) != from)
			break;
		if (is_dead(w))
			return false;
		if (is_late(w, start_wall, start_cpu, limit_s * 1e9)) {
			end_with(w, WORKER_TIMEOUT, "no answer in %.1f s",
				 limit_s);
			return false;
		}
		slice = slice < LAST_LOOK_NS ? 2 * slice : slice;
	}
	return true;
}

/* It said something other than "ready": a result, or the jail's failure. */
static int not_ready(struct worker *w, const struct ctl_said *said,
		     struct err *err)
{
	struct buf text = BUF_INIT;

	ctl_start_text(&text, said);
	if (said->stage == CTL_NO_LOAD) {
		end_with(w, WORKER_CRASH, "it does not load: %s", text.ptr);
		buf_release(&text);
		return 0;
	}
	end_with(w, WORKER_CRASH, "not started");
	err_set(err, ERR_SYS, "cannot %s a worker: %s",
		said->error ? "start" : "jail", text.ptr);
	buf_release(&text);
	return err->code;
}

static int wait_ready(struct worker *w, double load_s, struct err *err)
{
	struct ctl_said said;
	bool told;

	told = await(w, &w->ctl->stage, CTL_STARTING, now_ns(), 0, load_s);
	ctl_read(&said, w->ctl);
	/* It may have spoken and died since. */
	if (said.stage == CTL_NO_JAIL || said.stage == CTL_NO_LOAD)
		return not_ready(w, &said, err);
	if (!told)
		return 0;
	stop(w);
	w->ready_ns = cpu_ns(w);
	return 0;
}

static int open_memory(struct worker *w, struct start *s,
		       const struct worker_limits *lim, struct err *err)
{
	size_t ctl_size = (size_t)sysconf(_SC_PAGESIZE);

	s->fd[0] = memfile("control", ctl_size, err);
	if (s->fd[0] < 0)
		return err->code;
	w->ctl = map_shared(s->fd[0], ctl_size, err);
	if (!w->ctl || seal(s->fd[0], 0, err) < 0)
		return err->code;
	s->fd[2] = memfile("outputs", w->layout->out_size, err);
	if (s->fd[2] < 0)
		return err->code;
	w->out = map_shared(s->fd[2], w->layout->out_size, err);
	if (!w->out || seal(s->fd[2], 0, err) < 0)
		return err->code;
	fill_ctl(w->ctl, w->layout, lim);
	s->ctl = w->ctl;
	return 0;
}

static int launch(struct worker *w, const struct start *s, struct err *err)
{
	struct sigaction sa;

	/* With SIGCHLD ignored, children could not be waited for. */
	if (!sigaction(SIGCHLD, NULL, &sa) && sa.sa_handler == SIG_IGN)
		signal(SIGCHLD, SIG_DFL);
	w->pid = fork();
	if (!w->pid)
		child(s);
	if (w->pid < 0) {
		w->pid = 0;
		return err_sys(err, "cannot fork");
	}
	if (clock_getcpuclockid(w->pid, &w->clock))
		return err_set(err, ERR_SYS, "no CPU clock of a process");
	return 0;
}

int worker_start(struct worker **out, const char *so, const struct arena *in,
		 const struct worker_limits *lim, struct err *err)
{
	struct worker *w = xcalloc(1, sizeof(*w));
	struct start *s = xcalloc(1, sizeof(*s));
	int ret;

	*out = NULL;
	w->layout = in->layout;
	w->threads = lim->threads > 1 ? (uint32_t)lim->threads : 1;
	w->pair = lim->pair;
	s->fd[0] = s->fd[2] = s->fd[3] = -1;
	s->fd[1] = in->fd;
	fill_start(s, in, lim);
	ret = access(s->path, X_OK) < 0 ?
	      err_sys(err, "cannot run '%s'", s->path) : 0;
	if (!ret) {
		s->fd[3] = copy_so(so, err);
		ret = s->fd[3] < 0 ? err->code : 0;
	}
	if (!ret)
		ret = open_memory(w, s, lim, err);
	if (!ret)
		ret = launch(w, s, err);
	for (int i = 0; i < 4; i++)
		if (i != 1 && s->fd[i] >= 0)
			close(s->fd[i]);
	free(s->path);
	free(s);
	if (!ret)
		ret = wait_ready(w, lim->load_s, err);
	if (ret) {
		worker_end(w);
		return ret;
	}
	*out = w;
	return 0;
}

void worker_end(struct worker *w)
{
	if (!w)
		return;
	release(w);
	if (w->out)
		munmap(w->out, w->layout->out_size);
	if (w->ctl)
		munmap(w->ctl, (size_t)sysconf(_SC_PAGESIZE));
	free(w);
}

/* Outputs */

void *worker_out(const struct worker *w, int slot, int arg)
{
	return w->out + layout_at(w->layout, slot, arg)->off;
}

void worker_poison(struct worker *w, int first, int n, uint64_t salt)
{
	for (int s = first; s < first + n; s++) {
		w->salt[s] = salt;
		w->poisoned[s] = true;
		poison_slot(w->layout, w->out, s, salt);
	}
}

int worker_untouched(struct worker *w, int first, int n, int *arg,
		     int64_t *elem)
{
	for (int s = first; s < first + n; s++)
		if (w->poisoned[s] &&
		    !poison_gone(w->layout, w->out, s, w->salt[s], arg, elem))
			return 1;
	return 0;
}

/* Calls */

static void check_fp(struct worker *w)
{
	struct ctl_said said;

	ctl_read(&said, w->ctl);
	if (ctl_fp_changed(&said))
		end_with(w, WORKER_CHEAT, "floating-point mode changed");
}

static void hand_off(struct worker *w, enum ctl_mode mode, int first, int n,
		     double timeout_s, struct call_time *t)
{
	struct ctl *c = w->ctl;
	double cpu0, wall0;
	uint32_t was;

	c->mode = mode;
	c->first = (uint32_t)first;
	c->n = (uint32_t)n;
	was = w->go++;
	c->done = was;
	cpu0 = cpu_ns(w);
	wall0 = now_ns();
	__atomic_store_n(&c->go, w->go, __ATOMIC_SEQ_CST);
	/* A stopped worker left its futex, and looks at the word again. */
	kill(w->pid, SIGCONT);
	if (!await(w, &c->done, was, wall0, cpu0, timeout_s))
		return;
	stop(w);
	t->wall_ns = now_ns() - wall0;
	t->cpu_ns = cpu_ns(w) - cpu0;
	w->calls_ns += t->cpu_ns;
	if (w->state == WORKER_OK)
		check_fp(w);
}

static int check_slots(const struct worker *w, int first, int n,
		       struct err *err)
{
	if (first < 0 || n < 1 || n > w->layout->slots - first)
		return err_set(err, ERR_LIMIT, "no slots %d to %d", first,
			       first + n - 1);
	return 0;
}

int worker_call(struct worker *w, int first, int n, bool empty,
		double timeout_s, struct call_time *t,
		enum worker_state *state, struct err *err)
{
	t->cpu_ns = t->wall_ns = 0;
	if (check_slots(w, first, n, err) < 0)
		return err->code;
	if (w->state == WORKER_OK)
		hand_off(w, empty ? CTL_EMPTY : CTL_CALL, first, n, timeout_s,
			 t);
	*state = w->state;
	return 0;
}

int worker_pair(struct worker *w, int a, int b, double timeout_s,
		enum worker_state *state, struct err *err)
{
	struct call_time t;

	if (!w->pair)
		return err_set(err, ERR_LIMIT, "the worker has one thread");
	if (check_slots(w, a, 1, err) < 0 || check_slots(w, b, 1, err) < 0)
		return err->code;
	if (w->state == WORKER_OK)
		hand_off(w, CTL_PAIR, a, b, timeout_s, &t);
	*state = w->state;
	return 0;
}

const char *worker_why(const struct worker *w)
{
	return w->why;
}

enum worker_state worker_state(const struct worker *w)
{
	return w->state;
}

double worker_unaccounted_ns(const struct worker *w)
{
	struct timespec t;
	double total = w->last_ns;

	if (w->pid && !clock_gettime(w->clock, &t))
		total = (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
	return total - w->ready_ns - w->calls_ns;
}

/* What can be had here */

enum { PROBE_LANDLOCK = 2, PROBE_LEAK, PROBE_TSC, PROBE_SECCOMP, PROBE_CALL };

__attribute__((noreturn))
static void probe_child(int parent)
{
	const struct rlimit none = { 0, 0 };

	signal(SIGSYS, SIG_DFL);
	setrlimit(RLIMIT_CORE, &none);
	if (jail_lock_privileges(parent) < 0)
		_exit(PROBE_SECCOMP);
	if (jail_files(NULL, 0) < 0)
		_exit(PROBE_LANDLOCK);
	if (open("/", O_RDONLY | O_DIRECTORY) >= 0)
		_exit(PROBE_LEAK);
	if (jail_no_clock() < 0)
		_exit(PROBE_TSC);
	if (jail_syscalls_compute(false) < 0)
		_exit(PROBE_SECCOMP);
	syscall(SYS_socket, 1, 1, 0);
	_exit(PROBE_CALL);
}

/* 0 if a jail holds, else PROBE_*. */
static int probe(void)
{
	int status, parent = getpid();
	pid_t pid = fork();

	if (!pid)
		probe_child(parent);
	if (pid < 0)
		return PROBE_SECCOMP;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return PROBE_SECCOMP;
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS)
		return 0;
	return WIFEXITED(status) ? WEXITSTATUS(status) : PROBE_CALL;
}

const char *sandbox_level(struct buf *why)
{
	static const char *const reason[] = {
		[PROBE_LANDLOCK] = "no Landlock in this kernel",
		[PROBE_LEAK] = "Landlock lets files be opened",
		[PROBE_TSC] = "the time stamp counter can't be switched off",
		[PROBE_SECCOMP] = "no seccomp filters here",
		[PROBE_CALL] = "seccomp lets refused calls through",
	};
	int code = probe();

	if (!code)
		return nspace_get(why) ? "S3" : "S2";
	buf_addstr(why, code >= PROBE_LANDLOCK && code <= PROBE_CALL ?
		   reason[code] : "the probe failed");
	return "none";
}

enum verdict worker_verdict(enum worker_state s)
{
	switch (s) {
	case WORKER_TIMEOUT:
		return V_TIMEOUT;
	case WORKER_CHEAT:
		return V_CHEAT;
	default:
		return V_CRASH;
	}
}
