#!/bin/sh
# Our notes trees and git's: a random mixture of both writers, of fan-outs and
# of merges holds what a simple model says, and git finds nothing wrong.
. "$(dirname "$0")/lib.sh"

DRIVE=$BUILD/helper/store_drive
R=refs/notes/mix
export DRIVE R

clean()
{
	git fsck --strict --no-dangling >fsck 2>&1 && [ ! -s fsck ] && return
	echo "git fsck says:"
	cat fsck
	return 1
}

# commits <n>: c.1 ... c.n hold the ids of that many commits
commits()
{
	git init -q . && git commit -q --allow-empty -m first &&
	t=$(git mktree </dev/null) &&
	for i in $(seq "$1"); do
		git commit-tree -m "$i" "$t" >"c.$i" && git update-ref "refs/keep/$i" "$(cat "c.$i")" ||
			return 1
	done && mkdir m
}

# reshape <sed script on "xx yy rest">: the notes again under other paths
reshape()
{
	rm -f .git/reshape
	git ls-tree -r "$R" | sed 's/^\([0-9]*\) blob \([0-9a-f]*\)	/\1 \2 /' |
		while read -r mode blob path; do
			name=$(echo "$path" | tr -d /)
			case $name in *[!0-9a-f]*) ;; *)
				path=$(echo "$name" | sed "$1") ;;
			esac
			printf '%s %s\t%s\n' "$mode" "$blob" "$path"
		done | GIT_INDEX_FILE=.git/reshape git update-index --index-info &&
	tree=$(GIT_INDEX_FILE=.git/reshape git write-tree) &&
	git update-ref "$R" "$(git commit-tree -p "$R" -m reshaped "$tree")"
}

# twice <i> <line>: a second copy of the note on c.i, with another line, at
# another depth, as broken tools leave it
twice()
{
	blob=$(echo "$2" | git hash-object -w --stdin) &&
	rm -f .git/reshape && GIT_INDEX_FILE=.git/reshape git read-tree "$R" &&
	id=$(cat "c.$1") && path=$(echo "$id" | sed 's|^\(..\)\(..\)|\1/\2/|') &&
	{ [ -z "$(git ls-tree "$R" "$path")" ] || path=$id; } &&
	printf '100644 %s\t%s\n' "$blob" "$path" |
		GIT_INDEX_FILE=.git/reshape git update-index --index-info &&
	tree=$(GIT_INDEX_FILE=.git/reshape git write-tree) &&
	git update-ref "$R" "$(git commit-tree -p "$R" -m twice "$tree")"
}

# ours <append|put> <line number> <i...>
ours()
{
	ours_op=$1 ours_n=$2
	shift 2
	for i; do echo "$ours_op $(cat "c.$i") {\"n\":$ours_n,\"i\":$i}"; done |
		"$DRIVE" write-notes "$R" || return 1
	for i; do
		[ "$ours_op" = append ] || : >"m/$i"
		echo "{\"n\":$ours_n,\"i\":$i}" >>"m/$i"
	done
}

# Both sides of a merge get lines for some of the same notes.
merge()	# <line number> <i> <j> <k>
{
	if ! git rev-parse -q --verify "$R" >/dev/null; then
		ours append "$1" "$2" || return 1
	fi
	git update-ref refs/notes/side "$R" &&
	ours append "$1" "$2" "$3" &&
	for i in $3 $4; do
		git notes --ref=refs/notes/side append -m "{\"side\":$1,\"i\":$i}" "$(cat "c.$i")" &&
		echo "{\"side\":$1,\"i\":$i}" >>"m/$i" || return 1
	done &&
	git notes --ref="$R" merge -q -s cat_sort_uniq refs/notes/side
}

step()	# <op> <n> <i> <j> <k>
{
	case $1 in
	append) ours append "$2" "$3" "$4" "$5" ;;
	put) ours put "$2" "$3" ;;
	remove)
		for i in "$3" "$4"; do echo "remove $(cat "c.$i") -"; rm -f "m/$i"; done |
			"$DRIVE" write-notes "$R" ;;
	git-append)
		git notes --ref="$R" append -m "{\"g\":$2}" "$(cat "c.$3")" &&
		echo "{\"g\":$2}" >>"m/$3" ;;
	git-add)
		git notes --ref="$R" add -f -m "{\"a\":$2}" "$(cat "c.$3")" 2>/dev/null &&
		echo "{\"a\":$2}" >"m/$3" ;;
	git-remove)
		git notes --ref="$R" remove --ignore-missing "$(cat "c.$3")" 2>/dev/null
		rm -f "m/$3" ;;
	flat) reshape '' ;;
	deep) reshape 's|^\(..\)\(..\)|\1/\2/|' ;;
	mixed) reshape 's|^\([0-7].\)|\1/|; s|^\([89a].\)\(..\)\(..\)|\1/\2/\3/|' ;;
	merge) merge "$2" "$3" "$4" "$5" ;;
	twice)
		[ -e "m/$3" ] || return 0
		twice "$3" "{\"t\":$2}" && echo "{\"t\":$2}" >>"m/$3" &&
		ours append "$2" "$3" ;;
	esac
}

# agrees: what git shows, and what we read, is the model
agrees()
{
	git notes --ref="$R" list | cut -d' ' -f2 | sort >annotated
	for f in m/*; do [ -e "$f" ] && cat "c.${f#m/}"; done | sort >expected
	same expected annotated || return 1
	"$DRIVE" read-notes "$R" | cut -d" " -f1 >ours.got && same expected ours.got || return 1
	for f in m/*; do
		[ -e "$f" ] || continue
		sort -u "$f" >lines.want
		git notes --ref="$R" show "$(cat "c.${f#m/}")" | grep . | sort -u >lines.got
		same lines.want lines.got || return 1
	done
}

# random <seed> <steps> <commits>: "op n i j k" lines
random()
{
	awk -v seed="$1" -v steps="$2" -v c="$3" 'BEGIN {
		srand(seed)
		n = split("append append append put git-append git-append git-add git-remove remove flat deep mixed merge twice", op, " ")
		for (s = 1; s <= steps; s++)
			print op[1 + int(rand() * n)], s, 1 + int(rand() * c),
				1 + int(rand() * c), 1 + int(rand() * c)
	}'
}

for seed in $(seq $((2 * CHECK_N))); do
	export seed
	test_that "both writers, fan-outs and merges agree with the model, seed $seed" '
		commits 24 && random "$seed" 45 24 >ops && done=0 &&
		ours append 0 1 2 3 &&
		while read -r op n i j k; do
			step $op $n $i $j $k </dev/null || { echo "step: $op $n $i $j $k"; exit 1; }
			done=$((done + 1))
			[ $((done % 9)) -ne 0 ] || agrees || { echo "after: $op $n $i $j $k"; exit 1; }
		done <ops && agrees && clean
	'
done

test_that 'notes are fanned out once, whatever their number' '
	git init -q . && git commit -q --allow-empty -m first &&
	awk "BEGIN { srand(7); for (i = 0; i < 3000; i++) { id = \"\"
		for (j = 0; j < 40; j++) id = id sprintf(\"%x\", int(rand() * 16))
		print \"put\", id, \"note\", i } }" >batch &&
	"$DRIVE" write-notes "$R" <batch && git ls-tree "$R" >root &&
	[ "$(wc -l <root)" -eq 256 ] && ! grep -v " tree " root &&
	[ "$(git ls-tree -r --name-only "$R" | grep -cE "^[0-9a-f]{2}/[0-9a-f]{38}$")" -eq 3000 ] &&
	cut -d" " -f2 batch | sort >want && "$DRIVE" read-notes "$R" | cut -d" " -f1 >got &&
	same want got && clean
'

test_that 'what is not a note stays' '
	commits 6 && ours append 1 1 2 3 4 5 6 &&
	d=$(cut -c1-2 c.1) && blob=$(echo text | git hash-object -w --stdin) &&
	export GIT_INDEX_FILE=.git/i && git read-tree "$R" &&
	printf "100644 $blob\t%s\n" README "$d/README" "$d/00/x.txt" "dir/file" |
		git update-index --index-info && tree=$(git write-tree) && unset GIT_INDEX_FILE &&
	git update-ref "$R" "$(git commit-tree -p "$R" -m junk "$tree")" &&
	ours append 2 1 2 && git ls-tree -r --name-only "$R" >got &&
	for f in README "$d/README" "$d/00/x.txt" dir/file; do has "$f" got || exit 1; done &&
	agrees && clean
'

test_that 'a batch that changes nothing makes no commit' '
	commits 2 && ours put 1 1 && git rev-parse "$R" >one && ours put 1 1 &&
	git rev-parse "$R" >two && same one two
'

test_that 'removing the last notes leaves nothing, and none makes no commit' '
	commits 3 && git rev-parse HEAD >head && echo "remove $(cat c.1) -" >batch &&
	"$DRIVE" write-notes "$R" <batch && gives 1 git rev-parse -q --verify "$R" &&
	ours append 1 1 2 && one=$(git rev-parse "$R") &&
	echo "remove $(cat c.3) -" | "$DRIVE" write-notes "$R" && [ "$(git rev-parse "$R")" = "$one" ] &&
	for i in 1 2; do echo "remove $(cat c.$i) -"; done | "$DRIVE" write-notes "$R" &&
	[ "$(git rev-parse "$R^")" = "$one" ] && git ls-tree -r -t "$R" | same /dev/null - &&
	ours append 2 2 && rm -f m/1 && echo "{\"n\":2,\"i\":2}" >m/2 && agrees && clean
'

test_that 'appending sees to the newline' '
	commits 1 && git notes --ref="$R" add -C "$(printf "{\"a\":1}" | git hash-object -w --stdin)" "$(cat c.1)" &&
	ours append 2 1 && git notes --ref="$R" show "$(cat c.1)" >got &&
	printf "{\"a\":1}\n{\"n\":2,\"i\":1}\n" >want && same want got
'

test_that 'copies of a plan at two depths become one, not a shuffle' '
	commits 1 && printf "b line\n\na line\n" >plan &&
	git notes --ref="$R" add -F plan "$(cat c.1)" && reshape "s|^\(..\)|\1/|" &&
	twice 1 "# other" && "$DRIVE" read-notes "$R" >two && [ "$(wc -l <two)" -eq 2 ] &&
	id=$(cut -c1-2 c.1)$(printf "%038d" 0) &&
	echo "put $id x" | "$DRIVE" write-notes "$R" &&
	[ "$(git ls-tree -r --name-only "$R" | tr -d / | grep -c "$(cat c.1)")" -eq 1 ] &&
	git notes --ref="$R" show "$(cat c.1)" >got &&
	{ cmp plan got || echo "# other" | cmp - got; }
'

test_that 'a damaged notes ref is said, not overwritten' '
	commits 1 && b=$(echo x | git hash-object -w --stdin) &&
	git update-ref "$R" "$(cat c.1)" && mkdir -p .git/refs/notes &&
	ours append 1 1 && t=$(git rev-parse "$R^{tree}") &&
	rm -f ".git/objects/$(echo "$t" | sed "s|^..|&/|")" &&
	gives 128 "$DRIVE" read-notes "$R" 2>msg && has "cannot read the notes" msg &&
	git rev-parse "$R" >one &&
	echo "append $(cat c.1) {}" | gives 128 "$DRIVE" write-notes "$R" 2>msg &&
	git rev-parse "$R" >two && same one two
'

test_done
