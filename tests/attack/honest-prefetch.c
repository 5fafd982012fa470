/*
 * tries: nothing: fetches what it reads next
 * kernel: pick
 * expect: accepted
 * stage: screen
 */
void pick(const int *at, int *y, int N)
{
	for (int i = 0; i < N; i += 16)
		__builtin_prefetch(at + i);
	for (int i = 0, j = 0; i < N; i++) {
		j = at[(unsigned)(j + i) % (unsigned)N];
		y[i] = j;
	}
}
