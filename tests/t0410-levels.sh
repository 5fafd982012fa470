#!/bin/sh
# The levels of the sandbox, each with what it is made of taken away, as a
# container or an old kernel does; and none at all.
. "$(dirname "$0")/lib.sh"

deny=$BUILD/helper/deny

# quick <dir>: a kernel that takes no time
quick()
{
	git init -q "$1" && (
		cd "$1" &&
		cat >k.c <<-'EOK' &&
		void k(const float *x, float *y, int n)
		{
			for (int i = 0; i < n; i++)
				y[i] = 2 * x[i] + 1;
		}
		EOK
		cat >.maxkernel <<-'EOK' &&
		[kernel "k"]
			file = k.c
			entry = k
			flags = -O2
			arg = in f32 x[n]
			arg = out f32 y[n]
			arg = dim n
			time = n=3000
			check = n=7
		EOK
		git add . && git commit -q -m kernel
	)
}

# level: the sandbox that a measurement says it had
level()
{
	sed -n 's/.*"sandbox":"\([^"]*\)".*/\1/p' "$1"
}

# A kernel that reads a file, as the judge must never let it.
thief()
{
	cat >k.c <<-'EOK'
	#include <stdio.h>

	static long raw(long nr, long a, long b, long c)
	{
		long r;

		__asm__ volatile("syscall" : "=a"(r)
				 : "a"(nr), "D"(a), "S"(b), "d"(c)
				 : "rcx", "r11", "memory");
		return r;
	}

	void k(const float *x, float *y, int n)
	{
		if (raw(2, (long)"/etc/passwd", 0, 0) >= 0)
			n = 0;
		for (int i = 0; i < n; i++)
			y[i] = 2 * x[i] + 1;
	}
	EOK
}

# held <level> <denied...>: measured at that level, and the thief is stopped
held()
{
	held_level=$1
	shift
	quick r && cd r &&
	"$deny" "$@" -- git maxkernel measure -q --json >out &&
	{ [ "$(level out)" = "$held_level" ] || { cat out; false; }; } &&
	thief &&
	gives 1 "$deny" "$@" -- git maxkernel measure -q --json --worktree >out &&
	grep -Eq "\"verdict\":\"(crash|cheat)\"" out
}

test_that 'without namespaces: seccomp and Landlock are enough' '
	held S2 namespaces
'

test_that 'without Landlock nothing is measured, and the reason is said' '
	quick r && cd r &&
	gives 128 "$deny" landlock -- git maxkernel measure -q 2>err &&
	has "kept in a sandbox here: no Landlock in this kernel" err &&
	has "maxkernel.sandbox none" err
'

test_that 'without seccomp nothing is measured, and the reason is said' '
	quick r && cd r &&
	gives 128 "$deny" seccomp -- git maxkernel measure -q 2>err &&
	has "kept in a sandbox here: no seccomp filters" err &&
	has "maxkernel.sandbox none" err &&
	gives 128 "$deny" seccomp -- git maxkernel explore -q --attempts 1 2>err &&
	has "no seccomp filters" err &&
	[ -z "$(git for-each-ref refs/maxkernel)" ]
'

test_that 'unless the user wants none, and then every number says so' '
	quick r && cd r && git config maxkernel.sandbox none &&
	"$deny" seccomp -- git maxkernel measure -q --json >out &&
	[ "$(level out)" = none ]
'

if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
	test_that 'an ordinary user has the same levels' '
		quick r && cp -R "$BUILD/libexec" "$BUILD/bin" "$deny" . &&
		chmod -R a+rwX . && chmod a+rx "$SCRATCH" && cd r &&
		chown -R 65534:65534 . && chmod -R a+rX "$HOME" &&
		as="setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs" &&
		MAXKERNEL_EXEC_PATH=$PWD/../libexec && export MAXKERNEL_EXEC_PATH &&
		mkdir ../tmp && chmod 1777 ../tmp && TMPDIR=$PWD/../tmp && export TMPDIR &&
		$as ../bin/git-maxkernel measure -q --json >../out &&
		case $(level ../out) in S2 | S3) ;; *) cat ../out; exit 1 ;; esac &&
		$as ../deny namespaces -- ../bin/git-maxkernel measure -q --json >../out &&
		[ "$(level ../out)" = S2 ]
	'
else
	test_skip 'an ordinary user has the same levels' 'not started as root'
fi

test_done
