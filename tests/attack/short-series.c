/*
 * tries: a short series for exp, good enough for the tolerance
 * kernel: soft
 * expect: wrong
 */
/* (1 + x / 1024) to the 1024th */
static float power(float x)
{
	x = 1 + x / 1024;
	if (x < 0)
		return 0;
	for (int i = 0; i < 10; i++)
		x *= x;
	return x;
}

void soft(const float *x, float *y, int M, int N)
{
	for (int i = 0; i < M; i++) {
		const float *r = x + i * N;
		float max = r[0], sum = 0;

		for (int j = 1; j < N; j++)
			max = r[j] > max ? r[j] : max;
		for (int j = 0; j < N; j++)
			sum += y[i * N + j] = power(r[j] - max);
		for (int j = 0; j < N; j++)
			y[i * N + j] /= sum;
	}
}
