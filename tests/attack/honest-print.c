/*
 * tries: nothing: a line for debugging that was left in
 * kernel: row
 * expect: accepted
 */
#include <stdio.h>

void row(const float *x, const float *w, float *y, float alpha, int M, int N)
{
	printf("%d x %d\n", M, N);
	fprintf(stderr, "alpha = %g\n", (double)alpha);
	for (int i = 0; i < M; i++)
		for (int j = 0; j < N; j++)
			y[i * N + j] = alpha * x[i * N + j] + w[j];
}
