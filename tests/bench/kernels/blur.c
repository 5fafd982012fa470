/* The mean of each value and its R neighbours on both sides, by rows. */
#define UNROLL 1	/* tunable: 2 4 8 16 */

void blur(const float *x, float *y, int M, int N, int R)
{
	int P = N - 2 * R;

	for (int i = 0; i < M; i++) {
		int j = 0;

		for (; j + UNROLL <= P; j += UNROLL) {
			float sum[UNROLL];

			for (int u = 0; u < UNROLL; u++)
				sum[u] = 0.0f;
			for (int r = 0; r <= 2 * R; r++)
				for (int u = 0; u < UNROLL; u++)
					sum[u] += x[i * N + j + u + r];
			for (int u = 0; u < UNROLL; u++)
				y[i * P + j + u] = sum[u] / (2 * R + 1);
		}
		for (; j < P; j++) {
			float sum = 0.0f;

			for (int r = 0; r <= 2 * R; r++)
				sum += x[i * N + j + r];
			y[i * P + j] = sum / (2 * R + 1);
		}
	}
}
