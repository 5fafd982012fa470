/*
 * tries: nothing: one rounding for each product and sum
 * kernel: gemm
 * expect: accepted
 */
void gemm(const float *a, const float *b, float *c, int M, int N, int K)
{
	for (int i = 0; i < M; i++) {
		for (int j = 0; j < N; j++) {
			float s = 0;

			for (int k = 0; k < K; k++)
				s = __builtin_fmaf(a[i * K + k], b[k * N + j],
						   s);
			c[i * N + j] = s;
		}
	}
}
