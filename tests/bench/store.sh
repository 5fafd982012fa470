#!/usr/bin/env bash
# What `make bench-store` runs: one search that grows to 1,000, 10,000 and
# 100,000 made-up nodes (BENCH_STORE_SIZES), and what it costs at each size to
# add to it, to look at it and to push it; beside it the peer's way, one JSON
# file that is rewritten for every node.  BENCH_STORE_DIR is where (the
# default is $TMPDIR), BENCH_STORE_PEER= leaves the peer out.
set -eu

top=$(cd "$(dirname "$0")/../.." && pwd)
build=${MAXKERNEL_BUILD:-$top/build}
case $build in /*) ;; *) build=$top/$build ;; esac
export PATH=$build/bin:$PATH MAXKERNEL_EXEC_PATH=$build/libexec
export MAXKERNEL_DATA=$top/knowledge LC_ALL=C.UTF-8 NO_COLOR=1
# shellcheck disable=SC2046
unset $(git rev-parse --local-env-vars)
export GIT_AUTHOR_NAME=Bench GIT_AUTHOR_EMAIL=bench@example.com
export GIT_COMMITTER_NAME=Bench GIT_COMMITTER_EMAIL=bench@example.com
export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null
fill=$build/helper/store_fill

dir=$(mktemp -d "${BENCH_STORE_DIR:-${TMPDIR:-/tmp}}/maxkernel-bench.XXXXXX")
daemon=
trap '[ -z "$daemon" ] || kill $daemon 2>/dev/null; rm -rf "$dir"' EXIT
failed=0

# fact <what> <number> <unit> [<limit>]: a limit makes it PASS or FAIL
fact()
{
	local word=
	if [ $# -gt 3 ]; then
		word=PASS
		if awk "BEGIN { exit !($2 > $4) }"; then
			word=FAIL failed=1
		fi
		printf '  %-40s %10s %-4s (limit %s)  %s\n' "$1" "$2" "$3" "$4" $word
	else
		printf '  %-40s %10s %s\n' "$1" "$2" "$3"
	fi
}

ratio()
{
	awk "BEGIN { printf \"%.2f\", ($2 > 0 ? $1 / $2 : 0) }"
}

median()	# of the first column of stdin
{
	sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

# ms <command...>: sets ms, mib and cpu, of one run
ms()
{
	local out
	out=$("$fill" run "$@") || { echo "failed: $*" >&2; exit 1; }
	read -r ms mib cpu <<<"$out"
}

add()	# <number> <batch>: sets nodes, each (ms), worst and cpu
{
	read -r nodes each worst cpu <<-END
		$("$fill" add "$slug" "$1" "$2")
	END
}

packs()
{
	find .git/objects/pack -name '*.pack' | wc -l
}

look()
{
	local what name times peak
	for what in "status" "best" "log -n 20 $slug" "frontier"; do
		name=${what%% *}
		rm -rf .git/maxkernel/cache
		# shellcheck disable=SC2086
		ms git maxkernel $what
		fact "$name, nothing kept" "$ms" ms 4000
		fact "$name, nothing kept, processor" "$cpu" ms
		fact "$name, nothing kept, memory" "$mib" MiB 200
		times='' peak=0
		for _ in 1 2 3 4 5; do
			# shellcheck disable=SC2086
			ms git maxkernel $what
			times="$times$ms\n"
			peak=$mib
		done
		# shellcheck disable=SC2059
		fact "$name, kept" "$(printf "$times" | median)" ms 100
		fact "$name, kept, processor" "$cpu" ms
		fact "$name, kept, memory" "$peak" MiB 200
	done
	add 16 16
	ms git maxkernel status
	fact "status after 16 new nodes" "$ms" ms
}

serve()
{
	port=$((20000 + $$ % 20000))
	while ! git daemon --export-all --enable=receive-pack --reuseaddr \
	    --listen=127.0.0.1 --port=$port --base-path="$dir" --detach \
	    --pid-file="$dir/daemon.pid" "$dir" 2>/dev/null; do
		port=$((port + 1))
		[ $port -lt 45000 ] || { echo "no port for git daemon" >&2; exit 1; }
	done
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		[ -s "$dir/daemon.pid" ] && break
		sleep 0.1
	done
	daemon=$(cat "$dir/daemon.pid")
}

push()
{
	local times=
	rm -rf "$dir/remote.git"
	git clone -q --mirror . "$dir/remote.git"
	[ -n "$daemon" ] || serve
	for _ in 1 2 3; do
		add 16 16
		ms git push -q "git://127.0.0.1:$port/remote.git" \
			"refs/maxkernel/$slug/w/$worker" \
			"refs/notes/maxkernel/$slug/plan/$worker" \
			"refs/notes/maxkernel/$slug/metrics/$worker"
		times="$times$ms\n"
	done
	# shellcheck disable=SC2059
	fact "push of 16 new nodes" "$(printf "$times" | median)" ms 1500
	rm -rf "$dir/remote.git"
}

peer()	# <size>
{
	local adds=16 per mib load	# each is two rewrites
	[ "$1" -lt 50000 ] || adds=5
	read -r per mib load <<-END
		$(perl "$top/tests/bench/peer.pl" "$slug" "$worker" \
			kernels/fill.c "$1" $adds "$dir")
	END
	fact "peer: one JSON file, a node" "$per" ms
	fact "peer: its size" "$mib" MiB
	fact "peer: to load it" "$load" ms
	fact "peer's time to add a node over ours" "$(ratio "$per" "$b16")" x
}

measure()	# <size>
{
	local have=$nodes
	echo "$1 nodes:"
	if [ "$1" -gt "$have" ]; then
		add $(($1 - have)) 16
		fact "a node in batches of 16, with packing" "$each" ms
		fact "the same, processor time" "$cpu" ms
		fact "the longest batch, with packing" "$worst" ms
	fi
	fact "packs" "$(packs)" "" 20
	git config gc.auto 0		# what the store itself takes
	add 512 16
	b16=$each
	fact "a node in batches of 16" "$b16" ms 3
	fact "the same, processor time" "$cpu" ms
	[ -n "$first" ] || first=$b16
	fact "over that at the first size" "$(ratio "$b16" "$first")" x 2
	add 64 1
	fact "a node alone" "$each" ms
	git config --unset gc.auto
	look
	push
	[ -z "${BENCH_STORE_PEER-yes}" ] || peer "$1"
}

mkdir "$dir/repo" "$dir/repo/kernels"
cd "$dir/repo"
git -c init.defaultBranch=main init -q --template=
"$fill" source >kernels/fill.c
cat >.maxkernel <<END
[kernel "fill"]
	file = kernels/fill.c
	entry = fill
	arg = in f32 x[n]
	arg = dim n
	arg = out f32 y[n]
	time = n=10000
END
git add .
git commit -q -m 'Kernel'
slug=$("$fill" create fill)
nodes=0 first='' worker=''
add 16 16
worker=$(git for-each-ref --format='%(refname)' "refs/maxkernel/$slug/w" |
	sed 's,.*/,,')
echo "load of the machine: $(cut -d' ' -f1-3 /proc/loadavg), $(nproc) processors"
for size in ${BENCH_STORE_SIZES:-1000 10000 100000}; do
	measure "$size"
done
exit $failed
