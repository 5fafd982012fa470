#!/bin/sh
# git maxkernel add: what it drafts, what it proves, what it refuses.
. "$(dirname "$0")/lib.sh"

test_that 'drafts the shipped kernels as their authors described them' '
	git init -q r && cd r && cp "$TOP"/knowledge/kernels/*.c . &&
	git maxkernel add --no-run -q matmul.c linear_gelu.c softmax.c attention.c conv2d.c layer_norm.c >../out &&
	has "arg = in f32 b[500][610]" .maxkernel &&
	has "arg = out f32 c[M][610]" .maxkernel &&
	has "arg = in f32 w[N][K]" .maxkernel && has "arg = in f32 bias[N]" .maxkernel &&
	has "flops = 2*M*N*K" .maxkernel &&
	has "arg = in f32 q[H][T][80]" .maxkernel &&
	has "arg = in f32 x[B][30][50][70]" .maxkernel &&
	has "arg = in f32 eps" .maxkernel &&
	[ "$(grep -c "^.kernel" .maxkernel)" -eq 6 ]
'

test_that 'header, helper, ld, scalar, return value' '
	kernel_repo r && cd r && rm .maxkernel &&
	git maxkernel add --no-run -q kernels/mix.c >/dev/null &&
	has "use = kernels/util.h" .maxkernel && has "arg = ret f32" .maxkernel &&
	has "arg = in f32 alpha" .maxkernel && has "arg = dim ldx" .maxkernel &&
	has "arg = out f32 y[M][N]" .maxkernel
'

test_that 'the section is proven by running the kernel' '
	git init -q r && cd r && git commit -q --allow-empty -m first &&
	cat >scale.c <<-EOF &&
	void scale(const float *x, float *y, int n, float a)
	{
		for (int i = 0; i < n; i++)
			y[i] = a * x[i];
	}
	EOF
	git maxkernel add scale.c >../out 2>../err &&
	has "arg = in f32 x[n]" .maxkernel && has "of the roof" ../err &&
	has "git maxkernel explore scale" ../err
'

test_that 'a kernel that reads past what the draft says is not added' '
	git init -q r && cd r && git commit -q --allow-empty -m first &&
	cat >far.c <<-EOF &&
	void far(const int *at, float *y, int n)
	{
		for (int i = 0; i < n; i++)
			y[i] = y[at[i] * 100000 + 1];
	}
	EOF
	gives 128 git maxkernel add far.c >../out 2>../err && [ ! -e .maxkernel ] &&
	has "does not hold" ../err
'

test_that '--dry-run writes nothing; twice is refused' '
	kernel_repo r && cd r && git maxkernel add -n --no-run -q kernels/mix.c 2>../err
	[ $? -eq 128 ] && has "already, in line 1" ../err && rm .maxkernel &&
	git maxkernel add -n --no-run -q kernels/mix.c >../out && has "entry = mix" ../out &&
	[ ! -e .maxkernel ]
'

test_that 'bad files' '
	kernel_repo r && cd r && echo "int x;" >none.c && mkdir d &&
	printf "void a(float *x) { x[0] = 1; }\nvoid b(float *x) { x[0] = 1; }\n" >two.c &&
	gives 128 git maxkernel add none.c 2>../err && [ -s ../err ] &&
	gives 128 git maxkernel add two.c 2>../err && has "name one" ../err &&
	git maxkernel add -n --no-run -q --entry b two.c >../out && has "entry = b" ../out &&
	gives 128 git maxkernel add gone.c 2>../err && has "gone.c" ../err &&
	gives 128 git maxkernel add d 2>../err &&
	gives 128 git maxkernel add /etc/passwd 2>../err && has "not in this repository" ../err &&
	gives 129 git maxkernel add 2>../err
'

test_that 'from a folder below the top, with a space in its name' '
	kernel_repo "a b" && cd "a b" && rm .maxkernel && cd kernels &&
	git maxkernel add --no-run -q mix.c >/dev/null && has "file = kernels/mix.c" ../.maxkernel
'

test_done
