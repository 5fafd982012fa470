/*
 * Causal attention over T positions in H heads of D values: q, k, v and o are
 * H x T x D, and position i looks at the positions 0 to i.
 */
#include <math.h>

#define D 80
#define MAX_T 1024

void attention(const float *q, const float *k, const float *v, float *o,
	       int H, int T)
{
	float p[MAX_T];

	for (int h = 0; h < H; h++) {
		for (int i = 0; i < T; i++) {
			float max = -INFINITY;
			float sum = 0.0f;

			for (int j = 0; j <= i; j++) {
				float dot = 0.0f;

				for (int d = 0; d < D; d++)
					dot += q[(h * T + i) * D + d] *
					       k[(h * T + j) * D + d];
				p[j] = dot / sqrtf(D);
				max = fmaxf(max, p[j]);
			}

			for (int j = 0; j <= i; j++) {
				p[j] = expf(p[j] - max);
				sum += p[j];
			}

			for (int d = 0; d < D; d++) {
				float acc = 0.0f;

				for (int j = 0; j <= i; j++)
					acc += p[j] / sum *
					       v[(h * T + j) * D + d];
				o[(h * T + i) * D + d] = acc;
			}
		}
	}
}
