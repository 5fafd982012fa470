#!/bin/sh
# make install, what it leaves, what Git and bash find of it, and make
# uninstall.
. "$(dirname "$0")/lib.sh"

PLACE=$SCRATCH/place

# The objects that are there, so that little is built; CHECK_MAKE has the
# variables that they were built with.
cp -a "$BUILD" "$SCRATCH/o" && rm -rf "$SCRATCH/o/tap"
make_()
{
	eval "set -- ${CHECK_MAKE-} \"\$@\""
	make -s -C "$TOP" O="$SCRATCH/o" DESTDIR="$PLACE" PREFIX=/opt/mk "$@"
}

# in_place <command>: as a user who has installed it
in_place()
{
	PATH=$PLACE/opt/mk/bin:$PATH MANPATH=$PLACE/opt/mk/share/man \
		env -u MAXKERNEL_EXEC_PATH -u MAXKERNEL_DATA "$@"
}

test_that 'make install puts everything in its place' '
	make_ install &&
	(cd "$PLACE" && find . -type f | sort) >got &&
	{
		echo ./opt/mk/bin/git-maxkernel
		echo ./opt/mk/libexec/git-maxkernel/git-maxkernel-judge
		echo ./opt/mk/libexec/git-maxkernel/git-maxkernel-worker
		echo ./opt/mk/share/bash-completion/completions/git-maxkernel
		echo ./opt/mk/share/man/man1/git-maxkernel.1
		(cd "$TOP/knowledge" && find . -type f) |
			sed "s|^\.|./opt/mk/share/git-maxkernel|"
	} | sort >want &&
	same want got &&
	[ -x "$PLACE/opt/mk/libexec/git-maxkernel/git-maxkernel-worker" ] &&
	[ -f "$PLACE/opt/mk/share/git-maxkernel/kernels/.maxkernel" ]
'

test_that 'git finds it' '
	in_place git maxkernel version >out &&
	has "git-maxkernel version" out &&
	in_place git maxkernel version --json >json && has "{\"version\":" json
'

test_that 'git maxkernel --help opens the page' '
	in_place env MANPAGER=cat GIT_PAGER=cat man -w git-maxkernel >where &&
	has "$PLACE/opt/mk/share/man/man1/git-maxkernel.1" where &&
	in_place env MANPAGER=cat PAGER=cat git maxkernel --help >page &&
	has "GIT-MAXKERNEL(1)" page && has "SYNOPSIS" page
'

test_that 'the program looks for its helpers below the prefix' '
	program=$PLACE/opt/mk/bin/git-maxkernel &&
	grep -aqF /opt/mk/libexec/git-maxkernel "$program" &&
	grep -aqF /opt/mk/share/git-maxkernel "$program"
'

test_that 'installed below a prefix, it measures with nothing else set' '
	o=$SCRATCH/own && cp -a "$BUILD" "$o" && rm -rf "$o/tap" &&
	eval "set -- ${CHECK_MAKE-}" &&
	make -s -C "$TOP" "$@" O="$o" PREFIX="$SCRATCH/own-place" install &&
	kernel_repo r && cd r &&
	PATH=$SCRATCH/own-place/bin:$PATH env -u MAXKERNEL_EXEC_PATH -u MAXKERNEL_DATA \
		git maxkernel measure --json >../out &&
	has "\"correct\":true" ../out
'

test_that 'another prefix is built anew' '
	make_ PREFIX=/opt/other "$SCRATCH/o/bin/git-maxkernel" &&
	grep -aqF /opt/other/libexec "$SCRATCH/o/bin/git-maxkernel"
'

# complete <words...>: what bash offers for the last of them
cat >"$SCRATCH/complete" <<'EOF'
. /usr/share/bash-completion/bash_completion
. /usr/share/bash-completion/completions/git
_load=$PLACE/opt/mk/share/bash-completion/completions/git-maxkernel
. "$_load"
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
COMP_LINE=$*
COMP_POINT=${#COMP_LINE}
COMP_TYPE=9
__git_wrap__git_main
printf '%s\n' "${COMPREPLY[@]}" | sed 's/ *$//'
EOF
complete()
{
	export PLACE
	in_place bash "$SCRATCH/complete" "$@"
}

if [ -f /usr/share/bash-completion/completions/git ]; then

test_that 'completion gives the commands' '
	make_repo r && cd r &&
	complete git maxkernel "" | sort >got &&
	in_place git maxkernel --list-commands | sort >want &&
	same want got &&
	echo explore >want && complete git maxkernel expl >got && same want got
'

test_that 'completion gives the options of a command' '
	make_repo r && cd r &&
	complete git maxkernel explore -- >got &&
	has "--policy=" got && has "--json" got && has "--worktree" got &&
	complete git maxkernel explore --wid >got && echo "--width=" >want &&
	same want got
'

test_that 'completion gives kernels, nodes and values' '
	make_repo r && cd r &&
	printf "[kernel \"one\"]\n\tentry = f\n[kernel \"two\"]\n\tentry = g\n" \
		>.maxkernel &&
	printf "one\ntwo\n" >want &&
	complete git maxkernel explore "" >got && same want got &&
	complete git maxkernel show tw >got &&
	printf "two@best\ntwo@root\n" >want && same want got &&
	complete git maxkernel explore --policy=bea >got &&
	echo beam >want && same want got
'

else
	test_skip 'completion' 'git has no completion file here'
fi

test_that 'make uninstall leaves nothing' '
	make_ uninstall &&
	: >want && (cd "$PLACE" && find . -type f) >got && same want got &&
	[ ! -e "$PLACE/opt/mk/libexec/git-maxkernel" ] &&
	[ ! -e "$PLACE/opt/mk/share/git-maxkernel" ]
'

test_done
