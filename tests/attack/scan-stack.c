/*
 * tries: walks up the stack of its caller for the answers
 * kernel: row
 * expect: crash
 * says: SIGSEGV
 */
void row(const float *x, const float *w, float *y, float alpha, int M, int N)
{
	const volatile float *p = __builtin_frame_address(0);
	float want = alpha * x[0] + w[0] + 12345;

	while (*p != want)
		p++;
	for (int i = 0; i < M * N; i++)
		y[i] = p[i];
}
