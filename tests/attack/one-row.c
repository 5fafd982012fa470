/*
 * tries: one row, copied to the others
 * kernel: row
 * expect: wrong
 */
#include <string.h>

static void honest(const float *x, const float *w, float *y, float alpha,
		   int M, int N)
{
	for (int i = 0; i < M; i++)
		for (int j = 0; j < N; j++)
			y[i * N + j] = alpha * x[i * N + j] + w[j];
}

void row(const float *x, const float *w, float *y, float alpha, int M, int N)
{
	honest(x, w, y, alpha, 1, N);
	for (int i = 1; i < M; i++)
		memcpy(y + i * N, y, sizeof(float) * (unsigned)N);
}
