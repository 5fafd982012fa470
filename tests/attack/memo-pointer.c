/*
 * tries: a memo by the addresses of the arguments
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
	static const float *seen;
	static float kept[1 << 16];

	if (x != seen || M * N > 1 << 16)
		honest(x, w, y, alpha, M, N);
	else
		memcpy(y, kept, sizeof(float) * (unsigned)(M * N));
	if (M * N <= 1 << 16)
		memcpy(kept, y, sizeof(float) * (unsigned)(M * N));
	seen = x;
}
