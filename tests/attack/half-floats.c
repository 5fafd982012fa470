/*
 * tries: computes in sixteen bits
 * kernel: gemm
 * expect: wrong
 */
#include <string.h>

/* To the upper sixteen bits. */
static float cut(float x)
{
	unsigned u;

	memcpy(&u, &x, 4);
	u &= 0xffff0000u;
	memcpy(&x, &u, 4);
	return x;
}

void gemm(const float *a, const float *b, float *c, int M, int N, int K)
{
	for (int i = 0; i < M; i++) {
		for (int j = 0; j < N; j++) {
			float s = 0;

			for (int k = 0; k < K; k++)
				s += cut(a[i * K + k]) * cut(b[k * N + j]);
			c[i * N + j] = s;
		}
	}
}
