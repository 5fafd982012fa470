/* Running sums down the columns of x, COLS columns at a time. */
#define COLS 1		/* tunable: 4 8 16 32 64 */

void prefix_sum(const float *x, float *y, int M, int N)
{
	for (int j0 = 0; j0 < N; j0 += COLS) {
		int nr = N - j0 < COLS ? N - j0 : COLS;
		float sum[COLS];

		for (int j = 0; j < COLS; j++)
			sum[j] = 0.0f;
		for (int i = 0; i < M; i++)
			for (int j = 0; j < nr; j++) {
				sum[j] += x[i * N + j0 + j];
				y[i * N + j0 + j] = sum[j];
			}
	}
}
