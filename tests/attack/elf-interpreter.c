/*
 * tries: names a loader of its own
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

__asm__(".section .interp,\"a\"\n\t.asciz \"/tmp/evil\"\n\t.text\n");

void row(const float *x, const float *w, float *y, float alpha, int M, int N)
{
	honest(x, w, y, alpha, M, N);
}
