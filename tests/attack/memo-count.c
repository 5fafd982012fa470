/*
 * tries: the first calls right, the later ones with what these gave
 * kernel: row
 * expect: wrong
 */
#include <string.h>

static void honest(const float *x, const float *w, float *y, float alpha,
		   int M, int N)
{
	for (int i = 0; i < M; i++)
		for (int j = 0; j < N; j++)
			y[i * N + j] = alpha * x[i * N + j] + w[j];
}

void row(const float *x, const float *w, float *y, float alpha, int M, int N)
{
	static int calls;
	static float kept[1 << 16];

	if (M * N > 1 << 16 || ++calls < 3) {
		honest(x, w, y, alpha, M, N);
		return;
	}
	if (calls == 3)
		honest(x, w, kept, alpha, M, N);
	memcpy(y, kept, sizeof(float) * (unsigned)(M * N));
}
