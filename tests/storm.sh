# Sourced by the tests of faults, after lib.sh: a search that store_storm
# writes to, and what has to hold after any fault.
# shellcheck shell=sh disable=SC2034

STORM=$BUILD/helper/store_storm
DRIVE=$BUILD/helper/store_drive
SEED=${SEED:-1}
export STORM DRIVE SEED

# storm_repo: a repository with a kernel in the current folder, and a search
# in it: S
storm_repo()
{
	git init -q . && mkdir kernels &&
	echo 'void k(float *y) { y[0] = 1; }' >kernels/k.c &&
	printf '[kernel "k"]\n\tfile = kernels/k.c\n\tentry = k\n\ttarget = c\n\targ = out f32 y[8]\n' >.maxkernel &&
	git add -A && git commit -q -m 'first' && S=$("$DRIVE" create k)
}

# intact: git finds nothing wrong; what dangles was never referred to
intact()
{
	git fsck --strict --no-dangling --no-progress >"$SCRATCH/fsck" 2>&1
	intact_status=$?
	sed -i '/^notice: /d' "$SCRATCH/fsck"
	[ $intact_status -eq 0 ] && [ ! -s "$SCRATCH/fsck" ] && return
	echo "git fsck ends with $intact_status and says:"
	head -n 20 "$SCRATCH/fsck"
	return 1
}

# kept <acks>...: all that was acknowledged is there, whole
kept()
{
	for kept_acks; do
		"$STORM" check "$S" "$kept_acks" || return 1
	done
}

# no_locks: no lock below the refs
no_locks()
{
	find .git/refs .git/packed-refs.lock -name '*.lock' >"$SCRATCH/locks" 2>/dev/null
	[ ! -s "$SCRATCH/locks" ] && return
	cat "$SCRATCH/locks"
	return 1
}

# numbers <how many> <from> <to>: whole numbers out of SEED, one a line
numbers()
{
	awk -v s="$SEED" -v n="$1" -v lo="$2" -v hi="$3" 'BEGIN { srand(s)
		for (i = 0; i < n; i++) print lo + int(rand() * (hi - lo + 1)) }'
}

# wait_for <file>: until it holds something
wait_for()
{
	for _ in $(seq 1000); do
		[ ! -s "$1" ] || return 0
		sleep 0.02
	done
	echo "nothing came in $1"
	return 1
}
