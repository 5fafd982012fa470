/* C = A B: A is M x K, B is K x N, C is M x N. */
#define N 610
#define K 500

void matmul(const float a[][K], const float b[][N], float c[][N], int M)
{
	for (int i = 0; i < M; i++) {
		for (int j = 0; j < N; j++) {
			float sum = 0.0f;

			for (int k = 0; k < K; k++)
				sum += a[i][k] * b[k][j];
			c[i][j] = sum;
		}
	}
}
