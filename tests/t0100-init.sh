#!/bin/sh
# git maxkernel init: in every kind of repository, and twice.
. "$(dirname "$0")/lib.sh"

NOTES='refs/notes/maxkernel/*'

test_that 'init writes a commented file and sets the notes' '
	make_repo r && cd r &&
	git maxkernel init >out 2>err &&
	has "wrote" out && has "notes.displayRef" out &&
	has "next: git maxkernel add" out && [ ! -s err ] &&
	[ "$(git config --get-all notes.displayRef)" = "$NOTES" ] &&
	git config -f .maxkernel --list >keys && [ ! -s keys ]
'

test_that 'the file is a kernel once the first semicolons are gone' '
	make_repo r && cd r && git maxkernel init -q &&
	sed "/^\$/,\$s/^;//" .maxkernel >plain && mv plain .maxkernel &&
	git config -f .maxkernel kernel.matmul.entry >got &&
	echo matmul >want && same want got &&
	git maxkernel init >out && has "with 1 kernel" out &&
	has "next: git maxkernel explore" out
'

test_that 'twice is harmless, and says so' '
	make_repo r && cd r && git maxkernel init >/dev/null &&
	echo "; mine" >>.maxkernel && cp .maxkernel mine &&
	cp .git/config config &&
	git maxkernel init >out &&
	has "there already" out && has "already" out &&
	hasnt "wrote" out &&
	same mine .maxkernel && same config .git/config
'

test_that 'other notes.displayRef values stay' '
	make_repo r && cd r &&
	git config notes.displayRef refs/notes/mine &&
	git maxkernel init -q && git config --get-all notes.displayRef >got &&
	printf "refs/notes/mine\n%s\n" "$NOTES" >want && same want got
'

test_that '-q says nothing' '
	make_repo r && cd r && git maxkernel init -q >out 2>&1 &&
	[ ! -s out ] && [ -f .maxkernel ]
'

test_that 'from a folder below, the file is at the top' '
	make_repo r && mkdir -p r/a/b && cd r/a/b &&
	git maxkernel init -q && [ -f ../../.maxkernel ] && [ ! -e .maxkernel ]
'

test_that 'a path with blanks and UTF-8' '
	make_repo "größe 日本 x" && cd "größe 日本 x" &&
	git maxkernel init >out && [ -f .maxkernel ] &&
	has "größe 日本 x/.maxkernel" out
'

test_that 'an empty repository: works, and asks for a commit' '
	git init -q r && cd r && git maxkernel init >out &&
	has "no commit yet" out && [ -f .maxkernel ]
'

test_that 'a detached HEAD' '
	make_repo r && cd r && git checkout -q --detach &&
	git maxkernel init -q && [ -f .maxkernel ]
'

test_that 'a dirty work tree is left as it is' '
	make_repo r && cd r && echo 1 >f && git add f && echo 2 >f &&
	git status --porcelain >../before && git maxkernel init -q &&
	git status --porcelain | grep -v "maxkernel\$" >../after &&
	same ../before ../after
'

test_that 'a linked worktree has its own file' '
	make_repo r && cd r && git worktree add -q ../w && cd ../w &&
	git maxkernel init -q && [ -f .maxkernel ] &&
	[ ! -e ../r/.maxkernel ] &&
	[ "$(git -C ../r config notes.displayRef)" = "$NOTES" ]
'

test_that 'no author identity: works, and says how to set it' '
	make_repo r && cd r &&
	unset GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_COMMITTER_NAME \
		GIT_COMMITTER_EMAIL EMAIL &&
	git config user.useConfigOnly true &&
	git maxkernel init >out && has "git config user.name" out &&
	[ -f .maxkernel ]
'

test_that 'a bare repository is refused' '
	git init -q --bare r && cd r && cp config before &&
	gives 128 git maxkernel init 2>err &&
	has "bare" err && same before config && [ ! -e .maxkernel ]
'

test_that 'no repository' '
	mkdir d && cd d && export GIT_CEILING_DIRECTORIES="$SCRATCH" &&
	gives 128 git-maxkernel init 2>err &&
	has "not a git repository" err && [ ! -e .maxkernel ]
'

test_that 'sha256 is refused with a sentence' '
	git init -q --object-format=sha256 r && cd r &&
	gives 128 git maxkernel init 2>err && has "sha256" err &&
	[ ! -e .maxkernel ]
'

test_that 'a file that cannot be read is told of, and kept' '
	make_repo r && cd r && echo "[core]" >.maxkernel &&
	gives 128 git maxkernel init 2>err && has ".maxkernel:1" err &&
	echo "[core]" >want && same want .maxkernel
'

test_that 'a symlink in its place is refused' '
	make_repo r && cd r && ln -s /etc/passwd .maxkernel &&
	gives 128 git maxkernel init 2>err && has "not a regular file" err
'

test_that 'a dangling symlink is not written through' '
	make_repo r && cd r && ln -s ../outside .maxkernel &&
	gives 128 git maxkernel init 2>err && [ ! -e ../outside ]
'

test_that 'usage' '
	make_repo r && cd r &&
	gives 129 git maxkernel init -h >out && has "usage: git maxkernel init" out &&
	gives 129 git maxkernel init --foo 2>err && has "unknown option" err &&
	gives 129 git maxkernel init extra 2>err && has "too many" err &&
	[ ! -e .maxkernel ]
'

test_that 'nothing can be written: said, and nothing half made' '
	make_repo r && cd r &&
	gives 128 git maxkernel init >/dev/full 2>err && has "write" err
'

test_done
