/*
 * tries: keeps sums in its output while it still reads the input that may lie there
 * kernel: mix
 * expect: wrong
 * says: in the place of
 */
void mix(const float *x, float *y, int M, int N)
{
	for (int i = 0; i < M; i++) {
		const float *r = x + i * N;

		y[i * N] = r[0];
		for (int j = 1; j < N; j++)
			y[i * N + j] = y[i * N + j - 1] + r[j];
		for (int j = 0; j < N; j++)
			y[i * N + j] = r[j] - y[i * N + N - 1] / N;
	}
}
