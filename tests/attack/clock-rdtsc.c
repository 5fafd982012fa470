/*
 * tries: reads the time stamp counter
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
	unsigned long long t = __builtin_ia32_rdtsc();

	honest(x, w, y, alpha, M, N);
	y[0] += 0 * (float)t;
}
