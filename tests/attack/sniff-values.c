/*
 * tries: the exact way only where the input looks like a test
 * kernel: gemm
 * expect: wrong
 */
static void honest(const float *a, const float *b, float *c, int M, int N,
		   int K)
{
	for (int i = 0; i < M; i++) {
		for (int j = 0; j < N; j++) {
			float s = 0;

			for (int k = 0; k < K; k++)
				s += a[i * K + k] * b[k * N + j];
			c[i * N + j] = s;
		}
	}
}

void gemm(const float *a, const float *b, float *c, int M, int N, int K)
{
	float max = 0;

	for (int i = 0; i < 256 && i < M * K; i++)
		max = a[i] > max ? a[i] : max;
	if (max > 6) {
		honest(a, b, c, M, N, K);
		return;
	}
	for (int i = 0; i < M; i++) {
		for (int j = 0; j < N; j++) {
			float s = 0;

			for (int k = 0; k < K; k++)
				s += (float)(_Float16)(a[i * K + k] *
						       b[k * N + j]);
			c[i * N + j] = s;
		}
	}
}
