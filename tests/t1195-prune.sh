#!/bin/sh
# Dropping searches and losers: what goes, what stays, what a search that was
# pruned does next, and what a pruning that was cut off leaves.
. "$(dirname "$0")/lib.sh"

q="'"

# goes <command...>: it did its work, whatever it found
goes()
{
	"$@"
	[ $? -le 1 ]
}

# searched <dir> [<option>...]: a repository with one search; cd into it
searched()
{
	searched_dir=$1
	shift
	kernel_repo "$searched_dir" && cd "$searched_dir" &&
	scripted "$SCRATCH/table" "default hash" &&
	goes git maxkernel explore -q "$@" >/dev/null && s=$(the_search) &&
	w=$(cat .git/maxkernel/log/worker)
}

refs()
{
	git for-each-ref
}

# ledger <search>: attempts, verdicts and where the search stands
ledger()
{
	git maxkernel status --json "$1" |
		grep -oE "\"((attempts|frontier|node|speedup)\":[^,}]*|verdicts\":[^}]*)"
}

spent()
{
	git maxkernel status --json "$1" | sed "s/.*\"spent_s\":\([^,]*\),.*/\1/"
}

clean()
{
	git fsck --strict --no-dangling >fsck 2>&1 && [ ! -s fsck ] && rm fsck &&
		return
	cat fsck
	return 1
}

test_that 'it shows what would go and drops nothing unasked' '
	searched r --policy beam --attempts 40 && refs >../before &&
	gives 1 git maxkernel prune "$s" >../out 2>../err &&
	has "refs/maxkernel/$s/spec" ../out &&
	has "refs/notes/maxkernel/$s/metrics/$w" ../out &&
	has "refs/heads/maxkernel/$s/best/scripted" ../out &&
	grep -E "nodes, about [0-9.]+ [kM]B" ../out && has "takes --yes" ../err &&
	gives 1 git maxkernel prune --losers "$s" >../out &&
	grep -E " step [0-9]+ [a-z-]+ mix: " ../out &&
	gives 0 git maxkernel prune --dry-run "$s" >../out && has "about" ../out &&
	gives 0 git maxkernel prune --dry-run --yes --losers "$s" &&
	refs >../after && same ../before ../after &&
	git maxkernel prune --json --dry-run --losers "$s" >../json &&
	has "\"done\":false" ../json && has "\"nodes\":[\"" ../json
'

test_that 'wrong usage is told' '
	searched r --attempts 2 && refs >../before &&
	gives 129 git maxkernel prune 2>err && has "too few" err &&
	gives 129 git maxkernel prune --depth 2 "$s" 2>err && has "among --losers" err &&
	gives 129 git maxkernel prune -y "$s" "$s" 2>err && has "twice" err &&
	gives 128 git maxkernel prune -y nothing 2>err && has "there is no search" err &&
	gives 128 git maxkernel prune -y "$s" nothing 2>err &&
	refs >../after && same ../before ../after
'

test_that 'a search goes with all its refs, and gc takes its objects' '
	searched r --attempts 12 && n=$(nodes "$s" | head -n 1) &&
	git maxkernel prune -q --yes "$s" >../out && refs >../refs &&
	hasnt maxkernel ../refs && git fsck --strict && git gc -q --prune=now &&
	! git cat-file -e "$n" && [ -z "$(ls .git/maxkernel/log | grep "$s")" ] &&
	gives 128 git maxkernel prune -y "$s" 2>err && has "there is no search" err &&
	goes git maxkernel explore -q --attempts 3 && [ "$(the_search)" != "$s" ]
'

test_that 'a remote with an older chain takes the pruned one when what it names is gone' '
	git init -q --bare hub && searched r --policy beam --attempts 24 && git remote add hub ../hub &&
	git push -q hub main && git maxkernel push -q hub "$s" &&
	git clone -q ../hub ../q && (cd ../q && git maxkernel pull -q) &&
	goes git maxkernel resume -q --attempts 24 "$s" >/dev/null &&
	git maxkernel prune -q -y --losers "$s" && git reflog expire --expire=now --all &&
	git for-each-ref --format="delete %(refname)" refs/maxkernel-remote refs/notes/remote | git update-ref --stdin &&
	git gc -q --prune=now && git maxkernel prune -q -y --losers --remote=hub "$s" 2>../err && [ "$(cat .git/maxkernel/log/worker)" = "$w" ] &&
	hasnt "another clone" ../err && git ls-remote ../hub "refs/maxkernel/$s/w/*" >../there &&
	has "$(git rev-parse "refs/maxkernel/$s/w/$w")" ../there && [ "$(wc -l <../there)" -eq 1 ] &&
	cd ../q && git maxkernel pull -q 2>../err && hasnt "not taken over" ../err &&
	has "$(git rev-parse "refs/maxkernel/$s/w/$w")" ../there
'

test_that 'of two searches one goes' '
	searched r --attempts 6 && a=$s && goes git maxkernel explore -q --attempts 6 --seed 5 &&
	b=$(git for-each-ref --format="%(refname)" "refs/maxkernel/*/spec" |
		sed "s,refs/maxkernel/,,; s,/spec,," | grep -v "^$a\$") &&
	git for-each-ref | grep "/$b/" >../before &&
	git maxkernel prune -q -y "$a" && git for-each-ref | grep maxkernel >../after &&
	same ../before ../after && clean
'

test_that 'branches with commits made by hand or checked out stay' '
	searched r --policy beam --attempts 40 &&
	git checkout -q "maxkernel/$s/best/scripted" &&
	git branch hold "maxkernel/$s/beam/scripted/1" &&
	git worktree add -q ../tree "maxkernel/$s/beam/scripted/1" &&
	(cd ../tree && echo "/* by hand */" >>kernels/mix.c && git commit -qam hand) &&
	git worktree remove ../tree &&
	git maxkernel prune -y "$s" >../out 2>../err &&
	has "$s/best/scripted${q} stays: it is checked out" ../err &&
	has "$s/beam/scripted/1${q} stays: it has commits made by hand" ../err &&
	git for-each-ref --format="%(refname)" >../refs && [ "$(grep -c "$s" ../refs)" -eq 2 ] &&
	git status --porcelain >../status && same /dev/null ../status
'

test_that 'losers go, with their notes and objects; the rest stays' '
	searched r --policy beam --attempts 40 && nodes "$s" >../all &&
	git for-each-ref refs/heads refs/tags >../branches && ledger "$s" >../ledger &&
	[ "$(wc -l <../ledger)" -eq 5 ] && git maxkernel best --json >../best && t=$(spent "$s") &&
	git maxkernel prune -y --losers "$s" >../out && nodes "$s" >../left &&
	[ "$(wc -l <../left)" -lt 30 ] && comm -13 ../all ../left >../new && same /dev/null ../new &&
	comm -23 ../all ../left >../gone && [ -s ../gone ] &&
	git for-each-ref refs/heads refs/tags | same ../branches - &&
	ledger "$s" | same ../ledger - && git maxkernel best --json | same ../best - &&
	echo "$t $(spent "$s")" | awk "{ exit !(\$1 > 0 && \$2 > 0.999 * \$1 && \$2 < 1.001 * \$1) }" &&
	for kind in plan metrics; do
		git notes --ref="maxkernel/$s/$kind/$w" list | sed "s/.* //" | sort >../on &&
		comm -12 ../on ../gone | same /dev/null - || exit 1
	done &&
	git notes --ref="maxkernel/$s/plan/$w" list | sed "s/.* //" | sort | same ../left - &&
	clean && git gc -q --prune=now &&
	while read -r n; do ! git cat-file -e "$n" || exit 1; done <../gone &&
	while read -r n; do git cat-file -e "$n" || exit 1; done <../left &&
	git maxkernel prune -y --losers "$s" 2>../err && has "nothing to drop" ../err
'

test_that 'each dropped step leaves its state, verdict and seconds' '
	searched r --policy beam --attempts 40 && nodes "$s" >../all &&
	git maxkernel log --json "$s" | grep -c "" >../rows &&
	git maxkernel prune -q -y --losers "$s" && nodes "$s" >../left &&
	git notes --ref="maxkernel/$s/metrics/$w" show "refs/maxkernel/$s/spec" >../lines &&
	[ "$(grep -c "\"e\":\"spend\"" ../lines)" -eq "$(comm -23 ../all ../left | wc -l)" ] &&
	grep "\"e\":\"spend\"" ../lines | grep -vE "\"step\":[0-9]+,\"st\":\"[0-9a-f]{40}\",\"verdict\":\"[a-z-]+\"" |
		same /dev/null - &&
	awk "length > 400" ../lines | same /dev/null - &&
	! grep "\"e\":\"spend\"" ../lines | grep -v "\"recipe\":\"" &&
	"$BUILD/helper/store_dump" "$s" scripted >../kept && rm -r .git/maxkernel/cache &&
	"$BUILD/helper/store_dump" "$s" scripted >../anew && same ../anew ../kept &&
	grep -E "^spend .* from [0-9]+ on 0 .*score" ../kept
'

for policy in beam "beam --width 3 --branches 3" greedy bestofn parallel evolve "evolve --islands 2" \
		hybrid learn adaptive; do
test_that "$policy: a pruned search goes on as one that was not" '
	searched r --policy $policy --attempts 44 && nodes "$s" >../before && cd .. &&
	cp -R r q &&
	(cd q && git maxkernel prune -q -y --losers "$s" && nodes "$s" >../kept) &&
	[ "$(wc -l <kept)" -lt "$(wc -l <before)" ] &&
	for d in r q; do
		(cd $d && git maxkernel resume -q --attempts 30 "$s" >/dev/null
		nodes "$s" >../$d.nodes && comm -23 ../$d.nodes ../before |
		while read -r n; do
			git log -1 --format="%(trailers:key=Maxkernel-Step,valueonly,separator=) %s" "$n" |
				sed "s/cross [0-9a-f]* with [0-9a-f]*/cross/" | tr "\n" " " &&
			echo $(git rev-parse "$n:kernels/mix.c" $(git rev-parse "$n^@" | sed "s/\$/:kernels\/mix.c/")) || exit 1
		done | sort -n >../$d.new
		git maxkernel best --json |
			grep -oE "\"(speedup|step|recipe|verdict)\":[^,]*" >../$d.best) || exit 1
	done &&
	[ -s r.new ] && same r.new q.new && same r.best q.best
'
done

# timed <search>: its nodes with a time, but for the minimiser's
timed()
{
	git maxkernel log --json "$1" | grep -E "\"verdict\":\"(slower|same|faster|confirmed)\"" |
		grep -v "\"strategy\":\"minimise\"" | grep -oE "\"node\":\"[^\"]*" | sort
}

for policy in parallel evolve hybrid; do
test_that "$policy: what has a time stays, as any of it may be expanded when the better ones are exhausted" '
	searched r --policy $policy --attempts 40 && nodes "$s" >../all && timed "$s" >../before && [ -s ../before ] &&
	git maxkernel prune -q -y --losers "$s" && timed "$s" | same ../before - &&
	[ "$(nodes "$s" | wc -l)" -lt "$(wc -l <../all)" ]
'
done

test_that 'what was pruned is not tried again' '
	searched r --policy beam --attempts 40 && states "$s" kernels/mix.c >../tried &&
	git maxkernel prune -q -y --losers "$s" && states "$s" kernels/mix.c >../left &&
	goes git maxkernel resume -q --attempts 30 "$s" && states "$s" kernels/mix.c >../after &&
	comm -13 ../left ../after >../new && [ -s ../new ] &&
	comm -12 ../new ../tried | same /dev/null -
'

test_that 'what a branch, a tag or a remote-tracking branch has stays' '
	searched r --policy beam --attempts 40 &&
	git maxkernel prune --dry-run --json --losers "$s" |
		sed "s/.*\"nodes\":\[//; s/\].*//" | tr -d "\"" | tr "," "\n" >../losers &&
	a=$(sed -n 2p ../losers) && b=$(sed -n 4p ../losers) && c=$(sed -n 6p ../losers) &&
	git branch mine "$a" && git tag -a -m tag v "$b" &&
	git update-ref refs/remotes/o/theirs "$c" &&
	git maxkernel prune -y --losers "$s" 2>../err && nodes "$s" >../left &&
	for n in "$a" "$b" "$c"; do has "$n" ../left || exit 1; done &&
	has "refs/heads/mine leads to it" ../err && has "refs/tags/v leads" ../err &&
	has "refs/remotes/o/theirs leads" ../err &&
	git notes --ref="maxkernel/$s/plan/$w" show "$a" &&
	git branch -D mine -q && git maxkernel prune -q -y --losers "$s" &&
	nodes "$s" >../left && hasnt "$a" ../left && has "$b" ../left
'

test_that 'a HEAD of another work tree keeps a node' '
	searched r --policy beam --attempts 40 &&
	n=$(git maxkernel prune --dry-run --json --losers "$s" |
		sed "s/.*\"nodes\":\[\"//; s/\".*//") &&
	git worktree add -q --detach ../tree "$n" &&
	git maxkernel prune -y --losers "$s" 2>../err && has "a HEAD leads to it" ../err &&
	nodes "$s" >../left && has "$n" ../left && git -C ../tree status --porcelain | same /dev/null -
'

test_that 'the node of a commit that was picked stays' '
	searched r --policy beam --attempts 40 &&
	n=$(git maxkernel prune --dry-run --json --losers "$s" |
		sed "s/.*\"nodes\":\[\"//; s/\".*//") &&
	git commit -q --allow-empty -m "picked

Maxkernel-Search: $s
Maxkernel-Node: $n" &&
	git maxkernel prune -q -y --losers "$s" && nodes "$s" >../left && has "$n" ../left &&
	git maxkernel prune -y "$s" 2>../err && has "in your history" ../err
'

test_that 'losers beyond a depth or an age alone' '
	searched r --policy beam --attempts 40 &&
	git maxkernel graph --json "$s" >../graph &&
	gives 0 git maxkernel prune --losers --older 30d -y "$s" >../out &&
	has "  0 nodes" ../out &&
	git maxkernel prune --losers --depth 1 --json -n "$s" |
		sed "s/.*\"nodes\":\[//; s/\].*//" | tr -d "\"" | tr "," "\n" >../deep &&
	[ -s ../deep ] && while read -r n; do
		[ "$(git rev-list --count HEAD.."$n")" -ge 2 ] || exit 1
	done <../deep &&
	git maxkernel prune -q --losers --depth 1 -y "$s" &&
	gives 0 git maxkernel prune --losers --depth 1 -n "$s" >../out && has "  0 nodes" ../out &&
	git maxkernel prune --losers -n "$s" >../out && hasnt "  0 nodes" ../out
'

test_that 'a second pruning names the tips of both' '
	searched r --policy beam --attempts 40 && one=$(git rev-parse "refs/maxkernel/$s/w/$w") &&
	git maxkernel prune -q -y --losers "$s" && git maxkernel resume -q --attempts 30 "$s" >/dev/null
	two=$(git rev-parse "refs/maxkernel/$s/w/$w") && git maxkernel prune -q -y --losers "$s" &&
	three=$(git rev-parse "refs/maxkernel/$s/w/$w") && [ "$two" != "$three" ] &&
	git log --first-parent --format="%(trailers:key=Maxkernel-Pruned,valueonly)" "$three" >../named &&
	has "$one" ../named && has "$two" ../named &&
	[ "$(grep . ../named | tail -n 1)" = "$two" ] && clean
'

# Between any two of its writes the search is whole, and another run ends it.
test_that 'a pruning that was cut off is completed by the next' '
	searched r --policy beam --attempts 40 && m=refs/notes/maxkernel/$s/metrics/$w &&
	p=refs/notes/maxkernel/$s/plan/$w && c=refs/maxkernel/$s/w/$w &&
	m0=$(git rev-parse $m) && p0=$(git rev-parse $p) && c0=$(git rev-parse $c) &&
	nodes "$s" >../all && ledger "$s" >../ledger &&
	git maxkernel prune -q -y --losers "$s" && nodes "$s" >../left &&
	m2=$(git rev-parse $m) && c2=$(git rev-parse $c) && p2=$(git rev-parse $p) && m1=$(git rev-parse $m2^) &&
	[ "$(git rev-parse $m1^)" = "$m0" ] &&
	for at in "$m1 $c0 $p0" "$m1 $c2 $p0" "$m1 $c2 $p2"; do
		set -- $at &&
		git update-ref $m $1 && git update-ref $c $2 && git update-ref $p $3 &&
		git maxkernel status "$s" >../out && git maxkernel best >../out && clean &&
		cp -R . ../on && (cd ../on && goes git maxkernel resume -q --attempts 4 "$s" && clean) &&
		rm -rf ../on &&
		git maxkernel prune -q -y --losers "$s" && nodes "$s" | same ../left - &&
		ledger "$s" | same ../ledger - &&
		git notes --ref=$p list | sed "s/.* //" | sort | same ../left - &&
		git notes --ref=$m list >../on.metrics && [ "$(wc -l <../on.metrics)" -eq "$(git ls-tree -r --name-only $m2 | wc -l)" ] ||
		exit 1
	done
'

# git notes writes objects and moves the ref without syncing either, whatever
# stands there.
test_that 'our notes are not left to git notes' '
	searched r --policy beam --attempts 40 && m=refs/notes/maxkernel/$s/metrics/$w &&
	before=$(git notes --ref=$m list | wc -l) && mkdir ../bin &&
	printf "#!/bin/sh\nPATH=%s\ncase \" \$* \" in *\" notes \"*) exit 1 ;; esac\nexec git \"\$@\"\n" \
		"$PATH" >../bin/git && chmod +x ../bin/git &&
	(PATH=$PWD/../bin:$PATH && git-maxkernel prune -q -y --losers "$s") &&
	[ "$(git notes --ref=$m list | wc -l)" -lt "$before" ] && clean
'

test_that 'killed at any time it is completed by the next' '
	searched r --policy beam --attempts 40 && nodes "$s" >../all && cd .. && cp -R r whole &&
	(cd whole && git maxkernel prune -q -y --losers "$s" && nodes "$s" >../left) &&
	for ms in 01 02 03 04 05 06 08 10 13 16 20 30; do
		rm -rf k && cp -R r k && (
			cd k && timeout -s KILL 0.0$ms git-maxkernel prune -q -y --losers "$s"
			sleep 0.1
			find .git -name "*.lock" -newer ../left ! -path "*maxkernel/log*" -delete
			git fsck --strict --no-dangling && git maxkernel status "$s" &&
			git maxkernel prune -q -y --losers "$s" && nodes "$s" | same ../left -
		) >log 2>&1 || { cat log; exit 1; }
		rm -rf k && cp -R r k && (
			cd k && timeout -s KILL 0.0$ms git-maxkernel prune -q -y "$s"
			sleep 0.1
			find .git -name "*.lock" -newer ../left ! -path "*maxkernel/log*" -delete
			git fsck --strict --no-dangling &&
			if git rev-parse -q --verify "refs/maxkernel/$s/spec"; then
				git maxkernel status "$s" && git maxkernel prune -q -y "$s"
			fi && refs >../refs && hasnt maxkernel ../refs
		) >log 2>&1 || { cat log; exit 1; }
	done
'

test_that 'a search that a process works on is left alone' '
	searched r --attempts 2 && refs >../before && (
		flock 9 && gives 128 git maxkernel prune -y "$s" 2>../err
	) 9<".git/maxkernel/log/$s.lock" && has "another process works on" ../err &&
	refs >../after && same ../before ../after
'

test_that 'the nodes of another worker are theirs' '
	searched r --policy beam --attempts 40 && cd .. && git clone -q r q && cd q &&
	git fetch -q origin "refs/maxkernel/*:refs/maxkernel/*" "refs/notes/maxkernel/*:refs/notes/maxkernel/*" &&
	refs >../before && gives 0 git maxkernel prune -y --losers "$s" >../out &&
	grep -E "[0-9]+ losers of other workers stay" ../out && has "  0 nodes" ../out &&
	refs >../after && same ../before ../after
'

test_that 'index, work tree and HEAD are not touched' '
	searched r --policy beam --attempts 20 && echo x >>kernels/mix.c && git add . && echo y >>kernels/mix.c &&
	echo z >new && git status --porcelain=v2 --branch >../before && git ls-files -s >>../before &&
	git diff >>../before && git maxkernel prune -q -y --losers "$s" && git maxkernel prune -q -y "$s" &&
	git status --porcelain=v2 --branch >../after && git ls-files -s >>../after && git diff >>../after &&
	same ../before ../after
'

# ---- remotes ----

# shared_search: hub.git, made (pushed) and other (a clone that pulled)
shared_search()
{
	git init -q --bare hub.git && searched made --policy beam --attempts 40 &&
	git remote add origin ../hub.git && git push -q origin main &&
	git maxkernel push -q --branches=beam origin && cd .. &&
	git clone -q hub.git other && (cd other && git maxkernel pull -q) && cd made
}

hub_refs()
{
	git -C ../hub.git for-each-ref --format="%(refname)"
}

test_that 'a search goes on the remote too, and does not come back' '
	shared_search && hub_refs | has "refs/maxkernel/$s/spec" /dev/stdin &&
	hub_refs | has "refs/heads/maxkernel/$s/best/scripted" /dev/stdin && hub_refs >../before &&
	gives 1 git maxkernel prune --remote "$s" >../out && has "on origin: refs/maxkernel/$s/spec" ../out &&
	hub_refs | same ../before - &&
	git maxkernel prune -q -y --remote "$s" && hub_refs >../got && echo refs/heads/main | same - ../got &&
	git for-each-ref refs/maxkernel refs/notes refs/maxkernel-remote refs/heads/maxkernel | same /dev/null - &&
	git maxkernel pull -q; git for-each-ref | hasnt "$s" /dev/stdin
'

test_that 'dropped here alone, the next pull brings it back, all of it' '
	shared_search && nodes "$s" >../all && git maxkernel prune -q -y "$s" &&
	git for-each-ref refs/maxkernel refs/notes refs/heads | hasnt "$s" /dev/stdin && git maxkernel pull -q &&
	nodes "$s" | same ../all - && clean
'

test_that 'dropped there, a push from another clone brings it back only by name' '
	kernel_repo seed && git clone -q --bare seed hub.git && git clone -q hub.git a && cd a &&
	scripted "$SCRATCH/table" "default hash" && goes git maxkernel explore -q --attempts 6 >/dev/null && s=$(the_search) &&
	git maxkernel push -q && cd .. && git clone -q hub.git b && cd b && git maxkernel pull -q && cd .. && cp -R a own &&
	cd a && git maxkernel prune -q -y --remote "$s" && git ls-remote ../hub.git >../there && hasnt maxkernel ../there &&
	for clone in b own; do
		cd ../$clone && gives 1 git maxkernel push 2>../err && has "search $s was dropped on ${q}origin$q" ../err &&
		git ls-remote ../hub.git | same ../there - || exit 1
	done &&
	cd ../b && git maxkernel push -q origin "$s" && git ls-remote ../hub.git >../got && has "refs/maxkernel/$s/spec" ../got &&
	git maxkernel push -q && cd ../own && git maxkernel push -q
'

test_that 'a search that only the remote has is dropped there by its whole name' '
	shared_search && git maxkernel prune -q -y "$s" &&
	gives 128 git maxkernel prune -y "$s" 2>../err &&
	git maxkernel prune -y --remote=origin "$s" 2>../err; hub_refs >../got
	echo refs/heads/main | same - ../got || {
		# landing commits that were let go here are not known any more
		hasnt "refs/maxkernel" ../got && has "stays on the remote" ../err
	} &&
	gives 128 git maxkernel prune -y --remote=origin "$s" 2>../err && has "here or on" ../err
'

test_that 'a branch on the remote with commits made by hand stays' '
	shared_search && git checkout -q --detach "maxkernel/$s/best/scripted" && git commit -q --allow-empty -m hand &&
	git push -q origin "+HEAD:refs/heads/maxkernel/$s/best/scripted" && git checkout -q main &&
	git maxkernel prune -y --remote "$s" 2>../err >../out && has "stays on the remote" ../err &&
	hub_refs | grep maxkernel >../got && echo "refs/heads/maxkernel/$s/best/scripted" | same - ../got
'

test_that 'what a remote refuses stays here as well' '
	shared_search && git -C ../hub.git config receive.denyDeletes true && refs >../before && hub_refs >../hub &&
	gives 128 git maxkernel prune -y --remote "$s" 2>../err && has "does not let" ../err &&
	hub_refs | same ../hub - && refs >../after && same ../before ../after &&
	gives 128 git maxkernel prune -y --remote=../nowhere.git "$s" 2>../err && refs | same ../before -
'

test_that 'losers go on the remote, and in clones with their next pull' '
	shared_search && nodes "$s" >../all && git maxkernel prune -q -y --losers --remote "$s" &&
	nodes "$s" >../left && [ "$(wc -l <../left)" -lt "$(wc -l <../all)" ] &&
	[ "$(git -C ../hub.git rev-parse "refs/maxkernel/$s/w/$w")" = "$(git rev-parse "refs/maxkernel/$s/w/$w")" ] &&
	(cd ../other && nodes "$s" | same ../all - && git maxkernel pull -q && nodes "$s" | same ../left - && clean) &&
	git maxkernel pull -q && nodes "$s" | same ../left - &&
	[ "$(git for-each-ref --format="%(refname)" "refs/maxkernel/$s/w/*" | wc -l)" -eq 1 ]
'

test_that 'a search that was dropped here and comes back is still our own' '
	shared_search && git maxkernel log --json "$s" >../before && git maxkernel prune -q -y "$s" &&
	git maxkernel pull -q 2>../err && hasnt "another clone" ../err && [ "$(cat .git/maxkernel/log/worker)" = "$w" ] &&
	git maxkernel log --json "$s" >../after && same ../before ../after && hasnt claimed ../after
'

test_that '... but not what others made of it meanwhile' '
	shared_search && git maxkernel prune -q -y "$s" && m=refs/notes/maxkernel/$s/metrics/$w &&
	git fetch -q origin $m && c=$(git commit-tree -m more -p FETCH_HEAD "FETCH_HEAD^{tree}") && git push -q origin $c:$m &&
	git maxkernel pull -q 2>../err; has "another clone" ../err && git maxkernel log --json "$s" >../after &&
	hasnt "\"trust\":\"measured\"" ../after
'

test_that 'losers dropped here alone do not come back, and go there when they are pruned there' '
	shared_search && git maxkernel prune -q -y --losers "$s" && nodes "$s" >../left &&
	git maxkernel pull -q; nodes "$s" | same ../left - && git ls-remote ../hub.git >../before &&
	gives 1 git maxkernel push -q 2>../err && has "prune --losers --remote=origin $s" ../err &&
	git ls-remote ../hub.git >../after && same ../before ../after && git maxkernel prune -q -y --losers --remote "$s" &&
	git maxkernel push -q &&
	nodes "$s" | same ../left - && [ "$(cat .git/maxkernel/log/worker)" = "$w" ] &&
	[ "$(git -C ../hub.git rev-parse "refs/maxkernel/$s/w/$w")" = "$(git rev-parse "refs/maxkernel/$s/w/$w")" ]
'

test_that 'a clone that is behind and one with nodes of its own take it too' '
	shared_search && (cd ../other && git maxkernel resume -q --attempts 10 "$s" >/dev/null; git maxkernel push -q origin "$s") &&
	v=$(cat ../other/.git/maxkernel/log/worker) && git -C .. clone -q hub.git late &&
	git maxkernel resume -q --attempts 30 "$s" >/dev/null; git maxkernel push -q &&
	git maxkernel pull -q && git maxkernel prune -q -y --losers --remote "$s" && nodes "$s" >../left &&
	git log --format=%H --all-match --grep="^Maxkernel-Op:" --grep="^Maxkernel-Worker: $v\$" "refs/maxkernel/$s/w/$v" --not main |
	while read -r n; do has "$n" ../left && git cat-file -e "$n^" || exit 1; done &&
	for d in other late; do
		(cd ../$d && git maxkernel pull -q && nodes "$s" | same ../left - && clean) || exit 1
	done && git gc -q --prune=now && clean
'

test_done
