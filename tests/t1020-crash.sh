#!/bin/sh
# kill -9 in the middle of writing: nothing that was acknowledged is lost, git
# finds nothing wrong, and no lock that was left stops the next run.
. "$(dirname "$0")/lib.sh"

DRIVE=$BUILD/helper/store_drive
DEV=dev-avx2-t1
export DRIVE DEV

started()
{
	git init -q . && mkdir kernels &&
	echo 'void k(float *y) { y[0] = 1; }' >kernels/k.c &&
	printf '[kernel "k"]\n\tfile = kernels/k.c\n\tentry = k\n\ttarget = c\n\targ = out f32 y[8]\n' >.maxkernel &&
	git add -A && git commit -q -m 'first' &&
	S=$("$DRIVE" create k) && W=$("$DRIVE" worker)
}

clean()
{
	git fsck --strict --no-dangling >fsck 2>&1 && [ ! -s fsck ] && return
	echo "git fsck says:"
	cat fsck
	return 1
}

# kept: every line of acks is in the graph, with its verdict
kept()
{
	"$DRIVE" load "$S" "$DEV" >graph 2>warnings || { cat warnings; return 1; }
	[ ! -s warnings ] || { cat warnings; return 1; }
	awk 'NR == FNR { if ($1 == "node") at[$2] = $3; else if ($1 == "spend") at[$2] = "-"
			if ($1 == "node" && /pending/) pending[$2] = 1; next }
		NF < 3 { next }
		at[$2] != $3 || pending[$2] { print "lost: " $0; bad = 1 }
		END { exit bad }' graph "$1"
}

# no_locks: no lock below the refs
no_locks()
{
	find .git -name "*.lock" >locks && [ ! -s locks ] && return
	cat locks
	return 1
}

# killed <batch> <seconds>: a run that is killed so long after its first
# acknowledgement
killed()
{
	: >new
	"$DRIVE" append "$S" 100000 "$1" >new 2>>stderr &
	pid=$!
	for _ in $(seq 500); do
		[ ! -s new ] || break
		sleep 0.02
	done
	sleep "$2"
	kill -9 $pid
	wait $pid
	[ -s new ] && cat new >>acks && echo >>acks
}

test_that "nothing acknowledged is lost in $((10 * CHECK_N)) kills" '
	started && : >acks && awk -v n="$((10 * CHECK_N))" "BEGIN { srand(11)
		for (i = 0; i < n; i++) printf \"%d 0.%03d\n\", 1 + rand() * 6, rand() * 60 }" >moments &&
	while read -r batch when; do
		killed $batch $when </dev/null && kept acks && clean || exit 1
	done <moments &&
	"$DRIVE" append "$S" 4 2 >>acks && kept acks && no_locks && clean
'

test_that 'the prefixes of a batch are valid: any ref may be the last moved' '
	started && "$DRIVE" append "$S" 3 3 >acks && git for-each-ref refs >before &&
	"$DRIVE" append "$S" 3 3 >>acks && git for-each-ref refs >after &&
	for ref in agents metrics plan w; do
		name=$(git for-each-ref --format="%(refname)" | grep "/$ref/") &&
		git update-ref "$name" "$(awk -v r="$name" "\$3 == r { print \$1 }" before)" &&
		"$DRIVE" load "$S" "$DEV" >got 2>msg && [ ! -s msg ] && clean || exit 1
	done &&
	head -n 3 acks >first && kept first && "$DRIVE" append "$S" 2 2 >more && kept more
'

test_that 'a lock that a killed run left is known by its intent' '
	started && "$DRIVE" append "$S" 1 1 >acks &&
	for ref in refs/maxkernel/$S/w/$W refs/notes/maxkernel/$S/metrics/$W; do
		: >.git/$ref.lock && printf %s "$ref" >.git/maxkernel/lock &&
		"$DRIVE" append "$S" 1 1 >>acks 2>msg &&
		has "left by a process that died" msg && no_locks || exit 1
	done && kept acks && clean
'

test_that 'an intent without a lock, or of nonsense, harms nothing' '
	started &&
	for text in refs/maxkernel/$S/w/$W ../../../../etc/passwd "refs/../../x" "a b" ""; do
		printf %s "$text" >.git/maxkernel/lock &&
		"$DRIVE" append "$S" 1 1 >>acks 2>msg && [ ! -s msg ] || exit 1
	done &&
	head -c 4000 /dev/urandom >.git/maxkernel/lock && "$DRIVE" append "$S" 1 1 >>acks &&
	kept acks && clean
'

test_that 'objects that a killed run left unfinished are swept by git gc' '
	started && "$DRIVE" append "$S" 5 2 >acks && left=.git/objects/tmp_object_git2_abcdef &&
	echo part >$left && clean && "$DRIVE" append "$S" 1 1 >>acks &&
	git gc -q --prune=now && [ ! -e $left ] && kept acks && clean
'

test_that 'two writers of one repository, one in a linked work tree' '
	started && git worktree add -q --detach ../two.$$ || exit 1
	"$DRIVE" append "$S" 12 1 >one &
	first=$!
	(cd ../two.$$ && exec "$DRIVE" append "$S" 12 1) >two &
	second=$!
	wait $first && wait $second &&
	"$DRIVE" load "$S" "$DEV" >graph 2>warnings && [ ! -s warnings ] &&
	cut -d" " -f3 graph >there && cat one two >acks && [ "$(wc -l <acks)" -eq 24 ] &&
	while read -r _ step id; do
		if [ "$id" = - ]; then has "spend $step " graph; else has "$id" there; fi || exit 1
	done <acks && git worktree remove ../two.$$ && clean
'

test_done
