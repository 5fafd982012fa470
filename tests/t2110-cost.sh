#!/bin/sh
# What was spent: calls of models on the ledger and in the journal, each once,
# whoever holds its line; and how cost shows it.
. "$(dirname "$0")/lib.sh"

DRIVE=$BUILD/helper/store_drive
LEDGER=$BUILD/helper/ledger_drive
DUMP=$BUILD/helper/store_dump
DEV=dev-avx2-t1
export DRIVE LEDGER DUMP DEV

# begun [<folder>]: a repository with a kernel and a search, in it; sets S, W
begun()
{
	if [ $# -gt 0 ]; then mkdir "$1" && cd "$1" || return 1; fi
	git init -q . && mkdir kernels &&
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
	S=$("$DRIVE" create my-copy) && W=$("$DRIVE" worker)
}

# spent <line>: the sums of the search, the same with what is kept and without
spent()
{
	"$DUMP" "$S" "$DEV" >warm.txt && "$DUMP" "$S" "$DEV" >warm2.txt &&
	rm -rf .git/maxkernel/cache && "$DUMP" "$S" "$DEV" >cold.txt &&
	same cold.txt warm.txt && same cold.txt warm2.txt &&
	"$LEDGER" spent "$S" >sums && tail -n 1 sums >sum && echo "$1" >wanted &&
	same wanted sum
}

# three: three attempts, two of which made a node, and four calls
three()
{
	"$LEDGER" attempt "$S" 1 node 3 "aaaaaaaaaaa1,planner,lab/big-1.5:x,1000,200,50,7,0.25" \
		"aaaaaaaaaaa2,fixer,small,10,0,5,0,-" >n1 &&
	"$LEDGER" attempt "$S" 2 dup 0 "aaaaaaaaaaa3,planner,lab/big-1.5:x,2000,0,100,0,0.5" >n2 &&
	"$LEDGER" attempt "$S" 3 node 0 "aaaaaaaaaaa4,fixer,small,1,2,3,4,0" >n3
}
SUM='attempts 3 time 0.75 device 0.375 calls 4 tokens 3382 cost 0.75'
export SUM

test_that 'where nothing was spent the answer is no' '
	git init -q . && git commit -q --allow-empty -m first &&
	gives 1 git maxkernel cost >out 2>err && [ ! -s out ] && has "nothing was spent" err &&
	gives 1 git maxkernel cost --json >out 2>err && [ ! -s out ] &&
	gives 128 git maxkernel cost nothing 2>err &&
	kernel_repo r && cd r && gives 1 git maxkernel cost mix 2>../err && has "nothing was spent" ../err
'

test_that 'a search of old has attempts and no calls' '
	begun && "$DRIVE" append "$S" 9 3 >acks && git maxkernel cost >out && has "$S " out &&
	git maxkernel cost --json >json && has "\"attempts\":9" json && has "\"calls\":0,\"tokens_in\":0" json &&
	[ "$(wc -l <json)" -eq 2 ] && git maxkernel cost --by agent >out && [ "$(wc -l <out)" -eq 2 ] &&
	! ls .git/maxkernel/log/usage-* 2>/dev/null
'

test_that 'calls stand on the ledger with their attempt, and are none themselves' '
	begun && three && spent "$SUM" &&
	has "call aaaaaaaaaaa1 step 1 $W planner lab/big-1.5:x 1000 200 50 7 0.25" sums &&
	has "call aaaaaaaaaaa2 step 1 $W fixer small 10 0 5 0 nan" sums &&
	git maxkernel status --json "$S" >out && has "\"attempts\":3,\"nodes\":3" out &&
	git fsck --strict --no-dangling >fsck 2>&1 && [ ! -s fsck ]
'

test_that 'the steps that a plan has left are a trailer' '
	begun && three && git log -1 --format="%(trailers:key=Maxkernel-Plan-Steps,valueonly)" "$(cat n1)" >got &&
	[ "$(sed 1q got)" = 3 ] && git log -1 --format=%B "$(cat n3)" >got && hasnt Plan-Steps got &&
	"$LEDGER" spent "$S" >sums && has "node 1 steps 3 device" sums && has "node 3 steps 0 device" sums &&
	"$LEDGER" attempt "$S" 4 node 1000 >n4 && "$LEDGER" spent "$S" >sums && has "node 4 steps 64 " sums
'

test_that 'cost shows it by search, agent, model and node' '
	begun && three && git maxkernel cost >out &&
	grep -q "^$S  *3 .* 4  *3011  *202  *158  *11  \$0.7500 + 1 call of unknown price\$" out &&
	grep -q "^total  *3 " out && git maxkernel cost --by agent my-copy >out &&
	grep -q "^planner  *2  *3000  *200  *150  *7  *3.0 s  \$0.7500\$" out &&
	grep -q "^fixer  *2  *11  *2  *8  *4 .* \$0.00 + 1 call of unknown price\$" out &&
	git maxkernel cost --by model "$S" >out && grep -q "^lab/big-1.5:x " out && grep -q "^small " out &&
	git maxkernel cost --by node >out && n=$(cut -c1-12 n1) &&
	grep -q "^ *1  $n .* 1272  \$0.2500 + 1 call of unknown price  a step\$" out &&
	grep -q "^ *2  - .* \$0.5000 *(dup)\$" out && gives 129 git maxkernel cost --by day 2>err &&
	has "search, agent, model or node" err
'

test_that 'and as JSON, the total last' '
	begun && three && git maxkernel cost --by node --json >json && [ "$(wc -l <json)" -eq 4 ] &&
	sed -n 1p json >one && has "\"step\":1,\"node\":\"$(cat n1)\",\"subject\":\"a step\",\"attempts\":1,\"attempt_s\":0.25,\"device_s\":0.125,\"calls\":2" one &&
	has "\"cost\":0.25,\"unpriced_calls\":1" one && tail -n 1 json >total && has "\"by\":\"total\",\"attempts\":3" total &&
	has "\"tokens\":3382" total && has "\"cost\":0.75,\"unpriced_calls\":1,\"claimed_calls\":0" total
'

test_that 'what came after is read into what was kept' '
	begun && three && spent "$SUM" && "$DRIVE" append "$S" 20 7 >acks && "$LEDGER" spent "$S" >sums &&
	tail -n 1 sums >sum && has "calls 4 tokens 3382 cost 0.75" sum && "$DUMP" "$S" "$DEV" >warm.txt &&
	"$LEDGER" attempt "$S" 30 dup 0 "aaaaaaaaaaa5,a,m,1,1,1,1,0.125" >n &&
	"$DUMP" "$S" "$DEV" >warm.txt && rm -rf .git/maxkernel/cache && "$DUMP" "$S" "$DEV" >cold.txt &&
	same cold.txt warm.txt && [ "$(grep -c "^call" cold.txt)" -eq 5 ]
'

test_that 'an id counts once, ours before the word of another' '
	begun a && three && git init -q --bare ../hub.git && git remote add origin ../hub.git &&
	git push -q origin HEAD:main && git maxkernel push -q && cd .. && git clone -q -b main hub.git b &&
	cd b && git maxkernel pull -q && spent "$SUM" && [ "$(grep -c claimed sums)" -eq 4 ] &&
	git maxkernel cost >out && has "4 calls claimed" out && git maxkernel cost --json >json &&
	has "\"claimed_calls\":4,\"claimed_cost\":0.75" json &&
	"$LEDGER" attempt "$S" 50 dup 0 "aaaaaaaaaaa1,liar,big,0,0,0,0,1000" >n && "$LEDGER" spent "$S" >sums &&
	has "call aaaaaaaaaaa1 step 50 " sums && git maxkernel push -q && cd ../a && git maxkernel pull -q &&
	"$LEDGER" spent "$S" >sums && has "call aaaaaaaaaaa1 step 1 $W planner" sums && tail -n 1 sums >sum &&
	has "attempts 4 time 1 device 0.5 calls 4 tokens 3382 cost 0.75" sum &&
	"$DUMP" "$S" "$DEV" >warm.txt && rm -rf .git/maxkernel/cache && "$DUMP" "$S" "$DEV" >cold.txt && same cold.txt warm.txt
'

test_that 'a copied clone that gets an id of its own counts them once' '
	begun a && git init -q --bare ../hub.git && git remote add origin ../hub.git && git push -q origin HEAD:main &&
	three && git maxkernel push -q && cd .. && cp -r a b && cd a &&
	"$LEDGER" attempt "$S" 4 dup 0 "aaaaaaaaaaa6,a,m,10,0,0,0,1" >n && git maxkernel push -q && cd ../b &&
	"$LEDGER" attempt "$S" 5 dup 0 "aaaaaaaaaaa7,a,m,20,0,0,0,2" >n && git maxkernel push -q 2>err &&
	git maxkernel pull -q && [ "$(sed 1q .git/maxkernel/log/worker)" != "$W" ] &&
	spent "attempts 5 time 1.25 device 0.625 calls 6 tokens 3412 cost 3.75" && cd ../a && git maxkernel pull -q &&
	spent "attempts 5 time 1.25 device 0.625 calls 6 tokens 3412 cost 3.75"
'

test_that 'searches that are united have the calls of both, the total each once' '
	begun && three && one=$S && S=$("$DRIVE" create my-copy) &&
	"$LEDGER" attempt "$S" 1 dup 0 "bbbbbbbbbbb1,planner,m,5,0,0,0,2" >n && two=$S && S=$one &&
	git maxkernel merge "$one" "$two" >out &&
	spent "attempts 4 time 1 device 0.5 calls 5 tokens 3387 cost 2.75" &&
	git maxkernel merge "$two" "$one" >out && S=$two &&
	spent "attempts 4 time 1 device 0.5 calls 5 tokens 3387 cost 2.75" &&
	git maxkernel cost --json >json && tail -n 1 json >total && has "\"attempts\":4,\"attempt_s\":1,\"device_s\":0.5,\"calls\":5" total &&
	has "\"cost\":2.75" total && git maxkernel cost --by agent --json >json && has "\"agent\":\"planner\",\"calls\":3" json
'

test_that 'pruning losers keeps the sums' '
	begun && three && "$LEDGER" attempt "$S" 30 node 0 "aaaaaaaaaaa8,a,m,1,0,0,0,1" >n4 &&
	sums="attempts 4 time 1 device 0.5 calls 5 tokens 3383 cost 1.75" && spent "$sums" &&
	git maxkernel prune --yes --losers "$S" >out && spent "$sums" && hasnt "node 1 " sums && hasnt "node 3 " sums &&
	has "node 30 " sums && git gc -q --prune=now && spent "$sums" && git maxkernel cost --by node >out &&
	grep -q "^ *1  -  *0.2 s  *0.1 s .* \$0.2500 " out
'

test_that 'a call in the journal alone is counted and marked, then settled once' '
	begun && three && "$LEDGER" journal "$S" 4 "ccccccccccc1,planner,m,100,0,10,0,1.5" >id && same id - <<-END &&
	ccccccccccc1
	END
	git maxkernel cost >out && has "\$2.25 + 1 call of unknown price, 1 call in the journal alone" out &&
	git maxkernel cost --json >json && has "\"unsettled_calls\":1" json && spent "$SUM" &&
	"$LEDGER" settle "$S" >nr && [ "$(cat nr)" = 1 ] && "$LEDGER" settle "$S" >nr && [ "$(cat nr)" = 0 ] &&
	spent "attempts 3 time 0.75 device 0.375 calls 5 tokens 3492 cost 2.25" && git maxkernel cost --json >json &&
	has "\"unsettled_calls\":0" json && "$LEDGER" journal "$S" 4 "ccccccccccc1,planner,m,100,0,10,0,1.5" >id &&
	"$LEDGER" attempt "$S" 4 dup 0 "ccccccccccc1,planner,m,100,0,10,0,1.5" >n && "$LEDGER" settle "$S" >nr && [ "$(cat nr)" = 0 ] &&
	spent "attempts 4 time 1 device 0.5 calls 5 tokens 3492 cost 2.25"
'

test_that 'what was paid for a search stays when that is pruned' '
	begun && three && "$LEDGER" journal "$S" 1 "aaaaaaaaaaa1,planner,lab/big-1.5:x,1000,200,50,7,0.25" >id &&
	git maxkernel prune -q --yes "$S" >out && git maxkernel cost >out && grep -q "^$S (pruned)  *0  .* \$0.2500\$" out &&
	git maxkernel cost --json "$S" >json && has "{\"by\":\"search\",\"kernel\":null,\"search\":\"$S\",\"attempts\":0" json &&
	git maxkernel cost --by node >out && grep -q "^ *1  - .* \$0.2500" out && S=$("$DRIVE" create my-copy) &&
	"$LEDGER" attempt "$S" 1 dup 0 "ccccccccccc9,fixer,m,1,1,1,1,1" >n && git maxkernel cost --by agent >out && grep -q "^planner .* \$0.2500\$" out &&
	grep -q "^total .* \$1.25\$" out && rm .git/maxkernel/log/usage-* && git maxkernel cost >out && hasnt pruned out
'

test_that 'show says what models were paid for a node' '
	begun && three && git maxkernel show --json "$(cat n1)" >json && has "\"plan_steps\":3,\"calls\":2,\"tokens\":1272,\"cost\":0.25," json &&
	has "\"attempt_s\":0.25,\"device_s\":0.125" json && git maxkernel show "$(cat n1)" >out && grep -q "^plan has  *3 more steps\$" out &&
	grep -q "^models  *2 calls, 1272 tokens, \$0.2500 + 1 of unknown price\$" out && git maxkernel log --json >log && has "\"calls\":1,\"tokens\":10,\"cost\":0," log &&
	git maxkernel show --json "$("$LEDGER" attempt "$S" 9 node 0)" >json && has "\"calls\":0,\"tokens\":0,\"cost\":0," json
'

test_that 'the journal is ours alone to read, and names no more than the call' '
	begun && umask 0 && "$LEDGER" journal "$S" 1 "-,planner,m,1,2,3,4,0.5" >id && j=.git/maxkernel/log/usage-$S &&
	[ "$(stat -c %a "$j")" = 600 ] && grep -q "^[0-9a-f]\{12\}\$" id &&
	sed "s/\"t\":\"[^\"]*\"/T/; s/$W/W/; s/$(cat id)/ID/" "$j" >got && same got - <<-\END
	{T,"v":1,"w":"W","e":"spend","step":1,"call":"ID","agent":"planner","model":"m","in":1,"cached":2,"out":3,"reason":4,"cost":0.5,"s":1.5}
	END
'

test_that 'a name that may not stand there is made one that may' '
	begun && "$LEDGER" journal "$S" 1 "ddddddddddd1,the planner,a\"b@c\\,1,0,0,0,1" >id && "$LEDGER" settle "$S" >nr &&
	"$LEDGER" attempt "$S" 2 dup 0 "ddddddddddd2,,-x.y,1,0,0,0,1" >n && "$LEDGER" spent "$S" >sums &&
	has " the_planner a_b_c_ 1 0 0 0 1" sums && has " _ _x.y 1 0 0 0 1" sums
'

# line <changes...>: a call as the journal has it, changed by sed
line()
{
	printf '%s\n' '{"t":"2026-12-01T03:04:05.123Z","v":1,"w":"WORKER","e":"spend","step":7,"call":"eeeeeeeeeee1","agent":"a","model":"m","in":1,"cached":0,"out":0,"reason":0,"cost":1}' |
		sed -e "s/WORKER/$W/" "$@"
}

test_that 'what is none of ours in the journal is named by its line and left out' '
	begun && j=.git/maxkernel/log/usage-$S && {
		line && echo "not a line" && line -e s/e1/e2/ -e s/spend/eval/ && line -e s/e1/e3/ -e "s/\"in\":1/\"in\":-1/" &&
		line -e s/e1/e4/ -e "s/\"cost\":1/\"cost\":2e9/" && line -e s/e1/e5/ -e "s/$W/other-0000/" &&
		line -e "s/eeeeeeeeeee1/EEEEEEEEEEEE/" && line -e s/e1/e7/ -e "s/\"m\"/\"m m\"/" &&
		line -e s/e1/e8/ -e "s/\"step\":7/\"verdict\":\"dup\",\"step\":7/" && head -c 9000 /dev/zero | tr "\0" x && echo &&
		line -e s/e1/e9/ -e "s/\"cost\":1/\"cost\":null/" && line -e s/\"v\":1/\"v\":2/ && echo "{\"t\":" && line -e s/e1/ea/ && printf "{\"t\":\"2026"; } >"$j" &&
	"$LEDGER" settle "$S" >nr 2>err && [ "$(cat nr)" = 3 ] && grep -o "line [0-9][0-9]*" err | tr "\n" " " >got &&
	echo "line 2 line 3 line 4 line 5 line 6 line 7 line 8 line 9 line 10 line 12 line 13 " | tr -d "\n" >want && same want got &&
	"$LEDGER" spent "$S" >sums && has "calls 3 tokens 3 cost 2" sums &&
	"$LEDGER" journal "$S" 9 "eeeeeeeeeeeb,a,m,1,0,0,0,4" >id && "$LEDGER" settle "$S" >nr 2>err && [ "$(cat nr)" = 1 ] &&
	[ "$(grep -c "^{\"t\":\"2026\$" "$j")" -eq 0 ] && git maxkernel cost >out 2>err && has "line 13 is left out" err && has "\$6.00" out
'

test_that 'a journal that is a link or a folder stops nobody and is not followed' '
	begun && j=.git/maxkernel/log/usage-$S && echo precious >../keep && ln -s ../../../../keep "$j" &&
	gives 128 "$LEDGER" journal "$S" 1 "-,a,m,1,0,0,0,1" 2>err && has "symbolic link" err && echo precious >want && same want ../keep &&
	gives 0 "$LEDGER" settle "$S" >nr 2>err && [ "$(cat nr)" = 0 ] && has "symbolic link" err && three && git maxkernel cost >out 2>err && has "\$0.7500" out &&
	rm "$j" && mkdir "$j" && gives 0 "$LEDGER" settle "$S" >nr 2>err && rmdir "$j" && mkfifo "$j" && gives 0 "$LEDGER" settle "$S" >nr 2>err && has "regular file" err
'

# noted <worker> <line...>: another worker's note of such lines on the spec
noted()
{
	w=$1 && shift && printf '%s\n' "$@" >text &&
	git notes --ref="refs/notes/maxkernel/$S/metrics/$w" add -f -F text "refs/maxkernel/$S/spec"
}

test_that 'lines of others that are no calls are left out, good ones are claims' '
	begun && three && W=evil-0001 && noted evil-0001 "$(line)" "$(line -e s/e1/e2/ -e "s/\"reason\":0,//")" \
		"$(line -e s/e1/e3/ -e "s/\"in\":1/\"in\":9007199254740994/")" "$(line -e s/e1/e4/ -e "s/\"in\":1/\"in\":9007199254740992/")" \
		"$(line -e s/e1/e5/ -e "s/\"cost\":1/\"cost\":-1/")" "$(line -e s/e1/e6/ -e "s/\"step\":7/\"step\":4000000000/")" \
		"$(line -e s/e1/e7/ -e "s/\"agent\":\"a\"/\"agent\":\"\\\\u001b[2J\"/")" "$(line -e s/e1/e8/ -e "s/\"call\":\"[^\"]*\"/\"call\":null/")" &&
	"$LEDGER" spent "$S" >sums 2>err && grep -c claimed sums >nr && [ "$(cat nr)" = 2 ] && has "calls 6 tokens 9007199254740992 cost 2.75" sums &&
	has "5 lines are left out" err && has "its step is 4000000000" err && git maxkernel cost >out 2>err && has "2 calls claimed" out
'

test_that 'a trailer of steps that is none is refused from others, passed over here' '
	begun && three && n=$(cat n3) && git cat-file commit "$n" | sed "s/^Maxkernel-Strategy: .*/&\nMaxkernel-Plan-Steps: 65/" >c &&
	m=$(git hash-object -t commit -w c) && t=$(git rev-parse "refs/maxkernel/$S/w/$W") &&
	git cat-file commit "$t" | sed "s/^parent $n/parent $m/" >c && a=$(git hash-object -t commit -w c) &&
	git update-ref "refs/maxkernel/$S/w/$W" "$a" && "$LEDGER" spent "$S" >sums 2>err && has "the steps of its plan" err &&
	has "node 3 steps 0" sums && git update-ref refs/maxkernel/$S/w/$W "$t" &&
	gives 1 "$BUILD/helper/incoming_drive" "$S" "refs/maxkernel/$S/w/$W" - "$a" >out 2>&1 && has "Maxkernel-Plan-Steps" out &&
	gives 0 "$BUILD/helper/incoming_drive" "$S" "refs/maxkernel/$S/w/$W" - "$t" >out 2>&1
'

test_done
