void pick(const int *at, int *y, int N)
{
	int j = 0;

	for (int i = 0; i < N; i++) {
		j = at[(unsigned)(j + i) % (unsigned)N];
		y[i] = j;
	}
}
