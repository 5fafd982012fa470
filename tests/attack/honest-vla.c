/*
 * tries: nothing: an array whose length is an argument
 * kernel: soft
 * expect: accepted
 */
#include <math.h>

void soft(const float *x, float *y, int M, int N)
{
	for (int i = 0; i < M; i++) {
		float e[N], sum = 0, max = x[i * N];

		for (int j = 1; j < N; j++)
			max = x[i * N + j] > max ? x[i * N + j] : max;
		for (int j = 0; j < N; j++)
			sum += e[j] = expf(x[i * N + j] - max);
		for (int j = 0; j < N; j++)
			y[i * N + j] = e[j] * (1 / sum);
	}
}
