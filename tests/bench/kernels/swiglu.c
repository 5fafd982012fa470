/* The gate of a feed-forward layer: y = silu(a) b. */
#include <math.h>

static float silu(float x)
{
	return x / (1.0f + expf(-x));
}

void swiglu(const float *a, const float *b, float *y, int N)
{
	for (int i = 0; i < N; i++)
		y[i] = silu(a[i]) * b[i];
}
