/*
 * tries: nothing: reads each row before it writes it
 * kernel: mix
 * expect: accepted
 */
void mix(const float *x, float *y, int M, int N)
{
	for (int i = 0; i < M; i++) {
		double sum = 0;

		for (int j = 0; j < N; j++)
			sum += (double)x[i * N + j];
		for (int j = 0; j < N; j++)
			y[i * N + j] = (float)((double)x[i * N + j] - sum / N);
	}
}
