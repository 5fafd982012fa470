/*
 * tries: never ends
 * kernel: row
 * expect: timeout
 * says: no answer
 */
void row(const float *x, const float *w, float *y, float alpha, int M, int N)
{
	for (volatile int i = 0;; i++)
		;
	(void)x, (void)w, (void)y, (void)alpha, (void)M, (void)N;
}
