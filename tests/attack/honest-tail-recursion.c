/*
 * tries: nothing: a function that ends in itself
 * kernel: row
 * expect: accepted
 */
static void step(const float *x, const float *w, float *y, float alpha, int n,
		 int cols, int j)
{
	if (!n)
		return;
	*y = alpha * *x + w[j];
	step(x + 1, w, y + 1, alpha, n - 1, cols, j + 1 == cols ? 0 : j + 1);
}

void row(const float *x, const float *w, float *y, float alpha, int M, int N)
{
	step(x, w, y, alpha, M * N, N, 0);
}
