#!/bin/sh
# The page: clean mdoc, says of every command what -h says, has every option,
# and its examples work.
. "$(dirname "$0")/lib.sh"

PAGE=$TOP/git-maxkernel.1

mandoc -T ascii -O width=1000 "$PAGE" | sed 's/.\x08//g' >"$SCRATCH/page"

# section <title>: its rendered lines
section()
{
	awk -v title="$1" '
		/^[^ ]/ { inside = ($0 == title); next }
		inside
	' "$SCRATCH/page"
}

# about <command>: its part of COMMANDS
about()
{
	section COMMANDS | awk -v title="   $1" '
		/^   [^ ]/ { inside = ($0 == title); next }
		inside
	'
}

commands()
{
	git maxkernel --list-commands
}

# help_of <command>: what -h prints; -h gives 129
help_of()
{
	git maxkernel "$1" -h >"$SCRATCH/help"
	[ $? -eq 129 ] && cat "$SCRATCH/help"
}

# One way to write a usage line.
plain()
{
	sed 's/[<>]//g; s/ *| */|/g; s/  */ /g; s/ \.\.\./.../g; s/^ //; s/ $//'
}

# names: the options in the lines of standard input, one a line, sorted
names()
{
	grep -oE '(^|[ ,])--?[A-Za-z][-A-Za-z0-9]*' | tr -d ' ,' | sort -u
}

test_that 'mandoc has nothing to say about it' '
	mandoc -T lint "$PAGE" 2>&1 |
		grep -vE "referenced manual not found|outdated mandoc.db" >got
	[ ! -s got ] || same /dev/null got
'

test_that 'the synopsis is what -h says' '
	commands >list && [ "$(wc -l <list)" -ge 10 ] &&
	while read -r c; do
		help_of "$c" | awk "/^\$/ { exit } { print }" |
			sed "s/^usage: //; s/^   or: //"
	done <list | plain | sort >want &&
	section SYNOPSIS | plain | grep . | sort >got &&
	same want got
'

test_that 'the page has every option of every command, and no other' '
	commands >list &&
	while read -r c; do
		help_of "$c" | sed -n "/^ *-/p" | sed "s/^ *//; s/  .*//" |
			names | sed "s/^/$c /" >>want
		about "$c" | grep -E "^     -" | sed "s/^ *//; s/   .*//" |
			names | sed "s/^/$c /" >>got
		about "$c" | grep -q . || echo "no text on $c" >>got
	done <list &&
	[ -s want ] && same want got
'

test_that 'the page has the commands and no other' '
	commands | sort >want &&
	section COMMANDS | sed -n "s/^   \([a-z][a-z]*\)\$/\1/p" | sort >got &&
	same want got
'

test_that 'the page has the variables and settings that sources read' '
	cd "$TOP" &&
	grep -rhoE "getenv\(\"[A-Z_]+\"\)" core cmd agents hooks |
		grep -oE "[A-Z_]{3,}" | grep -vxE "PATH|TERM|HOME|GIT_PAGER_IN_USE" |
		sort -u >"$SCRATCH/variables" && [ -s "$SCRATCH/variables" ] &&
	section ENVIRONMENT >"$SCRATCH/environment" &&
	while read -r v; do
		has "$v" "$SCRATCH/environment" || exit 1
	done <"$SCRATCH/variables" &&
	section CONFIGURATION >"$SCRATCH/settings" &&
	for v in $(grep -rhoE "\"(maxkernel|color)\.[a-zA-Z]+\"" cmd core agents |
			tr -d "\"" | sort -u); do
		has "$v" "$SCRATCH/settings" || exit 1
	done
'

test_that 'the page has every key of the file' '
	make_repo r && cd r && git maxkernel init &&
	section "THE FILE .maxkernel" >keys &&
	grep -oE "^;[[:space:]]+[a-z]+ = " .maxkernel | tr -d ";= \t" |
		sort -u >want && [ "$(wc -l <want)" -gt 10 ] &&
	while read -r k; do
		grep -qE "^     ([a-z]+, )*$k(,|\$| )" keys ||
			{ echo "no $k"; exit 1; }
	done <want
'

test_that 'the examples work' '
	make_repo r && cd r &&
	cat >saxpy.c <<-\EOF &&
	void saxpy(int n, float a, const float *x, const float *y, float *z)
	{
		for (int i = 0; i < n; i++)
			z[i] = a * x[i] + y[i];
	}
	EOF
	section EXAMPLES | sed -n "s/^ *\\$ //p" >../examples &&
	[ "$(wc -l <../examples)" -ge 10 ] &&
	while read -r example; do
		echo "\$ $example"
		case $example in
		"git maxkernel explore"*)
			# Verdicts from a table: no machine is measured here.
			echo "default confirmed 2" >../table
			MAXKERNEL_JUDGE=$PWD/../table
			export MAXKERNEL_JUDGE
			;;
		esac
		eval "$example" </dev/null || {
			echo "exit status $?"
			exit 1
		}
	done <../examples &&
	git log -1 --format=%B >message && has "Maxkernel-Node" message
'

test_done
