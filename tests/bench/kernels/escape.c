/*
 * How far z -> z^2 + c has gone after STEPS steps, for N values of c, LANES of
 * them at a time; what is far out stays where it is.
 */
#define STEPS 40
#define LANES 4		/* tunable: 1 8 16 32 64 */

void escape(const float *re, const float *im, float *out, int N)
{
	for (int i0 = 0; i0 < N; i0 += LANES) {
		int nr = N - i0 < LANES ? N - i0 : LANES;
		float x[LANES], y[LANES];

		for (int i = 0; i < nr; i++)
			x[i] = y[i] = 0.0f;
		for (int n = 0; n < STEPS; n++)
			for (int i = 0; i < nr; i++) {
				float xx = x[i] * x[i], yy = y[i] * y[i];
				float u = xx - yy + re[i0 + i];
				float v = 2.0f * x[i] * y[i] + im[i0 + i];
				int in = xx + yy < 4.0f;

				x[i] = in ? u : x[i];
				y[i] = in ? v : y[i];
			}
		for (int i = 0; i < nr; i++)
			out[i0 + i] = x[i] * x[i] + y[i] * y[i];
	}
}
