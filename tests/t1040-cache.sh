#!/bin/sh
# The graph as it is kept in .git/maxkernel/cache: always what the commits and
# notes say, whatever has become of the file or of the repository.
. "$(dirname "$0")/lib.sh"

DRIVE=$BUILD/helper/store_drive
DUMP=$BUILD/helper/store_dump
DEV=dev-avx2-t1
CACHE=.git/maxkernel/cache
export DRIVE DUMP DEV CACHE

# started [<attempts> [<batch>]]: a kernel and a search; sets S and W
started()
{
	git init -q . && mkdir kernels && git config gc.auto 0 &&
	printf 'void k(const float *x, float *y, int n)\n{\n\t%s\n}\n' \
		'for (int i = 0; i < n; i++) y[i] = x[i];' >kernels/k.c &&
	cat >.maxkernel <<-\END &&
	[kernel "my-copy"]
		file = kernels/k.c
		entry = k
		arg = in f32 x[N]
		arg = out f32 y[N]
		arg = dim N
		time = N=1000
	END
	git add -A && git commit -q -m 'first' &&
	S=$("$DRIVE" create my-copy) && W=$("$DRIVE" worker) &&
	{ [ $# -eq 0 ] || "$DRIVE" append "$S" "$1" "${2:-4}" >/dev/null; }
}

# cold <device>: the graph without what is kept, which stays as it is
cold()
{
	if [ -e "$CACHE" ]; then mv "$CACHE" "$CACHE.kept"; fi &&
	"$DUMP" "$S" "$1"; cold_status=$?
	rm -rf "$CACHE"
	if [ -e "$CACHE.kept" ]; then mv "$CACHE.kept" "$CACHE"; fi
	return $cold_status
}

# agrees [<device>]: the graph with what is kept is that without
# shellcheck disable=SC2120
agrees()
{
	cold "${1:-$DEV}" >cold.txt && "$DUMP" "$S" "${1:-$DEV}" >warm.txt &&
	same cold.txt warm.txt
}

# kept: the one file
kept()
{
	ls "$CACHE"/graph/"$S".*
}

node()	# <number>: the id of a node
{
	"$DRIVE" load "$S" "$DEV" | sed -n 's/^node [0-9]* \([0-9a-f]*\) .*/\1/p' |
		sed -n "$1p"
}

test_that 'it is kept, and the next look changes nothing' '
	started 30 && agrees && "$DUMP" "$S" "$DEV" >/dev/null && kept &&
	cksum "$(kept)" >before && agrees && cksum "$(kept)" >after &&
	same before after && [ "$(grep -c ^node cold.txt)" -eq 24 ] &&
	! ls -A "$CACHE"/graph | grep -v "^$S\.[0-9a-f]\{12\}\$"
'

test_that 'commands print the same with and without it' '
	started 40 8 &&
	for c in "status" "status $S" "status --json" "best" "log -n 20 $S" \
	    "log --oneline $S" "log -n 5 --json $S" "frontier $S" \
	    "frontier --json $S"; do
		rm -rf "$CACHE" && git maxkernel $c >one 2>&1; a=$?
		git maxkernel $c >two 2>&1; b=$?
		[ $a -eq $b ] && sed "s/just now//; s/[0-9]* seconds\{0,1\} ago//" one >x &&
		sed "s/just now//; s/[0-9]* seconds\{0,1\} ago//" two >y && same x y || return 1
	done && [ -s one ]
'

test_that 'new nodes, measurements and spend lines are read into it' '
	started 10 && agrees && "$DRIVE" append "$S" 9 3 >/dev/null && agrees &&
	"$DUMP" "$S" "$DEV" >/dev/null &&
	"$DRIVE" measure "$S" "$(node 3)" confirmed 2.5 && agrees &&
	grep "champion [1-9]" warm.txt && "$DRIVE" measure "$S" "$(node 3)" wrong - &&
	agrees && grep "champion 0" warm.txt && "$DRIVE" append "$S" 1 1 >/dev/null &&
	agrees && "$DRIVE" finish "$S" done why && agrees &&
	git maxkernel status "$S" >out && has "finished: why" out
'

test_that 'another device class has a graph of its own' '
	started 12 && agrees && agrees other-t1 &&
	"$DRIVE" measure "$S" "$(node 2)" faster - other-t1 && agrees &&
	agrees other-t1 && hasnt "other-t1" cold.txt || grep other-t1 cold.txt
'

test_that 'files that nothing came to for 30 days go, newer ones stay' '
	started 12 && agrees && "$DUMP" "$S" other-t1 >/dev/null && "$DUMP" "$S" "$DEV" >/dev/null &&
	[ "$(ls "$CACHE"/graph | wc -l)" -eq 2 ] && "$DUMP" "$S" third-t1 >/dev/null &&
	[ "$(ls "$CACHE"/graph | wc -l)" -eq 3 ] &&
	for f in "$CACHE"/graph/*; do touch -d "2000-01-01" "$f"; done &&
	"$DRIVE" append "$S" 3 1 >/dev/null && "$DUMP" "$S" "$DEV" >/dev/null &&
	[ "$(ls "$CACHE"/graph | wc -l)" -eq 1 ] && agrees
'

test_that 'git gc and repack change nothing' '
	started 25 && agrees && git repack -adfq && agrees &&
	"$DRIVE" append "$S" 5 2 >/dev/null && git gc -q --prune=now && agrees &&
	git repack -dq --geometric=2 && "$DRIVE" append "$S" 5 2 >/dev/null && agrees
'

# damaged <command on the file, as $f>: what is left is not believed
damaged()
{
	# shellcheck disable=SC2034,SC2119
	"$DUMP" "$S" "$DEV" >/dev/null && f=$(kept) && eval "$1" && agrees &&
	"$DUMP" "$S" "$DEV" >again.txt && same cold.txt again.txt
}

# poke <file> <offset> <octal>: one byte otherwise
poke()
{
	# shellcheck disable=SC2059
	printf "\\$3" | dd of="$1" bs=1 seek="$2" conv=notrunc 2>/dev/null
}

test_that 'a damaged file is not believed' '
	started 20 && "$DUMP" "$S" "$DEV" >/dev/null && size=$(wc -c <"$(kept)") &&
	damaged ": >\"\$f\"" && damaged "echo nonsense >\"\$f\"" &&
	for n in 1 50 104 105 $((size / 2)) $((size - 1)); do
		damaged "head -c $n \"\$f\" >x && cp x \"\$f\"" || return 1
	done &&
	for at in 0 8 12 16 24 32 40 48 56 88 96 100 104 200 300 $((size / 2)) \
	    $((size - 2)) $((size - 1)); do
		damaged "poke \"\$f\" $at 377" || return 1
	done &&
	damaged "head -c $size /dev/urandom >\"\$f\"" &&
	damaged "cat \"\$f\" \"\$f\" >x && cp x \"\$f\"" &&
	damaged "rm -f \"\$f\" && mkdir \"\$f\"" && rmdir "$f" &&
	damaged "cp \"\$f\" $PWD/x && ln -sf $PWD/x \"\$f\""
'

test_that 'the file of another search or another state is not believed' '
	started 15 && "$DUMP" "$S" "$DEV" >/dev/null && cp "$(kept)" a &&
	"$DRIVE" append "$S" 9 3 >/dev/null && damaged "cp a \"\$f\"" &&
	one=$S && S=$("$DRIVE" create my-copy) && "$DRIVE" append "$S" 4 2 >/dev/null &&
	damaged "cp a \"\$f\"" && f=$(kept) && S=$one && damaged "cp \"\$f\" \"$f\"" &&
	if [ "$(id -u)" -eq 0 ]; then damaged "chown 65534 \"\$f\""; fi
'

test_that 'where it cannot be kept, it is not' '
	started 12 && agrees && rm -rf "$CACHE" && : >"$CACHE" && agrees &&
	git maxkernel status >out && has my-copy out && rm "$CACHE" &&
	mkdir "$CACHE" && : >"$CACHE/graph" && agrees && rm -r "$CACHE" &&
	chmod a-w .git/maxkernel && agrees; ret=$?
	chmod u+w .git/maxkernel; return $ret
'

test_that 'what a killed writer left goes after an hour' '
	started 9 && "$DUMP" "$S" "$DEV" >/dev/null && f=$(kept) && : >"$f.abcdef" && : >"$f.ABC123" &&
	touch -d "2 hours ago" "$f" "$f.abcdef" && "$DRIVE" append "$S" 9 3 >/dev/null &&
	"$DUMP" "$S" "$DEV" >/dev/null && [ ! -e "$f.abcdef" ] && [ -e "$f.ABC123" ] && [ -e "$f" ]
'

test_that 'what cannot be read is told every time, and not kept' '
	started 9 && "$DUMP" "$S" "$DEV" >want && n=$(node 4) &&
	b=$(git notes --ref="refs/notes/maxkernel/$S/metrics/$W" list "$n") &&
	o=.git/objects/$(echo "$b" | sed "s,^..,&/,") && mv "$o" blob && rm -rf "$CACHE" &&
	"$DUMP" "$S" "$DEV" >one && has "warning: the note on" one &&
	"$DUMP" "$S" "$DEV" >two && same one two && mv blob "$o" &&
	"$DUMP" "$S" "$DEV" >three && same want three
'

test_that 'lines that cannot be used are told every time' '
	started 9 && n=$(node 4) && "$DUMP" "$S" "$DEV" >/dev/null &&
	git notes --ref="refs/notes/maxkernel/$S/metrics/evil-0001" append -m "{nonsense" "$n" &&
	agrees && has "warning: the note on" warm.txt && agrees &&
	git notes --ref="refs/notes/maxkernel/$S/metrics/evil-0001" append \
		-m "{\"t\":\"2027-01-01T00:00:00.000Z\",\"v\":9}" "$(node 5)" && agrees &&
	has "newer git" warm.txt && "$DRIVE" append "$S" 5 2 >/dev/null && agrees
'

test_that 'refs that go back or away take their nodes with them' '
	started 12 2 && "$DUMP" "$S" "$DEV" >/dev/null && a=refs/maxkernel/$S/w/$W &&
	git update-ref "$a" "$a~2" && agrees && "$DUMP" "$S" "$DEV" >less &&
	[ "$(grep -c ^node less)" -lt 10 ] && git update-ref -d "$a" && agrees &&
	[ "$(grep -c ^node warm.txt)" -eq 1 ] &&
	git update-ref -d "refs/notes/maxkernel/$S/metrics/$W" && agrees && ! grep ^spend warm.txt
'

test_that 'readers at once, while another process writes' '
	started 8 && "$DRIVE" append "$S" 60 2 >/dev/null & writer=$!
	share_dir=$PWD
	while [ ! -e "$share_dir/.maxkernel" ] ||
	    ! S=$(the_search 2>/dev/null) || [ -z "$S" ]; do sleep 0.1; done
	for i in 1 2 3 4; do
		(for j in 1 2 3 4 5; do
			"$DUMP" "$S" "$DEV" >"out.$i" || exit 1
		done) & pids="${pids-} $!"
	done
	for p in $pids; do wait "$p" || return 1; done
	wait "$writer" && agrees && [ "$(grep -c "^node\|^spend" warm.txt)" -eq 69 ] &&
	! ls -A "$CACHE"/graph | grep -v "^$S\.[0-9a-f]\{12\}\$"
'

# ---- whatever happens, in whatever order ----

rnd()	# <number>: 0 up to it, in $x
{
	r=$(((r * 1103515245 + 12345) % 2147483648))
	x=$((r / 65536 % $1))
}

some_node()	# in $n
{
	rnd "$(grep -c "^node" warm.txt)"
	n=$(sed -n "s/^node $x \([0-9a-f]*\) .*/\1/p" warm.txt)
	st=$(sed -n "s/^node $x [0-9a-f]* \([0-9a-f]*\) .*/\1/p" warm.txt)
}

# foreign <worker> <line>: on node n
foreign()
{
	git notes --ref="refs/notes/maxkernel/$S/metrics/$1" append -m "$2" "$n"
}

# One change of the repository, by chance.
happens()
{
	t=$((t + 1))
	stamp=$(printf "2027-01-01T00:%02d:%02d.000Z" $((t / 60 % 60)) $((t % 60)))
	some_node
	rnd 16
	case $x in
	0 | 1 | 2) rnd 6 && "$DRIVE" append "$S" $((x + 1)) 2 >/dev/null ;;
	3) "$DRIVE" measure "$S" "$n" confirmed "1.$t" ;;
	4) "$DRIVE" measure "$S" "$n" wrong - ;;
	5) "$DRIVE" measure "$S" "$n" faster - other-t1 ;;
	6 | 7) foreign "fox-00a$((t % 2))" "{\"t\":\"$stamp\",\"v\":1,\"w\":\"fox-00a$((t % 2))\",\"e\":\"eval\",\"st\":\"$st\",\"k\":\"$K\",\"ep\":1,\"dev\":\"$DEV\",\"verdict\":\"faster\",\"est_speedup\":1.$t,\"attempt_s\":0.$t}" ;;
	8) line=$(git notes --ref="refs/notes/maxkernel/$S/metrics/$W" show "$n" 2>/dev/null | tail -n 1)
		id=$(printf '%s' "$line" | git hash-object --stdin | cut -c1-12)
		foreign "$W" "{\"t\":\"$stamp\",\"v\":1,\"w\":\"$W\",\"e\":\"void\",\"of\":\"$id\"}" ;;
	9) git notes --ref="refs/notes/maxkernel/$S/metrics/fox-00a$((t % 2))" remove --ignore-missing "$n" 2>/dev/null ;;
	10) git repack -adq && git prune --expire=now ;;
	11) rnd 3 && [ "$x" -gt 0 ] || git update-ref -d "refs/notes/maxkernel/$S/metrics/fox-00a1" ;;
	12) foreign fox-00a0 "{\"t\":\"$stamp\",\"v\":1,\"w\":\"fox-00a0\",\"e\":\"lesson\",\"text\":\"$t\"}" ;;
	13) "$DRIVE" finish "$S" "done" "at $t" ;;
	14) other_adds ;;
	15) rnd 4 && [ "$x" -gt 0 ] || foreign fox-00a1 "{bad $t" ;;
	esac
}

# A clone goes on from what it knows, and its refs come here.
other_adds()
{
	if [ ! -d other ]; then
		git clone -q . other && (cd other && git config gc.auto 0 &&
			git fetch -q origin "refs/maxkernel/*:refs/maxkernel/*" &&
			git fetch -q origin "refs/notes/*:refs/notes/*")
	fi &&
	(cd other && "$DRIVE" append "$S" 3 2 >/dev/null) &&
	w=$(cd other && "$DRIVE" worker) &&
	git fetch -q other "+refs/maxkernel/$S/w/$w:refs/maxkernel/$S/w/$w" \
		"+refs/notes/maxkernel/$S/metrics/$w:refs/notes/maxkernel/$S/metrics/$w"
}

i=0
while [ $i -lt $((2 * CHECK_N)) ]; do
	i=$((i + 1))
	test_that "whatever happens, it is what a cold look finds, seed $i" '
		r=$i t=0 && started 6 && agrees && "$DUMP" "$S" "$DEV" >/dev/null &&
		K=$(git notes --ref="refs/notes/maxkernel/$S/metrics/$W" show "$(node 2)" |
			sed "s/.*\"k\":\"\([0-9a-f]*\)\".*/\1/") && [ ${#K} -eq 12 ] &&
		for step in $(seq 40); do
			happens || { echo "step $step"; return 1; }
			agrees || { echo "after step $step, case $x"; return 1; }
		done && git fsck --strict >fsck 2>&1 && ! grep -v "^dangling\|^notice" fsck
	'
done

# ---- notes of a level with many of them ----

test_that 'a crowded level of notes gets levels below, which git reads' '
	git init -q . && R=refs/notes/mix && : >want &&
	for round in 1 2 3 4 5 6; do
		: >batch
		for k in $(seq 40); do
			id=$(printf "%s %s" "$round" "$k" | git hash-object --stdin)
			id=ab$(echo "$id" | cut -c3-)
			echo "append $id {\"n\":\"$round.$k\"}" >>batch
			echo "$id {\"n\":\"$round.$k\"}" >>want
		done
		# and once more on some that are there
		head -n 5 want | cut -d" " -f1 | sed "s/.*/append & {\"m\":$round}/" >>batch
		"$DRIVE" write-notes "$R" <batch || return 1
	done &&
	git notes --ref="$R" list | cut -d" " -f2 | sort >got && cut -d" " -f1 want | sort >ids &&
	same ids got && sort -u got >once && same got once &&
	"$DRIVE" read-notes "$R" | cut -d" " -f1 | sort >ours && same ids ours &&
	git ls-tree -d "$R:ab" | grep . && git ls-tree "$R:ab" | grep blob &&
	git ls-tree -r --name-only "$R" | tr -d / | sort >names && same ids names &&
	id=$(sed -n "1s/ .*//p" want) && git notes --ref="$R" list |
		sed -n "s/ $id\$//p" | git cat-file --batch >text && has "\"n\":\"1.1\"" text &&
	[ "$(grep -c "\"m\"" text)" -eq 6 ] && git fsck --strict >fsck 2>&1
'

test_done
