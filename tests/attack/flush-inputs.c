/*
 * tries: flushes the shared inputs from the cache, so that the other arm finds them cold
 * kernel: pick
 * expect: slower|same|no-verdict
 * stage: screen
 */
void pick(const int *at, int *y, int N)
{
	int j = 0;

	for (int i = 0; i < N; i++) {
		j = at[(unsigned)(j + i) % (unsigned)N];
		y[i] = j;
	}
	for (int i = 0; i < N; i += 16)
		__asm__ volatile("clflushopt %0" : : "m"(at[i]));
}
