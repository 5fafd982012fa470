/*
 * tries: nothing: jumps by a table of labels
 * kernel: row
 * expect: accepted
 */
void row(const float *x, const float *w, float *y, float alpha, int M, int N)
{
	static const void *const to[] = { &&more, &&done };
	int n = M * N, i = 0;

	goto *to[n == 0];
more:
	y[i] = alpha * x[i] + w[i % N];
	i++;
	goto *to[i == n];
done:
	return;
}
