#!/bin/sh
# What plain git fetched, without the checks of pull and hook, is read with
# the same distrust: the search stays usable, the others stay untouched.
. "$(dirname "$0")/lib.sh"

DRIVE=$BUILD/helper/store_drive
export DRIVE

# searched: r with a search S of our worker W; cd into it
searched()
{
	kernel_repo r && cd r && scripted "$SCRATCH/table" "default hash" &&
	git maxkernel explore -q --attempts 8 >/dev/null
	S=$(the_search) && W=$(cat .git/maxkernel/log/worker) &&
	R=$(git rev-parse main) && M=refs/notes/maxkernel/$S/metrics
}

# two: and a second search O, which has to stay readable
two()
{
	searched && git maxkernel explore -q --attempts 8 --seed 7 >/dev/null
	O=$(the_search | grep -v "^$S\$") && [ -n "$O" ]
}

# says <worker> <commit> <json without t, v, w>: a line in his notes
says()
{
	git notes --ref="$M/$1" append \
		-m "{\"t\":\"2031-01-01T00:00:00.000Z\",\"v\":1,\"w\":\"${AS-$1}\",$3}" "$2"
}

noted()	# <tree>
{
	git commit-tree -m notes "$1"
}

one()	# <name> <type> <id> <mode>: a tree with one entry, whatever it is
{
	printf '%s %s %s\t%s\n' "$4" "$2" "$3" "$1" | git mktree --missing
}

# reads <warning>: every command that looks ends soon, warns of S and shows O
reads()
{
	for c in "status" "log $S" "best" "graph" "log $O" "status $O"; do
		timeout 60 git maxkernel $c >../out 2>../err; got=$?
		case $c:$got in
		"log $S":128 | "log $S":0 | *:0) ;;
		best:1) ;;
		*) echo "$c: status $got"; cat ../err; exit 1 ;;
		esac
		! grep "$(printf '\033')" ../out ../err || exit 1
		cat ../err >>../warned
	done
	timeout 60 git maxkernel status >../out 2>../err && has "$O" ../out &&
	{ [ -z "$1" ] || has "$1" ../warned; }
}

test_that 'a line is taken back by who wrote it, not in his name by another' '
	searched && n=$(nodes "$S" | head -n 1) && st=$(git rev-parse "$n^{tree}") &&
	says third-0001 "$n" "\"e\":\"lesson\",\"text\":\"x\"" &&
	git notes --ref="$M/$W" show "$n" | grep "\"eval\"" | tail -n 1 |
		sed "s/\"w\":\"[^\"]*\"/\"w\":\"third-0001\"/; s/,\"raw\":\"[0-9a-f]*\"//" >../line &&
	git notes --ref="$M/third-0001" append -F ../line "$n" &&
	git notes --ref="$M/$W" remove "$n" && rm -rf .git/maxkernel/cache &&
	"$DRIVE" load "$S" scripted >../before && grep "$n .* claimed" ../before &&
	id=$(tr -d "\n" <../line | git hash-object --stdin | cut -c1-12) &&
	AS=third-0001 && says evil-0001 "$n" "\"e\":\"void\",\"of\":\"$id\"" &&
	"$DRIVE" load "$S" scripted >../got && same ../before ../got &&
	says third-0001 "$n" "\"e\":\"void\",\"of\":\"$id\"" &&
	"$DRIVE" load "$S" scripted >../got && ! grep "$n .* claimed" ../got
'

test_that 'nor by way of a union' '
	two && n=$(nodes "$S" | head -n 1) &&
	git notes --ref="$M/$W" show "$n" | grep "\"eval\"" | tail -n 1 |
		sed "s/\"w\":\"[^\"]*\"/\"w\":\"third-0001\"/; s/,\"raw\":\"[0-9a-f]*\"//" >../line &&
	git notes --ref="$M/third-0001" append -F ../line "$n" &&
	git notes --ref="$M/$W" remove "$n" &&
	id=$(tr -d "\n" <../line | git hash-object --stdin | cut -c1-12) &&
	AS=third-0001 && says evil-0001 "$n" "\"e\":\"void\",\"of\":\"$id\"" &&
	git maxkernel merge "$O" "$S" >/dev/null &&
	"$DRIVE" load "$O" scripted >../got && grep "$n .* claimed" ../got
'

test_that 'a step near the end of the numbers is left out and told' '
	searched && says evil-0001 "refs/maxkernel/$S/spec" \
		"\"e\":\"spend\",\"step\":4294967290,\"verdict\":\"dup\",\"attempt_s\":1" &&
	says evil-0001 "refs/maxkernel/$S/spec" \
		"\"e\":\"spend\",\"step\":3999999999,\"verdict\":\"dup\",\"attempt_s\":1" &&
	n=$(printf "x\n\nMaxkernel-Search: %s\nMaxkernel-Op: mutate\nMaxkernel-Worker: evil-0001\nMaxkernel-Step: 4294967290\n" "$S" |
		git commit-tree "$R^{tree}" -p "$R") &&
	a=$(printf "maxkernel: anchor 1\n\nMaxkernel-Search: %s\nMaxkernel-Worker: evil-0001\n" "$S" |
		git commit-tree "$(git mktree </dev/null)" -p "$n") &&
	git update-ref "refs/maxkernel/$S/w/evil-0001" "$a" &&
	git maxkernel status "$S" 2>../err && has "its step is" ../err && [ "$(grep -c "left out" ../err)" -ge 3 ] &&
	before=$(nodes "$S" | wc -l) && git maxkernel resume -q --attempts 6 "$S"; [ $? -le 1 ] &&
	[ "$(nodes "$S" | wc -l)" -ge $((before + 6)) ] && git log --format=%B "refs/maxkernel/$S/w/$W" |
		sed -n "s/^Maxkernel-Step: //p" | awk "\$1 > 10000" | same /dev/null -
'

test_that 'behind the last step that another may have, ours go on' '
	searched && says evil-0001 "refs/maxkernel/$S/spec" \
		"\"e\":\"spend\",\"step\":1000000000,\"verdict\":\"dup\",\"attempt_s\":1" &&
	before=$(nodes "$S" | wc -l) && git maxkernel resume -q --attempts 6 "$S"; [ $? -le 1 ] &&
	"$DRIVE" load "$S" scripted >../one && [ "$(grep -c "^node" ../one)" -ge $((before + 7)) ] &&
	git maxkernel resume -q --attempts 6 "$S"; [ $? -le 1 ] &&
	"$DRIVE" load "$S" scripted >../two && [ "$(grep -c "^node" ../two)" -ge $((before + 13)) ] &&
	awk "/^node/ { print \$2 }" ../two | sort | uniq -d | same /dev/null -
'

# The judge takes so long that the least time that is left would not do.
test_that 'seconds that another claims use up no time budget, nor overflow' '
	kernel_repo r && cd r && scripted "$SCRATCH/slow" "default hash" "delay 40" &&
	{ git-maxkernel explore -q --policy beam --width 2 --branches 3 --depth 6 --time 1h & pid=$!; } &&
	i=0 && while [ $i -lt 300 ] && [ -z "$(git for-each-ref "refs/maxkernel/*/w/*")" ]; do
		sleep 0.1; i=$((i + 1)); done &&
	kill -TERM $pid; wait $pid; S=$(the_search) && M=refs/notes/maxkernel/$S/metrics &&
	for s in 1e300 1e5 86400 86400 -5 NaN 1e999; do
		says evil-0001 "refs/maxkernel/$S/spec" \
			"\"e\":\"spend\",\"step\":1,\"verdict\":\"dup\",\"attempt_s\":$s" || exit 1
	done &&
	git maxkernel status --json "$S" >../json && t=$(sed "s/.*\"spent_s\":\([^,]*\),.*/\1/" ../json) &&
	echo "$t" | awk "{ exit !(\$1 > 3 * 86400 - 1 && \$1 < 3 * 86400 + 3600) }" &&
	git maxkernel resume -q --json "$S" >../out; [ $? -le 1 ] &&
	grep -E "\"end\":\"(finished|exhausted)\"" ../out
'

test_that 'a recipe that cannot be read: the plan stands in its place' '
	searched && b=$(git maxkernel best --json | sed "s/.*\"node\":\"\([^\"]*\)\".*/\1/") &&
	t=$(GIT_INDEX_FILE=$PWD/.git/forge && export GIT_INDEX_FILE && git read-tree "$R" &&
		f=$( { git show "$R:kernels/mix.c"; echo "/* theirs */"; } | git hash-object -w --stdin) &&
		git update-index --cacheinfo "100644,$f,kernels/mix.c" && git write-tree) &&
	n=$(printf "mix: theirs\n\nMaxkernel-Search: %s\nMaxkernel-Op: mutate\nMaxkernel-Worker: other-0001\nMaxkernel-Step: 5\nMaxkernel-Recipe: )(no recipe\n" "$S" |
		git commit-tree "$t" -p "$R") &&
	a=$(printf "maxkernel: anchor 1\n\nMaxkernel-Search: %s\nMaxkernel-Worker: other-0001\n" "$S" |
		git commit-tree "$(git mktree </dev/null)" -p "$n") &&
	git update-ref "refs/maxkernel/$S/w/other-0001" "$a" &&
	git notes --ref="refs/notes/maxkernel/$S/plan/other-0001" add -m "a plan of his" "$n" &&
	st=$("$DRIVE" load "$S" scripted | awk -v n="$n" "\$3 == n { print \$4 }") &&
	git notes --ref="$M/$W" show "$b" | grep "\"confirmed\"" | tail -n 1 |
		sed "s/\"st\":\"[0-9a-f]*\"/\"st\":\"$st\"/; s/,\"raw\":\"[0-9a-f]*\"//; s/speedup\":[0-9.]*/speedup\":99/g" >../line &&
	git notes --ref="$M/$W" append -F ../line "$n" &&
	git maxkernel resume --attempts 8 "$S" >../out 2>../err; got=$?; cat ../err; [ $got -eq 0 ] &&
	has "cannot be told in words" ../err &&
	git log -1 --format=%B "maxkernel/$S/best/scripted" >../message && has "a plan of his" ../message
'

test_that 'a plan with bytes that are no text is written without them: others take the ref' '
	searched && DRIVE_RAW=1 "$DRIVE" append "$S" 3 2 >/dev/null &&
	for k in plan agents; do
		"$BUILD/helper/incoming_drive" "$S" "refs/notes/maxkernel/$S/$k/$W" - "refs/notes/maxkernel/$S/$k/$W" || exit 1
		git notes --ref="refs/notes/maxkernel/$S/$k/$W" list | while read -r b on; do git cat-file blob "$b"; done >../$k &&
		! LC_ALL=C grep "$(printf "[\033\007\200]")" ../$k || exit 1
	done && has "a ?[2J plan?" ../plan && has "	x ?" ../plan && has "{\"stage\":\"?\"}" ../agents
'

# ---- what must not stop a reader ----

test_that 'a notes tree that multiplies itself' '
	two && b=$(echo "{}" | git hash-object -w --stdin) &&
	t=$(for i in $(seq 16 95); do printf "100644 blob %s\t%030x%02x\n" "$b" 0 "$i"; done | git mktree) &&
	for level in 1 2 3 4; do
		t=$(for i in $(seq 16 255); do printf "040000 tree %s\t%02x\n" "$t" "$i"; done | git mktree)
	done &&
	git update-ref "$M/evil-0001" "$(noted "$t")" && reads "$M/evil-0001"
'

test_that 'a line of 10 MB, and one of brackets alone' '
	two && n=$(nodes "$S" | head -n 1) &&
	b=$( { printf "{\"t\":\""; head -c 10000000 /dev/zero | tr "\0" x; echo "\"}"; } | git hash-object -w --stdin) &&
	git update-ref "$M/evil-0001" "$(noted "$(one "$n" blob "$b" 100644)")" && reads "evil-0001" &&
	b=$(head -c 4000 /dev/zero | tr "\0" "[" | git hash-object -w --stdin) &&
	git update-ref "$M/evil-0001" "$(noted "$(one "$n" blob "$b" 100644)")" && rm ../warned && reads "evil-0001" &&
	b=$(head -c 4000000 /dev/zero | tr "\0" "[" | git hash-object -w --stdin) &&
	git update-ref "$M/evil-0001" "$(noted "$(one "$n" blob "$b" 100644)")" && rm ../warned && reads "evil-0001"
'

test_that 'a commit, a folder and nothing at all where a note should be' '
	two && n=$(nodes "$S" | head -n 1) && for what in "commit $R 160000" "commit $R 100644" \
		"tree $(git mktree </dev/null) 100644" "tree $(git mktree </dev/null) 040000" \
		"blob 0123456789012345678901234567890123456789 100644"; do
		set -- $what && t=$(printf "%s %s\0" "$3" "$n" | sed "s/^0//" >raw &&
			printf "%s" "$2" | sed "s/../\\\\x&/g" >hex && bash -c "printf \"$(cat hex)\"" >>raw &&
			git hash-object -w -t tree --literally raw) &&
		git update-ref "$M/evil-0001" "$(noted "$t")" && rm -f raw hex ../warned && echo "$what" &&
		case $what in *100644) reads "evil-0001" ;; *) reads "" ;; esac || exit 1
	done
'

test_that 'a notes ref whose tree is not here, and one that is no commit' '
	two && gone=0123456789012345678901234567890123456789 &&
	c=$(printf "tree %s\nauthor a <a> 1 +0000\ncommitter a <a> 1 +0000\n\nnotes\n" "$gone" |
		git hash-object -w -t commit --literally --stdin) &&
	echo "$c" >".git/$M/evil-0001" && reads "evil-0001" && rm ../warned &&
	git rev-parse "$R:kernels/mix.c" >".git/$M/evil-0001" && reads "evil-0001"
'

test_that 'a node whose parent or tree is not here' '
	two && gone=0123456789012345678901234567890123456789 &&
	for head in "tree $(git rev-parse "$R^{tree}")\nparent $gone" "tree $gone\nparent $R"; do
		n=$(printf "$head\nauthor a <a> 1 +0000\ncommitter a <a> 1 +0000\n\nx\n\nMaxkernel-Search: %s\nMaxkernel-Op: mutate\nMaxkernel-Worker: evil-0001\nMaxkernel-Step: 9\n" "$S" |
			git hash-object -w -t commit --literally --stdin) &&
		a=$(printf "tree %s\nparent %s\nauthor a <a> 1 +0000\ncommitter a <a> 1 +0000\n\nmaxkernel: anchor 1\n\nMaxkernel-Search: %s\nMaxkernel-Worker: evil-0001\n" \
			"$(git mktree </dev/null)" "$n" "$S" | git hash-object -w -t commit --literally --stdin) &&
		mkdir -p ".git/refs/maxkernel/$S/w" && echo "$a" >".git/refs/maxkernel/$S/w/evil-0001" &&
		rm -f ../warned && reads "cannot read" || exit 1
	done
'

# Of O, whose spec is put aside, the one that is left has to be shown.
test_that 'a spec of 4 MB, a deep one, one that is a folder' '
	two && for what in "head -c 4194304 /dev/zero | tr \"\\0\" \" \"" "head -c 200000 /dev/zero | tr \"\\0\" \"[\"" \
			"printf x"; do
		b=$(eval "$what" | git hash-object -w --stdin) &&
		c=$(git commit-tree -m "maxkernel: search" -p "$R" "$(one spec blob "$b" 100644)") &&
		git update-ref refs/maxkernel/evil-aaaaaa/spec "$c" && rm -f ../warned && reads evil-aaaaaa || exit 1
	done && t=$(one spec tree "$(git mktree </dev/null)" 040000) && rm ../warned &&
	git update-ref refs/maxkernel/evil-aaaaaa/spec "$(git commit-tree -m x -p "$R" "$t")" && reads evil-aaaaaa
'

test_that 'a partial clone that cannot fetch what is missing' '
	two && git maxkernel status >../want && cd .. && git init -q --bare hub &&
	git -C hub config uploadpack.allowFilter true && git -C r push -q "$PWD/hub" main &&
	(cd r && git push -q ../hub "refs/maxkernel/*:refs/maxkernel/*" "refs/notes/maxkernel/*:refs/notes/maxkernel/*") &&
	git clone -q --filter=blob:none "file://$PWD/hub" q && cd q &&
	git fetch -q origin "refs/maxkernel/*:refs/maxkernel/*" "refs/notes/maxkernel/*:refs/notes/maxkernel/*" && mv ../hub ../away &&
	for c in status "log" best graph; do
		timeout 60 git maxkernel $c >../out 2>../err; [ $? -le 1 ] || [ -s ../err ] || { cat ../err; exit 1; }
		cat ../err; [ "$(wc -l <../err)" -le 60 ] || exit 1
	done
'

test_done
