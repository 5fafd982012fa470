#!/bin/sh
# A search that one makes alone and pushes, and workers that come and go: who
# comes is waited for and shares the rounds, who is alone again goes on alone.
. "$(dirname "$0")/lib.sh"
. "$TESTS/workers.sh"
git config --global maxkernel.leaseSeconds 30
git config --global maxkernel.pushInterval 1

# until_there <seconds> <command...>: waits until the command succeeds
until_there()
{
	left=$(($1 * 10))
	shift
	while ! "$@" >/dev/null 2>&1; do
		left=$((left - 1))
		[ $left -gt 0 ] || { echo "in vain: $*"; return 1; }
		sleep 0.1
	done
}

# told <n> <text> <file>: n lines of the file have the text
told()
{
	[ "$(grep -cF -e "$2" "$3")" -ge "$1" ]
}

# exploring <options...>: one that pushes its search, in the background: $pid
exploring()
{
	git clone -q r.git a 2>/dev/null && cd a && table slow "delay 100" || return 1
	git-maxkernel explore --push "$@" >../out-a 2>../err-a &
	pid=$!
	cd .. && until_there 60 told 1 "x  " err-a &&
		until_there 60 pushed
}

pushed()
{
	[ -n "$(git -C r.git for-each-ref 'refs/maxkernel/*/w/*')" ]
}

# working <clone>: a worker there, in the background: $worker
working()
{
	[ -d "$1" ] || git clone -q r.git "$1" 2>/dev/null || return 1
	cd "$1" && table work "delay 100" || return 1
	git-maxkernel worker >"../out-$1" 2>"../err-$1" &
	worker=$!
	cd ..
}

made_by()
{
	(cd "$1" && for n in $(nodes "$(the_search)"); do
		git log -1 --format='%(trailers:key=Maxkernel-Worker,valueonly)' "$n"
	done | grep -c "$(cat ".git/maxkernel/log/worker")")
}

test_that 'a worker joins a running search: each step is made once, by both' '
	share j && kernel_repo src && git clone -q --bare src r.git &&
	set -- --attempts 96 --seed 7 --branches 8 &&
	alone "$@" >want && [ -s want ] && exploring "$@" &&
	[ -n "$(leases | grep "/_alone\.")" ] && working b &&
	wait $pid; s=$?; wait $worker; [ "$s $?" = "0 0" ] || { cat err-a err-b; exit 1; }
	cat err-a err-b; has "another worker has come" err-a && has "makes this search alone" err-b &&
	equal a b && sound a b && [ -z "$(leases)" ] &&
	steps a >steps && seq 96 >all && same all steps &&
	[ "$(made_by a)" -gt 8 ] && [ "$(made_by b)" -gt 4 ]
'

test_that 'the states are those of a search of one' '
	share j && (cd a && states "$(the_search)" kernels/mix.c) >got && same want got
'

test_that 'a worker leaves: the search goes on alone; another comes; the remote is away' '
	kernel_repo src && git clone -q --bare src r.git &&
	exploring --attempts 5000 --seed 3 --branches 8 && working b &&
	until_there 60 told 1 "another worker has come" err-a &&
	until_there 60 told 3 "x  " err-b && kill -INT $worker; wait $worker
	[ $? -eq 130 ] || { cat err-b; exit 1; }
	until_there 60 told 1 "nobody else is there" err-a &&
	until_there 60 eval "leases | grep -q /_alone" && leases >held &&
	[ "$(wc -l <held)" -eq 1 ] && n=$(grep -c "x  " err-a) &&
	until_there 60 told $((n + 9)) "x  " err-a &&
	working c && until_there 60 told 2 "another worker has come" err-a &&
	mv r.git away && until_there 90 told 1 "goes on alone until then" err-a &&
	n=$(grep -c "x  " err-a) && until_there 60 told $((n + 9)) "x  " err-a &&
	kill -INT $worker; wait $worker; mv away r.git &&
	until_there 90 told 1 "can be reached again" err-a; good=$?
	kill -INT $pid; wait $pid; [ "$good $?" = "0 130" ] || { cat err-a; exit 1; }
	git -C b maxkernel pull -q && git -C c maxkernel push -q &&
	equal a b && sound a b c && leases >held; cat held
	steps b | sort -un >steps && seq "$(wc -l <steps)" >all && same all steps
'

test_done
