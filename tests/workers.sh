# Sourced by the tests of workers, behind lib.sh.
# shellcheck shell=sh

# Claims of what is killed are to be taken over soon.
git config --global maxkernel.leaseSeconds 3

# table <name> <line...>: verdicts for the commands that follow
table()
{
	name=$1
	shift
	scripted "$SCRATCH/table-$name" "default hash" "$@"
}

# begun <dir> <options...>: a search that was begun in a clone of r.git and
# pushed before much of it was made
begun()
{
	dir=$1
	shift
	git clone -q r.git "$dir" 2>/dev/null &&
	cd "$dir" && table begun "delay 200" &&
	{ git-maxkernel explore -q "$@" >/dev/null 2>&1 & pid=$!; } &&
	i=0 && while [ $i -lt 600 ] && [ -z "$(the_search)" ]; do
		sleep 0.05
		i=$((i + 1))
	done
	kill -9 $pid
	wait $pid 2>/dev/null
	git maxkernel push -q && cd ..
}

# alone <options...>: states of a search of one worker
alone()
{
	git clone -q r.git alone 2>/dev/null && (
		cd alone && table alone &&
		git maxkernel explore -q "$@" >/dev/null &&
		states "$(the_search)" kernels/mix.c
	)
}

# leases: keys at the remote
leases()
{
	git -C r.git for-each-ref --format='%(refname)' 'refs/maxkernel/*/lease/*'
}

# steps <clone>: the steps of all nodes, sorted
steps()
{
	(
		cd "$1" && for n in $(nodes "$(the_search)"); do
			git log -1 --format='%(trailers:key=Maxkernel-Step,valueonly)' "$n"
		done | grep . | sort -n
	)
}

# equal <clone> <clone>: after a pull both have the same refs of the search
equal()
{
	for c in "$1" "$2"; do
		git -C "$c" maxkernel pull -q &&
		git -C "$c" for-each-ref "refs/maxkernel/" "refs/notes/maxkernel/" \
			>"refs-$c" || return 1
	done
	[ -s "refs-$1" ] && same "refs-$1" "refs-$2"
}

# sound <clone...>: nothing is broken
sound()
{
	for c in r.git "$@"; do
		git -C "$c" fsck --strict --no-dangling >fsck 2>&1 ||
			{ cat fsck; return 1; }
	done
}
