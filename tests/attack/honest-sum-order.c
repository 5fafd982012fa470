/*
 * tries: nothing: sums in another order, by halves
 * kernel: gemm
 * expect: accepted
 */
static float dot(const float *a, const float *b, int k, int n)
{
	if (k == 1)
		return *a * *b;
	return dot(a, b, k / 2, n) +
	       dot(a + k / 2, b + k / 2 * n, k - k / 2, n);
}

void gemm(const float *a, const float *b, float *c, int M, int N, int K)
{
	for (int i = 0; i < M; i++)
		for (int j = 0; j < N; j++)
			c[i * N + j] = dot(a + i * K, b + j, K, N);
}
