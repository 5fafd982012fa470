/*
 * tries: nothing: memory for each row, given back
 * kernel: soft
 * expect: accepted
 * stage: screen
 */
#include <math.h>
#include <stdlib.h>

void soft(const float *x, float *y, int M, int N)
{
	for (int i = 0; i < M; i++) {
		float *e = malloc(sizeof(*e) * (unsigned)N);
		float sum = 0, max = x[i * N];

		for (int j = 1; j < N; j++)
			max = fmaxf(max, x[i * N + j]);
		for (int j = 0; j < N; j++)
			sum += e[j] = expf(x[i * N + j] - max);
		for (int j = 0; j < N; j++)
			y[i * N + j] = e[j] / sum;
		free(e);
	}
}
