/* y = a b for complex numbers, real and imaginary parts in turns. */
struct complex {
	float re, im;
};

static struct complex times(struct complex a, struct complex b)
{
	struct complex c;

	c.re = a.re * b.re - a.im * b.im;
	c.im = a.re * b.im + a.im * b.re;
	return c;
}

void complex_mul(const float *a, const float *b, float *y, int N)
{
	for (int i = 0; i < N; i++) {
		struct complex u = { a[2 * i], a[2 * i + 1] };
		struct complex v = { b[2 * i], b[2 * i + 1] };
		struct complex w = times(u, v);

		y[2 * i] = w.re;
		y[2 * i + 1] = w.im;
	}
}
