#!/bin/sh
# kill -9 at any moment, resume: the same states as a search left alone.
. "$(dirname "$0")/lib.sh"

runs=$((CHECK_N * 4))
[ "$runs" -gt 20 ] && runs=20

test_that 'a search left alone' '
	share k && kernel_repo r && cp -r r alone && cd alone &&
	scripted "$PWD/../table" "default hash" "delay 4" &&
	git maxkernel explore -q --attempts 40 --seed 7 --jobs 2 &&
	states "$(the_search)" kernels/mix.c >../want && [ -s ../want ]
'

test_that "killed $runs times and resumed: the same states" '
	share k && cd r && scripted "$PWD/../table" "default hash" "delay 4" &&
	i=0 && while [ $i -lt '"$runs"' ]; do
		if [ -z "$(the_search)" ]; then
			git-maxkernel explore -q --attempts 40 --seed 7 --jobs 2 >/dev/null &
		else
			git-maxkernel resume -q --jobs 2 >/dev/null &
		fi
		pid=$!
		sleep 0.$(awk -v s=$i "BEGIN{srand(s*7+$$); printf \"%03d\", 60+int(rand()*500)}")
		kill -9 $pid 2>/dev/null; wait $pid 2>/dev/null
		git fsck --strict --no-dangling >../fsck 2>&1 || { cat ../fsck; exit 1; }
		i=$((i + 1))
	done &&
	git maxkernel resume -q --jobs 2 >/dev/null; [ $? -le 1 ] &&
	states "$(the_search)" kernels/mix.c >../got && same ../want ../got
'

test_that 'no evaluation that was written was made again' '
	share k && cd r && s=$(the_search) &&
	states "$s" kernels/mix.c | uniq -d >../twice && same /dev/null ../twice
'

test_done
