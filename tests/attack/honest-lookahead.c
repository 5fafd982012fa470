/*
 * tries: nothing: two steps of the recurrence at once
 * kernel: scan
 * expect: accepted
 * stage: screen
 */
void scan(const float *x, float *y, int N)
{
	float s = 0;
	int i = 0;

	for (; i + 2 <= N; i += 2) {
		y[i] = 0.5f * s + x[i];
		s = 0.25f * s + (0.5f * x[i] + x[i + 1]);
		y[i + 1] = s;
	}
	if (i < N)
		y[i] = 0.5f * s + x[i];
}
