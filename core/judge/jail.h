/*
 * The pieces of a jail, each for the calling process and for ever: Landlock
 * (which files), seccomp (which system calls), identity.  Only raw system
 * calls and the stack, so that all of it may stand between fork and exec.
 * Each returns 0, or -1 with errno.
 *
 * What it does not stop: faults of the kernel itself, side channels, and use
 * of the memory bandwidth and caches that all processes share.
 */
#ifndef CORE_JUDGE_JAIL_H
#define CORE_JUDGE_JAIL_H

#include <stdbool.h>
#include <stddef.h>

enum jail_access { JAIL_READ, JAIL_WRITE };	/* both read and execute */

struct jail_path {
	const char *path;	/* one that is not there is left out */
	enum jail_access access;
};

/* Highest Landlock version of this kernel; 0: none. */
int jail_landlock_abi(void);
/* From now on no file may be opened but what lies below the paths; TCP, and
 * signals and abstract sockets beyond the jail, are refused where the kernel
 * can.  Needs jail_lock_privileges() before. */
int jail_files(const struct jail_path *path, size_t nr);

/* No new privileges, not dumpable (so not to be traced), dies with its
 * parent; EPERM if the parent is no longer `parent`. */
int jail_lock_privileges(int parent);
/* To an unprivileged user, if we are root.  Before jail_lock_privileges(). */
int jail_drop_root(void);

/* The compiler: no network, no tracing, no namespaces, no modules. */
int jail_syscalls_build(void);
/* A worker while it loads: files (Landlock bounds them), memory, and threads
 * if threads is true.  What is not listed fails with EPERM. */
int jail_syscalls_load(bool threads);
/* A worker that computes: memory, futexes, the end.  What is not listed raises
 * SIGSYS; output fails as on a closed descriptor.  For all threads. */
int jail_syscalls_compute(bool threads);
/* Reading the time stamp counter raises SIGSEGV; no effect where the machine
 * has no such switch. */
int jail_no_clock(void);
/* Unmaps the pages by which the kernel tells the time without a call, where
 * it can.  maps: /proc/self/maps.  Not before the last dlopen(),
 * which looks at all that is loaded. */
void jail_no_vdso(int maps);

#endif
