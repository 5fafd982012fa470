/*
 * tries: nothing: threads, where they are declared
 * kernel: par
 * expect: accepted
 * stage: screen
 */
#include <math.h>

void par(const float *x, float *y, int M, int N)
{
#pragma omp parallel for schedule(dynamic, 4)
	for (int i = 0; i < M; i++) {
		float s = 0;

		for (int j = 0; j < N; j++)
			s += sqrtf(x[i * N + j]);
		y[i] = s;
	}
}
