# Sourced by every test script: TAP from POSIX shell, an own HOME, a fixed
# identity, locale and zone.  A test body runs in a subshell of its own in the
# script's scratch folder; it fails when a command of its && chain fails.
#
#	. "$(dirname "$0")/lib.sh"
#	test_that 'a state keeps its parent' '
#		make_repo r && cd r &&
#		git maxkernel init >out &&
#		has_line "notes.displayRef" out
#	'
#	test_done

# shellcheck shell=sh disable=SC2034,SC2317
set -u

for v in $(env | sed -n 's/^\(GIT_[A-Za-z0-9_]*\|MAXKERNEL_[A-Za-z0-9_]*\)=.*/\1/p'); do
	case $v in MAXKERNEL_BUILD) ;; *) unset "$v" ;; esac
done

TESTS=$(cd "$(dirname "$0")" && pwd)
TOP=$(dirname "$TESTS")
BUILD=${MAXKERNEL_BUILD:-$TOP/build}
case $BUILD in /*) ;; *) BUILD=$TOP/$BUILD ;; esac
SCRATCH=$(mktemp -d "${TMPDIR:-/tmp}/maxkernel-test.XXXXXX") || exit 1
trap 'cd / && chmod -R u+w "$SCRATCH" 2>/dev/null; rm -rf "$SCRATCH"' EXIT
trap 'exit 130' INT TERM

HOME=$SCRATCH/home
mkdir "$HOME"
XDG_CONFIG_HOME=$HOME/.config
PATH=$BUILD/bin:$PATH
MAXKERNEL_EXEC_PATH=$BUILD/libexec
MAXKERNEL_DATA=$TOP/knowledge
LC_ALL=C.UTF-8
TZ=UTC
GIT_CONFIG_NOSYSTEM=1
GIT_AUTHOR_NAME='A U Thor' GIT_AUTHOR_EMAIL=author@example.com
GIT_COMMITTER_NAME='C O Mitter' GIT_COMMITTER_EMAIL=committer@example.com
NO_COLOR=1
# Of builds with sanitizers: what the libraries never free is not our leak.
LSAN_OPTIONS=suppressions=$TESTS/lsan.supp:print_suppressions=0
CHECK_N=${CHECK_N:-1}
unset PAGER EDITOR VISUAL LESS
export HOME XDG_CONFIG_HOME PATH MAXKERNEL_EXEC_PATH MAXKERNEL_DATA LC_ALL TZ
export GIT_CONFIG_NOSYSTEM GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL
export GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL NO_COLOR CHECK_N LSAN_OPTIONS
git config --global init.defaultBranch main
git config --global advice.detachedHead false

test_nr=0 test_failed=0

# test_that <title> <body>
test_that()
{
	test_nr=$((test_nr + 1))
	mkdir -p "$SCRATCH/$test_nr"
	if (cd "$SCRATCH/$test_nr" && eval "$2") >"$SCRATCH/log" 2>&1 </dev/null
	then
		echo "ok $test_nr - $1"
	else
		echo "not ok $test_nr - $1"
		test_failed=$((test_failed + 1))
		sed 's/^/# /' "$SCRATCH/log" | head -n 60
	fi
}

# As test_that, but in the folder that the named test before it used.
# share <name>: cd into a folder that tests of one script share
share()
{
	mkdir -p "$SCRATCH/shared-$1" && cd "$SCRATCH/shared-$1"
}

# test_skip <title> <reason>
test_skip()
{
	test_nr=$((test_nr + 1))
	echo "ok $test_nr - $1 # SKIP $2"
}

test_done()
{
	echo "1..$test_nr"
	[ "$test_failed" -eq 0 ]
	exit $?
}

# gives <status> <command...>: the command must end with that exit status
gives()
{
	gives_want=$1
	shift
	"$@"
	gives_got=$?
	[ "$gives_got" -eq "$gives_want" ] && return 0
	echo "exit status $gives_got, wanted $gives_want: $*"
	return 1
}

# has <text> <file>: some line contains the text (fixed string)
has()
{
	grep -qF -e "$1" "$2" && return 0
	echo "'$1' is not in $2, which holds:"
	head -n 40 "$2"
	return 1
}

# hasnt <text> <file>
hasnt()
{
	grep -qF -e "$1" "$2" || return 0
	echo "'$1' is in $2, which holds:"
	head -n 40 "$2"
	return 1
}

# same <want> <got>: files are equal
same()
{
	diff -u "$1" "$2"
}

# make_repo <dir>: an empty repository with one commit
make_repo()
{
	git init -q "$1" &&
	(cd "$1" && git commit -q --allow-empty -m 'first')
}

# kernel_repo <dir>: a repository with one kernel, "saxpy2": own prototype, a
# helper function, a header by `use`, a scalar, an ld; committed.
kernel_repo()
{
	git init -q "$1" && (
		cd "$1" && mkdir -p kernels &&
		cat >kernels/util.h <<-'EOF' &&
		#ifndef UTIL_H
		#define UTIL_H
		static inline float squash(float x)
		{
			return x / (1.0f + (x < 0 ? -x : x));
		}
		#endif
		EOF
		cat >kernels/mix.c <<-'EOF' &&
		#include <math.h>

		#include "util.h"

		static float weight(const float *row, int n)
		{
			float sum = 0.0f;

			for (int i = 0; i < n; i++)
				sum += expf(row[i]);
			return sum / n;
		}

		float mix(const float *x, int ldx, float alpha, int M, int N, float *y)
		{
			float total = 0.0f;

			for (int i = 0; i < M; i++) {
				float w = weight(x + i * ldx, N);

				for (int j = 0; j < N; j++) {
					y[i * N + j] = alpha * squash(x[i * ldx + j]) * w;
					total += y[i * N + j] * y[i * N + j];
				}
			}
			return total / (M * N);
		}
		EOF
		cat >.maxkernel <<-'EOF' &&
		[kernel "mix"]
			file = kernels/mix.c
			use = kernels/util.h
			entry = mix
			arg = in f32 x[M][N] ld(ldx)
			arg = dim ldx
			arg = in f32 alpha = 1.5
			arg = dim M
			arg = dim N
			arg = out f32 y[M][N]
			arg = ret f32
			input = x uniform(-2,2)
			time = ldx=1030 M=90 N=1001
			check = ldx=40 M=7 N=33
			check = ldx=1 M=1 N=1
			rtol = 1e-3
			atol = 1e-4
			flops = 8*M*N
		EOF
		git add . && git commit -q -m 'a kernel as first written'
	)
}

# scripted <file> <line...>: from here on, verdicts come from this table
scripted()
{
	scripted_file=$1
	shift
	printf '%s\n' "$@" >"$scripted_file" &&
	MAXKERNEL_JUDGE=$scripted_file &&
	export MAXKERNEL_JUDGE
}

# the only search of the repository
the_search()
{
	git for-each-ref --format='%(refname)' 'refs/maxkernel/*/spec' |
		sed 's,refs/maxkernel/,,; s,/spec,,'
}

# nodes <search>: commit ids of all its nodes
nodes()
{
	for ref in $(git for-each-ref --format='%(refname)' "refs/maxkernel/$1/w/"); do
		git log --format=%H --grep='^Maxkernel-Op:' "$ref"
	done | sort -u
}

# states <search> <file>: blob ids of a kernel file in all nodes, sorted
states()
{
	for c in $(nodes "$1"); do
		git rev-parse "$c:$2"
	done | sort
}
