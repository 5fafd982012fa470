#!/bin/sh
# Eight processes write to one repository at once: nothing is lost.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/storm.sh"

# all <pid>...: each process ended well
all()
{
	for pid; do
		wait "$pid" || return 1
	done
}

test_that "8 processes of 1,000 attempts, in batches of 1 and 16 (seed $SEED)" '
	share crowd && storm_repo && echo $S >slug || exit 1
	for i in 1 2 3 4 5 6 7 8; do
		"$STORM" write $S $i 1000 $((SEED * 8 + i)) >acks$i 2>err$i &
		pids="${pids:-} $!"
	done
	all $pids || { cat err?; exit 1; }
	cat err? >err && same /dev/null err && cat acks? >acks &&
	[ "$(wc -l <acks)" -eq 8000 ] && kept acks && no_locks && intact
'

test_that 'plain git counts the same commits, plans and measurements' '
	share crowd && S=$(cat slug) && W=$("$DRIVE" worker) &&
	grep -vc "^-" acks >want && nodes $S | wc -l >got && same want got &&
	git notes --ref=refs/notes/maxkernel/$S/plan/$W list | wc -l >got && same want got &&
	git notes --ref=refs/notes/maxkernel/$S/metrics/$W list >list &&
	cut -d" " -f1 list | git cat-file --batch >texts &&
	grep -c "\"e\":\"eval\"" texts >got && same want got &&
	grep -c "^-" acks >want && grep -c "\"e\":\"spend\"" texts >got && same want got
'

test_that 'a clone has them all' '
	share crowd && S=$(cat slug) && git init -q --bare ../bare.$$ && cd ../bare.$$ &&
	git fetch -q "$SCRATCH/shared-crowd" "refs/maxkernel/*:refs/maxkernel/*" \
		"refs/notes/maxkernel/*:refs/notes/maxkernel/*" &&
	kept "$SCRATCH/shared-crowd/acks" && intact
'

test_that 'eight processes that come first make one worker id' '
	storm_repo && rm -rf .git/maxkernel || exit 1
	for i in 1 2 3 4 5 6 7 8; do
		"$DRIVE" worker >id$i &
		pids="${pids:-} $!"
	done
	all $pids && cat id? | sort -u >ids && [ "$(wc -l <ids)" -eq 1 ] && "$DRIVE" worker >id && same id ids
'

test_that 'eight searches started at once are eight' '
	storm_repo || exit 1
	for i in 1 2 3 4 5 6 7 8; do
		"$DRIVE" create k >slug$i &
		pids="${pids:-} $!"
	done
	all $pids && cat slug? | sort -u >slugs && [ "$(wc -l <slugs)" -eq 8 ] &&
	"$DRIVE" list >list && [ "$(wc -l <list)" -eq 9 ] && intact
'

test_that 'eight measurements of one node at once are eight' '
	storm_repo && "$STORM" write $S 1 1 1 >acks && read -r node _ <acks || exit 1
	for i in 1 2 3 4 5 6 7 8; do
		"$DRIVE" measure $S $node confirmed 1.$i &
		pids="${pids:-} $!"
	done
	all $pids && "$DRIVE" record $S $node all >records && [ "$(grep -c ^confirmed records)" -eq 8 ] && intact
'

# git notes moves its ref without comparing: it may take a line of ours away,
# but we never take one of a person.
test_that 'git notes by hand on a ref that we write: no line of theirs is lost' '
	storm_repo && W=$("$DRIVE" worker) && "$STORM" write $S 1 1 1 >acks && read -r node _ <acks || exit 1
	"$STORM" write $S 2 200 $SEED 1 >more &
	pid=$!
	for i in $(seq 25); do
		git notes --ref=refs/notes/maxkernel/$S/plan/$W append -m "by hand $i" $node 2>>refused && echo "by hand $i" >>hand
	done
	wait $pid && git notes --ref=refs/notes/maxkernel/$S/plan/$W show $node >note &&
	grep "^by hand" note >got && same hand got && intact
'

test_done
