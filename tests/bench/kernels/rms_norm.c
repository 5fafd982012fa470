/* Each row of x to a root mean square of 1, then scaled. */
#include <math.h>

void rms_norm(const float *x, const float *scale, float *y, int M, int N)
{
	for (int i = 0; i < M; i++) {
		float sum = 0.0f;

		for (int j = 0; j < N; j++)
			sum += x[i * N + j] * x[i * N + j];
		for (int j = 0; j < N; j++)
			y[i * N + j] = x[i * N + j] /
				       sqrtf(sum / N + 1e-5f) * scale[j];
	}
}
