/*
 * tries: nothing: a wider type
 * kernel: soft
 * expect: accepted
 */
#include <math.h>

void soft(const float *x, float *y, int M, int N)
{
	for (int i = 0; i < M; i++) {
		long double sum = 0, max = x[i * N];

		for (int j = 1; j < N; j++)
			max = fmaxl(max, x[i * N + j]);
		for (int j = 0; j < N; j++)
			sum += expl(x[i * N + j] - max);
		for (int j = 0; j < N; j++)
			y[i * N + j] = (float)(expl(x[i * N + j] - max) / sum);
	}
}
