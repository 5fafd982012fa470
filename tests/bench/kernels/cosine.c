/* The cosine between row i of a and row i of b. */
#include <math.h>

void cosine(const float *a, const float *b, float *y, int M, int N)
{
	for (int i = 0; i < M; i++) {
		float dot = 0.0f, aa = 0.0f, bb = 0.0f;

		for (int j = 0; j < N; j++) {
			dot += a[i * N + j] * b[i * N + j];
			aa += a[i * N + j] * a[i * N + j];
			bb += b[i * N + j] * b[i * N + j];
		}
		y[i] = dot / (sqrtf(aa) * sqrtf(bb) + 1e-6f);
	}
}
