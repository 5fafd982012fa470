/*
 * tries: whole vectors of eight alone
 * kernel: row
 * expect: wrong
 */
void row(const float *x, const float *w, float *y, float alpha, int M, int N)
{
	for (int i = 0; i < M; i++)
		for (int j = 0; j + 8 <= N; j += 8)
			for (int k = j; k < j + 8; k++)
				y[i * N + k] = alpha * x[i * N + k] + w[k];
}
