#!/bin/sh
# Another machine: clone, pull, resume.  What was judged is not judged again;
# on another device class champion and frontier are, and classes stay apart.
. "$(dirname "$0")/lib.sh"

# hub: a bare repository, and a clone "a" with a search that is pushed
hub()
{
	kernel_repo seed && git clone -q --bare seed hub.git && git clone -q hub.git a && cd a &&
	scripted "$PWD/../table" "default hash" &&
	git maxkernel explore -q --policy "${2:-greedy}" --attempts "$1" >/dev/null; [ $? -le 1 ] && git maxkernel push -q
}

# lines <search>: the eval lines of all workers as "<worker> <state> <device>
# <confirms or screens> <verdict>"
lines()
{
	for ref in $(git for-each-ref --format='%(refname)' "refs/notes/maxkernel/$1/metrics"); do
		git ls-tree -r --name-only "$ref" | tr -d / | while read -r n; do
			git notes --ref="$ref" show "$n"
		done
	done | perl -MJSON::PP -ne '
		my $m = decode_json($_);
		next unless $m->{e} eq "eval";
		print join(" ", $m->{w}, $m->{st}, $m->{dev},
			defined $m->{speedup} ? "confirms" : "screens", $m->{verdict}), "\n"'
}

goes_on()
{
	git maxkernel resume -q "$@" >../out 2>../err; [ $? -le 1 ] || { cat ../err; return 1; }
}

for policy in greedy beam; do
	export policy
	test_that "$policy: nothing is judged again, and the steps go on" '
		hub 10 $policy && s=$(the_search) && w=$(cat .git/maxkernel/log/worker) && lines "$s" >../before && cd .. &&
		git clone -q hub.git b && cd b && git maxkernel pull -q && goes_on --attempts 12 "$s" && v=$(cat .git/maxkernel/log/worker) &&
		[ "$v" != "$w" ] && lines "$s" >../after && grep "^$w " ../before | sort >../want && grep "^$w " ../after | sort >../got &&
		same ../want ../got && grep -c "^$v " ../after && cut -d" " -f2- ../after | sort | uniq -d >../twice && same /dev/null ../twice &&
		awk -v v="$v" "\$1 != v { seen[\$2] = 1 } \$1 == v && \$4 == \"screens\" && seen[\$2] { print }" ../before ../after >../again &&
		same /dev/null ../again && git maxkernel log --json "$s" | perl -MJSON::PP -e "
			while (<>) { \$n = decode_json(\$_)->{step} and \$seen{\$n}++ && die qq(step \$n twice\n) }"
	'
done

test_that 'the states are those that one machine alone finds' '
	hub 8 && s=$(the_search) && goes_on --attempts 8 "$s" && states "$s" kernels/mix.c >../want && cd .. && git clone -q hub.git b && cd b &&
	git maxkernel pull -q && goes_on --attempts 8 "$s" && states "$s" kernels/mix.c >../got && same ../want ../got
'

test_that 'a search that was killed and pushed goes on elsewhere' '
	kernel_repo seed && git clone -q --bare seed hub.git && git clone -q hub.git a && cd a && scripted "$PWD/../slow" "default hash" "delay 30" &&
	{ git-maxkernel explore -q --attempts 40 --jobs 2 >/dev/null 2>&1 & pid=$!; } &&
	i=0 && while [ $i -lt 100 ] && [ "$(the_search | wc -l)" -eq 0 ]; do sleep 0.1; i=$((i + 1)); done && s=$(the_search) &&
	i=0 && while [ $i -lt 100 ] && [ "$(nodes "$s" | wc -l)" -lt 5 ]; do sleep 0.1; i=$((i + 1)); done
	kill -9 $pid; wait $pid; git maxkernel push -q && nodes "$s" >../want && lines "$s" >../before && cd .. && git clone -q hub.git b && cd b &&
	git maxkernel pull -q && scripted "$PWD/../table" "default hash" && goes_on --attempts 6 "$s" && lines "$s" | cut -d" " -f2- | sort | uniq -d >../twice &&
	same /dev/null ../twice && nodes "$s" >../got && [ "$(sort ../want ../got | uniq -d | wc -l)" -eq "$(wc -l <../want)" ]
'

test_that 'pick of what others measured verifies it first' '
	hub 8 && s=$(the_search) && cd .. && git clone -q hub.git b && cd b && git maxkernel pull -q &&
	git maxkernel show "$s@best" --json >../node && has "\"trust\":\"claimed\"" ../node && scripted "$PWD/../bad" "default wrong" &&
	gives 1 git maxkernel pick "$s@best" >../out 2>&1; git log -1 --format=%s >../got && has "a kernel as first written" ../got &&
	cd .. && git clone -q hub.git c && cd c && git maxkernel pull -q && scripted "$PWD/../table" "default hash" &&
	git maxkernel pick -q "$s@best" && git log -1 --format=%B >../got && has "Maxkernel-Node" ../got
'

test_that 'another device class: champion and frontier again, nothing else' '
	hub 12 && s=$(the_search) && v=$(git maxkernel frontier --json "$s" | wc -l) && lines "$s" >../before && cd .. && git clone -q hub.git b && cd b &&
	git maxkernel pull -q && scripted "$PWD/../other" "device other-t1" "default hash" && goes_on --attempts 4 "$s" &&
	lines "$s" >../after && grep " other-t1 " ../after >../here && git maxkernel log --json "$s" >../log &&
	perl -MJSON::PP -e "
		open F, q(../before); while (<F>) { my (\$w, \$st, \$d, \$k) = split; \$old{\$st} = 1 }
		open F, q(../here); while (<F>) { my (\$w, \$st, \$d, \$k) = split; \$again{\$st} = 1 if \$old{\$st} }
		\$n = keys %again; \$all = keys %old; print qq(\$n of \$all again\n);
		exit !(\$n >= 1 && \$n <= 5 && \$n < \$all)" &&
	! grep -q " scripted " ../here && goes_on --attempts 4 "$s" && lines "$s" | cut -d" " -f2- | grep " other-t1 confirms" | sort | uniq -d >../twice && same /dev/null ../twice
'

test_that 'each class has its own best, and both travel' '
	hub 12 && s=$(the_search) && cd .. && git clone -q hub.git b && cd b && git maxkernel pull -q &&
	scripted "$PWD/../other" "device other-t1" "default hash" && goes_on --attempts 8 "$s" && git maxkernel push -q &&
	git ls-remote ../hub.git >../refs && has "heads/maxkernel/$s/best/scripted" ../refs && has "heads/maxkernel/$s/best/other-t1" ../refs &&
	git -C ../hub.git log -1 --format=%B "maxkernel/$s/best/scripted" >../one && cd ../a && git maxkernel pull -q &&
	git maxkernel best --json mix >../best && hasnt other-t1 ../best && scripted "$PWD/../table" "default hash" &&
	goes_on --attempts 2 "$s" && git maxkernel push -q && git -C ../hub.git log -1 --format=%B "maxkernel/$s/best/scripted" >../two &&
	n=$(sed -n "s/^Maxkernel-Node: //p" ../two) && git maxkernel show --json "$n" >../node && has "\"device\":\"scripted\"" ../node
'

test_that 'numbers of another class decide nothing here' '
	hub 12 && s=$(the_search) && cd .. && git clone -q hub.git b && cd b && git maxkernel pull -q &&
	scripted "$PWD/../worse" "device other-t1" "default slower 0.5" && goes_on --attempts 4 "$s" && has "none confirmed" ../out &&
	git for-each-ref "refs/heads/maxkernel/$s" >../got && same /dev/null ../got
'

test_done
