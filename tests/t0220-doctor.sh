#!/bin/sh
# git maxkernel doctor: says what is there and what is missing.
. "$(dirname "$0")/lib.sh"

test_that 'what is there, with nothing missing' '
	make_repo r && cd r && git maxkernel doctor --quick >out 2>err &&
	[ ! -s err ] && has ready out &&
	for t in program git gcc vectors git-maxkernel-judge \
			git-maxkernel-worker cpu cores governor load clock \
			sandbox; do
		grep -q "^$t " out || { echo "no $t"; exit 1; }
	done
'

test_that '--json: one object' '
	make_repo r && cd r && git maxkernel doctor --quick --json >out &&
	[ "$(wc -l <out)" -eq 1 ] &&
	perl -MJSON::PP -ne "my \$o = decode_json(\$_); print \"yes\\n\"
		if \$o->{ready} && @{\$o->{findings}} > 8 &&
		exists \$o->{roof_gflops}" out >got && has yes got
'

test_that 'no judge: 1, where it was looked for, and the way out' '
	make_repo r && cd r && MAXKERNEL_EXEC_PATH=/nonexistent &&
	gives 1 git maxkernel doctor >out && has "/nonexistent" out &&
	has "make install" out && has "2 things are missing" out
'

test_that 'no compiler: 1, and the way out' '
	make_repo r && mkdir bin && cd r &&
	ln -s "$(command -v git)" ../bin/git &&
	d=$(command -v git-maxkernel) && PATH=$PWD/../bin &&
	gives 1 "$d" doctor --quick >out && PATH=/usr/bin:/bin &&
	grep -q "^gcc *not found" out && has "install a compiler" out
'

test_that 'outside of a repository' '
	mkdir d && cd d && export GIT_CEILING_DIRECTORIES="$SCRATCH" &&
	git-maxkernel doctor >out && has "repository" out && has ready out
'

test_that 'a judge that cannot work is told of' '
	make_repo r && cd r && MAXKERNEL_JUDGE=$PWD/none && export MAXKERNEL_JUDGE &&
	gives 1 git maxkernel doctor -q >out && has "cannot measure" out
'

test_that 'sandbox switched off: said' '
	make_repo r && cd r && git config maxkernel.sandbox none &&
	git maxkernel doctor --quick >out && has "unconfined" out
'

test_that 'the judge measures roofs and resolution' '
	make_repo r && cd r && git maxkernel doctor -q >out &&
	has "GF/s" out && has "GB/s" out && grep -q "^resolution " out &&
	grep -q "^sandbox *[Sn]" out
'

test_that 'the judge itself is tried: known speeds, and cheats' '
	make_repo r && cd r && git maxkernel doctor --judge --json >out
	[ $? -le 1 ] &&
	for name in half memo constructor input outside less endless; do
		grep -q "\"name\":\"$name\",[^}]*\"missing\":false" out || exit 1
	done &&
	for name in equal "equal again" "20 % slower"; do
		grep -q "\"name\":\"$name\",[^}]*\"missing\":false" out || exit 1
	done
'

test_that 'usage' '
	gives 129 git-maxkernel doctor -h >out && has usage: out &&
	gives 129 git-maxkernel doctor extra &&
	gives 129 git-maxkernel doctor --quick --judge
'

test_done
