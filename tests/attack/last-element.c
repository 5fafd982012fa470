/*
 * tries: leaves out the last element
 * kernel: row
 * expect: wrong
 */
void row(const float *x, const float *w, float *y, float alpha, int M, int N)
{
	for (int i = 0; i < M * N - 1; i++)
		y[i] = alpha * x[i] + w[i % N];
}
