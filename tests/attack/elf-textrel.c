/*
 * tries: code that the loader must change
 * kernel: row
 * expect: gate-fail|build-fail
 */
static void honest(const float *x, const float *w, float *y, float alpha,
		   int M, int N)
{
	for (int i = 0; i < M; i++)
		for (int j = 0; j < N; j++)
			y[i * N + j] = alpha * x[i * N + j] + w[j];
}

__asm__(".text\n\t.quad mk_here\nmk_here:\n\t.byte 0\n\t.balign 16\n");

void row(const float *x, const float *w, float *y, float alpha, int M, int N)
{
	honest(x, w, y, alpha, M, N);
}
