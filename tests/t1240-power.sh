#!/bin/sh
# The power goes while a search is written: what was acknowledged is on the
# disk.  A file system of its own is cut off from its disk at random moments.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/storm.sh"

disk=$SCRATCH/disk
place=$SCRATCH/place
trap 'umount -l "$place" 2>/dev/null; cd / && rm -rf "$SCRATCH"' EXIT
cuts=$((4 * CHECK_N))
[ "$cuts" -le 25 ] || cuts=25
title="$cuts cuts of the power (seed $SEED)"

# why_not: the reason why this machine can't
why_not()
{
	[ "$(id -u)" -eq 0 ] || { echo 'needs root'; return; }
	PATH=$PATH:/sbin:/usr/sbin
	for tool in mkfs.ext4 e2fsck mount umount; do
		command -v "$tool" >/dev/null || { echo "there is no $tool"; return; }
	done
	truncate -s 96M "$disk" && mkfs.ext4 -q "$disk" 2>/dev/null && mkdir -p "$place" &&
		mount -o loop "$disk" "$place" 2>/dev/null || { echo 'no loop device can be had'; return; }
	umount "$place"
}

# cut_after <n> <milliseconds>: writer n is cut off, the disk mounted again; a
# lock that was left is then older than any boot takes
cut_after()
{
	(cd "$place/r" && exec "$STORM" write $S $1 0 $((SEED + $1))) >new 2>err &
	cut_pid=$!
	wait_for new && sleep "0.$(printf %03d "$2")" &&
	"$BUILD/helper/ext4_cut" "$place" || return 1
	wait $cut_pid
	cat new >>acks
	umount "$place" && { e2fsck -fp "$disk" >fsck.log 2>&1; [ $? -le 1 ]; } &&
	mount -o loop "$disk" "$place" &&
	find "$place/r/.git" -name "*.lock" -exec touch -d "2 minutes ago" {} +
}

reason=$(why_not)
PATH=$PATH:/sbin:/usr/sbin
if [ -n "$reason" ]; then
	test_skip "$title" "$reason"
	test_done
fi

test_that "$title" '
	share power && mount -o loop "$disk" "$place" && mkdir "$place/r" &&
	(cd "$place/r" && storm_repo && echo $S >"$SCRATCH/slug" && sync) && S=$(cat "$SCRATCH/slug") &&
	: >acks && numbers $cuts 0 600 >moments && i=0 &&
	while read -r ms; do
		i=$((i + 1))
		cut_after $i $ms </dev/null || { cat err fsck.log; exit 1; }
		(cd "$place/r" && kept "$SCRATCH/shared-power/acks" && intact) || exit 1
	done <moments && [ "$(wc -l <acks)" -ge $((cuts * 2)) ] &&
	cd "$place/r" && "$STORM" write $S 99 20 1 >>"$SCRATCH/shared-power/acks" &&
	kept "$SCRATCH/shared-power/acks" && no_locks && intact && cd / && umount "$place"
'

test_done
