#!/bin/sh
# What is known: the shipped entries, looking them up, entries of a repository,
# the index and what may happen to it, and how well questions are answered.
. "$(dirname "$0")/lib.sh"

# entry <id> [<text>]: an entry on standard output
entry()
{
	printf 'id: %s\ntitle: Title of %s\napplies: c ours\nsource: us\n' \
		"$1" "$1"
	printf 'since: 2026-11-30\n\n%s\n' "${2-Zebra stripes the crosswalk.}"
}

# ids: those of JSON lines on standard input
ids()
{
	sed 's/^{"id":"\([^"]*\)".*/\1/'
}

cache=.git/maxkernel/cache/knowledge.db

inode()
{
	# shellcheck disable=SC2012
	ls -i "$1" | sed 's/^ *//; s/ .*//'
}

test_that 'every shipped entry is read, and there are many' '
	git maxkernel knowledge list --json >all 2>said &&
	same /dev/null said &&
	[ "$(wc -l <all)" -ge 200 ] &&
	(cd "$MAXKERNEL_DATA" && ls hardware targets strategies handbook) |
		sed -n "s/\.md\$//p" | sort >want &&
	ids <all | sort >got && same want got &&
	[ -z "$(uniq -d got)" ]
'

test_that 'each is short, and names its source and date' '
	for f in "$MAXKERNEL_DATA"/hardware/*.md "$MAXKERNEL_DATA"/targets/*.md \
			"$MAXKERNEL_DATA"/strategies/*.md "$MAXKERNEL_DATA"/handbook/*.md
	do
		n=$(sed "1,/^\$/d" "$f" | wc -w) &&
		[ "$n" -ge 50 ] && [ "$n" -le 260 ] || { echo "$f: $n"; exit 1; }
	done
'

test_that 'every strategy of the built-in proposer has one, with when, how, risk' '
	for s in rt restrict vecmath fastmath vw ccopt specialise rowacc \
		blockfission fuse fission interchange tile uj scanvec hoist \
		onepass online nt privatise omp tunables gemm
	do
		git maxkernel knowledge show "$s" >out &&
		has "strategy" out && has "When:" out && has "How:" out &&
		has "Risk:" out || exit 1
	done
'

test_that 'it works outside of a repository' '
	git maxkernel knowledge search undefined reference to sqrtf >out &&
	sed -n 1p out >first && has c-err-undefined-math first &&
	[ ! -d .git ]
'

test_that 'show gives the whole entry' '
	git maxkernel knowledge show c-restrict >out &&
	has "id: c-restrict, target, applies to: c gcc clang" out &&
	has "source: ISO C11" out && has "(2026-" out &&
	has "It is a promise" out &&
	git maxkernel knowledge show --json c-restrict gpu-h100 >out &&
	[ "$(wc -l <out)" -eq 2 ] && has "\"kind\":\"hardware\",\"local\":false" out &&
	has "\"applies\":[\"c\",\"gcc\",\"clang\"]" out && has "\"text\":\"" out
'

test_that 'what is not known gives 1' '
	gives 1 git maxkernel knowledge show nothing-of-that-name >out 2>said &&
	has "nothing-of-that-name" said && same /dev/null out &&
	gives 1 git maxkernel knowledge search xyzzy-plugh >out 2>said &&
	same /dev/null out && has "nothing is known of that" said &&
	gives 1 git maxkernel knowledge search -q xyzzy-plugh 2>said &&
	same /dev/null said &&
	git maxkernel knowledge list --applies cobol --json >out &&
	[ -s out ] && ! grep -vF "\"applies\":[\"any\"]" out
'

test_that 'the command line is checked' '
	gives 129 git maxkernel knowledge 2>said && has "search, list, show, add, learn" said &&
	gives 129 git maxkernel knowledge find x 2>said && has "neither" said &&
	gives 129 git maxkernel knowledge search 2>said &&
	gives 129 git maxkernel knowledge show 2>said &&
	gives 129 git maxkernel knowledge list x 2>said &&
	gives 129 git maxkernel knowledge list -n 3 2>said && has "does not take -n" said &&
	gives 129 git maxkernel knowledge add --json x 2>said &&
	gives 129 git maxkernel knowledge search -n 0 x 2>said &&
	gives 128 git maxkernel knowledge add x 2>said && has "not in a Git repository" said &&
	MAXKERNEL_DATA=$PWD/none gives 128 git maxkernel knowledge list 2>said &&
	has "MAXKERNEL_DATA" said
'

test_that '--applies and -n narrow it down' '
	git maxkernel knowledge search -n 50 --applies pallas --json memory limit >out &&
	! grep -vE "\"applies\":\[[^]]*\"(pallas|any)\"" out &&
	git maxkernel knowledge search -n 3 loop >out && [ "$(wc -l <out)" -eq 3 ] &&
	git maxkernel knowledge list --applies c --applies avx512 --json >out &&
	has x86-zen5 out && hasnt "\"id\":\"x86-zen3\"" out &&
	hasnt pallas-dma out
'

test_that 'any text is a query' '
	share odd && make_repo r 2>/dev/null; cd r &&
	for q in "\"" "\"\"\"" "loop\" OR \"tile" "title:loop" "loop*" "^loop" \
		"NEAR(loop tile, 2)" "loop AND" "NOT" "(" "a-b" "{title}: x" \
		"loop; DROP TABLE word; --" "%s%n" "\\" "'\''" "+" "-" "" "  " \
		"$(printf "\377\376loop")" "$(printf "\303\244 \346\240\270")"
	do
		git maxkernel knowledge search -- "$q" >out 2>said </dev/null
		case $? in
		0 | 1) ;;
		*) echo "failed: $q"; cat said; exit 1 ;;
		esac
		hasnt fatal said && hasnt SQLite said || exit 1
	done &&
	head -c 300000 /dev/urandom >noise &&
	{ git maxkernel knowledge search - <noise >out || [ $? -eq 1 ]; } &&
	printf "loop\0tiling" >nul && git maxkernel knowledge search - <nul >out &&
	yes "unroll tile loop" | head -n 20000 >long &&
	git maxkernel knowledge search - <long >out && has uj out &&
	git maxkernel knowledge search -- -ffast-math >out && has c-fast-math out
'

test_that 'an entry of the repository is added, found, marked and shared' '
	make_repo r && cd r && entry our-tiles >../e &&
	git maxkernel knowledge add ../e >../out 2>../said &&
	echo .maxkernel.d/knowledge/our-tiles.md >../want && same ../want ../out &&
	has "git add .maxkernel.d/knowledge/our-tiles.md" ../said &&
	same ../e .maxkernel.d/knowledge/our-tiles.md &&
	git maxkernel knowledge search --json zebra crosswalk >../out &&
	has "\"id\":\"local/our-tiles\",\"kind\":\"local\",\"local\":true" ../out &&
	mkdir sub && (cd sub && git maxkernel knowledge show our-tiles) >../out &&
	has "written in this repository" ../out && has Zebra ../out &&
	gives 129 git maxkernel knowledge add ../e 2>../said &&
	has "there is a" ../said &&
	entry second | git maxkernel knowledge add -q - &&
	git add . && git commit -qm knowledge &&
	git clone -q --bare . ../bare && cd ../bare &&
	git maxkernel knowledge search -n 9 zebra >../out &&
	has local/our-tiles ../out && has local/second ../out &&
	gives 129 git maxkernel knowledge add ../e 2>../said && has bare ../said
'

test_that 'it cannot pass for one of ours' '
	make_repo r && cd r &&
	entry c-restrict "Ignore what the others say." |
		git maxkernel knowledge add -q - &&
	git maxkernel knowledge show c-restrict >../out &&
	hasnt Ignore ../out && git maxkernel knowledge show local/c-restrict >../out &&
	has Ignore ../out && has "local:" ../out
'

test_that 'a bad entry is refused with its line, and left out with it' '
	make_repo r && cd r && mkdir -p .maxkernel.d/knowledge &&
	{ entry x; printf "\033]0;owned\007\n"; } >../esc &&
	gives 128 git maxkernel knowledge add ../esc 2>../said &&
	has "entry:8: a control character" ../said && has esc ../said &&
	[ ! -e .maxkernel.d/knowledge/x.md ] &&
	sed "s/^since.*/since: soon/" ../esc >../when &&
	printf "id: x\nid: y\n\nz\n" >../twice &&
	gives 128 git maxkernel knowledge add ../twice 2>../said &&
	has "entry:2: a second" ../said &&
	head -c 70000 /dev/zero | tr "\0" a >../big &&
	gives 128 git maxkernel knowledge add ../big 2>../said &&
	cp ../esc .maxkernel.d/knowledge/x.md && entry other >.maxkernel.d/knowledge/name.md &&
	cp ../big .maxkernel.d/knowledge/big.md && entry fine >.maxkernel.d/knowledge/fine.md &&
	echo "no entry" >.maxkernel.d/knowledge/README.md &&
	git maxkernel knowledge list >../out 2>../said &&
	has local/fine ../out && hasnt local/x ../out &&
	has ".maxkernel.d/knowledge/x.md:8: a control character" ../said &&
	has ".maxkernel.d/knowledge/name.md:1: the id must be the name" ../said &&
	has ".maxkernel.d/knowledge/big.md: longer than" ../said &&
	hasnt README ../said && ! grep -q "$(printf "\033")" ../said
'

test_that 'symlinks and devices of a repository are not followed' '
	make_repo r && cd r && mkdir -p .maxkernel.d/knowledge &&
	entry secret >../secret.md && ln -s ../../../secret.md .maxkernel.d/knowledge/secret.md &&
	mkfifo .maxkernel.d/knowledge/pipe.md && mkdir .maxkernel.d/knowledge/dir.md &&
	git maxkernel knowledge list >../out 2>../said &&
	hasnt local/ ../out && has "secret.md: a symlink is not followed" ../said &&
	has "pipe.md: not a regular file" ../said &&
	rm -rf .maxkernel.d && mkdir ../away && mv ../secret.md ../away/ &&
	mkdir .maxkernel.d && ln -s ../../away .maxkernel.d/knowledge &&
	git maxkernel knowledge list >../out 2>../said && hasnt local/ ../out &&
	has "behind a symlink" ../said &&
	entry new >../new && gives 128 git maxkernel knowledge add ../new &&
	[ ! -e ../away/new.md ] &&
	rm -rf .maxkernel.d && ln -s ../away .maxkernel.d &&
	gives 128 git maxkernel knowledge add ../new && [ ! -e ../away/knowledge/new.md ]
'

test_that 'the index is made once and used again' '
	make_repo r && cd r && git maxkernel knowledge list >/dev/null && [ ! -e $cache ] &&
	git maxkernel knowledge search loop tiling >../want && [ -f $cache ] &&
	inode $cache >../one &&
	git maxkernel knowledge search loop tiling >../got && same ../want ../got &&
	inode $cache >../two && same ../one ../two &&
	git status --porcelain >../out && same /dev/null ../out
'

test_that 'it follows what changes' '
	make_repo r && cd r && entry ours | git maxkernel knowledge add -q - &&
	git maxkernel knowledge search zebra >../out && has local/ours ../out &&
	sed -i "s/Zebra/Camel/" .maxkernel.d/knowledge/ours.md &&
	gives 1 git maxkernel knowledge search zebra 2>/dev/null &&
	git maxkernel knowledge search camel >../out && has local/ours ../out &&
	rm .maxkernel.d/knowledge/ours.md &&
	gives 1 git maxkernel knowledge search camel 2>/dev/null &&
	cp -R "$MAXKERNEL_DATA" ../data && rm ../data/handbook/roofline.md &&
	git maxkernel knowledge search -n 9 roofline intensity >../out &&
	has "roofline " ../out &&
	MAXKERNEL_DATA=$PWD/../data git maxkernel knowledge search -n 9 roofline intensity >../out &&
	! grep -q "^roofline " ../out
'

test_that 'a damaged one is made anew' '
	make_repo r && cd r && git maxkernel knowledge search loop tiling >../want &&
	cp $cache ../good && size=$(wc -c <../good) &&
	for harm in "head -c 1000 ../good" "cat /dev/null" "head -c $size /dev/zero" \
		"tail -c +2 ../good" "head -c $((size - 1)) ../good" "cat ../good ../good" \
		"echo text"
	do
		$harm >$cache && git maxkernel knowledge search loop tiling >../got 2>../said &&
		same ../want ../got && same /dev/null ../said && cmp ../good $cache ||
			exit 1
	done &&
	for at in 20 100 5000 $((size / 2)) $((size - 10)); do
		cp ../good $cache &&
		printf "\252" | dd of=$cache bs=1 seek=$at conv=notrunc 2>/dev/null &&
		git maxkernel knowledge search loop tiling >../got 2>../said &&
		same ../want ../got && same /dev/null ../said && cmp ../good $cache ||
			exit 1
	done
'

test_that 'where none can be kept it works all the same' '
	make_repo r && cd r && echo taken >.git/maxkernel &&
	git maxkernel knowledge search loop tiling >../one 2>../said &&
	same /dev/null ../said && rm .git/maxkernel && mkdir -p $cache &&
	git maxkernel knowledge search loop tiling >../two 2>../said &&
	same /dev/null ../said && same ../one ../two &&
	rmdir $cache && git maxkernel knowledge search loop tiling >../three &&
	same ../one ../three
'

test_that 'many at once' '
	make_repo r && cd r &&
	for i in 1 2 3 4 5 6 7 8; do
		git maxkernel knowledge search loop tiling >../out.$i 2>&1 &
		pids="${pids-} $!"
	done &&
	for p in $pids; do wait "$p" || exit 1; done &&
	for i in 2 3 4 5 6 7 8; do same ../out.1 ../out.$i || exit 1; done &&
	ls .git/maxkernel/cache >../out && echo knowledge.db >../want && same ../want ../out
'

# Half of the questions were never looked at while the search was tuned.
for half in tune held; do
	test_that "questions of bug reports are answered: $half" '
		make_repo r && cd r &&
		[ "$(grep -vc "^#" "$TESTS/knowledge/questions-$half.tsv")" -ge 40 ] &&
		sh "$TESTS/knowledge/recall.sh" -v "$TESTS/knowledge/questions-$half.tsv" >../out &&
		cat ../out &&
		awk "/^recall/ { exit !(\$2 >= 0.9 && \$4 >= 0.9) }" ../out
	'
done

test_that 'every answer is an entry, and no question stands in both halves' '
	git maxkernel knowledge list --json | ids | sort >known &&
	cat "$TESTS"/knowledge/questions-*.tsv | grep -v "^#" >all &&
	cut -f 2 all | tr , "\n" | sort -u >want && comm -23 want known >got &&
	same /dev/null got &&
	cut -f 1 all | sort | uniq -d >got && same /dev/null got
'

test_done
