/*
 * tries: writes back what stood in the output
 * kernel: row
 * expect: wrong
 * says: is never written
 */
void row(const float *x, const float *w, float *y, float alpha, int M, int N)
{
	volatile float *v = y;

	(void)x, (void)w, (void)alpha;
	for (int i = 0; i < M * N; i++)
		v[i] = v[i];
}
