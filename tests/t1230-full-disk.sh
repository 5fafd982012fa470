#!/bin/sh
# Writes that fail: a full disk at every point of a batch, files that may not
# grow, a read-only disk, folders that may not be written.  After each the
# repository is whole, nothing acknowledged is lost, and the search goes on.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/storm.sh"

place=$SCRATCH/place
mkdir "$place"
trap 'umount -l "$place" 2>/dev/null; cd / && chmod -R u+w "$SCRATCH" 2>/dev/null; rm -rf "$SCRATCH"' EXIT

# after_fault <status> <step>: what has to hold behind a run that ended so
after_fault()
{
	[ "$1" -eq 0 ] || [ "$1" -eq 128 ] || { echo "exit status $1"; cat "$SCRATCH/msg"; return 1; }
	[ "$1" -eq 0 ] || has 'fatal: ' "$SCRATCH/msg" || return 1
	cat "$SCRATCH/new" >>"$SCRATCH/acks"
	kept "$SCRATCH/acks" >"$SCRATCH/kept" || { echo "at $2:"; cat "$SCRATCH/kept" "$SCRATCH/msg"; return 1; }
	no_locks && intact
}

# storm <id> [<blocks>]: a run of 3 attempts whose words go through a pipe, so
# that they never fail; with files of at most so many blocks
storm()
{
	(
		trap "" XFSZ
		[ $# -lt 2 ] || ulimit -f "$2"
		"$STORM" write $S "$1" 3 1 3 2>&1
		echo "status $?"
	) | cat >"$SCRATCH/both"
	grep -E '^([0-9a-f]{40}|-) ' "$SCRATCH/both" >"$SCRATCH/new"
	grep -E '^(fatal|warning): ' "$SCRATCH/both" >"$SCRATCH/msg"
	return "$(sed -n 's/^status //p' "$SCRATCH/both")"
}

# files_left <n>: so many files can still be made; blocks_left <n>: so many 4k
files_left()
{
	mount -o "remount,nr_inodes=$(($(stat -f -c '%c - %d' "$place") + $1))" "$place"
}
blocks_left()
{
	mount -o "remount,size=$((($(stat -f -c '%b - %f' "$place") + $1) * 4))k" "$place"
}
all_left()
{
	mount -o remount,size=64m,nr_inodes=100000 "$place"
}

# every_point <files_left or blocks_left>: less and less fails, until a run
# passes untouched
every_point()
{
	point=0
	while :; do
		$1 $point && { storm $((point + 1)); ended=$?; } ; all_left &&
		after_fault $ended "$1 $point" || return 1
		[ $ended -ne 0 ] || break
		has 'o space left on device' "$SCRATCH/msg" || return 1
		point=$((point + 1))
		[ $point -lt 200 ] || { echo 'it never passes'; return 1; }
	done
	[ $point -gt 3 ] || { echo "only $point points"; return 1; }
	echo "$point points" && storm 999 && after_fault 0 "the end"
}

if [ "$(id -u)" -eq 0 ] && mount -t tmpfs -o size=64m,nr_inodes=100000 tmpfs "$place" 2>/dev/null; then
	test_that 'a disk with room for n files more, n = 0, 1, ...' '
		cd "$place" && mkdir files && cd files && storm_repo && : >"$SCRATCH/acks" &&
		storm 1000 && after_fault $? first && every_point files_left
	'
	test_that 'a disk with room for n blocks more, n = 0, 1, ...' '
		cd "$place" && mkdir blocks && cd blocks && storm_repo && : >"$SCRATCH/acks" &&
		storm 1000 && after_fault $? first && every_point blocks_left
	'
	test_that 'a search that starts on a full disk, n = 0, 1, ...' '
		cd "$place" && mkdir start && cd start && storm_repo || exit 1
		for n in $(seq 0 60); do
			files_left $n; "$DRIVE" create k >"$SCRATCH/slug" 2>"$SCRATCH/msg"; ended=$?; all_left || exit 1
			intact && no_locks && "$DRIVE" list >"$SCRATCH/list" 2>"$SCRATCH/warnings" &&
			same /dev/null "$SCRATCH/warnings" || exit 1
			[ $ended -ne 0 ] || break
			has "fatal: " "$SCRATCH/msg" || exit 1
		done
		[ $ended -eq 0 ] && [ "$n" -gt 2 ] && has "$(cat "$SCRATCH/slug")" "$SCRATCH/list"
	'
	test_that 'a disk that is read-only' '
		cd "$place" && mkdir ro && cd ro && storm_repo && : >"$SCRATCH/acks" &&
		storm 1 && after_fault 0 first && mount -o remount,ro "$place" || exit 1
		storm 2; ended=$?
		"$STORM" check $S "$SCRATCH/acks" >"$SCRATCH/kept" 2>&1; looked=$?
		mount -o remount,rw "$place"
		[ $ended -eq 128 ] && has "Read-only file system" "$SCRATCH/msg" && [ $looked -eq 0 ] &&
		after_fault 128 read-only && storm 3 && after_fault 0 then
	'
	umount "$place"
else
	test_skip 'full and read-only disks' 'needs root, to mount a tmpfs'
fi

test_that 'files that may not grow past n blocks' '
	storm_repo && : >"$SCRATCH/acks" && storm 1 && after_fault 0 first || exit 1
	for n in 0 1 2 3 4; do
		storm $((n + 2)) $n; ended=$?
		after_fault $ended "limit $n" || exit 1
		[ $n -gt 0 ] || { [ $ended -eq 128 ] && has "File too large" "$SCRATCH/msg"; } || exit 1
	done
	storm 9 && after_fault 0 then
'

# as_user <command...>: without the rights of root
as_user()
{
	if [ "$(id -u)" -ne 0 ]; then
		"$@"
	else
		setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
	fi
}

chmod 755 "$SCRATCH" "$HOME"
if as_user test -x "$STORM" 2>/dev/null; then
	test_that 'folders that may not be written: a clear error, then on' '
		storm_repo && "$STORM" write $S 1 3 1 >acks && chmod -R a+rX . || exit 1
		[ "$(id -u)" -ne 0 ] || chown -R 65534:65534 . || exit 1
		for dir in .git/objects .git/refs/maxkernel/$S/w .git/refs/notes/maxkernel/$S/plan .git/maxkernel; do
			find $dir -type d -exec chmod a-w {} + -o -name lock -exec chmod a-w {} +
			gives 128 as_user "$STORM" write $S 2 3 1 >new 2>msg || exit 1
			as_user "$STORM" check $S acks >kept 2>&1 || { cat kept; exit 1; }
			chmod -R u+w $dir && has "ermission denied" msg && cat new >>acks || exit 1
		done
		as_user "$STORM" write $S 3 3 1 >>acks && as_user "$STORM" check $S acks &&
		as_user git fsck --strict --no-dangling
	'
else
	test_skip 'folders that may not be written' 'the build folder is of root alone'
fi

test_done
