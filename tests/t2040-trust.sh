#!/bin/sh
# What others say is a claim; what changes what is right starts anew.
. "$(dirname "$0")/lib.sh"

test_that 'a foreign confirmed is never taken for our own' '
	share f && kernel_repo r && cd r && scripted "$PWD/../good" "default hash" &&
	git maxkernel explore -q --policy greedy --attempts 8 >/dev/null && cd .. &&
	git clone -q r clone && cd clone &&
	git fetch -q origin "refs/maxkernel/*:refs/maxkernel/*" "refs/notes/*:refs/notes/*" &&
	scripted "$PWD/../bad" "default wrong" &&
	sed -i "s/mix/mix/" .maxkernel &&
	gives 1 git maxkernel explore -q --policy greedy --seed 5 --attempts 8 >../out 2>../err &&
	hasnt "confirmed 3" ../out && has "none confirmed" ../out &&
	for s in $(the_search); do git for-each-ref "refs/heads/maxkernel/$s"; done >../heads &&
	same /dev/null ../heads
'

# claims <search> <speedup>: another worker says that a node which was but
# screened is confirmed; $n is the node
claims()
{
	w=$(head -n 1 .git/maxkernel/log/worker) ref=refs/notes/maxkernel/$1/metrics/$w line='' n=''
	for c in $(nodes "$1"); do
		text=$(git notes --ref="$ref" show "$c" 2>/dev/null)
		case $text in
		*'"confirmed"'*) line=$(echo "$text" | grep '"confirmed"' | head -n 1) ;;
		*'"faster"'*) n=$c own=$(echo "$text" | head -n 1) ;;
		esac
	done
	[ -n "$line" ] && [ -n "$n" ] && st=$(echo "$own" | sed 's/.*"st":"\([0-9a-f]*\)".*/\1/') &&
	echo "$line" | sed "s/\"w\":\"$w\"/\"w\":\"evil-0000\"/; s/\"st\":\"[0-9a-f]*\"/\"st\":\"$st\"/
		s/\"speedup\":[0-9.]*/\"speedup\":$2/; s/\"est_speedup\":[0-9.]*/\"est_speedup\":$2/
		s/\"ci_low\":[0-9.]*/\"ci_low\":$2/; s/\"ci_high\":[0-9.]*/\"ci_high\":$2/; s/,\"raw\":\"[0-9a-f]*\"//" >../claim &&
	git notes --ref="refs/notes/maxkernel/$1/metrics/evil-0000" add -F ../claim "$n"
}

test_that 'what is claimed is not landed, and is shown as a claim' '
	kernel_repo r && cd r && scripted "$PWD/../table" "default hash" &&
	git maxkernel explore -q --policy greedy --attempts 24 --seed 7 >/dev/null && s=$(the_search) && claims "$s" 9.5 &&
	best=$(git log -1 --format=%B "maxkernel/$s/best/scripted" | sed -n "s/^Maxkernel-Node: //p") &&
	git maxkernel resume -q --attempts 4 "$s" >../out; [ $? -le 1 ] &&
	has "9.50x, is claimed by evil-0000: git maxkernel verify" ../out &&
	for b in $(git for-each-ref --format="%(refname)" refs/heads/maxkernel); do
		git log -1 --format=%B $b >../message && hasnt 9.50x ../message && hasnt "Maxkernel-Node: $n" ../message || exit 1
	done && git rev-parse -q --verify "maxkernel/$s/best/scripted" &&
	for c in best "status $s" "log $s" "graph $s" "show $n"; do
		git maxkernel $c >../out && has evil-0000 ../out || exit 1
	done && git maxkernel best >../out && hasnt "branch:" ../out &&
	git maxkernel verify -q "$n"; git maxkernel log --json "$s" | grep "\"node\":\"$n\"" >../node && has "\"trust\":\"measured\"" ../node
'

test_that 'a changed reference starts a new search and recalls nothing' '
	kernel_repo r && cd r && mkdir ref && sed "s/float mix(/float mix_ref(/" kernels/mix.c |
		sed "s,util.h,../kernels/util.h," >ref/mix.c &&
	sed -i "s,entry = mix,entry = mix\n\treference = ref/mix.c:mix_ref," .maxkernel &&
	git add . && git commit -qm reference &&
	scripted "$PWD/../t" "default faster 2" &&
	git maxkernel explore -q --policy greedy --attempts 4 >/dev/null && s=$(the_search) &&
	echo "/* mended */" >>ref/mix.c && git commit -qam mended &&
	scripted "$PWD/../t" "default wrong" &&
	gives 1 git maxkernel explore -q --policy greedy --attempts 4 >../out &&
	[ "$(the_search | wc -l)" -eq 2 ] && has "none confirmed" ../out
'

test_that 'two explores do not work on one search' '
	kernel_repo r && cd r && scripted "$PWD/../t" "default hash" "delay 40" &&
	{ git-maxkernel explore -q --policy greedy --attempts 400 >/dev/null 2>&1 & pid=$!; } &&
	i=0 && while [ $i -lt 100 ] && [ -z "$(the_search)" ]; do sleep 0.1; i=$((i + 1)); done &&
	sleep 0.5 && gives 128 git maxkernel explore -q --policy greedy --attempts 4 2>../err &&
	has "another process" ../err; status=$?
	kill $pid; wait $pid; [ $status -eq 0 ]
'

test_that 'a node that was written and not judged is judged on resuming' '
	kernel_repo r && cd r && scripted "$PWD/../t" "default hash" &&
	git maxkernel explore -q --policy greedy --attempts 12 --seed 3 >/dev/null && s=$(the_search) &&
	n=$(git maxkernel log --json | perl -MJSON::PP -ne "\$d=decode_json(\$_); print \$d->{node} if \$d->{step}==11") &&
	ref=$(git for-each-ref --format="%(refname)" "refs/notes/maxkernel/$s/metrics") &&
	git notes --ref="$ref" show $n >/dev/null &&
	git notes --ref="$ref" remove $n 2>/dev/null &&
	git maxkernel log --json >../before && grep -q "$n" ../before &&
	git maxkernel resume -q --attempts 8 >/dev/null; [ $? -le 1 ] &&
	git notes --ref="$ref" show $n >../note && has "\"verdict\":" ../note
'

test_that 'a hostile spec is refused, the others are listed' '
	kernel_repo r && cd r && scripted "$PWD/../t" "default hash" &&
	git maxkernel explore -q --policy greedy --attempts 4 >/dev/null && s=$(the_search) &&
	git cat-file -p refs/maxkernel/$s/spec:spec | sed "s/\"round\":4/\"round\":0/; s/$s/evil-aaaaaa/" >../evil &&
	blob=$(git hash-object -w ../evil) && tree=$(printf "100644 blob $blob\tspec\n" | git mktree) &&
	c=$(git commit-tree -p HEAD -m evil $tree) && git update-ref refs/maxkernel/evil-aaaaaa/spec $c &&
	git maxkernel status >../out 2>../err && has evil-aaaaaa ../err && has "$s" ../out &&
	gives 128 git maxkernel resume evil-aaaaaa 2>../err
'

test_done
