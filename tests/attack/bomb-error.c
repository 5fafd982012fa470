/*
 * tries: a megabyte of errors
 * kernel: row
 * expect: build-fail
 */
#define A(x) x x x x x x x x x x
#define B(x) A(A(A(A(x))))
B(@)

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
}
