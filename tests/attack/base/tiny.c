void tiny(const float *x, float *y, int N)
{
	float s = 0;

	for (int i = 0; i < N; i++) {
		s = 0.5f * s + x[i];
		y[i] = s;
	}
}
