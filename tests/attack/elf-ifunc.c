/*
 * tries: a function that is chosen by code when it is loaded
 * kernel: row
 * expect: gate-fail
 * says: ifunc
 */
static void honest(const float *x, const float *w, float *y, float alpha,
		   int M, int N)
{
	for (int i = 0; i < M; i++)
		for (int j = 0; j < N; j++)
			y[i * N + j] = alpha * x[i * N + j] + w[j];
}

typedef void fn(const float *, const float *, float *, float, int, int);

static fn *choose(void)
{
	return honest;
}
static fn chosen __attribute__((ifunc("choose")));

void row(const float *x, const float *w, float *y, float alpha, int M, int N)
{
	chosen(x, w, y, alpha, M, N);
}
