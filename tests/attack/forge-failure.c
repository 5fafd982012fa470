/*
 * tries: blames the jail, so that there is no verdict
 * kernel: row
 * expect: crash
 * says: exited with 0
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
	strcpy((char *)&CTL[TEXT], "no Landlock in this kernel");
	CTL[ERROR] = 1;
	CTL[STAGE] = 1;
	call(231, 0, 0, 0, 0);
	(void)x, (void)w, (void)y, (void)alpha, (void)M, (void)N;
}
