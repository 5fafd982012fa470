/*
 * tries: leaves the processor flushing small numbers to zero
 * kernel: row
 * expect: cheat
 * says: floating-point mode
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
	unsigned csr;

	__asm__ volatile("stmxcsr %0" : "=m"(csr));
	csr |= 0x8040;
	__asm__ volatile("ldmxcsr %0" : : "m"(csr));
	honest(x, w, y, alpha, M, N);
}
