/* A filter of K taps over a signal, BLOCK results at a time. */
#define BLOCK 8		/* tunable: 1 4 16 32 64 */

void fir(const float *x, const float *h, float *y, int N, int K)
{
	for (int i0 = 0; i0 < N; i0 += BLOCK) {
		int nr = N - i0 < BLOCK ? N - i0 : BLOCK;
		float sum[BLOCK];

		for (int i = 0; i < BLOCK; i++)
			sum[i] = 0.0f;
		for (int k = 0; k < K; k++)
			for (int i = 0; i < nr; i++)
				sum[i] += h[k] * x[i0 + i + k];
		for (int i = 0; i < nr; i++)
			y[i0 + i] = sum[i];
	}
}
