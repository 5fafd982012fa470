/*
 * A linear layer and its activation: y = gelu(x W^T + bias).
 * x is M x K, W is N x K (one row for each output), y is M x N.
 */
#include <math.h>

static float gelu(float x)
{
	return 0.5f * x * (1.0f + tanhf(0.7978845608f *
					(x + 0.044715f * x * x * x)));
}

void linear_gelu(const float *x, const float *w, const float *bias, float *y,
		 int M, int N, int K)
{
	for (int i = 0; i < M; i++) {
		for (int j = 0; j < N; j++) {
			float sum = bias[j];

			for (int k = 0; k < K; k++)
				sum += x[i * K + k] * w[j * K + k];
			y[i * N + j] = gelu(sum);
		}
	}
}
