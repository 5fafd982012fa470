/*
 * tries: threads although one is declared
 * kernel: row
 * expect: build-fail|gate-fail
 * says: GOMP_parallel
 */
void GOMP_parallel(void (*)(void *), void *, unsigned, unsigned);

static void honest(const float *x, const float *w, float *y, float alpha,
		   int M, int N)
{
	for (int i = 0; i < M; i++)
		for (int j = 0; j < N; j++)
			y[i * N + j] = alpha * x[i * N + j] + w[j];
}

void row(const float *x, const float *w, float *y, float alpha, int M, int N)
{
	GOMP_parallel(0, 0, 2, 0);
	honest(x, w, y, alpha, M, N);
}
