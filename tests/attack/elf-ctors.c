/*
 * tries: computes when it is loaded, by an older section
 * kernel: row
 * expect: gate-fail
 * says: constructor
 */
static void honest(const float *x, const float *w, float *y, float alpha,
		   int M, int N)
{
	for (int i = 0; i < M; i++)
		for (int j = 0; j < N; j++)
			y[i * N + j] = alpha * x[i * N + j] + w[j];
}

static void prepare(void)
{
	__asm__ volatile("" : : : "memory");
}
__attribute__((section(".ctors"), used)) static void (*const at_load)(void) =
	prepare;

void row(const float *x, const float *w, float *y, float alpha, int M, int N)
{
	honest(x, w, y, alpha, M, N);
}
