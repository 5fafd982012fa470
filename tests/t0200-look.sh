#!/bin/sh
# What the looking commands say of a search, on a scripted judge.
. "$(dirname "$0")/lib.sh"

# One search for all tests that only look.
look()
{
	share look && { [ -d r ] || (
		kernel_repo r && cd r && git tag base &&
		scripted "$PWD/../table" "default hash" &&
		git maxkernel explore -q --attempts 30 >/dev/null
	); } && cd r
}

# names <file>: every line is one JSON object; its top-level names
names()
{
	perl -MJSON::PP -ne 'my $o = decode_json($_);
		print "$_\n" for sort keys %$o' "$1" | sort -u
}

# field <name> <file>: the value of a name, an object a line
field()
{
	FIELD=$1 perl -MJSON::PP -ne 'my $v = decode_json($_)->{$ENV{FIELD}};
		print !defined $v ? "null" : JSON::PP::is_bool($v) ?
			$v ? "true" : "false" : ref $v ? encode_json($v) : $v,
			"\n"' \
		"$2"
}

test_that 'before the first search every command says what to type' '
	kernel_repo r && cd r &&
	git maxkernel status >out && has "git maxkernel explore" out &&
	for c in log show graph frontier diff; do
		gives 128 git maxkernel $c 2>err &&
		has "git maxkernel explore" err || exit 1
	done &&
	gives 1 git maxkernel best 2>err && has "git maxkernel explore" err &&
	git maxkernel status --json >out && [ ! -s out ]
'

test_that 'status: a line a search, and what is known of it' '
	look && git maxkernel status >../out && s=$(the_search) &&
	has "kernel" ../out && has "$s" ../out && has "adaptive" ../out &&
	has "budget spent" ../out && [ "$(wc -l <../out)" -eq 2 ] &&
	git maxkernel status --json >../json &&
	[ "$(field search ../json)" = "$s" ] &&
	[ "$(field kernel ../json)" = mix ] &&
	[ "$(field attempts ../json)" -ge 30 ] &&
	[ "$(field ci_low ../json)" != null ]
'

test_that 'status of one search, by slug, prefix or kernel' '
	look && s=$(the_search) &&
	git maxkernel status "$s" | sed "s/started.*//" >../slug && git maxkernel status mix | sed "s/started.*//" >../kernel &&
	git maxkernel status "$(echo "$s" | cut -c1-6)" | sed "s/started.*//" >../prefix &&
	same ../slug ../kernel && same ../slug ../prefix &&
	for t in device verdicts best frontier "git maxkernel pick" \
			"git maxkernel resume" confirmed; do
		has "$t" ../slug || exit 1
	done
'

test_that 'log: every node, newest first' '
	look && git maxkernel log --oneline >../out && s=$(the_search) &&
	[ "$(wc -l <../out)" -eq $(($(nodes "$s" | wc -l) + 1)) ] &&
	awk "{ print \$2 }" ../out >../steps && sort -rn ../steps >../sorted &&
	same ../sorted ../steps &&
	tail -n 1 ../out >../last && has "root" ../last &&
	has "$(git rev-parse --short=12 base)" ../last &&
	has "build-fail" ../out && has "* " ../out
'

test_that 'log --json has the names of the design' '
	look && git maxkernel log --json >../json &&
	names ../json >../names &&
	for n in kernel search node parents op depth proposer strategy recipe \
			verdict est_speedup speedup ci_low ci_high vs_parent \
			vs_rival vs_best_flags time_ns baseline_ns gflops gbs \
			roof shapes holdout compiled correct launches host \
			device sandbox oracle trust attempt_s error; do
		grep -qx $n ../names || { echo "no $n"; exit 1; }
	done &&
	field node ../json | sort >../got &&
	{ nodes "$(the_search)"; git rev-parse base; } | sort >../want &&
	same ../want ../got && hasnt nan ../json
'

test_that 'log -n, --losers, --lineage' '
	look && git maxkernel log --oneline -n 3 >../out &&
	[ "$(wc -l <../out)" -eq 3 ] &&
	git maxkernel log --oneline -2 >../out && [ "$(wc -l <../out)" -eq 2 ] &&
	git maxkernel log --losers --json >../json && [ -s ../json ] &&
	field verdict ../json | sort -u >../verdicts &&
	! grep -qE "^(confirmed|faster|null)\$" ../verdicts &&
	git maxkernel log --lineage --json >../json &&
	[ "$(field node ../json | tail -n 1)" = "$(git rev-parse base)" ] &&
	[ "$(field champion ../json | head -n 1)" = true ] &&
	field parents ../json | head -n 1 >../parents &&
	has "$(field node ../json | sed -n 2p)" ../parents
'

test_that 'log of a node is its lineage' '
	look && n=$(git maxkernel log --json --losers | field node /dev/stdin | head -n 1) &&
	git maxkernel log --json "$n" >../json &&
	[ "$(field node ../json | head -n 1)" = "$n" ] &&
	[ "$(field node ../json | tail -n 1)" = "$(git rev-parse base)" ]
'

test_that 'plain log: verdict, step, subject, the reason of a failure' '
	look && git maxkernel log >../out && has "Verdict:" ../out &&
	has "Step:" ../out && has "(champion)" ../out &&
	has "by the hash" ../out && has "confirmed" ../out
'

test_that 'show: the champion, by every name it has' '
	look && s=$(the_search) && git maxkernel show >../want &&
	for name in mix@best "$s@best" mix "maxkernel/$s/best/scripted" \
			"$(git maxkernel best --json | field node /dev/stdin)"; do
		git maxkernel show "$name" >../got && same ../want ../got || exit 1
	done &&
	for t in "(champion)" Verdict Measured Plan "git maxkernel verify" \
			"1 file changed" scripted; do
		has "$t" ../want || exit 1
	done
'

test_that 'show: the root, by its names' '
	look && s=$(the_search) && git maxkernel show mix@root >../want &&
	has "$(git rev-parse base)" ../want &&
	for name in "$s@root" base HEAD; do
		git maxkernel show "$name" >../got && same ../want ../got || exit 1
	done
'

test_that 'show --json: plan and every measurement' '
	look && git maxkernel show --json mix@best >../json &&
	[ "$(wc -l <../json)" -eq 1 ] && [ "$(field verdict ../json)" = confirmed ] &&
	field measurements ../json >../all && has "\"verdict\"" ../all &&
	field plan ../json >../plan && has "##" ../plan
'

test_that 'a node that is none' '
	look && for name in nothing mix@worst HEAD:kernels ""; do
		gives 128 git maxkernel show "$name" 2>../err && [ -s ../err ] || exit 1
	done &&
	git commit -q --allow-empty -m other &&
	gives 128 git maxkernel show HEAD 2>../err &&
	has "not a node of any search" ../err && git reset -q --hard base
'

test_that 'graph: every node once' '
	look && git maxkernel graph >../out && s=$(the_search) &&
	[ "$(wc -l <../out)" -eq $(($(nodes "$s" | wc -l) + 1)) ] &&
	for n in $(nodes "$s"); do
		has "$(git rev-parse --short=12 "$n")" ../out || exit 1
	done && has "└─ " ../out &&
	LC_ALL=C git maxkernel graph >../ascii && has "\`- " ../ascii &&
	! LC_ALL=C grep -q "[^ -~]" ../ascii
'

test_that 'graph --dot: nodes and edges, quoted' '
	look && git maxkernel graph --dot >../dot && s=$(the_search) &&
	head -n 1 ../dot >../head && has "digraph" ../head &&
	[ "$(grep -c "label=" ../dot)" -eq $(($(nodes "$s" | wc -l) + 1)) ] &&
	[ "$(grep -c -e "->" ../dot)" -ge "$(nodes "$s" | wc -l)" ] &&
	git maxkernel graph --json >../json &&
	[ "$(wc -l <../json)" -eq "$(grep -c label= ../dot)" ] &&
	gives 129 git maxkernel graph --dot --json
'

test_that 'frontier: timed nodes alone, best first' '
	look && git maxkernel frontier --json -n 5 >../json &&
	[ "$(wc -l <../json)" -le 5 ] && [ -s ../json ] &&
	[ "$(field rank ../json | head -n 1)" = 1 ] &&
	! field verdict ../json | grep -qE "fail|wrong" &&
	git maxkernel frontier >../out && has "rank" ../out
'

test_that 'best: numbers, branch and the command to pick' '
	look && git maxkernel best >../out && s=$(the_search) &&
	has "branch: maxkernel/$s/best/scripted" ../out &&
	has "git maxkernel pick" ../out &&
	git maxkernel best --json mix >../json &&
	[ "$(field branch ../json)" = "maxkernel/$s/best/scripted" ] &&
	gives 128 git maxkernel best nothing 2>../err && has "nothing" ../err
'

test_that 'best: 1 when nothing is confirmed' '
	kernel_repo r && cd r && scripted "$PWD/../t" "default slower 0.5" &&
	git maxkernel explore -q --attempts 4 >/dev/null
	gives 1 git maxkernel best >out 2>err && [ ! -s out ] &&
	has "no confirmed node" err &&
	gives 128 git maxkernel show mix@best 2>err && has "no confirmed" err
'

test_that 'diff is git diff, of the kernel files alone' '
	look && n=$(git maxkernel best --json | field node /dev/stdin) &&
	git diff base "$n" >../want && [ -s ../want ] &&
	git maxkernel diff mix@best >../got && same ../want ../got &&
	git maxkernel diff >../got && same ../want ../got &&
	git maxkernel diff --stat "$n" >../stat && has "1 file changed" ../stat &&
	git diff "$n" base >../want && git maxkernel diff "$n" base >../got &&
	same ../want ../got &&
	git maxkernel diff --json "$n" >../json &&
	field files ../json >../files && has "kernels/mix.c" ../files
'

test_that 'from a folder below it is the same' '
	look && git maxkernel diff mix@best >../want && cd kernels &&
	git maxkernel diff mix@best >../../got && same ../../want ../../got &&
	git maxkernel show mix@best >../../got && has "1 file changed" ../../got
'

test_that 'hostile text from commits and notes reaches no terminal' '
	kernel_repo r && cd r &&
	scripted "$PWD/../t" "$(printf "default wrong 1 \033]0;owned\007\"\\\\")" &&
	git maxkernel explore -q --attempts 3 >/dev/null
	git maxkernel log >out && has "?]0;owned?" out &&
	for c in log show graph "graph --dot" status frontier "log --json"; do
		git maxkernel $c >out 2>err && [ -s out ] &&
		! LC_ALL=C grep -q "$(printf "[\001-\010\013-\037]")" out err || exit 1
	done
'

test_that 'colour where Git has it, none by default in a pipe' '
	look && unset NO_COLOR && esc=$(printf "\033") &&
	git maxkernel log >../out && ! grep -q "$esc" ../out &&
	git config color.ui always &&
	git maxkernel log >../out && grep -q "$esc" ../out &&
	git maxkernel log --json >../out && ! grep -q "$esc" ../out &&
	git config color.maxkernel never &&
	git maxkernel log >../out && ! grep -q "$esc" ../out &&
	git config --unset color.maxkernel && git config --unset color.ui
'

# on_terminal <command>: what it writes to one
on_terminal()
{
	script -qec "$1" /dev/null </dev/null
}

if command -v script >/dev/null
then
	test_that 'on a terminal: colour, and the pager that Git would use' '
		look && unset NO_COLOR && TERM=xterm && export TERM &&
		GIT_PAGER="sed s/^/paged:/" && export GIT_PAGER &&
		on_terminal "git maxkernel log --oneline" >../out &&
		[ "$(grep -c "^paged:" ../out)" -gt 30 ] &&
		grep -q "$(printf "\033")\[33m" ../out &&
		git maxkernel log --oneline >../out && hasnt paged: ../out &&
		GIT_PAGER=cat on_terminal "git maxkernel log --oneline" >../out &&
		[ -s ../out ] && hasnt paged: ../out &&
		unset GIT_PAGER && git config core.pager "sed s/^/core:/" &&
		on_terminal "git maxkernel show" >../out && has core: ../out &&
		git config --unset core.pager &&
		PAGER="no-such-pager" on_terminal "git maxkernel best" >../out &&
		has "branch:" ../out
	'
else
	test_skip 'on a terminal: colour, and the pager that Git would use' \
		'no script program'
fi

test_that 'a full disk behind stdout is a failure' '
	look && for c in status log show graph best frontier; do
		gives 128 git maxkernel $c >/dev/full 2>../err &&
		has "cannot write" ../err || exit 1
	done
'

test_that 'usage' '
	look && for c in status log show graph frontier best diff; do
		gives 129 git maxkernel $c -h >../out &&
		has "usage: git maxkernel $c" ../out &&
		gives 129 git maxkernel $c --foo 2>../err &&
		has "unknown option" ../err || exit 1
	done &&
	gives 129 git maxkernel log -n 0 2>../err && has "between 1 and" ../err &&
	gives 129 git maxkernel show a b 2>../err && has "too many" ../err
'

test_that 'nothing was changed by looking' '
	look && git fsck --strict --no-dangling && git status --porcelain >../st &&
	[ ! -s ../st ]
'

test_done
