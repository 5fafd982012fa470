/*
 * tries: nothing: constants in its code that are the bytes of forbidden instructions
 * kernel: row
 * expect: accepted
 */
void row(const float *x, const float *w, float *y, float alpha, int M, int N)
{
	volatile unsigned n = 0x0f31050f, m = 0xcd800f31;

	for (int i = 0; i < M; i++)
		for (int j = 0; j < N; j++)
			y[i * N + j] = alpha * x[i * N + j] +
				       (n != m ? w[j] : 0);
}
