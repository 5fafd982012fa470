/*
 * tries: looks for the reference beside its own folder
 * kernel: row
 * expect: build-fail
 */
#if __has_include("../aux/ref/row.c")
#include "../aux/ref/row.c"
#elif __has_include("../../aux/ref/row.c")
#include "../../aux/ref/row.c"
#elif __has_include("../root/row.c")
#include "../root/row.c"
#else
#error no reference
#endif

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
