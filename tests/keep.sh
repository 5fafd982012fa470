#!/bin/sh
# Runs one test for prove and keeps what it printed in $TAP_DIR, exit status
# included, so that run.sh can count every result.
set -u

test=$1
log=$TAP_DIR/$(basename "$test").tap
# A program of ours that frees nothing at its end is no fault; a unit is.
case $test in
*.sh) ;;
*) export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=1" ;;
esac
case $test in
*.sh) set -- sh "$test" ;;
*/replay/f-*) set -- "$test" "tests/fuzz/corpus/${test##*/f-}" ;;
*) set -- "$test" ;;
esac
{
	timeout -k 10 "${CHECK_TIMEOUT:-600}" "$@"
	echo $? >"$log.status"
} | tee "$log"
status=$(cat "$log.status")
echo "# exit status $status" >>"$log"
exit "$status"
