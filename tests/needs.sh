#!/bin/sh
# Prints the rules that tie each test program to its own object and to those
# of the sources that its first comment names:
#
#	/* needs: core/foo.c core/bar*.c */
set -eu

rule()	# <program> <source>
{
	printf '%s: %s' "$1" "$out/obj/${2%.c}.o"
	awk '
		NR == 1 && !/needs:/ { exit }
		{ done = index($0, "*/"); gsub(/\/\*|\*\/|needs:|\\/, ""); print }
		done { exit }
	' "$2" | tr -s ' \t' '\n' | while read -r source; do
		case $source in *.c) ;; *) continue ;; esac
		for file in $source; do
			printf ' %s' "$out/obj/${file%.c}.o"
		done
	done
	printf '\n'
}

# For make to expand: the rules hold in any build folder.
# shellcheck disable=SC2016
out='$O'
for f in tests/unit/u-*.c tests/helper/*.c tests/fuzz/f-*.c; do
	[ -f "$f" ] || continue
	name=$(basename "$f" .c)
	case $f in
	tests/unit/*) rule "$out/unit/$name" "$f" ;;
	tests/helper/*) rule "$out/helper/$name" "$f" ;;
	*)
		rule "$out/replay/$name" "$f"
		rule "$out/fuzz/$name" "$f"
		;;
	esac
done
