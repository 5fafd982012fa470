#!/bin/sh
# Attempts that made no node, many of them: lines on the spec commit while its
# note is short, then on ledgers beside the anchors.
. "$(dirname "$0")/lib.sh"

FILL=$BUILD/helper/store_fill
DUMP=$BUILD/helper/store_dump
DEV=fill-avx512-t1
export FILL DUMP DEV

# filled <nodes>: a repository with a search that has so many; sets S and W
filled()
{
	git init -q . && mkdir kernels && git config gc.auto 0 &&
	"$FILL" source >kernels/fill.c && cat >.maxkernel <<-\END &&
	[kernel "fill"]
		file = kernels/fill.c
		entry = fill
		arg = in f32 x[n]
		arg = dim n
		arg = out f32 y[n]
		time = n=10000
	END
	git add . && git commit -q -m 'first' && S=$("$FILL" create fill) &&
	"$FILL" add "$S" "$1" 50 >/dev/null &&
	W=$(sed 1q .git/maxkernel/log/worker)
}

spend()	# <number> <batch>
{
	"$FILL" spend "$S" "$1" "$2"
}

# bytes: of all objects, as they lie on the disk
bytes()
{
	git cat-file --batch-all-objects --batch-check='%(objectsize:disk)' |
		awk '{ n += $1 } END { print n }'
}

# is <number>: so many lines of spends, with what is kept and without it
is()
{
	"$DUMP" "${2:-$S}" "$DEV" >warm.txt && rm -rf .git/maxkernel/cache &&
	"$DUMP" "${2:-$S}" "$DEV" >cold.txt && same cold.txt warm.txt &&
	hasnt warning: cold.txt && grep -c "^spend" cold.txt >count &&
	echo "$1" >wanted && same wanted count &&
	[ "$(grep "^spend" cold.txt | sort -u | wc -l)" -eq "$1" ]
}

ledgers()	# of our chain
{
	git log --format=%H --grep="^maxkernel: ledger " "refs/maxkernel/$S/w/$W"
}

# longest: bytes of the longest of our notes of lines
longest()
{
	git ls-tree -r "refs/notes/maxkernel/$S/metrics/$W" | cut -c13-52 |
		git cat-file --batch-check='%(objectsize)' | sort -n | tail -n 1
}

clean()
{
	git fsck --strict --no-dangling >fsck 2>&1 && [ ! -s fsck ]
}

test_that 'the last of 20000 lines cost what the first do' '
	filled 20 && spend 488 61 && is 488 && a=$(bytes) && spend 512 16 && b=$(bytes) &&
	spend 18488 200 && c=$(bytes) && spend 512 16 && d=$(bytes) &&
	echo "512 lines: first $((b - a)) bytes, last $((d - c))" &&
	[ $((d - c)) -lt $(((b - a) * 3 / 2)) ] && is 20000 && clean &&
	[ "$(longest)" -le 65536 ] && [ "$(ledgers | wc -l)" -gt 20 ]
'

test_that 'a few lines stay on the spec commit' '
	filled 5 && spend 100 10 && is 100 && [ -z "$(ledgers)" ] &&
	[ "$(git notes --ref="refs/notes/maxkernel/$S/metrics/$W" show "refs/maxkernel/$S/spec" |
		grep -c spend)" -eq 100 ]
'

test_that 'one line at a time, each by a process of its own' '
	filled 5 && spend 450 200 && l=$(ledgers | wc -l) && [ "$l" -ge 1 ] &&
	for i in 1 2 3 4 5 6 7 8; do spend 1 1 || return 1; done &&
	is 458 && [ "$(ledgers | wc -l)" -le $((l + 1)) ] &&
	"$FILL" add "$S" 20 4 >/dev/null && spend 3 1 && is 461 && clean
'

test_that 'each step is read as it comes' '
	filled 5 && : >all && for i in 1 2 3 4 5 6 7 8 9; do
		spend 130 65 && "$DUMP" "$S" "$DEV" >step.txt &&
		[ "$(grep -c "^spend" step.txt)" -eq $((i * 130)) ] || return 1
	done && is 1170
'

test_that 'git gc, git notes prune and a repack keep them' '
	filled 20 && spend 1500 100 && git gc -q --prune=now &&
	git notes --ref="refs/notes/maxkernel/$S/metrics/$W" prune && is 1500 &&
	git repack -adfq && spend 100 50 && is 1600 && clean
'

test_that 'they are pushed, checked and pulled' '
	mkdir a && cd a && filled 20 && spend 1500 100 && git init -q --bare ../hub.git &&
	git remote add origin ../hub.git && git push -q origin HEAD:main &&
	git maxkernel push -q && cd .. && git clone -q -b main hub.git b && cd b &&
	git maxkernel pull -q && is 1500 && cd ../a && spend 300 50 && git maxkernel push -q &&
	cd ../b && git maxkernel pull -q && is 1800 && clean
'

test_that 'searches that are united have those of both' '
	filled 20 && spend 900 100 && one=$S && S=$("$FILL" create fill) &&
	"$FILL" add "$S" 30 10 >/dev/null && "$FILL" spend "$S" 1 1 && two=$S &&
	S=$one && git maxkernel merge "$one" "$two" >out && is 901 &&
	git maxkernel merge "$two" "$one" >out && is 901 "$two" && is 901 "$one" &&
	git for-each-ref >before && git maxkernel merge "$one" "$two" >out &&
	git maxkernel merge "$two" "$one" >out && git for-each-ref >after &&
	same before after && spend 200 100 && git maxkernel merge "$two" "$one" >out &&
	is 1101 "$two" && clean
'

test_that 'pruning leaves them, and puts its own there' '
	filled 2000 && spend 700 100 && ledgers >before &&
	git maxkernel prune --yes --losers "$S" >out && git gc -q --prune=now &&
	nr=$("$DUMP" "$S" "$DEV" | grep -c "^spend") && [ "$nr" -gt 960 ] && is "$nr" &&
	[ $((nr - 700 + $(grep -c "^node" cold.txt))) -eq 2001 ] &&
	for l in $(cat before); do git cat-file -e "$l" || return 1; done &&
	ledgers >after && [ "$(wc -l <after)" -gt "$(wc -l <before)" ] &&
	[ "$(longest)" -le 65536 ] &&
	git maxkernel prune --yes --losers "$S" >out && is "$nr" && spend 50 10 &&
	is $((nr + 50)) && clean
'

test_that 'a search that is over says so behind many lines' '
	filled 5 && spend 2000 200 && "$BUILD/helper/store_drive" finish "$S" "done" "all tried" &&
	git maxkernel status "$S" >out && has "finished: all tried" out &&
	spend 10 5 && "$BUILD/helper/store_drive" finish "$S" reopen "once more" &&
	git maxkernel status "$S" >out && hasnt "finished:" out && is 2010
'

test_done
