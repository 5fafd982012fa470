#!/bin/sh
# Runs all tests under prove and ends in one line that counts every result.
#
#	tests/run.sh [<test>...]	default: all of them
#
# MAXKERNEL_BUILD is the build folder, CHECK_JOBS how many tests run at once.
# Whole runs (t9*) measure: they run alone, after the others.
set -u

cd "$(dirname "$0")/.." || exit 1
build=${MAXKERNEL_BUILD:-build}
case $build in /*) ;; *) build=$PWD/$build ;; esac
MAXKERNEL_BUILD=$build
CHECK_JOBS=${CHECK_JOBS:-$(getconf _NPROCESSORS_ONLN)}
TAP_DIR=$build/tap
# For the unit programs; the scripts set their own.
PATH=$build/bin:$PATH
MAXKERNEL_EXEC_PATH=$build/libexec
MAXKERNEL_DATA=$PWD/knowledge
export MAXKERNEL_BUILD TAP_DIR PATH MAXKERNEL_EXEC_PATH MAXKERNEL_DATA
unset MAKEFLAGS MFLAGS MAKELEVEL

rm -rf "$TAP_DIR"
mkdir -p "$TAP_DIR"

together='' alone=''
if [ $# -eq 0 ]; then
	set -- tests/unit/u-*.c tests/fuzz/f-*.c tests/t[0-9]*.sh
fi
for t; do
	name=$(basename "$t" .c)
	case $t in
	*/'u-*.c' | */'f-*.c') ;;
	*/u-*.c) together="$together $build/unit/$name" ;;
	*/f-*.c) together="$together $build/replay/$name" ;;
	*/t9*.sh) alone="$alone $t" ;;
	*) together="$together $t" ;;
	esac
done

status=0
# shellcheck disable=SC2086
[ -z "$together" ] ||
	prove -j "$CHECK_JOBS" -e 'sh tests/keep.sh' $together || status=1
# shellcheck disable=SC2086
[ -z "$alone" ] || prove -e 'sh tests/keep.sh' $alone || status=1

# A test that died, or ran another number of checks than it planned, counts
# as one failure more: nothing that went wrong is left out of the sum.
awk '
	function finish() {
		if (file == "")
			return
		if (!bad && (code != 0 || plan != seen)) {
			failed++
			printf "%s: exit status %s, plan %s, ran %d\n",
				file, code, plan, seen
		}
	}
	FNR == 1 {
		finish()
		file = FILENAME
		sub(/.*\//, "", file)
		plan = "none"; seen = 0; bad = 0; code = 0
	}
	/^1\.\.[0-9]+/ {
		plan = substr($1, 4) + 0
		if (plan == 0 && /# *[Ss][Kk][Ii][Pp]/)
			skipped++
	}
	/^not ok/ {
		seen++
		if (!/# *TODO/) { bad++; failed++ }
	}
	/^ok/ {
		seen++
		if (/# *[Ss][Kk][Ii][Pp]/) skipped++; else passed++
	}
	/^# exit status / { code = $4 }
	END {
		finish()
		printf "%d passed, %d failed, %d skipped\n",
			passed, failed, skipped
		exit failed ? 1 : 0
	}
' "$TAP_DIR"/*.tap || status=1
exit $status
