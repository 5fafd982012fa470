/*
 * tries: computes when it is loaded
 * kernel: row
 * expect: gate-fail
 * says: constructor
 */
static void honest(const float *x, const float *w, float *y, float alpha,
		   int M, int N)
{
	for (int i = 0; i < M; i++)
		for (int j = 0; j < N; j++)
			y[i * N + j] = alpha * x[i * N + j] + w[j];
}

static volatile float table[1024];

__attribute__((constructor)) static void prepare(void)
{
	for (int i = 0; i < 1024; i++)
		table[i] = (float)i;
}

void row(const float *x, const float *w, float *y, float alpha, int M, int N)
{
	honest(x, w, y, alpha, M, N);
}
