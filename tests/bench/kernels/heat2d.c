/* One step of the heat equation on a plate, in tiles; the edge stays. */
#define TILE_Y 32	/* tunable: 4 8 128 */
#define TILE_X 32	/* tunable: 8 128 512 */

static int min(int a, int b)
{
	return a < b ? a : b;
}

void heat2d(const float *u, float *v, int H, int W, float c)
{
	for (int i = 0; i < H * W; i++)
		v[i] = u[i];
	for (int y0 = 1; y0 < H - 1; y0 += TILE_Y)
		for (int x0 = 1; x0 < W - 1; x0 += TILE_X)
			for (int y = y0; y < min(y0 + TILE_Y, H - 1); y++)
				for (int x = x0; x < min(x0 + TILE_X, W - 1); x++)
					v[y * W + x] = u[y * W + x] +
						c * (u[(y - 1) * W + x] +
						     u[(y + 1) * W + x] +
						     u[y * W + x - 1] +
						     u[y * W + x + 1] -
						     4.0f * u[y * W + x]);
}
