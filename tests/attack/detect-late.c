/*
 * tries: works until the worker has served ten times
 * kernel: row
 * expect: wrong
 * stage: screen
 */
#include <string.h>

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
	if (CTL[GO] < 10)
		honest(x, w, y, alpha, M, N);
	else
		memset(y, 0, sizeof(float) * (unsigned)(M * N));
}
