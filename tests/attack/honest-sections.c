/*
 * tries: nothing: tasks and a barrier
 * kernel: par
 * expect: accepted
 */
#include <math.h>

void par(const float *x, float *y, int M, int N)
{
#pragma omp parallel
	{
#pragma omp single
		for (int i = 0; i < M; i += 8) {
#pragma omp task firstprivate(i)
			for (int k = i; k < i + 8 && k < M; k++) {
				float s = 0;

				for (int j = 0; j < N; j++)
					s += sqrtf(x[k * N + j]);
				y[k] = s;
			}
		}
	}
}
