/*
 * tries: says that it is done and does nothing
 * kernel: row
 * expect: wrong
 */
/* Words of the page that judge and worker share. */
#define CTL ((volatile unsigned *)0x548000000000)
enum { SLOTS = 5, GO = 20, N_CALLS = 23, DONE, STAGE, MXCSR, FPCW, SYSCALL,
       ERROR, TEXT };

void row(const float *x, const float *w, float *y, float alpha, int M, int N)
{
	CTL[DONE] = CTL[GO];
	(void)x, (void)w, (void)y, (void)alpha, (void)M, (void)N;
}
