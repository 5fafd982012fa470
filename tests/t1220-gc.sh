#!/bin/sh
# A person's housekeeping, rebases and forced pushes in the middle of a
# search: every node stays.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/storm.sh"

# during <number> <command...>: two writers go on while the command is run
# again and again, <number> times and until the writers are done
during()
{
	during_n=$1
	shift
	: >go
	"$STORM" write $S 1 $((40 * CHECK_N)) $SEED >acks1 2>err1 &
	during_1=$!
	"$STORM" write $S 2 $((40 * CHECK_N)) $((SEED + 1)) >acks2 2>err2 &
	during_2=$!
	during_i=0
	while [ $during_i -lt "$during_n" ] || kill -0 $during_1 2>/dev/null; do
		"$@" >>house 2>&1 || { echo "$* failed:"; tail -n 5 house; during_bad=yes; break; }
		during_i=$((during_i + 1))
		sleep 0.1
		[ $during_i -lt 400 ] || break
	done
	wait $during_1 || { cat err1; during_bad=yes; }
	wait $during_2 || { cat err2; during_bad=yes; }
	echo "$* was run $during_i times"
	[ -z "${during_bad:-}" ]
}

# whole: what the writers were told is there, now and after another gc
whole()
{
	kept acks1 acks2 && no_locks && intact && git gc -q --prune=now && kept acks1 acks2 && intact
}

for command in "gc -q --prune=now" "repack -q -adf" "pack-refs --all"; do
	test_that "git $command in the middle (seed $SEED)" '
		storm_repo && during 3 git $command && whole
	'
done

test_that 'git maintenance run in the middle' '
	storm_repo && git config gc.pruneExpire now && git config gc.auto 1 &&
	during 3 git maintenance run --quiet && whole
'

test_that 'git maintenance run of every task in the middle' '
	storm_repo && git gc -q && git config gc.pruneExpire now &&
	during 3 git maintenance run --quiet --task=gc --task=loose-objects --task=incremental-repack \
		--task=pack-refs --task=commit-graph && whole
'

# It takes no lock that one could wait for, and Git says that it is not to be
# run beside anything that writes: what is missing is put back at the next
# write, and at the end.
test_that 'git prune in the middle' '
	storm_repo || exit 1
	"$STORM" write $S 1 $((100 * CHECK_N)) $SEED >acks1 2>err1 &
	pid=$!
	while kill -0 $pid 2>/dev/null; do
		git prune --expire=now 2>/dev/null
		sleep 0.2
	done
	wait $pid || { cat err1; exit 1; }
	cp acks1 acks2 && whole
'

housekeeping()
{
	git notes --ref="refs/notes/maxkernel/$S/metrics/$W" prune &&
	git notes --ref="refs/notes/maxkernel/$S/plan/$W" prune && git notes prune
}

test_that 'git notes prune in the middle' '
	storm_repo && W=$("$DRIVE" worker) && during 3 housekeeping && whole
'

test_that 'all of it at once, and a branch that is rebased meanwhile' '
	storm_repo && git branch before && echo more >more && git add more && git commit -q -m second || exit 1
	everything()
	{
		git gc -q --prune=now && git commit -q --amend -m "again $during_i" &&
		git rebase -q --onto before HEAD~1 && git pack-refs --all && git repack -q -ad &&
		git reflog expire --expire=now --all
	}
	during 3 everything && whole
'

test_that 'the branch that a search stands on goes away: its root stays' '
	storm_repo && git checkout -q --orphan fresh && git commit -q -m "fresh" && git branch -D main &&
	"$STORM" write $S 1 20 1 >acks && git reflog expire --expire=now --all && git gc -q --prune=now &&
	"$STORM" write $S 2 20 1 >>acks && kept acks && intact
'

test_that 'a repository copied with cp while idle: both go on, each keeps its own' '
	storm_repo && "$STORM" write $S 1 20 1 >acks && cp -R .git ../copied.$$ &&
	"$STORM" write $S 2 20 1 >>acks && kept acks && mkdir c && mv ../copied.$$ c/.git && cd c && git checkout -q . &&
	head -n 20 ../acks >acks && "$STORM" write $S 3 20 1 >>acks && kept acks && intact
'

test_done
