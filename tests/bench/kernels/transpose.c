/* y = x^T in square blocks, each line of a block UNROLL values at a time. */
#define BLOCK 8		/* tunable: 4 16 32 64 128 */
#define UNROLL 1	/* tunable: 2 4 8 */

void transpose(const float *x, float *y, int M, int N)
{
	for (int i0 = 0; i0 < M; i0 += BLOCK)
		for (int j0 = 0; j0 < N; j0 += BLOCK) {
			int i1 = i0 + BLOCK < M ? i0 + BLOCK : M;
			int j1 = j0 + BLOCK < N ? j0 + BLOCK : N;

			for (int i = i0; i < i1; i++) {
				int j = j0;

				for (; j + UNROLL <= j1; j += UNROLL)
					for (int u = 0; u < UNROLL; u++)
						y[(j + u) * M + i] =
							x[i * N + j + u];
				for (; j < j1; j++)
					y[j * M + i] = x[i * N + j];
			}
		}
}
