/*
 * tries: leaves the older unit at a lower precision
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
	unsigned short cw = 0x007f;

	__asm__ volatile("fldcw %0" : : "m"(cw));
	honest(x, w, y, alpha, M, N);
}
