#!/bin/sh
# Two nodes become a crossover: recipes replayed together, texts merged by git's
# three-way merge, conflicts handed to a person.
. "$(dirname "$0")/lib.sh"

DRIVE=$BUILD/helper/store_drive
export DRIVE

# searched <attempts> [<option>...]: a search in ./r; sets S
searched()
{
	kernel_repo r && cd r && scripted "$PWD/../t" "default hash" || return 1
	n=$1 && shift && git maxkernel explore -q --policy greedy --attempts "$n" "$@" >/dev/null
	S=$(the_search) && [ -n "$S" ]
}

# at <step> [<search>]: id of the node with that step
at()
{
	"$DRIVE" load "${2:-$S}" scripted 2>/dev/null |
		awk -v n="$1" '$1 == "node" && $2 == n { print $3 }'
}

node_line()	# <id>
{
	"$DRIVE" load "$S" scripted | grep "^node [0-9]* $1 "
}

# by_hand <parent> <step> <sed script>: a node with that edit, in our chain;
# sets N
by_hand()
{
	w=$("$DRIVE" worker) && ref=refs/maxkernel/$S/w/$w &&
	GIT_INDEX_FILE=$PWD/.git/tmp-index && export GIT_INDEX_FILE &&
	git read-tree "$1" &&
	blob=$(git show "$1:kernels/mix.c" | sed "$3" | git hash-object -w --stdin) &&
	git update-index --cacheinfo "100644,$blob,kernels/mix.c" &&
	tree=$(git write-tree) && unset GIT_INDEX_FILE &&
	N=$(printf 'by hand %s\n\nMaxkernel-Search: %s\nMaxkernel-Op: human\nMaxkernel-Worker: %s\nMaxkernel-Proposer: human\nMaxkernel-Step: %s\n' \
		"$2" "$S" "$w" "$2" | git commit-tree -p "$1" "$tree") &&
	empty=$(git mktree </dev/null) &&
	anchor=$(printf 'maxkernel: anchor 99\n\nMaxkernel-Search: %s\nMaxkernel-Worker: %s\n' "$S" "$w" |
		git commit-tree -p "$ref" -p "$N" "$empty") &&
	git update-ref "$ref" "$anchor"
}

json()	# <key> <file>: a text value
{
	sed "s/.*\"$1\":\"\([^\"]*\)\".*/\1/" "$2"
}

test_that 'recipes are crossed, replayed, judged; the node has two parents' '
	searched 8 && a=$(at 2) b=$(at 8) &&
	git log -1 --format=%B $a >../a && git log -1 --format=%B $b >../b &&
	git maxkernel merge --json $a $b >../out; [ $? -le 1 ] && has "\"op\":\"crossover\"" ../out &&
	n=$(json node ../out) && has "\"parents\":[\"$a\",\"$b\"]" ../out && has "\"dup\":false" ../out &&
	[ "$(git log -1 --format=%P $n)" = "$a $b" ] &&
	for gene in $(sed -n "s/Maxkernel-Recipe: //p" ../a ../b | tr -d ";" | tr " " "\n" | sed "s/(.*//" | sort -u); do
		json recipe ../out | grep -q "\b$gene" || exit 1
	done &&
	line=$(node_line $n) && echo "$line" | grep " crossover " && ! echo "$line" | grep pending &&
	git log --graph --oneline $n >../graph && grep -q "^|\\\\" ../graph &&
	git maxkernel show $n >../show && has "parents     $(echo $a | cut -c1-12) $(echo $b | cut -c1-12)" ../show &&
	has "crossover" ../show && has "replayed together" ../show &&
	git maxkernel log $S >../log && has "crossover of $(echo $a | cut -c1-12) $(echo $b | cut -c1-12)" ../log &&
	git maxkernel graph $S >../tree && has "(+ $(echo $b | cut -c1-12))" ../tree &&
	git maxkernel diff $n >../diff && has "maxkernel: begin" ../diff &&
	git fsck --strict --no-dangling
'

test_that 'the same crossing has the same outcome; a known state is told' '
	searched 8 && a=$(at 2) b=$(at 8) && cp -r ../r ../q &&
	git maxkernel merge --json --no-judge $a $b >../one && cd ../q &&
	git maxkernel merge --json --no-judge $a $b >../two &&
	[ "$(json state ../one)" = "$(json state ../two)" ] && cd ../r && nodes $S >../before &&
	gives 0 git maxkernel merge $a $b >../out && has " dup " ../out &&
	git maxkernel merge --json $b $a >../out; nodes $S >../after &&
	if grep "\"dup\":true" ../out; then same ../before ../after; fi
'

test_that 'left unjudged it is judged by the next run, which goes on behind it' '
	searched 8 && n=$(at 2) && gives 0 git maxkernel merge --no-judge $n "$(at 8)" >../out && has pending ../out &&
	id=$(git rev-parse "$(cut -d" " -f1 ../out)") && node_line $id | grep pending &&
	step=$(node_line $id | cut -d" " -f2) &&
	git maxkernel resume -q --attempts 8 $S >/dev/null; node_line $id >../line && hasnt pending ../line &&
	"$DRIVE" load $S scripted | awk "/^node/ { print \$2 }" | sort -n | uniq -d >../twice && same /dev/null ../twice &&
	"$DRIVE" load $S scripted | awk -v s=$step "/^node/ && \$2 > s" >../later && [ "$(wc -l <../later)" -ge 8 ] &&
	states $S kernels/mix.c | uniq -d >../twice && same /dev/null ../twice
'

test_that 'a search goes on alike whether it was halted behind a crossover' '
	searched 10 && git maxkernel merge -q "$(at 2)" "$(at 8)" >/dev/null; cd .. && cp -r r q &&
	(cd r && git maxkernel resume -q --attempts 15 $S >/dev/null; states $S kernels/mix.c >../one) &&
	(cd q && for i in 1 2 3 4 5; do git maxkernel resume -q --attempts 3 $S >/dev/null; done
		states $S kernels/mix.c >../two) && same one two
'

test_that 'a faster crossover is confirmed and becomes the best' '
	kernel_repo r && cd r && scripted "$PWD/../t" "default slower 0.5" &&
	git maxkernel explore -q --policy greedy --attempts 8 >/dev/null; S=$(the_search) && scripted "$PWD/../t" "default faster 2" &&
	gives 0 git maxkernel merge "$(at 4)" "$(at 6)" >../out && has "confirmed 2.00x" ../out &&
	n=$(git rev-parse "$(cut -d" " -f1 ../out)") && node_line $n | grep " confirmed " &&
	git log -1 --format=%B maxkernel/$S/best/scripted >../message && has "Maxkernel-Node: $n" ../message
'

test_that 'a wrong one is kept, with status 1' '
	searched 8 && scripted "$PWD/../t" "default wrong 1 off by one" &&
	gives 1 git maxkernel merge "$(at 2)" "$(at 8)" >../out && has wrong ../out && has "off by one" ../out
'

test_that 'texts are merged where there are no recipes' '
	searched 4 && root=$(git rev-parse HEAD) && by_hand $root 41 "s/float sum = 0.0f/float sum = 0/" && a=$N &&
	by_hand $root 42 "s/float total = 0.0f/float total = 0/" && b=$N &&
	by_hand $b 43 "s/return total/return +total/" && b=$N &&
	git maxkernel merge --json $a $b >../out; [ $? -le 1 ] && n=$(json node ../out) && has "\"proposer\":\"merge\"" ../out &&
	git show $n:kernels/mix.c >../got && has "float sum = 0;" ../got && has "float total = 0;" ../got && has "return +total" ../got &&
	[ "$(git log -1 --format=%P $n)" = "$a $b" ] && [ "$(git diff --name-only $root $n)" = kernels/mix.c ] &&
	for i in $a $root $b; do git show $i:kernels/mix.c >../$i || exit 1; done &&
	git merge-file -p ../$a ../$root ../$b >../want && same ../want ../got &&
	git maxkernel resume -q --attempts 2 $S >/dev/null; git fsck --strict --no-dangling
'

# Two nodes that changed one line otherwise.
conflict()
{
	searched 4 && root=$(git rev-parse HEAD) && by_hand $root 41 "s/float sum = 0.0f/float sum = 0/" && A=$N &&
	by_hand $root 42 "s/float sum = 0.0f/float sum = -0.0f/" && B=$N &&
	D=.git/maxkernel/merge/$(echo $A | cut -c1-12)-$(echo $B | cut -c1-12)
}

test_that 'a conflict is handed over with diff3 text' '
	conflict && git for-each-ref >../before && gives 1 git maxkernel merge $A $B >../out 2>../err &&
	has "conflict in kernels/mix.c: edit " ../out && has "--continue" ../err &&
	sed -n "/^<<<<<<< /,/^>>>>>>> /p" $D/kernels/mix.c >../got &&
	cat >../want <<-END && same ../want ../got &&
	<<<<<<< $(echo $A | cut -c1-12)
		float sum = 0;
	||||||| $(git rev-parse --short=12 HEAD)
		float sum = 0.0f;
	=======
		float sum = -0.0f;
	>>>>>>> $(echo $B | cut -c1-12)
	END
	git for-each-ref >../after && same ../before ../after && git status --porcelain >../status && same /dev/null ../status &&
	git maxkernel merge --abort 2>../err && has "given up" ../err && [ ! -e .git/maxkernel/merge ] &&
	gives 128 git maxkernel merge --abort 2>../err && has "no merge of two nodes is under way" ../err &&
	gives 1 git maxkernel merge --json $A $B >../out && has "\"conflicts\":[{\"path\":\"kernels/mix.c\"" ../out
'

test_that 'edited, it goes on; with markers left it does not' '
	conflict && git maxkernel merge -q $A $B >/dev/null; [ -f $D/kernels/mix.c ] &&
	gives 128 git maxkernel merge $A $B 2>../err && has "is under way" ../err &&
	gives 128 git maxkernel merge --continue 2>../err && has "kernels/mix.c:" ../err && has "marker is left" ../err &&
	sed -i "/^<<<<<<< /,/^>>>>>>> /c\\
	float sum = 0.0f * 2;" $D/kernels/mix.c &&
	git maxkernel merge --continue --json >../out; [ $? -le 1 ] && n=$(json node ../out) &&
	has "\"proposer\":\"human\"" ../out && [ "$(git log -1 --format=%P $n)" = "$A $B" ] &&
	git show $n:kernels/mix.c >../got && has "float sum = 0.0f * 2;" ../got && [ ! -e .git/maxkernel/merge ] &&
	"$DRIVE" plan $S $n >../plan && has "by hand" ../plan && git fsck --strict --no-dangling
'

test_that 'interrupted it is left to be judged' '
	searched 8 && a=$(at 2) b=$(at 8) && scripted "$PWD/../t" "default hash" "delay 3000" &&
	nodes $S >../before &&
	{ git-maxkernel merge -q $a $b >../out 2>../err & pid=$!; } &&
	i=0 && while [ $i -lt 600 ] && nodes $S >../now && cmp -s ../before ../now; do sleep 0.1; i=$((i + 1)); done &&
	kill -INT $pid 2>/dev/null || kill -TERM $pid; wait $pid; [ $? -eq 130 ] && has "resume $S" ../err &&
	n=$(nodes $S | grep -v -F -f ../before) && node_line $n | grep pending && scripted "$PWD/../t" "default hash" &&
	git maxkernel resume -q --attempts 1 $S >/dev/null; ! node_line $n | grep pending
'

test_that 'nodes of two searches are crossed once these are united' '
	searched 12 --seed 1 && git maxkernel explore -q --policy greedy --attempts 12 --seed 7 >/dev/null
	T=$(the_search | grep -v "^$S\$") && a=$(at 2) b=$(at 12 $T) &&
	gives 129 git maxkernel merge $a $b 2>../err && has "unite theirs first" ../err &&
	git maxkernel merge $T $S >/dev/null && git maxkernel merge --json --no-judge $a $b >../out &&
	has "\"parents\":[\"$a\",\"$b\"]" ../out && { has "\"search\":\"$T\"" ../out || grep "\"dup\":true" ../out; }
'

test_that 'over roots with another README the texts meet at the root' '
	searched 2 --seed 1 && root=$(git rev-parse HEAD) && by_hand $root 41 "s/float sum = 0.0f/float sum = 0/" && a=$N s=$S &&
	git checkout -q --orphan other && echo more >README && git add README && git commit -qm other &&
	git maxkernel explore -q --policy greedy --attempts 2 --seed 2 >/dev/null; S=$(the_search | grep -v "^$s\$") &&
	by_hand "$(git rev-parse HEAD)" 41 "s/float total = 0.0f/float total = 0/" && b=$N &&
	! git merge-base $a $b && git maxkernel merge $s $S >/dev/null && S=$s &&
	git maxkernel merge --json --no-judge $a $b >../out && n=$(json node ../out) &&
	git show $n:kernels/mix.c >../got && has "float sum = 0;" ../got && has "float total = 0;" ../got
'

test_that 'what cannot be crossed is said' '
	searched 4 && a=$(at 2) &&
	gives 129 git maxkernel merge $a $a 2>../err && has "are one node" ../err &&
	gives 129 git maxkernel merge $a main 2>../err && has "nothing to cross" ../err &&
	gives 129 git maxkernel merge --as-seeds $a "$(at 3)" 2>../err && has "for two searches" ../err &&
	git commit -q --allow-empty -m other && gives 128 git maxkernel merge $a main 2>../err && has "names no node" ../err
'

test_done
