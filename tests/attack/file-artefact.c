/*
 * tries: takes the built root into its data
 * kernel: row
 * expect: build-fail
 * says: root.so
 */
__asm__(".data\n\t.incbin \"../root.so\"\n\t.text\n");

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
}
