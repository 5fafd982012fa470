/*
 * tries: uses its input as scratch
 * kernel: row
 * expect: crash
 * says: SIGSEGV
 */
void row(const float *x, const float *w, float *y, float alpha, int M, int N)
{
	float *own = (float *)(unsigned long)x;

	for (int i = 0; i < M * N; i++)
		own[i] *= alpha;
	for (int i = 0; i < M; i++)
		for (int j = 0; j < N; j++)
			y[i * N + j] = own[i * N + j] + w[j];
}
