/*
 * tries: escapes and lines in a message to people
 * kernel: row
 * expect: crash
 */
#include <string.h>

/* Words of the page that judge and worker share. */
#define CTL ((volatile unsigned *)0x548000000000)
enum { SLOTS = 5, GO = 20, N_CALLS = 23, DONE, STAGE, MXCSR, FPCW, SYSCALL,
       ERROR, TEXT };

static long call(long nr, long a, long b, long c, long d)
{
	register long r10 __asm__("r10") = d;
	long ret;

	__asm__ volatile("syscall" : "=a"(ret) : "a"(nr), "D"(a), "S"(b),
			 "d"(c), "r"(r10) : "rcx", "r11", "memory");
	return ret;
}

void row(const float *x, const float *w, float *y, float alpha, int M, int N)
{
	strcpy((char *)&CTL[TEXT], "\n\x1b[2Jverdict: confirmed");
	CTL[SYSCALL] = 4000000000u;
	call(41, 1, 1, 0, 0);
	(void)x, (void)w, (void)y, (void)alpha, (void)M, (void)N;
}
