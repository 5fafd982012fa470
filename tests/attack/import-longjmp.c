/*
 * tries: jumps out of the call
 * kernel: row
 * expect: gate-fail
 */
#include <setjmp.h>

static void honest(const float *x, const float *w, float *y, float alpha,
		   int M, int N)
{
	for (int i = 0; i < M; i++)
		for (int j = 0; j < N; j++)
			y[i * N + j] = alpha * x[i * N + j] + w[j];
}

void row(const float *x, const float *w, float *y, float alpha, int M, int N)
{
	jmp_buf *b = (jmp_buf *)0x548000000000;

	if (M < 0)
		longjmp(*b, 1);
	honest(x, w, y, alpha, M, N);
}
