#!/bin/sh
# A search with the git program alone: a clone in which git-maxkernel does
# not run fetches it, reads it, and takes the winner; and no command of ours
# touches the index, the work tree or HEAD.
. "$(dirname "$0")/lib.sh"

FETCH="refs/maxkernel/*:refs/maxkernel/* refs/notes/maxkernel/*:refs/notes/maxkernel/*"

# A git-maxkernel that ends every use of it, and says so.
NONE=$SCRATCH/none
mkdir "$NONE"
printf '#!/bin/sh\necho used >>"%s/used"\nexit 99\n' "$SCRATCH" >"$NONE/git-maxkernel"
chmod +x "$NONE/git-maxkernel"

# the source: a search made and pushed, in folder "made" of the share
made()
{
	share plain || return 1
	[ -d hub.git ] || {
		git init -q --bare hub.git && kernel_repo made && (
			cd made && git remote add origin ../hub.git &&
			git push -q origin main &&
			scripted "$SCRATCH/table" "default hash" &&
			git maxkernel explore -q --policy beam --attempts 32 >/dev/null &&
			git push -q origin "refs/maxkernel/*:refs/maxkernel/*" \
				"refs/notes/maxkernel/*:refs/notes/maxkernel/*" \
				"refs/heads/maxkernel/*:refs/heads/maxkernel/*"
		) || return 1
	}
	s=$(cd made && the_search)
	w=$(cat made/.git/maxkernel/log/worker)
	PATH=$NONE:$PATH
}

# A fresh clone with the search in it, by the one line of the README; in it.
cloned()
{
	made && rm -rf plain && git clone -q hub.git plain && cd plain &&
	git fetch -q origin $FETCH && git branch -q best "origin/maxkernel/$s/best/scripted"
}

unused()
{
	[ ! -e "$SCRATCH/used" ] && return
	echo "git-maxkernel was used"
	return 1
}

# the winner's node, by the trailer of its landing commit
winner()
{
	git log -1 --format='%(trailers:key=Maxkernel-Node,valueonly)' best | grep .
}

test_that 'one line fetches a search, as the README says' '
	cloned && git for-each-ref --format="%(refname)" refs/maxkernel refs/notes >got &&
	has "refs/maxkernel/$s/spec" got && has "refs/maxkernel/$s/w/$w" got &&
	has "refs/notes/maxkernel/$s/plan/$w" got && has "refs/notes/maxkernel/$s/metrics/$w" got &&
	grep -F "refs/notes/maxkernel/*:refs/notes/maxkernel/*" "$TOP/README.md" "$TOP/git-maxkernel.1" &&
	unused
'

test_that 'git log shows plan and metrics of every node' '
	cloned && git log --notes="maxkernel/*" --grep="^Maxkernel-Op:" "refs/maxkernel/$s/w/$w" >got &&
	n=$(git rev-list --count --grep="^Maxkernel-Op:" "refs/maxkernel/$s/w/$w") && [ "$n" -ge 32 ] &&
	[ "$(grep -c "Notes (maxkernel/$s/plan/$w):" got)" -eq "$n" ] &&
	[ "$(grep -c "Notes (maxkernel/$s/metrics/$w):" got)" -eq "$n" ] &&
	has "Expected:" got && has "\"verdict\":\"confirmed\"" got && has "\"verdict\":\"build-fail\"" got &&
	unused
'

test_that 'git log --graph draws it, git show shows the spec and the winner' '
	cloned && git log --graph --oneline "refs/maxkernel/$s/w/$w" >got &&
	has "maxkernel: anchor 1" got && grep -q "|" got &&
	git show "refs/maxkernel/$s/spec:spec" >got && has "\"kernel\":\"mix\"" got &&
	git show best >got && has "Maxkernel-Node:" got && has "kernels/mix.c" got &&
	git show "$(winner)" >got && has "Maxkernel-Recipe:" got && unused
'

test_that 'git interpret-trailers reads the trailers' '
	cloned && git log -1 --format=%B "$(winner)" | git interpret-trailers --parse >got &&
	for key in Search Op Worker Proposer Step Recipe; do
		grep -q "^Maxkernel-$key: ." got || { cat got; exit 1; }
	done &&
	git log -1 --format=%B best | git interpret-trailers --parse >got &&
	has "Maxkernel-Node: $(winner)" got && has "Maxkernel-Search: $s" got && unused
'

test_that 'the winner is cherry-picked onto a main that moved, and reverted' '
	cloned && echo more >README && git add README && git commit -qm "main moves" &&
	before=$(git rev-parse HEAD^{tree}) && git cherry-pick best &&
	[ "$(git diff --name-only HEAD^)" = kernels/mix.c ] &&
	[ "$(git rev-parse HEAD:kernels/mix.c)" = "$(git rev-parse "$(winner):kernels/mix.c")" ] &&
	git revert --no-edit HEAD && [ "$(git rev-parse HEAD^{tree})" = "$before" ] && unused
'

test_that 'git bisect finds the step from the notes, measuring nothing' '
	cloned && n=$(winner) && git log --format=%H "HEAD..$n" >path && [ "$(wc -l <path)" -ge 1 ] &&
	cat >../run <<-END &&
	#!/bin/sh
	notes=\$(git notes --ref="maxkernel/$s/metrics/$w" show HEAD 2>/dev/null) || exit 125
	! echo "\$notes" | grep -q "\"verdict\":\"confirmed\""
	END
	chmod +x ../run && git bisect start "$n" HEAD && git bisect run ../run >got 2>&1 &&
	has "is the first bad commit" got &&
	first=$(git rev-parse refs/bisect/bad) && git merge-base --is-ancestor "$first" "$n" &&
	git notes --ref="maxkernel/$s/metrics/$w" show "$first" | has "\"verdict\":\"confirmed\"" /dev/stdin &&
	git bisect reset && unused
'

test_that 'the winner merges as a branch' '
	cloned && echo more >README && git add README && git commit -qm "main moves" &&
	git merge -q --no-edit best && [ "$(git rev-list --count --merges -1 HEAD)" -eq 1 ] &&
	[ "$(git rev-parse HEAD:kernels/mix.c)" = "$(git rev-parse best:kernels/mix.c)" ] &&
	[ "$(git show -s --format=%s HEAD^2)" = "$(git show -s --format=%s best)" ] && unused
'

test_that 'the winner is a pull request, by mail and by request-pull' '
	cloned && git request-pull origin/main ../hub.git "best:refs/heads/maxkernel/$s/best/scripted" >got &&
	has "maxkernel/$s/best/scripted" got && has "kernels/mix.c" got &&
	git format-patch -q -1 best -o ../mail && git checkout -q -b reviewed &&
	echo more >README && git add README && git commit -qm "main moves" &&
	git am -q ../mail/*.patch && [ "$(git rev-parse HEAD:kernels/mix.c)" = "$(git rev-parse best:kernels/mix.c)" ] &&
	git log -1 --format=%B HEAD >message && has "Maxkernel-Node: $(winner)" message && unused
'

test_that 'notes of two workers are merged by git' '
	cloned && n=$(winner) && theirs=refs/notes/maxkernel/$s/metrics/other-0001 &&
	line="{\"t\":\"2026-01-01T00:00:00.000Z\",\"v\":1,\"w\":\"other-0001\",\"e\":\"lesson\",\"text\":\"x\"}" &&
	git update-ref "$theirs" "refs/notes/maxkernel/$s/metrics/$w" &&
	git notes --ref="$theirs" append -m "$line" "$n" &&
	git notes --ref="maxkernel/$s/metrics/$w" append -m "{\"t\":\"2026-01-02T00:00:00.000Z\",\"v\":9}" "$n" &&
	git notes --ref="$theirs" merge -q -s cat_sort_uniq "refs/notes/maxkernel/$s/metrics/$w" &&
	git notes --ref="$theirs" show "$n" >got && has "$line" got && has "\"v\":9" got &&
	has "\"verdict\":\"confirmed\"" got && sort -u got | same got - && git fsck --strict && unused &&
	PATH=$BUILD/bin:$PATH && git maxkernel show "$n" >shown && has "confirmed" shown
'

test_that 'all of it passes fsck, and every name check-ref-format' '
	cloned && git fsck --strict --no-dangling >got 2>&1 && same /dev/null got &&
	git -C ../made fsck --strict --no-dangling >got 2>&1 && same /dev/null got &&
	git -C ../made for-each-ref --format="%(refname)" >names && [ -s names ] &&
	while read -r name; do git check-ref-format "$name" || exit 1; done <names &&
	! git -C ../made for-each-ref --format="%(objecttype)" refs/maxkernel refs/notes | grep -v commit &&
	unused
'

test_that 'a repack, a gc and a mirror lose nothing' '
	cloned && git log --notes="maxkernel/*" "refs/maxkernel/$s/w/$w" >before &&
	git gc -q --prune=now && git log --notes="maxkernel/*" "refs/maxkernel/$s/w/$w" >after &&
	same before after && rm -rf ../mirror && git clone -q --mirror . ../mirror &&
	git -C ../mirror log --notes="maxkernel/*" "refs/maxkernel/$s/w/$w" | same before - && unused
'

# ---- our commands and the user's index, work tree and HEAD ----

# A work tree with a staged, an unstaged and a new file.
dirty()
{
	echo staged >>kernels/util.h && git add kernels/util.h &&
	echo unstaged >>.gitattributes && echo new >new.txt
}

seen()
{
	git symbolic-ref HEAD && git rev-parse HEAD && git ls-files -s --debug &&
	git status --porcelain=v2 --branch -uall && git diff && git diff --cached &&
	find . -path ./.git -prune -o -type f -print | sort | xargs cksum
}

# Each as it is run, one a line; <s> is the search.  What is not a command
# yet is passed over; what has no line here is a failure.
cat >"$SCRATCH/commands" <<'END'
init -q
add -n kernels/mix.c
audit -h
doctor --quick
explore -q --attempts 4 --seed 3
resume -q --attempts 4 <s>
worker -h
measure
status
status <s>
log <s>
show mix@best
graph --json <s>
frontier <s>
best
diff --stat mix@best
verify -q mix@best
push -q origin
pull -q origin
merge -q <s> <t>
hook -h
prune -q -y --losers <s>
prune -q -y --remote=origin <t>
pick -h
halt -q
cost
cost --by node <s>
status --watch
tune -h
knowledge search restrict
knowledge learn <s>
knowledge lessons
version
END

test_that 'every command of ours has a line in the table' '
	git maxkernel --list-commands | while read -r c; do
		grep -qE "^$c( |\$)" "$SCRATCH/commands" || { echo "no line for $c"; exit 1; }
	done
'

test_that 'no command touches index, work tree or HEAD' '
	git init -q --bare hub.git && kernel_repo r && cd r && git remote add origin ../hub.git &&
	git push -q origin main && scripted "$SCRATCH/table" "default hash" &&
	git maxkernel explore -q --policy beam --attempts 32 >/dev/null && s=$(the_search) &&
	git maxkernel explore -q --policy beam --attempts 8 --seed 7 >/dev/null &&
	t=$(git for-each-ref --format="%(refname)" "refs/maxkernel/*/spec" |
		sed "s,refs/maxkernel/,,; s,/spec,," | grep -vx "$s") &&
	dirty && git update-index -q --refresh; seen >../before || exit 1
	git maxkernel --list-commands >../known
	while read -r line; do
		set -- $(echo "$line" | sed "s/<s>/$s/; s/<t>/$t/")
		grep -qx "$1" ../known || continue
		git maxkernel "$@" >../out 2>../err
		status=$?
		case $status in
		0 | 1 | 129) ;;
		128) has "has a kernel" ../err || exit 1 ;;	# add
		*) echo "git maxkernel $*: $status"; cat ../err; exit 1 ;;
		esac
		[ "$status" != 129 ] || [ "${line#* }" = -h ] || { cat ../err; exit 1; }
		seen >../after && cmp -s ../before ../after ||
			{ echo "git maxkernel $* changed:"; diff ../before ../after; exit 1; }
	done <"$SCRATCH/commands" && git fsck --strict --no-dangling >../fsck 2>&1 && same /dev/null ../fsck
'

test_done
