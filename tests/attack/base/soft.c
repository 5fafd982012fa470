#include <math.h>

void soft(const float *x, float *y, int M, int N)
{
	for (int i = 0; i < M; i++) {
		const float *r = x + i * N;
		float max = r[0], sum = 0;

		for (int j = 1; j < N; j++)
			max = r[j] > max ? r[j] : max;
		for (int j = 0; j < N; j++)
			sum += y[i * N + j] = expf(r[j] - max);
		for (int j = 0; j < N; j++)
			y[i * N + j] /= sum;
	}
}
