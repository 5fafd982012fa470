/*
 * tries: nothing: a way of its own for some shapes
 * kernel: row
 * expect: accepted
 */
void row(const float *x, const float *w, float *y, float alpha, int M, int N)
{
	if (M == 1 && N == 1) {
		*y = alpha * *x + *w;
		return;
	}
	if (N == 1) {
		for (int i = 0; i < M; i++)
			y[i] = alpha * x[i] + *w;
		return;
	}
	for (int i = 0; i < M; i++)
		for (int j = 0; j < N; j++)
			y[i * N + j] = alpha * x[i * N + j] + w[j];
}
