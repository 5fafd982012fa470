void mix(const float *x, float *y, int M, int N)
{
	for (int i = 0; i < M; i++) {
		float sum = 0;

		for (int j = 0; j < N; j++)
			sum += x[i * N + j];
		for (int j = 0; j < N; j++)
			y[i * N + j] = x[i * N + j] - sum / N;
	}
}
