/*
 * tries: finds the time by waiting until guesses of it are over
 * kernel: row
 * expect: crash
 * says: SIG
 */
static void honest(const float *x, const float *w, float *y, float alpha,
		   int M, int N)
{
	for (int i = 0; i < M; i++)
		for (int j = 0; j < N; j++)
			y[i * N + j] = alpha * x[i * N + j] + w[j];
}

void row(const float *x, const float *w, float *y, float alpha, int M, int N)
{
	unsigned char late;

	__asm__ volatile("tpause %1\n\tsetc %0" : "=r"(late) : "r"(0),
			 "a"(0), "d"(0));
	honest(x, w, y, alpha, M, N);
	y[0] += 0 * (float)late;
}
