/*
 * tries: gives the answer of the call before
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
	static float kept[1 << 16];

	memcpy(y, kept, sizeof(float) * (unsigned)(M * N));
	honest(x, w, kept, alpha, M, N);
}
