/*
 * tries: entries of its own for the loader
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

__attribute__((used)) static void prepare(void)
{
	__asm__ volatile("" : : : "memory");
}
/* DT_INIT and its address. */
__asm__(".section .dynamic,\"aw\"\n\t.quad 12, prepare\n\t.text\n");

void row(const float *x, const float *w, float *y, float alpha, int M, int N)
{
	honest(x, w, y, alpha, M, N);
}
