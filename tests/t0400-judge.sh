#!/bin/sh
# The judge by itself, driven by JSON lines as core/judge/wire.h says.

. "$(dirname "$0")/lib.sh"

JUDGE=$MAXKERNEL_EXEC_PATH/git-maxkernel-judge

# One kernel: a sum over rows with the loop in the slow order, about 1 ms.
cat >"$SCRATCH/root.c" <<'C'
void colsum(const float *x, float *y, int M, int N)
{
	for (int j = 0; j < N; j++) {
		float s = 0;
		for (int i = 0; i < M; i++)
			s += x[i * N + j] * x[i * N + j];
		y[j] = s;
	}
}
C
cat >"$SCRATCH/fast.c" <<'C'
void colsum(const float *restrict x, float *restrict y, int M, int N)
{
	for (int j = 0; j < N; j++)
		y[j] = 0;
	for (int i = 0; i < M; i++)
		for (int j = 0; j < N; j++)
			y[j] += x[i * N + j] * x[i * N + j];
}
C
SECTION='file = colsum.c\nentry = colsum\ncc = gcc\nflags = -O3 -march=native\narg = in f32 x[M][N]\narg = out f32 y[N]\narg = dim M\narg = dim N\ntime = M=600 N=500\ncheck = M=37 N=19\nflops = 2*M*N\n'

# setup [section] [root.c]: root, aux and work folders here, and ./in
setup()
{
	mkdir root aux work &&
	cp "${2:-$SCRATCH/root.c}" root/colsum.c &&
	cp root/colsum.c aux/ &&
	printf '{"op":"open","id":1,"name":"colsum","section":"%s","root":"%s","aux":"%s","work":"%s","sandbox":"auto","flag_arms":0}\n' \
		"${1:-$SECTION}" "$PWD/root" "$PWD/aux" "$PWD/work" >in
}

# candidate <key> <file>: a build request for it
candidate()
{
	mkdir "src-$1" && cp "$2" "src-$1/colsum.c" &&
	printf '{"op":"build","id":10,"key":"%s","src":"%s"}\n' "$1" \
		"$PWD/src-$1" >>in
}

# ask <op> <id> <key> [against]
ask()
{
	printf '{"op":"%s","id":%s,"key":"%s","against":"%s","against_lr":0}\n' \
		"$1" "$2" "$3" "${4:-root}" >>in
}

# judge: all of ./in; the last lines are in ./out, progress left out
judge()
{
	timeout 120 "$JUDGE" <in >raw
	judge_status=$?
	grep -v '"e":"progress"' raw >out
	cat out
	return $judge_status
}

# variant <sed script>: the root's source changed, in ./new.c
variant()
{
	sed "$1" "$SCRATCH/root.c" >new.c && ! cmp -s new.c "$SCRATCH/root.c"
}

# bad <key> <id> <sed script>: a changed root, built as key, checked as id
bad()
{
	variant "$3" && candidate "$1" new.c && ask check "$2" "$1"
}

# done_line <id>: the reply to that request, in ./reply
done_line()
{
	grep "\"id\":$1,\"e\":\"done\"" out >reply ||
		{ echo "no reply to $1"; tail -n 3 out; return 1; }
}

test_that 'one session takes all that candidates do' '
	share one && setup &&
	candidate f1 "$SCRATCH/fast.c" &&
	ask check 11 f1 && ask screen 12 f1 && ask confirm 13 f1 &&
	candidate c1 "$SCRATCH/root.c" && ask check 21 c1 &&
	ask confirm 22 c1 &&
	bad s1 31 "s/float s = 0;/float s = 0; for (volatile int q = 0; q < 20000; q++);/" &&
	ask screen 32 s1 &&
	bad k1 41 "s/i < M;/i < M - 1;/" &&
	bad k2 42 "s/j < N;/j < N - 1;/" &&
	bad k3 43 "s/y\[j\] = s;/y[j] = s * 1.00002f;/" &&
	bad k4 44 "s/float s = 0;/float s = 0; *(volatile int *)16 = 1;/" &&
	bad k5 45 "s/float s = 0;/float s = 0; for (volatile int q = 0;;) q++;/" &&
	bad k6 46 "s/float s = 0;/float s = x[M * N + 1100] * 0.0f;/" &&
	bad k7 47 "s/y\[j\] = s;/y[j] = s; y[N + 1100] = s;/" &&
	bad k8 48 "s/float s = 0;/float s = 0; ((float *)x)[j] = 1;/" &&
	bad k9 49 "s/float s = 0;/static float k; float s = k; k += 1;/" &&
	bad k10 50 "s/s += x\[i \* N + j\] \* x\[i \* N + j\];/{ float v = x[i * N + j]; s += v == v ? v * v : 0; }/" &&
	bad k11 51 "s/y\[j\] = s;/y[j] = s; y[-1] = s;/" &&
	sed "s/^void/static volatile float t;\nvoid/; s/float s = 0;/t = 0; for (volatile int q = 0; q < 40000; q++);/; s/s += /t += /; s/= s;/= t;/" "$SCRATCH/root.c" >new.c &&
	candidate k12 new.c && ask check 52 k12 &&
	ask check 91 f1 &&
	judge
'

test_that 'open tells device, oracle, compiler and the time of the root' '
	share one && done_line 1 &&
	has "\"ok\":true,\"error\":null" reply &&
	grep -Eq "\"device\":\"[a-z0-9-]+-t1\"" reply &&
	grep -Eq "\"sandbox\":\"S[123]\"" reply &&
	has "\"oracle\":\"auto\"" reply &&
	has "\"compiler\":\"gcc " reply &&
	grep -Eq "\"resolution\":0\.[0-9]+" reply &&
	grep -Eq "\"shape\":\"M=600 N=500\",\"time_ns\":[0-9]" reply &&
	has "\"e\":\"progress\",\"doing\":\"building the root\"" raw
'

test_that 'an honest faster variant is confirmed, with its samples' '
	share one &&
	done_line 11 && has "\"verdict\":\"same\"" reply &&
	done_line 12 && has "\"verdict\":\"faster\",\"lr\":" reply &&
	done_line 13 && has "\"verdict\":\"confirmed\"" reply &&
	has "\"holdout\":true" reply &&
	grep -Eq "\"speedup\":[0-9.]+,\"ci_low\":[0-9.]+,\"ci_high\":[0-9.]+" reply &&
	has "\"samples\":\"f1-samples.json\"" reply &&
	grep -q "\"lr\":\[[0-9]" work/f1-samples.json &&
	grep -Eq "\"sets\":\[\"[0-9a-f]{16}\"" work/f1-samples.json
'

test_that 'an equal copy is not confirmed' '
	share one &&
	done_line 21 && has "\"verdict\":\"same\"" reply &&
	done_line 22 && hasnt confirmed reply &&
	grep -Eq "\"verdict\":\"(same|slower|no-verdict)\"" reply
'

test_that 'a far slower one costs one launch' '
	share one &&
	done_line 32 && has "\"verdict\":\"slower\"" reply &&
	has "\"launches\":1," reply
'

# verdict <title> <id> <verdict> <text in the error>
verdict()
{
	test_that "$1" "
		share one && done_line $2 &&
		has '\"verdict\":\"$3\"' reply && has '$4' reply
	"
}

verdict 'a wrong result names element and shape' 41 wrong 'should be'
verdict 'a result that is never written' 42 wrong 'is never written'
verdict 'a result off by 2 in 100000, by its rms error' 43 wrong 'rms error'
verdict 'a crash' 44 crash SIGSEGV
verdict 'a hang' 45 timeout 'no answer'
verdict 'a read past the end' 46 crash SIGSEGV
verdict 'a write past the end' 47 crash SIGSEGV
verdict 'a write to its inputs' 48 crash SIGSEGV
verdict 'state kept between calls' 49 wrong 'should be'
verdict 'NaN that is swallowed' 50 wrong NaN
verdict 'a static buffer that two threads share' 52 wrong 'two threads at once'

test_that 'a write just before an output, into slack or the guard page' '
	share one && done_line 51 &&
	grep -Eq "\"verdict\":\"(wrong|crash)\"" reply &&
	grep -Eq "writes outside|SIGSEGV" reply
'

verdict 'after all of them the judge still works' 91 same '"error":null'

test_that 'a system call that leaves the process' '
	setup &&
	bad k1 11 "s/float s = 0;/float s = 0; __asm__ volatile(\"syscall\" : : \"a\"(231), \"D\"(0) : \"rcx\", \"r11\");/" &&
	printf "#include <stdlib.h>\n" >exit.c &&
	sed "s/float s = 0;/float s = 0; exit(0);/" "$SCRATCH/root.c" >>exit.c &&
	candidate k2 exit.c && sed -i "s/\"id\":10,\"key\":\"k2\"/\"id\":12,\"key\":\"k2\"/" in &&
	{ judge || [ $? -eq 1 ]; } &&
	grep -Eq "\"id\":1[01],.*\"verdict\":\"(gate-fail|crash|cheat)\"" out
'

test_that 'what does not compile says why' '
	setup && variant "s/float s = 0;/float s = nothing;/" &&
	candidate k1 new.c && judge &&
	has "\"verdict\":\"build-fail\"" out && has "colsum.c:4" out &&
	has "nothing" out
'

test_that 'a root that does not compile is the fault of the task' '
	variant "s/float s = 0;/float s = nothing;/" &&
	setup "$SECTION" "$PWD/new.c" && judge &&
	has "\"ok\":false" out &&
	has "the kernel at the root does not compile: " out
'

test_that 'so is one that is wrong by its own reference' '
	setup "${SECTION}reference = ref.c:colsum\n" &&
	sed "s/s += /s += 2 * /" "$SCRATCH/root.c" >aux/ref.c && judge &&
	has "\"ok\":false" out &&
	has "the kernel at the root is wrong by its own reference: y[" out
'

# exact: a reference that sums in double, in aux/ref.c
exact()
{
	sed "s/float s = 0;/double s = 0;/; s/s += x/s += (double)x/" \
		"$SCRATCH/root.c" >aux/ref.c && ! cmp -s aux/ref.c root/colsum.c
}
SANE="${SECTION}reference = ref.c:colsum\natol = 1e-3\nrtol = 1e-3\n"

test_that 'a reference may be more exact than the root' '
	setup "$SANE" && exact && variant "s/i < M/i < M - 0/" &&
	candidate k1 new.c && ask check 11 k1 &&
	bad k2 12 "s/y\[j\] = s;/y[j] = s * 1.0002f;/" &&
	judge &&
	has "\"ok\":true" out && has "\"oracle\":\"auto\"" out &&
	done_line 11 && has "\"verdict\":\"same\"" reply &&
	done_line 12 && has "\"verdict\":\"wrong\"" reply &&
	has "rms error" reply
'

test_that 'which makes no wrong root right' '
	variant "s/y\[j\] = s;/y[j] = s * 1.01f;/" &&
	setup "$SANE" "$PWD/new.c" && exact && judge &&
	has "\"ok\":false" out &&
	has "the kernel at the root is wrong by its own reference: y[" out
'

test_that 'nor one that crashes' '
	variant "s/float s = 0;/float s = 0; *(volatile int *)16 = 1;/" &&
	setup "$SANE" "$PWD/new.c" && exact && judge &&
	has "\"ok\":false" out &&
	has "the kernel at the root fails: killed by SIGSEGV" out
'

# unbuilt <key> <value> <text>: the section with this line; open says text
unbuilt()
{
	rm -rf root aux work &&
	setup "${SECTION}$1 = $2\n" && cp root/colsum.c aux/ref.c &&
	judge && has "\"ok\":false" out && has "\"error\":\"$3" out
}

test_that 'what else the section names is told by its key when it fails' '
	unbuilt reference ref.c:zzz "reference ref.c:zzz does not build: undefined reference to" &&
	unbuilt reference "ref.c:zzz double" "reference ref.c:zzz does not build: " &&
	unbuilt baseline ref.c:zzz "baseline ref.c:zzz does not build: " &&
	unbuilt rival ref.c:zzz "rival ref.c:zzz does not build: " &&
	unbuilt reference none.c:zzz "reference none.c:zzz does not build: "
'

test_that 'an input comes from a file, which must be there' '
	setup "${SECTION}input = x file(data/x.bin)\nmath = finite\n" &&
	judge && has "\"ok\":false" out &&
	has "\"error\":\"argument '\''x'\'': there is no input file '\''data/x.bin'\''\"" out &&
	mkdir aux/data && rm -rf work && mkdir work &&
	: "1 and 2 by turns, so that a sum of squares needs no input" &&
	printf "\000\000\200?\000\000\000@" >aux/data/x.bin &&
	bad k1 11 "s/s += .*;/s += (i * N + j) % 2 ? 4 : 1;/" &&
	judge && has "\"ok\":true" out &&
	done_line 11 && has "\"verdict\":\"same\"" reply
'

test_that 'and one that writes out of bounds' '
	variant "s/y\[j\] = s;/y[j] = s; y[N + 1100] = s;/" &&
	setup "$SECTION" "$PWD/new.c" && judge &&
	has "\"ok\":false" out && has "fails at" out
'

test_that 'an oracle that calls a single-precision function is not used' '
	sed "s/^void/float root_of(float) __asm__(\"sqrtf\");\nvoid/; s/y\[j\] = s;/y[j] = root_of(s);/" \
		"$SCRATCH/root.c" >new.c &&
	setup "$SECTION" "$PWD/new.c" && judge &&
	has "\"ok\":true" out && has "\"oracle\":\"native\"" out &&
	has "sqrtf" out
'

test_that 'nor one that disagrees with the reference' '
	sed "s/y\[j\] = s;/{ union { float f; unsigned u; } v; v.f = s; v.u \&= 0xfffff000u; y[j] = v.f; }/; s/i \* N + j\] \* /i * N + j] * (float)(sizeof(float) \/ 4) * /" \
		"$SCRATCH/root.c" >new.c &&
	setup "$SECTION" "$PWD/new.c" && judge &&
	has "\"ok\":true" out && has "\"oracle\":\"native\"" out
'

test_that 'a double version that the section names is the oracle' '
	setup "${SECTION}reference = ref.c:sums double\n" &&
	sed "s/colsum/sums/; s/float/double/g" "$SCRATCH/root.c" >aux/ref.c &&
	judge && has "\"ok\":true" out && has "\"oracle\":\"given\"" out
'

test_that 'a bad request ends the judge with one line' '
	for r in "{\"op\":\"check\",\"id\":1,\"key\":\"a\"}" "{}" "[]" "x" \
		"{\"op\":\"open\",\"id\":1}" "{\"op\":\"dance\",\"id\":1}"
	do
		echo "$r" >in && gives 1 judge &&
		has "\"fatal\":true" out && [ "$(wc -l <out)" -eq 1 ] || exit 1
	done
'

test_that 'a key is no path' '
	setup &&
	echo "{\"op\":\"build\",\"id\":2,\"key\":\"../x\",\"src\":\"/\"}" >>in &&
	gives 1 judge && has "no proper" out && [ ! -e x.so ]
'

test_that 'the end of its input ends the judge while it works' '
	setup && mkfifo pipe &&
	{ "$JUDGE" <pipe >raw & } && pid=$! &&
	exec 7>pipe && cat in >&7 &&
	n=0 && until grep -q progress raw || [ $n -gt 100 ]; do
		sleep 0.1; n=$((n + 1))
	done
	exec 7>&- &&
	n=0 && while kill -0 $pid 2>/dev/null && [ $n -lt 300 ]; do
		sleep 0.1; n=$((n + 1))
	done
	grep -q progress raw && ! kill -0 $pid 2>/dev/null
'

test_done
