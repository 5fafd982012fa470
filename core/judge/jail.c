#include "core/judge/jail.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/judge/ctl.h"

#define NOBODY 65534

#ifndef SECCOMP_RET_KILL_PROCESS
#define SECCOMP_RET_KILL_PROCESS 0x80000000u
#endif

/* Rights and fields of later versions than the headers here may know. */
#define FS_ABI1 0x1fffu			/* execute .. make_sym */
#define FS_REFER (1u << 13)
#define FS_TRUNCATE (1u << 14)
#define FS_IOCTL_DEV (1u << 15)
#define NET_TCP 3u			/* bind, connect */
#define SCOPE_ALL 3u			/* abstract sockets, signals */
#define FS_READ (LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | \
		 LANDLOCK_ACCESS_FS_READ_DIR)
#define FS_OF_FILE (LANDLOCK_ACCESS_FS_EXECUTE | \
		    LANDLOCK_ACCESS_FS_READ_FILE | \
		    LANDLOCK_ACCESS_FS_WRITE_FILE | FS_TRUNCATE)

struct ruleset {
	uint64_t fs, net, scoped;
};

int jail_landlock_abi(void)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0,
			   LANDLOCK_CREATE_RULESET_VERSION);

	return abi < 0 ? 0 : (int)abi;
}

static int add_path(int ruleset, const struct jail_path *p, uint64_t handled)
{
	struct landlock_path_beneath_attr rule = { 0, -1 };
	struct stat st;
	int ret, saved;

	rule.parent_fd = open(p->path, O_PATH | O_CLOEXEC);
	if (rule.parent_fd < 0)
		return errno == ENOENT || errno == ENOTDIR ? 0 : -1;
	rule.allowed_access = p->access == JAIL_WRITE ?
		handled & ~(uint64_t)(LANDLOCK_ACCESS_FS_MAKE_CHAR |
				      LANDLOCK_ACCESS_FS_MAKE_BLOCK |
				      LANDLOCK_ACCESS_FS_MAKE_SOCK) :
		FS_READ;
	ret = fstat(rule.parent_fd, &st);
	if (!ret && !S_ISDIR(st.st_mode))
		rule.allowed_access &= FS_OF_FILE & handled;
	if (!ret)
		ret = (int)syscall(SYS_landlock_add_rule, ruleset,
				   LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
	saved = errno;
	close(rule.parent_fd);
	errno = saved;
	return ret;
}

int jail_files(const struct jail_path *path, size_t nr)
{
	struct ruleset attr = { FS_ABI1, 0, 0 };
	int abi = jail_landlock_abi(), fd, ret = 0, saved;

	if (!abi)
		return -1;
	if (abi >= 2)
		attr.fs |= FS_REFER;
	if (abi >= 3)
		attr.fs |= FS_TRUNCATE;
	if (abi >= 4)
		attr.net = NET_TCP;
	if (abi >= 5)
		attr.fs |= FS_IOCTL_DEV;
	if (abi >= 6)
		attr.scoped = SCOPE_ALL;
	/* Longer than an old kernel's own, but zero there: it takes that. */
	fd = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);
	if (fd < 0)
		return -1;
	for (size_t i = 0; i < nr && !ret; i++)
		ret = add_path(fd, &path[i], attr.fs);
	if (!ret)
		ret = (int)syscall(SYS_landlock_restrict_self, fd, 0);
	saved = errno;
	close(fd);
	errno = saved;
	return ret;
}

int jail_lock_privileges(int parent)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 ||
	    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
		return -1;
	if (getppid() == parent)
		return 0;
	errno = EPERM;
	return -1;
}

int jail_drop_root(void)
{
	if (geteuid())
		return 0;
	if (setgroups(0, NULL) < 0 || setresgid(NOBODY, NOBODY, NOBODY) < 0 ||
	    setresuid(NOBODY, NOBODY, NOBODY) < 0)
		return -1;
	return 0;
}

int jail_no_clock(void)
{
#if defined(__x86_64__)
	return prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
#else
	return 0;
#endif
}

/*
 * Where the kernel seals these pages they stay: what they tell is coarse
 * without the counter, and no time that a worker reads is believed.
 */
void jail_no_vdso(int maps)
{
	static char text[65536];
	unsigned long from, to;
	size_t len = 0;
	ssize_t n;
	char *line, *end;

	do {
		n = maps < 0 ? 0 : read(maps, text + len,
					sizeof(text) - 1 - len);
		len += n > 0 ? (size_t)n : 0;
	} while (n > 0);
	text[len] = '\0';
	for (line = text; *line; line = end) {
		end = line + strcspn(line, "\n");
		if (*end)
			*end++ = '\0';
		if ((strstr(line, "[vvar") || strstr(line, "[vdso]")) &&
		    sscanf(line, "%lx-%lx ", &from, &to) == 2)
			munmap((void *)from, to - from);
	}
}

/* Filters */

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#else
#define ARCH AUDIT_ARCH_AARCH64
#endif

struct filter {
	struct sock_filter f[512];
	unsigned short nr;
};

#define DATA(field) ((uint32_t)offsetof(struct seccomp_data, field))
/* Little-endian halves of argument i. */
#define ARG_LOW(i) (DATA(args) + 8 * (i))
#define ARG_HIGH(i) (DATA(args) + 8 * (i) + 4)
#define ERRNO(e) (SECCOMP_RET_ERRNO | (e))

static void stmt(struct filter *p, uint16_t code, uint32_t k)
{
	p->f[p->nr++] = (struct sock_filter){ code, 0, 0, k };
}

/* Falls through when the test holds, else skips n instructions. */
static void skip_unless(struct filter *p, uint16_t test, uint32_t k, uint8_t n)
{
	p->f[p->nr++] = (struct sock_filter){ BPF_JMP | test | BPF_K, 0, n,
					      k };
}

static void load(struct filter *p, uint32_t off)
{
	stmt(p, BPF_LD | BPF_W | BPF_ABS, off);
}

static void give(struct filter *p, uint32_t action)
{
	stmt(p, BPF_RET | BPF_K, action);
}

static void begin(struct filter *p)
{
	p->nr = 0;
	load(p, DATA(arch));
	p->f[p->nr++] = (struct sock_filter){ BPF_JMP | BPF_JEQ | BPF_K, 1, 0,
					      ARCH };
	give(p, SECCOMP_RET_KILL_PROCESS);
	load(p, DATA(nr));
	/* The x32 calls: other numbers for the same doors. */
	skip_unless(p, BPF_JGE, 0x40000000u, 1);
	give(p, SECCOMP_RET_KILL_PROCESS);
}

static void rule(struct filter *p, int nr, uint32_t action)
{
	skip_unless(p, BPF_JEQ, (uint32_t)nr, 1);
	give(p, action);
}

static void rules(struct filter *p, const int *nr, size_t n, uint32_t action)
{
	for (size_t i = 0; i < n; i++)
		rule(p, nr[i], action);
}
#define RULES(p, list, action) \
	rules(p, list, sizeof(list) / sizeof((list)[0]), action)

static int install(struct filter *p, uint32_t otherwise, unsigned flags)
{
	struct sock_fprog prog;

	give(p, otherwise);
	prog.len = p->nr;
	prog.filter = p->f;
#ifdef SECCOMP_FILTER_FLAG_SPEC_ALLOW
	flags |= SECCOMP_FILTER_FLAG_SPEC_ALLOW;
#endif
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &prog) ?
	       -1 : 0;
}

int jail_syscalls_build(void)
{
	/* A list of what is refused: compilers differ too much in what they
	 * use, and run no code of the candidate. */
	static const int refused[] = {
		__NR_socket, __NR_socketpair, __NR_ptrace,
		__NR_process_vm_readv, __NR_process_vm_writev, __NR_kcmp,
		__NR_mount, __NR_umount2, __NR_pivot_root, __NR_chroot,
		__NR_setns, __NR_unshare, __NR_bpf, __NR_perf_event_open,
		__NR_keyctl, __NR_add_key, __NR_request_key,
		__NR_kexec_load, __NR_init_module, __NR_finit_module,
		__NR_delete_module, __NR_reboot, __NR_swapon, __NR_swapoff,
		__NR_userfaultfd, __NR_open_by_handle_at,
		__NR_settimeofday, __NR_clock_settime, __NR_adjtimex,
		__NR_sethostname, __NR_setdomainname, __NR_acct, __NR_quotactl,
		__NR_syslog, __NR_vhangup,
#ifdef __NR_io_uring_setup
		__NR_io_uring_setup, __NR_open_tree, __NR_move_mount,
		__NR_fsopen, __NR_fsmount,
#endif
#ifdef __NR_pidfd_getfd
		__NR_pidfd_getfd,
#endif
	};
	struct filter p;

	begin(&p);
	RULES(&p, refused, ERRNO(EPERM));
	return install(&p, SECCOMP_RET_ALLOW, 0);
}

#ifdef __NR_clone3
/* Its flags are behind a pointer; libc then takes clone(). */
#define NO_CLONE3(p) rule(p, __NR_clone3, ERRNO(ENOSYS))
#else
#define NO_CLONE3(p) ((void)0)
#endif

static void allow_thread(struct filter *p)
{
	skip_unless(p, BPF_JEQ, __NR_clone, 5);
	load(p, ARG_LOW(0));
	stmt(p, BPF_ALU | BPF_AND | BPF_K, CLONE_VM | CLONE_THREAD);
	skip_unless(p, BPF_JEQ, CLONE_VM | CLONE_THREAD, 1);
	give(p, SECCOMP_RET_ALLOW);
	give(p, ERRNO(EPERM));
}

int jail_syscalls_load(bool threads)
{
	static const int allowed[] = {
		__NR_openat, __NR_read, __NR_pread64, __NR_close, __NR_fstat,
		__NR_newfstatat, __NR_lseek, __NR_mmap, __NR_munmap,
		__NR_mremap, __NR_mprotect, __NR_madvise, __NR_brk,
		__NR_getcwd, __NR_readlinkat, __NR_faccessat, __NR_futex,
		__NR_exit, __NR_exit_group, __NR_rt_sigaction,
		__NR_rt_sigprocmask, __NR_rt_sigreturn, __NR_getrandom,
		__NR_set_robust_list, __NR_set_tid_address, __NR_gettid,
		__NR_getpid, __NR_sched_getaffinity, __NR_sched_yield,
		__NR_prctl, __NR_seccomp, __NR_prlimit64,
		__NR_uname, __NR_sysinfo, __NR_restart_syscall,
#ifdef __NR_rseq
		__NR_rseq,
#endif
#ifdef __NR_statx
		__NR_statx,
#endif
#ifdef __NR_close_range
		__NR_close_range,
#endif
#ifdef __NR_faccessat2
		__NR_faccessat2,
#endif
#ifdef __x86_64__
		__NR_open, __NR_stat, __NR_access, __NR_readlink,
		__NR_arch_prctl,
#endif
	};
	struct filter p;

	begin(&p);
	RULES(&p, allowed, SECCOMP_RET_ALLOW);
	NO_CLONE3(&p);
	if (threads)
		allow_thread(&p);
	/* Soft, so that a libc newer than the list still loads. */
	return install(&p, ERRNO(EPERM), 0);
}

/* New anonymous memory, at no address of the caller's choosing. */
static void allow_mmap(struct filter *p)
{
	skip_unless(p, BPF_JEQ, __NR_mmap, 9);
	load(p, ARG_LOW(2));
	skip_unless(p, BPF_JSET, PROT_EXEC, 1);
	give(p, SECCOMP_RET_TRAP);
	load(p, ARG_LOW(3));
	skip_unless(p, BPF_JSET, MAP_FIXED | 0x100000 /* no replace */, 1);
	give(p, SECCOMP_RET_TRAP);
	skip_unless(p, BPF_JSET, MAP_ANONYMOUS, 1);
	give(p, SECCOMP_RET_ALLOW);
	give(p, SECCOMP_RET_TRAP);
}

/*
 * A call on the memory [arg 0, arg 0 + arg 1): not on the arguments and their
 * guards.  The length is bounded so that nothing from below reaches them.
 */
static void allow_beside_band(struct filter *p, int nr)
{
	skip_unless(p, BPF_JEQ, (uint32_t)nr, 8);
	load(p, ARG_HIGH(0));
	skip_unless(p, BPF_JGE, (uint32_t)(CTL_BAND_FIRST >> 32), 2);
	p->f[p->nr++] = (struct sock_filter){ BPF_JMP | BPF_JGE | BPF_K, 1, 0,
			(uint32_t)(CTL_BAND_LAST >> 32) };
	give(p, SECCOMP_RET_TRAP);
	load(p, ARG_HIGH(1));
	skip_unless(p, BPF_JGE, (uint32_t)((CTL_IN - CTL_BAND_FIRST) >> 32),
		    1);
	give(p, SECCOMP_RET_TRAP);
	give(p, SECCOMP_RET_ALLOW);
}

/* mremap() may not choose its target. */
static void refuse_fixed_mremap(struct filter *p)
{
	skip_unless(p, BPF_JEQ, __NR_mremap, 4);
	load(p, ARG_LOW(3));
	skip_unless(p, BPF_JSET, MREMAP_FIXED | 4 /* don't unmap */, 1);
	give(p, SECCOMP_RET_TRAP);
	load(p, DATA(nr));
}

int jail_syscalls_compute(bool threads)
{
	static const int allowed[] = {
		__NR_futex, __NR_brk, __NR_sched_yield, __NR_exit_group,
		__NR_restart_syscall, __NR_getpid, __NR_gettid,
	};
	/* What a debugging print does: it costs its time and no more. */
	static const int closed[] = {
		__NR_write, __NR_writev, __NR_fstat, __NR_newfstatat,
		__NR_lseek, __NR_ioctl,
	};
	/* What libc may ask for on the way, and can do without. */
	static const int soft[] = { __NR_rt_sigprocmask, __NR_sysinfo };
	struct filter p;

	begin(&p);
	RULES(&p, allowed, SECCOMP_RET_ALLOW);
	refuse_fixed_mremap(&p);
	/* Each of these ends in a verdict if the number is its own. */
	allow_beside_band(&p, __NR_munmap);
	allow_beside_band(&p, __NR_mremap);
	allow_beside_band(&p, __NR_madvise);
	allow_mmap(&p);
	RULES(&p, closed, ERRNO(EBADF));
	RULES(&p, soft, ERRNO(EPERM));
	NO_CLONE3(&p);
	if (threads) {
		rule(&p, __NR_exit, SECCOMP_RET_ALLOW);
		rule(&p, __NR_sched_getaffinity, SECCOMP_RET_ALLOW);
	}
	/*
	 * A trap and not a kill: the worker's handler notes the number and
	 * then makes a refused call with the signal blocked, which kills it.
	 * The call itself is never made either way.
	 */
	return install(&p, SECCOMP_RET_TRAP, SECCOMP_FILTER_FLAG_TSYNC);
}
