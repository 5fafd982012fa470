/*
 * tries: does nothing: the answer might lie there already
 * kernel: row
 * expect: wrong
 * says: is never written
 */
void row(const float *x, const float *w, float *y, float alpha, int M, int N)
{
	(void)x, (void)w, (void)y, (void)alpha, (void)M, (void)N;
}
