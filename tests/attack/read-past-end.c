/*
 * tries: reads far past the end of its input
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
	honest(x, w, y, alpha, M, N);
	y[0] += 0 * *(const volatile float *)(x + M * N + 2048);
}
