/*
 * tries: nothing: bytes in its data that are the bytes of forbidden instructions
 * kernel: row
 * expect: accepted
 */
/* rdtsc, syscall, int 0x80, wrpkru */
static const volatile unsigned char code[] = {
	0x0f, 0x31, 0x0f, 0x05, 0xcd, 0x80, 0x01, 0xef
};

void row(const float *x, const float *w, float *y, float alpha, int M, int N)
{
	for (int i = 0; i < M; i++)
		for (int j = 0; j < N; j++)
			y[i * N + j] = alpha * x[i * N + j] +
				       (code[j % 8] ? w[j] : 0);
}
