#!/bin/sh
# Workers when something is wrong: a remote that is away, records that are
# missing, a copied clone, signals, another machine, nothing to do.
. "$(dirname "$0")/lib.sh"
. "$TESTS/workers.sh"

test_that 'the remote is away for some seconds: they go on' '
	kernel_repo src && git clone -q --bare src r.git &&
	git config --global maxkernel.leaseSeconds 30 &&
	alone --attempts 32 --seed 5 --branches 8 >want && [ -s want ] &&
	begun a --attempts 32 --seed 5 --branches 8 &&
	git clone -q r.git b 2>/dev/null && table work "delay 40" &&
	for c in a b; do
		(cd $c && git maxkernel worker >../out-$c 2>../err-$c
		 echo $? >../status-$c) &
	done
	i=0; while [ $i -lt 200 ] && [ "$(leases | wc -l)" -lt 1 ]; do
		sleep 0.05
		i=$((i + 1))
	done
	mv r.git away && sleep 3 && mv away r.git
	wait
	[ "$(cat status-a status-b)" = "0
0" ] || { cat err-a err-b; exit 1; }
	has "can be reached again" err-a && has "can be reached again" err-b &&
	equal a b && sound a b && steps a >steps && seq 32 >all &&
	same all steps && (cd a && states "$(the_search)" kernels/mix.c) >got &&
	same want got && [ -z "$(leases)" ]
	good=$?; git config --global maxkernel.leaseSeconds 3; [ $good -eq 0 ]
'

test_that 'nodes without a record, their worker being dead, are judged as they are' '
	kernel_repo src && git clone -q --bare src r.git &&
	begun a --attempts 16 --branches 4 && cd a && s=$(the_search) &&
	table work && { git maxkernel resume -q --attempts 3 >/dev/null; cd ..; } &&
	git -C a maxkernel push -q && n=$(steps a | wc -l) && [ "$n" -ge 3 ] &&
	ref=refs/notes/maxkernel/$s/metrics/$(cat a/.git/maxkernel/log/worker) &&
	git -C r.git update-ref -d $ref && git clone -q r.git b 2>/dev/null &&
	(cd b && { git maxkernel worker -q >../out 2>../err || exit 1; }
	 git maxkernel log --json >../log) &&
	steps b >steps && seq 16 >all && same all steps &&
	[ "$(grep -c "\"step\":" log)" -ge 16 ] && hasnt "\"pending\":true" log &&
	git -C b ls-tree -r refs/notes/maxkernel/$s/metrics/$(cat b/.git/maxkernel/log/worker) >notes &&
	[ "$(wc -l <notes)" -ge 16 ]
'

test_that 'a copied clone takes a name of its own on the way' '
	kernel_repo src && git clone -q --bare src r.git &&
	begun a --attempts 24 --branches 8 && cp -r a copy &&
	table work "delay 5" &&
	for c in a copy; do
		(cd $c && git maxkernel worker >../out-$c 2>../err-$c
		 echo $? >../status-$c) &
	done
	wait
	[ "$(cat status-a status-copy)" = "0
0" ] || { cat err-a err-copy; exit 1; }
	[ "$(cat err-a err-copy | grep -c "another clone writes as worker")" -ge 1 ] &&
	equal a copy && sound a copy && steps a | uniq >steps && seq 24 >all &&
	same all steps
'

test_that 'a signal: 130, what is finished is there, the claims are given back' '
	share s && kernel_repo src && git clone -q --bare src r.git &&
	begun a --attempts 500 --branches 8 && git clone -q r.git b 2>/dev/null &&
	table work "delay 60" && cd b &&
	{ git-maxkernel worker >/dev/null 2>../err & pid=$!; } &&
	i=0 && while [ $i -lt 400 ] && ! grep -q "^ *[0-9]" ../err; do
		sleep 0.05
		i=$((i + 1))
	done
	kill -INT $pid; wait $pid; [ $? -eq 130 ] || exit 1
	cd .. && [ -z "$(leases)" ] && n=$(steps b | wc -l) && [ "$n" -gt 0 ] &&
	equal a b && [ "$(steps a | wc -l)" -ge "$n" ] && sound a b
'

test_that 'another device class shares no rounds, and is told what to do' '
	share s && cd b && table other "device other-class" &&
	n=$(nodes "$(the_search)" | wc -l) &&
	gives 1 git maxkernel worker >../out 2>../err &&
	has "device class" ../err && has "git maxkernel resume" ../err &&
	[ "$(nodes "$(the_search)" | wc -l)" -eq "$n" ] && cd .. && [ -z "$(leases)" ]
'

test_that 'no search: status 1 and words; --wait waits for one' '
	kernel_repo src && git clone -q --bare src r.git &&
	git clone -q r.git b 2>/dev/null && table work && cd b &&
	gives 1 git maxkernel worker >../out 2>../err && has "--wait" ../err &&
	gives 1 git maxkernel worker --search nothing-abcdef 2>../err &&
	has "nothing-abcdef" ../err && cd .. &&
	{ (cd b && git maxkernel worker --wait --attempts 2 >../out 2>../err
	   echo $? >../status) & } &&
	i=0 && while [ $i -lt 200 ] && ! grep -qs "waiting for a search" err; do
		sleep 0.05
		i=$((i + 1))
	done
	begun a --attempts 100 --branches 8; wait
	[ "$(cat status)" -le 1 ] && [ "$(steps b | wc -l)" -ge 2 ]
'

test_that 'what is wrong on the command line is told' '
	make_repo r && cd r && gives 129 git maxkernel worker a b 2>../err &&
	gives 129 git maxkernel worker --time 0 2>../err &&
	gives 128 git maxkernel worker 2>../err && has "remote" ../err &&
	gives 128 git maxkernel worker ../nowhere 2>../err && has "nowhere" ../err
'

test_done
