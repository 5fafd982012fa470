#!/usr/bin/env bash
# What `make bench` runs: the shipped kernels through the real program, the
# confirmed ratios of one run, and how many attempts a minute were judged.
# BENCH_TIME=<seconds> is the time a kernel on average, BENCH_ARGS more options of
# explore, BENCH_KERNELS names some of the kernels.
set -eu

top=$(cd "$(dirname "$0")/../.." && pwd)
build=${MAXKERNEL_BUILD:-$top/build}
case $build in /*) ;; *) build=$top/$build ;; esac
export PATH=$build/bin:$PATH MAXKERNEL_EXEC_PATH=$build/libexec
export MAXKERNEL_DATA=$top/knowledge LC_ALL=C.UTF-8
# shellcheck disable=SC2046
unset $(git rev-parse --local-env-vars)
export GIT_AUTHOR_NAME=Bench GIT_AUTHOR_EMAIL=bench@example.com
export GIT_COMMITTER_NAME=Bench GIT_COMMITTER_EMAIL=bench@example.com
export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null

dir=$(mktemp -d "${TMPDIR:-/tmp}/maxkernel-bench.XXXXXX")
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/repo"
cp -R "$top/knowledge/kernels/." "$dir/repo"
cd "$dir/repo"
git -c init.defaultBranch=main init -q --template=
git add .
git commit -q -m 'Kernels'

status=0
# shellcheck disable=SC2086
set -- ${BENCH_KERNELS-}
nr=$#
[ "$nr" -gt 0 ] || nr=$(grep -c '^\[kernel' .maxkernel)
time=${BENCH_TIME:-60}
# shellcheck disable=SC2086
git maxkernel explore --json --time $((time * nr)) ${BENCH_ARGS-} \
	${BENCH_KERNELS-} >"$dir/result" || status=$?
[ "$status" -le 1 ] || exit "$status"

perl -MJSON::PP -ne '
	sub cell { defined $_[1] ? sprintf($_[0], $_[1]) : "-" }
	BEGIN {
		$form = "%-12s %10s %10s %9s %16s %10s %8s %8s\n";
		printf $form, qw(kernel baseline best speedup interval
			over-flags attempts a-minute);
	}
	$r = decode_json($_);
	$sure = defined $r->{speedup};
	printf $form, $r->{kernel},
		cell("%.3f ms", $sure ? $r->{baseline_ns} / 1e6 : undef),
		cell("%.3f ms", $sure ? $r->{time_ns} / 1e6 : undef),
		cell("%.2fx", $r->{speedup}),
		$sure ? sprintf("[%.2f, %.2f]", $r->{ci_low}, $r->{ci_high})
			: "-",
		cell("%.2fx", $r->{vs_best_flags}), $r->{attempts},
		cell("%.0f", $r->{elapsed_s} > 0
			? 60 * $r->{attempts} / $r->{elapsed_s} : undef);
	$kernels++;
	$attempts += $r->{attempts};
	$seconds += $r->{elapsed_s};
	if ($sure) { $sum += log($r->{speedup}); $confirmed++ }
	END {
		printf "%d of %d confirmed", $confirmed, $kernels;
		printf ", geometric mean %.2fx", exp($sum / $confirmed)
			if $confirmed;
		printf ", %d attempts in %.0f s", $attempts, $seconds;
		printf ", %.0f a minute", 60 * $attempts / $seconds
			if $seconds;
		print "\n";
		$? = $confirmed == $kernels && $kernels ? 0 : 1;
	}
' "$dir/result"
