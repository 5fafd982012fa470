#!/bin/sh
# What comes from others is checked before it becomes part of a search: for
# each rule one thing that breaks it, refused with the reason; honest searches
# pass.
. "$(dirname "$0")/lib.sh"

DRIVE=$BUILD/helper/store_drive
ASK=$BUILD/helper/incoming_drive
DEV=dev-avx2-t1
export DRIVE ASK DEV

# kernels: a repository with one kernel, in the current folder
kernels()
{
	git init -q . && mkdir kernels ref &&
	echo 'int util(void);' >kernels/util.h &&
	printf 'void k(const float *x, float *y, int n)\n{\n\t%s\n}\n' \
		'for (int i = 0; i < n; i++) y[i] = x[i];' >kernels/k.c &&
	cp kernels/k.c ref/k.c && echo read me >README &&
	cat >.maxkernel <<-\END &&
	[kernel "my-copy"]
		file = kernels/k*.c
		use = kernels/util.h
		entry = k
		target = c
		arg = in f32 x[N]
		arg = out f32 y[N]
		arg = dim N
		time = N=1000
		reference = ref/k.c:k
	END
	git add -A && git commit -q -m 'first'
}

# names: S the search, W our worker, T the tip of its chain, R the root
names()
{
	S=$(the_search) && W=$("$DRIVE" worker) && R=$(git rev-parse main) &&
	T=$(git rev-parse -q --verify "refs/maxkernel/$S/w/$W" || :)
	M=refs/notes/maxkernel/$S/metrics/other-beef
	C=refs/maxkernel/$S/w/other-beef
}

# searched: a folder that all tests share, with a search of twelve attempts;
# what they forge moves no ref
searched()
{
	share search || return
	[ -d .git ] || {
		kernels && S=$("$DRIVE" create my-copy) &&
		"$DRIVE" append "$S" 12 4 >acks
	} && names
}

# tree <base commit> <path> <text> [<mode>]: its tree with one file put in
tree()
{
	(
		GIT_INDEX_FILE=$PWD/.git/forge
		export GIT_INDEX_FILE
		git read-tree "$1" &&
		blob=$(printf '%s\n' "$3" | git hash-object -w --stdin) &&
		git update-index --add --cacheinfo "${4:-100644},$blob,$2" &&
		git write-tree
		rm -f "$GIT_INDEX_FILE"
	)
}

# made <message> <tree> <parent>...
made()
{
	made_message=$1 made_tree=$2
	shift 2
	for p in "$@"; do
		set -- "$@" -p "$p"
		shift
	done
	printf '%s' "$made_message" | git commit-tree "$made_tree" "$@"
}

# trailers of a node; OP WORKER STEP SEARCH change them, an empty one goes
node_message()
{
	printf 'a try\n\n'
	for t in "Search: ${SEARCH-$S}" "Op: ${OP-mutate}" \
		"Worker: ${WORKER-other-beef}" "Proposer: ${PROPOSER-builtin}" \
		"Step: ${STEP-40}"; do
		[ -z "${t#*: }" ] || echo "Maxkernel-$t"
	done
	printf '%b' "${MORE-}"
}

node()		# <tree> <parent>...
{
	made "$(node_message)" "$@"
}

anchor()	# <parent>...; TREE its tree, AS AW AMORE its trailers
{
	made "$(printf 'maxkernel: anchor %s\n\nMaxkernel-Search: %s\nMaxkernel-Worker: %s\n%b' \
		"${NUMBER-1}" "${AS-$S}" "${AW-other-beef}" "${AMORE-}")" \
		"${TREE-$(git mktree </dev/null)}" "$@"
}

# good_node [<parent>]: an honest node of the other worker
good_node()
{
	node "$(tree "${1:-$R}" kernels/k.c "/* good ${1:-} */")" "${1:-$R}"
}

# passes <ref> <old>|- <new>: and tells how many nodes are new
passes()
{
	"$ASK" "$S" "$@"
}

# refused <reason> <ref> <old>|- <new>
refused()
{
	refused_why=$1
	shift
	gives 1 "$ASK" "$S" "$@" 2>why && has "$refused_why" why
}

# ---- what is honest passes ----

test_that 'a search as the store writes it passes, from nothing and step by step' '
	searched && git update-ref -d "refs/maxkernel/$S/w/$W" &&
	passes "refs/maxkernel/$S/w/$W" - "$T" >got &&
	echo "refs/maxkernel/$S/w/$W: 9 new nodes" >want && same want got &&
	passes "refs/maxkernel/$S/w/$W" "$T~2" "$T" >got &&
	echo "refs/maxkernel/$S/w/$W: 6 new nodes" >want && same want got &&
	git update-ref "refs/maxkernel/$S/w/$W" "$T" &&
	passes "refs/maxkernel/$S/w/$W" "$T" "$T" &&
	for k in plan metrics agents; do
		n=refs/notes/maxkernel/$S/$k/$W &&
		passes "$n" - "$n" && passes "$n" "$n~2" "$n" || exit 1
	done &&
	passes "refs/maxkernel/$S/spec" - "refs/maxkernel/$S/spec"
'

test_that 'so do nodes on nodes of others, crossover, plans and human nodes' '
	searched && theirs=$(git rev-parse "$T^2") &&
	a=$(good_node) && b=$(good_node "$theirs") &&
	x=$(OP=crossover STEP=41 node "$(tree "$a" kernels/k.c x)" "$a" "$b") &&
	p=$(OP=plan STEP=42 node "$x^{tree}" "$x") &&
	h=$(OP=human PROPOSER= STEP=43 node "$(tree "$p" kernels/k2.c h)" "$p") &&
	passes "$C" - "$(anchor "$a" "$h")" >got &&
	echo "$C: 5 new nodes" >want && same want got
'

test_that 'a chain goes on, and a clone with a new id goes on from its old chain' '
	searched && first=$(anchor "$(good_node)") &&
	second=$(NUMBER=2 anchor "$first" "$(STEP=41 good_node "$first^")") &&
	passes "$C" "$first" "$second" >got &&
	echo "$C: 1 new nodes" >want && same want got &&
	passes "refs/maxkernel/$S/w/new-0001" - "$(AW=new-0001 anchor "$second")"
'

test_that 'a search from the state of a work tree passes' '
	kernels && echo "/* more */" >>kernels/k.c &&
	root=$("$DRIVE" worktree my-copy) && "$DRIVE" create my-copy "$root" &&
	S=$(the_search) && "$DRIVE" append "$S" 6 2 >/dev/null &&
	W=$("$DRIVE" worker) && T=$(git rev-parse "refs/maxkernel/$S/w/$W") &&
	git update-ref -d "refs/maxkernel/$S/w/$W" &&
	passes "refs/maxkernel/$S/w/$W" - "$T"
'

# ---- nodes ----

test_that 'a node that changes other files is refused' '
	searched &&
	for f in README kernels/util.h kernels/deep/k.c ref/k.c .maxkernel \
			.git-hooks/x K.c; do
		n=$(node "$(tree "$R" "$f" "/* bad */")" "$R") &&
		refused "changes a file that is not the kernel" \
			"$C" - "$(anchor "$n")" && has "$f" why || exit 1
	done &&
	n=$(node "$(git ls-tree "$R" | grep -v README | git mktree)" "$R") &&
	refused "README" "$C" - "$(anchor "$n")"
'

test_that 'so is one below it, and one that hides it behind a good child' '
	searched &&
	bad=$(node "$(tree "$R" README bad)" "$R") &&
	n=$(STEP=41 node "$(tree "$bad" kernels/k.c good)" "$bad") &&
	refused "node $(git rev-parse --short=12 "$bad") changes a file" \
		"$C" - "$(anchor "$n")" &&
	n=$(STEP=41 node "$(tree "$R" kernels/k.c good)" "$bad") &&
	refused "README" "$C" - "$(anchor "$n")"
'

test_that 'links, submodules and modes are refused' '
	searched &&
	link=$(node "$(tree "$R" kernels/k.c ../README 120000)" "$R") &&
	refused "adds the symbolic link " "$C" - "$(anchor "$link")" &&
	run=$(node "$(tree "$R" kernels/k.c "int x;" 100755)" "$R") &&
	refused "changes the mode" "$C" - "$(anchor "$run")" &&
	run=$(node "$(tree "$R" kernels/k9.c "int x;" 100755)" "$R") &&
	refused "changes the mode" "$C" - "$(anchor "$run")" &&
	k=$(printf "160000 commit %s\tk1.c\n" "$R" | cat - "$(
		git ls-tree "$R:kernels" >list; echo list)" | git mktree) &&
	t=$( { git ls-tree "$R" | grep -v kernels
		printf "040000 tree %s\tkernels\n" "$k"; } | git mktree) &&
	refused "adds the submodule" "$C" - "$(anchor "$(node "$t" "$R")")"
'

test_that 'malformed trees are refused' '
	searched &&
	empty=$(git mktree </dev/null) &&
	t=$( { git ls-tree "$R"; printf "040000 tree %s\tnew\n" "$empty"; } |
		git mktree) &&
	refused "has an empty folder" "$C" - "$(anchor "$(node "$t" "$R")")" &&
	raw() { printf "%s\0" "$1"; printf "%b" "$(echo "$2" |
		sed "s/../\\\\0x&/g; s/0x\(..\)/x\1/g")"; } &&
	blob=$(git hash-object -w README) &&
	k=$(git rev-parse "$R:kernels/k.c") &&
	bytes() { echo "$1" | sed "s/../\\\\x&/g"; } &&
	k=$(bash -c "printf \"100644 k.c\\0$(bytes "$k")100644 k.c\\0$(bytes "$blob")\"" |
		git hash-object -w -t tree --literally --stdin) &&
	t=$( { git ls-tree "$R" | grep -v kernels
		printf "040000 tree %s\tkernels\n" "$k"; } | git mktree) &&
	refused "malformed folder" "$C" - "$(anchor "$(node "$t" "$R")")"
'

test_that 'a kernel file beyond the limit is refused' '
	searched && head -c 4194305 /dev/zero | tr "\0" "x" >big &&
	blob=$(git hash-object -w big) && rm big &&
	k=$( { git ls-tree "$R:kernels" | grep -v k.c
		printf "100644 blob %s\tk.c\n" "$blob"; } | git mktree) &&
	t=$( { git ls-tree "$R" | grep -v kernels
		printf "040000 tree %s\tkernels\n" "$k"; } | git mktree) &&
	refused "too large" "$C" - "$(anchor "$(node "$t" "$R")")"
'

test_that 'too many files in one node are refused' '
	searched && blob=$(git rev-parse "$R:kernels/k.c") &&
	k=$( { git ls-tree "$R:kernels"; for i in $(seq 100 400); do
		printf "100644 blob %s\tk%s.c\n" "$blob" "$i"; done; } | git mktree) &&
	t=$( { git ls-tree "$R" | grep -v kernels
		printf "040000 tree %s\tkernels\n" "$k"; } | git mktree) &&
	refused "changes too many files" "$C" - "$(anchor "$(node "$t" "$R")")"
'

test_that 'a node that does not descend from the base is refused' '
	searched &&
	alone=$(made "alone" "$R^{tree}") && later=$(made "later" "$R^{tree}" "$R") &&
	for p in "$alone" "$later"; do
		n=$(node "$(tree "$p" kernels/k.c x)" "$p") &&
		refused "does not descend from the base" "$C" - "$(anchor "$n")" ||
			exit 1
	done &&
	n=$(node "$R^{tree}") &&
	refused "a number of parents" "$C" - "$(anchor "$n")" &&
	n=$(OP=crossover node "$(tree "$R" kernels/k.c x)" "$R" "$later") &&
	refused "does not descend from the base" "$C" - "$(anchor "$n")" &&
	n=$(made "$(node_message)" "$(tree "$R" kernels/k.c x)" "$R" "$T^2" "$T^3") &&
	refused "a number of parents" "$C" - "$(anchor "$n")" &&
	n=$(node "$(tree "$R" kernels/k.c x)" "$T") &&
	refused "does not descend from the base" "$C" - "$(anchor "$n")"
'

test_that 'malformed trailers of a node are refused' '
	searched && good=$(tree "$R" kernels/k.c x) &&
	bad() { refused "$1" "$C" - "$(anchor "$(node "$good" "$R")")"; } &&
	(OP= && bad "has no Maxkernel-Op") &&
	(OP=hack && bad "a malformed Maxkernel-Op") &&
	(WORKER="a b" && bad "a malformed Maxkernel-Worker") &&
	(STEP=-1 && bad "a malformed Maxkernel-Step") &&
	(STEP=4294967295 && bad "a malformed Maxkernel-Step") &&
	(STEP= && bad "has no Maxkernel-Step") &&
	(PROPOSER="../x" && bad "a malformed Maxkernel-Proposer") &&
	(SEARCH=other-aaaaaa && bad "neither a node nor an anchor")
'

test_that 'messages that are no text or too long are refused' '
	searched && good=$(tree "$R" kernels/k.c x) &&
	bad() { refused "$1" "$C" - "$(anchor "$(node "$good" "$R")")"; } &&
	(MORE="X-Bell: \007\n" && bad "is no text") &&
	n=$( { printf "tree %s\nparent %s\n" "$good" "$R"
		printf "author a <a> 1 +0000\ncommitter a <a> 1 +0000\n\n"
		MORE="X-Bytes: \0377\0376\n" node_message; } |
		git hash-object -w -t commit --stdin) &&
	refused "is no text" "$C" - "$(anchor "$n")" &&
	n=$( { echo try; echo; head -c 300000 /dev/zero | tr "\0" y; echo; echo
		node_message | tail -n +3; } | git commit-tree "$good" -p "$R") &&
	refused "has a message of" "$C" - "$(anchor "$n")"
'

# ---- anchors ----

test_that 'forged anchors are refused' '
	searched && n=$(good_node) &&
	refused "is not an anchor" "$C" - "$n" &&
	refused "is not an anchor" "$C" - "$R" &&
	refused "is no commit" "$C" - "$(git rev-parse "$R^{tree}")" &&
	refused "is of " "$C" - "$(AW=evil-0001 anchor "$n")" &&
	refused "(Maxkernel-Worker)" "refs/maxkernel/$S/w/$W" "$T" \
		"$(AW=evil-0001 anchor "$T" "$n")" &&
	refused "(Maxkernel-Search)" "$C" - "$(AS=other-aaaaaa anchor "$n")" &&
	refused "holds commit" "$C" - "$(anchor "$n" "$(made x "$R^{tree}")")" &&
	refused "no record of samples" "$C" - "$(TREE=$R^{tree} anchor "$n")" &&
	link=$(printf "120000 blob %s\t%s\n" "$(git rev-parse "$R:README")" \
		"$(git rev-parse "$R:README")" | git mktree) &&
	refused "no record of samples" "$C" - "$(TREE=$link anchor "$n")"
'

test_that 'an anchor with too many parents is refused' '
	searched && n=$(good_node) &&
	{ printf "tree %s\n" "$(git mktree </dev/null)"
	  for i in $(seq 301); do printf "parent %s\n" "$n"; done
	  printf "author a <a> 1 +0000\ncommitter a <a> 1 +0000\n\n"
	  printf "maxkernel: anchor 1\n\nMaxkernel-Search: %s\nMaxkernel-Worker: other-beef\n" "$S"
	} | git hash-object -w -t commit --stdin --literally >id &&
	refused "has 301 parents" "$C" - "$(cat id)"
'

test_that 'a chain only goes forward' '
	searched && own=refs/maxkernel/$S/w/$W &&
	refused "does not go forward" "$own" "$T" "$T~1" &&
	refused "does not go forward" "$own" "$T" \
		"$(AW=$W anchor "$T~1" "$(good_node)")" &&
	refused "does not go forward" "$own" "$T" "$(AW=$W anchor)"
'

test_that 'a pruned chain may replace the one that it names' '
	searched && own=refs/maxkernel/$S/w/$W && AW=$W &&
	kept=$(git rev-parse "$T^2") &&
	p=$(AMORE="Maxkernel-Pruned: $T\n" anchor "$kept") &&
	next=$(NUMBER=2 anchor "$p" "$(STEP=50 good_node)") &&
	passes "$own" "$T" "$p" >got && has "0 new" got &&
	passes "$own" "$T" "$next" &&
	passes "$own" "$T~1" "$next" &&
	again=$(AMORE="Maxkernel-Pruned: $next\n" anchor "$kept") &&
	passes "$own" "$T" "$again" &&
	p=$(AMORE="Maxkernel-Pruned: $T~9\n" anchor "$kept") &&
	refused "does not go forward" "$own" "$T" "$p" &&
	p=$(AMORE="Maxkernel-Pruned: $(git rev-parse "$T^2")\n" anchor "$kept") &&
	refused "does not go forward" "$own" "$T" "$p"
'

# ---- united searches ----

test_that 'nodes of a united search pass below the anchor that names it' '
	kernels && A=$("$DRIVE" create my-copy) &&
	echo "more to read" >>README && git commit -q -am second &&
	B=$("$DRIVE" create my-copy) && "$DRIVE" append "$B" 6 2 >/dev/null &&
	S=$A && W=$("$DRIVE" worker) && R=$(git rev-parse main~1) &&
	theirs=$(git rev-parse "refs/maxkernel/$B/w/$W") &&
	C=refs/maxkernel/$S/w/other-beef && u="Maxkernel-Unites: $B $(git rev-parse main)\n" &&
	one=$(anchor "$(good_node)") &&
	two=$(AMORE=$u anchor "$one" "$theirs") &&
	passes "$C" - "$two" >got && has ": 6 new nodes" got &&
	on=$(STEP=60 node "$(tree "$theirs^2" kernels/k.c on)" "$theirs^2") &&
	passes "$C" "$two" "$(NUMBER=3 anchor "$two" "$on")" &&
	x=$(OP=crossover node "$(tree "$one^" kernels/k.c x)" "$one^" "$theirs^2") &&
	passes "$C" - "$(NUMBER=3 anchor "$two" "$x")" &&
	refused "neither a node nor an anchor" "$C" - "$(anchor "$one" "$theirs")" &&
	refused "does not descend" "$C" - "$(AMORE="Maxkernel-Unites: $B $R\n" \
		anchor "$one" "$theirs")" &&
	refused "malformed Maxkernel-Unites" "$C" - \
		"$(AMORE="Maxkernel-Unites: $B\n" anchor "$one" "$theirs")" &&
	bad=$(SEARCH=$B node "$(tree main README bad)" main) &&
	refused "README" "$C" - "$(AMORE=$u anchor "$one" "$bad")" &&
	echo "/* other */" >>kernels/k.c && git commit -q -am third &&
	refused "has other sources" "$C" - "$(AMORE="Maxkernel-Unites: $B $(
		git rev-parse main)\n" anchor "$one" "$theirs")"
'

# ---- notes ----

# noted <tree> [<parent>]: a notes commit
noted()
{
	made notes "$@"
}

# one <name> <blob> [<mode>]: a tree with one entry
one()
{
	printf '%s %s %s\t%s\n' "${3:-100644}" "$(git cat-file -t "$2")" "$2" "$1" |
		git mktree
}

test_that 'notes of any depth pass, on whatever they are' '
	searched && b=$(echo "{}" | git hash-object -w --stdin) &&
	id=$(git rev-parse "$R^{tree}") &&
	passes "$M" - "$(noted "$(one "$id" "$b")")" &&
	rest=$(echo "$id" | cut -c5-) &&
	deep=$(one "$(echo "$id" | cut -c1-2)" "$(one "$(echo "$id" | cut -c3-4)" \
		"$(one "$rest" "$b")" 040000)" 040000) &&
	passes "$M" - "$(noted "$deep")" &&
	git notes --ref="$M" add -m "{}" "$R" && passes "$M" - "$M" &&
	git update-ref -d "$M"
'

test_that 'lines that cannot be read do not refuse the notes' '
	searched && b=$(printf "{\"t\":1}\nno line\n{\"v\":99}\n" |
		git hash-object -w --stdin) &&
	passes "$M" - "$(noted "$(one "$R" "$b")")"
'

test_that 'notes that are no text, too long or no notes are refused' '
	searched &&
	text() { git hash-object -w --stdin; } &&
	bad() { refused "$1" "$M" - "$(noted "$2")"; } &&
	bad "is no text" "$(one "$R" "$(printf "a\000b" | text)")" &&
	bad "is no text" "$(one "$R" "$(printf "a\033[31m" | text)")" &&
	bad "is no text" "$(one "$R" "$(printf "\355\240\200" | text)")" &&
	bad "is no text" "$(one "$R" "$(printf "\300\257" | text)")" &&
	b=$(echo x | text) &&
	bad "is no note" "$(one README "$b")" &&
	bad "is no note" "$(one "$R" "$b" 120000)" &&
	bad "is no note" "$(one "${R%?}" "$b")" &&
	bad "is no note" "$(one ab "$b")" &&
	bad "is no note" "$(one abc "$(one x "$b")" 040000)" &&
	bad "empty folder" "$(one ab "$(git mktree </dev/null)" 040000)" &&
	big=$(head -c 16777217 /dev/zero | tr "\0" x | text) &&
	bad "has more than 16777216 bytes" "$(one "$R" "$big")" &&
	refused "is no commit" "$M" - "$(git rev-parse "$R^{tree}")"
'

test_that 'notes whose tree multiplies itself are refused, and soon' '
	searched && b=$(echo "{}" | git hash-object -w --stdin) &&
	t=$(for i in $(seq 16 255); do
		printf "100644 blob %s\t%032x%02x\n" "$b" 0 "$i"; done | git mktree) &&
	for level in 1 2 3; do
		t=$(for i in $(seq 16 255); do
			printf "040000 tree %s\t%02x\n" "$t" "$i"; done | git mktree)
	done &&
	refused "more than" "$M" - "$(noted "$t")" &&
	t=$(one 00 "$b") && for level in 1 2 3 4 5 6 7 8; do
		t=$(for i in $(seq 16 255); do
			printf "040000 tree %s\t%02x\n" "$t" "$i"; done | git mktree)
	done &&
	refused "is no note" "$M" - "$(noted "$t")"
'

test_that 'notes only go forward' '
	searched && n=refs/notes/maxkernel/$S/metrics/$W &&
	refused "does not go forward" "$n" "$n" "$n~1" &&
	refused "does not go forward" "$n" "$n" "$(noted "$n^{tree}")"
'

# ---- specs and names ----

# spec <sed script>: our spec, changed
spec()
{
	b=$(git show "refs/maxkernel/$S/spec:spec" | sed "$1" |
		git hash-object -w --stdin) &&
	made "maxkernel: search" "$(one spec "$b")" "$R"
}

test_that 'a spec is written once' '
	searched && s2=$(spec "s/greedy/beam/") &&
	refused "is written once" "refs/maxkernel/$S/spec" "refs/maxkernel/$S/spec" "$s2" &&
	SPEC=$s2 && export SPEC &&
	passes "refs/maxkernel/$S/spec" - "$s2" &&
	refused "is written once" "refs/maxkernel/$S/spec" "refs/maxkernel/$S/spec" "$s2"
'

test_that 'specs that are none are refused' '
	searched && export SPEC &&
	bad() { refused "$1" "refs/maxkernel/$S/spec" - "$SPEC"; } &&
	SPEC=$R && bad "is no spec of search" &&
	SPEC=$(spec "s/\"slug\":\"[^\"]*\"/\"slug\":\"other-aaaaaa\"/") &&
	bad "its spec is that of " &&
	SPEC=$(spec "s/,\"policy\"/,\"more\":1,\"policy\"/") && bad "more" &&
	SPEC=$(spec "s/file = /file = ..\//") && bad "is no spec of search" &&
	SPEC=$(spec "s/\"section\":\"/&[include]\\\\n/") && bad "is no spec of search" &&
	SPEC=$(spec "s/\"v\":2/\"v\":3/") && bad "newer git maxkernel" &&
	SPEC=$(made x "$(one spec "$(git rev-parse "refs/maxkernel/$S/spec:spec")" \
		120000)" "$R") && bad "is no file" &&
	SPEC=$(made x "$(git rev-parse "refs/maxkernel/$S/spec^{tree}")" "$T") &&
	bad "its parents are not its base" &&
	deep=$(head -c 200000 /dev/zero | tr "\0" "[" | git hash-object -w --stdin) &&
	SPEC=$(made x "$(one spec "$deep")" "$R") && bad "is no spec of search" &&
	big=$(head -c 5000000 /dev/zero | tr "\0" " " | git hash-object -w --stdin) &&
	SPEC=$(made x "$(one spec "$big")" "$R") && bad "is no spec of search"
'

test_that 'refs that a search does not have are refused' '
	searched && n=$(good_node) &&
	refused "no such ref" "refs/maxkernel/$S/other" - "$n" &&
	refused "no such ref" "refs/maxkernel/$S/w/.." - "$n" &&
	refused "no such ref" "refs/maxkernel/$S/w/a/b" - "$n" &&
	refused "such a name" "refs/notes/maxkernel/$S/other/$W" - "$n" &&
	refused "a ref of search " "refs/maxkernel/other-aaaaaa/w/x" - "$n" &&
	refused "not a ref of a search" "refs/maxkernel/A_B/w/x" - "$n" &&
	refused "not a ref of a search" "refs/tags/x" - "$n"
'

test_that 'a lease is a small commit that hangs on nothing' '
	searched && empty=$(git mktree </dev/null) &&
	L=refs/maxkernel/$S/lease/round-7 &&
	ok="{\"w\":\"other-beef\",\"key\":\"round-7\",\"nonce\":\"ab12\",\"ttl\":900}" &&
	passes "$L" - "$(made "$ok" "$empty")" &&
	passes "$L" "$(made "$ok" "$empty")" "$(made "$ok " "$empty")" &&
	refused "has parents" "$L" - "$(made "$ok" "$empty" "$R")" &&
	refused "holds files" "$L" - "$(made "$ok" "$R^{tree}")" &&
	refused "message of more than" "$L" - "$(made "$ok$(printf "%1024s" x)" "$empty")" &&
	refused "not that of the ref" "refs/maxkernel/$S/lease/round-8" - \
		"$(made "$ok" "$empty")" &&
	refused "no lease" "refs/maxkernel/$S/lease/A" - "$(made "$ok" "$empty")" &&
	refused "lease" "$L" - "$(made "no json" "$empty")"
'

# ---- the rest stays usable ----

test_that 'one bad ref does not spoil the others of a pull' '
	searched && bad=$(anchor "$(node "$(tree "$R" README x)" "$R")") &&
	gives 1 "$ASK" "$S" "$C" - "$bad" \
		"refs/maxkernel/$S/w/good-0001" - "$(AW=good-0001 anchor "$(good_node)")" \
		"$C" - "$bad" >got 2>why &&
	has "good-0001: 1 new nodes" got && [ "$(grep -c README why)" -eq 2 ]
'

# ---- through a remote that checks nothing ----

test_that 'pull takes the good of a hostile remote, names the bad and its reason' '
	searched && git init -q --bare ../shared-s && git remote add hostile ../shared-s &&
	git push -q hostile main "refs/maxkernel/$S/spec:refs/maxkernel/$S/spec" \
		"refs/maxkernel/$S/w/$W:refs/maxkernel/$S/w/$W" \
		"refs/notes/maxkernel/$S/metrics/$W:refs/notes/maxkernel/$S/metrics/$W" &&
	bad=$(AW=evil-0001 anchor "$(node "$(tree "$R" README x)" "$R")") &&
	git push -q hostile "$bad:refs/maxkernel/$S/w/evil-0001" &&
	b=$(printf "a\000\033[2J" | git hash-object -w --stdin) &&
	git push -q hostile "$(noted "$(one "$R" "$b")"):refs/notes/maxkernel/$S/metrics/evil-0001" &&
	git push -q hostile "$R:refs/maxkernel/other-aaaaaa/spec" &&
	git clone -q ../shared-s ../shared-d && cd ../shared-d &&
	git maxkernel pull 2>said; echo "status $?" &&
	has "evil-0001" said && has "README" said && has "is no text" said &&
	has "is no spec of search" said && ! grep "$(printf "\033")" said &&
	git for-each-ref --format="%(refname)" refs/maxkernel refs/notes/maxkernel >got &&
	printf "%s\n" "refs/maxkernel/$S/spec" "refs/maxkernel/$S/w/$W" \
		"refs/notes/maxkernel/$S/metrics/$W" >want && same want got &&
	"$DRIVE" load "$S" "$DEV" >nodes && [ "$(grep -c ^node nodes)" -eq 10 ]
'

# ---- what is taken anyway, by plain git, is read with the same distrust ----

test_that 'nobody takes our measurements back in our name' '
	kernels && S=$("$DRIVE" create my-copy) && "$DRIVE" append "$S" 6 3 >acks &&
	names && n=$("$DRIVE" load "$S" "$DEV" | awk "\$2 == 6 { print \$3 }") &&
	"$DRIVE" record "$S" "$n" "$DEV" >want &&
	git notes --ref="refs/notes/maxkernel/$S/metrics/$W" show "$n" |
		head -n 1 | tr -d "\n" >line && id=$(git hash-object line | cut -c1-12) &&
	void="{\"t\":\"2031-01-01T00:00:00.000Z\",\"v\":1,\"w\":\"$W\",\"e\":\"void\",\"of\":\"$id\"}" &&
	git notes --ref="$M" append -m "$void" "$n" &&
	"$DRIVE" record "$S" "$n" "$DEV" >got && same want got &&
	git notes --ref="refs/notes/maxkernel/$S/metrics/$W" append -m "$void" "$n" &&
	gives 128 "$DRIVE" record "$S" "$n" "$DEV"
'

test_that 'notes that multiply themselves do not stop a search from being read' '
	kernels && S=$("$DRIVE" create my-copy) && "$DRIVE" append "$S" 6 3 >acks &&
	names && "$DRIVE" load "$S" "$DEV" >want &&
	b=$(echo "{}" | git hash-object -w --stdin) &&
	t=$(for i in $(seq 16 255); do
		printf "100644 blob %s\t%030x%02x\n" "$b" 0 "$i"; done | git mktree) &&
	for level in 1 2 3 4; do
		t=$(for i in $(seq 16 255); do
			printf "040000 tree %s\t%02x\n" "$t" "$i"; done | git mktree)
	done &&
	git update-ref "$M" "$(noted "$t")" &&
	"$DRIVE" load "$S" "$DEV" >got 2>warned && same want got &&
	has "warning: " warned && has "$M" warned
'

test_done
