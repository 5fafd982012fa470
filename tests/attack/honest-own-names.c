/*
 * tries: nothing: functions with the names of others
 * kernel: row
 * expect: accepted
 */
#include <stddef.h>

int clock_gettime(int clock, void *t);
int clock_gettime(int clock, void *t)
{
	return clock != 1 || t;
}

void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
	volatile char *p = to;

	for (size_t i = 0; i < n; i++)
		p[i] = ((const char *)from)[i];
	return to;
}

void row(const float *x, const float *w, float *y, float alpha, int M, int N)
{
	for (int i = 0; i < M; i++) {
		memcpy(y + i * N, x + i * N, sizeof(float) * (unsigned)N);
		for (int j = 0; j < N; j++)
			y[i * N + j] = alpha * y[i * N + j] + w[j];
	}
	if (clock_gettime(1, 0))
		y[0] = 0;
}
