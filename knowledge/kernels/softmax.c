/* Softmax of each of the M rows of x, N values wide. */
#include <math.h>

void softmax(const float *x, float *y, int M, int N)
{
	for (int i = 0; i < M; i++) {
		float max = x[i * N];
		float sum = 0.0f;

		for (int j = 1; j < N; j++)
			max = fmaxf(max, x[i * N + j]);
		for (int j = 0; j < N; j++)
			sum += expf(x[i * N + j] - max);
		for (int j = 0; j < N; j++)
			y[i * N + j] = expf(x[i * N + j] - max) / sum;
	}
}
