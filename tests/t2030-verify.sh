#!/bin/sh
# verify, on a scripted judge: still faster, no longer, on another device.
. "$(dirname "$0")/lib.sh"

test_that 'still faster: 0, and the measurement is added' '
	share v && kernel_repo r && cd r && scripted "$PWD/../t" "default faster 2" &&
	git maxkernel explore -q --attempts 4 >/dev/null && s=$(the_search) &&
	n=$(git maxkernel best --json | perl -MJSON::PP -ne "print decode_json(\$_)->{node}") &&
	ref=$(git for-each-ref --format="%(refname)" "refs/notes/maxkernel/$s/metrics") &&
	before=$(git notes --ref="$ref" show $n | wc -l) &&
	gives 0 git maxkernel verify $n >../out && has "2.00x" ../out &&
	[ "$(git notes --ref="$ref" show $n | wc -l)" -eq $((before + 1)) ]
'

test_that 'on another device class: neither confirmed nor refuted' '
	share v && cd r && scripted "$PWD/../t2" "device other" "default faster 1.5" &&
	gives 0 git maxkernel verify mix@best >../out &&
	has "on scripted" ../out && has "on other" ../out &&
	has "neither confirmed nor refuted" ../out &&
	scripted "$PWD/../t" "default faster 2" &&
	git maxkernel best >../best && has "2.00x" ../best
'

test_that 'no longer faster: 1, and it is no champion any more' '
	share v && cd r && scripted "$PWD/../t3" "default slower 0.9" &&
	n=$(git maxkernel best --json | perl -MJSON::PP -ne "print decode_json(\$_)->{node}") &&
	gives 1 git maxkernel verify $n >../out && has "slower" ../out &&
	{ git maxkernel best --json >../best; [ $? -le 1 ]; } && hasnt "\"node\":\"$n\"" ../best
'

test_that 'the root and what is no node are refused' '
	share v && cd r &&
	gives 129 git maxkernel verify mix@root 2>../err && has "root" ../err &&
	gives 129 git maxkernel verify 2>../err &&
	gives 128 git maxkernel verify nonesuch 2>../err && has "nonesuch" ../err
'

test_done
