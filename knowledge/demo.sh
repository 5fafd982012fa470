#!/usr/bin/env bash
# What `make demo` runs: a fresh repository with six plain kernels, a search
# over each, the winner's history, one pick.  It touches nothing but a new
# temporary folder, which stays.  DEMO_TIME=<seconds> is the time a kernel on
# average: they share it.
set -eu

top=$(cd "$(dirname "$0")/.." && pwd)
build=${MAXKERNEL_BUILD:-$top/build}
case $build in /*) ;; *) build=$top/$build ;; esac
export PATH=$build/bin:$PATH MAXKERNEL_EXEC_PATH=$build/libexec
export MAXKERNEL_DATA=$top/knowledge GIT_PAGER=cat LC_ALL=C.UTF-8
# The caller may stand in a repository of their own, or in one of its hooks.
# shellcheck disable=SC2046
unset $(git rev-parse --local-env-vars)

if ! git config --get user.email >/dev/null &&
	[ -z "${GIT_AUTHOR_EMAIL-}" ]; then
	export GIT_AUTHOR_NAME=Demo GIT_AUTHOR_EMAIL=demo@example.com
	export GIT_COMMITTER_NAME=Demo GIT_COMMITTER_EMAIL=demo@example.com
fi

say()
{
	printf '\n# %s\n' "$*"
}

# Says a command as one would type it, and runs it.
run()
{
	local word quote="'"
	printf '$'
	for word; do
		case $word in
		*[!A-Za-z0-9_@%+=:,./-]*)
			printf ' %s' "$quote${word//$quote/$quote\\$quote$quote}$quote"
			;;
		*) printf ' %s' "$word" ;;
		esac
	done
	printf '\n'
	"$@"
}

# Values of a key at the top of the JSON objects of standard input.
values()
{
	sed -E ':a; s/\[[^][]*\]/0/g; ta' |
		sed -nE "s/^\\{(.*[,{])?\"$1\":(\"([^\"]*)\"|[^,}]*).*/\\2/p" |
		tr -d '"'
}

dir=$(mktemp -d "${TMPDIR:-/tmp}/maxkernel-demo.XXXXXX")
say "a fresh repository with six kernels, in $dir"
cp -R "$top/knowledge/kernels/." "$dir"
cd "$dir"
git -c init.defaultBranch=main init -q --template=
# Only for this repository: no one is asked for a passphrase.
git config commit.gpgsign false
git add .
run git commit -q -m 'Six kernels as first written'
run git maxkernel init

time=${DEMO_TIME:-60}
all=$((time * $(git config -f .maxkernel --get-regexp '^kernel\..*\.entry$' |
	wc -l)))
say "search all six, $time seconds each on average; every attempt is a commit"
status=0
run git maxkernel explore --time "$all" || status=$?
[ "$status" -le 1 ] || exit "$status"

git maxkernel best --json >.git/demo-best || true
kernel=matmul
node=$(grep "\"kernel\":\"$kernel\"" .git/demo-best | values node)
search=$(grep "\"kernel\":\"$kernel\"" .git/demo-best | values search)
if [ -n "$node" ] && [ "$node" != null ]; then
	say "how $kernel got there: the winner's lineage, with plain Git"
	run git log --format='%n%C(auto)%h %s%n%n%N' \
		--notes="maxkernel/$search/plan/*" "main..$node"
	say "and what was tried on the way and did not win"
	run git log --oneline --grep='^Maxkernel-Op:' \
		--glob="refs/maxkernel/$search/w/*" --not "$node"
	say 'take it: one commit on the current branch'
	run git maxkernel pick "$kernel@best"
	run git show --stat
fi

say 'the repository is whole, and nothing else was touched'
run git fsck --no-dangling --no-progress
run git status --short

confirmed=$(values speedup <.git/demo-best | grep -c '^[0-9]') || true
values speedup <.git/demo-best | grep '^[0-9]' | awk -v n="$confirmed" '
	{ s += log($1) }
	END {
		printf "\n%d of 6 kernels confirmed faster", n
		if (NR)
			printf ", geometric mean %.1fx", exp(s / NR)
		printf "\n"
	}'
echo "look around in $dir"
[ "$confirmed" -eq 6 ]
