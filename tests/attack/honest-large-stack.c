/*
 * tries: nothing: four megabytes of stack
 * kernel: row
 * expect: accepted
 */
void row(const float *x, const float *w, float *y, float alpha, int M, int N)
{
	volatile float row[1 << 20];

	for (int i = 0; i < M; i++) {
		for (int j = 0; j < N; j++)
			row[(1 << 20) - 1 - j] = alpha * x[i * N + j];
		for (int j = 0; j < N; j++)
			y[i * N + j] = row[(1 << 20) - 1 - j] + w[j];
	}
}
