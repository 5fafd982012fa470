#!/bin/sh
# Kernels that cheat, break out or break the judge, and honest ones of odd
# style, all before the real judge: tests/attack/ says of each what it tries
# and what must come of it.  As root and as an ordinary user, where we can.

. "$(dirname "$0")/lib.sh"

ATTACKS=$TESTS/attack

# drive <who> <folder of programs> <folder of kernels> [<command>...]
drive()
{
	who=$1 at=$2 kernels=$3
	shift 3
	mkdir "$SCRATCH/work-$who" && {
		[ "$who" != user ] || chown 65534:65534 "$SCRATCH/work-user"
	} && "$@" env TMPDIR="$SCRATCH/work-$who" HOME=/ \
		MAXKERNEL_EXEC_PATH="$at/libexec" "$at/helper/attack" \
		"$kernels" "$SCRATCH/work-$who" \
		>"$SCRATCH/out-$who" 2>"$SCRATCH/err-$who"
	echo "$?" >"$SCRATCH/status-$who"
}

# What another user can read, whatever the modes of the checkout are.
copy_for_user()
{
	mkdir -p "$SCRATCH/copy/helper" &&
	cp -R "$BUILD/libexec" "$SCRATCH/copy/libexec" &&
	cp "$BUILD/helper/attack" "$SCRATCH/copy/helper/" &&
	cp -R "$ATTACKS" "$SCRATCH/copy/attack" &&
	chmod 755 "$SCRATCH" && chmod -R a+rX "$SCRATCH/copy"
}

# verdict <who> <name>: it came out as its head says
verdict()
{
	awk -F '\t' -v name="$2" '$1 == name {
		seen = 1
		ok = $2 == "ok"
		printf "at %s: %s, after %s s: %s\n", $3, $4, $5, $7
	} END { exit !(seen && ok) }' "$SCRATCH/out-$1" && return 0
	sed -n '/^ \* expect:/p; /^ \* says:/p' "$ATTACKS/$2.c"
	tail -n 2 "$SCRATCH/err-$1"
	return 1
}

# results <who>
results()
{
	test_that "$1: all kernels were judged" "
		same /dev/null \"\$SCRATCH/missing-$1\" &&
		[ \"\$(cat \"\$SCRATCH/status-$1\")\" = 0 ]
	"
	for f in "$ATTACKS"/*.c; do
		name=$(basename "$f" .c)
		test_that "$1: $name: $(sed -n 's/^ \* tries: //p' "$f" |
			head -n 1)" "verdict $1 $name"
	done
	test_that "$1: no reason tells what stands in the files of others" "
		hasnt keep-out-of-the-reference \"\$SCRATCH/out-$1\" &&
		hasnt \"\$(head -n 1 /etc/passwd)\" \"\$SCRATCH/out-$1\" &&
		hasnt \"\$(head -n 1 /etc/passwd | cut -d : -f 5-)\" \
			\"\$SCRATCH/out-$1\"
	"
}

missing()
{
	for f in "$ATTACKS"/*.c; do
		cut -f 1 "$SCRATCH/out-$1" | grep -qx "$(basename "$f" .c)" ||
			basename "$f" .c
	done >"$SCRATCH/missing-$1"
}

test_that 'at least 60 kernels attack and 10 are honest' '
	honest=$(find "$ATTACKS" -maxdepth 1 -name "honest-*.c" | wc -l) &&
	all=$(find "$ATTACKS" -maxdepth 1 -name "*.c" | wc -l) &&
	[ "$honest" -ge 10 ] && [ $((all - honest)) -ge 60 ] &&
	grep -L "^ \* expect: accepted$" "$ATTACKS"/honest-*.c >wrong
	same /dev/null wrong &&
	: "and no attack may be accepted as a gain" &&
	grep -lE "^ \* expect: .*(accepted|faster|confirmed)" \
		"$ATTACKS"/*.c | grep -v /honest- >bad
	same /dev/null bad
'

if [ "$(id -u)" -eq 0 ]; then
	me=root
else
	me=user-itself
fi
if [ $me = root ] && command -v setpriv >/dev/null && copy_for_user; then
	drive user "$SCRATCH/copy" "$SCRATCH/copy/attack" \
		setpriv --reuid=65534 --regid=65534 --clear-groups \
		--no-new-privs &
	other=$!
else
	other=
fi
drive $me "$BUILD" "$ATTACKS"
missing $me
results $me
if [ -n "$other" ]; then
	wait "$other"
	missing user
	results user
elif [ $me = root ]; then
	test_skip 'as an ordinary user' 'there is no setpriv'
fi

test_done
