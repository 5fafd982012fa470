/*
 * tries: loads a library at run time
 * kernel: row
 * expect: gate-fail
 * says: 'dlopen'
 */
void *dlopen(const char *, int);

static void honest(const float *x, const float *w, float *y, float alpha,
		   int M, int N)
{
	for (int i = 0; i < M; i++)
		for (int j = 0; j < N; j++)
			y[i * N + j] = alpha * x[i * N + j] + w[j];
}

void row(const float *x, const float *w, float *y, float alpha, int M, int N)
{
	dlopen("libopenblas.so", 1);
	honest(x, w, y, alpha, M, N);
}
