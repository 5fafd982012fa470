#!/bin/sh
# Tuning a node, on a scripted judge: spaces, templates, limits, going on.
. "$(dirname "$0")/lib.sh"

# tuned_repo <dir>: kernel_repo with two numbers that are marked
tuned_repo()
{
	kernel_repo "$1" && (
		cd "$1" &&
		sed 's/total \/ (M \* N)/(total + 0 * (TILE + UNROLL)) \/ (M * N)/' \
			kernels/mix.c >body &&
		{
			echo '#define TILE 32	/* tunable: 8 16 64 128 */'
			echo '#define UNROLL 4	/* tunable: 1 2 8 */'
			cat body
		} >kernels/mix.c && rm body &&
		git commit -qam 'with numbers'
	)
}

# state <TILE> <UNROLL>: the state id of this setting of kernels/mix.c
state()
{
	sed "s/^\(#define TILE\) [0-9]*/\1 $1/; s/^\(#define UNROLL\) [0-9]*/\1 $2/" \
		kernels/mix.c >../setting.c &&
	printf '%s kernels/mix.c\n%s kernels/util.h\n' \
		"$(git hash-object ../setting.c)" \
		"$(git hash-object kernels/util.h)" | git hash-object --stdin
}

# field <name> <file>: the value of a top member of the JSON object there
field()
{
	sed "s/.*[{,]\"$1\":\(\"[^\"]*\"\|[^,}]*\).*/\1/" "$2" | tr -d '"'
}

# again: the table of the test before judges here too
again()
{
	MAXKERNEL_JUDGE=${1:-$PWD/../table} && export MAXKERNEL_JUDGE
}

tried()
{
	cat .git/maxkernel/log/tune-* | grep -c '"st":'
}

test_that 'a grid: every setting is tried, the best becomes one node' '
	share a && tuned_repo r && cd r &&
	scripted "$PWD/../table" "default slower 0.5" "$(state 64 8) faster 2.5" \
		"$(state 64 4) faster 1.5" "$(state 32 8) faster 1.25" \
		"$(state 128 8) wrong" "$(state 8 1) build-fail" &&
	git rev-parse HEAD >../before && git status --porcelain >>../before &&
	gives 0 git maxkernel tune HEAD >../out 2>../err &&
	git rev-parse HEAD >../after && git status --porcelain >>../after &&
	same ../before ../after &&
	has "all 19 other settings tried (grid): 3 faster, 14 slower, 1 wrong, 1 build-fail" ../out &&
	has "TILE=64 UNROLL=8, confirmed 2.50x" ../out &&
	has "worth: TILE ~2.00x, UNROLL ~1.67x" ../out &&
	[ "$(tried)" -eq 19 ] && s=$(the_search) && [ "$(nodes "$s" | wc -l)" -eq 1 ] &&
	git fsck --strict --no-dangling
'

test_that 'the node says what was tuned, to plain git as well' '
	share a && cd r && again && s=$(the_search) && n=$(nodes "$s") &&
	git log -1 --format=%B "$n" >../message && has "mix: tune TILE=64 UNROLL=8" ../message &&
	has "Maxkernel-Op: tune" ../message && has "Maxkernel-Recipe: tunables(TILE=64,UNROLL=8)" ../message &&
	git diff HEAD "$n" >../diff && has "+#define TILE 64" ../diff && has "+#define UNROLL 8" ../diff &&
	git log --notes="maxkernel/$s/*" -1 "$n" >../log && has "| 64 | 8 | ~2.50x | faster |" ../log &&
	has "TILE\`: 8 16 32 64 128; before: 32" ../log && has "All 19 other settings were tried" ../log &&
	[ "$(git show "maxkernel/$s/best/scripted:kernels/mix.c" | sed -n 1p)" = "$(git show "$n:kernels/mix.c" | sed -n 1p)" ] &&
	git maxkernel log --oneline >../oneline && has "tune" ../oneline
'

test_that 'its trials lie in a blob that its metrics name; show lists them' '
	share a && cd r && again && s=$(the_search) && n=$(nodes "$s") &&
	w=$(cat .git/maxkernel/log/worker) &&
	raw=$(git notes --ref="maxkernel/$s/metrics/$w" show "$n" | sed -n "1s/.*\"raw\":\"\([0-9a-f]*\)\".*/\1/p") &&
	git cat-file blob "$raw" >../raw && [ "$(grep -c "\"set\":" ../raw)" -eq 19 ] &&
	has "\"set\":[\"64\",\"8\"],\"st\":\"$(state 64 8)\",\"verdict\":\"faster\"" ../raw &&
	git maxkernel show "$n" >../show && has "trials      19 settings" ../show &&
	git maxkernel show --json "$n" >../json && has "\"setting\":{\"TILE\":\"128\",\"UNROLL\":\"8\"}" ../json &&
	[ "$(grep -o "\"setting\":" ../json | wc -l)" -eq 19 ]
'

test_that 'once more: nothing is tried again, the node is told as known' '
	share a && cd r && again && cp -r .git/maxkernel/log ../log-before &&
	gives 0 git maxkernel tune HEAD --json >../out 2>../err &&
	[ "$(field known ../out)" = true ] && [ "$(field trials ../out)" -eq 19 ] &&
	cat ../log-before/tune-* >../was && cat .git/maxkernel/log/tune-* >../is && same ../was ../is &&
	[ "$(nodes "$(the_search)" | wc -l)" -eq 1 ]
'

test_that 'a search goes on behind it, and its node is tuned in turn' '
	share a && cd r && again && s=$(the_search) &&
	git maxkernel resume -q --attempts 6 "$s" >/dev/null; [ $? -le 1 ] &&
	[ "$(nodes "$s" | wc -l)" -ge 7 ] &&
	gives 1 git maxkernel tune -q mix@best >../out && has "none is faster than" ../out &&
	git maxkernel status >../status && git fsck --strict --no-dangling
'

test_that 'none faster: status 1, the table, no node, the time on the ledger' '
	tuned_repo r && cd r && scripted "$PWD/../table" "default slower 0.5" "delay 2" &&
	gives 1 git maxkernel tune HEAD >../out 2>../err && has "none is faster" ../out &&
	has "~0.50x" ../out && s=$(the_search) && [ -z "$(nodes "$s")" ] &&
	[ -z "$(git for-each-ref refs/heads/maxkernel)" ] &&
	w=$(cat .git/maxkernel/log/worker) &&
	git for-each-ref --format="%(refname)" "refs/notes/maxkernel/$s/metrics/" >../refs && [ -s ../refs ] &&
	git notes --ref="maxkernel/$s/metrics/$w" show "refs/maxkernel/$s/spec" >../spend &&
	has "\"e\":\"spend\"" ../spend && has "19 settings tried" ../spend &&
	hasnt "\"attempt_s\":0," ../spend && has "\"attempt_s\":" ../spend &&
	git maxkernel cost >../cost && has mix ../cost &&
	gives 1 git maxkernel tune -q HEAD >../out &&
	git notes --ref="maxkernel/$s/metrics/$w" show "refs/maxkernel/$s/spec" >../again && same ../spend ../again
'

test_that 'killed behind the ledger: the time of the trials does not go there twice' '
	tuned_repo r && cd r && scripted "$PWD/../table" "default slower 0.5" "delay 2" &&
	gives 1 git maxkernel tune -q HEAD >../out && s=$(the_search) && w=$(cat .git/maxkernel/log/worker) &&
	f=$(echo .git/maxkernel/log/tune-*) && tail -n 1 "$f" >../paid && has "\"paid\":true" ../paid &&
	git notes --ref="maxkernel/$s/metrics/$w" show "refs/maxkernel/$s/spec" >../once &&
	sed -i "\$d" "$f" && gives 1 git maxkernel tune -q HEAD >../out &&
	git notes --ref="maxkernel/$s/metrics/$w" show "refs/maxkernel/$s/spec" >../twice && same ../once ../twice &&
	tail -n 1 "$f" >../last && same ../paid ../last &&
	sed -i "\$d" "$f" && sed "\$d" "$f" >../lost && cp ../lost "$f" && gives 1 git maxkernel tune -q HEAD >../out &&
	git notes --ref="maxkernel/$s/metrics/$w" show "refs/maxkernel/$s/spec" >../anew && [ "$(wc -l <../anew)" -gt "$(wc -l <../once)" ]
'

test_that 'trials are no attempts of the search that is resumed behind them' '
	tuned_repo r && cd r && scripted "$PWD/../table" "default hash" "delay 15" &&
	{ git-maxkernel explore -q --attempts 24 >/dev/null & pid=$!; } &&
	i=0 && while [ $i -lt 200 ] && [ -z "$(git for-each-ref "refs/maxkernel/*/w/*")" ]; do sleep 0.05; i=$((i + 1)); done &&
	kill -INT $pid; wait $pid; [ $? -eq 130 ] && s=$(the_search) && had=$(nodes "$s" | wc -l) && [ "$had" -lt 24 ] &&
	scripted "$PWD/../none" "default slower 0.5" && gives 1 git maxkernel tune -q mix@root --only TILE --values TILE=33,34 >../out &&
	[ "$(the_search)" = "$s" ] && w=$(cat .git/maxkernel/log/worker) &&
	git notes --ref="maxkernel/$s/metrics/$w" show "refs/maxkernel/$s/spec" >../spend && has "\"step\":0,\"st\":" ../spend &&
	scripted "$PWD/../table" "default hash" && { git maxkernel resume -q --json >../out; [ $? -le 1 ]; } &&
	[ "$(field attempts ../out)" -eq $((24 - had)) ] && [ "$(nodes "$s" | wc -l)" -eq 24 ]
'

test_that 'what is wrong never wins, however fast it is' '
	tuned_repo r && cd r && scripted "$PWD/../table" "default slower 0.9" \
		"$(state 8 8) wrong 9" "$(state 16 8) cheat 9" "$(state 64 8) crash 9" "$(state 128 8) too-good 9" \
		"$(state 32 8) timeout 9" "$(state 16 2) faster 1.2" &&
	git maxkernel tune -q HEAD --json >../out && [ "$(field verdict ../out)" != "" ] &&
	has "\"setting\":{\"TILE\":\"16\",\"UNROLL\":\"2\"},\"best\"" ../out && hasnt "\"setting\":{\"TILE\":\"8\",\"UNROLL\":\"8\"}" ../out
'

test_that '--only, --values and --require say what is tried' '
	tuned_repo r && cd r && scripted "$PWD/../table" "default hash" &&
	git maxkernel tune -q HEAD --only TILE --json >../out; [ $? -le 1 ] &&
	[ "$(field settings ../out)" -eq 4 ] &&
	git maxkernel tune -q HEAD --values TILE=24,32,48 --only UNROLL,TILE --json >../out; [ $? -le 1 ] &&
	[ "$(field settings ../out)" -eq 11 ] && has "\"TILE\":\"24\"" ../out && hasnt "\"TILE\":\"64\"" ../out &&
	git maxkernel tune -q HEAD --require "TILE % (UNROLL * 8) == 0" --require "UNROLL > 1" --json >../out; [ $? -le 1 ] &&
	[ "$(field settings ../out)" -eq 8 ] &&
	gives 129 git maxkernel tune HEAD --only NONE 2>../err && has "there are: " ../err && has "TILE, UNROLL" ../err &&
	gives 129 git maxkernel tune HEAD --values NONE=1 2>../err && has "there are: TILE, UNROLL" ../err &&
	for v in TILE=0 TILE=x TILE= TILE=8,,16 TILE TILE=-1 TILE=65537 =3; do
		gives 129 git maxkernel tune HEAD --values "$v" 2>../err && has "values" ../err || exit 1
	done &&
	gives 129 git maxkernel tune HEAD --require "TILE %" 2>../err && has "expression" ../err &&
	gives 129 git maxkernel tune HEAD --require "M == 1" 2>../err && has "not tuned" ../err &&
	gives 128 git maxkernel tune HEAD --require "TILE == 3" 2>../err && has "no setting is left" ../err
'

test_that 'a number that the section names is one to tune' '
	kernel_repo r && cd r && sed -i "1i #define STEP 4" kernels/mix.c &&
	sed -i "s/total \/ (M \* N)/(total + 0 * STEP) \/ (M * N)/" kernels/mix.c &&
	printf "\ttunable = STEP 2 8 16\n" >>.maxkernel && git commit -qam step &&
	scripted "$PWD/../table" "default slower 0.5" && gives 1 git maxkernel tune -q mix --json >../out &&
	[ "$(field trials ../out)" -eq 3 ] && has "\"STEP\":\"16\"" ../out
'

test_that '--all takes what the proposer can do' '
	tuned_repo r && cd r && scripted "$PWD/../table" "default hash" &&
	git maxkernel tune -q HEAD --all --attempts 40 --json >../out; [ $? -le 1 ] &&
	[ "$(field trials ../out)" -eq 40 ] && [ "$(field way ../out)" = evolution ] &&
	has "\"restrict\":" ../out && has "\"TILE\":" ../out
'

test_that 'a kernel without a number to tune says the way out' '
	kernel_repo r && cd r && scripted "$PWD/../table" "default hash" &&
	gives 128 git maxkernel tune HEAD 2>../err && has "tunable: 8 16 32" ../err
'

# six numbers of eight values each: 262144 settings
large_repo()
{
	kernel_repo "$1" && (
		cd "$1" && cat >in.c <<-'EOF2' &&
		static const int tuned[] = { @A@, @B@, @C@, @D@, @E@, @F@ }; /* a@@b */
		float mix(const float *x, int ldx, float alpha, int M, int N, float *y)
		{
			return tuned[0] * alpha + x[0] + ldx + M + N + y[0];
		}
		EOF2
		for n in A B C D E F; do
			echo "$n = 1 2 3 4 5 6 7 8"
		done >in.space
	)
}

test_that 'evolution: a good one of 262144 within 120 trials, the same whatever --jobs' '
	share e && for j in 1 4; do
		large_repo r$j && cd r$j && scripted "$PWD/../t$j" "default hash" "delay 1" &&
		git maxkernel tune -q HEAD --template in.c --space in.space --attempts 120 --jobs $j --json >../out$j &&
		states "$(the_search)" kernels/mix.c >../s$j && sed "s/\"s\":.*//" .git/maxkernel/log/tune-* | grep "\"st\":" | sort >../t &&
		cut -d, -f2,3 ../t >../trials$j && cd .. || exit 1
	done &&
	same trials1 trials4 && same s1 s4 && [ "$(wc -l <trials1)" -eq 120 ] && [ "$(wc -l <s1)" -eq 1 ] &&
	[ "$(field trials out1)" -eq 120 ] && [ "$(field way out1)" = evolution ] && [ "$(field known out1)" = false ] &&
	awk -v x="$(field speedup out1)" "BEGIN { exit !(x > 3.7) }"
'

test_that 'a template: its text in the place of the file, the places filled' '
	share e && cd r1 && n=$(nodes "$(the_search)") &&
	git show "$n:kernels/mix.c" >../filled && grep -qE "tuned\[\] = \{ [1-8], [1-8], [1-8], [1-8], [1-8], [1-8] \}; /\* a@b \*/" ../filled &&
	git diff --name-only HEAD "$n" >../names && [ "$(cat ../names)" = kernels/mix.c ] &&
	git log -1 --format=%B "$n" >../message && has "Maxkernel-Proposer: tuner" ../message &&
	git log --notes="maxkernel/*" -1 "$n" >../log && has "Template: \`in.c\`, in the place of \`kernels/mix.c\`" ../log &&
	has "seeded evolution (seed 1)" ../log
'

test_that 'another seed tries other settings' '
	share e && cd r1 && again "$PWD/../t1" && git maxkernel tune -q HEAD --template in.c --space in.space --attempts 24 --seed 2 --json >../seed2; [ $? -le 1 ] &&
	[ "$(tried)" -gt 130 ]
'

test_that 'templates and spaces that are none: file and line' '
	large_repo r && cd r && scripted "$PWD/../table" "default hash" &&
	t() { printf "$1" >bad.c && printf "$2" >bad.space && shift 2 &&
		gives "$1" git maxkernel tune HEAD --template bad.c --space bad.space 2>../err && has "$2" ../err; } &&
	t "@A@\n@B@" "A = 1 2\n" 128 "bad.c:2:" && t "@A@\nx@y" "A = 1 2\n" 128 "bad.c:2:" &&
	t "@A@" "A = 1 2\nB = 1\n" 128 "@B@" && t "@A@" "A 1 2\n" 128 "bad.space:1:" &&
	t "@A@" "\nA = (1)\n" 128 "bad.space:2:" && t "@A@" "" 129 "--values" &&
	t "@A@" "$(for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17; do printf "A$i = 1\\\\n"; done)" 128 "over 16 names" &&
	t "@A@" "A = $(seq -s " " 65)" 128 "over 64 values" &&
	head -c 1048577 /dev/zero | tr "\\0" x >bad.c && gives 128 git maxkernel tune HEAD --template bad.c --values A=1 2>../err &&
	gives 129 git maxkernel tune HEAD --template in.c --space in.space --file kernels/util.h 2>../err && has "may change" ../err &&
	gives 128 git maxkernel tune HEAD --template none.c --values A=1 2>../err && has none.c ../err &&
	gives 129 git maxkernel tune HEAD --template in.c --all 2>../err && gives 129 git maxkernel tune HEAD --space in.space 2>../err &&
	gives 129 git maxkernel tune HEAD --attempts 10001 2>../err && gives 129 git maxkernel tune 2>../err && gives 129 git maxkernel tune a b 2>../err
'

test_that 'a template with words of --values alone, for a file that is not there yet' '
	kernel_repo r && cd r && sed -i "s,file = kernels/mix.c,&\n\tfile = kernels/more.h," .maxkernel &&
	: >kernels/more.h && git add . && git commit -qm more &&
	echo "#define MODE_@M@ 1" >in.h && scripted "$PWD/../table" "default slower 0.5" &&
	gives 1 git maxkernel tune HEAD --template in.h --values M=fast,slow,-O3 --file kernels/more.h --json >../out 2>../err &&
	[ "$(field trials ../out)" -eq 3 ] && has "\"M\":\"fast\"" ../out && has "\"M\":\"-O3\"" ../out
'

test_that 'kill -9 at any moment and the same command again: no trial is made twice, the same node' '
	share k && large_repo r && cp -r r alone && cd alone && scripted "$PWD/../table" "default hash" "delay 3" &&
	git maxkernel tune -q HEAD --template in.c --space in.space --attempts 100 >/dev/null && states "$(the_search)" kernels/mix.c >../want &&
	cd ../r && again && i=0 && while [ $i -lt 6 ]; do
		git-maxkernel tune -q HEAD --template in.c --space in.space --attempts 100 --jobs 2 >/dev/null 2>&1 &
		pid=$!
		sleep 0.$((i % 3 + 1)); kill -9 $pid 2>/dev/null; wait $pid 2>/dev/null
		git fsck --strict --no-dangling >../fsck 2>&1 || { cat ../fsck; exit 1; }
		i=$((i + 1))
	done
	[ "$(the_search | wc -l)" -eq 1 ] &&
	gives 0 git maxkernel tune -q HEAD --template in.c --space in.space --attempts 100 >../out && states "$(the_search)" kernels/mix.c >../got && same ../want ../got &&
	[ "$(tried)" -eq 100 ] && grep -ho "\"st\":\"[0-9a-f]*" .git/maxkernel/log/tune-* | sort | uniq -d >../twice && same /dev/null ../twice
'

test_that 'a torn line and a damaged one in the log cost their trials alone' '
	share k && cd r && cp -r . ../torn && cd ../torn && again && f=$(echo .git/maxkernel/log/tune-*) && s=$(the_search) &&
	git update-ref -d "refs/maxkernel/$s/w/$(cat .git/maxkernel/log/worker)" &&
	{ sed "3s/.*/{\"v\":1,\"st\":\"zz/; 5s/\"verdict\":\"[a-z-]*\"/\"verdict\":\"fast\"/" "$f" | head -n 60; printf "{\"v\":1,\"st\":"; } >../f && cp ../f "$f" &&
	git maxkernel tune -q HEAD --template in.c --space in.space --attempts 100 >../out; [ $? -le 1 ] &&
	has "100 of 262144" ../out && [ "$(grep -c "^{.*\"st\":\"[0-9a-f]*\".*}\$" "$f")" -ge 100 ]
'

test_that 'a signal: 130, what was tried is kept and on the ledger, and it goes on' '
	large_repo r && cd r && scripted "$PWD/../table" "default hash" "delay 20" &&
	{ git-maxkernel tune -q HEAD --template in.c --space in.space --attempts 60 >../out & pid=$!; } &&
	i=0 && while [ $i -lt 200 ] && ! grep -qs "\"st\":" .git/maxkernel/log/tune-*; do sleep 0.1; i=$((i + 1)); done &&
	kill -TERM $pid; wait $pid; [ $? -eq 130 ] && n=$(tried) && [ "$n" -gt 0 ] && [ "$n" -lt 60 ] &&
	s=$(the_search) && git notes --ref="maxkernel/$s/metrics/$(cat .git/maxkernel/log/worker)" show "refs/maxkernel/$s/spec" >../spend && has "settings tried" ../spend &&
	scripted "$PWD/../table" "default hash" &&
	gives 0 git maxkernel tune -q HEAD --template in.c --space in.space --attempts 60 && [ "$(tried)" -eq 60 ]
'

test_that 'halt, from elsewhere, is a signal too' '
	large_repo r && cd r && scripted "$PWD/../table" "default hash" "delay 20" &&
	{ git-maxkernel tune -q HEAD --template in.c --space in.space --attempts 200 >../out 2>../err & pid=$!; } &&
	i=0 && while [ $i -lt 200 ] && ! grep -qs "\"st\":" .git/maxkernel/log/tune-*; do sleep 0.1; i=$((i + 1)); done &&
	git maxkernel halt >../halt; wait $pid; [ $? -eq 130 ] && [ "$(tried)" -lt 200 ] &&
	has "the same '\''git maxkernel tune'\'' command goes on" ../halt && hasnt resume ../halt &&
	has "halted; the same command goes on" ../out && hasnt "none is faster" ../out
'

test_that '--until is enough' '
	large_repo r && cd r && scripted "$PWD/../table" "default hash" &&
	git maxkernel tune -q HEAD --template in.c --space in.space --attempts 2000 --until 1.5 --json >../out && [ "$(field end ../out)" = until ] &&
	[ "$(field trials ../out)" -lt 400 ] && awk -v x="$(field speedup ../out)" "BEGIN { exit !(x >= 1.5) }"
'

test_that 'a node that was wrong is not tuned, nor one that another process works on' '
	tuned_repo r && cd r && scripted "$PWD/../table" "default wrong" &&
	git maxkernel explore -q --attempts 4 >/dev/null; n=$(nodes "$(the_search)" | head -n 1) &&
	gives 128 git maxkernel tune -q "$n" 2>../err && has "only a version that is right" ../err &&
	scripted "$PWD/../table" "default slower 0.5" "delay 300" &&
	{ git-maxkernel tune -q HEAD >/dev/null 2>&1 & pid=$!; } &&
	i=0 && while [ $i -lt 100 ] && ! ls .git/maxkernel/log/tune-* >/dev/null 2>&1; do sleep 0.1; i=$((i + 1)); done &&
	gives 128 git maxkernel tune -q HEAD 2>../err && has "another process works on" ../err; r=$?
	kill -9 $pid; wait $pid 2>/dev/null; [ $r -eq 0 ]
'

test_that 'another node: trials that are known are judged anew against it; the winner is confirmed against it too' '
	tuned_repo r && cd r && scripted "$PWD/../table" "default slower 0.5" "$(state 64 8) faster 4" \
		"$(state 64 4) faster 2" "$(state 32 8) faster 1.5" &&
	gives 0 git maxkernel tune -q HEAD >../out && has "(grid): 3 faster, 16 slower" ../out && has "next: git maxkernel show" ../out &&
	gives 1 git maxkernel tune mix@best >../out 2>../err && has "none is faster" ../out && hasnt faster ../err &&
	grep "(grid)" ../out >../tally && has "19 slower" ../tally && hasnt faster ../tally && has "slower        ~0.50x" ../err &&
	gives 0 git maxkernel tune -q mix@root --require "TILE == 64 && UNROLL == 4" >../out &&
	has "TILE=64 UNROLL=4, confirmed 2.00x" ../out && has "the one other setting tried" ../out &&
	has "the champion is" ../out && has "4.00x over the root" ../out && hasnt pick ../out &&
	gives 0 git maxkernel tune -q mix@root --require "TILE == 64 && UNROLL == 4" --json >../out &&
	[ "$(field known ../out)" = true ] && [ "$(field better ../out)" = true ] &&
	gives 1 git maxkernel tune -q mix@best --until 1.2 --json >../out && [ "$(field end ../out)" = until ]
'

test_that 'nothing to tune, no setting, a name that is none: no search is begun' '
	kernel_repo plain && cd plain && scripted "$PWD/../table" "default hash" &&
	gives 128 git maxkernel tune mix 2>../err && has "tunable: 8 16 32" ../err && [ -z "$(git for-each-ref refs/maxkernel)" ] &&
	cd .. && tuned_repo r && cd r && again &&
	gives 128 git maxkernel tune HEAD --require "TILE == 3" 2>../err && has "no setting is left" ../err &&
	gives 129 git maxkernel tune HEAD --require "NOPE > 3" 2>../err && has "'\''NOPE'\'' is not tuned; there are: TILE, UNROLL" ../err &&
	gives 128 git maxkernel tune nope 2>../err && has "no node, revision or kernel '\''nope'\''" ../err &&
	[ -z "$(git for-each-ref refs/maxkernel)" ]
'

test_that 'a commit of several kernels does not say which' '
	tuned_repo r && cd r && sed "s/\"mix\"/\"blend\"/" .maxkernel >../more && cat ../more >>.maxkernel && git commit -qam more &&
	scripted "$PWD/../table" "default slower 0.5" &&
	gives 129 git maxkernel tune HEAD 2>../err && has "2 kernels: name one of mix, blend" ../err &&
	gives 1 git maxkernel tune -q mix >../out && gives 129 git maxkernel tune HEAD 2>../err && has "name one of mix, blend" ../err &&
	gives 1 git maxkernel tune -q mix@root >../out
'

test_done
