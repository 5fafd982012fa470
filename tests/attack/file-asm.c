/*
 * tries: has the assembler include a file
 * kernel: row
 * expect: build-fail
 * says: passwd
 */
__asm__(".include \"/etc/passwd\"\n");

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
