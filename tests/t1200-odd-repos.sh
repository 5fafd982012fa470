#!/bin/sh
# Repositories that are not the plain kind: each works, or ends in a clear
# error with every ref where it was; never half a search.
. "$(dirname "$0")/lib.sh"

q="'"

refs()
{
	git for-each-ref
	git symbolic-ref -q HEAD || git rev-parse HEAD
}

fsck()
{
	git fsck --strict --no-dangling >"$SCRATCH/fsck" 2>&1 && [ ! -s "$SCRATCH/fsck" ] &&
		return
	cat "$SCRATCH/fsck"
	return 1
}

# refused <text> <argument>...: it fails, says so, and no ref moves
refused()
{
	refused_text=$1
	shift
	refs >"$SCRATCH/refs" 2>&1
	gives 128 "$@" >"$SCRATCH/out" 2>"$SCRATCH/err" && has "$refused_text" "$SCRATCH/err" &&
		[ "$(wc -l <"$SCRATCH/err")" -le 6 ] &&
		refs 2>&1 | same "$SCRATCH/refs" -
}

# works [<dir>]: a search there, read, gone on with, landed, pruned; clean
works()
{
	scripted "$SCRATCH/table" "default hash" &&
	git maxkernel explore -q --policy beam --attempts 24 >"$SCRATCH/out" &&
	has confirmed "$(git maxkernel best --json >"$SCRATCH/best"; echo "$SCRATCH/best")" &&
	s=$(the_search | head -n 1) &&
	git maxkernel resume -q --attempts 8 "$s" >"$SCRATCH/out" &&
	git maxkernel status "$s" >"$SCRATCH/out" && git maxkernel show mix@best >"$SCRATCH/out" &&
	git rev-parse -q --verify "maxkernel/$s/best/scripted" >"$SCRATCH/out" &&
	git maxkernel prune -q -y --losers "$s" >"$SCRATCH/out" &&
	git maxkernel status "$s" >"$SCRATCH/out" && fsck
}

gone()
{
	git maxkernel prune -q -y "$s" >"$SCRATCH/out" && git for-each-ref | hasnt maxkernel /dev/stdin
}

test_that 'sha256 objects: a clear error' '
	git init -q --object-format=sha256 r && cd r && git commit -q --allow-empty -m x &&
	for c in "explore" "status" "prune -y x" "push" "pull"; do
		refused "sha256" git maxkernel $c || exit 1
	done && [ ! -e .git/maxkernel ]
'

test_that 'a shallow clone: a clear error, and --unshallow is the way out' '
	kernel_repo r && (cd r && git commit -q --allow-empty -m two) &&
	git clone -q --depth 1 "file://$PWD/r" q && cd q &&
	for c in explore status "prune -y x"; do
		refused "git fetch --unshallow" git maxkernel $c || exit 1
	done && [ ! -e .git/maxkernel ] && git fetch -q --unshallow && works && gone
'

test_that 'a partial clone works: what is missing is fetched by git' '
	kernel_repo r && git -C r config uploadpack.allowFilter true &&
	(cd r && echo >>kernels/mix.c && git commit -qam two && git tag old HEAD^) &&
	git clone -q --filter=blob:none "file://$PWD/r" q && cd q &&
	git config remote.origin.promisor true && works && gone &&
	git checkout -q --detach old && works
'

test_that 'a partial clone whose kernel is not here: error or fetched, no half state' '
	kernel_repo r && git -C r config uploadpack.allowFilter true &&
	git clone -q --no-checkout --filter=blob:none "file://$PWD/r" q && cd q &&
	git reset -q --mixed && git cat-file blob HEAD:.maxkernel >.maxkernel &&
	refs >../before && scripted "$SCRATCH/table" "default hash" &&
	git maxkernel explore -q --attempts 4 >out 2>err; got=$?
	case $got in
	0 | 1) fsck ;;
	128) [ -s err ] && refs | same ../before - ;;
	*) cat err; exit 1 ;;
	esac
'

test_that 'a sparse checkout with extensions.worktreeConfig works' '
	kernel_repo r && cd r && mkdir other && echo x >other/x && git add . && git commit -qm other &&
	git sparse-checkout set --cone kernels && [ ! -e other ] &&
	[ "$(git config extensions.worktreeConfig)" = true ] &&
	git status --porcelain >../before && works && git status --porcelain | same ../before - && gone
'

test_that 'a sparse checkout without the kernel works from HEAD' '
	kernel_repo r && cd r && mkdir other && echo x >other/x && git add . && git commit -qm other &&
	git sparse-checkout set --cone other && [ ! -e kernels ] && works
'

test_that 'submodules of the user stay as they are' '
	kernel_repo sub && kernel_repo r && cd r &&
	git -c protocol.file.allow=always submodule --quiet add ../sub lib && git commit -qm sub &&
	git submodule status >../before && works && git submodule status | same ../before - &&
	git status --porcelain | same /dev/null - &&
	git ls-tree "maxkernel/$s/best/scripted" lib | has 160000 /dev/stdin && gone
'

test_that 'a linked work tree uses the one store, and HEAD is its own' '
	kernel_repo r && git -C r worktree add -q ../tree -b side && cd tree &&
	echo >>kernels/util.h && git commit -qam side && works && git -C ../r status --porcelain | same /dev/null - &&
	[ "$(git rev-parse "refs/maxkernel/$s/spec^")" = "$(git rev-parse side)" ] &&
	[ -e ../r/.git/maxkernel/log/worker ] && ! find ../r/.git/worktrees -name "maxkernel*" | grep . &&
	git -C ../r maxkernel status "$s" >out && gone
'

test_that 'two work trees search at once in one store' '
	kernel_repo r && git -C r worktree add -q ../tree -b side &&
	(cd tree && echo >>kernels/util.h && git commit -qam side) &&
	scripted "$SCRATCH/slow" "default hash" "delay 2" &&
	for d in r tree; do
		(cd $d && git maxkernel explore -q --attempts 16 >/dev/null || echo $d >>../failed) &
	done; wait
	[ ! -e failed ] && cd r && [ "$(the_search | wc -l)" -eq 2 ] &&
	for s in $(the_search); do
		[ "$(nodes "$s" | wc -l)" -ge 16 ] || exit 1
	done && [ "$(git for-each-ref --format="%(refname)" "refs/maxkernel/*/w/*" | sed "s,.*/,," | sort -u | wc -l)" -eq 1 ] && fsck
'

test_that 'a landing branch checked out in another work tree stays' '
	kernel_repo r && cd r && works && git worktree add -q ../tree "maxkernel/$s/best/scripted" &&
	git maxkernel prune -y "$s" >../out 2>../err && has "is checked out" ../err &&
	git -C ../tree status --porcelain | same /dev/null - && git rev-parse -q --verify "maxkernel/$s/best/scripted"
'

test_that 'a bare repository reads, prunes, and refuses what needs files' '
	kernel_repo r && (cd r && works) && git clone -q --mirror r bare.git && cd bare.git && s=$(the_search) &&
	scripted "$SCRATCH/table" "default hash" && git maxkernel status "$s" && git maxkernel log "$s" >out &&
	git maxkernel show mix@best >out && refs >../before &&
	{ git maxkernel pick mix@best 2>../err && exit 1; [ $? -eq 128 ] || exit 1; } && has "bare" ../err && refs | same ../before - &&
	git maxkernel prune -q -y "$s" && git for-each-ref | hasnt maxkernel /dev/stdin && fsck
'

test_that 'an unborn branch: a clear error' '
	git init -q r && cd r && kernel_repo ../k && cp ../k/.maxkernel . && cp -R ../k/kernels . &&
	refused "no commit yet" git maxkernel explore && git maxkernel status &&
	[ -z "$(git for-each-ref)" ]
'

test_that 'a detached HEAD works' '
	kernel_repo r && cd r && git checkout -q --detach && works && ! git symbolic-ref -q HEAD && gone
'

test_that 'a clone with alternates works and writes to its own objects' '
	kernel_repo r && git clone -q --shared r q && find r/.git/objects -type f | sort >before &&
	(cd q && works && gone) && find r/.git/objects -type f | sort | same before -
'

test_that 'hooks of the user do not run, those of a shared hooksPath neither' '
	kernel_repo r && cd r && mkdir ../hooks &&
	for h in reference-transaction post-commit pre-commit commit-msg post-checkout; do
		printf "#!/bin/sh\necho $h >>%s\n" "$PWD/../ran" >../hooks/$h && chmod +x ../hooks/$h || exit 1
	done && git config core.hooksPath ../hooks && works && rm -f ../seen &&
	{ [ ! -e ../ran ] || ! grep -v reference-transaction ../ran; }
'

test_that 'a hook that forbids a deletion is heeded, and nothing is lost' '
	kernel_repo r && cd r && works && refs >../before &&
	printf "#!/bin/sh\n[ \"\$1\" != prepared ] || exit 1\n" >.git/hooks/reference-transaction &&
	chmod +x .git/hooks/reference-transaction &&
	gives 128 git maxkernel prune -y "$s" 2>../err && has "hook" ../err && refs | same ../before - &&
	rm .git/hooks/reference-transaction && gone
'

test_that 'core.sharedRepository: what is written can be written by the group' '
	umask 077 && kernel_repo r && cd r && git config core.sharedRepository group && works &&
	n=$(git rev-parse "refs/maxkernel/$s/w/$(cat .git/maxkernel/log/worker)") &&
	f=$(echo ".git/objects/$n" | sed "s,objects/..,&/,") &&
	find "$f" -perm -g+r | grep -q . && find "$(dirname "$f")" -maxdepth 0 -perm -g+w | grep -q . &&
	find ".git/refs/maxkernel/$s" -type f ! -perm -g+rw | same /dev/null - &&
	find ".git/refs/maxkernel/$s" -type d ! -perm -g+w | same /dev/null - &&
	kernel_repo ../own && cd ../own && works && find .git/refs -type f -perm /077 | same /dev/null -
'

test_that 'a repository that is not a git repository' '
	mkdir r && cd r && GIT_CEILING_DIRECTORIES=$PWD/.. && export GIT_CEILING_DIRECTORIES &&
	gives 128 git maxkernel status 2>err && has "not a git repository" err &&
	mkdir .git && gives 128 git maxkernel status 2>err && has "not a git repository" err
'

test_that 'an unknown extension or format is named' '
	kernel_repo r && cd r && git config core.repositoryFormatVersion 1 && git config extensions.nonesuch true &&
	gives 128 git maxkernel status 2>err && has "nonesuch" err && [ ! -e .git/maxkernel ] &&
	git config --unset extensions.nonesuch 2>/dev/null; kernel_repo q && cd q &&
	git config core.repositoryFormatVersion 1 && git config extensions.refStorage reftable &&
	gives 128 git-maxkernel status 2>err && grep -iE "refstorage|reftable" err
'

test_that 'a search that lost an object is named, the others work' '
	kernel_repo r && cd r && works && a=$s && git maxkernel explore -q --attempts 4 --seed 9 >/dev/null &&
	o=$(git rev-parse "refs/maxkernel/$a/spec") && rm -f ".git/objects/$(echo "$o" | sed "s,..,&/,")" &&
	git maxkernel status >out 2>err && has "$a" err && hasnt "$a" out && [ "$(grep -c mix out)" -ge 1 ]
'

# ---- as an ordinary user ----

if [ "$(id -u)" -eq 0 ] && setpriv --reuid 65534 --regid 65534 --clear-groups true 2>/dev/null; then
	chmod 755 "$SCRATCH"
	cp -R "$BUILD/bin" "$SCRATCH/bin"
	user() { setpriv --reuid 65534 --regid 65534 --clear-groups env HOME="$SCRATCH/nobody" "$@"; }
	mkdir "$SCRATCH/nobody" && cp "$HOME/.gitconfig" "$SCRATCH/nobody/" && chown -R 65534:65534 "$SCRATCH/nobody"
	own() { chown -R 65534:65534 "$@"; }
	foreign=yes
elif [ "$(id -u)" -ne 0 ]; then
	user() { "$@"; }
	own() { :; }
	foreign=
else
	user=none foreign=
fi
# the program where that user can reach it
[ ! -d "$SCRATCH/bin" ] || PATH=$SCRATCH/bin:$PATH

if [ "${user-}" = none ]; then
	test_skip 'permissions' 'root, and no setpriv'
	test_done
fi

# written: a repository of that user with a search, in it
written()
{
	kernel_repo r && scripted "$PWD/table" "default hash" && (cd r && works) &&
	own r && chmod 755 . && s=$(cd r && git -c safe.directory="*" for-each-ref --format="%(refname)" "refs/maxkernel/*/spec" |
		sed "s,refs/maxkernel/,,; s,/spec,,") && cd r
}

if [ -n "$foreign" ]; then
test_that 'safe.directory: a repository of another user is refused, and how to trust it' '
	kernel_repo r && chown -R 1:1 r && cd r &&
	gives 128 user git maxkernel status 2>../err && has "safe.directory" ../err && [ ! -e .git/maxkernel ] &&
	user git config --global --add safe.directory "$PWD" && user git maxkernel status &&
	{ user git config --global --unset-all safe.directory; chmod -R a+rX .; }
'
else
test_skip 'safe.directory' 'needs root and setpriv'
fi

test_that 'a read-only repository is read, and what writes is refused' '
	written && find .git -type d -exec chmod a-w {} + && chmod a-w . &&
	user git maxkernel status >../out && user git maxkernel log "$s" >../out && user git maxkernel show mix@best >../out &&
	for c in "explore -q --seed 4 --attempts 4" "resume -q --attempts 4 $s" "prune -q -y $s" "prune -q -y --losers --depth 1 $s"; do
		git -c safe.directory="*" for-each-ref >../before
		user git maxkernel $c >../out 2>../err
		case $? in
		128) grep -E "[Pp]ermission denied|read-only|cannot" ../err || { cat ../err; exit 1; } ;;
		0) case $c in prune*losers*) ;; *) echo "$c went through"; exit 1 ;; esac ;;
		*) echo "$c: status"; cat ../err; exit 1 ;;
		esac
		git -c safe.directory="*" for-each-ref | same ../before - || exit 1
	done; r=$?; chmod -R u+w . ; exit $r
'

test_that 'a read-only repository without a worker id is read, nothing is ours, nothing written' '
	written && rm -rf .git/maxkernel && find .git -type d -exec chmod a-w {} + &&
	git -c safe.directory="*" for-each-ref >../before && r=0 &&
	for c in "status" "status $s" "log $s" "best" "best --json" "show mix@best" "graph $s" "frontier" "diff mix@best"; do
		user git maxkernel $c >../out 2>../err || { r=1; echo "$c"; cat ../err; }
		same /dev/null ../err || r=1
	done &&
	user git maxkernel show --json mix@best >../out && has "\"trust\":\"claimed\"" ../out || r=1
	for c in "explore -q --seed 4 --attempts 4" "resume -q --attempts 4 $s" "prune -q -y $s" "verify mix@best" "merge $s $s"; do
		user git maxkernel $c >../out 2>../err && { r=1; echo "$c went through"; }
	done
	user git maxkernel explore -q --seed 4 --attempts 4 2>../err; has "ermission denied" ../err || r=1
	chmod -R u+w .; [ ! -e .git/maxkernel ] && git -c safe.directory="*" for-each-ref | same ../before - && exit $r
'

test_that 'permission denied on .git/maxkernel is said' '
	written && chmod 000 .git/maxkernel && git -c safe.directory="*" for-each-ref >../before &&
	for c in "explore -q --seed 4 --attempts 4" "prune -q -y $s"; do
		user git maxkernel $c >../out 2>../err
		[ $? -eq 128 ] && has "ermission denied" ../err && has ".git/maxkernel" ../err &&
		git -c safe.directory="*" for-each-ref | same ../before - || exit 1
	done; r=$?; chmod 755 .git/maxkernel; exit $r
'

test_that 'objects that cannot be written: an error, no ref moves' '
	written && chmod -R a-w .git/objects && git -c safe.directory="*" for-each-ref >../before &&
	user git maxkernel explore -q --seed 4 --attempts 4 >../out 2>../err; got=$?
	chmod -R u+w .git/objects; cat ../err; [ $got -eq 128 ] && [ -s ../err ] &&
	git -c safe.directory="*" for-each-ref | same ../before -
'

test_done
