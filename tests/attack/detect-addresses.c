/*
 * tries: works only where the arguments are not where a judge has them
 * kernel: row
 * expect: wrong
 * says: is never written
 */
static void honest(const float *x, const float *w, float *y, float alpha,
		   int M, int N)
{
	for (int i = 0; i < M; i++)
		for (int j = 0; j < N; j++)
			y[i * N + j] = alpha * x[i * N + j] + w[j];
}

void row(const float *x, const float *w, float *y, float alpha, int M, int N)
{
	if ((unsigned long)x >> 40 != 0x51)
		honest(x, w, y, alpha, M, N);
}
