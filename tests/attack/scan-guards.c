/*
 * tries: walks through the memory between the arrays for the answers
 * kernel: row
 * expect: crash
 * says: SIGSEGV
 */
void row(const float *x, const float *w, float *y, float alpha, int M, int N)
{
	const volatile float *p = (const volatile float *)0x530000000000;
	float want = alpha * x[0] + w[0];

	while (p == (const volatile float *)y || *p != want)
		p++;
	for (int i = 0; i < M * N; i++)
		y[i] = p[i];
}
