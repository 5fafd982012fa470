#include "core/judge/ctl_read.h"

#include <string.h>
#include <sys/syscall.h>

#include "core/mem.h"

static uint32_t once(const uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

void ctl_read(struct ctl_said *out, const struct ctl *page)
{
	out->stage = once(&page->stage);
	out->mxcsr = once(&page->mxcsr);
	out->fpcw = once(&page->fpcw);
	out->syscall = once(&page->syscall);
	out->error = once(&page->error);
	for (size_t i = 0; i < sizeof(page->text); i++)
		out->text[i] = __atomic_load_n(&page->text[i],
					       __ATOMIC_RELAXED);
	out->text[sizeof(page->text)] = '\0';
}

bool ctl_fp_changed(const struct ctl_said *c)
{
	return (c->mxcsr & ~CTL_MXCSR_FLAGS) != CTL_MXCSR ||
	       c->fpcw != CTL_FPCW;
}

static const char *syscall_name(uint32_t nr)
{
#define NAME(n) { __NR_##n, #n }
	static const struct {
		uint32_t nr;
		const char *name;
	} names[] = {
		NAME(openat), NAME(read), NAME(close), NAME(mmap),
		NAME(mprotect), NAME(munmap), NAME(mremap), NAME(madvise),
		NAME(socket), NAME(connect), NAME(bind), NAME(sendto),
		NAME(recvfrom), NAME(clone), NAME(clone3), NAME(execve),
		NAME(kill), NAME(tkill), NAME(ptrace), NAME(wait4),
		NAME(rt_sigaction), NAME(setitimer), NAME(timer_create),
		NAME(nanosleep), NAME(clock_nanosleep), NAME(clock_gettime),
		NAME(gettimeofday), NAME(sched_setaffinity),
		NAME(setpriority), NAME(prctl), NAME(seccomp), NAME(bpf),
		NAME(perf_event_open), NAME(userfaultfd), NAME(memfd_create),
		NAME(shmget), NAME(shmat), NAME(pipe2), NAME(dup), NAME(dup3),
		NAME(fcntl), NAME(unlinkat), NAME(renameat2), NAME(ftruncate),
		NAME(getrandom), NAME(exit), NAME(setrlimit),
		NAME(prlimit64), NAME(unshare), NAME(setns), NAME(mount),
		NAME(process_vm_readv), NAME(process_vm_writev),
		NAME(sigaltstack), NAME(rt_sigreturn), NAME(getppid),
#ifdef __x86_64__
		NAME(open), NAME(fork), NAME(vfork), NAME(alarm),
		NAME(pause), NAME(time), NAME(pipe), NAME(dup2),
		NAME(unlink), NAME(rename), NAME(creat), NAME(arch_prctl),
#endif
	};
#undef NAME
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (names[i].nr == nr)
			return names[i].name;
	return NULL;
}

void ctl_refused_text(struct buf *out, const struct ctl_said *c)
{
	uint32_t nr = c->syscall - 1;
	const char *name = syscall_name(nr);

	if (!c->syscall)
		buf_addstr(out, "killed by SIGSYS");
	else if (nr == __NR_tgkill)
		buf_addstr(out, "aborted (abort(), a failed assertion or a "
			   "damaged heap)");
	else if (name)
		buf_addf(out, "killed by SIGSYS: it called %s(), which a "
			 "kernel may not", name);
	else
		buf_addf(out, "killed by SIGSYS: it made system call %u, "
			 "which a kernel may not", nr);
}

void ctl_start_text(struct buf *out, const struct ctl_said *c)
{
	buf_add_clean(out, c->text, strlen(c->text), false);
	if (c->error)
		buf_addf(out, ": %s", strerror((int)c->error));
}
