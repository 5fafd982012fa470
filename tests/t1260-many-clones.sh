#!/bin/sh
# Eight clones push to one remote at once, over every transport: counted on
# the server, nothing is lost.  Remotes that refuse, fill up or die.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/storm.sh"
. "$(dirname "$0")/servers.sh"

place=$SCRATCH/place
base=$SCRATCH/served
mkdir "$place" "$base"
trap 'stop_servers; umount -l "$place" 2>/dev/null; cd / && chmod -R u+w "$SCRATCH" 2>/dev/null; rm -rf "$SCRATCH"' EXIT
export base place

# hub <name>: a bare repository that has the kernel and the search S
hub()
{
	bare_repo "$base/$1.git" && git init -q first && cd first && storm_repo && git remote add origin "$base/$1.git" &&
	git push -q origin main && git maxkernel push -q && cd ..
}

# clones <url> <n>...: clones c1, c2, ... that know the search
clones()
{
	clones_url=$1
	shift
	for i; do
		git clone -q "$clones_url" c$i && (cd c$i && git maxkernel pull -q) || return 1
	done
}

# rounds <n> <id>: writes and pushes so often, in the current folder
rounds()
{
	for round in $(seq "$1"); do
		"$STORM" write $S $(($2 * 10 + round)) 6 $((SEED + round)) >>acks && git maxkernel push -q || return 1
	done
}

# on_server <name>: what the clones' writers were told, counted there
on_server()
{
	cat c*/acks >all && cd "$base/$1.git" && "$STORM" check $S "$OLDPWD/all" && intact &&
	grep -vc "^-" "$OLDPWD/all" >"$SCRATCH/want" && nodes $S | wc -l >"$SCRATCH/got" && same "$SCRATCH/want" "$SCRATCH/got" &&
	for ref in $(git for-each-ref --format="%(refname)" refs/notes/maxkernel/$S/plan); do
		git notes --ref=$ref list
	done | cut -d" " -f2 | sort -u | wc -l >"$SCRATCH/got" && same "$SCRATCH/want" "$SCRATCH/got"
}

# crowd <name> <url of the base> [<core.sshCommand>]
crowd()
{
	name=$1 URL=$2 SSH=${3-}
	export name URL SSH
	test_that "$1: 8 clones that push at once lose nothing (seed $SEED)" '
		[ -z "$SSH" ] || git config --global core.sshCommand "$SSH" &&
		hub $name && clones "$URL/$name.git" 1 2 3 4 5 6 7 8 || exit 1
		for i in 1 2 3 4 5 6 7 8; do
			(cd c$i && rounds 2 $i) >log$i 2>&1 &
			pids="${pids:-} $!"
		done
		for pid in $pids; do
			wait $pid || { cat log?; exit 1; }
		done
		on_server $name
	'
	test_that "$1: a clone made then has them all" '
		S=$(git --git-dir="$base/$name.git" for-each-ref --format="%(refname)" "refs/maxkernel/*/spec" | cut -d/ -f3) &&
		git clone -q "$URL/$name.git" z && cd z && git maxkernel pull -q && nodes $S | wc -l >got &&
		nodes_there=$(cd "$base/$name.git" && nodes $S | wc -l) && echo $nodes_there >want && same want got && intact
	'
}

crowd file "$base"
for kind in git http ssh; do
	if "start_$kind" "$base"; then
		crowd "$kind" "$URL" "$([ $kind = ssh ] && echo "ssh -F $base/ssh_config")"
		[ $kind != ssh ] || git config --global --unset core.sshCommand
	else
		test_skip "$kind: 8 clones that push at once" "$NO_SERVER"
	fi
done
stop_servers

test_that 'a copied directory: two with one worker id, each keeps every node' '
	hub copy && clones "$base/copy.git" 1 && cd c1 && rounds 1 1 && cd .. && cp -R c1 c2 && : >c2/acks &&
	(cd c1 && rounds 1 2) && (cd c2 && "$STORM" write $S 31 6 1 >acks && git maxkernel push 2>msg >out && cat msg out) &&
	(cd c1 && rounds 1 4) && (cd c2 && rounds 1 5) && on_server copy && cd "$OLDPWD" &&
	a=$(cd c1 && "$DRIVE" worker) && b=$(cd c2 && "$DRIVE" worker) && echo "$a $b" && [ "$a" != "$b" ] && has "$b" c2/msg &&
	for c in c1 c2; do (cd $c && git maxkernel pull -q && kept ../all && intact) || exit 1; done
'

test_that 'a copied directory: both push at the same moment' '
	hub twin && clones "$base/twin.git" 1 && cd c1 && rounds 1 1 && cd .. && cp -R c1 c2 && : >c2/acks || exit 1
	(cd c1 && rounds 2 2) >log1 2>&1 &
	first=$!
	(cd c2 && rounds 2 3) >log2 2>&1
	second=$?
	wait $first && [ $second -eq 0 ] || { cat log?; exit 1; }
	on_server twin
'

test_that 'an update hook that refuses one ref: told, and the rest is there; later all' '
	hub picky && clones "$base/picky.git" 1 && cd c1 && "$STORM" write $S 1 6 1 >acks || exit 1
	printf "#!/bin/sh\ncase \$1 in */metrics/*) echo not these >&2; exit 1 ;; esac\n" >"$base/picky.git/hooks/update"
	chmod +x "$base/picky.git/hooks/update"
	git maxkernel push >out 2>&1; [ $? -ne 0 ] && has "metrics" out && (cd "$base/picky.git" && intact) && kept acks &&
	rm "$base/picky.git/hooks/update" && git maxkernel push -q && cd .. && on_server picky
'

test_that 'a server that is ended in the middle of a push' '
	hub dies && start_git "$base" || exit 1
	clones "$URL/dies.git" 1 && cd c1 && "$STORM" write $S 1 6 1 >acks || exit 1
	printf "#!/bin/sh\ntouch \"$base/came\"\nsleep 3\nexit 1\n" >"$base/dies.git/hooks/pre-receive"
	chmod +x "$base/dies.git/hooks/pre-receive"
	git maxkernel push >out 2>&1 &
	pid=$!
	for _ in $(seq 500); do
		[ ! -e "$base/came" ] || break
		sleep 0.02
	done
	stop_servers
	wait $pid; [ $? -ne 0 ] && cat out && [ -s out ] && kept acks && intact && (cd "$base/dies.git" && intact) &&
	gives 128 git maxkernel push 2>msg && has "fatal: " msg &&
	rm "$base/dies.git/hooks/pre-receive" && git remote set-url origin "$base/dies.git" && git maxkernel push -q &&
	cd .. && on_server dies
'

if [ "$(id -u)" -eq 0 ] && mount -t tmpfs -o size=64m tmpfs "$place" 2>/dev/null; then
	test_that 'a server whose disk is full: told, nothing half; later all' '
		hub full && mv "$base/full.git" "$place/full.git" && ln -s "$place/full.git" "$base/full.git" &&
		clones "$base/full.git" 1 && cd c1 && "$STORM" write $S 1 40 1 >acks || exit 1
		for room in 0 8 32 64; do
			mount -o "remount,size=$((($(stat -f -c "%b - %f" "$place")) * 4 + room))k" "$place"
			git maxkernel push >out 2>&1; ended=$?
			mount -o remount,size=64m "$place"
			(cd "$place/full.git" && intact) && kept acks && intact || exit 1
			[ $ended -eq 0 ] || [ -s out ] || exit 1
			[ $room -gt 0 ] || [ $ended -ne 0 ] || exit 1
		done
		git maxkernel push -q && cd .. && on_server full
	'
else
	test_skip 'a server whose disk is full' 'needs root, to mount a tmpfs'
fi

test_done
