#!/bin/sh
# Sharing a search through a remote: what is pushed and pulled, who may move
# what, and what a remote that says no does.
. "$(dirname "$0")/lib.sh"

# hub: a bare repository and a clone "a" of it with a search of 8 attempts, in
# the current folder; leaves us in the clone
hub()
{
	kernel_repo seed && git clone -q --bare seed hub.git &&
	git clone -q hub.git a && cd a && scripted "$PWD/../table" "default hash" &&
	git maxkernel explore -q --policy greedy --attempts "${1:-8}" >/dev/null
}

# untouched <command...>: it leaves HEAD, index and work tree alone
untouched()
{
	git rev-parse HEAD >before && git symbolic-ref HEAD >>before &&
	git ls-files -s >>before && git status --porcelain -uno >>before &&
	"$@" && git rev-parse HEAD >after && git symbolic-ref HEAD >>after &&
	git ls-files -s >>after && git status --porcelain -uno >>after &&
	same before after
}

# there: the refs on the remote, without ids and workers
there()
{
	git ls-remote "${1:-../hub.git}" | cut -f2 | sed "s,/[a-z0-9]*-[0-9a-f]\{4\}\$,/W,"
}

sound()
{
	git fsck --strict --no-dangling >../fsck 2>&1 && [ ! -s ../fsck ] ||
		{ cat ../fsck; return 1; }
}

test_that 'push sends spec, chain, notes and the best branch, once' '
	hub && s=$(the_search) &&
	untouched git maxkernel push >../out && has "5 refs pushed, of 1 search" ../out &&
	there >../got &&
	cat >../want <<-END &&
	HEAD
	refs/heads/main
	refs/heads/maxkernel/$s/best/scripted
	refs/maxkernel/$s/spec
	refs/maxkernel/$s/w/W
	refs/notes/maxkernel/$s/metrics/W
	refs/notes/maxkernel/$s/plan/W
	END
	same ../want ../got &&
	git maxkernel push >../out && has "all of it is there already" ../out
'

test_that 'every ref that push and pull write has a good name' '
	hub && git maxkernel push -q && cd .. && git clone -q hub.git b && cd b &&
	git maxkernel pull -q &&
	{ git for-each-ref --format="%(refname)"; git ls-remote -q ../hub.git | cut -f2; } |
		grep maxkernel >../refs && [ "$(wc -l <../refs)" -gt 10 ] &&
	while read -r ref; do git check-ref-format "$ref" || exit 1; done <../refs
'

test_that 'a plain clone pulls without a setting, twice is nothing' '
	hub && s=$(the_search) && nodes "$s" >../want && git maxkernel push -q && cd .. &&
	git clone -q hub.git b && cd b && untouched git maxkernel pull >../out &&
	has "$s" ../out && has "mix" ../out &&
	nodes "$s" >../got && same ../want ../got && [ -s ../got ] && sound &&
	git maxkernel pull >../out && has "nothing new" ../out
'

test_that 'the objects of the reports' '
	hub && S=$(the_search) && export S && git maxkernel push --json >../push && cd .. &&
	git clone -q hub.git b && cd b && git maxkernel pull --json >../pull &&
	perl -MJSON::PP -e "
		\$p = decode_json(scalar <>); \$q = decode_json(scalar <>);
		die unless \$p->{remote} eq q(origin) && \$p->{refs} == 5 && \$p->{refused} == 0;
		die unless \$p->{searches}[0] eq \$ENV{S} && \$q->{search} eq \$ENV{S};
		die unless \$q->{kernel} eq q(mix) && \$q->{new_nodes} == 8 && \$q->{nodes} >= 8;
		die unless \$q->{verdict} eq q(confirmed) && \$q->{speedup} > 1;
	" ../push ../pull
'

test_that 'plain git reads it without the tool' '
	hub && s=$(the_search) && git maxkernel push -q && cd .. && git clone -q hub.git c && cd c &&
	git fetch origin "refs/maxkernel/*:refs/maxkernel/*" "refs/notes/maxkernel/*:refs/notes/maxkernel/*" &&
	git log --notes="maxkernel/*" >../main && has "a kernel as first written" ../main &&
	git log --notes="maxkernel/*" --glob="refs/maxkernel/*" >../log &&
	has "Notes (maxkernel/$s/plan/" ../log && has "\"verdict\":" ../log &&
	grep -qF "git fetch origin '"'"'refs/maxkernel/*:refs/maxkernel/*'"'"' '"'"'refs/notes/maxkernel/*:refs/notes/maxkernel/*'"'"'" "$TOP/README.md" &&
	git cherry-pick "origin/maxkernel/$s/best/scripted"
'

test_that 'both go on, and each has all of both' '
	hub 4 && s=$(the_search) && git maxkernel push -q && cd .. && git clone -q hub.git b && cd b &&
	git maxkernel pull -q && git maxkernel resume -q --attempts 4 "$s" >/dev/null; [ $? -le 1 ] &&
	git maxkernel push -q && cd ../a && sleep 1 &&
	{ git maxkernel resume -q --attempts 4 "$s" >/dev/null; [ $? -le 1 ]; } &&
	git maxkernel push -q && git maxkernel pull -q && nodes "$s" >../all && cd ../b &&
	git maxkernel pull -q && nodes "$s" >../got && same ../all ../got &&
	[ "$(wc -l <../got)" -ge 12 ] && sound
'

test_that 'what others wrote is relayed to a remote that lacks it' '
	hub && s=$(the_search) && git maxkernel push -q && cd .. && git clone -q hub.git b && cd b &&
	git maxkernel pull -q && git init -q --bare ../other.git && git remote add other ../other.git &&
	git maxkernel push -q other && there ../other.git | grep maxkernel/ | grep -v heads >../got &&
	there ../hub.git | grep maxkernel/ | grep -v heads >../want && same ../want ../got
'

test_that 'a relay never moves a ref of another worker back or aside' '
	hub 4 && s=$(the_search) && git maxkernel push -q && cd .. && git clone -q hub.git b && cd b &&
	git maxkernel pull -q && cd ../a && { git maxkernel resume -q --attempts 4 >/dev/null; [ $? -le 1 ]; } &&
	git maxkernel push -q && git ls-remote ../hub.git >../want && cd ../b && git maxkernel push -q &&
	git ls-remote ../hub.git >../got && same ../want ../got
'

test_that 'two clones with one id: each keeps every node' '
	hub 4 && s=$(the_search) && git maxkernel push -q && cd .. && cp -r a copy &&
	cd a && { git maxkernel resume -q --attempts 4 >/dev/null; [ $? -le 1 ]; } && sleep 1 && cd ../copy &&
	{ git maxkernel resume -q --attempts 6 >/dev/null; [ $? -le 1 ]; } &&
	nodes "$s" >../copys && cd ../a && nodes "$s" >../as && git maxkernel push -q && cd ../copy &&
	git maxkernel push >../out 2>../err && has "another clone writes as worker" ../err &&
	[ "$(wc -l <.git/maxkernel/log/worker)" -eq 2 ] && cd ../a && git maxkernel pull -q && cd ../copy &&
	git maxkernel pull -q 2>../err && hasnt "another clone" ../err &&
	sort -u ../as ../copys >../want && nodes "$s" >../got && same ../want ../got && sound && cd ../a &&
	nodes "$s" >../got && same ../want ../got &&
	git ls-remote ../hub.git "refs/maxkernel/$s/w/*" >../w && [ "$(wc -l <../w)" -eq 2 ] &&
	cd .. && git clone -q hub.git c && cd c && git maxkernel pull -q && nodes "$s" >../got && same ../want ../got
'

test_that '... and what it measured itself stays its own' '
	hub 4 && s=$(the_search) && git maxkernel push -q && cd .. && cp -r a copy && cd a &&
	{ git maxkernel resume -q --attempts 4 >/dev/null; [ $? -le 1 ]; } && git maxkernel push -q &&
	git maxkernel log --json >../as && cd ../copy && sleep 1 &&
	{ git maxkernel resume -q --attempts 4 >/dev/null; [ $? -le 1 ]; } && git maxkernel log --json >../before &&
	git maxkernel pull -q 2>../err && has "another clone" ../err && git maxkernel log --json "$s" >../after &&
	perl -MJSON::PP -e "
		sub nodes { open my \$f, shift or die; map { my \$d = decode_json(\$_); \$d->{node} => \$d->{trust} } <\$f> }
		%a = nodes(q(../as)); %b = nodes(q(../before)); %c = nodes(q(../after));
		for (keys %c) {
			next if \$c{\$_} eq q() ;
			die qq(\$_ is \$c{\$_}) if \$b{\$_} && \$c{\$_} ne \$b{\$_};
			\$claims++, \$c{\$_} eq q(claimed) || die if \$a{\$_} && !\$b{\$_};
		}
		die q(no claims) unless \$claims;
	"
'

# copied: a clone "copy" of "a" that had to take a new id, in copy; $old: the
# id that is now the other's
copied()
{
	hub 4 && s=$(the_search) && git maxkernel push -q && cd .. && cp -r a copy && cd a &&
	{ git maxkernel resume -q --attempts 8 >/dev/null; [ $? -le 1 ]; } && git maxkernel push -q && cd ../copy &&
	sleep 1 && { git maxkernel resume -q --attempts 4 >/dev/null; [ $? -le 1 ]; } &&
	git maxkernel push -q 2>../err && has "another clone" ../err && git maxkernel pull -q &&
	old=$(tail -n 1 .git/maxkernel/log/worker)
}

# trust <search>: who measured each node
trust()
{
	git maxkernel log --json "$1" | perl -MJSON::PP -ne '
		my $d = decode_json($_);
		print "$d->{node} ", $d->{verdict} // "-", " ", $d->{trust} // "-", "\n"' | sort
}

test_that 'another remote does not make the other clone'\''s measurements ours' '
	copied && trust "$s" >../before && grep -q claimed ../before && git for-each-ref >../refs &&
	git init -q --bare ../other.git && git remote add other ../other.git && git maxkernel push -q other &&
	trust "$s" >../after && same ../before ../after && git for-each-ref >../refs2 && same ../refs ../refs2 &&
	m=refs/notes/maxkernel/$s/metrics/$old && there ../other.git | grep -F "$m" &&
	(cd ../a && git maxkernel push -q other 2>../err) && hasnt "another clone" ../err &&
	(cd ../a && git commit-tree -m back "$m^{tree}" >../tip && git push -q -f ../other.git "$(cat ../tip):$m") &&
	git maxkernel pull -q other 2>../err; trust "$s" >../after && same ../before ../after
'

test_that 'what pull refuses under a former id push does not take' '
	copied && m=refs/notes/maxkernel/$s/metrics/$old && n=$(git notes --ref=$m list | sed -n "1s/.* //p") &&
	was=$(git rev-parse $m) && git clone -q ../hub.git ../evil && cd ../evil && git fetch -q origin $m:$m &&
	git update-ref -d $m && printf "bad \033[2J text\n" >../bad && b=$(git hash-object -w ../bad) &&
	t=$(printf "100644 blob $b\t$n\n" | git mktree) && c=$(git commit-tree -m bad $t) && git push -q -f origin $c:$m &&
	cd ../copy && gives 1 git maxkernel pull 2>../err && has "is not taken over" ../err && [ "$(git rev-parse $m)" = $was ] &&
	git maxkernel push -q; [ "$(git rev-parse $m)" = $was ]
'

test_that 'a new id is not taken without end' '
	copied && id=$(head -n 1 .git/maxkernel/log/worker) && i=0 &&
	while [ $i -lt 8 ]; do date +%s; i=$((i + 1)); done >.git/maxkernel/log/renewed && m=refs/notes/maxkernel/$s/metrics/$id &&
	c=$(git commit-tree -m aside "$m^{tree}") && git push -q -f origin $c:$m && gives 1 git maxkernel pull 2>../err &&
	has "is left alone" ../err && [ "$(head -n 1 .git/maxkernel/log/worker)" = "$id" ] && gives 1 git maxkernel push 2>../err &&
	[ "$(git ls-remote origin $m | cut -f1)" = $c ] && echo 1 >.git/maxkernel/log/renewed && git maxkernel pull 2>../err;
	has "another clone" ../err && [ "$(wc -l <.git/maxkernel/log/worker)" -eq 3 ]
'

test_that 'a new id that was taken halfway is taken whole' '
	copied && id=$(head -n 1 .git/maxkernel/log/worker) && m=refs/notes/maxkernel/$s/metrics/gone-0001 &&
	git update-ref $m refs/notes/maxkernel/$s/metrics/$id && printf "%s\ndelete %s %s\n" $id $m $(git rev-parse $m) >.git/maxkernel/log/renewing &&
	git maxkernel pull -q && gives 1 git rev-parse -q --verify $m && [ ! -e .git/maxkernel/log/renewing ] &&
	git update-ref $m refs/notes/maxkernel/$s/metrics/$id && printf "other-0001\ndelete %s %s\n" $m $(git rev-parse $m) >.git/maxkernel/log/renewing &&
	git maxkernel pull -q && git rev-parse -q --verify $m && [ ! -e .git/maxkernel/log/renewing ]
'

test_that 'nodes without a record are ours under a former id too' '
	hub 6 && s=$(the_search) && id=$(cat .git/maxkernel/log/worker) && [ "$(nodes "$s" | wc -l)" -ge 6 ] &&
	git update-ref -d "refs/notes/maxkernel/$s/metrics/$id" && git maxkernel log --json >../log &&
	[ "$(grep -c "\"pending\":true" ../log)" -ge 6 ] && printf "other-00aa\n$id\n" >.git/maxkernel/log/worker &&
	{ git maxkernel resume -q --attempts 1 >/dev/null; [ $? -le 1 ]; } && git maxkernel log --json >../log &&
	hasnt "\"pending\":true" ../log && git for-each-ref "refs/notes/maxkernel/$s/metrics/other-00aa" >../refs &&
	[ -s ../refs ]
'

test_that 'a hook that refuses: said, exit status 1, the rest stays' '
	hub && s=$(the_search) && printf "#!/bin/sh\necho not here >&2\nexit 1\n" >../hub.git/hooks/pre-receive &&
	chmod +x ../hub.git/hooks/pre-receive && git for-each-ref >../want &&
	gives 1 git maxkernel push 2>../err && has "hook declined" ../err && hasnt "maxkernel.refPrefix" ../err &&
	[ "$(grep -c "^remote: not here\$" ../err)" -eq 1 ] &&
	git for-each-ref >../got && same ../want ../got &&
	rm ../hub.git/hooks/pre-receive && git maxkernel push -q && there >../out && has "$s/spec" ../out
'

test_that 'an update hook that refuses notes: the others go' '
	hub && s=$(the_search) && printf "#!/bin/sh\ncase \$1 in refs/notes/*) exit 1;; esac\n" >../hub.git/hooks/update &&
	chmod +x ../hub.git/hooks/update && gives 1 git maxkernel push 2>../err && has "refused" ../err &&
	there >../out && has "/w/W" ../out && hasnt "refs/notes" ../out &&
	rm ../hub.git/hooks/update && git maxkernel push -q && there >../out && has "refs/notes/maxkernel/$s/plan/W" ../out
'

test_that 'a remote that takes branches alone: maxkernel.refPrefix' '
	hub && s=$(the_search) && nodes "$s" >../want &&
	printf "#!/bin/sh\ncase \$1 in refs/heads/*|refs/tags/*) ;; *) exit 1;; esac\n" >../hub.git/hooks/update &&
	chmod +x ../hub.git/hooks/update && gives 1 git maxkernel push 2>../err &&
	has "git config maxkernel.refPrefix refs/heads/maxkernel-data/" ../err &&
	git config maxkernel.refPrefix refs/heads/maxkernel-data/ && git maxkernel push -q && there >../out &&
	has "refs/heads/maxkernel-data/maxkernel/$s/w/W" ../out && has "refs/heads/maxkernel/$s/best/scripted" ../out &&
	cd .. && git clone -q hub.git b && cd b && git maxkernel pull -q && nodes "$s" >../got && same ../want ../got &&
	git maxkernel push >../out && has "there already" ../out
'

test_that 'a prefix of another name needs the setting, a bad one is refused' '
	hub && s=$(the_search) && git config remote.origin.maxkernelRefPrefix refs/heads/kernels && git maxkernel push -q &&
	there >../out && has "refs/heads/kernels/notes/maxkernel/$s/plan/W" ../out && cd .. && git clone -q hub.git b && cd b &&
	git maxkernel pull >../out && has "nothing new" ../out &&
	git -c maxkernel.refPrefix=refs/heads/kernels/ maxkernel pull >../out && has "$s" ../out &&
	gives 128 git -c maxkernel.refPrefix="refs/../x" maxkernel pull 2>../err && has "maxkernel.refPrefix" ../err &&
	gives 128 git -c maxkernel.refPrefix="refs/heads/maxkernel/" maxkernel pull 2>../err
'

test_that 'branches: none, best, beam; a bad word is refused' '
	hub && s=$(the_search) && git maxkernel push -q --branches=none && there >../out && hasnt "heads/maxkernel" ../out &&
	git config maxkernel.pushBranches beam && git maxkernel push -q && there >../out &&
	has "heads/maxkernel/$s/best/scripted" ../out && has "heads/maxkernel/$s/beam/scripted/1" ../out &&
	gives 129 git maxkernel push --branches=all 2>../err && git config maxkernel.pushBranches some &&
	gives 128 git maxkernel push 2>../err && has "maxkernel.pushBranches" ../err
'

test_that 'branches of a beam that became smaller go, those of others stay' '
	hub && s=$(the_search) && git config maxkernel.pushBranches beam && git maxkernel push -q &&
	b=refs/heads/maxkernel/$s/beam/scripted && n=$(git for-each-ref "$b" | wc -l) && [ "$n" -ge 1 ] &&
	git update-ref $b/9 $b/1 && git update-ref $b/8 $b/1 && git maxkernel push -q &&
	git update-ref -d $b/9 && git update-ref -d $b/8 &&
	git -C ../hub.git update-ref $b/8 refs/heads/main && git -C ../hub.git update-ref $b/11 refs/heads/main &&
	git -C ../hub.git update-ref $b/12 $b/1 &&
	git -C ../hub.git update-ref refs/heads/maxkernel/$s/beam/elsewhere/1 $b/1 && git maxkernel push -q --branches=best &&
	there >../out && has "beam/scripted/9" ../out && git maxkernel push -q && there >../out &&
	hasnt "beam/scripted/9" ../out && has "beam/scripted/11" ../out && has "beam/elsewhere/1" ../out &&
	has "beam/scripted/8" ../out && has "beam/scripted/12" ../out &&
	[ "$(git for-each-ref "$b" | wc -l)" -eq "$n" ] && has "beam/scripted/1" ../out &&
	cd .. && git clone -q hub.git b && cd b && git maxkernel pull -q && git -C ../hub.git update-ref $b/9 $b/1 &&
	git maxkernel push -q --branches=beam && there >../out && has "beam/scripted/9" ../out
'

test_that 'the better best stays on the remote, whoever pushes last' '
	hub 4 && s=$(the_search) && git maxkernel push -q && cd .. && git clone -q hub.git b && cd b && git maxkernel pull -q &&
	git branch -q "maxkernel/$s/best/scripted" "origin/maxkernel/$s/best/scripted" && cd ../a &&
	{ git maxkernel resume -q --attempts 24 >/dev/null; [ $? -le 1 ]; } && git maxkernel push -q &&
	git rev-parse "maxkernel/$s/best/scripted" >../want && cd ../b &&
	! git rev-parse -q --verify "$(cat ../want)^{commit}" &&
	git maxkernel push -v >../out 2>../err && has "is better and stays" ../err &&
	git -C ../hub.git rev-parse "maxkernel/$s/best/scripted" >../got && same ../want ../got
'

test_that 'a branch with commits made by hand stays, on both sides' '
	hub && s=$(the_search) && b="maxkernel/$s/best/scripted" && git maxkernel push -q && cd .. && git clone -q hub.git b && cd b &&
	git checkout -q "$b" && echo "/* by hand */" >>kernels/mix.c && git commit -qam "by hand" && git push -q origin "$b" &&
	git rev-parse HEAD >../want && cd ../a && git maxkernel push 2>../err && has "made by hand and stays" ../err &&
	git -C ../hub.git rev-parse "$b" >../got && same ../want ../got
'

test_that 'what is wrong with what comes is said, the rest is taken' '
	hub && s=$(the_search) && git maxkernel push -q && w=$(git for-each-ref --format="%(refname)" "refs/maxkernel/$s/w") &&
	echo rogue >README && git add README && t=$(git write-tree) && git rm -q --cached README &&
	n=$(printf "evil\n\nMaxkernel-Search: $s\nMaxkernel-Op: mutate\nMaxkernel-Worker: evil-0001\nMaxkernel-Proposer: x\nMaxkernel-Step: 99\n" |
		git commit-tree -p HEAD "$t") &&
	c=$(printf "maxkernel: anchor 1\n\nMaxkernel-Search: $s\nMaxkernel-Worker: evil-0001\n" |
		git commit-tree -p "$n" "$(git mktree </dev/null)") &&
	git push -q origin "$c:refs/maxkernel/$s/w/evil-0001" && cd .. && git clone -q hub.git b && cd b &&
	gives 1 git maxkernel pull >../out 2>../err && has "w/evil-0001" ../err && has "README" ../err && has "$s" ../out &&
	! git rev-parse -q --verify "refs/maxkernel/$s/w/evil-0001" && git rev-parse -q --verify "$w"
'

test_that 'another search by the same name is refused in both directions' '
	hub && s=$(the_search) && git maxkernel push -q && spec=refs/maxkernel/$s/spec &&
	c=$(git log -1 --format=%B $spec | git commit-tree -p HEAD "$spec^{tree}") && [ "$c" != "$(git rev-parse $spec)" ] ||
		{ sleep 1; c=$(git log -1 --format=%B $spec | git commit-tree -p HEAD "$spec^{tree}"); } &&
	git update-ref $spec "$c" && gives 1 git maxkernel push 2>../err && has "another search by the name" ../err &&
	gives 1 git maxkernel pull 2>../err && has "another search has that name" ../err && [ "$(git rev-parse $spec)" = "$c" ]
'

test_that 'no remote, an unknown one, an option for a remote' '
	kernel_repo r && cd r && gives 128 git maxkernel push 2>../err && has "no remote" ../err &&
	gives 128 git maxkernel pull nowhere 2>../err && has "nowhere" ../err &&
	gives 129 git maxkernel pull -- --upload-pack=x 2>../err && has "is not a remote" ../err &&
	gives 128 git maxkernel pull /does/not/exist 2>../err && has "/does/not/exist" ../err
'

test_that 'the usual remote: set, of the branch, origin, the only one' '
	hub && git init -q --bare ../x.git && git remote rename origin y && git maxkernel push >../out && has "y: " ../out &&
	git remote add x ../x.git && git maxkernel push >../out && has "y: " ../out &&
	git branch -q --unset-upstream && gives 128 git maxkernel push 2>../err && has "maxkernel.remote" ../err &&
	git config maxkernel.remote x && git maxkernel push >../out && has "x: " ../out
'

test_that 'searches are named by slug or its beginning; paths are from here' '
	hub && git maxkernel explore -q --policy greedy --seed 2 --attempts 4 >/dev/null; [ $? -le 1 ] && set -- $(the_search) &&
	git maxkernel push -q origin "$1" && there >../out && has "$1" ../out && hasnt "$2" ../out &&
	git maxkernel push -q "$2" && there >../out && has "$2" ../out && gives 128 git maxkernel push origin nosuch 2>../err &&
	has "no search" ../err && cd .. && git clone -q hub.git b && cd b && git maxkernel pull -q origin "$2" &&
	[ "$(the_search)" = "$2" ] && gives 128 git maxkernel pull origin nosuch 2>../err && has "has no search" ../err &&
	cd kernels && git maxkernel pull -q ../../hub.git && [ "$(the_search | wc -l)" -eq 2 ]
'

test_that 'what went from the remote goes from the copies, not from here' '
	hub && s=$(the_search) && git maxkernel push -q && cd .. && git clone -q hub.git b && cd b && git maxkernel pull -q &&
	git for-each-ref refs/maxkernel-remote refs/notes/remote >../got && [ "$(wc -l <../got)" -eq 4 ] &&
	git -C ../hub.git for-each-ref --format="delete %(refname)" refs/notes/maxkernel | git -C ../hub.git update-ref --stdin &&
	git maxkernel pull -q && git for-each-ref "refs/notes/remote" >../got && same /dev/null ../got &&
	git for-each-ref "refs/notes/maxkernel/$s" >../got && [ "$(wc -l <../got)" -eq 2 ]
'

# As a fetch that was cut off leaves it: the copies are there, their objects
# have no bytes.
test_that 'a fetch that the power cut off is done again' '
	hub && s=$(the_search) && git maxkernel push -q && cd .. && git clone -q "file://$PWD/hub.git" b && cd b &&
	find .git/objects -type f | sort >../before &&
	git -c fetch.unpackLimit=10000 fetch -q --no-write-fetch-head origin "+refs/maxkernel/*:refs/maxkernel-remote/origin/*" \
		"+refs/notes/maxkernel/*:refs/notes/remote/origin/maxkernel/*" &&
	find .git/objects -type f | grep -v pack | sort | comm -13 ../before - >../new && [ -s ../new ] &&
	while read -r f; do chmod u+w "$f" && : >"$f" || exit 1; done <../new &&
	gives 0 git maxkernel pull >../out 2>../err && has "fetched once more" ../err && has "$s" ../out && sound &&
	git maxkernel pull >../out && has "nothing new" ../out
'

test_that 'a remote with more searches than any has: told in few words' '
	hub && c=$(git rev-parse HEAD) && cd .. &&
	awk -v c="$c" "BEGIN { print \"# pack-refs with: peeled fully-peeled sorted \"; print c, \"refs/heads/main\"
		for (i = 100000; i < 104200; i++) print c, \"refs/maxkernel/mix-\" i \"/spec\" }" >hub.git/packed-refs &&
	rm -f hub.git/refs/heads/main && git clone -q hub.git b && cd b &&
	gives 1 git maxkernel pull >../out 2>../err && wc -l ../err && [ "$(wc -l <../err)" -lt 60 ] &&
	tail -n 3 ../err && has "more are not taken over" ../err && has "4200 searches" ../err
'

test_that 'explore --push: what it found is there, with its branch' '
	hub 4 && old=$(the_search) && git maxkernel explore -q --policy greedy --seed 3 --attempts 8 --push >/dev/null 2>../err; [ $? -le 1 ] && cat ../err &&
	s=$(the_search | grep -v "^$old\$") &&
	nodes "$s" >../want && there >../out && has "$s/spec" ../out && cd .. && git clone -q hub.git b && cd b &&
	git maxkernel pull -q && nodes "$s" >../got && same ../want ../got
'

test_that 'it pushes while it runs' '
	hub 4 && git config maxkernel.pushInterval 1 && scripted "$PWD/../slow" "default hash" "delay 60" &&
	{ git-maxkernel explore -q --policy greedy --seed 4 --attempts 400 --push >/dev/null 2>../err & pid=$!; } &&
	i=0 && while [ $i -lt 300 ] && ! there | grep -q "/w/W"; do sleep 0.1; i=$((i + 1)); done &&
	there >../out; kill $pid; wait $pid; has "/w/W" ../out && hasnt "heads/maxkernel/" ../out && cat ../err
'

test_that 'a remote that cannot be reached stops no search' '
	hub 4 && git maxkernel explore -q --policy greedy --seed 5 --attempts 4 --push=/does/not/exist >../out 2>../err; [ $? -le 1 ] &&
	[ "$(grep -c "cannot read remote" ../err)" -eq 1 ] && has "later: git maxkernel push /does/not/exist" ../err &&
	gives 128 git -c maxkernel.pushInterval=0 maxkernel explore --push --attempts 1 2>../err && has pushInterval ../err
'

test_done
