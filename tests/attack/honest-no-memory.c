/*
 * tries: nothing: asks for 64 GiB, and goes on without
 * kernel: row
 * expect: accepted
 */
#include <stdlib.h>

void row(const float *x, const float *w, float *y, float alpha, int M, int N)
{
	float *big = malloc(1ul << 36);

	for (int i = 0; i < M; i++)
		for (int j = 0; j < N; j++)
			y[i * N + j] = alpha * x[i * N + j] + w[j];
	free(big);
}
