#!/bin/sh
# Several workers make one search through a bare remote: every attempt once,
# the same states as a search of one, though one of them is killed.
. "$(dirname "$0")/lib.sh"
. "$TESTS/workers.sh"

test_that 'three clones, two workers in one of them, one killed at work' '
	share w && kernel_repo src && git clone -q --bare src r.git &&
	alone --attempts 48 --seed 7 --branches 8 >want && [ -s want ] &&
	begun a --attempts 48 --seed 7 --branches 8 &&
	for c in b c victim; do git clone -q r.git $c 2>/dev/null || exit 1; done
	# It dies while it holds a claim: its judge needs 2 s a stage.
	table slow "delay 2000"
	cd victim && { git-maxkernel worker -q >/dev/null 2>&1 & pid=$!; }
	cd .. && i=0 && while [ $i -lt 600 ] && [ -z "$(leases)" ]; do
		sleep 0.05
		i=$((i + 1))
	done
	kill -9 $pid; wait $pid 2>/dev/null
	[ -n "$(leases)" ] && table work "delay 15" &&
	for c in a b c; do
		(cd $c && git maxkernel worker >../out-$c 2>../err-$c
		 echo $? >../status-$c) &
	done
	(cd c && git maxkernel worker --json >../out-c2 2>../err-c2
	 echo $? >../status-c2) &
	wait
	for c in a b c c2; do
		[ "$(cat status-$c)" = 0 ] || { cat err-$c; exit 1; }
	done
	has "\"search\":" out-c2
'

test_that 'every attempt was made once, and by several' '
	share w && git -C a maxkernel pull -q && steps a >steps && seq 48 >all &&
	same all steps &&
	(cd a && for n in $(nodes "$(the_search)"); do
		git log -1 --format="%(trailers:key=Maxkernel-Worker,valueonly)" $n
	done | grep . | sort | uniq -c) >workers && cat workers &&
	[ "$(wc -l <workers)" -ge 3 ]
'

test_that 'the states are those of a search of one' '
	share w && (cd a && states "$(the_search)" kernels/mix.c) >got &&
	same want got
'

test_that 'all clones are equal, sound, and no claim is left' '
	share w && equal a b && equal b c && equal c victim &&
	sound a b c victim && [ -z "$(leases)" ] &&
	for c in a b c victim; do
		(cd $c && git maxkernel best --json) >best-$c || exit 1
	done &&
	sed "s/.*\"node\":\"\([0-9a-f]*\)\".*/\1/" best-a >node-a &&
	sed "s/.*\"node\":\"\([0-9a-f]*\)\".*/\1/" best-b >node-b &&
	same node-a node-b
'

test_that 'two workers in one clone write under two names' '
	share w && id=$(cat c/.git/maxkernel/log/worker) &&
	git -C r.git for-each-ref --format="%(refname)" "refs/maxkernel/*/w/*" >w &&
	grep -q "/w/$id-2\$" w
'

test_that 'a budget that is spent is told of' '
	share w && cd b && table work && gives 1 git maxkernel worker >../out 2>../err &&
	has "its budget is spent" ../err && [ ! -s ../out ]
'

test_that 'a worker has its own budget: no attempt more' '
	share w && cd b && table work && n=$(nodes "$(the_search)" | wc -l) &&
	git maxkernel worker -q --attempts 3 >/dev/null &&
	[ "$(nodes "$(the_search)" | wc -l)" -eq $((n + 3)) ] &&
	cd .. && [ -z "$(leases)" ] && equal a b
'

test_that 'a beam search comes to its end once, as that of one worker' '
	kernel_repo src && git clone -q --bare src r.git &&
	set -- --policy beam --width 2 --branches 4 --depth 3 --attempts 1000 &&
	alone "$@" >want && [ -s want ] && begun a "$@" &&
	git clone -q r.git b 2>/dev/null && table work "delay 10" &&
	for c in a b; do
		(cd $c && git maxkernel worker >../out-$c 2>../err-$c
		 echo $? >../status-$c) &
	done
	wait
	[ "$(cat status-a status-b)" = "0
0" ] || { cat err-a err-b; exit 1; }
	equal a b && sound a b && [ -z "$(leases)" ] &&
	(cd a && states "$(the_search)" kernels/mix.c) >got && same want got &&
	s=$(cd a && the_search) &&
	git -C a log --notes="maxkernel/$s/metrics/*" -1 refs/maxkernel/$s/spec >log &&
	[ "$(grep -c "\"what\":\"done\"" log)" -eq 1 ] &&
	git -C r.git rev-parse --verify -q refs/heads/maxkernel/$s/best/scripted &&
	cd b && gives 1 git maxkernel worker 2>../err && has "is finished" ../err
'

test_done
