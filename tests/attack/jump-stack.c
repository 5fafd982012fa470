/*
 * tries: runs code that it made on the stack
 * kernel: row
 * expect: crash
 * says: SIGSEGV
 */
static void honest(const float *x, const float *w, float *y, float alpha,
		   int M, int N)
{
	for (int i = 0; i < M; i++)
		for (int j = 0; j < N; j++)
			y[i * N + j] = alpha * x[i * N + j] + w[j];
}

__attribute__((noinline)) static void each(void (*f)(int), int n)
{
	for (int i = 0; i < n; i++)
		f(i);
	__asm__ volatile("" : : "r"(f) : "memory");
}

void row(const float *x, const float *w, float *y, float alpha, int M, int N)
{
	float got = 0;
	void add(int i) { got += x[i]; }

	each(add, M * N);
	honest(x, w, y, alpha, M, N);
	y[0] += 0 * got;
}
