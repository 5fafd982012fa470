#!/bin/sh
# The search on a scripted judge: what it writes, budgets, policies, order.
. "$(dirname "$0")/lib.sh"

test_that 'explore writes every attempt as a node, failures too' '
	share a && kernel_repo r && cd r &&
	scripted "$PWD/../table" "default hash" &&
	git status --porcelain >../before && git rev-parse HEAD >>../before &&
	gives 0 git maxkernel explore --attempts 24 --json >../out 2>../err &&
	git status --porcelain >../after && git rev-parse HEAD >>../after &&
	same ../before ../after &&
	s=$(the_search) &&
	nodes "$s" >../nodes &&
	[ "$(wc -l <../nodes)" -ge 24 ] &&
	grep -q -e "build-fail" -e "wrong" ../err &&
	git fsck --strict --no-dangling >../fsck 2>&1 && hasnt error ../fsck
'

test_that 'no state is tried twice in a search' '
	share a && cd r && s=$(the_search) &&
	states "$s" kernels/mix.c >../states && uniq -d ../states >../twice &&
	same /dev/null ../twice
'

test_that 'a node touches only the kernel file and descends from the base' '
	share a && cd r && base=$(git rev-parse HEAD) &&
	for c in $(nodes "$(the_search)"); do
		git diff --name-only "$base" "$c" >../paths &&
		{ hasnt util ../paths; [ "$(cat ../paths)" = kernels/mix.c ]; } &&
		git merge-base --is-ancestor "$base" "$c" || exit 1
	done
'

test_that 'plan and metrics are notes that plain git shows' '
	share a && cd r && s=$(the_search) &&
	git log --notes="maxkernel/$s/*" -1 "$(nodes "$s" | head -n 1)" >../log &&
	has "Notes (maxkernel/$s/plan/" ../log &&
	has "Notes (maxkernel/$s/metrics/" ../log &&
	has "Expected" ../log && has "## Measured" ../log && has "\"verdict\":" ../log
'

test_that 'the best is a landing branch that plain git cherry-picks' '
	share a && cd r && s=$(the_search) &&
	git rev-parse --verify -q "maxkernel/$s/best/scripted" &&
	git log -1 --format=%B "maxkernel/$s/best/scripted" >../message &&
	has "Maxkernel-Node:" ../message &&
	git checkout -q -b try && git cherry-pick "maxkernel/$s/best/scripted" &&
	[ "$(git diff --name-only HEAD^)" = kernels/mix.c ] &&
	git revert --no-edit HEAD && git diff --exit-code HEAD~2 &&
	git checkout -q main
'

test_that 'the same seed gives the same states, whatever --jobs' '
	share a && cp -r r ../shared-a/seed1 && cd .. &&
	for j in 1 3 4; do
		rm -rf r$j && kernel_repo r$j && (
			cd r$j && scripted "$PWD/../t$j" "default hash" "delay 3" &&
			git maxkernel explore -q --attempts 24 --jobs $j &&
			states "$(the_search)" kernels/mix.c >../s$j
		) || exit 1
	done &&
	same s1 s3 && same s1 s4 && [ -s s1 ]
'

test_that 'another seed gives other states' '
	kernel_repo r && cd r && scripted "$PWD/../t" "default hash" &&
	git maxkernel explore -q --attempts 60 --seed 1 &&
	states "$(the_search)" kernels/mix.c >../s1 && cd .. &&
	kernel_repo q && cd q && git maxkernel explore -q --attempts 60 --seed 99 &&
	states "$(the_search)" kernels/mix.c >../s2 && cd .. &&
	! cmp -s s1 s2
'

test_that 'beam: the branches are its nodes, failed nodes never fill it' '
	kernel_repo r && cd r && scripted "$PWD/../t" "default hash" &&
	git maxkernel explore -q --policy beam --width 3 --branches 2 --depth 3 &&
	s=$(the_search) &&
	git for-each-ref --format="%(refname)" "refs/heads/maxkernel/$s/beam" >../beam &&
	[ "$(wc -l <../beam)" -le 3 ] && [ -s ../beam ] &&
	git maxkernel frontier --json >../frontier && hasnt build-fail ../frontier &&
	hasnt "\"wrong\"" ../frontier
'

test_that 'explore again goes on with an unfinished search' '
	kernel_repo r && cd r && scripted "$PWD/../t" "default hash" &&
	git maxkernel explore -q --attempts 8 && s=$(the_search) &&
	n=$(nodes "$s" | wc -l) &&
	git maxkernel explore --attempts 8 2>../err && has "going on with search $s" ../err &&
	[ "$(the_search)" = "$s" ] && [ "$(nodes "$s" | wc -l)" -gt "$n" ]
'

test_that 'a last round that left spend lines alone goes on, without an empty node' '
	kernel_repo r && cd r && scripted "$PWD/../t" "default hash" &&
	git maxkernel explore -q --policy greedy --attempts 4 && s=$(the_search) && w=$(cat .git/maxkernel/log/worker) &&
	size=$(git show "refs/maxkernel/$s/spec:spec" | tr -d "\n" | sed "s/.*\"round\":\([0-9]*\).*/\1/") &&
	git maxkernel resume -q --attempts $((size > 4 ? size - 4 : size - 4 % size)) "$s" >/dev/null &&
	last=$(for n in $(nodes "$s"); do git log -1 --format=%B "$n"; done |
		sed -n "s/^Maxkernel-Step: //p" | sort -n | tail -n 1) &&
	first=$(((last + size - 1) / size * size + 1)) && [ $first -eq $((last + 1)) ] &&
	git notes --ref="maxkernel/$s/metrics/$w" append -m "{\"t\":\"2031-01-01T00:00:00.000Z\",\"v\":1,\"w\":\"$w\",\"e\":\"spend\",\"step\":$first,\"verdict\":\"dup\",\"attempt_s\":1}" "refs/maxkernel/$s/spec" &&
	git maxkernel resume --json --attempts $((size - 1)) "$s" >../out 2>../err; cat ../err ../out; [ "$(nodes "$s" | wc -l)" = "$(sed "s/.*\"nodes\":\([0-9]*\).*/\1/" ../out)" ] &&
	! grep 000000000000 ../err
'

test_that 'a changed section or root starts a new search' '
	kernel_repo r && cd r && scripted "$PWD/../t" "default hash" &&
	git maxkernel explore -q --policy greedy --attempts 4 &&
	sed -i "s/rtol = .*/rtol = 2e-3/" .maxkernel &&
	git maxkernel explore -q --policy greedy --attempts 4 &&
	[ "$(the_search | wc -l)" -eq 2 ] &&
	echo "/* changed */" >>kernels/mix.c && git commit -qam changed &&
	git maxkernel explore -q --policy greedy --attempts 4 &&
	[ "$(the_search | wc -l)" -eq 3 ]
'

test_that 'nothing faster: status 1, no landing branch' '
	kernel_repo r && cd r && scripted "$PWD/../t" "default slower 0.5" &&
	gives 1 git maxkernel explore -q --attempts 8 >../out &&
	has "none confirmed" ../out &&
	[ -z "$(git for-each-ref refs/heads/maxkernel)" ]
'

test_that 'SIGINT ends with 130, what was finished is kept' '
	kernel_repo r && cd r && scripted "$PWD/../t" "default hash" "delay 30" &&
	{ git-maxkernel explore -q --attempts 500 & pid=$!; } &&
	i=0 && while [ $i -lt 200 ] && [ -z "$(the_search)" ]; do sleep 0.1; i=$((i + 1)); done &&
	sleep 1 && kill -TERM $pid; wait $pid; [ $? -eq 130 ] &&
	[ "$(nodes "$(the_search)" | wc -l)" -gt 0 ] &&
	git fsck --strict --no-dangling
'

test_that '--worktree searches the work tree and touches nothing' '
	kernel_repo r && cd r && scripted "$PWD/../t" "default hash" &&
	echo "/* by hand */" >>kernels/mix.c && git status --porcelain >../before &&
	git maxkernel explore --policy greedy --attempts 4 2>../err && has "differs from HEAD" ../err &&
	{ git maxkernel explore -q --policy greedy --worktree --attempts 4; [ $? -le 1 ]; } &&
	git status --porcelain >../after && same ../before ../after &&
	n=$(nodes "$(the_search | tail -n 1)" | head -n 1) &&
	for s in $(the_search); do
		for n in $(nodes $s); do git show $n:kernels/mix.c; done
	done >../all && has "by hand" ../all
'

test_done
