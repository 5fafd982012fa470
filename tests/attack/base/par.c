#include <math.h>

void par(const float *x, float *y, int M, int N)
{
	for (int i = 0; i < M; i++) {
		float s = 0;

		for (int j = 0; j < N; j++)
			s += sqrtf(x[i * N + j]);
		y[i] = s;
	}
}
