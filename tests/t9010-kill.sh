#!/bin/sh
# kill -9 with the real judge: resume goes on, and nothing that was judged is
# judged again.
. "$(dirname "$0")/lib.sh"

test_that 'killed in the middle, resumed, no completed evaluation repeated' '
	kernel_repo r && cd r && rm -f ../kills &&
	for wait in 6 9; do
		if [ -z "$(the_search)" ]; then
			git-maxkernel explore -q --attempts 6 >/dev/null 2>&1 &
		else
			git-maxkernel resume -q >/dev/null 2>&1 &
		fi
		pid=$! && sleep $wait
		kill -9 $pid 2>/dev/null && echo killed >>../kills
		wait $pid 2>/dev/null
		git fsck --strict --no-dangling || exit 1
	done &&
	[ -s ../kills ] &&
	if [ -z "$(the_search)" ]; then
		git maxkernel explore -q --attempts 6
	else
		git maxkernel resume -q
	fi >../out; [ $? -le 1 ] && s=$(the_search) &&
	states "$s" kernels/mix.c | uniq -d >../twice && same /dev/null ../twice &&
	ref=$(git for-each-ref --format="%(refname)" "refs/notes/maxkernel/$s/metrics") &&
	for n in $(nodes "$s"); do
		git notes --ref="$ref" show $n | grep -v -e "\"speedup\"" -e no-verdict >../screenings
		[ "$(wc -l <../screenings)" -le 1 ] || { cat ../screenings; exit 1; }
	done &&
	[ "$(nodes "$s" | wc -l)" -ge 6 ]
'

test_that 'no process and no folder is left behind' '
	sleep 1; ps ax -o comm | grep -c "^git-maxkernel-w" >left; [ "$(cat left)" = 0 ] || {
		# workers of others on this machine are none of our business
		ps ax -o ppid,comm | awk "\$1 == 1 && /git-maxkernel-w/" >orphans
		same /dev/null orphans
	}
'

test_done
