#!/bin/sh
# The main job with the real judge, on a kernel that the program knows nothing
# of: found faster, kept in Git, picked, verified; what candidates may do
# costs them their verdict and nothing else.
. "$(dirname "$0")/lib.sh"

test_that 'explore finds a confirmed faster version' '
	share m && kernel_repo r && cd r && git status --porcelain >../before &&
	gives 0 git maxkernel explore --attempts 10 --json >../out 2>../err &&
	has "\"verdict\":\"confirmed\"" ../out && has "baseline" ../err &&
	has "smallest effect" ../err &&
	git status --porcelain >../after && same ../before ../after &&
	git fsck --strict --no-dangling
'

test_that 'best, status, log, show, graph, frontier, diff tell of it' '
	share m && cd r &&
	git maxkernel best >../best && has mix ../best &&
	git maxkernel status >../status && has mix ../status &&
	git maxkernel log >../log && [ "$(wc -l <../log)" -ge 8 ] &&
	git maxkernel show mix@best >../show && has "Expected" ../show &&
	has "git maxkernel verify" ../show &&
	git maxkernel graph --dot >../dot && has digraph ../dot &&
	git maxkernel frontier >../frontier && [ -s ../frontier ] &&
	git maxkernel diff mix@best >../diff && has "+++ b/kernels/mix.c" ../diff &&
	for c in best status log graph frontier; do
		git maxkernel $c --json >../json || exit 1
		perl -MJSON::PP -ne "decode_json(\$_)" ../json || exit 1
	done &&
	git maxkernel show --json mix@best | perl -MJSON::PP -ne "decode_json(\$_)"
'

test_that 'verify measures the winner again' '
	share m && cd r && { gives 0 git maxkernel verify mix@best >../verify 2>&1 || { cat ../verify; false; }; } &&
	has before: ../verify && has now: ../verify
'

test_that 'pick makes one clean commit with the numbers' '
	share m && cd r && head=$(git rev-parse HEAD) &&
	git maxkernel pick && [ "$(git rev-parse HEAD^)" = "$head" ] &&
	[ "$(git diff --name-only HEAD^)" = kernels/mix.c ] &&
	git log -1 --format=%B >../message && has "Maxkernel-Node:" ../message &&
	has "95 %" ../message && git status --porcelain >../st && same /dev/null ../st &&
	gcc -std=gnu11 -O3 -c -o /dev/null kernels/mix.c &&
	gcc -std=gnu11 -O3 -march=x86-64 -c -o /dev/null kernels/mix.c &&
	clang -std=gnu11 -O3 -c -o /dev/null kernels/mix.c
'

test_that 'the picked version can be searched on' '
	share m && cd r && git maxkernel explore -q --attempts 3 >../again 2>../err
	[ $? -le 1 ] && [ "$(the_search | wc -l)" -eq 2 ]
'

# candidate <what> <verdict> <C statements at the top of mix()>
candidate()
{
	test_that "$1 is: $2" '
		share c && { [ -d r ] || kernel_repo r; } && cd r && git checkout -q . &&
		awk -v "s=$candidate_text" "{ print } /int N, float \*y\)/ { f = 1 } f && /^{/ { print s; f = 0 }" \
			kernels/mix.c >../x.c && cp ../x.c kernels/mix.c &&
		gives 1 git maxkernel measure --worktree --json >../out 2>../err &&
		has "\"verdict\":\"$candidate_verdict\"" ../out &&
		git checkout -q . && git fsck
	'
}

candidate_verdict=crash candidate_text='*(volatile int *)8 = 1;'
candidate 'a null write' crash
candidate_verdict=timeout candidate_text='for (volatile int i = 0;; i++);'
candidate 'an endless loop' timeout
candidate_verdict=wrong candidate_text='if (N > 2) return 0;'
candidate 'no work' wrong
candidate_verdict=crash candidate_text='y[M * N] = 1;'
candidate 'a write past the end' crash
candidate_verdict=crash candidate_text='((float *)x)[0] = 0;'
candidate 'a write to an input' crash
candidate_verdict=wrong candidate_text='alpha *= 1.001f;'
candidate 'a small error' wrong
candidate_verdict=build-fail candidate_text='this is not C;'
candidate 'what is not C' build-fail

test_that 'megabytes of output cost nothing' '
	share c && cd r && git checkout -q . &&
	sed -i "s/#include <math.h>/#include <math.h>\n#include <stdio.h>/; s/float total = 0.0f;/float total = 0.0f; puts(\"SPEEDUP 99\");/" kernels/mix.c &&
	git maxkernel measure --worktree --json >../out 2>../err; [ $? -le 1 ] &&
	hasnt "SPEEDUP 99" ../out && hasnt "SPEEDUP 99" ../err &&
	hasnt "\"verdict\":\"confirmed\"" ../out
'

test_that 'fast-math that breaks NaN and -inf masks is wrong under reassoc' '
	mkdir r && cd r && git init -q && cat >mask.c <<-EOF &&
	#include <math.h>
	void mask(const float *x, const float *m, float *y, int N)
	{
		for (int i = 0; i < N; i++) {
			float v = x[i] * 0.5f + m[i];
			y[i] = isnan(v) ? 3.0f : v == -INFINITY ? 0.0f : expf(v);
		}
	}
	EOF
	cat >.maxkernel <<-EOF &&
	[kernel "mask"]
		file = mask.c
		entry = mask
		arg = in f32 x[N]
		arg = in f32 m[N]
		arg = out f32 y[N]
		arg = dim N
		time = N=100003
		check = N=67
	EOF
	git add . && git commit -qm mask &&
	sed -i "1i #pragma GCC optimize(\"fast-math\")" mask.c &&
	gives 1 git maxkernel measure --worktree --json >out 2>err &&
	has "\"verdict\":\"wrong\"" out
'

test_done
