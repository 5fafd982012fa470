/*
 * tries: a second stub by another version of its name
 * kernel: row
 * expect: gate-fail|build-fail|wrong
 */
static void honest(const float *x, const float *w, float *y, float alpha,
		   int M, int N)
{
	for (int i = 0; i < M; i++)
		for (int j = 0; j < N; j++)
			y[i * N + j] = alpha * x[i * N + j] + w[j];
}

__attribute__((used)) void mk_other(void *const *arg)
{
	(void)arg;
}
__asm__(".symver mk_other,mk_call@@V2");

void row(const float *x, const float *w, float *y, float alpha, int M, int N)
{
	honest(x, w, y, alpha, M, N);
}
