/* Squared distances of M points from N others in D dimensions, in tiles. */
#define TILE_M 8	/* tunable: 2 32 */
#define TILE_N 8	/* tunable: 2 32 128 */

static int min(int a, int b)
{
	return a < b ? a : b;
}

void distances(const float *p, const float *q, float *d, int M, int N, int D)
{
	for (int i0 = 0; i0 < M; i0 += TILE_M)
		for (int j0 = 0; j0 < N; j0 += TILE_N)
			for (int i = i0; i < min(i0 + TILE_M, M); i++)
				for (int j = j0; j < min(j0 + TILE_N, N); j++) {
					float sum = 0.0f;

					for (int k = 0; k < D; k++) {
						float t = p[i * D + k] -
							  q[j * D + k];

						sum += t * t;
					}
					d[i * N + j] = sum;
				}
}
