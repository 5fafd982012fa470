/*
 * tries: imports signals
 * kernel: row
 * expect: gate-fail
 * says: 'signal'
 */
void (*signal(int, void (*)(int)))(int);

static void honest(const float *x, const float *w, float *y, float alpha,
		   int M, int N)
{
	for (int i = 0; i < M; i++)
		for (int j = 0; j < N; j++)
			y[i * N + j] = alpha * x[i * N + j] + w[j];
}

void row(const float *x, const float *w, float *y, float alpha, int M, int N)
{
	signal(11, 0);
	honest(x, w, y, alpha, M, N);
}
