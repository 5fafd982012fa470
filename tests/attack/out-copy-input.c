/*
 * tries: the input for an output
 * kernel: row
 * expect: wrong
 */
void row(const float *x, const float *w, float *y, float alpha, int M, int N)
{
	(void)x, (void)w, (void)alpha;
	for (int i = 0; i < M * N; i++)
		y[i] = x[i];
}
