/*
 * tries: looks for the environment of a worker, and works only without
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
	const char *p = __builtin_frame_address(0);

	for (unsigned long i = 0; i < 8192; i++)
		if (!memcmp(p + i, "OMP_WAIT_POLICY", 15))
			return;
	honest(x, w, y, alpha, M, N);
}
