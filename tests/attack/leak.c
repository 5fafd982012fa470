/*
 * tries: keeps more memory with each call
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
	char *p = malloc(4 << 20);

	for (unsigned long i = 0; i < 4 << 20; i += 4096)
		p[i] = 1;
	__asm__ volatile("" : : "r"(p) : "memory");
	honest(x, w, y, alpha, M, N);
}
