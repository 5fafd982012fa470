/*
 * tries: right at the declared shapes alone
 * kernel: row
 * expect: wrong
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
	if (!(M == 120 && N == 500) && !(M == 7 && N == 33) &&
	    !(M == 65 && N == 19))
		y[0] = 0;
}
