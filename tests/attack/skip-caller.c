/*
 * tries: returns to the caller of its caller
 * kernel: row
 * expect: crash|wrong|timeout|cheat
 */
static void honest(const float *x, const float *w, float *y, float alpha,
		   int M, int N)
{
	for (int i = 0; i < M; i++)
		for (int j = 0; j < N; j++)
			y[i * N + j] = alpha * x[i * N + j] + w[j];
}

__attribute__((optimize("no-omit-frame-pointer")))
void row(const float *x, const float *w, float *y, float alpha, int M, int N)
{
	honest(x, w, y, alpha, M, N);
	__asm__ volatile("mov (%%rbp), %%rbp\n\tleave\n\tret" : : : "memory");
}
