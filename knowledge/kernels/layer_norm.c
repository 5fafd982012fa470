/* Each row of x to mean 0 and variance 1, then scaled and shifted. */
#include <math.h>

void layer_norm(int M, int N, const float x[M][N], const float gamma[N],
		const float beta[N], float y[M][N], float eps)
{
	for (int i = 0; i < M; i++) {
		float mean = 0.0f, var = 0.0f;

		for (int j = 0; j < N; j++)
			mean += x[i][j];
		mean /= N;

		for (int j = 0; j < N; j++)
			var += (x[i][j] - mean) * (x[i][j] - mean);
		var /= N;

		for (int j = 0; j < N; j++)
			y[i][j] = (x[i][j] - mean) / sqrtf(var + eps) *
				  gamma[j] + beta[j];
	}
}
