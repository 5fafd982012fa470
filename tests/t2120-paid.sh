#!/bin/sh
# Attempts that cost money, by a scripted proposer: every policy adds up, a
# process that is killed loses none of it, and what the script says is strict.
. "$(dirname "$0")/lib.sh"

# script <line...>: from here on the scripted proposer does this
script()
{
	printf '%s\n' "$@" >../script &&
	MAXKERNEL_PROPOSER=$PWD/../script && export MAXKERNEL_PROPOSER
}

# ready <line...>: a repository with a kernel, a table and a script, in it
ready()
{
	kernel_repo r && cd r && scripted "$PWD/../table" "default hash" && script "$@"
}

# explored <option...>: a search by it; 1 is "nothing faster"
explored()
{
	git maxkernel explore -q --proposer scripted "$@" >../out 2>../err
	[ $? -le 1 ] && return
	cat ../err
	return 1
}

# total <field>: of the last line of cost --json
total()
{
	git maxkernel cost --json | tail -n 1 | tr ',' '\n' |
		sed -n "s/[{}]//g; s/^\"$1\"://p"
}

# ids: of the calls on the ledger of the search
ids()
{
	for ref in $(git for-each-ref --format='%(refname)' "refs/notes/maxkernel/$(the_search)/metrics/"); do
		git ls-tree -r "$ref" | while read -r _ _ blob _; do
			git cat-file blob "$blob" | sed -n 's/.*"call":"\([^"]*\)".*/\1/p'
		done
	done | sort
}

# others: nodes that cost nothing: of another proposer, or crossed
others()
{
	for c in $(nodes "$(the_search)"); do
		git log -1 --format=%B "$c" |
			grep -E '^Maxkernel-(Proposer: builtin|Op: crossover)' | sed 1q
	done | wc -l
}

# adds_up <attempts>: each that spends made its two calls, on the ledger once
adds_up()
{
	[ "$(total attempts)" = "$1" ] || { git maxkernel cost; return 1; }
	set -- $(($1 - $(others)))
	[ "$(total calls)" = $(($1 * 2)) ] && [ "$1" -gt 0 ] &&
	[ "$(total tokens)" = $(($1 * 1272)) ] && [ "$(total unpriced_calls)" = "$1" ] &&
	[ "$(total unsettled_calls)" = 0 ] && ids >ids && [ "$(wc -l <ids)" -eq $(($1 * 2)) ] &&
	[ -z "$(uniq -d ids)" ] && rm ids &&
	[ "$(total cost)" = "$(awk "BEGIN { printf \"%.10g\", $1 * 0.25 }")" ] && return
	git maxkernel cost --json
	[ ! -e ids ] || uniq -c ids
	return 1
}
CALLS='call planner lab/big-1.5 1000 200 50 7 0.25
call fixer small 10 0 5 0 -'
export CALLS

for policy in bestofn parallel beam greedy evolve hybrid adaptive; do
	test_that "$policy: what was spent adds up" '
		ready "$CALLS" "branch 5" "empty 15" "dup 10" "steps 3" &&
		explored --policy '$policy' --attempts 14 --seed 5 && adds_up 14 &&
		git fsck --strict --no-dangling >fsck 2>&1 && [ ! -s fsck ]
	'
done

test_that 'an attempt that comes to nothing, or to a known state, is paid for' '
	ready "$CALLS" "empty 40" "dup 40" && explored --attempts 20 --seed 3 && adds_up 20 &&
	git maxkernel status --json >json && has "\"no-proposal\":" json && has "\"dup\":" json &&
	git maxkernel cost --by node >out && has "(no-proposal)" out && has "(dup)" out
'

test_that 'where all of it was tried nothing more is spent' '
	ready "$CALLS" "branch 1" && explored --policy bestofn --attempts 30 --seed 3 && n=$(total attempts) &&
	[ "$n" -le 4 ] && adds_up "$n"
'

test_that 'the same seed spends the same, whatever --jobs' '
	ready "$CALLS" "empty 20" "dup 20" "steps 4" && cp -r . ../q && explored --attempts 20 --seed 9 --jobs 1 &&
	ids >../a && states "$(the_search)" kernels/mix.c >../b && cd ../q && explored --attempts 20 --seed 9 --jobs 4 &&
	ids >../c && states "$(the_search)" kernels/mix.c >../d && same ../a ../c && same ../b ../d && [ -s ../d ] && [ -s ../a ]
'

test_that 'a plan of several steps is gone on with by its children' '
	ready "steps 3" && explored --policy beam --attempts 16 --seed 2 && for c in $(nodes "$(the_search)"); do
		git log -1 --format="%(trailers:key=Maxkernel-Plan-Steps,valueonly) %(trailers:key=Maxkernel-Recipe,valueonly)" "$c"
	done | tr -d "\n" | sed "s/)\([0-9 ]\)/)\n\1/g" >../steps && grep -q "^2 *s([0-9])\$" ../steps &&
	! grep -q "^2 .*;" ../steps && grep -q "^1 *s([0-9]); s([0-9])\$" ../steps
'

# dump: "<step> <op> <state> <state of the first parent>" of each node
dump()
{
	for c in $(nodes "$(the_search)"); do
		echo "$(git log -1 --format='%(trailers:key=Maxkernel-Step,valueonly,separator=) %(trailers:key=Maxkernel-Op,valueonly,separator=)' "$c") $(git rev-parse "$c:kernels/mix.c") $(git rev-parse "$c^:kernels/mix.c")"
	done | sort -n
}

# failing <policy> <step>: a search whose proposer fails at a step, gone on with
failing()
{
	(kernel_repo "f$2" && cd "f$2" && script "$CALLS" "branch 2" "fail $2" &&
	git maxkernel explore -q --policy "$1" --proposer scripted --seed 3 --attempts 18 >../out 2>&1
	script "$CALLS" "branch 2" && git maxkernel resume -q >>../out 2>&1; dump >"../got$2")
}

for policy in evolve hybrid adaptive greedy; do
	test_that "$policy: ended in the middle of a plan it goes on as one that was not" '
		kernel_repo one && cd one && scripted "$PWD/../table" "default hash" && script "$CALLS" "branch 2" &&
		{ git maxkernel explore -q --policy '$policy' --proposer scripted --seed 3 --attempts 18 >../out 2>&1; [ $? -le 1 ]; } &&
		dump >../want && cd .. && [ "$(wc -l <want)" -ge 8 ] &&
		for k in 3 6 7 10 12; do failing '$policy' $k && same want got$k || exit 1; done
	'
done

test_that 'a model that is of no use ends the search, not the money' '
	ready "$CALLS" "branch 5" "empty 100" &&
	gives 1 git maxkernel explore -q --json --policy greedy --proposer scripted --attempts 60 >../out &&
	has "\"end\":\"exhausted\"" ../out && n=$(total attempts) && [ "$n" -ge 32 ] && [ "$n" -lt 60 ] && adds_up "$n"
'

test_that 'what was paid for and not judged waits where there is no time' '
	ready "$CALLS" "branch 40" "fail 30" && scripted "$PWD/../table" "default hash" "delay 400" &&
	gives 128 git maxkernel explore -q --policy bestofn --branches 40 --proposer scripted --attempts 60 2>../err &&
	[ "$(git maxkernel log --json | grep -c "\"pending\":true")" -eq 29 ] && script "$CALLS" "branch 40" &&
	git maxkernel resume -q --json --time 1 >../out; [ $? -le 1 ] && has "\"end\":\"time\"" ../out &&
	[ "$(git maxkernel log --json | grep -c "\"pending\":true")" -ge 20 ] && [ "$(total calls)" = 60 ] &&
	scripted "$PWD/../table" "default hash" && git maxkernel resume -q --jobs 4 >../out; [ $? -le 1 ] &&
	! git maxkernel log --json | grep -q "\"pending\":true" && { git maxkernel cost --json | tail -n 1; [ "$(total attempts)" = 60 ] && [ "$(total calls)" = 120 ]; }
'

# killed <policy> <step>: at this step, after its calls were paid
killed()
{
	script "$CALLS" "branch 5" "empty 15" "dup 10" "steps 3" "die $2 die" && : >../die &&
	{ git-maxkernel explore -q --proposer scripted --policy "$1" --attempts 14 --seed 5 >../out 2>../err; [ $? -eq 137 ]; } &&
	[ ! -e ../die ]
}

for at in "bestofn 1" "greedy 6" "beam 3" "evolve 2"; do
	test_that "killed ($at) while an attempt is made: its money is there, once" '
		set -- '"$at"' && ready "$CALLS" && killed "$1" "$2" && [ "$(total unsettled_calls)" -ge 2 ] &&
		git maxkernel cost >../cost && has "in the journal alone" ../cost && paid=$(total cost) &&
		{ git maxkernel resume -q >../out 2>../err; [ $? -le 1 ]; } && adds_up 14 && [ "$(total unsettled_calls)" = 0 ] &&
		echo "$paid $(total cost)" | awk "{ exit !(\$2 >= \$1) }" && kernel_repo ../s && cd ../s &&
		explored --policy "$1" --attempts 14 --seed 5 && states "$(the_search)" kernels/mix.c >../one && cd ../r &&
		states "$(the_search)" kernels/mix.c >../two && same ../one ../two
	'
done

test_that 'a call that was paid and whose attempt is not made again stays' '
	ready "$CALLS" && killed greedy 4 && n=$(total calls) && script "$CALLS" &&
	{ git maxkernel explore -q --proposer scripted --policy greedy --attempts 3 --seed 5 >../out 2>../err; [ $? -le 1 ]; } &&
	[ "$(total calls)" -ge "$n" ] && git maxkernel cost --json >json && has "\"unsettled_calls\":0" json && ids >ids && [ -z "$(uniq -d ids)" ]
'

test_that 'a step that fails ends the search, and what it cost is there' '
	ready "$CALLS" "fail 3" && git maxkernel explore -q --proposer scripted --policy greedy --attempts 9 --seed 5 >../out 2>../err
	[ $? -eq 128 ] && has "step 3 fails" ../err && [ "$(total calls)" = 6 ]
'

test_that 'the scripted proposer is there with a script only' '
	kernel_repo r && cd r && scripted "$PWD/../table" "default hash" &&
	gives 129 git maxkernel explore -q --proposer scripted --attempts 3 2>../err && has scripted ../err &&
	MAXKERNEL_PROPOSER=../none && export MAXKERNEL_PROPOSER &&
	git maxkernel explore -q --proposer scripted --attempts 3 >../out 2>../err; [ $? -ge 128 ] && has "../none" ../err
'

test_that 'a script is read strictly, with the number of the line' '
	kernel_repo r && cd r && scripted "$PWD/../table" "default hash" && n=0 &&
	for line in "branch" "branch 0" "branch 2 3" "branch x" "branch 1001" "call a b 1 2 3 4" "call a b 1 2 3 -4 1" \
	    "call a b 1 2 3 4 x" "call a/b@ b 1 2 3 4 1" "call a b 1 2 3 4 2e9" "call a b 1 2 3 4 5 6 7 8" "delay 60001" \
	    "steps 65" "empty 101" "dup -1" "die 3" "die 0 f" "fail 0" "fail 99999999999" "jump 3"; do
		script "# first" "" "$line" &&
		git maxkernel explore -q --proposer scripted --attempts 3 >../out 2>../err; [ $? -ge 128 ] && has "script:3:" ../err || return 1
		n=$((n + 1))
	done && [ $n -eq 20 ]
'

test_done
