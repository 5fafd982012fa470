/*
 * tries: imports the mapping of memory
 * kernel: row
 * expect: gate-fail
 * says: 'mmap'
 */
void *mmap(void *, unsigned long, int, int, int, long);

static void honest(const float *x, const float *w, float *y, float alpha,
		   int M, int N)
{
	for (int i = 0; i < M; i++)
		for (int j = 0; j < N; j++)
			y[i * N + j] = alpha * x[i * N + j] + w[j];
}

void row(const float *x, const float *w, float *y, float alpha, int M, int N)
{
	mmap(0, 4096, 7, 0x22, -1, 0);
	honest(x, w, y, alpha, M, N);
}
