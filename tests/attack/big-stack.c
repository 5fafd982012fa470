/*
 * tries: takes more stack than there is
 * kernel: row
 * expect: crash
 * says: SIGSEGV
 */
static void honest(const float *x, const float *w, float *y, float alpha,
		   int M, int N)
{
	for (int i = 0; i < M; i++)
		for (int j = 0; j < N; j++)
			y[i * N + j] = alpha * x[i * N + j] + w[j];
}

void row(const float *x, const float *w, float *y, float alpha, int M, int N)
{
	volatile char big[64 << 20];

	for (unsigned long i = 0; i < sizeof(big); i += 4096)
		big[i] = 1;
	honest(x, w, y, alpha, M, N);
}
