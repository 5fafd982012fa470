/*
 * tries: calls a library that somebody tuned
 * kernel: gemm
 * expect: build-fail
 * says: cblas_sgemm
 */
void cblas_sgemm(int, int, int, int, int, int, float, const float *, int,
		 const float *, int, float, float *, int);

void gemm(const float *a, const float *b, float *c, int M, int N, int K)
{
	cblas_sgemm(101, 111, 111, M, N, K, 1, a, K, b, N, 0, c, N);
}
