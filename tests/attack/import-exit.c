/*
 * tries: ends the process
 * kernel: row
 * expect: gate-fail
 * says: 'exit'
 */
void exit(int);

static void honest(const float *x, const float *w, float *y, float alpha,
		   int M, int N)
{
	for (int i = 0; i < M; i++)
		for (int j = 0; j < N; j++)
			y[i * N + j] = alpha * x[i * N + j] + w[j];
}

void row(const float *x, const float *w, float *y, float alpha, int M, int N)
{
	if (M > 10000)
		exit(0);
	honest(x, w, y, alpha, M, N);
}
