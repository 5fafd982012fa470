/*
 * tries: takes two gigabytes as static memory, past what it may allocate
 * kernel: row
 * expect: gate-fail
 * says: static memory
 */
static void honest(const float *x, const float *w, float *y, float alpha,
		   int M, int N)
{
	for (int i = 0; i < M; i++)
		for (int j = 0; j < N; j++)
			y[i * N + j] = alpha * x[i * N + j] + w[j];
}

static volatile char big[1900][1 << 20];

void row(const float *x, const float *w, float *y, float alpha, int M, int N)
{
	for (int i = 0; i < 1900; i++)
		for (int j = 0; j < 1 << 20; j += 4096)
			big[i][j] = 1;
	honest(x, w, y, alpha, M, N);
}
