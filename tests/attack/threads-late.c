/*
 * tries: threads that go on after the call
 * kernel: par
 * expect: wrong
 */
#include <math.h>

void GOMP_parallel_start(void (*)(void *), void *, unsigned);

static struct job {
	const float *x;
	float *y;
	int M, N;
} job;

static float roots(const float *x, int n)
{
	float s = 0;

	for (int j = 0; j < n; j++)
		s += sqrtf(x[j]);
	return s;
}

/* The second half, after a long while; nobody waits for it. */
static void later(void *unused)
{
	(void)unused;
	for (volatile int i = 0; i < 30000000; i++)
		;
	for (int i = job.M / 2; i < job.M; i++)
		job.y[i] = roots(job.x + i * job.N, job.N);
}

void par(const float *x, float *y, int M, int N)
{
	struct job j = { x, y, M, N };

	job = j;
	GOMP_parallel_start(later, 0, 2);
	for (int i = 0; i < M / 2; i++)
		y[i] = roots(x + i * N, N);
}
