#!/bin/sh
# Sharing over every transport of Git, and remotes that are odd, slow or die
# in the middle.
. "$(dirname "$0")/lib.sh"
. "$TESTS/servers.sh"
trap 'stop_servers; cd / && chmod -R u+w "$SCRATCH" 2>/dev/null; rm -rf "$SCRATCH"' EXIT

base=$SCRATCH/served
mkdir "$base"
kernel_repo "$SCRATCH/seed" >/dev/null
(
	cd "$SCRATCH/seed" && scripted "$SCRATCH/table" "default hash" &&
	git maxkernel explore -q --attempts 6 >/dev/null
)
S=$(cd "$SCRATCH/seed" && the_search)
table=$SCRATCH/table
MAXKERNEL_JUDGE=$table
export S MAXKERNEL_JUDGE base

# seed <dir>: a copy of the repository with the search, under an id of its own
seed()
{
	git clone -q "$SCRATCH/seed" "$1" && cd "$1" && git remote remove origin &&
	git fetch -q "$SCRATCH/seed" 'refs/maxkernel/*:refs/maxkernel/*' 'refs/notes/*:refs/notes/*'
}

sound()
{
	git fsck --strict --no-dangling >../fsck 2>&1 && [ ! -s ../fsck ] ||
		{ cat ../fsck; return 1; }
}

# round_trip <name> <url of the base> [<core.sshCommand>]: pushes, pulls
# elsewhere, goes on there and comes back, all over the transport
round_trip()
{
	# shellcheck disable=SC2016
	name=$1 URL=$2 SSH=${3-}
	export name URL SSH
	test_that "$1: push, pull, resume, push, pull" '
		[ -z "$SSH" ] || git config --global core.sshCommand "$SSH" &&
		bare_repo "$base/$name.git" && seed a && git remote add origin "$URL/$name.git" &&
		git push -q origin HEAD:refs/heads/main && git maxkernel push >../out && has "refs pushed" ../out &&
		cd .. && git clone -q "$URL/$name.git" b && cd b && git maxkernel pull -q &&
		{ git maxkernel resume -q --attempts 4 "$S" >/dev/null; [ $? -le 1 ]; } && git maxkernel push -q &&
		nodes "$S" >../want && [ "$(wc -l <../want)" -ge 10 ] && cd ../a && git maxkernel pull -q &&
		nodes "$S" >../got && same ../want ../got && sound && git maxkernel push >../out && has "there already" ../out
	'
	test_that "$1: of eight that push one ref at once, all land or are told" '
		git clone -q "$URL/$name.git" w0 && cd w0 && git maxkernel pull -q && cd .. &&
		for i in 1 2 3 4; do cp -r w0 w$i; rm w$i/.git/maxkernel/log/worker; done &&
		for i in 1 2 3 4; do (
			cd w$i && { git maxkernel resume -q --attempts 2 "$S" >/dev/null 2>&1; [ $? -le 1 ]; } &&
			git maxkernel push -q
		) >log$i 2>&1 & done; wait
		cat log? && for i in 1 2 3 4; do (cd w$i && nodes "$S"); done | sort -u >want &&
		git clone -q "$URL/$name.git" z && cd z && git maxkernel pull -q && nodes "$S" >../got && same ../want ../got
	'
	test_that "$1: a hook that refuses is heard" '
		bare_repo "$base/no-$name.git" && printf "#!/bin/sh\nexit 1\n" >"$base/no-$name.git/hooks/pre-receive" &&
		chmod +x "$base/no-$name.git/hooks/pre-receive" && seed a &&
		gives 1 git maxkernel push "$URL/no-$name.git" 2>../err && has "hook declined" ../err && sound
	'
	unset SSH
}

round_trip file "file://$base"
round_trip path "$base"
for kind in git http ssh; do
	if start_$kind "$base"; then
		ssh=
		[ $kind != ssh ] || ssh="ssh -F $base/ssh_config"
		round_trip $kind "$URL" "$ssh"
	else
		test_skip "$kind: push, pull, resume, push, pull" "$NO_SERVER"
	fi
done
[ ! -f "$base/ssh_config" ] ||
	ssh -F "$base/ssh_config" -O exit search-host >/dev/null 2>&1

# dying <in> <out>: a shell for GIT_SSH_COMMAND that passes so many bytes of
# what we send to the server, and of what it sends to us, and is gone then
dying()
{
	cat >"$SCRATCH/pass" <<-\END
	my $left = shift;
	while ($left > 0) {
		my $n = sysread STDIN, my $b, $left < 512 ? $left : 512 or last;
		syswrite STDOUT, $b;
		$left -= $n;
	}
	END
	cat >"$SCRATCH/dying" <<-END
	#!/bin/sh
	for last in "\$@"; do :; done
	perl $SCRATCH/pass $1 | sh -c "\$last" |
		{ perl $SCRATCH/pass $2; kill \$\$; }
	END
	chmod +x "$SCRATCH/dying"
	GIT_SSH_COMMAND=$SCRATCH/dying
	GIT_SSH_VARIANT=simple
	export GIT_SSH_COMMAND GIT_SSH_VARIANT
}
all=100000000
export all

test_that 'a remote that dies in the middle of a push: an error, nothing half' '
	bare_repo "$base/dies.git" && seed a && git for-each-ref >../before && told=0 &&
	for n in 1 200 600 900 1400 2500 4000 6000 9000; do
		dying $n $all
		git maxkernel push "ssh://x$base/dies.git" >../out 2>../err
		case $? in
		0) ;;
		128) has "fatal: " ../err && told=$((told + 1)) || exit 1 ;;
		*) cat ../err; exit 1 ;;
		esac
		git -C "$base/dies.git" fsck --strict --no-dangling >../fsck 2>&1 || { cat ../fsck; exit 1; }
	done
	[ $told -ge 3 ] && git for-each-ref >../after && same ../before ../after && sound &&
	dying $all $all && git maxkernel push -q "ssh://x$base/dies.git" && nodes "$S" >../want && cd .. &&
	git clone -q "$base/dies.git" b 2>/dev/null && cd b && git maxkernel pull -q && nodes "$S" >../got && same ../want ../got
'

test_that '... or of a pull' '
	bare_repo "$base/falls.git" && seed a && git push -q "$base/falls.git" HEAD:refs/heads/main &&
	git maxkernel push -q "$base/falls.git" && nodes "$S" >../want && cd .. && git clone -q "$base/falls.git" b && cd b && told=0 &&
	for n in 1 100 300 700 1000 1200 1500 2000 5000; do
		dying $all $n
		git maxkernel pull -q "ssh://x$base/falls.git" 2>../err
		status=$?
		echo "$n: $status" && cat ../err
		case $status in
		0) ;;
		128) has "fatal: " ../err && told=$((told + 1)) || exit 1 ;;
		*) cat ../err; exit 1 ;;
		esac
		sound || exit 1
	done
	[ $told -ge 3 ] && dying $all $all && git maxkernel pull -q "ssh://x$base/falls.git" &&
	nodes "$S" >../got && same ../want ../got
'

# hanging: a shell that says nothing for a minute
hanging()
{
	printf '#!/bin/sh\necho $$ >"%s"\nexec sleep 60\n' "$SCRATCH/hang.pid" >"$SCRATCH/hang" &&
	chmod +x "$SCRATCH/hang" && GIT_SSH_COMMAND=$SCRATCH/hang GIT_SSH_VARIANT=simple &&
	export GIT_SSH_COMMAND GIT_SSH_VARIANT
}

test_that 'the interrupt key ends a push that hangs, and what it started' '
	seed a && hanging && { git-maxkernel push "ssh://x/y.git" >/dev/null 2>../err & pid=$!; } &&
	i=0 && while [ $i -lt 100 ] && [ ! -s "$SCRATCH/hang.pid" ]; do sleep 0.1; i=$((i + 1)); done &&
	kill -TERM $pid && wait $pid; [ $? -eq 130 ] && i=0 &&
	while [ $i -lt 50 ] && kill -0 "$(cat "$SCRATCH/hang.pid")" 2>/dev/null; do sleep 0.1; i=$((i + 1)); done &&
	! kill -0 "$(cat "$SCRATCH/hang.pid")" 2>/dev/null && sound
'

test_that 'a program that git leaves behind is not waited for' '
	bare_repo "$base/left.git" && seed a &&
	printf "#!/bin/sh\nsleep 30 </dev/null >/dev/null &\nfor last in \"\$@\"; do :; done\nexec sh -c \"\$last\"\n" >"$SCRATCH/left" &&
	chmod +x "$SCRATCH/left" && GIT_SSH_COMMAND=$SCRATCH/left GIT_SSH_VARIANT=simple &&
	export GIT_SSH_COMMAND GIT_SSH_VARIANT &&
	timeout 20 git-maxkernel push -q "ssh://x$base/left.git" && git ls-remote "$base/left.git" >../out && has "$S/spec" ../out
'

test_that 'nobody is asked in the background' '
	seed a && printf "#!/bin/sh\n{ echo \"prompt \$GIT_TERMINAL_PROMPT\"; tty </dev/tty; } >\"%s\" 2>&1\nexit 1\n" "$SCRATCH/asked" >"$SCRATCH/ask" &&
	chmod +x "$SCRATCH/ask" && GIT_SSH_COMMAND=$SCRATCH/ask GIT_SSH_VARIANT=simple && export GIT_SSH_COMMAND GIT_SSH_VARIANT &&
	gives 128 git maxkernel push --background "ssh://x/y.git" 2>../err && has "prompt 0" "$SCRATCH/asked" &&
	has "cannot open" "$SCRATCH/asked"
'

# typed <log> <prompt> <answer>: types the answer when the prompt is there
typed()
{
	i=0
	while [ $i -lt 300 ] && ! grep -qF "$2" "$1" 2>/dev/null; do
		sleep 0.1
		i=$((i + 1))
	done
	printf '%s\r' "$3"
}

if ! command -v script >/dev/null 2>&1; then
	NO_SERVER='there is no script(1)'
elif mkdir "$base/closed" && start_http "$base/closed" somebody:open-sesame; then
	NO_SERVER=
	CLOSED=$URL
	export CLOSED
fi
if [ -z "$NO_SERVER" ]; then
	test_that 'on a terminal a password is asked for, in front of it alone' '
		bare_repo "$base/closed/x.git" && seed a && : >../typescript &&
		{ typed ../typescript "Username for" somebody; typed ../typescript "Password for" open-sesame; sleep 1; } |
			script -qefc "git maxkernel push $CLOSED/x.git; echo gave \$?" ../typescript >/dev/null &&
		has "gave 0" ../typescript && hasnt "open-sesame" ../typescript &&
		git -C "$base/closed/x.git" rev-parse --verify -q "refs/maxkernel/$S/spec"
	'
	test_that '... and nobody is asked behind it' '
		seed a && script -qefc "git maxkernel push --background $CLOSED/x.git; echo gave \$?" ../typescript \
			>/dev/null </dev/null && has "gave 128" ../typescript && ! grep -E "(^|[^d] )Username for" ../typescript &&
		git config maxkernel.pushInterval 1 && scripted ../slow "default hash" "delay 20" &&
		script -qefc "git maxkernel explore --seed 9 --attempts 8 --push=$CLOSED/x.git; echo gave \$?" ../typescript \
			>/dev/null </dev/null && has "gave 0" ../typescript && ! grep -E "(^|[^d] )Username for" ../typescript &&
		has "later: git maxkernel push" ../typescript
	'
else
	test_skip 'on a terminal a password is asked for, in front of it alone' "$NO_SERVER"
fi

test_that 'words of the remote are cleaned before they are shown' '
	bare_repo "$base/rude.git" && seed a &&
	printf "#!/bin/sh\nprintf \"\\\\033[31mred\\\\007\\\\n\" >&2\nexit 1\n" >"$base/rude.git/hooks/pre-receive" &&
	chmod +x "$base/rude.git/hooks/pre-receive" && git maxkernel push "$base/rude.git" >../out 2>&1; [ $? -eq 1 ] &&
	! grep -q "$(printf "\\033")" ../out
'

test_that 'names that are no refs of ours are passed over' '
	bare_repo "$base/odd.git" && seed a && git push -q "$base/odd.git" HEAD:refs/heads/main && git maxkernel push -q "$base/odd.git" &&
	for n in "UPPER-x/spec" "$S/w/a/b" "$S/w/-x" "$S/other/x-0001" "$S/lease/step-1"; do
		git -C "$base/odd.git" update-ref "refs/maxkernel/$n" refs/heads/main || exit 1
	done && git -C "$base/odd.git" update-ref "refs/notes/maxkernel/$S/metrics/x/y" refs/heads/main &&
	cd .. && git clone -q "$base/odd.git" b && cd b && git maxkernel pull -q &&
	git for-each-ref --format="%(refname)" | grep -E "UPPER|/a/b|w/-x|other|lease|x/y" >../odd; same /dev/null ../odd
'

test_that 'a ref of ours that is no commit is refused' '
	bare_repo "$base/blob.git" && seed a && git push -q "$base/blob.git" HEAD:refs/heads/main && git maxkernel push -q "$base/blob.git" &&
	b=$(echo x | git -C "$base/blob.git" hash-object -w --stdin) &&
	git -C "$base/blob.git" update-ref "refs/maxkernel/$S/w/evil-0002" "$b" &&
	git -C "$base/blob.git" update-ref "refs/notes/maxkernel/$S/metrics/evil-0002" "$b" &&
	git -C "$base/blob.git" update-ref "refs/maxkernel/none-aaaaaa/spec" "$b" &&
	cd .. && git clone -q "$base/blob.git" b && cd b && gives 1 git maxkernel pull -q 2>../err &&
	has "w/evil-0002" ../err && has "metrics/evil-0002" ../err && has "none-aaaaaa" ../err && [ "$(the_search)" = "$S" ]
'

test_that 'a remote of somebody else: safe.directory is told of' '
	bare_repo "$base/foreign.git" && seed a && { chown -R nobody "$base/foreign.git" 2>/dev/null ||
		{ echo "cannot chown: passed over"; exit 0; }; } &&
	gives 128 git maxkernel push "$base/foreign.git" 2>../err && has "safe.directory" ../err && sound
'

test_that 'a shallow clone says the way out' '
	bare_repo "$base/deep.git" && seed a && git commit -q --allow-empty -m more && git push -q "$base/deep.git" HEAD:refs/heads/main &&
	cd .. && git clone -q --depth 1 "file://$base/deep.git" b && cd b && gives 128 git maxkernel pull 2>../err && has "unshallow" ../err
'

test_that 'a sparse clone works' '
	bare_repo "$base/sparse.git" && seed a && git push -q "$base/sparse.git" HEAD:refs/heads/main && git maxkernel push -q "$base/sparse.git" &&
	cd .. && git clone -q "$base/sparse.git" b && cd b && git sparse-checkout init && git sparse-checkout set none &&
	git maxkernel pull -q && { git maxkernel resume -q --attempts 4 "$S" >/dev/null; [ $? -le 1 ]; } && git maxkernel push -q && sound
'

test_that 'a partial clone works, or says the way out' '
	bare_repo "$base/part.git" && git -C "$base/part.git" config uploadpack.allowFilter true && seed a &&
	git push -q "$base/part.git" HEAD:refs/heads/main && git maxkernel push -q "$base/part.git" && nodes "$S" >../want && cd .. &&
	git clone -q --no-checkout --filter=blob:none "file://$base/part.git" b && cd b && git maxkernel pull -q 2>../err; status=$?
	cat ../err; [ $status -eq 0 ] || { has "git fetch --refetch" ../err && git fetch -q --refetch --no-filter && git maxkernel pull -q; } &&
	nodes "$S" >../got && same ../want ../got
'

test_that 'a mirror remote, push.default and other settings do not disturb' '
	bare_repo "$base/set.git" && seed a && git remote add --mirror=push m "$base/set.git" && git config push.followTags true &&
	git config fetch.prune true && git config push.default nothing && git tag -a -m x v1 && git maxkernel push -q m &&
	git ls-remote "$base/set.git" >../out && has "$S/spec" ../out && hasnt "v1" ../out && hasnt "refs/heads/main" ../out &&
	git maxkernel pull -q m && nodes "$S" >../got && [ -s ../got ]
'

test_that 'of two push URLs the one that refuses is heard' '
	for first in no yes; do
		rm -rf no.git yes.git a && bare_repo "$PWD/no.git" && bare_repo "$PWD/yes.git" &&
		printf "#!/bin/sh\nexit 1\n" >no.git/hooks/pre-receive && chmod +x no.git/hooks/pre-receive &&
		(seed a && git remote add origin "$PWD/../yes.git" &&
		for url in no yes; do [ $url = $first ] || echo ../$url.git; done >../second &&
		git config remote.origin.pushurl "$PWD/../$first.git" &&
		git config --add remote.origin.pushurl "$PWD/$(cat ../second)" &&
		! git maxkernel push >../out 2>../err && has "pre-receive hook declined" ../err) || exit 1
	done
'

test_that 'from a subfolder, a linked work tree and a bare repository' '
	bare_repo "$base/sub.git" && seed a && cp -r "$base/sub.git" ../near.git && git remote add origin ../near.git && cd kernels && git maxkernel push -q &&
	git worktree add -q ../../tree HEAD && cd ../../tree && git maxkernel pull >../out && has "nothing new" ../out &&
	cd .. && git clone -q --bare near.git b.git 2>/dev/null && cd b.git && git remote add up ../near.git 2>/dev/null;
	git maxkernel pull -q "$SCRATCH/$test_nr/near.git" && [ "$(the_search)" = "$S" ]
'

test_done
