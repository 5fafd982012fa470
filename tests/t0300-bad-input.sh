#!/bin/sh
# Bad input: a clear message, the right exit status, and nothing changed.
. "$(dirname "$0")/lib.sh"

# refuses <status> <text> <command...>: and no ref and no file has changed
refuses()
{
	refuses_status=$1 refuses_text=$2
	shift 2
	git for-each-ref >../refs1 && git status --porcelain >../st1
	gives "$refuses_status" "$@" >../out 2>../err || { cat ../err; return 1; }
	has "$refuses_text" ../err || return 1
	git for-each-ref >../refs2 && git status --porcelain >../st2
	same ../refs1 ../refs2 && same ../st1 ../st2 && same /dev/null ../out
}

# section <sed script>: the section of the repository, edited and committed
section()
{
	sed -i "$1" .maxkernel && git commit -qam edited
}

test_that 'no repository' '
	gives 128 git maxkernel status 2>err && has "not a git repository" err
'

test_that 'no .maxkernel' '
	make_repo r && cd r &&
	refuses 128 "git maxkernel init" git maxkernel explore
'

test_that 'an empty repository' '
	git init -q r && cd r && git maxkernel init >/dev/null 2>&1 &&
	cat >>.maxkernel <<-EOF &&
	[kernel "k"]
		file = k.c
		entry = k
		arg = out f32 y[4]
	EOF
	gives 128 git maxkernel explore 2>err && has "no commit" err
'

test_that 'syntax error: file and line' '
	kernel_repo r && cd r && section "s/entry = mix/entry mix =/" &&
	refuses 128 ".maxkernel:4" git maxkernel explore
'

test_that 'unknown key: file and line' '
	kernel_repo r && cd r && section "s/entry = mix/entyr = mix/" &&
	refuses 128 ".maxkernel:4" git maxkernel explore &&
	has entyr ../err
'

test_that 'repeated section: file and line' '
	kernel_repo r && cd r && sed -n "1,\$p" .maxkernel >../twice &&
	cat ../twice >>.maxkernel && git commit -qam twice &&
	refuses 128 ".maxkernel:19" git maxkernel explore
'

test_that '[include] is refused' '
	kernel_repo r && cd r && printf "[include]\n\tpath = /etc/passwd\n" >>.maxkernel &&
	git commit -qam include &&
	refuses 128 ".maxkernel:19" git maxkernel explore && hasnt root: ../err
'

test_that 'a missing file' '
	kernel_repo r && cd r && section "s,kernels/mix.c,kernels/gone.c," &&
	refuses 128 "kernels/gone.c" git maxkernel explore
'

test_that 'the entry is not in the file' '
	kernel_repo r && cd r && section "s/entry = mix/entry = max/" &&
	refuses 128 "max" git maxkernel explore
'

test_that 'an extent that is not declared' '
	kernel_repo r && cd r && section "s/y\[M\]\[N\]/y[M][P]/" &&
	refuses 128 "P" git maxkernel explore && has ".maxkernel:" ../err
'

test_that 'a kernel that does not compile at the root' '
	kernel_repo r && cd r && echo "int broken(" >>kernels/mix.c &&
	git commit -qam broken &&
	refuses 128 "does not compile" git maxkernel explore &&
	has "mix.c:" ../err && has "error:" ../err
'

test_that 'a root that fails its own oracle' '
	kernel_repo r && cd r && mkdir ref &&
	sed "s/alpha \* squash/2 * alpha * squash/; s/float mix(/float mix_ref(/" \
		kernels/mix.c | sed "s,\"util.h\",\"../kernels/util.h\"," >ref/mix.c &&
	sed -i "s,entry = mix,entry = mix\n\treference = ref/mix.c:mix_ref," .maxkernel &&
	git add . && git commit -qm reference &&
	refuses 128 "wrong by its own reference" git maxkernel explore
'

test_that 'a negative tolerance' '
	kernel_repo r && cd r && section "s/rtol = .*/rtol = -1/" &&
	refuses 128 ".maxkernel:16" git maxkernel explore
'

test_that '.. and absolute paths in file' '
	kernel_repo r && cd r && section "s,file = .*,file = ../x.c," &&
	refuses 128 ".maxkernel:2" git maxkernel explore &&
	section "s,file = .*,file = /etc/passwd," &&
	refuses 128 ".maxkernel:2" git maxkernel explore
'

test_that 'a symlink as file' '
	kernel_repo r && cd r && git rm -q --cached kernels/mix.c &&
	mv kernels/mix.c real.c && ln -s ../real.c kernels/mix.c &&
	git add . && git commit -qm link &&
	refuses 128 "symbolic link" git maxkernel explore
'

test_that 'flags outside the list' '
	kernel_repo r && cd r &&
	for f in -fplugin=x.so -I/etc -B/tmp @file -Wl,-rpath,/ "-include /etc/passwd"; do
		section "/flags/d; s|entry = mix|entry = mix\n\tflags = -O3 $f|" &&
		refuses 128 "${f%% *}" git maxkernel explore && has ".maxkernel:5" ../err || exit 1
	done
'

test_that 'unknown command, option, kernel, policy' '
	kernel_repo r && cd r &&
	refuses 129 "not a git maxkernel command" git maxkernel explroe &&
	refuses 129 "bogus" git maxkernel explore --bogus &&
	refuses 129 "mix" git maxkernel explore other &&
	refuses 129 "greedy" git maxkernel explore --policy best
'

test_that '0 attempts, bad numbers, bad times' '
	kernel_repo r && cd r &&
	refuses 129 "attempts" git maxkernel explore --attempts 0 &&
	refuses 129 "attempts" git maxkernel explore --attempts -3 &&
	refuses 129 "attempts" git maxkernel explore --attempts 3x &&
	refuses 129 "time" git maxkernel explore --time 5y &&
	refuses 129 "keep" git maxkernel explore --keep 0 &&
	refuses 129 "jobs" git maxkernel explore --jobs 0
'

test_that 'a read-only .git' '
	if [ "$(id -u)" = 0 ]; then exit 0; fi
	kernel_repo r && cd r && scripted "$PWD/../t" "default hash" &&
	chmod -R a-w .git && gives 128 git maxkernel explore --attempts 4 2>../err &&
	chmod -R u+w .git && has ".git" ../err && git fsck
'

if [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; then
test_that 'a read-only .git, as root' '
	kernel_repo r && cd r && scripted "$PWD/../t" "default hash" &&
	unshare -m sh -c "
		mount --bind .git .git && mount -o remount,bind,ro .git &&
		git maxkernel explore --attempts 4" 2>../err
	[ $? -eq 128 ] && has ".git" ../err && git fsck &&
	[ -z "$(git for-each-ref refs/maxkernel)" ]
'
test_that 'a full disk' '
	mkdir small && unshare -m sh -c "
		mount -t tmpfs -o size=600k none small && cd small &&
		git init -q r && cp -r \"\$1\"/. r && cd r" sh x 2>/dev/null
	kernel_repo template && scripted "$PWD/t" "default hash" &&
	unshare -m sh -c "
		mount -t tmpfs -o size=900k none small && cp -r template small/r &&
		cd small/r && git maxkernel explore --attempts 400; status=\$?
		git fsck --strict --no-dangling >../../fsck 2>&1 || echo bad >>../../fsck
		exit \$status" 2>err
	[ $? -eq 128 ] && has "No space left" err && hasnt bad fsck
'
else
test_skip 'a read-only .git, as root' 'needs root and mount namespaces'
test_skip 'a full disk' 'needs root and mount namespaces'
fi

test_that 'a corrupt note and a note of a newer version' '
	kernel_repo r && cd r && scripted "$PWD/../t" "default hash" &&
	git maxkernel explore -q --attempts 8 && s=$(the_search) &&
	ref=$(git for-each-ref --format="%(refname)" "refs/notes/maxkernel/$s/metrics") &&
	n=$(nodes "$s" | sed -n 1p) && m=$(nodes "$s" | sed -n 2p) &&
	printf "{\"t\": torn\001" | git notes --ref="$ref" add -f -F - "$n" &&
	git notes --ref="$ref" append -m "{\"t\":\"2099-01-01T00:00:00.000Z\",\"v\":2,\"e\":\"eval\",\"verdict\":\"magic\"}" "$m" &&
	git maxkernel status 2>../err >../out && [ -s ../err ] &&
	git maxkernel log >../log 2>/dev/null && has "${m%????????????????????????????}" ../log &&
	git maxkernel explore -q --attempts 4 2>/dev/null; [ $? -le 1 ] &&
	git notes --ref="$ref" show "$m" >../note && has "\"v\":2" ../note
'

test_that 'output that cannot be written' '
	kernel_repo r && cd r && scripted "$PWD/../t" "default hash" &&
	git maxkernel explore -q --policy greedy --attempts 4 >/dev/null &&
	gives 128 git maxkernel log >/dev/full
'

test_done
