#!/bin/sh
# The hooks: what a server takes of searches, what a clone gives away, and how
# they live beside a person's own hooks.
. "$(dirname "$0")/lib.sh"

DRIVE=$BUILD/helper/store_drive
DEV=dev-avx2-t1
q="'"
export DRIVE DEV

# kernels: a repository with one kernel, in the current folder
kernels()
{
	git init -q . && mkdir kernels &&
	printf 'void k(const float *x, float *y, int n)\n{\n\t%s\n}\n' \
		'for (int i = 0; i < n; i++) y[i] = x[i];' >kernels/k.c &&
	echo read me >README &&
	cat >.maxkernel <<-\END &&
	[kernel "my-copy"]
		file = kernels/k*.c
		entry = k
		target = c
		arg = in f32 x[N]
		arg = out f32 y[N]
		arg = dim N
		time = N=1000
	END
	git add -A && git commit -q -m 'first'
}

# names: S the search, W our worker, T the tip of its chain, R the root
names()
{
	S=$(the_search) && W=$("$DRIVE" worker) && R=$(git rev-parse main) &&
	T=$(git rev-parse "refs/maxkernel/$S/w/$W")
}

# served: a clone "c" (the current folder) and a server "../s" with the check
served()
{
	mkdir c && git init -q --bare s && git -C s maxkernel hook install --server -q &&
	cd c && kernels && git remote add origin ../s && S=$("$DRIVE" create my-copy) &&
	"$DRIVE" append "$S" 8 3 >acks && names
}

# push <refspec>...
push()
{
	git push -q origin "$@" 2>push.err
}

# all: every ref of the search, by its own name
all()
{
	git for-each-ref --format='%(refname):%(refname)' refs/maxkernel/ \
		refs/notes/maxkernel/
}

# refused <reason> <refspec>...: and nothing moved
refused()
{
	refused_why=$1
	shift
	git -C ../s for-each-ref >before &&
	gives 1 push "$@" && has "$refused_why" push.err &&
	git -C ../s for-each-ref >after && same before after
}

# forged <path> <trailer worker>: an anchor over a node that changes the path
forged()
{
	(
		GIT_INDEX_FILE=$PWD/.git/forge
		export GIT_INDEX_FILE
		git read-tree "$R" &&
		git update-index --add --cacheinfo \
			"100644,$(echo x | git hash-object -w --stdin),$1" &&
		tree=$(git write-tree) && rm "$GIT_INDEX_FILE" &&
		node=$(printf 'try\n\nMaxkernel-Search: %s\nMaxkernel-Op: mutate\nMaxkernel-Worker: %s\nMaxkernel-Step: 9\n' \
			"$S" "$2" | git commit-tree "$tree" -p "$R") &&
		printf 'maxkernel: anchor 1\n\nMaxkernel-Search: %s\nMaxkernel-Worker: %s\n' \
			"$S" "$2" | git commit-tree "$(git mktree </dev/null)" -p "$node"
	)
}

# ---- the server ----

test_that 'an honest search is taken, at once or piece by piece' '
	served && push main $(all) && [ ! -s push.err ] &&
	git for-each-ref refs/maxkernel refs/notes | cut -f2 >want &&
	git -C ../s for-each-ref refs/maxkernel refs/notes | cut -f2 >got &&
	same want got && [ "$(wc -l <got)" -eq 5 ] &&
	"$DRIVE" append "$S" 8 3 >acks && push $(all) && [ ! -s push.err ] &&
	git -C ../s fsck --strict --no-dangling >fsck 2>&1 && [ ! -s fsck ]
'

test_that 'so are greedy and beam searches, crossovers and human nodes' '
	mkdir c && git init -q --bare s && git -C s maxkernel hook install --server -q &&
	kernel_repo r && cd r && git remote add origin ../s &&
	scripted ../table "default faster 1.2" "confirm confirmed 1.2" &&
	for p in greedy beam; do
		git maxkernel explore -q --policy $p --attempts 8 mix >/dev/null 2>&1
	done
	[ "$(git for-each-ref "refs/maxkernel/*/spec" | wc -l)" -eq 2 ] &&
	b=$(git for-each-ref --format="%(refname:short)" refs/heads/maxkernel |
		head -n 1) && [ -n "$b" ] && git checkout -q "$b" &&
	echo "/* by hand */" >>kernels/mix.c && git commit -q -am "by hand" &&
	git checkout -q main &&
	git maxkernel explore -q --policy beam --attempts 12 mix >/dev/null 2>&1
	push $(all) "refs/heads/*:refs/heads/*" && [ ! -s push.err ]
'

test_that 'a search without its spec is refused, with what to push' '
	served && refused "has no spec here" "$T:refs/maxkernel/$S/w/$W" &&
	has "refs/maxkernel/$S/spec" push.err &&
	push "refs/maxkernel/$S/spec:refs/maxkernel/$S/spec" &&
	push "$T:refs/maxkernel/$S/w/$W"
'

test_that 'what breaks a rule is refused with its ref and the reason' '
	served && push "refs/maxkernel/$S/spec:refs/maxkernel/$S/spec" &&
	own=refs/maxkernel/$S/w/evil-0001 &&
	refused "refused $own: node" "$(forged README evil-0001):$own" &&
	has "changes a file that is not the kernel" push.err &&
	refused "refused $own: anchor" "$(forged kernels/k.c good-0001):$own" &&
	refused "is not an anchor" "main:$own" &&
	refused "no such ref" "main:refs/maxkernel/$S/thing" &&
	refused "no search has a ref" "main:refs/maxkernel/NO/w/x" &&
	refused "no search has a ref" "main:refs/notes/maxkernel/plan" &&
	refused "is no note" "main:refs/notes/maxkernel/$S/plan/evil-0001" &&
	refused "is no spec" "main:refs/maxkernel/other-aaaaaa/spec" &&
	refused "holds files" "main:refs/maxkernel/$S/lease/a"
'

test_that 'one bad ref refuses the push, the rest being told' '
	served && push "refs/maxkernel/$S/spec:refs/maxkernel/$S/spec" &&
	own=refs/maxkernel/$S/w/evil-0001 &&
	refused "refused $own" main "$(forged README evil-0001):$own" \
		"$T:refs/maxkernel/$S/w/$W" && hasnt "refused refs/maxkernel/$S/w/$W" push.err &&
	push main "$T:refs/maxkernel/$S/w/$W"
'

test_that 'the spec is written once and a chain goes forward, with force too' '
	served && push $(all) && b=$(git show "refs/maxkernel/$S/spec:spec" |
		sed s/greedy/beam/ | git hash-object -w --stdin) &&
	other=$(printf "100644 blob %s\tspec\n" "$b" | git mktree) &&
	other=$(git commit-tree -m x "$other" -p "$R") &&
	refused "is written once" "+$other:refs/maxkernel/$S/spec" &&
	refused "does not go forward" "+$T~1:refs/maxkernel/$S/w/$W" &&
	n=refs/notes/maxkernel/$S/metrics/$W &&
	refused "does not go forward" "+$n~1:$n"
'

test_that 'the rest of a push is none of its business' '
	served && git tag -a -m t v1 && git checkout -q --orphan other &&
	git commit -q -m other && git update-ref refs/notes/commits main &&
	push main other v1 refs/notes/commits main:refs/heads/maxkernel/mine \
		"main:refs/heads/maxkernel/$S/best/x" main:refs/other/maxkernel &&
	[ ! -s push.err ] && push :other ":refs/heads/maxkernel/$S/best/x"
'

test_that 'parts of a search are deleted only where that is allowed' '
	served && push main $(all) &&
	own=refs/maxkernel/$S/w/$W spec=refs/maxkernel/$S/spec &&
	refused "maxkernel.allowPrune" ":$own" && refused "$spec" ":$spec" &&
	refused "not deleted here" ":refs/notes/maxkernel/$S/plan/$W" &&
	git -C ../s config maxkernel.allowPrune true &&
	push ":$own" ":$spec" && git -C ../s for-each-ref refs/maxkernel >got &&
	[ ! -s got ]
'

test_that 'leases come and go' '
	served && push "refs/maxkernel/$S/spec:refs/maxkernel/$S/spec" &&
	l=refs/maxkernel/$S/lease/r1 &&
	lease() { printf "{\"w\":\"%s\",\"key\":\"r1\",\"nonce\":\"%s\",\"ttl\":60}" \
		"$W" "$1" | git commit-tree "$(git mktree </dev/null)"; } &&
	push "$(lease a):$l" && push "+$(lease b):$l" &&
	refused "holds files" "+$(echo x | git commit-tree main^{tree}):$l" &&
	push ":$l" && [ ! -s push.err ]
'

test_that 'a prefix that the server has set is known to its check' '
	served && git -C ../s config maxkernel.refPrefix refs/heads/data/ &&
	p=refs/heads/data/maxkernel/$S && own=$p/w/evil-0001 &&
	push "refs/maxkernel/$S/spec:$p/spec" "$T:$p/w/$W" &&
	refused "refused $own" "$(forged README evil-0001):$own"
'

test_that 'a server that searches cannot live in takes other pushes' '
	mkdir c && cd c && kernels && git commit -q --allow-empty -m second && cd .. &&
	git clone -q --bare --depth 1 "file://$PWD/c" s &&
	git init -q --bare t && git -C t maxkernel hook install --server -q &&
	cp t/hooks/pre-receive s/hooks/ && cd c && git remote add origin ../s &&
	S=$("$DRIVE" create my-copy) && push main:other && [ ! -s push.err ] &&
	gives 1 push "refs/maxkernel/$S/spec:refs/maxkernel/$S/spec" &&
	has "shallow" push.err
'

# ---- beside other hooks ----

# mine <file> <status>: a hook that keeps what it was given
mine()
{
	printf '#!/bin/sh\ncat >"%s"\necho "$@" >"%s.args"\nexit %s\n' \
		"$PWD/seen" "$PWD/seen" "$2" >"$1" && chmod +x "$1"
}

test_that 'a hook that was there is kept, and called first with all it needs' '
	git init -q --bare s && mine s/hooks/pre-receive 0 &&
	cp s/hooks/pre-receive was && (cd s && git maxkernel hook install --server 2>../said) &&
	has "is called first" said && same was s/hooks/pre-receive.maxkernel-chained &&
	mkdir c && cd c && kernels && git remote add origin ../s &&
	push main && has "refs/heads/main" ../seen && [ "$(wc -l <../seen)" -eq 1 ] &&
	mine ../s/hooks/pre-receive.maxkernel-chained 3 && gives 1 push main:more &&
	cd ../s && git maxkernel hook remove -q && [ ! -e hooks/pre-receive.maxkernel-chained ] &&
	has "exit 3" hooks/pre-receive && gives 1 git maxkernel hook remove
'

test_that 'installing again changes nothing but the path; two of others need --force' '
	git init -q --bare s && cd s && mine hooks/pre-receive 0 && cp hooks/pre-receive ../was &&
	git maxkernel hook install --server -q && cp hooks/pre-receive ../one &&
	git maxkernel hook install --server -q && same ../one hooks/pre-receive &&
	same ../was hooks/pre-receive.maxkernel-chained &&
	mine hooks/pre-receive 4 && gives 129 git maxkernel hook install --server 2>../err &&
	has "with --force" ../err && has "exit 4" hooks/pre-receive &&
	git maxkernel hook install --server --force -q &&
	has "exit 4" hooks/pre-receive.maxkernel-chained && same ../one hooks/pre-receive
'

test_that 'core.hooksPath is where it goes' '
	git init -q --bare s && git -C s config core.hooksPath my/hooks &&
	(cd s && git maxkernel hook install --server -q) && [ -x s/my/hooks/pre-receive ] &&
	[ ! -e s/hooks/pre-receive ] && mkdir c && cd c && kernels &&
	git remote add origin ../s && gives 1 push main:refs/maxkernel/a/w/b &&
	has "no spec here" push.err &&
	git config core.hooksPath .hooks && mkdir sub && cd sub &&
	git maxkernel hook install -q && [ -x ../.hooks/pre-push ]
'

test_that 'without the program only what concerns it is refused, saying so' '
	served && "$BUILD/bin/git-maxkernel" version >/dev/null &&
	sed "s,^program=.*,program=/nowhere/git-maxkernel," ../s/hooks/pre-receive >x &&
	cat x >../s/hooks/pre-receive && push main && [ ! -s push.err ] &&
	refused "/nowhere/git-maxkernel${q-}" $(all) && has "is gone" push.err
'

test_that 'it needs no PATH, and a path with odd characters' '
	odd="$PWD/it${q-}s \$HOME \"here\"" && mkdir "$odd" &&
	cp "$BUILD/bin/git-maxkernel" "$odd/" && git init -q --bare s &&
	(cd s && "$odd/git-maxkernel" hook install --server -q) &&
	mkdir c && cd c && kernels && git remote add origin ../s &&
	plain=$(dirname "$(command -v git)"):/usr/bin:/bin &&
	PATH=$plain push main && gives 1 env PATH="$plain" git push -q origin \
		main:refs/maxkernel/a/w/b 2>err && has "no spec here" err
'

test_that 'where it does not belong it is not put' '
	git init -q w && cd w && gives 129 git maxkernel hook install --server 2>err &&
	has "not bare" err && [ ! -e .git/hooks/pre-receive ] &&
	git maxkernel hook install --server --force -q && [ -x .git/hooks/pre-receive ] &&
	git init -q --bare ../b && cd ../b && gives 129 git maxkernel hook install 2>err &&
	has "with --server" err && [ ! -e hooks/pre-push ]
'

test_that 'wrong words and input end with what is wrong' '
	make_repo r && cd r && gives 129 git maxkernel hook 2>err && has "hook -h" err &&
	gives 129 git maxkernel hook make 2>err && has "neither install" err &&
	gives 129 git maxkernel hook run post-merge 2>err && has "no hook of ours" err &&
	gives 129 git maxkernel hook remove --server 2>err &&
	for line in x "a b c" "$(git rev-parse HEAD) x refs/heads/y" \
			"$(git rev-parse HEAD) $(git rev-parse HEAD) a b"; do
		echo "$line" | gives 128 git maxkernel hook run pre-receive 2>err &&
		has "input is not" err || exit 1
	done &&
	printf "a b c d\n" | gives 128 git maxkernel hook run pre-push o u 2>err &&
	: | gives 0 git maxkernel hook run pre-push o u
'

# ---- the clone ----

# landed: a search with a landing branch B of the node N, and the hook
landed()
{
	git init -q --bare s && mkdir c && cd c && kernels && git remote add origin ../s &&
	S=$("$DRIVE" create my-copy) && "$DRIVE" append "$S" 6 2 >acks && names &&
	N=$("$DRIVE" load "$S" "$DEV" | awk '$2 == 6 { print $3 }') &&
	B=maxkernel/$S/best/$DEV && "$DRIVE" land "$S" "best/$DEV" "$N" "faster" &&
	git maxkernel hook install -q
}

test_that 'a landing branch without a confirmation of this clone stays here' '
	landed && git for-each-ref refs/heads &&
	gives 1 push "$B" && has "refused refs/heads/$B" push.err &&
	has "git maxkernel verify $(echo "$N" | cut -c1-12)" push.err &&
	gives 1 push "$B:main" && push --no-verify "$B" && push main
'

test_that 'a claim of somebody else is no confirmation, our own is' '
	landed && "$DRIVE" measure "$S" "$N" confirmed 1.5 &&
	n=refs/notes/maxkernel/$S/metrics && git update-ref "$n/other-beef" "$n/$W" &&
	git update-ref -d "$n/$W" && gives 1 push "$B" && has "never" push.err &&
	"$DRIVE" measure "$S" "$N" confirmed 1.5 && push "$B" && [ ! -s push.err ]
'

test_that 'one that was taken back counts no more' '
	landed && "$DRIVE" measure "$S" "$N" confirmed 1.5 &&
	"$DRIVE" measure "$S" "$N" slower 0.9 && gives 1 push "$B" &&
	"$DRIVE" measure "$S" "$N" confirmed 1.5 && push "$B"
'

test_that 'all else passes untouched' '
	landed && git commit -q --allow-empty -m "talks of Maxkernel-Node: x" &&
	git tag -a -m t v1 "$B" && push main main:more v1 $(all) && push :more &&
	[ ! -s push.err ]
'

test_that 'a landing commit of a search that is not here says how to get it' '
	landed && git clone -q . ../d && git fetch -q . && cd ../d &&
	git fetch -q ../c "refs/heads/$B:refs/heads/theirs" &&
	git remote set-url origin ../s && git maxkernel hook install -q &&
	gives 1 push theirs && has "not in this clone" push.err && push main
'

test_done
