/*
 * What a judge and its worker share: the control page and the map of the
 * arguments.  The judge fills both before it starts the worker.  The worker
 * may write the control page at any time, so that the judge takes nothing
 * there for more than a hint or a text for people.
 */
#ifndef CORE_JUDGE_CTL_H
#define CORE_JUDGE_CTL_H

#include <stdint.h>

/* All below where the kernel puts programs, heaps and libraries, and all
 * within one band that the worker's filter keeps from being unmapped. */
#define CTL_BAND_FIRST 0x500000000000u
#define CTL_IN 0x510000000000u		/* inputs */
#define CTL_OUT 0x530000000000u		/* outputs */
#define CTL_TABLE 0x540000000000u	/* argument tables, read-only */
#define CTL_PAGE 0x548000000000u	/* struct ctl */
#define CTL_BAND_LAST 0x54ff00000000u

#define CTL_GUARD 0x100000u	/* bytes of address space between two arrays */
#define CTL_MAGIC 0x6d6b3031u

/* Descriptors that a worker starts with; 0 to 2 are /dev/null. */
enum { CTL_FD_CTL = 3, CTL_FD_IN, CTL_FD_OUT, CTL_FD_SO, CTL_NR_FDS };

enum ctl_stage {
	CTL_STARTING,
	CTL_NO_JAIL,		/* the jail can't be had; text says why */
	CTL_NO_LOAD,		/* the artefact does not load */
	CTL_READY
};

enum ctl_mode { CTL_CALL, CTL_EMPTY, CTL_PAIR };

struct ctl_map {		/* pages of a memfd, mapped by the worker */
	uint64_t addr, off, len;
	uint64_t out;		/* 0: of the inputs, read-only */
};

struct ctl {
	/* Set before the start, copied by the worker. */
	uint32_t magic, sandbox_none, threads, pair;
	uint32_t nr_args, slots, nr_maps, parent;
	uint64_t table_off, table_len;	/* in the inputs' memfd */
	uint64_t maps_off;
	uint64_t in_span, out_span;	/* addresses to reserve */
	uint64_t scratch;

	/* Set by the judge while the worker is stopped. */
	uint32_t go;		/* number of the hand-off */
	uint32_t mode, first, n;	/* pair: slots first and n */

	/* Set by the worker. */
	uint32_t done;		/* = go when it is finished */
	uint32_t stage;		/* enum ctl_stage */
	uint32_t mxcsr, fpcw;	/* after the calls */
	uint32_t syscall;	/* 1 + the one that was refused; 0: none */
	uint32_t error;		/* errno, when it got no further than exec */
	char text[256];
};

/* Control words of the floating-point unit in its state at start. */
#if defined(__x86_64__)
#define CTL_MXCSR 0x1f80u
#define CTL_FPCW 0x37fu
#define CTL_MXCSR_FLAGS 0x3fu	/* sticky exception flags */
#elif defined(__aarch64__)
#define CTL_MXCSR 0u
#define CTL_FPCW 0u
#define CTL_MXCSR_FLAGS 0u
#else
#error "the judge knows x86-64 and aarch64"
#endif

#endif
