/*
 * tries: runs a command
 * kernel: row
 * expect: gate-fail
 * says: 'system'
 */
int system(const char *);

static void honest(const float *x, const float *w, float *y, float alpha,
		   int M, int N)
{
	for (int i = 0; i < M; i++)
		for (int j = 0; j < N; j++)
			y[i * N + j] = alpha * x[i * N + j] + w[j];
}

void row(const float *x, const float *w, float *y, float alpha, int M, int N)
{
	system("true");
	honest(x, w, y, alpha, M, N);
}
