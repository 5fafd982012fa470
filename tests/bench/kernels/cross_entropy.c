/* The loss of each of M rows of C scores against its label. */
#include <math.h>

void cross_entropy(const float *score, const int *label, float *loss, int M,
		   int C)
{
	for (int i = 0; i < M; i++) {
		const float *s = score + i * C;
		float max = -INFINITY, sum = 0.0f;

		for (int c = 0; c < C; c++)
			max = s[c] > max ? s[c] : max;
		for (int c = 0; c < C; c++)
			sum += expf(s[c] - max);
		loss[i] = logf(sum) + max - s[label[i]];
	}
}
