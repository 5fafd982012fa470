#!/bin/sh
# Our reader of git-config's grammar against Git's own: the same keys and
# values from what is valid, a refusal from what is not.
. "$(dirname "$0")/lib.sh"

DUMP=$BUILD/helper/ini_dump

# alike <file>: both read it alike, or both refuse it
alike()
{
	git config -f "$1" --list -z >want 2>git.err
	theirs=$?
	"$DUMP" "$1" >got 2>our.err
	ours=$?
	if [ "$theirs" -ne 0 ] && [ "$ours" -ne 0 ]; then
		echo both refuse it
		return 0
	fi
	if [ "$theirs" -eq 0 ] && [ "$ours" -eq 0 ] && cmp -s want got; then
		echo both read it
		return 0
	fi
	echo "git: $theirs, ours: $ours, for:"
	od -c "$1" | head -n 30
	tr '\0' '\n' <want >want.txt
	tr '\0' '\n' <got >got.txt
	diff -u want.txt got.txt
	cat git.err our.err
	return 1
}

# reads <title> <printf format>: both read it, and alike
reads()
{
	printf "$2" >"$SCRATCH/in"
	test_that "read alike: $1" '
		alike ../in >said; code=$?; cat said; [ $code -eq 0 ] &&
		has "both read it" said
	'
}

# refuses <title> <printf format>: neither reads it
refuses()
{
	printf "$2" >"$SCRATCH/in"
	test_that "refused: $1" '
		alike ../in >said; code=$?; cat said; [ $code -eq 0 ] &&
		has "both refuse it" said
	'
}

reads 'nothing' ''
reads 'a blank line' '\n'
reads 'comments alone' '# a\n; b\n\t # c'
reads 'plain keys' '[kernel "a"]\n\tfile = a.c\n\tentry = f\n'
reads 'two sections, repeated keys' '[kernel "a"]\nx = 1\nx = 2\n[kernel "b"]\nx = 3\n'
reads 'a section without a name' '[kernel]\nx = 1\n'
reads 'a section with a dot' '[kernel.Sub]\nx = 1\n'
reads 'a section with dot and quotes' '[a.b "C.d"]\nx = 1\n'
reads 'key and head in one line' '[kernel "a"] x = 1\n'
reads 'heads in one line' '[a][b]x=1\n[c "d"][e]y=2'
reads 'no blanks at all' '[a]\nx=1\ny=2'
reads 'capitals' '[KerNel "MiXed"]\nKeY = VaLue\n'
reads 'digits and dashes in keys' '[a-1]\nx-2-y = 1\nx3=4\n'
reads 'blanks around everything' '  [a]  \n \t x \t = \t 1 \t \n'
reads 'blanks within a value' '[a]\nx = a  b   c\n'
reads 'blanks before the subsection' '[a  \t "b"]\nx=1\n'
reads 'an empty value' '[a]\nx =\ny = \nz = ""\n'
reads 'implicit true' '[a]\nx\ny \nz\t\n'
reads 'implicit true at the end' '[a]\nx'
reads 'comment after a value' '[a]\nx = 1 # c\ny = 2 ; d\nz = 3;e\nw = 4#f\n'
reads 'comment for a value' '[a]\nx = ; c\ny = # d\n'
reads 'comment after a head' '[a] ; c\nx = 1\n[b]# d\ny = 2\n'
reads 'comment signs in quotes' '[a]\nx = "1 # c" ; d\ny = "a;b"c\n'
reads 'quotes' '[a]\nx = "a b"\ny = " a "\nz = a" b "c\nw = ""a""\n'
reads 'quotes keep blanks' '[a]\nx = "  a  "  \ny = a "  " b\nz = "a  "   # c\n'
reads 'a tab in quotes' '[a]\nx = "a\tb"\n'
reads 'escapes' '[a]\nx = a\\\\b\\"c\\nd\\te\\bf\n'
reads 'escapes in quotes' '[a]\nx = "a\\\\b\\"c\\nd\\te"\n'
reads 'escaped quote outside' '[a]\nx = \\"a b\\"\n'
reads 'escaped blank at the end' '[a]\nx = a\\t  \n'
reads 'continued lines' '[a]\nx = a \\\n  b\\\nc\ny = 1\n'
reads 'continued in quotes' '[a]\nx = "a \\\n  b"\ny = 1\n'
reads 'continued into nothing' '[a]\nx = a \\\n\ny = 1\n'
reads 'continued at once' '[a]\nx = \\\n  a\n'
reads 'continued at the end' '[a]\nx = a\\'
reads 'a comment is not continued' '[a]\nx = a ; b \\\ny = 1\n'
reads 'continued before a comment' '[a]\nx = a \\\n # b\ny = 1\n'
reads 'subsection escapes' '[a "b\\"c\\\\d\\e"]\nx = 1\n'
reads 'brackets in a subsection' '[a "b]c[d"]\nx = 1\n'
reads 'comment signs in a subsection' '[a "b#c;d"]\nx = 1\n'
reads 'an empty subsection' '[a ""]\nx = 1\n'
reads 'blanks in a subsection' '[a "  b  c "]\nx = 1\n'
reads 'UTF-8' '[a "k\303\244rn"]\nx = \342\210\221 # \342\210\221\n'
reads 'bytes that are no UTF-8' '[a "\377"]\nx = \376\200\n'
reads 'a byte order mark' '\357\273\277[a]\nx = 1\n'
reads 'CR LF' '[a]\r\nx = 1\r\ny = "a"\r\nz\r\n; c\r\n'
reads 'CR LF after a backslash' '[a]\r\nx = a \\\r\n b\r\n'
reads 'a lone CR' '[a]\ny = c\r\r\nz = "\r"\nx = \ra\n'
reads 'CR between keys' '[a]\r\rx = 1\n'
reads 'equals signs in a value' '[a]\nx = a=b==c\n'
reads 'arguments as we write them' '[kernel "l"]\narg = in f32 y[M][N] ld(ldw) align(64)\nrequire = K %% 8 == 0 && M > 1\n'
reads 'an include is a section like any' '[include]\npath = /nowhere/at/all\n'
reads 'no newline at the end' '[a]\nx = 1'
reads 'a comment at the end' '[a]\nx = 1 ; c'
reads 'only a head' '[a "b"]'
reads 'a long value' "[a]\\nx = $(printf '%05000d' 7)\\n"

refuses 'an open quote' '[a]\nx = "b\ny = 1\n'
refuses 'an open quote at the end' '[a]\nx = "b'
refuses 'an open quote after a continued line' '[a]\nx = "b\\\nc\n'
refuses 'an unknown escape' '[a]\nx = a\\q\n'
refuses 'an escape with a digit' '[a]\nx = a\\0\n'
refuses 'an escape before a blank' '[a]\nx = a\\ b\n'
refuses 'an open head' '[a\nx = 1\n'
refuses 'an open head at the end' '[a'
refuses 'an open subsection' '[a "b\nx = 1\n'
refuses 'an open subsection at the end' '[a "b'
refuses 'an escaped newline in a subsection' '[a "b\\\nc"]\nx = 1\n'
refuses 'no bracket after a subsection' '[a "b" ]\nx = 1\n'
refuses 'text after a subsection' '[a "b"c]\nx = 1\n'
refuses 'no quote before a subsection' '[a b]\nx = 1\n'
refuses 'a blank before the bracket' '[a ]\nx = 1\n'
refuses 'a blank behind the bracket' '[ a]\nx = 1\n'
refuses 'an odd character in a head' '[a_b]\nx = 1\n'
refuses 'a key with a digit first' '[a]\n1x = 1\n'
refuses 'a key with an underscore' '[a]\nx_y = 1\n'
refuses 'two words for a key' '[a]\nx y = 1\n'
refuses 'a comment after a lone key' '[a]\nx # c\n'
refuses 'a lone equals sign' '[a]\n= 1\n'
refuses 'half a byte order mark' '\357\273[a]\nx = 1\n'
refuses 'a form feed' '[a]\n\fx = 1\n'
refuses 'a vertical tab' '[a]\n\vx = 1\n'
refuses 'a semicolon before the equals sign' '[a]\nx ; = 1\n'

test_that 'a NUL byte is refused' '
	printf "[a]\nx = 1\n# a\000b\n" >in && gives 1 "$DUMP" in 2>err &&
	has "a NUL byte" err &&
	printf "[a]\nx = 1\000\n" >in && gives 1 "$DUMP" in 2>err &&
	has "2: a NUL byte" err
'

test_that 'lines are counted' '
	printf "# c\n[a]\nx = 1\ny = a \\\\\n b \\\\\n c\nz\n\n[b \"c\"] v = 1\r\nw = 2\r\n" >in &&
	"$DUMP" --lines in >got &&
	printf "%s\n" "3 a.x" "4 a.y" "7 a.z" "9 b.c.v" "10 b.c.w" >want &&
	same want got
'

test_that 'an error names the line where the key begins' '
	printf "[a]\nx = 1\n\ny = \"a \\\\\n b\nz = 1\n" >in &&
	gives 1 "$DUMP" in 2>err >got && has "4: a value lacks" err
'

test_that 'the corpus of the fuzzer is read alike' '
	n=0 &&
	for f in "$TESTS"/fuzz/corpus/kernel/*; do
		# A NUL byte is the one difference; a bare tab or CR within
		# a value is one between versions of Git.
		tr -d "\000" <"$f" | cmp -s - "$f" || continue
		tr "\t\r" "  " <"$f" >in
		n=$((n + 1))
		alike in || { echo "$f"; exit 1; }
	done && [ "$n" -gt 20 ]
'

test_that 'random files are read alike' '
	awk -v n=$((200 * CHECK_N)) "BEGIN {
		srand(20)
		k = split(\"[a] [b|\\\"c\\\"] [ ] \\\" \\\\ \\\\n \\\\| x y=1 z|=|2 = # ; | | @ @ @ @ \\r@ w|=| v|=|\\\"q|\", t, \" \")
		for (i = 0; i < n; i++) {
			s = rand() < 0.8 ? \"[a]@\" : \"\"
			m = 1 + int(rand() * 14)
			while (m-- > 0)
				s = s t[1 + int(rand() * k)]
			print s
		}
	}" >list &&
	while IFS= read -r line; do
		printf "%s" "$line" | tr "@|" "\n " >in
		alike in >said || { cat said; exit 1; }
		cat said >>all
	done <list &&
	[ "$(grep -c "both read it" all)" -gt 10 ] &&
	[ "$(grep -c "both refuse it" all)" -gt 10 ]
'

test_done
