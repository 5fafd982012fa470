#!/bin/sh
# Several kernels in one explore: they share the budget, each with a search of
# its own; halted and resumed they come out as if nothing had happened.
. "$(dirname "$0")/lib.sh"

# add_kernels <name...>: more kernels like mix, in the repository that we are in
add_kernels()
{
	sed -n '/^\[kernel "mix"\]/,$p' .maxkernel >../section &&
	for k in "$@"; do
		sed "s/\<mix\>/$k/" kernels/mix.c >"kernels/$k.c" &&
		sed "s/\<mix\>/$k/g" ../section >>.maxkernel || return 1
	done &&
	git add . && git commit -q -m 'more kernels'
}

# field <name> <kernel>: of its line in ../out
field()
{
	grep "\"kernel\":\"$2\"" ../out | sed "s/.*\"$1\":\"\{0,1\}\([^,\"}]*\).*/\1/"
}

# spec <kernel>: the text of its newest spec
spec()
{
	for s in $(the_search | grep "^$1-"); do
		git show "refs/maxkernel/$s/spec:spec"
	done
}

# steps <kernel>: step, op and state of each of its nodes, by step; and what
# was confirmed
steps()
{
	for s in $(the_search | grep "^$1-"); do
		for c in $(nodes "$s"); do
			echo "$(git log -1 --format='%(trailers:key=Maxkernel-Step,valueonly)%(trailers:key=Maxkernel-Op,valueonly)' "$c" |
				tr '\n' ' ') $(git rev-parse "$c:kernels/$1.c")" \
				"$(git log -1 --format=%N --notes="maxkernel/$s/metrics/*" "$c" | grep -c '"confirmed"')"
		done | sort -n
	done
}

test_that 'three kernels share the attempts, and each has its floor' '
	kernel_repo r && cd r && add_kernels kb kc && scripted "$PWD/../t" "default hash" &&
	git maxkernel explore -q --json --attempts 48 >../out && cat ../out &&
	[ "$(wc -l <../out)" -eq 3 ] && sum=0 &&
	for k in mix kb kc; do
		n=$(field attempts $k) && sum=$((sum + n)) && [ "$n" -ge 4 ] &&
		[ "$(nodes "$(field search $k)" | wc -l)" = "$n" ] || exit 1
	done &&
	[ $sum -eq 48 ] && [ "$(the_search | wc -l)" -eq 3 ] &&
	field share mix >../share && has 0. ../share
'

test_that 'they know their group, and that its budget is one' '
	kernel_repo r && cd r && add_kernels kb kc && scripted "$PWD/../t" "default hash" &&
	git maxkernel explore -q --json --attempts 12 >../out &&
	spec mix >../a && spec kb >../b && spec kc >../c &&
	has "\"group\":\"\"" ../a && has "\"group\":\"$(field search mix)\"" ../b &&
	has "\"group\":\"$(field search mix)\"" ../c && has "\"attempts\":12" ../b &&
	git maxkernel explore -q --attempts 4 --seed 5 kc >../unused && spec kc | grep -c "\"group\":\"\"" >../n && has 1 ../n
'

test_that 'what has nothing left gives its share to the others' '
	kernel_repo r && cd r && add_kernels kb && scripted "$PWD/../t" "default hash" &&
	cat >kernels/one.c <<-\EOF &&
	void one(float *x)
	{
		x[0] = 1.0f;
	}
	EOF
	printf "[kernel \"one\"]\n\tfile = kernels/one.c\n\tentry = one\n\targ = out f32 x[1]\n\tdeny = ccopt vw restrict\n" >>.maxkernel &&
	git add . && git commit -qm one &&
	git maxkernel explore -q --json --attempts 40 >../out 2>../err; cat ../out ../err
	[ "$(field end one)" = exhausted ] && [ "$(field attempts one)" -lt 8 ] &&
	[ $(($(field attempts one) + $(field attempts mix) + $(field attempts kb))) -eq 40 ]
'

test_that '--until: a kernel that is fast enough leaves the rest to the others' '
	kernel_repo r && cd r && add_kernels kb && scripted "$PWD/../t" "default hash" &&
	git maxkernel explore -q --json --attempts 61 --until 1.3 >../out && cat ../out &&
	for k in mix kb; do
		[ "$(field end $k)" = until ] && field speedup $k | grep -qE "^[1-9]" || exit 1
	done
'

test_that 'one that does not build does not stop the others' '
	kernel_repo r && cd r && add_kernels kb && scripted "$PWD/../t" "default hash" &&
	sed -i "s/entry = mix/entry = absent/" .maxkernel && git commit -qam absent &&
	gives 128 git maxkernel explore -q --json --attempts 8 >../out 2>../err &&
	has "absent" ../err && hasnt fatal ../err && [ "$(field attempts kb)" -eq 8 ] && [ "$(wc -l <../out)" -eq 1 ] &&
	[ "$(the_search | wc -l)" -eq 1 ]
'

test_that 'a kernel that is named twice is refused' '
	kernel_repo r && cd r && scripted "$PWD/../t" "default hash" &&
	gives 129 git maxkernel explore mix mix 2>../err && has "named twice" ../err
'

test_that 'of ten kernels at most eight have a judge open' '
	kernel_repo r && cd r && add_kernels k1 k2 k3 k4 k5 k6 k7 k8 k9 &&
	scripted "$PWD/../t" "default hash" "delay 5" &&
	{ git-maxkernel explore -q --json --attempts 60 >../out & pid=$!; } &&
	most=0 && while kill -0 $pid 2>/dev/null; do
		n=$(ls -l "/proc/$pid/fd" 2>/dev/null | grep -c timerfd) || :
		[ "$n" -gt $most ] && most=$n
		sleep 0.02
	done; wait $pid && [ "$(wc -l <../out)" -eq 10 ] &&
	[ $most -ge 1 ] && [ $most -le 9 ] && sum=0 &&	# nine while one is opened
	for k in mix k1 k2 k3 k4 k5 k6 k7 k8 k9; do
		n=$(field attempts $k) && [ "$n" -ge 1 ] && sum=$((sum + n)) || exit 1
	done && [ $sum -eq 60 ]
'

test_that 'halted and resumed again and again, each graph is that of one run' '
	share h && kernel_repo one && cd one && add_kernels kb kc &&
	scripted "$PWD/../t" "default hash" "delay 8" &&
	git maxkernel explore -q --json --attempts 40 >../out && cd .. &&
	kernel_repo many && cd many && add_kernels kb kc &&
	halted=0 && first=yes && i=0 && while [ $i -lt 100 ]; do
		i=$((i + 1))
		had=$(git for-each-ref "refs/maxkernel/*/w/*" | md5sum)
		if [ $first = yes ]; then
			git-maxkernel explore -q --attempts 40 >/dev/null 2>../err & pid=$!
		else
			git-maxkernel resume -q >/dev/null 2>../err & pid=$!
		fi
		# Soon after something new; until it is through before that.
		while kill -0 $pid 2>/dev/null; do
			[ "$(git for-each-ref "refs/maxkernel/*/w/*" | md5sum)" = "$had" ] || { kill -INT $pid; break; }
			sleep 0.05
		done 2>/dev/null
		wait $pid; status=$?
		[ $status -eq 130 ] || break
		halted=$((halted + 1)) first=no
	done &&
	echo "halted $halted times, then status $status" && [ $status -le 1 ] && [ $halted -ge 5 ] && cd .. &&
	for k in mix kb kc; do
		(cd one && steps $k) >$k.one && (cd many && steps $k) >$k.many &&
		[ -s $k.one ] && same $k.one $k.many || exit 1
	done &&
	cat mix.one kb.one kc.one | grep -vc tune >n && has 40 n
'

test_that 'resume of one search leaves the others of its group alone' '
	kernel_repo r && cd r && add_kernels kb && scripted "$PWD/../t" "default hash" "delay 10" &&
	{ git-maxkernel explore -q --attempts 40 >/dev/null & pid=$!; } && i=0 &&
	while [ $i -lt 200 ] && [ "$(git for-each-ref "refs/maxkernel/*/w/*" | wc -l)" -lt 2 ]; do
		sleep 0.05; i=$((i + 1)); done &&
	kill -INT $pid; wait $pid; [ $? -eq 130 ] &&
	a=$(nodes "$(the_search | grep ^mix)" | wc -l) && b=$(nodes "$(the_search | grep ^kb)" | wc -l) &&
	[ $((a + b)) -lt 40 ] && git maxkernel resume -q --json kb >../out && cat ../out &&
	[ "$(wc -l <../out)" -eq 1 ] && [ "$(field attempts kb)" -eq $((40 - a - b)) ] &&
	[ "$(nodes "$(the_search | grep ^mix)" | wc -l)" -eq "$a" ]
'

test_that 'in flight or not, the graphs are the same' '
	share h && cd one && for j in 3; do
		kernel_repo ../j$j && cd ../j$j && add_kernels kb kc &&
		scripted "$PWD/../t" "default hash" "delay 8" &&
		git maxkernel explore -q -j $j --attempts 40 >/dev/null &&
		for k in mix kb kc; do
			steps $k >../$k.j && same ../$k.one ../$k.j || exit 1
		done
	done
'

test_that 'a new budget has shares of its own; when it is spent status says so' '
	kernel_repo r && cd r && add_kernels kb && scripted "$PWD/../t" "default hash" &&
	git maxkernel explore -q --attempts 40 >/dev/null &&
	git maxkernel status >../out && cat ../out && grep -c "budget spent" ../out >../n && has 2 ../n &&
	git maxkernel explore -q --json --attempts 12 >../out && cat ../out &&
	[ "$(field attempts mix)" -ge 2 ] && [ "$(field attempts kb)" -ge 2 ] &&
	git maxkernel resume -q --json --attempts 12 >../out && cat ../out &&
	[ "$(field attempts mix)" -ge 2 ] && [ "$(field attempts kb)" -ge 2 ]
'

test_done
