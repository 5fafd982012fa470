/*
 * tries: leaves out a factor
 * kernel: row
 * expect: wrong
 */
void row(const float *x, const float *w, float *y, float alpha, int M, int N)
{
	(void)alpha;
	for (int i = 0; i < M; i++)
		for (int j = 0; j < N; j++)
			y[i * N + j] = x[i * N + j] + w[j];
}
