#include "core/judge/elf_names.h"

#include <string.h>

#include "core/mem.h"

bool elf_library_allowed(const char *name, bool threads)
{
	static const char *const allowed[] = {
		"libm.so.6", "libc.so.6", "libgcc_s.so.1", "libmvec.so.1",
		"ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1",
	};

	for (size_t i = 0; i < ARRAY_SIZE(allowed); i++)
		if (!strcmp(name, allowed[i]))
			return true;
	return threads && !strcmp(name, "libgomp.so.1");
}

/* Names, with '*' at the end for a prefix.  Of libm: each also with f and l. */
static const char *const names_libm[] = {
	"acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt",
	"ceil", "copysign", "cos", "cosh", "erf", "erfc", "exp", "exp10",
	"exp2", "expm1", "fabs", "fdim", "floor", "fma", "fmax", "fmin",
	"fmod", "frexp", "hypot", "ilogb", "j0", "j1", "jn", "ldexp",
	"lgamma", "llrint", "llround", "log", "log10", "log1p", "log2",
	"logb", "lrint", "lround", "modf", "nan", "nearbyint", "nextafter",
	"nexttoward", "pow", "pow10", "remainder", "remquo", "rint", "round",
	"roundeven", "scalb", "scalbln", "scalbn", "significand", "sin",
	"sincos", "sinh", "sqrt", "tan", "tanh", "tgamma", "trunc", "y0",
	"y1", "yn", "finite", "isnan", "isinf", "drem", "gamma",
	"cabs", "cacos", "cacosh", "carg", "casin", "casinh", "catan",
	"catanh", "ccos", "ccosh", "cexp", "cimag", "clog", "clog10", "conj",
	"cpow", "cproj", "creal", "csin", "csinh", "csqrt", "ctan", "ctanh",
	"__fpclassify", "__isnan", "__isinf", "__finite", "__signbit",
	"__issignaling",
};

/*
 * Printing is allowed, for a debugging line must not cost a kernel its life:
 * in the worker there is nothing behind it.  abort() is not, since a kernel
 * has no way to fail; a failed assertion is a crash like any other.
 */
static const char *const names_libc[] = {
	"memcpy", "memmove", "memset", "memcmp", "memchr", "mempcpy",
	"__memcpy_chk", "__memmove_chk", "__memset_chk", "__mempcpy_chk",
	"malloc", "calloc", "realloc", "reallocarray", "free",
	"posix_memalign", "aligned_alloc",
	"strlen", "strnlen", "strcmp", "strncmp", "strchr", "strrchr",
	"abs", "labs", "llabs", "qsort", "bsearch",
	"__stack_chk_fail", "__tls_get_addr", "__assert_fail",
	"__errno_location", "__cxa_finalize", "__gmon_start__",
	"_ITM_deregisterTMCloneTable", "_ITM_registerTMCloneTable",
	"printf", "fprintf", "vprintf", "vfprintf", "snprintf", "sprintf",
	"vsnprintf", "puts", "putchar", "fputs", "fputc", "putc", "fwrite",
	"fflush", "perror", "stdout", "stderr",
	"__printf_chk", "__fprintf_chk", "__vprintf_chk", "__vfprintf_chk",
	"__snprintf_chk", "__sprintf_chk", "__vsnprintf_chk",
	"_ZGV*",
};

static const char *const names_threads[] = { "GOMP_*", "omp_*" };

static bool name_in(const char *name, const char *const *list, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		size_t len = strlen(list[i]);

		if (list[i][len - 1] == '*' ?
		    !strncmp(name, list[i], len - 1) : !strcmp(name, list[i]))
			return true;
	}
	return false;
}

/* "expf", and "__expf_finite" as older headers rename it. */
static bool is_libm(const char *name)
{
	char base[ELF_MAX_NAME + 1];
	size_t len = strlen(name);

	if (len > ELF_MAX_NAME || !len)
		return false;
	if (len > 9 && !strncmp(name, "__", 2) &&
	    !strcmp(name + len - 7, "_finite")) {
		name += 2;
		len -= 9;
	}
	memcpy(base, name, len);
	base[len] = '\0';
	if (name_in(base, names_libm, ARRAY_SIZE(names_libm)))
		return true;
	if (base[len - 1] != 'f' && base[len - 1] != 'l')
		return false;
	base[len - 1] = '\0';
	return name_in(base, names_libm, ARRAY_SIZE(names_libm));
}

bool elf_import_allowed(const char *name, bool threads)
{
	return is_libm(name) ||
	       name_in(name, names_libc, ARRAY_SIZE(names_libc)) ||
	       (threads && name_in(name, names_threads,
				   ARRAY_SIZE(names_threads)));
}
