/*
 * The worker: maps the arguments of a launch, jails itself, loads one
 * artefact and calls it when the judge says so.  It has no channel to anyone
 * but the outputs and the control page.  From the moment the artefact is
 * called this process belongs to it; nothing here defends itself against
 * that, and nothing that it says is believed.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/judge/ctl.h"
#include "core/judge/jail.h"

#define STACK_SIZE (8u << 20)
#define MEMORY_SLACK (16ull << 20)	/* over scratch and stack */

static struct ctl conf;			/* as it was before the artefact */
static struct ctl *const ctl = (struct ctl *)CTL_PAGE;
static void *const *const table = (void *const *)CTL_TABLE;
static void (*kernel_call)(void *const *arg);

/* Slot for the helper of a paired call. */
enum { HELPER_IDLE = -1, HELPER_STARTING = -2 };
static _Atomic int helper_slot = HELPER_STARTING;

static void futex(void *word, int op, uint32_t value)
{
	syscall(SYS_futex, word, op, value, NULL, NULL, 0);
}

static void set_stage(enum ctl_stage stage)
{
	__atomic_store_n(&ctl->stage, (uint32_t)stage, __ATOMIC_SEQ_CST);
	futex(&ctl->stage, FUTEX_WAKE, 1);
}

__attribute__((noreturn, format(printf, 2, 3)))
static void give_up(enum ctl_stage stage, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(ctl->text, sizeof(ctl->text), fmt, ap);
	va_end(ap);
	set_stage(stage);
	_exit(1);
}

__attribute__((noreturn))
static void no_jail(const char *what)
{
	give_up(CTL_NO_JAIL, "%s: %s", what, strerror(errno));
}

/* Memory */

static void map_ctl(void)
{
	void *p = mmap(ctl, sizeof(*ctl), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_FIXED_NOREPLACE, CTL_FD_CTL, 0);

	if (p != (void *)ctl || ctl->magic != CTL_MAGIC)
		_exit(1);
	conf = *ctl;
}

static void reserve(uint64_t addr, uint64_t len)
{
	void *p = mmap((void *)addr, len, PROT_NONE, MAP_PRIVATE |
		       MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE,
		       -1, 0);

	if (p != (void *)addr)
		no_jail("cannot reserve the address space");
}

/* Populated, so that no page fault is timed. */
static void map_pages(uint64_t addr, uint64_t len, int fd, uint64_t off,
		      int prot)
{
	void *p = mmap((void *)addr, len, prot,
		       MAP_SHARED | MAP_FIXED | MAP_POPULATE, fd, (off_t)off);

	if (p != (void *)addr)
		no_jail("cannot map the arguments");
}

static void map_arguments(void)
{
	uint64_t len = conf.nr_maps * sizeof(struct ctl_map);
	const struct ctl_map *map;

	map = mmap(NULL, len, PROT_READ, MAP_SHARED, CTL_FD_IN,
		   (off_t)conf.maps_off);
	if (map == MAP_FAILED)
		no_jail("cannot map the arguments");
	reserve(CTL_IN, conf.in_span);
	reserve(CTL_OUT, conf.out_span);
	for (uint32_t i = 0; i < conf.nr_maps; i++)
		map_pages(map[i].addr, map[i].len,
			  map[i].out ? CTL_FD_OUT : CTL_FD_IN, map[i].off,
			  map[i].out ? PROT_READ | PROT_WRITE : PROT_READ);
	map_pages(CTL_TABLE, conf.table_len, CTL_FD_IN, conf.table_off,
		  PROT_READ);
	munmap((void *)map, len);
}

/* The jail */

static void limit(__rlimit_resource_t what, rlim_t n)
{
	struct rlimit r = { n, n };

	if (setrlimit(what, &r) < 0)
		no_jail("cannot set a limit");
}

static void set_limits(void)
{
	limit(RLIMIT_CORE, 0);
	limit(RLIMIT_FSIZE, 0);
	limit(RLIMIT_NOFILE, 16);
	limit(RLIMIT_MEMLOCK, 0);
	limit(RLIMIT_MSGQUEUE, 0);
	/* The judge has the true time-outs; this is for when it is gone. */
	limit(RLIMIT_CPU, 3600);
	if (conf.threads < 2 && !conf.pair)
		limit(RLIMIT_NPROC, 0);
}

static void lock_files(void)
{
	static const struct jail_path libraries[] = {
		{ "/lib", JAIL_READ }, { "/lib64", JAIL_READ },
		{ "/usr/lib", JAIL_READ }, { "/usr/lib64", JAIL_READ },
		{ "/etc/ld.so.cache", JAIL_READ },
	};

	if (jail_files(libraries, sizeof(libraries) / sizeof(*libraries)) < 0)
		no_jail("Landlock");
}

/* From what there is now, what the kernel may add. */
static void limit_memory(int statm)
{
	char text[64];
	ssize_t n = statm < 0 ? -1 : read(statm, text, sizeof(text) - 1);
	unsigned long long pages;

	if (n <= 0)
		no_jail("cannot read the size of the process");
	text[n] = '\0';
	pages = strtoull(text, NULL, 10);
	limit(RLIMIT_AS, pages * (unsigned long)sysconf(_SC_PAGESIZE) +
			 conf.scratch + STACK_SIZE + MEMORY_SLACK);
}

/* Notes which call was refused.  The signal is blocked here, so that the
 * next refused call kills the process, for the same reason. */
static void on_refused(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)context;
	ctl->syscall = 1 + (uint32_t)info->si_syscall;
	for (;;)
		syscall(SYS_ptrace, 0, 0, 0, 0);
}

static void catch_refused(void)
{
	struct sigaction sa;

	memset(&sa, 0, sizeof(sa));
	sa.sa_sigaction = on_refused;
	sa.sa_flags = SA_SIGINFO;
	if (sigaction(SIGSYS, &sa, NULL) < 0)
		no_jail("cannot catch SIGSYS");
}

static void lock_first(void)
{
	bool threads = conf.threads > 1 || conf.pair;

	if (jail_drop_root() < 0)
		no_jail("cannot drop the rights of root");
	set_limits();
	if (jail_lock_privileges((int)conf.parent) < 0)
		no_jail("cannot lock the privileges");
	/* All threads in one arena: others would need mprotect() to grow. */
	mallopt(M_ARENA_MAX, 1);
	if (conf.sandbox_none)
		return;
	lock_files();
	if (jail_syscalls_load(threads) < 0)
		no_jail("seccomp");
}

static void lock_last(int statm, int maps)
{
	bool threads = conf.threads > 1 || conf.pair;

	limit_memory(statm);
	if (!conf.sandbox_none)
		jail_no_vdso(maps);
	close_range(3, ~0u, 0);
	if (conf.sandbox_none)
		return;
	catch_refused();
	if (jail_syscalls_compute(threads) < 0)
		no_jail("seccomp");
}

/* The artefact */

static void load(void)
{
	char path[32];
	void *so;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", CTL_FD_SO);
	so = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!so)
		give_up(CTL_NO_LOAD, "%s", dlerror());
	*(void **)&kernel_call = dlsym(so, "mk_call");
	if (!kernel_call)
		give_up(CTL_NO_LOAD, "it has no mk_call");
}

static void pool_member(void *unused)
{
	(void)unused;
}

/* OpenMP's threads, made while threads can still be made.  The artefact, of
 * which nothing has run yet, uses the same libgomp and so the same pool. */
static void make_pool(void)
{
	void (*parallel)(void (*)(void *), void *, unsigned, unsigned);
	void *gomp;

	if (conf.threads < 2)
		return;
	gomp = dlopen("libgomp.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!gomp)
		return;		/* then the artefact does not use it */
	*(void **)&parallel = dlsym(gomp, "GOMP_parallel");
	if (parallel)
		parallel(pool_member, NULL, conf.threads, 0);
}

/* Calls */

static void set_fp(void)
{
#if defined(__x86_64__)
	uint32_t mxcsr = CTL_MXCSR;
	uint16_t cw = CTL_FPCW;

	__asm__ volatile("ldmxcsr %0\n\tfldcw %1" : : "m"(mxcsr), "m"(cw));
#else
	__asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)CTL_MXCSR));
#endif
}

static void note_fp(void)
{
#if defined(__x86_64__)
	uint32_t mxcsr;
	uint16_t cw;

	__asm__ volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(mxcsr), "=m"(cw));
	ctl->mxcsr = mxcsr;
	ctl->fpcw = cw;
#else
	uint64_t fpcr;

	__asm__ volatile("mrs %0, fpcr" : "=r"(fpcr));
	ctl->mxcsr = (uint32_t)fpcr;
	ctl->fpcw = 0;
#endif
}

/* Says that the helper waits for a slot. */
static void helper_done(void)
{
	atomic_store(&helper_slot, HELPER_IDLE);
	futex(&helper_slot, FUTEX_WAKE_PRIVATE, 1);
}

static void helper_await(int slot)
{
	while (atomic_load(&helper_slot) == slot)
		futex(&helper_slot, FUTEX_WAIT_PRIVATE, (uint32_t)slot);
}

static void *helper(void *unused)
{
	int slot;

	helper_done();
	for (;;) {
		slot = atomic_load(&helper_slot);
		if (slot < 0) {
			futex(&helper_slot, FUTEX_WAIT_PRIVATE,
			      (uint32_t)slot);
			continue;
		}
		set_fp();
		kernel_call(table + (size_t)slot * conf.nr_args);
		helper_done();
	}
	return unused;
}

static void make_helper(void)
{
	pthread_attr_t attr;
	pthread_t thread;

	if (!conf.pair)
		return;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	if (pthread_create(&thread, &attr, helper, NULL))
		no_jail("cannot make a second thread");
	/* What libc calls on the way to it is refused later. */
	helper_await(HELPER_STARTING);
}

/* Both at once: the helper calls slot b while we call slot a. */
static void call_pair(uint32_t a, uint32_t b)
{
	int slot = (int)b;

	atomic_store(&helper_slot, slot);
	futex(&helper_slot, FUTEX_WAKE_PRIVATE, 1);
	kernel_call(table + (size_t)a * conf.nr_args);
	helper_await(slot);
}

__attribute__((noinline))
static void call_nothing(void *const *arg)
{
	__asm__ volatile("" : : "r"(arg));
}

static void call_batch(void (*call)(void *const *), uint32_t first,
		       uint32_t n)
{
	void *const *arg = table + (size_t)first * conf.nr_args;

	for (uint32_t i = 0; i < n; i++, arg += conf.nr_args)
		call(arg);
}

static void serve(void)
{
	uint32_t seen = 0, go;

	for (;;) {
		go = __atomic_load_n(&ctl->go, __ATOMIC_SEQ_CST);
		if (go == seen) {
			futex(&ctl->go, FUTEX_WAIT, seen);
			continue;
		}
		seen = go;
		set_fp();
		if (ctl->mode == CTL_PAIR)
			call_pair(ctl->first, ctl->n);
		else
			call_batch(ctl->mode == CTL_EMPTY ? call_nothing :
				   kernel_call, ctl->first, ctl->n);
		note_fp();
		__atomic_store_n(&ctl->done, go, __ATOMIC_SEQ_CST);
		futex(&ctl->done, FUTEX_WAKE, 1);
	}
}

int main(void)
{
	int statm, maps;

	map_ctl();
	map_arguments();
	statm = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	lock_first();
	load();
	if (!conf.sandbox_none && jail_no_clock() < 0)
		no_jail("cannot switch the time stamp counter off");
	make_pool();
	make_helper();
	lock_last(statm, maps);
	set_stage(CTL_READY);
	serve();
}
