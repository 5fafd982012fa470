/*
 * tries: includes the reference from where it lies
 * kernel: row
 * expect: build-fail
 * says: ref/row.c
 */
#include "../aux/ref/row.c"

static void honest(const float *x, const float *w, float *y, float alpha,
		   int M, int N)
{
	for (int i = 0; i < M; i++)
		for (int j = 0; j < N; j++)
			y[i * N + j] = alpha * x[i * N + j] + w[j];
}

void row(const float *x, const float *w, float *y, float alpha, int M, int N)
{
	honest(x, w, y, alpha, M, N);
}
