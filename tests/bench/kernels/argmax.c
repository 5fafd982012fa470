/* Where the greatest value of each row stands; the first of equal ones. */
void argmax(const float *x, int *at, float *most, int M, int N)
{
	for (int i = 0; i < M; i++) {
		int best = 0;

		for (int j = 1; j < N; j++)
			if (x[i * N + j] > x[i * N + best])
				best = j;
		at[i] = best;
		most[i] = x[i * N + best];
	}
}
