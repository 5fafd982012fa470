#!/bin/sh
# git maxkernel pick: one clean commit, by git cherry-pick, or nothing at all.
. "$(dirname "$0")/lib.sh"

# explored <dir>: a repository with a search that has a champion; searched
# once, then copied
explored()
{
	scripted "$SCRATCH/table" "default hash" && {
		[ -d "$SCRATCH/explored" ] || (
			cd "$SCRATCH" && kernel_repo explored && cd explored &&
			git tag base &&
			git maxkernel explore -q --attempts 30 >/dev/null
		)
	} && cp -a "$SCRATCH/explored" "$1" && cd "$1"
}

best()
{
	git maxkernel best --json mix |
		perl -MJSON::PP -ne 'print decode_json($_)->{node}'
}

# An unconfirmed node with a time.
slower()
{
	git maxkernel log --json | perl -MJSON::PP -ne 'my $o = decode_json($_);
		if ($o->{verdict} && $o->{verdict} eq "slower") {
			print $o->{node}; exit }'
}

test_that 'pick puts the champion on the branch, as one commit' '
	explored r && n=$(best) && git maxkernel pick >../out &&
	[ "$(git rev-list --count base..HEAD)" = 1 ] &&
	git diff --exit-code "$n" HEAD -- kernels &&
	[ "$(git diff --name-only base HEAD)" = kernels/mix.c ] &&
	git status --porcelain >../st && [ ! -s ../st ] &&
	git log -1 --format=%B >../message &&
	has "x faster (" ../message && has "Maxkernel-Node: $n" ../message &&
	has "Maxkernel-Search: $(the_search)" ../message &&
	has "- host: " ../message && has "- device: scripted" ../message &&
	has "git maxkernel verify" ../message && has "| shape |" ../message &&
	[ "$(git log -1 --format=%s | wc -c)" -le 73 ] &&
	git log -1 --format=%B | git interpret-trailers --parse >../trailers &&
	has "Maxkernel-Node: $n" ../trailers
'

test_that 'no ref is left behind' '
	explored r && git for-each-ref >../before &&
	git maxkernel pick >../out && git for-each-ref >../after &&
	grep -v refs/heads/main ../before >../b &&
	grep -v refs/heads/main ../after >../a && same ../b ../a &&
	git fsck --strict --no-dangling
'

test_that 'plain cherry-pick of the branch gives the same' '
	explored r && git branch other && git maxkernel pick mix@best >../out &&
	git checkout -q other &&
	git cherry-pick "maxkernel/$(the_search)/best/scripted" >../out &&
	git diff --exit-code main other &&
	git log -1 --format=%B main >../a && git log -1 --format=%B other >../b &&
	same ../a ../b
'

test_that 'picked already: 1, and nothing happens' '
	explored r && git maxkernel pick -q >../out && git rev-parse HEAD >../before &&
	gives 1 git maxkernel pick 2>../err && has "nothing to pick" ../err &&
	gives 1 git maxkernel pick mix@best 2>../err && has "already" ../err &&
	git rev-parse HEAD >../after && same ../before ../after &&
	[ ! -e .git/CHERRY_PICK_HEAD ]
'

test_that 'what was picked names its node' '
	explored r && n=$(best) && git maxkernel pick >../out &&
	git maxkernel show HEAD >../shown && has "node $n" ../shown
'

test_that 'an unconfirmed node needs --force, and says so in its subject' '
	explored r && n=$(slower) && [ -n "$n" ] &&
	gives 128 git maxkernel pick "$n" 2>../err &&
	has "not confirmed" ../err && has "--force" ../err &&
	[ "$(git rev-parse HEAD)" = "$(git rev-parse base)" ] &&
	git maxkernel pick --force "$n" >../out &&
	git log -1 --format=%s >../subject && has "not confirmed" ../subject &&
	git diff --exit-code "$n" HEAD -- kernels
'

test_that 'the root cannot be picked' '
	explored r && gives 129 git maxkernel pick mix@root 2>../err &&
	has "root" ../err
'

test_that 'onto a branch that moved on' '
	explored r && n=$(best) && echo 1 >README && git add README &&
	git commit -qm readme && git maxkernel pick >../out &&
	[ "$(git diff --name-only HEAD^)" = kernels/mix.c ] && [ -e README ]
'

test_that 'a dirty file in the way: as git says it, nothing changed' '
	explored r && echo "/* mine */" >>kernels/mix.c && cp kernels/mix.c ../mine &&
	gives 128 git maxkernel pick 2>../err && has "overwritten" ../err &&
	same ../mine kernels/mix.c &&
	[ "$(git rev-parse HEAD)" = "$(git rev-parse base)" ] &&
	[ ! -e .git/CHERRY_PICK_HEAD ]
'

test_that 'a dirty file elsewhere is no hindrance' '
	explored r && echo "/* mine */" >>kernels/util.h &&
	git maxkernel pick >../out && git diff --name-only >../dirty &&
	has kernels/util.h ../dirty &&
	[ "$(git diff --name-only base HEAD)" = kernels/mix.c ]
'

test_that 'a conflict is reported by git, and can be gone on with' '
	explored r && n=$(best) && echo >kernels/mix.c "int other;" &&
	git commit -qam other && gives 1 git maxkernel pick mix@best >../out 2>&1 &&
	has CONFLICT ../out && [ -e .git/CHERRY_PICK_HEAD ] &&
	git checkout -q "$n" -- kernels/mix.c &&
	git -c core.editor=true cherry-pick --continue &&
	git log -1 --format=%B >../message && has "Maxkernel-Node: $n" ../message &&
	has "| shape |" ../message
'

test_that 'hooks, sign-off and -n' '
	explored r && echo "#!/bin/sh" >.git/hooks/prepare-commit-msg &&
	echo "echo hooked >>../hooked" >>.git/hooks/prepare-commit-msg &&
	chmod +x .git/hooks/prepare-commit-msg &&
	git maxkernel pick -s >../out && git log -1 --format=%B >../message &&
	has "Signed-off-by: C O Mitter" ../message && has hooked ../hooked &&
	git reset -q --hard base && git maxkernel pick -n >../out &&
	[ "$(git rev-parse HEAD)" = "$(git rev-parse base)" ] &&
	[ "$(git diff --cached --name-only)" = kernels/mix.c ]
'

test_that '--simplest takes a shorter change that is nearly as good' '
	explored r && n=$(best) && git maxkernel pick --simplest >../out &&
	git log -1 --format=%B >../message && has "Maxkernel-Node: " ../message &&
	has "x faster" ../message
'

test_that 'several kernels with a champion: lists them, 129' '
	kernel_repo r && cd r && sed "s/mix/blend/g" kernels/mix.c >kernels/blend.c &&
	sed "s/mix/blend/g" .maxkernel >more && cat more >>.maxkernel && rm more &&
	git add . && git commit -qm two && git tag base &&
	scripted "$PWD/../t" "default hash" &&
	git maxkernel explore -q --attempts 60 >../out &&
	gives 129 git maxkernel pick 2>../err && has "mix@best" ../err &&
	has "blend@best" ../err &&
	[ "$(git rev-parse HEAD)" = "$(git rev-parse base)" ] &&
	git maxkernel pick blend@best >../out &&
	[ "$(git diff --name-only base HEAD)" = kernels/blend.c ] &&
	git maxkernel pick >../out &&
	git diff --name-only HEAD^ >../names && echo kernels/mix.c >../want &&
	same ../want ../names
'

test_that 'numbers of another worker are measured here first' '
	explored r && w=$(cat .git/maxkernel/log/worker) && n=$(best) &&
	echo "other-0000" >.git/maxkernel/log/worker &&
	git maxkernel pick "$n" >../out 2>../err &&
	has "measured elsewhere" ../err && has "confirmed" ../out &&
	[ "$(git rev-list --count base..HEAD)" = 1 ] &&
	git reset -q --hard base && echo "third-0000" >.git/maxkernel/log/worker &&
	git maxkernel pick --no-verify "$n" >../out 2>../err &&
	has "claim of worker other-0000" ../err
'

test_that 'nothing to pick' '
	kernel_repo r && cd r && gives 1 git maxkernel pick 2>../err &&
	has "nothing to pick" ../err &&
	gives 128 git maxkernel pick nothing 2>../err
'

test_that 'usage' '
	kernel_repo r && cd r && gives 129 git maxkernel pick -h >../out &&
	gives 129 git maxkernel pick --foo && gives 129 git maxkernel pick a b &&
	git init -q --bare ../b && cd ../b &&
	gives 128 git maxkernel pick 2>../err && has "work tree" ../err
'

test_done
