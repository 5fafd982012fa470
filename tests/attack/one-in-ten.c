/*
 * tries: wrong in one call of ten
 * kernel: row
 * expect: wrong
 * stage: screen
 */
static void honest(const float *x, const float *w, float *y, float alpha,
		   int M, int N)
{
	for (int i = 0; i < M; i++)
		for (int j = 0; j < N; j++)
			y[i * N + j] = alpha * x[i * N + j] + w[j];
}

static int calls;

void row(const float *x, const float *w, float *y, float alpha, int M, int N)
{
	honest(x, w, y, alpha, M, N);
	if (++calls % 10 == 0)
		y[M * N / 3] *= 1.01f;
}
