/*
 * tries: never returns: waits for the next input itself, and begins at once
 * kernel: row
 * expect: slower|same|no-verdict|timeout
 * stage: screen
 *
 * It is stopped while inputs are written, so that there is nothing to see
 * before the clock runs.
 */
/* Words of the page that judge and worker share. */
#define CTL ((volatile unsigned *)0x548000000000)
enum { SLOTS = 5, GO = 20, N_CALLS = 23, DONE, STAGE, MXCSR, FPCW, SYSCALL,
       ERROR, TEXT };

#define TABLE ((void *const *)0x540000000000)

static void honest(const float *x, const float *w, float *y, float alpha,
		   int M, int N)
{
	for (int i = 0; i < M; i++)
		for (int j = 0; j < N; j++)
			y[i * N + j] = alpha * x[i * N + j] + w[j];
}

static void batch(unsigned from)
{
	for (unsigned i = from; i < CTL[N_CALLS]; i++) {
		void *const *arg = TABLE + i * 6;

		honest(arg[0], arg[1], arg[2], *(float *)arg[3],
		       *(int *)arg[4], *(int *)arg[5]);
	}
}

void row(const float *x, const float *w, float *y, float alpha, int M, int N)
{
	honest(x, w, y, alpha, M, N);
	if (CTL[SLOTS] < 3)
		return;
	batch(1);
	for (;;) {
		unsigned go = CTL[GO];
		float old = x[0];

		CTL[MXCSR] = 0x1f80;
		CTL[FPCW] = 0x37f;
		CTL[DONE] = go;
		while (CTL[GO] == go && *(const volatile float *)x == old)
			;
		while (CTL[GO] == go)
			;
		batch(0);
	}
}
