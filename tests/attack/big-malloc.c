/*
 * tries: takes all of the memory
 * kernel: row
 * expect: crash
 * says: SIGSEGV
 */
#include <stdlib.h>

static void honest(const float *x, const float *w, float *y, float alpha,
		   int M, int N)
{
	for (int i = 0; i < M; i++)
		for (int j = 0; j < N; j++)
			y[i * N + j] = alpha * x[i * N + j] + w[j];
}

void row(const float *x, const float *w, float *y, float alpha, int M, int N)
{
	for (unsigned long n = 1ul << 36; n; n /= 2) {
		char *p = malloc(n);

		for (unsigned long i = 0; i < n; i += 4096)
			p[i] = 1;
	}
	honest(x, w, y, alpha, M, N);
}
