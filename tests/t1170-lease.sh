#!/bin/sh
# Leases: exactly one winner of every race, over a path and over git's own
# server; renewal, stealing by the observer's clock, release.
. "$(dirname "$0")/lib.sh"

drive=$BUILD/helper/lease_drive
REF=refs/maxkernel/race-aaaaaa/lease

rounds=$((CHECK_N * 50))

# setup: a bare remote and a clone of it
setup()
{
	rm -rf r.git r && git init -q --bare r.git &&
	git clone -q r.git r 2>/dev/null && cd r
}

# leases <remote>: keys that are there
leases()
{
	git ls-remote "$1" "$REF/*" | sed "s,.*$REF/,," | sort
}

# one_each <file> <n>: every round has been won, and by one alone
one_each()
{
	sort -n "$1" | cut -d" " -f1 | uniq -c | awk -v n="$2" '
		$1 != 1 { print "round " $2 " has " $1 " winners"; bad = 1 }
		{ rounds++ }
		END { if (rounds != n) { print rounds " rounds"; bad = 1 } exit bad }'
}

test_that "one winner in each of $rounds races of 8, over a path" '
	setup && "$drive" "$PWD/../r.git" race '"$rounds"' 8 >../won &&
	one_each ../won '"$rounds"' &&
	[ "$(leases ../r.git | wc -l)" -eq '"$rounds"' ] &&
	[ "$(cut -d" " -f2 ../won | sort -u | wc -l)" -gt 1 ] &&
	git -C ../r.git fsck --strict --no-dangling
'

# serve <folder>: git daemon on a free port; sets url and daemon
serve()
{
	for port in 29418 29518 29618 29718 29818 29918; do
		git daemon --reuseaddr --listen=127.0.0.1 --port=$port \
			--export-all --enable=receive-pack \
			--base-path="$1" "$1" >"$1/daemon.log" 2>&1 &
		daemon=$!
		url=git://127.0.0.1:$port
		i=0
		while [ $i -lt 50 ] && kill -0 $daemon 2>/dev/null; do
			git ls-remote "$url/r.git" >/dev/null 2>&1 && return 0
			sleep 0.1
			i=$((i + 1))
		done
		kill $daemon 2>/dev/null
		wait $daemon 2>/dev/null
	done
	return 1
}

if git daemon -h 2>&1 | grep -q base-path; then
test_that "one winner in each of $rounds races of 8, over git://" '
	setup && serve "$(cd .. && pwd)" && trap "kill $daemon" EXIT &&
	"$drive" "$url/r.git" race '"$rounds"' 8 >../won &&
	one_each ../won '"$rounds"' &&
	[ "$(leases ../r.git | wc -l)" -eq '"$rounds"' ]
'
else
test_skip 'races over git://' 'this git has no daemon'
fi

test_that 'a lease is a parentless commit that says whose it is' '
	setup || exit 1
	"$drive" ../r.git script 7 claim:a-1 touch:claimed \
		wait-for:go >../out & pid=$!
	while [ ! -e claimed ]; do sleep 0.05; done
	git -C ../r.git cat-file commit $REF/a-1 >lease &&
	sed "1,/^\$/d" lease >message &&
	grep -qE "\"w\": *\"host-[0-9a-f]{4}\"" message &&
	grep -qE "\"key\": *\"a-1\"" message &&
	grep -qE "\"ttl\": *7" message && grep -qE "\"nonce\": *\"[0-9a-f]{32}\"" message &&
	hasnt "parent " lease &&
	[ -z "$(git -C ../r.git ls-tree $REF/a-1)" ]; good=$?
	touch go; wait $pid
	[ $good -eq 0 ] && [ -z "$(leases ../r.git)" ]
'

test_that 'what is held is nobody elses; what is released is free' '
	setup || exit 1
	"$drive" ../r.git script 900 claim:k claim:k touch:claimed \
		wait-for:tried release:k touch:released wait-for:end >../a & pid=$!
	"$drive" ../r.git script 900 wait-for:claimed look claim:k claim:k \
		touch:tried wait-for:released look claim:k touch:end >../b; wait $pid
	printf "claim k won\nclaim k won\n" >../want && same ../want ../a &&
	printf "claim k lost\nclaim k lost\nclaim k won\n" >../want &&
	same ../want ../b && [ -z "$(leases ../r.git)" ]
'

test_that 'a dead lease is stolen after its own ttl, not before' '
	setup || exit 1
	"$drive" ../r.git script 4 claim:k claim:other touch:claimed \
		sleep:600000 >../a & pid=$!
	while [ ! -e claimed ]; do sleep 0.05; done; kill -9 $pid; wait $pid 2>/dev/null
	old=$(git -C ../r.git rev-parse $REF/k)
	# this one never saw it before: its clock starts with its first look
	"$drive" ../r.git script 900 claim:k look claim:k sleep:1500 look claim:k \
		sleep:3000 look claim:k held:k claim:k touch:stolen \
		wait-for:seen >../b & pid=$!
	while [ ! -e stolen ]; do sleep 0.05; done
	new=$(git -C ../r.git rev-parse $REF/k); touch seen; wait $pid
	printf "claim k %s\n" lost lost lost won >../want &&
	printf "k held\nclaim k won\n" >>../want && same ../want ../b &&
	[ "$old" != "$new" ] && [ "$(leases ../r.git)" = other ]
'

test_that 'a lease that is renewed lives' '
	setup || exit 1
	"$drive" ../r.git script 3 claim:k touch:claimed sleep:1200 renew \
		sleep:1200 renew sleep:1200 renew sleep:1200 renew held:k \
		touch:end wait-for:checked >../a & pid=$!
	"$drive" ../r.git script 900 wait-for:claimed look claim:k sleep:1300 look \
		claim:k sleep:1200 look claim:k sleep:1200 look claim:k \
		wait-for:end touch:checked >../b; wait $pid
	printf "claim k won\nlost 0\nlost 0\nlost 0\nlost 0\nk held\n" >../want &&
	same ../want ../a &&
	printf "claim k lost\nclaim k lost\nclaim k lost\nclaim k lost\n" >../want &&
	same ../want ../b
'

test_that 'renewal with a stale value is refused, and what is there stays' '
	setup || exit 1
	"$drive" ../r.git script 3 claim:k touch:claimed wait-for:stolen \
		sleep:1100 renew held:k look claim:k >../a & pid=$!
	while [ ! -e claimed ]; do sleep 0.05; done
	thief=$(git commit-tree -m thief "$(git hash-object -t tree -w /dev/null)") &&
	git push -q -f ../r.git "$thief:$REF/k" && touch stolen; wait $pid
	printf "claim k won\nlost 1\nk free\nclaim k lost\n" >../want &&
	same ../want ../a && [ "$(git -C ../r.git rev-parse $REF/k)" = "$thief" ]
'

test_that 'a release never takes what is somebody elses by now' '
	setup || exit 1
	"$drive" ../r.git script 3 claim:k touch:claimed wait-for:stolen \
		release:k >../a & pid=$!
	while [ ! -e claimed ]; do sleep 0.05; done
	thief=$(git commit-tree -m thief "$(git hash-object -t tree -w /dev/null)") &&
	git push -q -f ../r.git "$thief:$REF/k" && touch stolen; wait $pid
	[ "$(git -C ../r.git rev-parse $REF/k)" = "$thief" ]
'

test_that 'what is dropped goes with the next push' '
	setup || exit 1
	"$drive" ../r.git script 900 claim:a drop:a held:a claim:b \
		touch:claimed wait-for:seen >../a & pid=$!
	while [ ! -e claimed ]; do sleep 0.05; done
	got=$(leases ../r.git); touch seen; wait $pid
	[ "$got" = b ] && printf "claim a won\na free\nclaim b won\n" >../want &&
	same ../want ../a
'

test_that 'garbage where a lease should be is taken for a lease' '
	setup && blob=$(echo "{\"ttl\":2}" | git hash-object -w --stdin) &&
	bad=$(git commit-tree -m "{\"ttl\":1e99,\"key\":3}" \
		"$(git hash-object -t tree -w /dev/null)") &&
	git push -q ../r.git "$blob:$REF/k" "$bad:$REF/j" &&
	"$drive" ../r.git script 2 look claim:k claim:j sleep:2200 look claim:k \
		claim:j claim:free >../a &&
	printf "claim %s\n" "k lost" "j lost" "k lost" "j lost" "free won" >../want &&
	same ../want ../a
'

test_that 'a key is fit for a ref name' '
	setup && "$drive" ../r.git script 2 claim:../x claim:A claim:.a claim:a.lock \
		claim:a..b claim:a/b >../a &&
	[ "$(grep -c "is not the key of a lease" ../a)" -eq 6 ] && hasnt won ../a &&
	[ -z "$(leases ../r.git)" ]
'

test_that 'a remote that cannot be reached is an error, and no win' '
	setup && mv ../r.git ../away &&
	"$drive" ../r.git script 2 claim:k held:k >../a; cat ../a
	has "error:" ../a && has "k free" ../a && hasnt won ../a
'

test_that 'a remote with two push URLs is refused' '
	setup && git init -q --bare ../s.git && git config remote.origin.pushurl ../r.git &&
	gives 0 "$drive" origin script 900 claim:a >../out && git config --add remote.origin.pushurl ../s.git &&
	! "$drive" origin script 900 claim:b 2>../err && has "2 push URLs" ../err && leases ../s.git | same /dev/null -
'

test_done
