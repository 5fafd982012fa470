/*
 * tries: an output made of what lies on the stack
 * kernel: row
 * expect: wrong
 */
void row(const float *x, const float *w, float *y, float alpha, int M, int N)
{
	float left[1024];

	__asm__ volatile("" : : "r"(left) : "memory");
	(void)x, (void)w, (void)alpha;
	for (int i = 0; i < M * N; i++)
		y[i] = left[i % 1024];
}
