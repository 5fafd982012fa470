/*
 * tries: nothing: scratch of its own in each thread
 * kernel: gemm
 * expect: accepted
 * stage: screen
 */
static _Thread_local float column[4096];

void gemm(const float *a, const float *b, float *c, int M, int N, int K)
{
	for (int j = 0; j < N; j++) {
		for (int k = 0; k < K; k++)
			column[k] = b[k * N + j];
		for (int i = 0; i < M; i++) {
			float s = 0;

			for (int k = 0; k < K; k++)
				s += a[i * K + k] * column[k];
			c[i * N + j] = s;
		}
	}
}
