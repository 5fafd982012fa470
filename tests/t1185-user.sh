#!/bin/sh
# What somebody who uses it all day comes upon: keys, names, settings, words of
# a server, data in two places.
. "$(dirname "$0")/lib.sh"

q="'"

# hub: hub.git, and a clone "a" with a search of it, in the current folder;
# leaves us in the clone
hub()
{
	git init -q --bare hub.git && kernel_repo a && cd a && git remote add origin ../hub.git &&
	git push -qu origin main && scripted "$PWD/../table" "default hash" &&
	git maxkernel explore -q --attempts "${1:-8}" >/dev/null && s=$(the_search)
}

test_that 'one press of the interrupt key is one, also when git passes it on' '
	kernel_repo a && cd a && scripted "$PWD/../slow" "default hash" "delay 60" && mkfifo ../go &&
	cat >../press.pl <<-\END &&
	use strict; use POSIX;
	my $pid = fork // die; if (!$pid) { setpgid(0, 0); exec @ARGV or die }
	for (1 .. 600) { last if `git for-each-ref "refs/maxkernel/*/w/*"` ne ""; select undef, undef, undef, .05 }
	kill "INT", -$pid; waitpid $pid, 0;
	END
	perl ../press.pl git maxkernel explore --attempts 400 >../out 2>../err; cat ../err; has "speedup" ../out
'

test_that 'a clone without searches is told of pull' '
	hub && git maxkernel push -q && cd .. && git clone -q hub.git b && cd b && git maxkernel status >../out &&
	has "pull" ../out && gives 128 git maxkernel status mix 2>../err && has "git maxkernel pull" ../err &&
	gives 1 git maxkernel best 2>../err && has "git maxkernel pull" ../err
'

test_that 'the branch that best names has the node' '
	hub && git maxkernel push -q && cd .. && git clone -q hub.git b && cd b && git maxkernel pull -q &&
	git maxkernel best --json >../json && b=$(perl -MJSON::PP -ne "print decode_json(\$_)->{branch}" ../json) &&
	n=$(perl -MJSON::PP -ne "print decode_json(\$_)->{node}" ../json) && git log -1 --format=%B "$b" >../log &&
	has "Maxkernel-Node: $n" ../log && git update-ref -d "refs/remotes/$b" && git maxkernel best >../out &&
	hasnt "branch: maxkernel" ../out && git maxkernel verify -q "$n" >/dev/null; git maxkernel best >../out &&
	has "branch: maxkernel/$s/best/scripted" ../out && git log -1 --format=%B "maxkernel/$s/best/scripted" >../log &&
	has "Maxkernel-Node: $n" ../log
'

test_that 'what a server says of a refusal is passed on, the hint once and last' '
	hub && printf "#!/bin/sh\ncase \$1 in refs/heads/*) ;; *) echo ask the boss >&2; exit 1;; esac\n" >../hub.git/hooks/update &&
	chmod +x ../hub.git/hooks/update && gives 1 git maxkernel push >../out 2>../err && has "remote: ask the boss" ../err &&
	[ "$(grep -c "ask the boss" ../err)" -eq 1 ] && [ "$(grep -c refPrefix ../err)" -eq 1 ] &&
	tail -n 1 ../err >../last && has refPrefix ../last
'

test_that 'a search in two places: pull takes both, push goes on where it is' '
	hub && printf "#!/bin/sh\ncase \$1 in refs/notes/*) exit 1;; esac\n" >../hub.git/hooks/update &&
	chmod +x ../hub.git/hooks/update && gives 1 git maxkernel push -q 2>../err &&
	git config maxkernel.refPrefix refs/heads/maxkernel-data/ && git maxkernel push -q &&
	{ git maxkernel resume -q --attempts 6 >/dev/null; [ $? -le 1 ]; } && git maxkernel push -q && nodes "$s" >../want &&
	cd .. && git clone -q hub.git b && cd b && git maxkernel pull -q && nodes "$s" >../got && same ../want ../got &&
	git for-each-ref "refs/notes/maxkernel/$s" >../notes && [ "$(wc -l <../notes)" -eq 2 ] &&
	{ git maxkernel resume -q --attempts 4 >/dev/null; [ $? -le 1 ]; } && git maxkernel push -q 2>../err && same /dev/null ../err &&
	nodes "$s" >../all && cd ../a && git maxkernel pull -q && nodes "$s" >../got && same ../all ../got
'

test_that 'a kernel whose name begins that of another is itself' '
	hub && sed "s/kernel \"mix\"/kernel \"mixer\"/" .maxkernel >../more && cat ../more >>.maxkernel &&
	git commit -qam more && git maxkernel explore -q --attempts 2 mixer >/dev/null; [ $? -le 1 ] &&
	git maxkernel push -q origin mix && git ls-remote ../hub.git >../refs && has "maxkernel/$s/spec" ../refs &&
	hasnt mixer- ../refs && git maxkernel prune -n mix >../out && has "search $s" ../out &&
	gives 129 git maxkernel push origin mi 2>../err && has "$s" ../err && has "mixer-" ../err
'

test_that 'a remote that is none is an error with nothing to push too' '
	hub && git init -q ../e && git -C ../e commit -q --allow-empty -m x && cd ../e &&
	gives 128 git maxkernel push nosuch 2>../err && has nosuch ../err && gives 129 git maxkernel push "" 2>../err &&
	gives 128 git maxkernel push ext::sh 2>../err
'

test_that 'settings that are none are named' '
	hub && for v in abc 0; do
		gives 128 git -c maxkernel.pushInterval=$v maxkernel explore --push --attempts 1 2>../err &&
		has "maxkernel.pushInterval is $q$v" ../err || exit 1
	done && gives 128 git -c maxkernel.leaseSeconds=1 maxkernel worker 2>../err && has "maxkernel.leaseSeconds" ../err &&
	for v in refs/maxkernel/ elsewhere/; do
		gives 128 git -c maxkernel.refPrefix=$v maxkernel push 2>../err && has "maxkernel.refPrefix" ../err || exit 1
	done
'

test_that 'pull has the remote that git fetch has' '
	hub && git maxkernel push -q && git init -q --bare ../fork.git && cd .. && git clone -q hub.git b && cd b &&
	git remote add fork ../fork.git && git config remote.pushDefault fork && git maxkernel pull >../out && has "$s" ../out
'

test_that 'a landing branch with commits by hand is said to stay here' '
	hub && git checkout -q "maxkernel/$s/best/scripted" && git commit -q --allow-empty -m mine && git maxkernel push 2>../err &&
	has "made by hand and is not pushed" ../err
'

test_that 'a spent budget is called one' '
	hub && git maxkernel status >../out && has "budget spent" ../out && gives 1 git maxkernel resume >../out 2>../err &&
	has "its budget is spent" ../err
'

test_that 'a command that is nearly one' '
	gives 129 git maxkernel pul 2>err && has "did you mean" err && grep -q "^	pull\$" err && gives 129 git maxkernel hook run 2>err &&
	hasnt "'"''"'" err
'

test_done
