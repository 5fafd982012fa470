#!/bin/sh
# What the built-in proposer writes, as compilers see it: it compiles, stays
# portable, keeps helpers inlined and loops vectorised, and keeps NaN.
. "$(dirname "$0")/lib.sh"

KERNELS=$TOP/knowledge/kernels
ALL='restrict; vecmath; fastmath(assoc); vw(512)'
SAFE='-Wall -Wextra -Werror'

# rewritten <kernel> <file> <recipe> [<section file>]
rewritten()
{
	"$BUILD/helper/rewrite" "${4:-$KERNELS/.maxkernel}" "$1" "$2" "$3"
}

# section <name> <more lines>: a section with two arrays and a size
section()
{
	printf '[kernel "%s"]\n\tfile = k.c\n\tentry = f\n' "$1" &&
	printf '\targ = in f32 x[n]\n\targ = out f32 y[n]\n\targ = dim n\n' &&
	printf '\ttime = n=1000\n\tcheck = n=7\n%s\n' "${2:-}"
}

compilers=gcc
if command -v clang >/dev/null; then
	compilers='gcc clang'
fi

for pair in matmul:matmul linear-gelu:linear_gelu conv2d:conv2d \
	softmax:softmax layer-norm:layer_norm attention:attention; do
	name=${pair%:*} file=$KERNELS/${pair#*:}.c
	test_that "$name: compiles in every dress, without a warning" '
		case $name in
		softmax | attention | linear-gelu) recipe=$ALL ;;
		*) recipe="restrict; fastmath(assoc); vw(512)" ;;
		esac &&
		rewritten "$name" "$file" \
			"$recipe; ccopt(no-ivopts,unroll-loops)" >k.c &&
		for cc in $compilers; do
			for how in "-O3 -march=native" -O2 "-O0 -std=c99" \
				"-O2 -march=x86-64-v3 -std=c11"; do
				$cc $SAFE $how -c k.c -o k.o || exit 1
			done
		done
	'
done

test_that 'a small helper stays inlined under the pragmas' '
	rewritten linear-gelu "$KERNELS/linear_gelu.c" "$ALL" >k.c &&
	gcc -O3 -march=native -S k.c -o k.s &&
	grep -q "^linear_gelu:" k.s &&
	if grep -E "call|jmp[[:space:]]+(gelu|tanh)" k.s; then exit 1; fi &&
	hasnt "gelu.constprop" k.s
'

test_that 'no call of libm is left' '
	for name in softmax attention; do
		rewritten $name "$KERNELS/$name.c" "$ALL" >k.c &&
		for cc in $compilers; do
			$cc -O3 -march=native -c k.c -o k.o &&
			nm -u k.o >left &&
			if grep -E "exp|max" left; then exit 1; fi ||
				exit 1
		done || exit 1
	done
'

test_that 'gcc vectorises the loops around the functions' '
	section k >mk &&
	for call in expf logf tanhf erff expm1f log1pf sinf cosf; do
		printf "#include <math.h>\n%s\n" \
			"void f(const float *x, float *y, int n)
			{
				for (int i = 0; i < n; i++)
					y[i] = $call(x[i]);
			}" >k.in &&
		for more in "" "; fastmath(assoc)"; do
			rewritten k k.in "restrict; vecmath$more" mk >k.c &&
			gcc -O3 -march=x86-64-v3 -fopt-info-vec -c k.c \
				-o k.o 2>info &&
			{ has "loop vectorized" info || exit 1; } || exit 1
		done || exit 1
	done
'

test_that 'gcc vectorises a running maximum, NaN or not' '
	section k >mk &&
	cat >k.in <<-\EOF &&
	void f(const float *x, float *y, int n)
	{
		float m = x[0];
		for (int i = 1; i < n; i++)
			if (x[i] > m)
				m = x[i];
		y[0] = m;
	}
	EOF
	gcc -O3 -march=x86-64-v3 -fopt-info-vec -x c -c k.in -o k.o 2>info &&
	hasnt "loop vectorized" info &&
	rewritten k k.in "vecmath(maxloop)" mk >k.c &&
	gcc -O3 -march=x86-64-v3 -fopt-info-vec -c k.c -o k.o 2>info &&
	has "loop vectorized" info
'

cat >"$SCRATCH/compare.c" <<'EOF'
#include <math.h>
#include <stdio.h>
#include <string.h>

void softmax(const float *x, float *y, int M, int N);
void naive(const float *x, float *y, int M, int N);

#define ROWS 12
#define WIDTH 100

static float x[ROWS * WIDTH], a[ROWS * WIDTH], b[ROWS * WIDTH];

static int same(float got, float want)
{
	if (isnan(want))
		return isnan(got);
	return fabsf(got - want) <= 1e-5f * fabsf(want) + 1e-9f;
}

int main(void)
{
	int bad = 0;

	for (int i = 0; i < ROWS * WIDTH; i++)
		x[i] = (float)(i * 37 % 101) / 10 - 5;
	x[1 * WIDTH] = NAN;			/* the first of a row */
	x[2 * WIDTH + 50] = NAN;
	x[3 * WIDTH + 99] = -NAN;
	x[4 * WIDTH + 7] = INFINITY;
	for (int i = 0; i < WIDTH; i++)
		x[5 * WIDTH + i] = -INFINITY;	/* a row that is masked */
	for (int i = 10; i < WIDTH; i++)
		x[6 * WIDTH + i] = -INFINITY;
	for (int i = 0; i < WIDTH; i++)
		x[7 * WIDTH + i] = NAN;
	x[8 * WIDTH] = -INFINITY;
	x[9 * WIDTH + 20] = 3e38f;
	for (int i = 0; i < WIDTH; i++)
		x[10 * WIDTH + i] = -0.0f;
	for (int i = 0; i < WIDTH; i++)
		x[11 * WIDTH + i] = 1e-42f * (float)i;
	naive(x, a, ROWS, WIDTH);
	softmax(x, b, ROWS, WIDTH);
	for (int i = 0; i < ROWS * WIDTH; i++) {
		if (same(b[i], a[i]))
			continue;
		printf("row %d column %d: %g, naive %g\n", i / WIDTH,
		       i % WIDTH, b[i], a[i]);
		bad++;
	}
	return bad != 0;
}
EOF

test_that 'NaN, infinities and masks come out as before' '
	sed "s/void softmax/void naive/" "$KERNELS/softmax.c" >naive.c &&
	gcc -O1 -c naive.c &&
	sed "s/max = fmaxf(max, \(.*\));/if (\1 > max) max = \1;/" \
		"$KERNELS/softmax.c" >by_if.c &&
	has "> max) max =" by_if.c &&
	sed "s/void softmax/void naive/" by_if.c >naive_if.c &&
	gcc -O1 -c naive_if.c &&
	for cc in $compilers; do
		for how in "-O3 -march=native" -O3; do
			rewritten softmax "$KERNELS/softmax.c" "$ALL" >k.c &&
			$cc $how -c k.c &&
			gcc "$SCRATCH/compare.c" k.o naive.o -lm -o compare &&
			./compare &&
			rewritten softmax by_if.c "$ALL" >k.c &&
			$cc $how -c k.c &&
			gcc "$SCRATCH/compare.c" k.o naive_if.o -lm \
				-o compare &&
			./compare || exit 1
		done || exit 1
	done
'

test_that 'the comparison sees a NaN that is lost' '
	sed "s/void softmax/void naive/" "$KERNELS/softmax.c" >naive.c &&
	gcc -O1 -c naive.c &&
	sed "s/expf(\(.*\) - max)/expf(fmaxf(\1 - max, -80.0f))/" \
		"$KERNELS/softmax.c" >k.c &&
	gcc -O1 -c k.c &&
	gcc "$SCRATCH/compare.c" k.o naive.o -lm -o compare &&
	gives 1 ./compare
'

test_that 'intrinsics compile under the width that is preferred' '
	section k >mk &&
	cat >k.in <<-\EOF &&
	#include <immintrin.h>
	void f(const float *x, float *y, int n)
	{
		for (int i = 0; i + 8 <= n; i += 8)
			_mm256_storeu_ps(y + i, _mm256_add_ps(
				_mm256_loadu_ps(x + i),
				_mm256_set1_ps(1.0f)));
	}
	EOF
	rewritten k k.in "restrict; fastmath(assoc); vw(512);
		ccopt(no-ivopts)" mk >k.c &&
	for cc in $compilers; do
		for how in -march=skylake-avx512 -march=x86-64-v3; do
			$cc -O2 $how -c k.c || exit 1
		done
	done
'

test_that 'the width for clang is an attribute that gcc compiles too' '
	section k "	cc = clang" >mk &&
	printf "%s\n" "void f(const float *x, float *y, int n) {
		for (int i = 0; i < n; i++) y[i] = x[i] + 1; }" >k.in &&
	rewritten k k.in "restrict; vw(512)" mk >k.c &&
	has "MK_WIDE void f(const float *restrict x" k.c &&
	for cc in $compilers; do
		$cc $SAFE -O2 -march=skylake-avx512 -c k.c || exit 1
		$cc $SAFE -O2 -c k.c || exit 1
	done
'

test_that 'names of the program do not meet those of the functions' '
	section k >mk &&
	cat >k.in <<-\EOF &&
	#include <math.h>
	#define M 3
	#define N 4
	#define K 5
	#define x input
	#define a b
	#define s t
	#define r p
	void f(const float *x, float *y, int n)
	{
		for (int i = 0; i < n; i++)
			y[i] = tanhf(erff(x[i])) + fmaxf(x[i], M);
	}
	EOF
	rewritten k k.in "vecmath" mk >k.c &&
	for cc in $compilers; do
		$cc $SAFE -O2 -c k.c || exit 1
	done
'

test_that 'a broken recipe is an error with its reason' '
	gives 128 rewritten softmax "$KERNELS/softmax.c" "vw(3)" 2>err &&
	has "vw takes" err &&
	gives 128 rewritten softmax "$KERNELS/softmax.c" "vw(" 2>err &&
	has "recipe: " err
'

test_done
