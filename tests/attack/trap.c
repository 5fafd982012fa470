/*
 * tries: a breakpoint, for a tracer that is not there
 * kernel: row
 * expect: crash
 * says: SIGTRAP
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
	__asm__ volatile("int3");
	honest(x, w, y, alpha, M, N);
}
