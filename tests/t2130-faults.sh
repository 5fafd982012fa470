#!/bin/sh
# Judges that die, judges that fall silent, a disk that is full: counted and
# told, and the search goes on or stops cleanly.
. "$(dirname "$0")/lib.sh"

# state_of <search> <step>: the state id of an attempt
state_of()
{
	for c in $(nodes "$1"); do
		git log -1 --format=%B "$c" | grep -q "^Maxkernel-Step: $2\$" ||
			continue
		for ref in $(git for-each-ref --format='%(refname)' \
			"refs/notes/maxkernel/$1/metrics"); do
			git notes --ref="$ref" show "$c" 2>/dev/null
		done | sed -n 's/.*"st":"\([0-9a-f]*\)".*/\1/p' | head -n 1
	done
}

# verdicts <search>: "<step> <state> <verdict>" of each node, sorted
verdicts()
{
	for c in $(nodes "$1"); do
		for ref in $(git for-each-ref --format='%(refname)' \
			"refs/notes/maxkernel/$1/metrics"); do
			git notes --ref="$ref" show "$c" 2>/dev/null
		done | sed -n 's/.*"st":"\([0-9a-f]*\)".*"verdict":"\([a-z-]*\)".*/\1 \2/p' |
			sed "s/^/$(git log -1 --format='%(trailers:key=Maxkernel-Step,valueonly)' "$c" | head -n 1) /"
	done | sort -n
}

test_that 'a search without faults' '
	share k && kernel_repo r && cp -r r alone && cd alone &&
	scripted "$PWD/../table" "default hash" &&
	git maxkernel explore -q --policy greedy --attempts 16 --seed 5 >/dev/null; [ $? -le 1 ] &&
	s=$(the_search) && verdicts "$s" >../want && state_of "$s" 3 >../third &&
	state_of "$s" 6 >../sixth && [ "$(wc -c <../third)" -eq 41 ] && [ "$(wc -c <../sixth)" -eq 41 ]
'

test_that 'a judge that dies: no verdict for its attempt, told, the search goes on' '
	share k && cp -r r dies && cd dies &&
	scripted "$PWD/../t-dies" "default hash" "$(cat ../third) die" &&
	git maxkernel explore -q --policy greedy --attempts 16 --seed 5 >/dev/null 2>../err; [ $? -le 1 ] &&
	has "the judge was lost and is started anew" ../err && s=$(the_search) &&
	verdicts "$s" >../got && has "3 $(cat ../third) no-verdict" ../got &&
	[ "$(wc -l <../got)" -ge 16 ] && git maxkernel status "$s" >../out && has "1 no-verdict" ../out
'

test_that 'the same with two judges: one is replaced, the other goes on' '
	share k && cp -r r dies2 && cd dies2 &&
	scripted "$PWD/../t-dies" "default hash" "delay 3" "$(cat ../third) die" &&
	git maxkernel explore -q --policy greedy --attempts 16 --seed 5 --jobs 2 >/dev/null 2>../err; [ $? -le 1 ] &&
	verdicts "$(the_search)" >../got2 && same ../got ../got2
'

test_that 'a judge that falls silent is ended: no verdict, told, the search goes on' '
	share k && cp -r r stuck && cd stuck && git config maxkernel.judgeSilence 1 &&
	scripted "$PWD/../t-stuck" "default hash" "$(cat ../third) stuck" &&
	git maxkernel explore -q --policy greedy --attempts 16 --seed 5 >/dev/null 2>../err; [ $? -le 1 ] &&
	has "it has said nothing for 1 s (check)" ../err &&
	verdicts "$(the_search)" >../got3 && same ../got ../got3
'

test_that 'a judge that is lost time and again ends the search, and nothing written is lost' '
	share k && cp -r r gone && cd gone &&
	scripted "$PWD/../t-gone" "default die" &&
	gives 128 git maxkernel explore -q --policy greedy --attempts 16 --seed 5 2>../err &&
	has "the judge was lost" ../err && git fsck --strict --no-dangling &&
	scripted "$PWD/../t-gone" "default hash" && s=$(the_search) &&
	git maxkernel resume -q "$s" >/dev/null; [ $? -le 1 ] &&
	verdicts "$s" >../got4 && [ "$(awk "{print \$1}" ../got4 | sort -u | wc -l)" -ge 16 ]
'

test_that 'bad judgeSilence is refused' '
	share k && cd r && for v in x -1 1e9; do
		gives 128 git -c maxkernel.judgeSilence=$v maxkernel explore -q --attempts 1 2>../err &&
		has judgeSilence ../err || exit 1
	done
'

test_done
