/*
 * tries: makes a call by the older gate
 * kernel: row
 * expect: crash
 * says: SIG
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
	long ret;

	__asm__ volatile("int $0x80" : "=a"(ret) : "a"(2L) : "memory");
	honest(x, w, y, alpha, M, N);
}
