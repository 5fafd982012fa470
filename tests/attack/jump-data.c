/*
 * tries: jumps into data
 * kernel: row
 * expect: crash
 * says: SIGSEGV
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
	static unsigned char code[] = { 0xc3 };
	void (*f)(void);
	void *p = code;

	memcpy(&f, &p, sizeof(f));
	f();
	honest(x, w, y, alpha, M, N);
}
