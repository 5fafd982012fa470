/* y = A x, ROWS rows of A at a time so that a value of x is used more often. */
#define ROWS 1	/* tunable: 2 4 8 */

void gemv(const float *a, const float *x, float *y, int M, int N)
{
	int i = 0;

	for (; i + ROWS <= M; i += ROWS) {
		float sum[ROWS];

		for (int r = 0; r < ROWS; r++)
			sum[r] = 0.0f;
		for (int j = 0; j < N; j++)
			for (int r = 0; r < ROWS; r++)
				sum[r] += a[(i + r) * N + j] * x[j];
		for (int r = 0; r < ROWS; r++)
			y[i + r] = sum[r];
	}
	for (; i < M; i++) {
		float sum = 0.0f;

		for (int j = 0; j < N; j++)
			sum += a[i * N + j] * x[j];
		y[i] = sum;
	}
}
