#!/bin/sh
# A search that runs: what others see of it, and how they halt it.
. "$(dirname "$0")/lib.sh"

# until_ <command...>: until it succeeds, a minute at most
until_()
{
	until_i=0
	while ! "$@"; do
		until_i=$((until_i + 1))
		[ $until_i -lt 1200 ] || { echo "never came: $*"; return 1; }
		sleep 0.05
	done
}

# field <name> <file>: of the first JSON object in it
field()
{
	head -n 1 "$2" | sed -n "s/.*\"$1\":\"\{0,1\}\([^,\"}]*\).*/\1/p"
}

runs()		# <search>
{
	git maxkernel status --json "$1" >"$SCRATCH/runs" 2>/dev/null &&
	grep -q '"running":true' "$SCRATCH/runs"
}

# made <search> <n>: so many nodes at least
made()
{
	[ "$(nodes "$1" | wc -l)" -ge "$2" ]
}

searches()	# <n>: so many run
{
	[ "$(git maxkernel status --json 2>/dev/null | grep -c '"running":true')" -ge "$1" ]
}

# ended <status> <pid>: with that exit status, or done: 0 or 1
ended()
{
	wait "$2"
	ended_got=$?
	case $1 in done) [ $ended_got -le 1 ] ;; *) [ $ended_got -eq "$1" ] ;; esac
}

# begin: a search in the background that takes its time; its pid is $pid
begin()
{
	git-maxkernel explore -q --attempts 40 --seed 7 "$@" >../out 2>../err &
	pid=$!
	until_ searches 1 && s=$(the_search)
}

test_that 'a search left alone' '
	share k && kernel_repo alone && cd alone && git rev-parse HEAD >../head &&
	scripted "$PWD/../table" "default hash" &&
	git maxkernel explore -q --attempts 40 --seed 7 --jobs 2 &&
	states "$(the_search)" kernels/mix.c >../want && [ -s ../want ]
'

test_that 'halt ends it in the middle, with the status of a signal' '
	share k && kernel_repo r && cd r && scripted "$PWD/../slow" "default hash" "delay 60" &&
	begin --jobs 2 && until_ made "$s" 3 &&
	git maxkernel status >../list && has "running (pid $pid" ../list &&
	git maxkernel status "$s" >../one && has "halt $s" ../one && has "running (pid $pid" ../one &&
	gives 0 git maxkernel halt >../halted 2>../halt.err && has "git maxkernel resume $s" ../halted &&
	[ ! -s ../halt.err ] && ended 130 $pid &&
	! runs "$s" && [ "$(field pid ../../runs)" = null ] &&
	made "$s" 3 && ! made "$s" 40 && [ -z "$(ls .git/maxkernel/run)" ] &&
	git fsck --strict --no-dangling
'

test_that 'halted and resumed again and again: the graph of one left alone' '
	share k && cd r && s=$(the_search) && scripted "$PWD/../slow" "default hash" "delay 60" && i=0 &&
	while [ $i -lt 4 ]; do
		n=$(nodes "$s" | wc -l) &&
		{ git-maxkernel resume -q --jobs 2 "$s" >/dev/null & pid=$!; } &&
		until_ made "$s" $((n + 3)) &&
		if [ $((i % 2)) = 0 ]; then
			git maxkernel halt -q "$s" >/dev/null || exit 1
		else
			kill -TERM $pid
		fi
		ended 130 $pid || exit 1
		i=$((i + 1))
	done &&
	scripted "$PWD/../table" "default hash" &&
	{ git maxkernel resume -q --jobs 2 "$s" >/dev/null; [ $? -le 1 ]; } &&
	states "$s" kernels/mix.c >../got && same ../want ../got &&
	uniq -d ../got >../twice && same /dev/null ../twice
'

test_that 'nothing runs: the answer is no' '
	share k && cd r && s=$(the_search) &&
	gives 1 git maxkernel halt >../out 2>../err && [ ! -s ../out ] && has "no search runs" ../err &&
	gives 1 git maxkernel halt "$s" 2>../err && has "does not run" ../err &&
	gives 1 git maxkernel halt mix 2>../err &&
	gives 128 git maxkernel halt nosuch 2>../err && has "no search or kernel" ../err &&
	gives 129 git maxkernel halt a b &&
	gives 0 git maxkernel status --watch >../out 2>../err && [ ! -s ../out ] &&
	cd .. && make_repo none && cd none && gives 1 git maxkernel halt 2>../err &&
	cd .. && kernel_repo new && cd new && gives 1 git maxkernel halt mix 2>../err && has "does not run" ../err &&
	gives 128 git maxkernel halt nosuch 2>../err
'

test_that 'killed: it does not run, whatever its file says' '
	kernel_repo r && cd r && scripted "$PWD/../slow" "default hash" "delay 100" &&
	begin && kill -9 $pid && ended 137 $pid && [ -s ".git/maxkernel/run/$s" ] &&
	! runs "$s" && gives 1 git maxkernel halt && git maxkernel status >../list && hasnt running ../list &&
	{ git-maxkernel resume -q >/dev/null & pid=$!; } && until_ runs "$s" && [ "$(field pid ../../runs)" = $pid ] &&
	git maxkernel halt --json >../halted && [ "$(field halted ../halted)" = true ] && [ "$(field pid ../halted)" = $pid ] &&
	ended 130 $pid
'

test_that '--no-wait only asks; --timeout gives up, the request stands' '
	kernel_repo r && cd r && scripted "$PWD/../slow" "default hash" "delay 100" &&
	begin && kill -STOP $pid &&
	gives 0 git maxkernel halt --no-wait >../out && has "asked to halt" ../out &&
	gives 128 git maxkernel halt --timeout 0.3 2>../err && has "has not halted" ../err && has "pid $pid" ../err &&
	kill -CONT $pid && ended 130 $pid && [ -z "$(ls .git/maxkernel/run)" ]
'

test_that 'a request that nobody heard is not for who comes later' '
	kernel_repo r && cd r && scripted "$PWD/../table" "default hash" &&
	{ git maxkernel explore -q --attempts 4 >/dev/null; [ $? -le 1 ]; } && s=$(the_search) && mkdir -p .git/maxkernel/run &&
	: >".git/maxkernel/run/$s.halt" && n=$(nodes "$s" | wc -l) &&
	{ git maxkernel resume -q --attempts 8 "$s" >/dev/null; [ $? -le 1 ]; } && made "$s" $((n + 4)) &&
	mkdir ".git/maxkernel/run/$s.halt" && : >".git/maxkernel/run/$s.halt/x" && n=$(nodes "$s" | wc -l) &&
	{ git maxkernel resume -q --attempts 8 "$s" >/dev/null; [ $? -le 1 ]; } && made "$s" $((n + 4))
'

test_that 'of several kernels one is halted, the others go on' '
	kernel_repo r && cd r && sed "s/\"mix\"/\"mux\"/" .maxkernel >more && cat more >>.maxkernel && rm more &&
	git commit -qam "two" && scripted "$PWD/../slow" "default hash" "delay 20" &&
	{ git-maxkernel explore --attempts 80 --json >../out 2>../err & pid=$!; } &&
	until_ searches 2 && m=$(the_search | grep ^mix) && u=$(the_search | grep ^mux) &&
	gives 0 git maxkernel halt mix >../halted && has "$m" ../halted && hasnt "$u" ../halted &&
	! runs "$m" && n=$(nodes "$m" | wc -l) && ended 130 $pid && [ "$(nodes "$m" | wc -l)" -eq $n ] && made "$u" 20 &&
	grep "\"search\":\"$m\"" ../out >../first && has "\"end\":\"stopped\"" ../first &&
	grep "\"search\":\"$u\"" ../out >../second && hasnt stopped ../second
'

test_that 'of several that have just begun all are halted, or one that waits for its turn' '
	kernel_repo r && cd r && sed "s/\"mix\"/\"mux\"/" .maxkernel >more && sed "s/\"mix\"/\"muy\"/" .maxkernel >>more &&
	cat more >>.maxkernel && rm more && git commit -qam "three" && scripted "$PWD/../slow" "default hash" "delay 100" &&
	{ git-maxkernel explore --attempts 600 --json >../out 2>../err & pid=$!; } &&
	until_ searches 3 && m=$(the_search | grep ^mix) && y=$(the_search | grep ^muy) &&
	gives 0 git maxkernel halt muy >../halted && has "$y" ../halted && hasnt "$m" ../halted && ! runs "$y" && runs "$m" &&
	gives 0 git maxkernel halt >../halted && has "$m" ../halted && hasnt "$y" ../halted && ended 130 $pid &&
	[ -z "$(ls .git/maxkernel/run)" ] && [ "$(grep -c "\"end\":\"stopped\"" ../out)" -eq 3 ] &&
	grep "\"search\":\"$y\"" ../out >../third && [ "$(field attempts ../third)" -eq 0 ] && [ -z "$(nodes "$y")" ]
'

test_that 'resume of what runs elsewhere says so before it measures' '
	kernel_repo r && cd r && scripted "$PWD/../slow" "default hash" "delay 30" && begin &&
	gives 128 git maxkernel resume "$s" 2>../busy && has "another process works on search $s" ../busy &&
	hasnt baseline ../busy && hasnt resuming ../busy && git maxkernel halt -q >../halted && ended 130 $pid
'

# waits <search>: its file says so, and of all attempts that it has
waits()
{
	cat ".git/maxkernel/run/$1" >../file 2>/dev/null && grep -q '"doing":"waiting for its turn"' ../file &&
	n=$(nodes "$1" | wc -l) && [ "$n" -gt 0 ] && grep -q "\"attempts\":$n," ../file
}

test_that 'what waits for its turn says all that it has made' '
	kernel_repo r && cd r && sed "s/\"mix\"/\"mux\"/" .maxkernel >more && cat more >>.maxkernel && rm more &&
	git commit -qam "two" && scripted "$PWD/../slow" "default hash" "delay 150" &&
	{ git-maxkernel explore --attempts 600 >../out 2>../err & pid=$!; } &&
	until_ searches 2 && m=$(the_search | grep ^mix) && until_ waits "$m" && git maxkernel halt -q >../halted &&
	ended 130 $pid && has "search $m was halted" ../err && has "maxkernel resume $m" ../err
'

test_that 'status --watch: objects while it runs, then it ends by itself' '
	kernel_repo r && cd r && scripted "$PWD/../slow" "default hash" "delay 30" &&
	begin && gives 0 git maxkernel status --watch --json >../watched 2>../watch.err &&
	ended done $pid && [ "$(wc -l <../watched)" -ge 2 ] && [ ! -s ../watch.err ] &&
	head -n 1 ../watched >../first && has "\"running\":true" ../first && has "\"pid\":$pid," ../first &&
	has "\"search\":\"$s\"" ../first && grep -q "\"jobs\":\[{\"step\":[0-9]*,\"subject\":\"[^\"]" ../watched &&
	has "\"budget\":{\"attempts\":40," ../first &&
	tail -n 1 ../watched >../last && has "\"running\":false" ../last && has "\"pid\":null" ../last &&
	grep -q "\"speedup\":[0-9]" ../last && [ "$(grep -c "\"running\":false" ../watched)" -eq 1 ]
'

test_that 'status --watch: lines where there is no terminal' '
	kernel_repo r && cd r && scripted "$PWD/../slow" "default hash" "delay 30" &&
	begin && gives 0 git maxkernel status --watch "$s" >../watched && ended done $pid &&
	has "$s: " ../watched && has "of 40" ../watched && [ "$(grep -c "has ended" ../watched)" -eq 1 ] &&
	! grep "$(printf "\033")" ../watched
'

test_that 'status --watch is ended by a signal, and the search is not' '
	kernel_repo r && cd r && scripted "$PWD/../slow" "default hash" "delay 100" && begin &&
	{ git-maxkernel status --watch --json >../watched & watch=$!; } && until_ test -s ../watched &&
	kill -TERM $watch; ended 130 $watch && runs "$s" && git maxkernel halt -q >/dev/null && ended 130 $pid
'

if command -v script >/dev/null
then
	test_that 'status --watch on a terminal: drawn again, no pager' '
		kernel_repo r && cd r && scripted "$PWD/../slow" "default hash" "delay 30" && begin &&
		TERM=xterm PAGER="sed s/^/paged/" script -qec "stty cols 60 rows 20; git maxkernel status --watch" /dev/null \
			</dev/null >../typescript && ended done $pid && has "attempts  " ../typescript && hasnt paged ../typescript &&
		has "$(printf "\033[J")" ../typescript && has "$s" ../typescript && has "has ended" ../typescript
	'
	test_that 'status --watch: no more lines than the terminal has' '
		kernel_repo r && cd r && scripted "$PWD/../slow" "default hash" "delay 30" && begin &&
		TERM=xterm script -qec "stty cols 60 rows 4; git maxkernel status --watch" /dev/null \
			</dev/null >../typescript && ended done $pid &&
		has "$(printf "\033[3A")" ../typescript && ! grep -qE "$(printf "\033")\\[([4-9]|[1-9][0-9])A" ../typescript
	'
else
	test_skip 'status --watch on a terminal: drawn again, no pager' \
		'no script program'
fi

# looks: status shows that the search runs, and nothing of what was put there
looks()
{
	timeout 60 git maxkernel status --json "$s" >../st 2>&1 && has "\"running\":true" ../st &&
	timeout 60 git maxkernel status >../st 2>&1 && has "running" ../st && hasnt "$(printf "\033")" ../st &&
	! has zzz ../st >/dev/null
}

test_that 'what others put into the file does no harm' '
	kernel_repo r && cd r && scripted "$PWD/../slow" "default hash" "delay 100" && begin && kill -STOP $pid &&
	f=.git/maxkernel/run/$s && cp "$f" ../good && looks &&
	{ rm "$f"; echo "{\"pid\":1,\"kernel\":\"zzz\"" >"$f"; looks; } &&
	{ rm "$f"; : >"$f"; looks; } &&
	{ rm "$f"; sed "s/\"pid\":[0-9]*/\"pid\":1/" ../good >"$f"; looks; } && ! grep -q "pid 1," ../st &&
	{ rm "$f"; sed "s/\"pid\":[0-9]*/\"pid\":-7/" ../good >"$f"; looks; } &&
	{ rm "$f"; sed "s/\"log\":\"[^\"]*\"/\"log\":\"\\\\u001b[31mzz\"/" ../good >"$f"; looks; } &&
	git maxkernel status "$s" >../st && hasnt "$(printf "\033")" ../st &&
	{ rm "$f"; echo "{\"pid\":7,\"kernel\":\"zzz\"}" >../zzz; ln -s "$PWD/../zzz" "$f"; looks; } &&
	{ rm "$f"; ln -s /dev/zero "$f"; looks; } && { rm "$f"; mkfifo "$f"; looks; } && { rm "$f"; mkdir "$f"; looks; rmdir "$f"; } &&
	{ dd if=/dev/zero of="$f" bs=1M count=3; looks; } && rm "$f" &&
	{ printf "{\"v\":1,\"jobs\":["; yes "{}," | head -n 9000 | tr -d "\n"; echo "{}]}"; } >"$f" && looks &&
	kill -CONT $pid && gives 0 git maxkernel halt >../out && ended 130 $pid && [ "$(cat ../zzz)" = "{\"pid\":7,\"kernel\":\"zzz\"}" ]
'

test_that 'a folder of another kind in its place: the search goes on, status too' '
	kernel_repo r && cd r && scripted "$PWD/../slow" "default hash" "delay 30" && mkdir -p .git/maxkernel ../away &&
	ln -s "$PWD/../away" .git/maxkernel/run &&
	{ git-maxkernel explore -q --attempts 40 >../out 2>../err & pid=$!; } && until_ searches 1 && s=$(the_search) &&
	gives 128 git maxkernel halt 2>../err && has "kill $pid" ../err &&
	kill -TERM $pid && ended 130 $pid && [ -z "$(ls ../away)" ]
'

if [ "$(id -u)" -ne 0 ]
then
	test_that 'a repository that cannot be written to' '
		kernel_repo r && cd r && scripted "$PWD/../table" "default hash" && git maxkernel explore -q --attempts 4 >/dev/null;
		chmod -R a-w .git && gives 0 git maxkernel status >../out && hasnt running ../out && gives 1 git maxkernel halt;
		got=$?; chmod -R u+w .git; [ $got -eq 0 ]
	'
else
	test_skip 'a repository that cannot be written to' 'root can write to all'
fi

test_that 'several workers of one search: all of them are halted' '
	kernel_repo r && cd r && git init -q --bare ../o.git && git remote add origin ../o.git && git push -q origin main &&
	scripted "$PWD/../slow" "default hash" "delay 150" &&
	{ git maxkernel explore -q --policy greedy --branches 16 --attempts 4 >/dev/null; [ $? -le 1 ]; } && s=$(the_search) &&
	git maxkernel push -q origin &&
	{ git-maxkernel worker -q --attempts 200 >/dev/null & a=$!; } && { git-maxkernel worker -q --attempts 200 >/dev/null & b=$!; } &&
	until_ test -e ".git/maxkernel/run/$s.2" -a -e ".git/maxkernel/run/$s" && runs "$s" &&
	gives 0 git maxkernel halt "$s" >../out && [ "$(wc -l <../out)" -eq 2 ] && ended 130 $a && ended 130 $b &&
	[ -z "$(ls .git/maxkernel/run)" ]
'

test_that 'from another work tree of the clone' '
	kernel_repo r && cd r && git worktree add -q ../other && scripted "$PWD/../slow" "default hash" "delay 100" && begin &&
	cd ../other && runs "$s" && gives 0 git maxkernel halt >../halted && has "$s" ../halted && ended 130 $pid
'

test_done
