#!/bin/sh
# The shape of the source tree: which way includes point, one file for each
# library, no banned calls, headers that stand alone, one place that exits.
. "$(dirname "$0")/lib.sh"

# uncomment: standard input without comments
uncomment()
{
	awk '{
		out = ""
		while (length($0)) {
			i = index($0, inside ? "*/" : "/*")
			if (!inside)
				out = out (i ? substr($0, 1, i - 1) : $0)
			if (!i)
				break
			$0 = substr($0, i + 2)
			inside = !inside
		}
		sub(/\/\/.*/, "", out)
		print out
	}'
}

sources()
{
	(cd "$TOP" && find core cmd agents hooks -name '*.[ch]' | sort)
}

# code: the sources without comments, texts and characters; text: without
# comments (and without texts that look like one).
for f in $(sources); do
	mkdir -p "$SCRATCH/code/$(dirname "$f")" "$SCRATCH/text/$(dirname "$f")"
	sed "s/\\\\[\"']//g; s/\"[^\"]*\"/\"\"/g; s/'[^']*'/''/g" "$TOP/$f" |
		uncomment >"$SCRATCH/code/$f"
	sed 's|"[^"]*/[*/][^"]*"|""|g' "$TOP/$f" | uncomment >"$SCRATCH/text/$f"
done

# calls <names a|b>: where they are called, as file:line:text
calls()
{
	(cd "$SCRATCH/code" && grep -rnE \
		"(^|[^A-Za-z0-9_])($1)[[:space:]]*\\(" . | sed 's|^\./||')
}

# except <pattern>: the lines of files whose path does not match
except()
{
	grep -vE "^($1):"
}

# includers <text>: files with an include line that holds it
includers()
{
	(cd "$TOP" && grep -rlE "^[[:space:]]*#[[:space:]]*include[[:space:]]*[<\"]$1" \
		core cmd agents hooks --include='*.[ch]' | sort)
	return 0
}

points()	# <folder> <allowed folders, a pattern>
{
	(cd "$TOP" && grep -rnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' "$1" \
		--include='*.[ch]' | grep -vE "\"($2)/[^\"]*\"") || true
}

test_that 'there are sources to look at' '
	sources >list && has core/err.c list && has cmd/main.c list &&
	[ "$(wc -l <list)" -gt 20 ]
'

test_that 'includes point one way, and are written from the top' '
	: >want &&
	{ points core core; points agents "agents|core";
	  points cmd "cmd|agents|core"; points hooks "hooks|cmd|agents|core"; } >got &&
	same want got
'

test_that 'each library stands behind one door' '
	echo core/repo_parts.h >want && includers git2 >got && same want got &&
	printf "core/%s\n" repo.c repo_merge.c repo_object.c repo_pack.c repo_recent.c repo_ref.c repo_tree.c >want &&
	includers "core/repo_parts" >got && same want got &&
	echo core/json.c >want && includers "(cjson/|cJSON)" >got && same want got &&
	for f in curl/:core/http.c libssh2:core/ssh.c; do
		includers "${f%%:*}" >got
		[ -z "$(grep -vx "${f#*:}" got)" ] || same /dev/null got || exit 1
	done &&
	includers sqlite3 >got && [ "$(wc -l <got)" -le 1 ]
'

test_that 'banned calls are not there' '
	calls "strcpy|strcat|sprintf|vsprintf|strtok|atoi|atol|atof|gets|alloca|system|mktemp|tmpnam" >got
	[ ! -s got ] || same /dev/null got
'

test_that 'no assignment in a condition' '
	(cd "$SCRATCH/code" && grep -rnE \
		"(^|[^A-Za-z0-9_])(if|while) \(.*[^=!<>+*/%&|^-]=[^=]" .) >got
	[ ! -s got ] || same /dev/null got
'

test_that 'only mem.c and the mains end a program' '
	calls "exit|quick_exit|_Exit" |
		except "core/mem.c|cmd/main.c|core/judge/(.*_)?main.c" >got
	[ ! -s got ] || same /dev/null got
'

test_that 'only commands and the mains print on stdout' '
	calls "printf|puts|putchar" |
		except "(cmd|hooks)/.*|core/judge/(.*_)?main.c" >got
	[ ! -s got ] || same /dev/null got
'

test_that 'no typedef for a struct' '
	(cd "$SCRATCH/code" &&
	 grep -rnE "typedef[[:space:]]+(struct|union|enum)" .) >got
	[ ! -s got ] || same /dev/null got
'

test_that 'every header compiles alone' '
	make -s -C "$TOP" O="$PWD/o" CC="${CC:-gcc}" check-headers
'

test_that 'every header has its guard' '
	(cd "$TOP" && find core cmd agents hooks -name "*.h" | sort) >list &&
	while read -r h; do
		guard=$(echo "$h" | tr "a-z/.-" "A-Z___") &&
		has "#ifndef $guard" "$TOP/$h" && has "#define $guard" "$TOP/$h" ||
			exit 1
	done <list
'

test_that 'every command of cmd.h has its file and its line in the table' '
	sed -n "/^extern const struct cmd cmd_/,/;/p" "$TOP/cmd/cmd.h" |
		grep -oE "cmd_[a-z]+" | sort -u >names &&
	[ "$(wc -l <names)" -gt 10 ] &&
	while read -r n; do
		cat "$TOP/cmd/${n#cmd_}.c" "$TOP/hooks/${n#cmd_}.c" \
			>file 2>/dev/null
		has "const struct cmd $n = " file &&
		has "&$n," "$TOP/cmd/main.c" || exit 1
	done <names
'

test_that 'program text knows no device' '
	(cd "$SCRATCH/text" && grep -rniE \
		"xeon|epyc|skylake|icelake|zen[0-9]|h100|a100|tpu v" .) >got
	[ ! -s got ] || same /dev/null got
'

test_that 'shell scripts pass shellcheck' '
	if ! command -v shellcheck; then echo "no shellcheck"; exit 1; fi &&
	cd "$TOP" && shellcheck -S warning -e SC2164,SC2034 tests/*.sh \
		tests/bench/*.sh knowledge/*.sh .ci/run cmd/completion.bash
'

test_done
