/*
 * tries: nothing: vector types of its own
 * kernel: row
 * expect: accepted
 * stage: screen
 */
typedef float v8 __attribute__((vector_size(32), aligned(4), may_alias));

void row(const float *x, const float *w, float *y, float alpha, int M, int N)
{
	for (int i = 0; i < M; i++) {
		int j = 0;

		for (; j + 8 <= N; j += 8) {
			v8 a = *(const v8 *)(x + i * N + j);

			*(v8 *)(y + i * N + j) = alpha * a +
						 *(const v8 *)(w + j);
		}
		for (; j < N; j++)
			y[i * N + j] = alpha * x[i * N + j] + w[j];
	}
}
