#!/bin/sh
# Two searches over one kernel become one graph: in any order, any number of
# times, in any clone.
. "$(dirname "$0")/lib.sh"

DRIVE=$BUILD/helper/store_drive
DEV=dev-avx2-t1
export DRIVE DEV

# kernels: a repository with one kernel, in the current folder
kernels()
{
	git init -q . && mkdir kernels &&
	printf 'void k(const float *x, float *y, int n)\n{\n\t%s\n}\n' \
		'for (int i = 0; i < n; i++) y[i] = x[i];' >kernels/k.c &&
	echo read me >README &&
	cat >.maxkernel <<-\END &&
	[kernel "copy"]
		file = kernels/k.c
		entry = k
		target = c
		arg = in f32 x[N]
		arg = out f32 y[N]
		arg = dim N
		time = N=1000
		rtol = 1e-3
	END
	git add -A && git commit -q -m 'first'
}

# new_search <attempts> <batch>: prints its slug
new_search()
{
	s=$("$DRIVE" create copy) && "$DRIVE" append "$s" "$1" "$2" >/dev/null &&
	echo "$s"
}

load()	# <search>: what it holds, without its name
{
	"$DRIVE" load "$1" "$DEV"
}

steps()	# <search> <step>: ids of the nodes with that step
{
	load "$1" | awk -v n="$2" '$1 == "node" && $2 == n { print $3 }'
}

# all of git's and ours: where a clone stands
refs()
{
	git for-each-ref --format='%(refname) %(objectname)'
}

# take <dir>: everything of another clone, as a pull of all its searches; only
# forward, so that what is older there is no matter
take()
{
	git fetch -q "$1" 'refs/maxkernel/*:refs/maxkernel/*' \
		'refs/notes/maxkernel/*:refs/notes/maxkernel/*' || :
}

clean()
{
	git fsck --strict --no-dangling >../fsck 2>&1 && [ ! -s ../fsck ] &&
		return
	cat ../fsck
	return 1
}

drop_search()	# <slug>
{
	git for-each-ref --format='delete %(refname)' "refs/maxkernel/$1" \
		"refs/notes/maxkernel/$1" "refs/heads/maxkernel/$1" |
		git update-ref --stdin
}

test_that 'the nodes, plans, measurements and the ledger of both are one' '
	mkdir r && cd r && kernels && a=$(new_search 9 4) && b=$(new_search 14 5) &&
	n=$(steps $b 13) && "$DRIVE" measure $b $n confirmed 3 &&
	load $a >../a && load $b >../b && refs | grep "/$b/" >../b-refs &&
	gives 0 git maxkernel merge $a $b >../out && has "11 new nodes" ../out &&
	has "3 attempts without a node" ../out && has "best: $(echo $n | cut -c1-12) 3.00x" ../out &&
	load $a >../got 2>../msg && [ ! -s ../msg ] &&
	awk "/^node/ { print \$3 }" ../a ../b | sort -u >../want &&
	awk "/^node/ { print \$3 }" ../got | sort >../have && same ../want ../have &&
	[ "$(grep -c ^spend ../got)" -eq 5 ] && hasnt pending ../got && hasnt claimed ../got &&
	[ "$(awk "/^champion/ { s += \$4 } END { print s }" ../a ../b)" = \
	  "$(awk "/^champion/ { print \$4 + 0 }" ../got)" ] &&
	"$DRIVE" plan $a $n >../plan && has Unroll ../plan &&
	"$DRIVE" record $a $n $DEV >../record && has "confirmed speedup 3 shapes 1" ../record &&
	git log -1 --notes="maxkernel/$a/*" $n >../log && has "{\"stage\":" ../log &&
	refs | grep "/$b/" >../b-now && same ../b-refs ../b-now && clean
'

test_that 'done again it does nothing, also after the other way round' '
	mkdir r && cd r && kernels && a=$(new_search 6 2) && b=$(new_search 9 3) &&
	git maxkernel merge $a $b >/dev/null && refs >../one &&
	gives 0 git maxkernel merge $a $b >../out && has "has all of $b already" ../out &&
	refs >../two && same ../one ../two &&
	git maxkernel merge $b $a >/dev/null && refs >../three &&
	git maxkernel merge $a $b >/dev/null && git maxkernel merge $b $a >/dev/null &&
	refs >../four && same ../three ../four &&
	load $a >../a && load $b >../b && same ../a ../b && clean
'

test_that 'what came later is added later' '
	mkdir r && cd r && kernels && a=$(new_search 6 2) && b=$(new_search 5 3) &&
	git maxkernel merge $a $b >/dev/null && "$DRIVE" append $b 7 3 >/dev/null &&
	"$DRIVE" measure $b "$(steps $b 1)" confirmed 2 &&
	git maxkernel merge --json $a $b >../out && has "\"nodes\":5" ../out &&
	git maxkernel merge $b $a >/dev/null &&
	load $a >../a && load $b >../b && same ../a ../b && has confirmed ../a
'

# three: r with searches A, B, C and a small X.  The third stands on another
# commit with the same kernel, the second is another worker's.
make_three()
{
	mkdir r && (
		cd r && kernels && new_search 13 7 >../A && new_search 3 3 >../X &&
		"$DRIVE" measure "$(cat ../A)" "$(steps "$(cat ../A)" 3)" confirmed 1.5
	) && git clone -q r q && (
		cd q && new_search 9 5 >../B &&
		"$DRIVE" measure "$(cat ../B)" "$(steps "$(cat ../B)" 9)" confirmed 2.5
	) && (
		cd r && take ../q && echo more >>README && git commit -qam readme &&
		new_search 18 9 >../C &&
		"$DRIVE" measure "$(cat ../C)" "$(steps "$(cat ../C)" 17)" confirmed 2
	)
}
three()
{
	[ -d "$SCRATCH/three" ] || { mkdir "$SCRATCH/three" &&
		(cd "$SCRATCH/three" && make_three); } || return 1
	cp -r "$SCRATCH/three/." .
}

# rand <n>: 0 <= result < n, from a seed that the log shows
rand()
{
	SEED=$(((SEED * 1103515245 + 12345) % 2147483648))
	R=$((SEED / 65536 % $1))
}

# one <letter>: into the search that it stands for
one()
{
	case $1 in 0) ONE=$(cat ../A) ;; 1) ONE=$(cat ../B) ;; *) ONE=$(cat ../C) ;; esac
}

test_that 'three searches in any order have one outcome' '
	three && rm -f want && n=0 && SEED=${MAXKERNEL_SEED:-$$} && echo "seed $SEED" &&
	while [ $n -lt $((4 * CHECK_N)) ]; do
		rm -rf t && cp -r r t && cd t && k=0 &&
		while [ $k -lt 4 ]; do
			rand 3; x=$R; rand 2; y=$(((x + 1 + R) % 3)); k=$((k + 1))
			one $x; i=$ONE; one $y; echo "$x <- $y"
			git maxkernel merge $i $ONE >/dev/null || exit 1
		done
		rand 3; x=$R; rand 2; y=$(((x + 1 + R) % 3)); z=$((3 - x - y))
		echo "$x <- $y $z"
		one $x; i=$ONE; one $y; git maxkernel merge $i $ONE >/dev/null || exit 1
		one $z; git maxkernel merge $i $ONE >/dev/null || exit 1
		load $i >../all || exit 1
		clean || exit 1
		cd .. && tail -n +2 all >got &&
		{ [ -f want ] || cp got want; } && same want got || exit 1
		n=$((n + 1))
	done &&
	[ "$(grep -c "^node" want)" -eq 31 ] && [ "$(grep -c ^spend want)" -eq 9 ] &&
	[ "$(grep -c claimed want)" -eq 7 ] &&
	champion=$(sed -n "s/^champion \([0-9]*\) .*/\1/p" want) &&
	sed -n "${champion}p" want | grep "^node 9 .* confirmed claimed"
'

test_that 'a pulled union is read without the searches that it came from' '
	three && cd r && a=$(cat ../A) b=$(cat ../B) c=$(cat ../C) x=$(cat ../X) &&
	git maxkernel merge $c $b >/dev/null && git maxkernel merge $x $c >/dev/null &&
	git maxkernel merge $a $x >/dev/null && load $a >../want &&
	drop_search $b && drop_search $c && drop_search $x &&
	git reflog expire --expire=now --all && git gc -q --prune=now &&
	load $a >../got && same ../want ../got &&
	"$DRIVE" record $a "$(steps $a 17)" $DEV >../record && has "shapes 1" ../record && clean
'

test_that 'united in two clones, then exchanged: equal' '
	three && rm -rf s t && cp -r r s && git clone -q r t &&
	(cd t && take ../r && git fetch -q ../r main) && a=$(cat A) b=$(cat B) c=$(cat C) &&
	(cd s && git maxkernel merge $a $b && git maxkernel merge $a $c) >/dev/null &&
	(cd t && git maxkernel merge $b $c && git maxkernel merge $a $b) >/dev/null &&
	(cd s && "$DRIVE" append $a 4 2 && take ../t && load $a >../s-load && clean) >/dev/null &&
	(cd t && take ../s && load $a >../t-load && clean) >/dev/null &&
	sed "s/ claimed//" s-load >s1 && sed "s/ claimed//" t-load >t1 && same s1 t1 &&
	(cd t && refs >../t-refs && git maxkernel merge $a $b && git maxkernel merge $a $c &&
		refs >../t-now) >/dev/null && same t-refs t-now
'

test_that 'pushed and pulled it is the same, in a clone that has the union alone' '
	three && git init -q --bare hub && cd r &&
	(cd ../hub && git maxkernel hook install -q --server) &&
	a=$(cat ../A) b=$(cat ../B) c=$(cat ../C) && git remote add hub ../hub && git push -q hub HEAD:main &&
	git maxkernel push -q hub $a && git maxkernel merge $a $c >/dev/null && git maxkernel merge $a $b >/dev/null &&
	git maxkernel push -q hub $a && load $a | sed "s/ claimed//" >../want && n=$(steps $c 17) && git clone -q ../hub ../t &&
	cd ../t && git maxkernel pull -q && load $a >../loaded && sed "s/ claimed//" ../loaded >../got && same ../want ../got &&
	git maxkernel show $n >../show && has "search      $a" ../show && clean
'

# as <worker>: from its first use on this clone writes under that id
as()
{
	mkdir -p .git/maxkernel/log && echo "$1" >.git/maxkernel/log/worker
}

test_that 'merging makes no line of another worker ours, whatever slot it names' '
	kernel_repo r && cd r && as zz-0001 && scripted "$PWD/../t" "default hash" &&
	git maxkernel explore -q --attempts 8 --seed 1 >/dev/null; a=$(the_search) &&
	git maxkernel explore -q --attempts 8 --seed 2 >/dev/null; b=$(the_search | grep -v "^$a\$") &&
	printf "zz-0001\nold-0001\n" >.git/maxkernel/log/worker && m=refs/notes/maxkernel/$b/metrics &&
	n=$(git log -1 --format=%H --grep="^Maxkernel-Op:" refs/maxkernel/$b/w/zz-0001) && git notes --ref=$m/zz-0001 show $n | tail -n 1 >../own &&
	for w in zz-0001-1 old-0001 old-0001-2; do
		sed "s/\"t\":\"20/\"t\":\"21/; s/\"w\":\"zz-0001\"/\"w\":\"$w\"/" ../own || exit 1
	done >../forged && git notes --ref=$m/evil-0000 add -F ../forged $n &&
	git maxkernel merge $a $b >/dev/null && git notes --ref=refs/notes/maxkernel/$a/metrics/zz-0001 show $n >../got &&
	has "\"w\":\"zz-0001\"" ../got && hasnt "zz-0001-1" ../got && hasnt old-0001 ../got
'

# A pushed first without what it was united with later; B is not there.
test_that 'what another clone adds to a union is taken by hook and pull, in any order' '
	git init -q --bare hub && git init -q --bare all && (cd hub && git maxkernel hook install -q --server) &&
	(cd all && git maxkernel hook install -q --server) &&
	kernel_repo r && cd r && as zz-0001 && scripted "$PWD/../t" "default hash" &&
	git maxkernel explore -q --attempts 10 --seed 1 >/dev/null; a=$(the_search) &&
	git maxkernel explore -q --attempts 21 --seed 2 >/dev/null; b=$(the_search | grep -v "^$a\$") &&
	git remote add hub ../hub && git push -q hub main && git maxkernel push -q hub $a &&
	git maxkernel merge $a $b >/dev/null && git maxkernel push -q hub $a &&
	git clone -q ../hub ../q && cd ../q && as aa-0001 && git maxkernel pull -q &&
	git maxkernel resume -q --attempts 12 $a >/dev/null && git maxkernel push -q origin $a &&
	git log --format=%H refs/maxkernel/$a/w/zz-0001 >../theirs &&
	git rev-list --parents refs/maxkernel/$a/w/aa-0001 ^refs/maxkernel/$a/w/zz-0001 >../links &&
	git log --format=%H --grep="^Maxkernel-Search: $b" refs/maxkernel/$a/w/zz-0001 | grep -F -f - ../links &&
	"$DRIVE" load $a scripted | sed "s/ claimed//" >../want &&
	(cd ../r && git maxkernel pull -q hub && "$DRIVE" load $a scripted | sed "s/ claimed//" >../got) && same ../want ../got &&
	git push -q ../all main "refs/maxkernel/$a/*:refs/maxkernel/$a/*" "refs/notes/maxkernel/$a/*:refs/notes/maxkernel/$a/*" &&
	git clone -q ../all ../s && cd ../s && gives 0 git maxkernel pull -q &&
	"$DRIVE" load $a scripted | sed "s/ claimed//" >../got && same ../want ../got && clean
'

test_that 'of a union that was cut off the rest is made up for' '
	mkdir r && cd r && kernels && a=$(new_search 6 2) && b=$(new_search 9 3) &&
	w=$("$DRIVE" worker) && m=refs/notes/maxkernel/$a/metrics/$w p=refs/notes/maxkernel/$a/plan/$w &&
	old=$(git rev-parse $m) && plan=$(git rev-parse $p) &&
	git maxkernel merge $a $b >/dev/null && load $a >../want && refs >../refs &&
	anchor=$(git rev-parse refs/maxkernel/$a/w/$w) &&
	git update-ref $m $old && git update-ref $p $plan && load $a 2>/dev/null >../got && has pending ../got &&
	git maxkernel merge $a $b >../out && has "0 new nodes" ../out && load $a >../got && same ../want ../got &&
	[ "$(git rev-parse refs/maxkernel/$a/w/$w)" = $anchor ] &&
	"$DRIVE" plan $a "$(steps $b 7)" >../plan && has Unroll ../plan && clean
'

test_that 'whose a line is stays told; a claim in our name stays a claim' '
	three && cd r && a=$(cat ../A) b=$(cat ../B) && w=$("$DRIVE" worker) && n=$(steps $b 9) &&
	git notes --ref=maxkernel/$b/metrics/$(ls .git/refs/notes/maxkernel/$b/metrics | head -n 1) show $n |
		tail -n 1 | sed "s/\"w\":\"[^\"]*\"/\"w\":\"$w\"/; s/\"speedup\":[0-9.]*/\"speedup\":99/; s/,\"raw\":\"[0-9a-f]*\"//" >../forged &&
	has "\"speedup\":99" ../forged &&
	git notes --ref=maxkernel/$b/metrics/evil-0001 append -F ../forged $n &&
	git maxkernel merge $a $b >/dev/null && load $a >../got &&
	grep "^node 9 $n .* confirmed claimed 0.916291\$" ../got &&
	git notes --ref=maxkernel/$a/metrics/$w show $n >../note && hasnt "\"w\":\"$w\"" ../note &&
	"$DRIVE" measure $b $n confirmed 4 && git maxkernel merge $a $b >/dev/null &&
	load $a | grep "^node 9 $n .* confirmed 1.38629\$"
'

test_that 'lessons stand on the other spec, an end does not' '
	mkdir r && cd r && kernels && a=$(new_search 3 2) && b=$(new_search 3 3) && w=$("$DRIVE" worker) &&
	"$DRIVE" finish $b done exhausted &&
	git notes --ref=maxkernel/$b/metrics/$w append -m "{\"t\":\"2026-12-01T00:00:00.000Z\",\"v\":1,\"w\":\"$w\",\"e\":\"lesson\",\"text\":\"wide vectors pay\"}" refs/maxkernel/$b/spec &&
	git maxkernel merge $a $b >/dev/null &&
	git notes --ref=maxkernel/$a/metrics/$w show refs/maxkernel/$a/spec >../note &&
	has "wide vectors pay" ../note && hasnt exhausted ../note &&
	"$DRIVE" finish $a ask >../got && has "(unfinished)" ../got &&
	git maxkernel merge $b $a >/dev/null && "$DRIVE" finish $b ask >../got && has "(unfinished)" ../got
'

test_that 'another section is refused by the name of its key' '
	mkdir r && cd r && kernels && a=$(new_search 3 2) &&
	sed -i "s/rtol = .*/rtol = 1e-2/" .maxkernel && b=$(new_search 3 2) && refs >../before &&
	gives 128 git maxkernel merge $a $b 2>../err && has "differ in '\''rtol'\'': '\''rtol = 1e-3'\'' here, '\''rtol = 1e-2'\'' there" ../err &&
	has "--as-seeds" ../err &&
	sed -i "/rtol/d" .maxkernel && c=$(new_search 3 2) &&
	gives 128 git maxkernel merge $c $a 2>../err && has "'\''(none)'\'' here, '\''rtol = 1e-3'\'' there" ../err &&
	git for-each-ref --format="%(refname) %(objectname)" | grep -v "/$c/" >../after && same ../before ../after
'

test_that 'another root is refused by its file, another README is not' '
	mkdir r && cd r && kernels && a=$(new_search 3 2) &&
	echo more >>README && git commit -qam readme && b=$(new_search 4 2) &&
	echo "/* other */" >>kernels/k.c && git commit -qam kernel && c=$(new_search 3 2) &&
	gives 128 git maxkernel merge $a $c 2>../err && has "differ in '\''kernels/k.c'\''" ../err && has "--as-seeds" ../err &&
	git maxkernel merge $a $b >/dev/null && load $a >../got 2>../msg && [ ! -s ../msg ] &&
	[ "$(grep -c "^node" ../got)" -eq 7 ] && [ "$(grep -c "parent 0 depth 1" ../got)" -ge 2 ] && clean
'

test_that 'operands are two searches, by slug or prefix, or two nodes' '
	mkdir r && cd r && kernels && a=$(new_search 3 2) && b=$(new_search 3 3) &&
	gives 129 git maxkernel merge $a 2>../err && has "merge takes two searches or two nodes" ../err &&
	gives 129 git maxkernel merge $a "$(steps $b 1)" 2>../err && has "a node: merge takes" ../err &&
	gives 129 git maxkernel merge copy- $b 2>../err && has "is short for 2 searches" ../err &&
	gives 128 git maxkernel merge $a nothing 2>../err && has "neither a node nor a search" ../err &&
	gives 128 git maxkernel merge $a $a 2>../err && has "is one search, not two" ../err && hasnt as-seeds ../err &&
	gives 129 git maxkernel merge --no-judge $a $b && gives 129 git maxkernel merge --continue --abort &&
	gives 0 git maxkernel merge "${a%?}" "${b%?}"
'

# ---- with a search that goes on ----

test_that 'a united search goes on behind both and repeats nothing' '
	kernel_repo r && cd r && scripted "$PWD/../t" "default hash" &&
	git maxkernel explore -q --attempts 10 --seed 1 >/dev/null; a=$(the_search) &&
	git maxkernel explore -q --attempts 21 --seed 2 >/dev/null; b=$(the_search | grep -v "^$a\$") &&
	git maxkernel merge $a $b >/dev/null && "$DRIVE" load $a scripted >../one && last=$(awk "/^node/ && \$2 > m { m = \$2 } END { print m }" ../one) &&
	git maxkernel resume -q --attempts 12 $a >../out; [ $? -le 1 ] &&
	"$DRIVE" load $a scripted >../two &&
	awk "/^node/ { print \$3 }" ../one | sort >../ids &&
	awk "/^node/ { print \$3 }" ../two | sort >../now && comm -13 ../ids ../now >../new &&
	comm -23 ../ids ../now >../gone && same /dev/null ../gone && [ "$(wc -l <../new)" -eq 12 ] &&
	grep -F -f ../new ../two | awk "\$1 == \"node\" { print \$2 }" >../steps &&
	awk -v l="$last" "{ if (\$1 <= l) print }" ../steps >../low && same /dev/null ../low &&
	sort ../steps | uniq -d >../twice && same /dev/null ../twice &&
	grep -F -f ../new ../two | awk "{ print \$4 }" >../new-states &&
	awk "/^node/ { print \$4 }" ../one >../old-states && ! grep -F -f ../old-states ../new-states &&
	git fsck --strict --no-dangling
'

test_that 'it goes on alike whether it was halted in between' '
	kernel_repo r && cd r && scripted "$PWD/../t" "default hash" &&
	git maxkernel explore -q --attempts 10 --seed 1 >/dev/null; a=$(the_search) &&
	git maxkernel explore -q --attempts 13 --seed 2 >/dev/null; b=$(the_search | grep -v "^$a\$") &&
	git maxkernel merge $a $b >/dev/null && cd .. && cp -r r q &&
	(cd r && git maxkernel resume -q --attempts 15 $a >/dev/null; states $a kernels/mix.c >../one) &&
	(cd q && for i in 1 2 3 4 5; do git maxkernel resume -q --attempts 3 $a >/dev/null; done
		states $a kernels/mix.c >../two) && same one two
'

test_that 'the policy counts the rounds of its own search' '
	kernel_repo r && cd r && scripted "$PWD/../t" "default hash" &&
	beam="--policy beam --width 2 --branches 2 --depth 3" &&
	git maxkernel explore -q $beam --seed 1 --attempts 4 >/dev/null; a=$(the_search) &&
	git maxkernel explore -q $beam --seed 2 >/dev/null; b=$(the_search | grep -v "^$a\$") &&
	git maxkernel merge $a $b >/dev/null && "$DRIVE" load $a scripted >../one &&
	git maxkernel resume -q --attempts 100 $a >/dev/null; "$DRIVE" load $a scripted >../two &&
	[ $(($(grep -c "^node" ../two) - $(grep -c "^node" ../one))) -ge 4 ] &&
	"$DRIVE" finish $a ask >../got && has finished ../got
'

test_that '--as-seeds: the best become nodes to be judged here' '
	kernel_repo r && cd r && scripted "$PWD/../t" "default hash" &&
	git maxkernel explore -q --attempts 24 --seed 1 >/dev/null; a=$(the_search) &&
	sed -i "s/rtol = .*/rtol = 2e-3/" .maxkernel &&
	git maxkernel explore -q --attempts 2 --seed 5 >/dev/null; b=$(the_search | grep -v "^$a\$") &&
	best=$(git maxkernel show --json $a@best | sed "s/.*\"state\":\"\([^\"]*\)\".*/\1/") &&
	gives 128 git maxkernel merge $b $a 2>/dev/null &&
	gives 0 git maxkernel merge --as-seeds $b $a >../out 2>../err && has "resume $b" ../err &&
	"$DRIVE" load $b scripted >../got && grep " import parent 0 .* pending" ../got >../imports &&
	git maxkernel merge --as-seeds $b $a >../out && has "0 new nodes" ../out &&
	awk "{ print \$4 }" ../got | sort | uniq -d >../twice && same /dev/null ../twice &&
	git maxkernel resume -q --attempts 4 $b >/dev/null; "$DRIVE" load $b scripted >../got &&
	hasnt pending ../got && grep "$best" ../got && git fsck --strict --no-dangling
'

test_that 'the landing branch follows the champion of both' '
	kernel_repo r && cd r && scripted "$PWD/../t" "default hash" &&
	git maxkernel explore -q --attempts 8 --seed 1 >/dev/null; a=$(the_search) &&
	git maxkernel explore -q --attempts 30 --seed 99 >/dev/null; b=$(the_search | grep -v "^$a\$") &&
	git maxkernel merge $a $b >/dev/null &&
	n=$(git maxkernel show --json $a@best | sed "s/.*\"node\":\"\([^\"]*\)\".*/\1/") &&
	git log -1 --format=%B maxkernel/$a/best/scripted >../message && has "Maxkernel-Node: $n" ../message &&
	m=$(git maxkernel show --json $b@best | sed "s/.*\"node\":\"\([^\"]*\)\".*/\1/") && [ $n = $m ]
'

test_done
