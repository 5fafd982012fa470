#!/bin/sh
# recall.sh [-v] <questions.tsv>: how many of the entries that answer each
# question are among the first five found, as "recall <share> hit <share> of
# <questions>"; hit counts questions with at least one.  -v names the misses.
set -eu

verbose=
[ "$1" != -v ] || { verbose=1; shift; }

git maxkernel knowledge list >/dev/null
tab=$(printf '\t')
grep -v '^#' "$1" | while IFS=$tab read -r question ids; do
	found=$(git maxkernel knowledge search -q -n 5 --json -- "$question" \
		</dev/null) || [ $? -eq 1 ] || exit 1
	printf '%s\n' "$found" | sed 's/^{"id":"\([^"]*\)".*/\1/' | tr '\n' ' '
	printf '\t%s\t%s\n' "$ids" "$question"
done | awk -F '\t' -v verbose="$verbose" '
	{
		n = split($2, want, ",")
		found = 0
		for (i = 1; i <= n; i++)
			found += index(" " $1 " ", " " want[i] " ") > 0
		recall += found / n
		hit += found > 0
		if (verbose && found < n)
			printf "%s\n  wanted %s\n  found  %s\n", $3, $2, $1
	}
	END {
		if (!NR)
			exit 1
		printf "recall %.3f hit %.3f of %d\n", recall / NR, hit / NR, NR
	}
'
