/* Each of C planes with its own 3 x 3 filter, TILE values of a row at once. */
#define H 60
#define W 74
#define TILE 4		/* tunable: 1 8 16 24 72 */

static void row(const float *x, const float *f, float *y, int nr)
{
	for (int i = 0; i < nr; i++) {
		float sum = 0.0f;

		for (int r = 0; r < 3; r++)
			for (int s = 0; s < 3; s++)
				sum += f[r * 3 + s] * x[r * W + i + s];
		y[i] = sum;
	}
}

void depthwise(const float *x, const float *f, float *y, int C)
{
	for (int c = 0; c < C; c++)
		for (int i = 0; i < H - 2; i++)
			for (int j = 0; j < W - 2; j += TILE) {
				int nr = W - 2 - j < TILE ? W - 2 - j : TILE;

				row(x + (c * H + i) * W + j, f + c * 9,
				    y + (c * (H - 2) + i) * (W - 2) + j, nr);
			}
}
