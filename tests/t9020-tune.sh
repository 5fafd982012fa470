#!/bin/sh
# Tuning a real kernel: built, checked and timed by the judge.
. "$(dirname "$0")/lib.sh"

test_that 'a number that makes it wrong is found out, the rest is timed' '
	git init -q r && cd r &&
	cat >scale.c <<-\EOF2 &&
	#define STEP 4		/* tunable: 1 8 */
	#define FACTOR 1	/* tunable: 2 */
	void scale(const float *x, float a, int n, float *y)
	{
		int i = 0;

		for (; i + STEP <= n; i += STEP)
			for (int k = 0; k < STEP; k++)
				y[i + k] = a * x[i + k] * FACTOR;
		for (; i < n; i++)
			y[i] = a * x[i] * FACTOR;
	}
	EOF2
	cat >.maxkernel <<-\EOF2 &&
	[kernel "scale"]
		file = scale.c
		entry = scale
		flags = -O2
		arg = in f32 x[n]
		arg = in f32 a = 1.5
		arg = dim n
		arg = out f32 y[n]
		time = n=20001
		check = n=7
	EOF2
	git add . && git commit -qm scale &&
	{ git maxkernel tune HEAD --jobs 2 --json >../out 2>../err; [ $? -le 1 ]; } &&
	cat ../err && has "\"trials\":5" ../out &&
	[ "$(grep -c "\"verdict\":\"wrong\"" .git/maxkernel/log/tune-*)" -eq 3 ] &&
	[ "$(grep -cE "\"verdict\":\"(slower|same|faster)\"" .git/maxkernel/log/tune-*)" -eq 2 ] &&
	hasnt "\"FACTOR\":\"2\"" ../out && git fsck --strict --no-dangling
'

test_done
