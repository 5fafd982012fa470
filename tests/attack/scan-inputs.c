/*
 * tries: looks for other inputs behind the guards of its own
 * kernel: row
 * expect: crash|wrong
 * says: SIGSEGV
 */
void row(const float *x, const float *w, float *y, float alpha, int M, int N)
{
	const volatile float *p = x + M * N;

	for (int i = 0; i < 1 << 24; i += 1024)
		y[0] += p[i];
}
