#!/bin/sh
# A search in the background: its log, and whose end it survives.
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

# field <name> <file>: of a JSON object
field()
{
	sed -n "s/.*\"$1\":\"\{0,1\}\([^,\"}]*\).*/\1/p" "$2"
}

runs()		# <search>
{
	git maxkernel status --json "$1" | grep -q '"running":true'
}

gone()		# <pid>
{
	! kill -0 "$1" 2>/dev/null
}

# made <search> <n>: so many nodes at least
made()
{
	[ "$(nodes "$1" | wc -l)" -ge "$2" ]
}

# slow: from here on verdicts take their time
slow()
{
	scripted "$SCRATCH/slow" "default hash" "delay 60"
}

test_that 'it says which search, which process, which log' '
	share d && kernel_repo r && cd r && slow &&
	gives 0 git maxkernel explore --detach --attempts 40 >../begun 2>../err && s=$(the_search) &&
	has "mix: search $s runs in the background" ../begun && has "git maxkernel halt $s" ../begun &&
	has "git maxkernel status --watch $s" ../begun && [ ! -s ../err ] &&
	pid=$(sed -n "s/.*, pid \([0-9]*\)$/\1/p" ../begun) && log=$(sed -n "s/^log:  *//p" ../begun) &&
	echo "$pid" >../pid && echo "$log" >../log && runs "$s" && kill -0 "$pid" &&
	case $log in "$PWD/.git/maxkernel/log/explore-"*"Z-$pid.log") ;; *) exit 1 ;; esac &&
	[ "$(stat -c %a "$log")" = 600 ] && [ "$(ps -o sid= -p "$pid" | tr -d " ")" = "$pid" ]
'

test_that 'status names its log; halt ends it, and the log has the table' '
	share d && cd r && s=$(the_search) && log=$(cat ../log) && pid=$(cat ../pid) &&
	git maxkernel status "$s" >../st && has "log        $log" ../st && has "running (pid $pid" ../st &&
	until_ made "$s" 2 && gives 0 git maxkernel halt "$s" && ! runs "$s" && until_ gone "$pid" &&
	has "kernel  shape" "$log" && has "policy adaptive" "$log" && ! grep "$(printf "\033")" "$log" &&
	git maxkernel status "$s" >../st && hasnt "$log" ../st
'

test_that 'resume --detach goes on to the end' '
	share d && cd r && s=$(the_search) && slow && gives 0 git maxkernel resume --detach --json >../begun &&
	[ "$(field search ../begun)" = "$s" ] && [ "$(field kernel ../begun)" = mix ] && pid=$(field pid ../begun) &&
	log=$(field log ../begun) && case $log in */resume-*) ;; *) exit 1 ;; esac &&
	until_ gone "$pid" && ! runs "$s" && has "\"search\":\"$s\"" "$log" && has "\"attempts\":" "$log" && made "$s" 30
'

test_that 'the caller is not kept waiting by what it lent' '
	kernel_repo r && cd r && slow &&
	git maxkernel explore --detach --attempts 400 3>&1 4>&2 2>&1 | cat >../begun && s=$(the_search) && runs "$s" &&
	has "in the background" ../begun && gives 0 git maxkernel halt -q
'

if command -v script >/dev/null
then
	test_that 'it survives the terminal' '
		kernel_repo r && cd r && slow &&
		TERM=xterm script -qec "git maxkernel explore --detach --attempts 400" /dev/null </dev/null >../typescript &&
		s=$(the_search) && n=$(nodes "$s" | wc -l) && has "in the background" ../typescript &&
		until_ made "$s" $((n + 4)) && runs "$s" && gives 0 git maxkernel halt -q
	'
else
	test_skip 'it survives the terminal' 'no script program'
fi

test_that 'a hangup does not end it, SIGTERM halts it' '
	kernel_repo r && cd r && slow && git maxkernel explore --detach --attempts 400 --json >../begun && s=$(the_search) &&
	pid=$(field pid ../begun) && kill -HUP "$pid" && n=$(nodes "$s" | wc -l) && until_ made "$s" $((n + 4)) &&
	kill -TERM "$pid" && until_ gone "$pid" && ! runs "$s" && has "kernel" "$(field log ../begun)" &&
	git fsck --strict --no-dangling
'

test_that 'what keeps it from beginning is told here, with its status' '
	kernel_repo r && cd r && scripted "$SCRATCH/bad" "default nonsense" &&
	gives 128 git maxkernel explore --detach --attempts 4 >../out 2>../err && [ ! -s ../out ] &&
	has "fatal: " ../err && has nonsense ../err && [ -z "$(ls .git/maxkernel/log | grep explore)" ] && slow &&
	gives 128 git maxkernel explore --detach --from nosuch 2>../err && has nosuch ../err &&
	gives 129 git maxkernel explore --detach --policy nosuch 2>../err
'

test_that 'one that had ended before: its result' '
	kernel_repo r && cd r && scripted "$SCRATCH/table" "default hash" &&
	{ git maxkernel explore -q --policy beam --width 2 --branches 2 --depth 2 >../want; [ $? -le 1 ]; } && s=$(the_search) &&
	{ git maxkernel explore --detach --policy beam --width 2 --branches 2 --depth 2 >../out 2>../err; [ $? -le 1 ]; } &&
	has "search $s is finished" ../out && has "kernel  shape" ../out && [ "$(the_search)" = "$s" ] && ! runs "$s"
'

test_that 'interrupted while it begins: nothing is left behind' '
	kernel_repo r && cd r && scripted "$SCRATCH/slower" "default hash" "delay 20000" &&
	{ git-maxkernel explore --detach --attempts 40 >../out 2>../err & pid=$!; } &&
	until_ sh -c "ls .git/maxkernel/log/explore-*.log >/dev/null 2>&1" && child=$(ls .git/maxkernel/log | sed -n "s/^explore-.*-\([0-9]*\).log/\1/p") &&
	kill -TERM $pid && { wait $pid; [ $? -eq 130 ]; } && gone "$child" && [ ! -s ../out ]
'

test_that 'the log cannot be written: nothing runs' '
	kernel_repo r && cd r && slow && mkdir -p .git/maxkernel && : >.git/maxkernel/log &&
	gives 128 git maxkernel explore --detach --attempts 4 >../out 2>../err && has "fatal: " ../err && [ ! -s ../out ] && [ -z "$(the_search)" ]
'

test_done
