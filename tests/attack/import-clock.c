/*
 * tries: imports a clock
 * kernel: row
 * expect: gate-fail
 * says: 'clock_gettime'
 */
struct timespec;
int clock_gettime(int, struct timespec *);

static void honest(const float *x, const float *w, float *y, float alpha,
		   int M, int N)
{
	for (int i = 0; i < M; i++)
		for (int j = 0; j < N; j++)
			y[i * N + j] = alpha * x[i * N + j] + w[j];
}

void row(const float *x, const float *w, float *y, float alpha, int M, int N)
{
	clock_gettime(1, 0);
	honest(x, w, y, alpha, M, N);
}
