#include <ctype.h>
#include <string.h>

#include "core/kernel_parts.h"
#include "core/mem.h"

/*
 * The closed list of compiler flags.  What reads or writes other files, runs
 * another program, links, or hands words to the linker or the assembler is
 * not on it and must not come on it.
 */
static const char *const whole[] = {
	"-O", "-O0", "-O1", "-O2", "-O3", "-Os", "-Og", "-Ofast",
	"-w", "-g", "-g0", "-g1", "-g2", "-g3", "-lm", "-lgomp",
	"-fvect-cost-model=unlimited", "-fvect-cost-model=dynamic",
	"-fvect-cost-model=cheap", "-fvect-cost-model=very-cheap",
	"-fsimd-cost-model=unlimited", "-fsimd-cost-model=dynamic",
	"-fsimd-cost-model=cheap",
	"-ffp-contract=off", "-ffp-contract=on", "-ffp-contract=fast",
	"-fexcess-precision=fast", "-fexcess-precision=standard",
	"-mprefer-vector-width=none", "-mprefer-vector-width=128",
	"-mprefer-vector-width=256", "-mprefer-vector-width=512",
	"-mfpmath=sse",
};

/* As -f<word> and -fno-<word>. */
static const char *const optimisations[] = {
	"fast-math", "unsafe-math-optimizations", "associative-math",
	"reciprocal-math", "finite-math-only", "math-errno", "signed-zeros",
	"trapping-math", "rounding-math", "signaling-nans",
	"cx-limited-range", "single-precision-constant",
	"unroll-loops", "unroll-all-loops", "peel-loops", "split-loops",
	"unswitch-loops", "version-loops-for-strides", "loop-interchange",
	"loop-unroll-and-jam", "move-loop-invariants", "ivopts",
	"vectorize", "slp-vectorize", "prefetch-loop-arrays",
	"vect-cost-model", "openmp-simd",
	"strict-aliasing", "strict-overflow", "wrapv",
	"delete-null-pointer-checks", "omit-frame-pointer",
	"inline", "inline-functions", "inline-small-functions",
	"ipa-cp", "ipa-cp-clone", "ipa-pta", "ipa-ra",
	"gcse", "gcse-after-reload", "gcse-las", "gcse-lm", "gcse-sm",
	"schedule-insns", "schedule-insns2", "sched-pressure",
	"modulo-sched", "rename-registers", "predictive-commoning",
	"split-paths", "if-conversion", "if-conversion2",
	"reorder-blocks", "align-functions", "align-loops",
	"stack-protector", "plt", "common", "semantic-interposition",
	"builtin", "asynchronous-unwind-tables", "unwind-tables",
};

/* As -m<word> and -mno-<word>; also any avx512<letters and digits>. */
static const char *const features[] = {
	"mmx", "sse", "sse2", "sse3", "ssse3", "sse4", "sse4.1", "sse4.2",
	"sse4a", "avx", "avx2", "avxvnni", "fma", "fma4", "f16c", "bmi",
	"bmi2", "lzcnt", "popcnt", "movbe", "abm", "adx", "aes", "vaes",
	"pclmul", "vpclmulqdq", "gfni", "sha", "xop",
	"amx-tile", "amx-int8", "amx-bf16", "recip", "vzeroupper",
};

static bool is_one_of(const char *const *list, size_t nr, const char *s)
{
	for (size_t i = 0; i < nr; i++)
		if (!strcmp(list[i], s))
			return true;
	return false;
}

/* Behind the prefix, or NULL. */
static const char *behind(const char *s, const char *prefix)
{
	size_t len = strlen(prefix);

	return strncmp(s, prefix, len) ? NULL : s + len;
}

/* At least one character, all of them letters, digits or in more. */
static bool is_made_of(const char *s, const char *more)
{
	if (!*s)
		return false;
	for (; *s; s++)
		if (!isalnum((unsigned char)*s) && !strchr(more, *s))
			return false;
	return true;
}

static bool is_standard(const char *s)
{
	static const char *const years[] = {
		"89", "90", "99", "11", "17", "18", "2x",
	};
	const char *year = behind(s, "gnu");

	if (!year)
		year = behind(s, "c");
	return year && is_one_of(years, ARRAY_SIZE(years), year);
}

static bool is_define(const char *s, bool with_value)
{
	size_t len = strspn(s, "abcdefghijklmnopqrstuvwxyz"
			       "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");

	if (!len || isdigit((unsigned char)*s))
		return false;
	if (!s[len])
		return true;
	return with_value && s[len] == '=' &&
	       (!s[len + 1] || is_made_of(s + len + 1, "_.+-"));
}

static bool is_optimisation(const char *s)
{
	const char *word = behind(s, "no-");

	if (!word)
		word = s;
	if (is_one_of(optimisations, ARRAY_SIZE(optimisations), word))
		return true;
	/* The tree passes, but not -ftree-parallelize-loops=. */
	word = behind(word, "tree-");
	return word && is_made_of(word, "-");
}

static bool is_feature(const char *s)
{
	const char *word = behind(s, "no-");

	if (!word)
		word = s;
	if (is_one_of(features, ARRAY_SIZE(features), word))
		return true;
	word = behind(word, "avx512");
	return word && is_made_of(word, "");
}

static bool is_cpu(const char *s)
{
	return is_made_of(s, "-_.+");
}

static bool is_value_define(const char *s)
{
	return is_define(s, true);
}

static bool is_undefine(const char *s)
{
	return is_define(s, false);
}

/* No comma: -Wl,x -Wa,x -Wp,x hand words to other programs. */
static bool is_warning(const char *s)
{
	return is_made_of(s, "-=+");
}

bool kernel_flag_allowed(const char *flag)
{
	static const struct {
		const char *prefix;
		bool (*is_good)(const char *rest);
	} kinds[] = {
		{ "-std=", is_standard },
		{ "-march=", is_cpu }, { "-mtune=", is_cpu },
		{ "-mcpu=", is_cpu },
		{ "-D", is_value_define }, { "-U", is_undefine },
		{ "-W", is_warning },
		{ "-f", is_optimisation }, { "-m", is_feature },
	};

	if (is_one_of(whole, ARRAY_SIZE(whole), flag))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		const char *rest = behind(flag, kinds[i].prefix);

		if (rest)
			return kinds[i].is_good(rest);
	}
	return false;
}

const char *kernel_flag_advice(const char *flag)
{
	if (behind(flag, "-fopenmp") || behind(flag, "-pthread"))
		return "set 'threads = N' instead";
	if (behind(flag, "-I") || behind(flag, "-include") ||
	    behind(flag, "-iquote") || behind(flag, "-isystem"))
		return "name the headers in 'use' and include them by their "
		       "path";
	if (behind(flag, "-l") || behind(flag, "-L"))
		return "only -lm and -lgomp can be linked; name sources in "
		       "'use'";
	if (*flag != '-')
		return "a flag begins with '-'";
	return "leave it out; allowed are -O* -std= -march= -mtune= "
	       "-m<feature> -f[no-]<optimisation> -D<name>[=<word>] -U<name> "
	       "-W* -w -g -lm -lgomp";
}
