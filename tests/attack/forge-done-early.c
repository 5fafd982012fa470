/*
 * tries: says that it is done and then begins
 * kernel: row
 * expect: wrong|cheat|slower|same|no-verdict
 * stage: screen
 *
 * Where the work ends before the worker is stopped it is right, and it is
 * charged: clocks are read when the worker stands still.
 */
/* Words of the page that judge and worker share. */
#define CTL ((volatile unsigned *)0x548000000000)
enum { SLOTS = 5, GO = 20, N_CALLS = 23, DONE, STAGE, MXCSR, FPCW, SYSCALL,
       ERROR, TEXT };

static void honest(const float *x, const float *w, float *y, float alpha,
		   int M, int N)
{
	for (int i = 0; i < M; i++)
		for (int j = 0; j < N; j++)
			y[i * N + j] = alpha * x[i * N + j] + w[j];
}

void row(const float *x, const float *w, float *y, float alpha, int M, int N)
{
	CTL[DONE] = CTL[GO];
	honest(x, w, y, alpha, M, N);
}
