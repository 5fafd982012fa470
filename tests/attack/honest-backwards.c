/*
 * tries: nothing: from the last element to the first
 * kernel: row
 * expect: accepted
 */
void row(const float *x, const float *w, float *y, float alpha, int M, int N)
{
	for (int i = M - 1; i >= 0; i--)
		for (int j = N - 1; j >= 0; j--)
			y[i * N + j] = w[j] + x[i * N + j] * alpha;
}
