#!/usr/bin/env bash
# What `make bench-search` runs: how good the search is, and what it costs.
#
#   replay   every policy on the recorded tables (tests/bench/tables)
#   tuners   Kernel Tuner and OpenTuner on the same tables
#   live     60 s each beside Kernel Tuner's C backend (BENCH_LIVE_TIME)
#   nodes    nodes a second, with a scripted judge
#   halt     halted and resumed 20 times, with a scripted judge
#   real     what a real search does outside build, judge and model, and that
#            it repeats nothing when it is resumed (BENCH_REAL_TIME, 60)
#
# BENCH_SEARCH names some of these.  What others found is kept in the build
# folder until a table changes.  A line with a limit ends in PASS or FAIL.
# `make bench-search-record` records the tables anew, of BENCH_KERNELS or all;
# `make bench-search-prior` writes what they teach to knowledge/priors.
set -eu

top=$(cd "$(dirname "$0")/../.." && pwd)
build=${MAXKERNEL_BUILD:-$top/build}
case $build in /*) ;; *) build=$top/$build ;; esac
export PATH=$build/bin:$PATH MAXKERNEL_EXEC_PATH=$build/libexec
export MAXKERNEL_DATA=$top/knowledge LC_ALL=C.UTF-8 NO_COLOR=1
# shellcheck disable=SC2046
unset $(git rev-parse --local-env-vars) MAXKERNEL_JUDGE
export GIT_AUTHOR_NAME=Bench GIT_AUTHOR_EMAIL=bench@example.com
export GIT_COMMITTER_NAME=Bench GIT_COMMITTER_EMAIL=bench@example.com
export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null

kernels=$top/tests/bench/kernels
tables=$top/tests/bench/tables
shipped=$top/knowledge/kernels
attempts=${BENCH_ATTEMPTS:-40}

names()		# [<role>]
{
	awk -v role="${1-}" '/^(train|test) / && (role == "" || $1 == role) {
		print $2 }' "$kernels/roles"
}

record()
{
	local k
	for k in ${BENCH_KERNELS:-$(names)}; do
		"$build/helper/record_table" "$kernels/.maxkernel" "$k" \
			"$tables/$k.tsv" "$kernels" "$shipped"
	done
}

replay()	# <command> <argument...>
{
	"$build/helper/replay" "$1" --kernels "$kernels" --sources "$shipped" \
		--tables "$tables" "${@:2}"
}

prior()
{
	mkdir -p "$top/knowledge/priors"
	replay prior >"$build/prior.new"
	mv "$build/prior.new" "$top/knowledge/priors/c.txt"
	wc -l "$top/knowledge/priors/c.txt"
}

dir=$(mktemp -d "${TMPDIR:-/tmp}/maxkernel-bench.XXXXXX")
trap 'rm -rf "$dir"' EXIT
failed=0

wanted()
{
	case " ${BENCH_SEARCH:-replay tuners live nodes halt real} " in
	*" $1 "*) return 0 ;;
	esac
	return 1
}

# fact <what> <number> <unit> [least|most <limit>]
fact()
{
	local word=PASS bad
	if [ $# -lt 5 ]; then
		printf '  %-48s %10s %s\n' "$1" "$2" "$3"
		return
	fi
	[ "$4" = least ] && bad="!($2 >= $5)" || bad="!($2 <= $5)"
	if awk "BEGIN { exit !($bad) }"; then
		word=FAIL failed=1
	fi
	printf '  %-48s %10s %-6s (at %s %s)  %s\n' "$1" "$2" "$3" "$4" "$5" \
		$word
}

ratio()		# <a> <b> [<format>]
{
	awk "BEGIN { printf \"${3:-%.2f}\", ($2 > 0 ? $1 / $2 : 0) }"
}

json()		# <key>, of the last line of stdin
{
	perl -MJSON::PP -e '@l = <STDIN>; $v = decode_json($l[-1])->{$ARGV[0]};
		print defined $v ? $v : "nan"' "$1"
}

# ---- tables ----

part()		# <1 or 2>: every second kernel of stdin
{
	awk -v n="$1" 'NR % 2 == n % 2'
}

await()		# <pid...>: all of them have to succeed
{
	local pid
	for pid; do
		wait "$pid" || { echo "a part of the bench failed" >&2; exit 1; }
	done
}

do_replay()
{
	local n began=$SECONDS pids=''
	for n in 1 2; do
		# shellcheck disable=SC2046
		replay run --attempts "$attempts" $(names | part $n) \
			>"$dir/replay.$n" &
		pids="$pids $!"
	done
	# shellcheck disable=SC2086
	await $pids
	cat "$dir/replay.1" "$dir/replay.2" >"$dir/replay"
	echo "replayed in $((SECONDS - began)) s"
	replay prior | cmp -s - "$top/knowledge/priors/c.txt" ||
		echo "note: knowledge/priors/c.txt is not what these tables give"
}

do_tuners()
{
	local n sum pids=''
	# shellcheck disable=SC2046
	sum=$(cd "$tables" && sha1sum $(names test | sed 's/$/.tsv/') \
		../tuners.py | sha1sum | cut -c1-12)
	kept=$build/tuners-$sum
	[ -s "$kept" ] && return
	python3 "$top/tests/bench/tuners.py" --venv "$build/kernel-tuner" \
		prepare || {
		echo "no Kernel Tuner here: it wants PyPI and a python3" \
			"with pip and venv (apt install python3-venv)"
		return 1
	}
	for n in 1 2; do
		# Some of them leave files where they stand.
		# shellcheck disable=SC2046
		(cd "$dir" && exec python3 "$top/tests/bench/tuners.py" \
			--venv "$build/kernel-tuner" simulate \
			--kernels "$kernels" --tables "$tables" \
			--sources "$kernels" --sources "$shipped" \
			$(names test | part $n)) >"$dir/tuners.$n" &
		pids="$pids $!"
	done
	# shellcheck disable=SC2086
	await $pids
	cat "$dir/tuners.1" "$dir/tuners.2" >"$kept"
}

# ---- a kernel with many settings ----

# repo <folder> [<deny>]: batch_matmul.c with more tile sizes
repo()
{
	mkdir "$1"
	sed 's/tunable: 4 8 30 60/tunable: 2 4 6 10 12 20 30 60/' \
		"$kernels/batch_matmul.c" >"$1/batch_matmul.c"
	awk '/^\[kernel/ { on = /"batch-matmul"/ } on && !/deny =/' \
		"$kernels/.maxkernel" >"$1/.maxkernel"
	[ $# -lt 2 ] || printf '\tdeny = %s\n' "$2" >>"$1/.maxkernel"
	git -C "$1" -c init.defaultBranch=main init -q --template=
	git -C "$1" add .
	git -C "$1" commit -q -m 'Kernel'
}

searches()
{
	git for-each-ref --format='%(refname)' 'refs/maxkernel/*/spec' |
		sed 's,refs/maxkernel/,,; s,/spec,,'
}

explore()	# exit status 1: nothing is faster
{
	git maxkernel explore -q "$@" || [ $? -eq 1 ]
}

again()
{
	git maxkernel resume -q "$@" || [ $? -eq 1 ]
}

do_live()
{
	local seconds=${BENCH_LIVE_TIME:-60} line evals took what ours theirs
	echo "live, $seconds s each, tiles, restrict, order of sums, vector width:"
	repo "$dir/live" ccopt
	cd "$dir/live"
	explore --json --time "$seconds" >"$dir/ours"
	line=$(python3 "$top/tests/bench/tuners.py" \
		--venv "$build/kernel-tuner" live --seconds "$seconds" \
		--source batch_matmul.c --out "$dir/theirs.c" \
		--strategy "${BENCH_LIVE_STRATEGY:-hybrid_vndx}")
	IFS=$'\t' read -r evals took what <<<"$line"
	git checkout -q -b theirs
	cp "$dir/theirs.c" batch_matmul.c
	git commit -q -a -m 'Kernel Tuner'
	git checkout -q main
	theirs=$(git maxkernel measure -q --json --rev theirs --against main |
		json speedup)
	ours=$(git maxkernel measure -q --json --against main --rev \
		"$(json node <"$dir/ours")" | json speedup)
	fact "ours: speedup, by our judge" "$(ratio "$ours" 1)" x
	fact "Kernel Tuner: speedup, by our judge ($what)" \
		"$(ratio "$theirs" 1)" x
	fact "ours over Kernel Tuner's" "$(ratio "$ours" "$theirs")" x
	fact "ours: settings a minute" "$(ratio \
		"60 * $(json attempts <"$dir/ours")" \
		"$(json elapsed_s <"$dir/ours")" %.0f)" ""
	fact "Kernel Tuner: settings a minute" \
		"$(ratio "60 * $evals" "$took" %.0f)" ""
}

# ---- what a search costs ----

rate()		# <option...>: sets rate
{
	MAXKERNEL_JUDGE=$dir/script explore --json --attempts 1000 \
		"$@" >"$dir/out"
	rate=$(ratio "$(json attempts <"$dir/out")" \
		"$(json elapsed_s <"$dir/out")" %.0f)
}

do_nodes()
{
	echo "nodes a second, scripted judge, each of them durable:"
	echo 'default hash' >"$dir/script"
	repo "$dir/nodes"
	cd "$dir/nodes"
	rate
	fact "one attempt at a time" "$rate" /s
	rate --policy bestofn --branches 64 --jobs 64
	fact "64 at a time: written in batches" "$rate" /s least 200
}

# graph <search>: step, state, state of the parents, verdict
graph()
{
	"$build/helper/store_dump" "$1" scripted | perl -ne '
		if (/^node (\d+) \S+ (\S+) parents (\S+) (\S+) step (\d+)/) {
			$state[$1] = $2;
			$is = [$5, $2, map { $_ < 0 ? "-" : $state[$_] } $3, $4];
		} elsif (/^  (\S+) / && $is) {
			print "@$is $1\n";
			undef $is;
		} elsif (/^spend (\d+) (\S+) (\S+)/) {
			print "$1 $3 $2\n";
		} elsif (/^champion (\d+)/) {
			print "champion $state[$1]\n";
		}'
}

do_halt()
{
	local halts=0 pid status
	printf 'default hash\ndelay 3\n' >"$dir/script"
	export MAXKERNEL_JUDGE=$dir/script
	repo "$dir/alone"
	cp -R "$dir/alone" "$dir/halted"
	cd "$dir/alone"
	explore --attempts 200 --seed 5 --jobs 2 >/dev/null
	graph "$(searches)" >"$dir/want"
	cd "$dir/halted"
	while [ $halts -lt 20 ]; do
		if [ -z "$(searches)" ]; then
			git maxkernel explore -q --attempts 200 --seed 5 \
				--jobs 2 >/dev/null &
		else
			git maxkernel resume -q --jobs 2 >/dev/null &
		fi
		pid=$!
		sleep "0.$((RANDOM % 3 + 1))"
		git maxkernel halt -q >/dev/null 2>&1 || :
		status=0
		wait $pid || status=$?
		[ $status -le 1 ] || [ $status -eq 130 ] || {
			echo "exit status $status" >&2; failed=1; }
		halts=$((halts + 1))
	done
	again --jobs 2 >/dev/null || :
	graph "$(searches)" >"$dir/got"
	unset MAXKERNEL_JUDGE
	echo "halted and resumed $halts times, scripted judge:"
	fact "attempts" "$(grep -c '^[1-9]' "$dir/want")" ""
	fact "lines of the graph that differ" \
		"$(diff "$dir/want" "$dir/got" | grep -c '^[<>]')" "" most 0
}

evals()		# states of the screenings of all searches here
{
	local ref
	for ref in $(git for-each-ref --format='%(refname)' \
	    'refs/notes/maxkernel/*/metrics/*'); do
		git ls-tree -r "$ref" | awk '{ print $3 }' |
			git cat-file --batch
	done | grep '"e":"eval"' | grep -v '"confirming":true' |
		grep -v '"verdict":"no-verdict"' | sed 's/.*"st":"//; s/".*//'
}

do_real()
{
	local time=${BENCH_REAL_TIME:-60} out all k halts=0 pid
	mkdir "$dir/real"
	cp -R "$kernels/." "$shipped"/*.c "$dir/real"
	cd "$dir/real"
	git -c init.defaultBranch=main init -q --template=
	git add .
	git commit -q -m 'Kernels'
	echo "real searches, three kernels in $time s:"
	explore --json --time "$time" gemv heat2d swiglu >"$dir/out"
	perl -MJSON::PP -ne '$r = decode_json($_); $o += $r->{outside_s};
		$e += $r->{elapsed_s}; $a += $r->{attempts};
		END { print "$o $e $a\n" }' "$dir/out" >"$dir/sums"
	read -r out all k <"$dir/sums"
	fact "attempts" "$k" ""
	fact "outside build, judge and model" \
		"$(ratio "100 * $out" "$all")" % most 3
	while [ $halts -lt 5 ]; do
		if [ $halts -eq 0 ]; then
			git maxkernel explore -q --attempts 60 fir >/dev/null &
		else
			git maxkernel resume -q fir >/dev/null &
		fi
		pid=$!
		sleep 6
		git maxkernel halt -q fir >/dev/null 2>&1 || :
		wait $pid || :
		halts=$((halts + 1))
	done
	again fir >/dev/null || :
	evals | sort >"$dir/evals"
	fact "evaluations, with $halts halts among them" \
		"$(wc -l <"$dir/evals")" ""
	fact "states that were screened twice" \
		"$(uniq -d "$dir/evals" | wc -l)" "" most 0
}

bench()
{
	local part kept=
	echo "load of the machine: $(cut -d' ' -f1-3 /proc/loadavg)," \
		"$(nproc) processors"
	if wanted replay; then
		do_replay
		if wanted tuners; then
			do_tuners || failed=1
		fi
		perl "$top/tests/bench/report.pl" "$kernels/roles" \
			"$attempts" "$dir/replay" ${kept:+"$kept"} || failed=1
	fi
	for part in live nodes halt real; do
		if wanted $part; then
			do_$part
			cd "$top"
		fi
	done
	return $failed
}

case ${1-} in
record | prior) "$1" ;;
*) bench ;;
esac
