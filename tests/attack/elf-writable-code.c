/*
 * tries: a section that can be written and run
 * kernel: row
 * expect: gate-fail
 * says: writable and executable
 */
static void honest(const float *x, const float *w, float *y, float alpha,
		   int M, int N)
{
	for (int i = 0; i < M; i++)
		for (int j = 0; j < N; j++)
			y[i * N + j] = alpha * x[i * N + j] + w[j];
}

__asm__(".section .evil,\"awx\",@progbits\nmk_evil:\n\tret\n\t.text\n");
extern char mk_evil __attribute__((visibility("hidden")));

void row(const float *x, const float *w, float *y, float alpha, int M, int N)
{
	honest(x, w, y, alpha, M, N);
	__asm__ volatile("" : : "r"(&mk_evil) : "memory");
}
