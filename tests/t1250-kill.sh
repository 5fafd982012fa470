#!/bin/sh
# kill -9 at random moments of writing, housekeeping, pushing and merging: the
# repository opens, git finds nothing wrong, nothing acknowledged is lost, and
# what a killed run left stops nobody.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/storm.sh"

# 25 moments, 100 for `make check-long`
moments=25
[ "$CHECK_N" -lt 10 ] || moments=100
writes=$((moments * 2 / 5))
gcs=$((moments / 5))
pushes=$((moments / 5))
merges=$((moments / 5))

# ends_killed <pid> <milliseconds>
ends_killed()
{
	sleep "0.$(printf %03d "$2")"
	kill -9 "$1" 2>/dev/null
	wait "$1" 2>/dev/null
	return 0
}

# alone_again <session>: until the git that it had started is done as well:
# git fsck takes what comes in meanwhile for damage
alone_again()
{
	for _ in $(seq 500); do
		ps -A -o sid= | grep -qx " *$1" || return 0
		sleep 0.02
	done
	echo "session $1 goes on"
	return 1
}

test_that "$writes kills in writing (seed $SEED)" '
	storm_repo && : >acks && numbers $writes 0 400 >moments && i=0 &&
	while read -r ms; do
		i=$((i + 1))
		"$STORM" write $S $i 0 $((SEED + i)) >new 2>>err </dev/null &
		pid=$!
		wait_for new && ends_killed $pid $ms && cat new >>acks && kept acks && intact || exit 1
	done <moments && "$STORM" write $S 999 20 1 >>acks 2>msg && kept acks && no_locks && intact
'

test_that "$gcs kills of git gc and of the writer beside it (seed $SEED)" '
	storm_repo && : >acks && numbers $gcs 0 400 >moments && i=0 &&
	while read -r ms; do
		i=$((i + 1))
		"$STORM" write $S $i 0 $((SEED + i)) >new 2>>err </dev/null &
		pid=$!
		wait_for new || exit 1
		setsid git gc -q --prune=now </dev/null >>gc.log 2>&1 &
		gc=$!
		if [ $((i % 2)) -eq 0 ]; then
			ends_killed $pid $ms
			wait $gc
		else
			sleep "0.$(printf %03d $ms)"
			kill -9 -- -$gc 2>/dev/null; wait $gc 2>/dev/null
			ends_killed $pid 100
		fi
		cat new >>acks && kept acks && intact || { cat gc.log; exit 1; }
		rm -f .git/packed-refs.lock
	done <moments && rm -f .git/gc.pid && "$STORM" write $S 999 20 1 >>acks && git gc -q --prune=now && kept acks && intact
'

# two: a and b, with a search of three attempts each, and the remote between
two()
{
	git init -q --bare hub && git init -q a && (cd a && storm_repo && git remote add origin ../hub &&
		"$STORM" write $S 1 3 1 >../acks && echo $S >../slug && git push -q origin main) && S=$(cat slug)
}

test_that "$pushes kills in pushing (seed $SEED)" '
	two && numbers $pushes 0 150 >moments && i=1 &&
	while read -r ms; do
		i=$((i + 1))
		(cd a && "$STORM" write $S $i 10 $((SEED + i))) >>acks || exit 1
		(cd a && exec setsid git-maxkernel push -q) >>push.log 2>&1 </dev/null &
		pid=$!
		ends_killed $pid $ms && alone_again $pid || exit 1
		(cd a && kept ../acks && intact) && (cd hub && intact) || exit 1
	done <moments && (cd a && git maxkernel push -q) && (cd hub && kept ../acks && intact) &&
	git clone -q hub c && cd c && git maxkernel pull -q && kept ../acks && intact
'

test_that "$pushes kills in pulling (seed $SEED)" '
	two && git clone -q hub b && numbers $pushes 0 150 >moments && i=1 &&
	while read -r ms; do
		i=$((i + 1))
		(cd a && "$STORM" write $S $i 10 $((SEED + i)) && git maxkernel push -q) >>acks || exit 1
		(cd b && exec setsid git-maxkernel pull -q) >>pull.log 2>&1 </dev/null &
		pid=$!
		ends_killed $pid $ms && alone_again $pid || exit 1
		(cd b && intact) || exit 1
	done <moments && cd b && git maxkernel pull -q && kept ../acks && no_locks && intact
'

test_that "$merges kills in merging two searches (seed $SEED)" '
	storm_repo && "$STORM" write $S 1 40 $SEED >acks && into=$S && S=$("$DRIVE" create k) &&
	"$STORM" write $S 2 40 $SEED >acks2 && from=$S && numbers $merges 0 60 >moments &&
	while read -r ms; do
		git-maxkernel merge -q $into $from </dev/null >>merge.log 2>&1 &
		ends_killed $! $ms
		S=$into && kept acks && S=$from && kept acks2 && intact || exit 1
	done <moments && git maxkernel merge -q $into $from && S=$into && kept acks && grep -v "^-" acks2 >nodes2 &&
	kept nodes2 && no_locks && intact
'

test_that 'a lock older than a minute is taken away with a message' '
	storm_repo && W=$("$DRIVE" worker) && "$STORM" write $S 1 2 1 >acks && n=1 &&
	for ref in refs/maxkernel/$S/w/$W refs/notes/maxkernel/$S/plan/$W refs/notes/maxkernel/$S/metrics/$W; do
		n=$((n + 1)) && : >.git/$ref.lock && touch -d "61 seconds ago" .git/$ref.lock &&
		"$STORM" write $S $n 1 1 >>acks 2>msg && has "removed" msg && has "$ref.lock" msg &&
		has "left by a process that died" msg && no_locks || exit 1
	done && kept acks && intact
'

test_that 'so are those that a killed fetch left' '
	two && (cd a && git maxkernel push -q) && git clone -q hub b && (cd b && git maxkernel pull -q) &&
	(cd a && "$STORM" write $S 2 3 1 && git maxkernel push -q) >>acks && cd b &&
	git for-each-ref --format="%(refname)" refs/maxkernel-remote refs/notes/remote >refs && [ -s refs ] &&
	while read -r ref; do
		mkdir -p "$(dirname .git/$ref)" && : >.git/$ref.lock && touch -d "61 seconds ago" .git/$ref.lock || exit 1
	done <refs && git maxkernel pull -q 2>msg && has "left by a process that died" msg && kept ../acks && no_locks && intact
'

test_that 'a lock that is not so old stays, and is named' '
	storm_repo && W=$("$DRIVE" worker) && "$STORM" write $S 1 1 1 >acks && lock=.git/refs/maxkernel/$S/w/$W.lock && : >$lock &&
	gives 128 "$STORM" write $S 2 1 1 2>msg && has "$lock" msg && has "remove that file" msg && [ -e $lock ] && kept acks &&
	rm $lock && "$STORM" write $S 3 1 1 >>acks && kept acks && intact
'

test_done
