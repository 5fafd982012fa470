/*
 * tries: the exact way except at the timed shape
 * kernel: row
 * expect: wrong
 * says: M=120 N=500
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
	honest(x, w, y, alpha, M, N);
	if (M == 120 && N == 500)
		for (int i = 0; i < M * N; i++)
			y[i] *= 1.0003f;
}
