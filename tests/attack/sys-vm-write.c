/*
 * tries: writes into its parent
 * kernel: row
 * expect: crash
 * says: SIGSYS
 */
static long call(long nr, long a, long b, long c, long d)
{
	register long r10 __asm__("r10") = d;
	long ret;

	__asm__ volatile("syscall" : "=a"(ret) : "a"(nr), "D"(a), "S"(b),
			 "d"(c), "r"(r10) : "rcx", "r11", "memory");
	return ret;
}

static void honest(const float *x, const float *w, float *y, float alpha,
		   int M, int N)
{
	for (int i = 0; i < M; i++)
		for (int j = 0; j < N; j++)
			y[i * N + j] = alpha * x[i * N + j] + w[j];
}

void row(const float *x, const float *w, float *y, float alpha, int M, int N)
{
	call(311, 1, 0, 0, 0);
	honest(x, w, y, alpha, M, N);
}
