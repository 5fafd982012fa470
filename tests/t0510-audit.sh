#!/bin/sh
# The mutants of a kernel: a sound section rejects them all, a loose one is
# named with a tolerance that holds.
. "$(dirname "$0")/lib.sh"

# softmax <dir> <atol>: one fixed range of shapes and nearly flat inputs, so
# that the tolerance alone tells right from wrong
softmax()
{
	git init -q "$1" && (
		cd "$1" &&
		cat >sm.c <<-'EOK' &&
		#include <math.h>
		#include <stdint.h>

		static float get(uint16_t b)
		{
			union { uint32_t u; float f; } x = { (uint32_t)b << 16 };

			return x.f;
		}

		static uint16_t put(float f)
		{
			union { float f; uint32_t u; } x = { f };

			return (uint16_t)((x.u + 0x7fff + (x.u >> 16 & 1)) >> 16);
		}

		void sm(int M, int N, const uint16_t *x, uint16_t *y)
		{
			for (int i = 0; i < M; i++) {
				float sum = 0;

				for (int j = 0; j < N; j++)
					sum += expf(get(x[i * N + j]));
				for (int j = 0; j < N; j++)
					y[i * N + j] = put(expf(get(x[i * N + j])) / sum);
			}
		}
		EOK
		cat >.maxkernel <<-EOK &&
		[kernel "sm"]
			file = sm.c
			entry = sm
			arg = dim M
			arg = dim N
			arg = in bf16 x[M][N]
			arg = out bf16 y[M][N]
			input = x uniform(-0.1,0.1)
			require = N >= 500
			time = M=40 N=1000
			rtol = 1e-2
			atol = $2
		EOK
		git add . && git commit -q -m kernel
	)
}

test_that 'a sound section rejects every mutant' '
	kernel_repo r && cd r &&
	git maxkernel audit --json >out &&
	has "\"passed\":0" out &&
	for m in zero constant copy half row fp16 bf16 memo; do
		has "\"mutant\":\"$m\",\"tried\":true,\"passes\":false" out || exit 1
	done
'

test_that 'a tolerance wider than the output lets mutants through, and says so' '
	share loose && softmax r 1e-2 && cd r &&
	gives 1 git maxkernel audit >../out &&
	has "zero      PASSES" ../out &&
	has "copy      rejected  wrong" ../out &&
	has "the loosest tolerance found" ../out
'

test_that 'the tolerance that it advises holds' '
	share loose && cd r &&
	for key in rtol atol; do
		line=$(grep "^	$key = " ../out) &&
		sed -i "s/^[[:space:]]*$key = .*/$line/" .maxkernel || exit 1
	done &&
	git commit -q -a -m tighter &&
	git maxkernel audit >out && has "6 of 6 mutants rejected" out
'

test_that 'an older commit and the work tree can be audited, without advice' '
	softmax r 1e-5 && cd r &&
	git maxkernel audit -q --rev HEAD >out && has "rejected" out &&
	sed -i "s/1e-5/1e-2/" .maxkernel &&
	gives 1 git maxkernel audit --worktree --no-advice >out &&
	has "PASSES" out && hasnt "loosest" out &&
	gives 129 git maxkernel audit --worktree --rev HEAD &&
	gives 129 git maxkernel audit nosuch
'

test_that 'a kernel whose definition is not in its files is told of' '
	kernel_repo r && cd r &&
	sed -i "s/^float mix(/#define NAME mix\nfloat NAME(/" kernels/mix.c &&
	git commit -q -a -m "a name by macro" &&
	gives 1 git maxkernel audit >out &&
	has "no mutant could be made: the definition of '"'mix'"'" out
'

test_that 'add warns of what its draft lets through' '
	make_repo r && cd r &&
	cat >sum.c <<-EOF &&
	void near(const double x[3000], double y[3000])
	{
		for (int i = 0; i < 3000; i++)
			y[i] = 1e-14 * x[i];
	}
	EOF
	git maxkernel add sum.c >out 2>err &&
	has "wrong on purpose, and right by this section: " err &&
	has "git maxkernel audit near" err &&
	has "[kernel \"near\"]" .maxkernel
'

test_that 'audit touches nothing' '
	softmax r 1e-5 && cd r &&
	git for-each-ref >before && git status --porcelain >status &&
	git maxkernel audit --no-advice >/dev/null &&
	git for-each-ref | diff before - && git status --porcelain | diff status -
'

test_done
