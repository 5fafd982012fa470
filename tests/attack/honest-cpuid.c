/*
 * tries: nothing: asks the processor what it can do
 * kernel: row
 * expect: accepted
 */
void row(const float *x, const float *w, float *y, float alpha, int M, int N)
{
	unsigned a = 0, b, c, d, lo, hi;

	__asm__ volatile("cpuid" : "+a"(a), "=b"(b), "=c"(c), "=d"(d));
	__asm__ volatile("xgetbv" : "=a"(lo), "=d"(hi) : "c"(0));
	for (int i = 0; i < M; i++)
		for (int j = 0; j < N; j++)
			y[i * N + j] = (a || lo ? alpha : 0) * x[i * N + j] +
				       w[j];
}
