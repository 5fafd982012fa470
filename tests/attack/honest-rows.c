/*
 * tries: nothing: another order of loops, which is much faster
 * kernel: gemm
 * expect: accepted
 * stage: screen
 */
void gemm(const float *a, const float *b, float *c, int M, int N, int K)
{
	for (int i = 0; i < M; i++) {
		float *restrict r = c + i * N;

		for (int j = 0; j < N; j++)
			r[j] = 0;
		for (int k = 0; k < K; k++)
			for (int j = 0; j < N; j++)
				r[j] += a[i * K + k] * b[k * N + j];
	}
}
