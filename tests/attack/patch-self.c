/*
 * tries: writes into its own code
 * kernel: row
 * expect: crash
 * says: SIGSEGV
 */
__attribute__((noinline)) static void honest(const float *x, const float *w, float *y, float alpha,
		   int M, int N)
{
	for (int i = 0; i < M; i++)
		for (int j = 0; j < N; j++)
			y[i * N + j] = alpha * x[i * N + j] + w[j];
}

void row(const float *x, const float *w, float *y, float alpha, int M, int N)
{
	honest(x, w, y, alpha, M, N);
	*(volatile unsigned char *)(unsigned long)honest = 0xc3;
}
