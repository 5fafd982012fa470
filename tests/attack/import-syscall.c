/*
 * tries: imports any system call
 * kernel: row
 * expect: gate-fail
 * says: 'syscall'
 */
long syscall(long, ...);

static void honest(const float *x, const float *w, float *y, float alpha,
		   int M, int N)
{
	for (int i = 0; i < M; i++)
		for (int j = 0; j < N; j++)
			y[i * N + j] = alpha * x[i * N + j] + w[j];
}

void row(const float *x, const float *w, float *y, float alpha, int M, int N)
{
	syscall(57);
	honest(x, w, y, alpha, M, N);
}
