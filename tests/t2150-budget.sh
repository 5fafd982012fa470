#!/bin/sh
# Budgets: each ends a search where it should and is never passed; the champion
# is confirmed before that; what may spend is told first.
. "$(dirname "$0")/lib.sh"

# field <name> <file>: a number or text of a JSON line
field()
{
	sed -n "s/.*\"$1\":\"\{0,1\}\([^,\"}]*\).*/\1/p" "$2"
}

# at_most <got> <cap>
at_most()
{
	awk -v a="$1" -v b="$2" 'BEGIN { exit !(a != "" && a + 0 <= b + 0) }' ||
		{ echo "$1 is over $2"; return 1; }
}

# spends <file> <line...>: from here on the scripted proposer is there
spends()
{
	spends_file=$1
	shift
	printf '%s\n' "$@" >"$spends_file" &&
	MAXKERNEL_PROPOSER=$spends_file &&
	export MAXKERNEL_PROPOSER
}

# The best of all timed nodes is confirmed: no estimate is far above it.
best_is_confirmed()
{
	git maxkernel log --json >log.json &&
	git maxkernel best --json >best.json &&
	awk -v best="$(field speedup best.json)" '
		/"verdict":"faster"/ {
			sub(/.*"est_speedup":/, ""); sub(/,.*/, "")
			if ($0 + 0 > best * 1.011) { print $0 " is over " best; bad = 1 }
		}
		END { exit bad || best == "" || best == "null" }
	' log.json
}

test_that '--attempts: as many are made, and no more' '
	kernel_repo r && cd r && scripted "$PWD/../t" "default hash" &&
	gives 0 git maxkernel explore -q --json --attempts 10 >../out &&
	[ "$(field attempts ../out)" = 10 ] && [ "$(field end ../out)" = attempts ] &&
	[ "$(nodes "$(the_search)" | wc -l)" -eq 10 ] && best_is_confirmed
'

test_that '--attempts: what was interrupted is counted when it is resumed' '
	kernel_repo r && cd r && scripted "$PWD/../t" "default hash" "delay 15" &&
	{ git-maxkernel explore -q --attempts 24 >/dev/null & pid=$!; } &&
	i=0 && while [ $i -lt 200 ] && [ -z "$(git for-each-ref "refs/maxkernel/*/w/*")" ]; do
		sleep 0.05; i=$((i + 1)); done &&
	kill -INT $pid; wait $pid; [ $? -eq 130 ] &&
	had=$(nodes "$(the_search)" | wc -l) && [ "$had" -gt 0 ] && [ "$had" -lt 24 ] &&
	git maxkernel resume -q --json >../out &&
	[ "$(field attempts ../out)" = $((24 - had)) ] &&
	[ "$(nodes "$(the_search)" | wc -l)" -eq 24 ] &&
	gives 1 git maxkernel resume 2>../err >/dev/null && has "its budget is spent" ../err &&
	[ "$(nodes "$(the_search)" | wc -l)" -eq 24 ]
'

test_that '--time: it ends by itself, with its champion confirmed' '
	kernel_repo r && cd r && scripted "$PWD/../t" "default hash" "delay 20" &&
	git maxkernel explore -q --json --time 2 >../out &&
	[ "$(field end ../out)" = time ] && best_is_confirmed
'

test_that '--device-time: it ends by itself, with its champion confirmed' '
	kernel_repo r && cd r && scripted "$PWD/../t" "default hash" "delay 20" &&
	git maxkernel explore -q --json --device-time 1 >../out &&
	[ "$(field end ../out)" = "device time" ] && best_is_confirmed &&
	n=$(nodes "$(the_search)" | wc -l) &&
	gives 0 git maxkernel resume -q --device-time 1 >/dev/null &&
	[ "$(nodes "$(the_search)" | wc -l)" -gt "$n" ]
'

test_that '--tokens: an attempt that would pass the cap is not made' '
	kernel_repo r && cd r && scripted "$PWD/../t" "default hash" &&
	spends "$PWD/../s" "call planner m 100 10 40 0 0.01" "call implementer m 200 0 150 0 0.02" &&
	git maxkernel explore -q --json --policy greedy --proposer scripted --tokens 2400 >../out &&
	[ "$(field end ../out)" = tokens ] && [ "$(field tokens ../out)" = 2000 ] &&
	[ "$(field attempts ../out)" = 4 ] &&
	gives 1 git maxkernel resume -q >/dev/null && [ "$(nodes "$(the_search)" | wc -l)" -eq 4 ] &&
	git maxkernel resume -q --json --tokens 1000 >../out && [ "$(field tokens ../out)" = 1000 ]
'

test_that '--cost: an attempt that would pass the cap is not made' '
	kernel_repo r && cd r && scripted "$PWD/../t" "default hash" &&
	spends "$PWD/../s" "call planner m 100 10 40 0 0.01" "call implementer m 200 0 150 0 0.02" &&
	git maxkernel explore -q --json --policy greedy --proposer scripted --cost 0.1 >../out &&
	[ "$(field end ../out)" = cost ] && [ "$(field attempts ../out)" = 3 ] &&
	at_most "$(field cost ../out)" 0.1
'

test_that 'caps of money hold with many in flight, and with every policy' '
	scripted "$PWD/t" "default hash" "delay 2" &&
	spends "$PWD/s" "call planner m 100 0 60 0 0.013" "empty 20" &&
	for p in adaptive greedy beam evolve hybrid bestofn parallel; do
		kernel_repo $p && (
			cd $p &&
			git maxkernel explore -q --json -j 4 --policy $p --proposer scripted --cost 0.2 --attempts 60 >../out
			[ $? -le 1 ] && at_most "$(field cost ../out)" 0.2 &&
			at_most "$(field attempts ../out)" 60 && at_most 0.01 "$(field cost ../out)"
		) || { echo "$p"; cat out; exit 1; }
	done
'

test_that 'what is spent before a kill counts when it is resumed' '
	kernel_repo r && cd r && scripted "$PWD/../t" "default hash" &&
	spends "$PWD/../s" "call planner m 100 0 100 0 0.01" "die 6 dead" && : >../dead &&
	{ git-maxkernel explore -q --policy greedy --proposer scripted --tokens 2000 >/dev/null; [ $? -eq 137 ]; } &&
	git maxkernel resume -q --json >../out &&
	[ "$(field end ../out)" = tokens ] && at_most "$(field tokens ../out)" 1000
'

test_that '--until: a champion that is fast enough ends it' '
	kernel_repo r && cd r && scripted "$PWD/../t" "default hash" &&
	git maxkernel explore -q --json --attempts 200 --until 1.5 >../out &&
	[ "$(field end ../out)" = until ] && at_most 1.5 "$(field speedup ../out)" &&
	at_most "$(field attempts ../out)" 199 &&
	n=$(nodes "$(the_search)" | wc -l) &&
	git maxkernel resume -q --json >../out && [ "$(field attempts ../out)" = 0 ] &&
	[ "$(nodes "$(the_search)" | wc -l)" -eq "$n" ] &&
	git maxkernel resume -q --json --until 1000 --attempts 4 >../out &&
	[ "$(field attempts ../out)" = 4 ] && [ "$(field end ../out)" = attempts ]
'

test_that 'without a budget it is 60 seconds a kernel' '
	kernel_repo r && cd r && scripted "$PWD/../t" "default build-fail" &&
	sed "s/\[kernel \"mix\"\]/[kernel \"two\"]/" .maxkernel >../more && cat ../more >>.maxkernel &&
	git add . && git commit -qm two &&
	gives 1 git maxkernel explore -q --until 2 --policy beam --width 1 --branches 1 --depth 1 >/dev/null &&
	for s in $(the_search); do
		git show "refs/maxkernel/$s/spec:spec" >../spec && has "\"time_s\":120" ../spec || exit 1
	done
'

test_that 'what spends says what it may cost, and wants a cap' '
	kernel_repo r && cd r && scripted "$PWD/../t" "default hash" &&
	spends "$PWD/../s" "call planner m 100 10 40 0 0.01" "call implementer m 200 0 150 0 0.02" &&
	gives 129 git maxkernel explore --proposer scripted 2>../err &&
	has "spends tokens and money: --attempts, --tokens or --cost" ../err && [ -z "$(the_search)" ] &&
	git maxkernel explore --policy greedy --proposer scripted --attempts 5 >/dev/null 2>../err &&
	has "expected to use 500 tokens and \$0.0300" ../err &&
	has "at most 5 attempts of it, about 2500 tokens and \$0.15" ../err &&
	[ "$(grep -n "expected to use" ../err | cut -d: -f1)" -lt "$(grep -n "baseline" ../err | head -n 1 | cut -d: -f1)" ] &&
	git maxkernel resume --attempts 2 >/dev/null 2>../err && has "at most 2 attempts of it" ../err &&
	git maxkernel explore --policy greedy --proposer scripted --seed 7 --time 1 >/dev/null 2>../err &&
	has "only time bounds what it spends" ../err
'

test_that 'a value that is none is refused' '
	kernel_repo r && cd r && scripted "$PWD/../t" "default hash" &&
	for o in "--time 0" "--time 0.5" "--device-time 0" "--cost 0" "--cost -1" "--until 1" "--until -3" "--tokens 0" \
			"--attempts 0" "--keep 0" "--keep 2" "--policy none" "--proposer none" "--patience 0" "--cost x"; do
		gives 129 git maxkernel explore $o 2>../err || exit 1
		[ -s ../err ] && [ -z "$(the_search)" ] || exit 1
	done
'

# once <file>: no object of it has a key twice at its top
once()
{
	sed 's/\[[^]]*\]/0/g; s/{[^{}]*}/0/2g; s/"error":"[^"]*"/"error":0/' "$1" | grep -o '"[a-z_0-9]*":' |
		sort | uniq -d >once.keys && [ ! -s once.keys ] || { cat once.keys; return 1; }
}

test_that 'a search without a budget gets the usual one when it is resumed' '
	kernel_repo r && cd r && scripted "$PWD/../t" "default build-fail" &&
	git maxkernel explore -q --attempts 2 --policy beam --width 1 --branches 1 --depth 1 >/dev/null
	s=$(the_search) && none=$(git show "refs/maxkernel/$s/spec:spec" | sed "s/\"attempts\":2/\"attempts\":0/" |
		git hash-object -w --stdin) &&
	tree=$(printf "100644 blob %s\tspec\n" "$none" | git mktree) &&
	git update-ref "refs/maxkernel/$s/spec" "$(git commit-tree -m spec -p HEAD "$tree")" &&
	git maxkernel resume "$s" 2>../err >/dev/null; cat ../err
	has "has no budget: it gets 60 s" ../err
'

test_that 'a key stands once in an object' '
	kernel_repo r && cd r && scripted "$PWD/../t" "default hash" &&
	git maxkernel explore -q --json --attempts 12 >../out && once ../out &&
	has "\"device_s\":" ../out
'

test_that 'why it ended is said, and what goes on' '
	kernel_repo r && cd r && scripted "$PWD/../t" "default hash" &&
	git maxkernel explore --attempts 40 --until 1.2 2>../err >/dev/null &&
	has "has its 1.20x: another --until goes on" ../err &&
	git maxkernel status >../out && has "fast enough" ../out &&
	git maxkernel resume 2>../err >/dev/null && has "has its 1.20x" ../err &&
	git maxkernel explore --attempts 3 --seed 2 2>../err >/dev/null; has "has no attempts left in its budget" ../err
'

test_that 'caps below one attempt buy nothing; no cap is rounded' '
	kernel_repo r && cd r && scripted "$PWD/../t" "default hash" &&
	spends "$PWD/../s" "call planner m 100 10 40 0 0.01" "call implementer m 200 0 150 0 0.02" &&
	for cap in "--tokens 100" "--cost 0.025"; do
		gives 1 git maxkernel explore --proposer scripted $cap 2>../err || exit 1
		has "caps are below one attempt" ../err && [ -z "$(the_search)" ] || exit 1
	done && has "\$0.025" ../err &&
	git maxkernel explore --policy greedy --proposer scripted --cost 0.055 2>../err >/dev/null &&
	has "the caps: \$0.055" ../err
'

test_done
