#!/bin/sh
# A commit made by hand on a landing branch becomes a node of the search.
. "$(dirname "$0")/lib.sh"

test_that 'a commit by hand on the best branch is judged and joins the graph' '
	kernel_repo r && cd r && scripted "$PWD/../t" "default hash" &&
	git maxkernel explore -q --attempts 8 >/dev/null && s=$(the_search) &&
	b=maxkernel/$s/best/scripted && node=$(git log -1 --format=%B $b | sed -n "s/^Maxkernel-Node: //p") &&
	git checkout -q $b && sed -i "s/float total = 0.0f;/float total = 0;/" kernels/mix.c &&
	git commit -qam "mix: a plain zero" && tip=$(git rev-parse HEAD) &&
	git checkout -q main &&
	git maxkernel explore -q --attempts 4 >/dev/null 2>../err; [ $? -le 1 ] &&
	for c in $(nodes "$s"); do
		git log -1 --format="%H %(trailers:key=Maxkernel-Op,valueonly,separator=)" $c
	done | sed -n "s/ human$//p" >../human &&
	[ "$(wc -l <../human)" -eq 1 ] && h=$(cat ../human) &&
	[ "$(git rev-parse $h^)" = "$node" ] &&
	[ "$(git rev-parse $h:kernels/mix.c)" = "$(git rev-parse $tip:kernels/mix.c)" ] &&
	[ "$(git log -1 --format=%s $h)" = "mix: a plain zero" ] &&
	[ "$(git rev-parse $b)" = "$tip" ]
'

test_that 'what follows a commit by hand is screened against it and confirmed' '
	kernel_repo r && cd r && scripted "$PWD/../t" "default faster 1.5" &&
	git maxkernel explore -q --attempts 4 >/dev/null && s=$(the_search) &&
	git checkout -q maxkernel/$s/best/scripted && echo "/* mine */" >>kernels/mix.c &&
	git commit -qam mine && git checkout -q main &&
	mine=$(git rev-parse "$(git for-each-ref --format="%(refname)" refs/heads/maxkernel | head -n 1)") &&
	scripted "$PWD/../t" "default faster 3" &&
	git maxkernel explore -q --attempts 6 >../out 2>../err && has "3.00x" ../out
'

test_that 'it is not taken in twice' '
	kernel_repo r && cd r && scripted "$PWD/../t" "default hash" &&
	git maxkernel explore -q --attempts 8 >/dev/null && s=$(the_search) &&
	git checkout -q maxkernel/$s/best/scripted && echo "/* mine */" >>kernels/mix.c &&
	git commit -qam mine && git checkout -q main &&
	git maxkernel explore -q --attempts 2 >/dev/null 2>&1
	git maxkernel explore -q --attempts 2 >/dev/null 2>&1
	for c in $(nodes "$(the_search)"); do git log -1 --format=%B $c; done |
		grep -c "^Maxkernel-Op: human" >../n && [ "$(cat ../n)" = 1 ]
'

test_that 'a new root replays what an earlier search found' '
	kernel_repo r && cd r && scripted "$PWD/../t" "default hash" &&
	git maxkernel explore -q --attempts 24 >/dev/null && s=$(the_search) &&
	recipe=$(git maxkernel best --json | perl -MJSON::PP -ne "print decode_json(\$_)->{recipe}") &&
	sed -i "s/rtol = .*/rtol = 2e-3/" .maxkernel &&
	git maxkernel explore -q --attempts 4 >/dev/null; t=$(the_search | grep -v "^$s\$") &&
	for c in $(nodes "$t"); do git log -1 --format=%B $c; done >../all &&
	has "Maxkernel-Recipe: $recipe" ../all
'

test_done
