/* B small products C = A B, in tiles; all of them are S x S. */
#define S 60
#define TILE_I 16	/* tunable: 4 8 30 60 */
#define TILE_K 16	/* tunable: 4 8 30 60 */

static int min(int a, int b)
{
	return a < b ? a : b;
}

static void product(const float *a, const float *b, float *c)
{
	for (int i = 0; i < S * S; i++)
		c[i] = 0.0f;
	for (int i0 = 0; i0 < S; i0 += TILE_I)
		for (int k0 = 0; k0 < S; k0 += TILE_K)
			for (int i = i0; i < min(i0 + TILE_I, S); i++)
				for (int k = k0; k < min(k0 + TILE_K, S); k++)
					for (int j = 0; j < S; j++)
						c[i * S + j] += a[i * S + k] *
								b[k * S + j];
}

void batch_matmul(const float *a, const float *b, float *c, int B)
{
	for (int n = 0; n < B; n++)
		product(a + n * S * S, b + n * S * S, c + n * S * S);
}
