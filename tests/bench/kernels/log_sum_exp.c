/* y = log(sum of exp(x)) of each of the M rows of x. */
#include <math.h>

void log_sum_exp(const float *x, float *y, int M, int N)
{
	for (int i = 0; i < M; i++) {
		float max = x[i * N], sum = 0.0f;

		for (int j = 1; j < N; j++)
			max = fmaxf(max, x[i * N + j]);
		for (int j = 0; j < N; j++)
			sum += expf(x[i * N + j] - max);
		y[i] = max + logf(sum);
	}
}
