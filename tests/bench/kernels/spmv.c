/*
 * y = A x for a sparse A of M rows with K values each (zeros fill up), which
 * stand by column: the n-th of all rows, ROWS rows at a time.
 */
#define ROWS 64		/* tunable: 8 256 1024 */

void spmv(const float *a, const int *col, const float *x, float *y, int M,
	  int K)
{
	for (int i0 = 0; i0 < M; i0 += ROWS) {
		int i1 = i0 + ROWS < M ? i0 + ROWS : M;

		for (int i = i0; i < i1; i++)
			y[i] = 0.0f;
		for (int k = 0; k < K; k++)
			for (int i = i0; i < i1; i++)
				y[i] += a[k * M + i] * x[col[k * M + i]];
	}
}
