#!/bin/sh
# Searches in Git: specs, nodes, notes, landing branches, sources; what plain
# git sees of them, and what damage and foreign lines do.
. "$(dirname "$0")/lib.sh"

DRIVE=$BUILD/helper/store_drive
DEV=dev-avx2-t1
q="'"
export DRIVE DEV

# kernels: a repository with one kernel, in the current folder
kernels()
{
	git init -q . && mkdir kernels ref &&
	echo 'int util(void);' >kernels/util.h &&
	printf 'void k(const float *x, float *y, int n)\n{\n\t%s\n}\n' \
		'for (int i = 0; i < n; i++) y[i] = x[i];' >kernels/k.c &&
	cp kernels/k.c ref/k.c && echo read me >README &&
	cat >.maxkernel <<-\END &&
	[kernel "my-copy"]
		file = kernels/k*.c
		use = kernels/util.h
		entry = k
		target = c
		arg = in f32 x[N]
		arg = out f32 y[N]
		arg = dim N
		time = N=1000
		reference = ref/k.c:k
	END
	git add -A && git commit -q -m 'first'
}

# started [<attempts> [<batch>]]: kernels and a search; sets S and W
started()
{
	kernels && S=$("$DRIVE" create my-copy) && W=$("$DRIVE" worker) &&
	{ [ $# -eq 0 ] || "$DRIVE" append "$S" "$1" "${2:-4}" >acks; }
}

clean()
{
	git fsck --strict --no-dangling >fsck 2>&1 && [ ! -s fsck ] && return
	echo "git fsck says:"
	cat fsck
	return 1
}

# node <step>: id of the node; state <step>
node()
{
	"$DRIVE" load "$S" "$DEV" 2>/dev/null |
		awk -v n="$1" '$1 == "node" && $2 == n { print $3 }'
}
state()
{
	"$DRIVE" load "$S" "$DEV" 2>/dev/null |
		awk -v n="$1" '$1 == "node" && $2 == n { print $4 }'
}

# verdict <step>: of the node, and its score
verdict()
{
	"$DRIVE" load "$S" "$DEV" 2>/dev/null |
		awk -v n="$1" '$1 == "node" && $2 == n {
			$1 = $2 = $3 = $4 = $5 = $6 = $7 = $8 = $9 = $10 = $11 = ""
			sub(/^ */, ""); print }'
}

# foreign <worker> <commit> <line>: a metrics line by another worker
foreign()
{
	git notes --ref="refs/notes/maxkernel/$S/metrics/$1" append -m "$3" "$2"
}

EPOCH=$(sed -n 's/^#define JUDGE_EPOCH \([0-9]*\).*/\1/p' "$TOP/core/record.h")

line()	# <worker> <time> <state> <verdict> <rest>
{
	echo "{\"t\":\"$2\",\"v\":1,\"w\":\"$1\",\"e\":\"eval\",\"st\":\"$3\",\"k\":\"$(section)\",\"ep\":$EPOCH,\"dev\":\"$DEV\",\"verdict\":\"$4\"$5}"
}

section()
{
	git show "refs/maxkernel/$S/spec:spec" | sed -n 's/.*"section":"\(.*\)"$/\1/p' |
		sed 's/\\"/"/g' >section.txt
	printf '%b' "$(cat section.txt)\\n" | sed '$d' >section.raw
	git hash-object section.raw | cut -c1-12
}

test_that 'a search has a spec with its base as parent' '
	started &&
	case $S in my-copy-??????) ;; *) exit 1 ;; esac &&
	git rev-parse "refs/maxkernel/$S/spec^" >got && git rev-parse HEAD >want &&
	same want got &&
	[ "$(git log -1 --format=%s "refs/maxkernel/$S/spec")" = "maxkernel: search $S" ] &&
	"$DRIVE" list >got &&
	echo "$S my-copy greedy 18446744073709551615 60.5" >want && same want got &&
	clean
'

test_that 'a worker id is made once' '
	started && "$DRIVE" worker >one && "$DRIVE" worker >two && same one two &&
	grep -Ex "[a-z0-9]{1,8}-[0-9a-f]{4}" one &&
	same one .git/maxkernel/log/worker &&
	echo "../../x" >.git/maxkernel/log/worker &&
	gives 128 "$DRIVE" worker 2>msg && has "does not hold a worker id" msg
'

test_that 'workers made at once agree on their id' '
	kernels &&
	for i in 1 2 3 4 5 6; do "$DRIVE" worker >w$i & done; wait
	for i in 2 3 4 5 6; do same w1 w$i || exit 1; done &&
	[ "$(ls .git/maxkernel/log)" = worker ]
'

test_that 'nodes are commits with trailers, under a tree of kernel files' '
	started 6 && n=$(node 3) &&
	git log -1 --format="%(trailers:only,unfold)" "$n" | sed "/^\$/d" >got &&
	cat >want <<-END &&
	Maxkernel-Search: $S
	Maxkernel-Op: mutate
	Maxkernel-Worker: $W
	Maxkernel-Proposer: builtin
	Maxkernel-Step: 3
	Maxkernel-Strategy: uj+vw
	Maxkernel-Recipe: uj(n=3) vw(256)
	END
	same want got &&
	git diff --name-only HEAD "$n" >got && echo kernels/k.c >want &&
	same want got &&
	[ "$(git log -1 --format="%an <%ae> %cn" "$n")" = "A U Thor <author@example.com> C O Mitter" ] &&
	git merge-base --is-ancestor HEAD "$n"
'

test_that 'a crossover has two parents' '
	started 8 && n=$(node 7) &&
	[ "$(git log -1 --format="%P" "$n")" = "$(node 3) $(git rev-parse HEAD)" ] &&
	"$DRIVE" load "$S" "$DEV" | grep "^node 7 .* crossover parent 3 depth 2 "
'

test_that 'every node hangs on the anchor chain, and gc keeps it' '
	started 10 3 && "$DRIVE" load "$S" "$DEV" >before &&
	git log --format=%s "refs/maxkernel/$S/w/$W" --first-parent | head -n 4 >got &&
	for i in 4 3 2 1; do echo "maxkernel: anchor $i"; done >want &&
	same want got &&
	git gc -q --prune=now && "$DRIVE" load "$S" "$DEV" >after &&
	same before after && "$DRIVE" append "$S" 3 2 >acks && clean
'

test_that 'notes read with plain git' '
	started 3 && n=$(node 1) &&
	git log -1 --notes="maxkernel/*" "$n" >got &&
	has "# Plan" got && has "\"verdict\":\"wrong\"" got && has "{\"stage\":" got &&
	"$DRIVE" plan "$S" "$n" >got && printf "# Plan\n\nUnroll.\n" >want &&
	same want got
'

test_that 'the graph is read back' '
	started 9 &&
	"$DRIVE" load "$S" "$DEV" >got 2>msg && [ ! -s msg ] &&
	[ "$(grep -c ^node got)" -eq 8 ] &&	# root, 1-3, 5-7, 9
	grep "^spend" got >spends && printf "spend 4 dup\nspend 8 dup\n" >want &&
	same want spends &&
	[ "$(verdict 3)" = "slower 0.00995033" ] && [ "$(verdict 1)" = "wrong nan" ] &&
	has "champion 0 spent 2.25" got
'

test_that 'the state in a note is that of the files' '
	started 3 && git checkout -q "$(node 2)" &&
	"$DRIVE" source my-copy HEAD >got && has "state $(state 2)" got &&
	git notes --ref="refs/notes/maxkernel/$S/metrics/$W" remove "$(node 2)" &&
	old=$(sed -n "s/^state //p" got) && [ "$(state 2)" = "$old" ] &&
	[ "$(verdict 2)" = "none pending nan" ]
'

test_that 'other files of a commit do not change its state' '
	started && "$DRIVE" source my-copy HEAD | grep state >one &&
	echo more >README && git commit -qam readme &&
	"$DRIVE" source my-copy HEAD | grep state >two && same one two &&
	echo >>kernels/util.h && git commit -qam util &&
	"$DRIVE" source my-copy HEAD | grep state >three && ! same one three
'

test_that 'a confirmation makes the champion, a failed verify unmakes it' '
	started 3 && n=$(node 3) &&
	"$DRIVE" measure "$S" "$n" confirmed 2 &&
	[ "$(verdict 3)" = "confirmed 0.693147" ] &&
	"$DRIVE" load "$S" "$DEV" | grep "^champion 3 " &&
	"$DRIVE" measure "$S" "$n" faster - && [ "$(verdict 3)" = "confirmed 0.693147" ] &&
	"$DRIVE" measure "$S" "$n" no-verdict - && [ "$(verdict 3)" = "confirmed 0.693147" ] &&
	"$DRIVE" measure "$S" "$n" slower 0.9 &&
	"$DRIVE" load "$S" "$DEV" | grep "^champion 0 " &&
	"$DRIVE" record "$S" "$n" all >got && [ "$(wc -l <got)" -eq 5 ] &&
	sed -n 2p got >second &&
	echo "confirmed speedup 2 shapes 1 M=5 N=7 samples 28 error -" >want &&
	same want second && clean
'

test_that 'a record has its shapes and its whole error' '
	started 3 && "$DRIVE" record "$S" "$(node 1)" "$DEV" >got &&
	has "attempt 1 failed" got && has "in two lines" got &&
	gives 128 "$DRIVE" record "$S" "$(node 1)" other-device 2>msg &&
	has "was not measured on other-device" msg
'

test_that 'device classes are kept apart' '
	started 3 && "$DRIVE" measure "$S" "$(node 2)" confirmed 5 other-t8 &&
	"$DRIVE" load "$S" "$DEV" | grep "^champion 0 " &&
	"$DRIVE" load "$S" other-t8 >got && grep "^champion 2 " got &&
	[ "$(grep -c pending got)" -eq 2 ]
'

test_that 'what was judged is known in other searches of equal section and root' '
	started 3 && st=$(state 3) && a=$S &&
	b=$("$DRIVE" create my-copy) &&
	"$DRIVE" judged "$b" "$st" "$DEV" >got && has "slower" got &&
	gives 1 "$DRIVE" judged "$b" "$st" other-t8 &&
	gives 1 "$DRIVE" judged "$b" "$(git rev-parse HEAD)" "$DEV" &&
	echo more >README && git commit -qam readme && c=$("$DRIVE" create my-copy) &&
	"$DRIVE" judged "$c" "$st" "$DEV" >got && has "slower" got &&
	echo >>kernels/k.c && git commit -qam kernel && d=$("$DRIVE" create my-copy) &&
	gives 1 "$DRIVE" judged "$d" "$st" "$DEV" &&
	git checkout -q HEAD^ && sed "s/N=1000/N=2000/" .maxkernel >m && mv m .maxkernel &&
	e=$("$DRIVE" create my-copy) && gives 1 "$DRIVE" judged "$e" "$st" "$DEV"
'

test_that 'a search is finished, and goes on' '
	started 1 1 && "$DRIVE" finish "$S" ask >got && echo "(unfinished)" >want &&
	same want got &&
	"$DRIVE" finish "$S" done exhausted && "$DRIVE" finish "$S" ask >got &&
	echo exhausted >want && same want got &&
	"$DRIVE" finish "$S" reopen more && "$DRIVE" finish "$S" ask >got &&
	echo "(unfinished)" >want && same want got && clean
'

test_that 'a search is opened by an unambiguous prefix' '
	started && "$DRIVE" finish "${S%????}" ask && T=$("$DRIVE" create my-copy) &&
	gives 128 "$DRIVE" finish my-copy ask 2>msg && has "could be any of 2" msg &&
	gives 128 "$DRIVE" finish nothing ask 2>msg && has "there is no search" msg
'

test_that 'the work of two workers is one graph' '
	started 5 && git clone -q . other && cd other &&
	git fetch -q origin "refs/maxkernel/*:refs/maxkernel/*" "refs/notes/maxkernel/*:refs/notes/maxkernel/*" &&
	V=$("$DRIVE" worker) && [ "$V" != "$W" ] &&
	"$DRIVE" append "$S" 4 2 >acks && cd .. &&
	git fetch -q other "refs/maxkernel/*:refs/maxkernel/*" "refs/notes/maxkernel/*:refs/notes/maxkernel/*" &&
	"$DRIVE" load "$S" "$DEV" >got 2>msg && [ ! -s msg ] &&
	[ "$(grep -c "^node" got)" -eq 8 ] && [ "$(grep -c claimed got)" -eq 3 ] &&
	has "spend 8 dup" got && clean
'

test_that 'claims guide, and our own measurement outranks them' '
	started 3 && n=$(node 3) && st=$(state 3) &&
	foreign evil-0001 "$n" "$(line evil-0001 2099-01-01T00:00:00.000Z "$st" confirmed ",\"speedup\":100")" &&
	[ "$(verdict 3)" = "slower 0.00995033" ] &&
	git notes --ref="refs/notes/maxkernel/$S/metrics/$W" remove "$n" &&
	[ "$(verdict 3)" = "confirmed claimed 4.60517" ]
'

test_that 'a claim about another state is not taken' '
	started 3 && n=$(node 3) &&
	git notes --ref="refs/notes/maxkernel/$S/metrics/$W" remove "$n" &&
	foreign evil-0001 "$n" "$(line evil-0001 2099-01-01T00:00:00.000Z "$(state 1)" confirmed ",\"speedup\":100")" &&
	[ "$(verdict 3)" = "none pending nan" ]
'

test_that 'a void line takes a line back' '
	started 3 && n=$(node 3) && "$DRIVE" measure "$S" "$n" confirmed 2 &&
	ref=refs/notes/maxkernel/$S/metrics/$W &&
	git notes --ref=$ref show "$n" | grep confirmed >gone &&
	id=$(git hash-object --stdin <gone | cut -c1-12) &&
	id=$(tr -d "\n" <gone | git hash-object --stdin | cut -c1-12) &&
	foreign evil-0001 "$n" "{\"t\":\"2027-01-01T00:00:00.000Z\",\"v\":1,\"w\":\"evil-0001\",\"e\":\"void\",\"of\":\"$id\"}" &&
	[ "$(verdict 3)" = "confirmed 0.693147" ] &&
	foreign "$W" "$n" "{\"t\":\"2027-01-01T00:00:00.000Z\",\"v\":1,\"w\":\"$W\",\"e\":\"void\",\"of\":\"$id\"}" &&
	[ "$(verdict 3)" = "slower 0.00995033" ]
'

test_that 'corrupt lines are named and left out' '
	started 3 && n=$(node 3) && foreign "$W" "$n" "{\"t\":\"2026-" &&
	foreign "$W" "$n" "good morning" &&
	"$DRIVE" load "$S" "$DEV" >got 2>msg &&
	has "2 lines are left out" msg && has "$(echo "$n" | cut -c1-12)" msg &&
	[ "$(verdict 3)" = "slower 0.00995033" ] &&
	"$DRIVE" measure "$S" "$n" confirmed 2 &&
	git notes --ref="refs/notes/maxkernel/$S/metrics/$W" show "$n" >got &&
	has "good morning" got
'

test_that 'lines of a newer version are kept, left out and named once' '
	started 3 && foreign "$W" "$(node 3)" "{\"v\":2,\"x\":1}" &&
	foreign "$W" "$(node 2)" "{\"v\":2,\"x\":1}" &&
	"$DRIVE" load "$S" "$DEV" >got 2>msg && [ "$(wc -l <msg)" -eq 1 ] &&
	has "lines of a newer git maxkernel" msg &&
	"$DRIVE" append "$S" 4 4 >acks &&
	git notes --ref="refs/notes/maxkernel/$S/metrics/$W" show "$(node 3)" >got &&
	has "{\"v\":2,\"x\":1}" got
'

test_that 'a note that is binary, or huge, does no harm' '
	started 3 && head -c 20000000 /dev/zero | tr "\0" "x" >huge &&
	foreign evil-0001 "$(node 2)" x &&
	git notes --ref="refs/notes/maxkernel/$S/metrics/evil-0001" add -f -F huge "$(node 2)" &&
	head -c 3000 /dev/urandom >noise &&
	git notes --ref="refs/notes/maxkernel/$S/metrics/evil-0001" add -f -C "$(git hash-object -w noise)" "$(node 3)" &&
	"$DRIVE" load "$S" "$DEV" >got 2>msg && has "20000" msg &&
	[ "$(verdict 3)" = "slower 0.00995033" ]
'

test_that 'a damaged spec is named, the others are listed' '
	started && good=$S && bad=$("$DRIVE" create my-copy) &&
	for text in "" "{" "{\"v\":1}" "{\"v\":7}"; do
		blob=$(printf %s "$text" | git hash-object -w --stdin) &&
		tree=$(printf "100644 blob %s\tspec\n" "$blob" | git mktree) &&
		c=$(git commit-tree -p HEAD -m x "$tree") &&
		git update-ref "refs/maxkernel/$bad/spec" "$c" &&
		"$DRIVE" list >got 2>msg && has "search ${q}$bad${q}" msg &&
		case $text in
		*7*) has "newer git maxkernel" msg && ! grep damaged msg ;;
		*) has "is damaged" msg ;;
		esac &&
		[ "$(cut -d" " -f1 got)" = "$good" ] &&
		gives 128 "$DRIVE" load "$bad" "$DEV" || exit 1
	done &&
	git update-ref "refs/maxkernel/$bad/spec" "$(git commit-tree -m x "$(git rev-parse HEAD^{tree})")" &&
	"$DRIVE" list >got 2>msg && has "is damaged" msg &&
	git show "refs/maxkernel/$good/spec:spec" | sed "s/\"width\":4/\"width\":4,\"more\":1/" >spec &&
	tree=$(printf "100644 blob %s\tspec\n" "$(git hash-object -w spec)" | git mktree) &&
	git update-ref "refs/maxkernel/$good/spec" "$(git commit-tree -p HEAD -m x "$tree")" &&
	gives 128 "$DRIVE" load "$good" "$DEV" 2>msg && has "more" msg
'

test_that 'landing branches: base as parent, kernel files alone, no churn' '
	started 3 && n=$(node 3) && "$DRIVE" land "$S" "best/$DEV" "$n" "faster: k

	Some text." &&
	b=refs/heads/maxkernel/$S/best/$DEV &&
	[ "$(git rev-parse $b^)" = "$(git rev-parse HEAD)" ] &&
	git diff --name-only HEAD $b >got && echo kernels/k.c >want && same want got &&
	git diff --exit-code "$n" $b -- kernels/k.c &&
	has "Maxkernel-Node: $n" "$(git log -1 --format=%B $b >body; echo body)" &&
	git rev-parse $b >one && sleep 1 &&
	"$DRIVE" land "$S" "best/$DEV" "$n" "faster: k

	Some text." &&
	git rev-parse $b >two && same one two &&
	"$DRIVE" land "$S" "best/$DEV" "$(node 2)" "faster: k" &&
	git rev-parse $b >three && ! same one three &&
	git cherry-pick "maxkernel/$S/best/$DEV" && clean
'

test_that 'a landing branch with commits by hand, or checked out, stays' '
	started 3 && "$DRIVE" land "$S" "beam/$DEV/0" "$(node 3)" one &&
	b=maxkernel/$S/beam/$DEV/0 && git checkout -q "$b" &&
	gives 128 "$DRIVE" land "$S" "beam/$DEV/0" "$(node 2)" two 2>msg &&
	has "is checked out" msg &&
	git commit -q --allow-empty -m mine && git checkout -q --detach &&
	gives 128 "$DRIVE" land "$S" "beam/$DEV/0" "$(node 2)" two 2>msg &&
	has "made by hand" msg && "$DRIVE" trim "$S" "$DEV" 0 &&
	[ "$(git log -1 --format=%s "$b")" = mine ]
'

test_that 'beam branches past the width are deleted, packed or not' '
	started 3 &&
	for k in 0 1 2 10; do
		"$DRIVE" land "$S" "beam/$DEV/$k" "$(node 3)" "m $k" || exit 1
	done &&
	git pack-refs --all && "$DRIVE" land "$S" "beam/$DEV/3" "$(node 3)" "m" &&
	"$DRIVE" trim "$S" "$DEV" 2 &&
	git for-each-ref --format="%(refname:lstrip=-1)" refs/heads/maxkernel >got &&
	printf "0\n1\n" >want && same want got && clean
'

test_that 'a revision is resolved to its node' '
	started 3 && n=$(node 3) && "$DRIVE" land "$S" "best/$DEV" "$n" text &&
	echo "$n $S" >want && "$DRIVE" resolve "$n" >got && same want got &&
	"$DRIVE" resolve "maxkernel/$S/best/$DEV" >got && same want got &&
	git cherry-pick "maxkernel/$S/best/$DEV" && "$DRIVE" resolve HEAD >got &&
	same want got &&
	gives 1 "$DRIVE" resolve HEAD^ && gives 1 "$DRIVE" resolve nothing &&
	gives 1 "$DRIVE" resolve "refs/maxkernel/$S/spec" &&
	git commit -q --allow-empty -m "x

Maxkernel-Search: $S
Maxkernel-Node: 0123456789012345678901234567890123456789" &&
	gives 1 "$DRIVE" resolve HEAD 2>msg && has "is not in this repository" msg
'

test_that 'sources come from the commit, with their roles' '
	started && "$DRIVE" source my-copy HEAD >got && cat >want <<-END &&
	kernels/k.c $(wc -c <kernels/k.c) file
	kernels/util.h 16 use
	END
	grep -v state got >files && same want files &&
	"$DRIVE" source my-copy HEAD aux | has "ref/k.c" /dev/stdin
'

test_that 'a source that is missing is named with file and line' '
	started && git rm -q kernels/util.h && git commit -qm gone &&
	gives 128 "$DRIVE" source my-copy HEAD 2>msg &&
	has ".maxkernel:1: use ${q}kernels/util.h${q} is not in $(git rev-parse --short=12 HEAD)" msg &&
	gives 128 "$DRIVE" source my-copy worktree 2>msg &&
	has "is not in the work tree" msg
'

test_that 'the kernel may be missing only where there is a reference' '
	started && git rm -q kernels/k.c && git commit -qm gone &&
	"$DRIVE" source my-copy HEAD >got && hasnt kernels/k.c got &&
	grep -v reference .maxkernel >m && mv m .maxkernel &&
	gives 128 "$DRIVE" source my-copy HEAD 2>msg && has "file ${q}kernels/k*.c${q}" msg
'

test_that 'symbolic links and submodules are refused' '
	started && ln -sf ../README kernels/k.c && git commit -qam link &&
	for from in HEAD worktree; do
		gives 128 "$DRIVE" source my-copy $from 2>msg &&
		has "is a symbolic link" msg || exit 1
	done &&
	git checkout -q HEAD^ -- . && git mv kernels real && ln -s real kernels &&
	git add kernels && git commit -qm "linked folder" &&
	gives 128 "$DRIVE" source my-copy HEAD 2>msg && has "symbolic link" msg &&
	git rm -q --cached kernels && rm kernels &&
	git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),kernels/k.c &&
	git commit -qm submodule &&
	gives 128 "$DRIVE" source my-copy HEAD 2>msg && has "submodule" msg
'

test_that 'the work tree as a root: changed files alone, nothing moved' '
	started && "$DRIVE" worktree my-copy >got && git rev-parse HEAD >want &&
	same want got &&
	echo "/* more */" >>kernels/k.c && echo "int x;" >kernels/k2.c &&
	echo changed >README && git status --porcelain >../before.$$ &&
	r=$("$DRIVE" worktree my-copy) && [ "$(git rev-parse "$r^")" = "$(cat want)" ] &&
	git diff --name-only HEAD "$r" >got && printf "kernels/k.c\nkernels/k2.c\n" >want &&
	same want got && git status --porcelain | grep -v -e got -e want >../after.$$
	grep -v -e got -e want ../before.$$ | same - ../after.$$ &&
	rm ../before.$$ ../after.$$ &&
	S=$("$DRIVE" create my-copy "$r") && "$DRIVE" append "$S" 3 3 >acks &&
	git gc -q --prune=now && "$DRIVE" load "$S" "$DEV" >got && has "node 0 $r" got &&
	git rm -q -f kernels/k.c && r=$("$DRIVE" worktree my-copy) &&
	git diff --name-status HEAD "$r" >got &&
	printf "D\tkernels/k.c\nA\tkernels/k2.c\n" >want && same want got && clean
'

test_that 'the modes of files that are there stay' '
	kernels && chmod +x kernels/k.c && git commit -qam mode &&
	S=$("$DRIVE" create my-copy) && "$DRIVE" append "$S" 1 1 >acks &&
	git ls-tree "$(node 1)" kernels/k.c | has 100755 /dev/stdin && clean
'

test_that 'a ref that moved is a lost race, never overwritten' '
	started && a=$(git rev-parse HEAD) && git commit -q --allow-empty -m two &&
	b=$(git rev-parse HEAD) && z=refs/maxkernel/x/y &&
	"$DRIVE" cas $z - $a && gives 1 "$DRIVE" cas $z - $b &&
	[ "$(git rev-parse $z)" = $a ] && "$DRIVE" cas $z $a $b &&
	gives 1 "$DRIVE" cas $z $a $a && [ "$(git rev-parse $z)" = $b ] &&
	gives 1 "$DRIVE" cas refs/maxkernel/x/none $a $b &&
	gives 128 "$DRIVE" cas refs/maxkernel/x/y/z - $a
'

test_that 'several processes write one ref and lose nothing' '
	started &&
	for i in 1 2 3 4; do
		(for j in 1 2 3 4 5 6 7 8; do
			c=$(git commit-tree -m "$i $j" "$(git rev-parse HEAD^{tree})") &&
			echo "append $c {\"w\":$i,\"j\":$j}" |
				"$DRIVE" write-notes refs/notes/busy || exit 1
			echo "$c" >>made$i
		done) || echo failed >>lost &
	done; wait
	[ ! -e lost ] && cat made* | sort >want &&
	"$DRIVE" read-notes refs/notes/busy | cut -d" " -f1 >got && same want got && clean
'

test_that 'a stale lock is moved away, a young one is waited for' '
	started 1 1 && lock=.git/refs/maxkernel/$S/w/$W.lock && : >"$lock" &&
	touch -d "-2 minutes" "$lock" && "$DRIVE" append "$S" 1 1 >acks 2>msg &&
	has "left by a process that died" msg && [ ! -e "$lock" ] &&
	: >"$lock" && { (sleep 1; rm "$lock") & } &&
	"$DRIVE" append "$S" 1 1 >acks 2>msg && [ ! -s msg ] && wait && clean
'

test_that 'repositories: linked work tree, bare, detached, UTF-8 path, sparse' '
	started 2 2 && git worktree add -q --detach "../w ö $$" 2>log && (cd "../w ö $$" &&
		"$DRIVE" append "$S" 1 1 >acks && "$DRIVE" load "$S" "$DEV" >got &&
		has "node 3" got && "$DRIVE" info | has "$PWD/" /dev/stdin) &&
	git worktree remove --force "../w ö $$" &&
	git checkout -q --detach && "$DRIVE" info | has "(detached)" /dev/stdin &&
	git clone -q --bare . ../bare.$$ && (cd ../bare.$$ &&
		"$DRIVE" info | has "(bare)" /dev/stdin) && rm -rf ../bare.$$ &&
	git sparse-checkout set kernels && "$DRIVE" append "$S" 1 1 >acks &&
	mkdir sub && cd sub && "$DRIVE" load "$S" "$DEV" >got && has "node 3" got
'

test_that 'repositories that cannot be used get a sentence' '
	git init -q --object-format=sha256 new && (cd new &&
		gives 128 "$DRIVE" info 2>msg && has "sha256" msg) &&
	mkdir k && (cd k && started) && (cd k && git commit -q --allow-empty -m two) &&
	git clone -q --depth 1 "file://$PWD/k" shallow && (cd shallow &&
		gives 128 "$DRIVE" info 2>msg && has "git fetch --unshallow" msg) &&
	git init -q empty && (cd empty && "$DRIVE" info >got 2>msg &&
		has "no commits yet" got) &&
	(cd / && gives 128 "$DRIVE" info) 2>msg && has "not a git repository" msg &&
	cd k && (unset GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL EMAIL
		gives 128 "$DRIVE" create my-copy 2>msg && has "git config --global user" msg)
'

test_that 'a setting is added once, beside what is there' '
	kernels && git config notes.displayRef refs/notes/mine &&
	for v in a "refs/notes/maxkernel/*" a; do
		"$DRIVE" config notes.displayRef "$v" || exit 1
	done &&
	git config --get-all notes.displayRef >got &&
	printf "%s\n" refs/notes/mine a "refs/notes/maxkernel/*" >want && same want got
'

test_that 'GIT_DIR and GIT_WORK_TREE are respected' '
	started && top=$PWD && mkdir ../elsewhere.$$ && cd ../elsewhere.$$ &&
	GIT_DIR=$top/.git "$DRIVE" info >got && has "workdir $PWD/" got &&
	GIT_DIR=$top/.git GIT_WORK_TREE=$top "$DRIVE" info >got &&
	has "workdir $top/" got && rm -rf "$PWD"
'

if [ "$(id -u)" -eq 0 ] && unshare -m true 2>/dev/null
then
	test_that 'a full disk: the error says so, nothing half-done is seen' '
		started 4 && "$DRIVE" load "$S" "$DEV" >before && mkdir small &&
		top=$PWD && q=$q unshare -m sh -c "
			mount -t tmpfs -o size=600k none small && cp -a .git small/ &&
			cp -a kernels ref .maxkernel small/ && cd small &&
			head -c 10000000 /dev/zero >fill 2>/dev/null
			\"$DRIVE\" append $S 40 8 >$top/acks 2>$top/msg
			[ \$? -eq 128 ] || exit 1
			\"$DRIVE\" load $S $DEV >$top/after &&
			rm fill && git fsck --strict --no-dangling >$top/fsck 2>&1" &&
		has "No space left" msg && same before after && [ ! -s fsck ]
	'
	test_that 'a read-only repository is read, and named when written' '
		started 4 && "$DRIVE" load "$S" "$DEV" >before && top=$PWD &&
		unshare -m sh -c "
			mount --bind .git .git && mount -o remount,ro,bind .git &&
			\"$DRIVE\" load $S $DEV >after && \"$DRIVE\" append $S 1 1 2>msg
			[ \$? -eq 128 ]" &&
		same before after && has "Read-only file system" msg
	'
else
	test_skip 'a full disk' 'needs root and mount'
	test_skip 'a read-only repository' 'needs root and mount'
fi

test_done
