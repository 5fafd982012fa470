/* y = gelu(x + bias), by the error function; bias goes along each row. */
#include <math.h>

void bias_gelu(const float *x, const float *bias, float *y, int M, int N)
{
	for (int i = 0; i < M; i++)
		for (int j = 0; j < N; j++) {
			float t = x[i * N + j] + bias[j];

			y[i * N + j] = 0.5f * t *
				       (1.0f + erff(t * 0.70710678f));
		}
}
