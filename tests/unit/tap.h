/*
 * A unit program is a sequence of checks; each prints a TAP line.
 *
 *	int main(void)
 *	{
 *		ok(1 + 1 == 2, "sums");
 *		is_str(name, "f32", "the name of %s", "F32");
 *		return tap_done();
 *	}
 */
#ifndef TESTS_UNIT_TAP_H
#define TESTS_UNIT_TAP_H

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static int tap_nr, tap_failed;

__attribute__((format(printf, 4, 5), unused))
static bool tap_ok(bool good, const char *file, int line, const char *fmt, ...)
{
	va_list ap;

	printf("%sok %d - ", good ? "" : "not ", ++tap_nr);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	if (!good) {
		tap_failed++;
		printf("# failed at %s:%d\n", file, line);
	}
	fflush(stdout);
	return good;
}

#define ok(cond, ...) tap_ok((cond), __FILE__, __LINE__, __VA_ARGS__)

#define is_int(got, want, ...) do {					\
	long long tap_g = (got), tap_w = (want);			\
	if (!ok(tap_g == tap_w, __VA_ARGS__))				\
		printf("#  got %lld, want %lld\n", tap_g, tap_w);	\
} while (0)

#define is_str(got, want, ...) do {					\
	const char *tap_g = (got), *tap_w = (want);			\
	if (!ok(tap_g && !strcmp(tap_g, tap_w), __VA_ARGS__))		\
		printf("#  got '%s', want '%s'\n", tap_g ? tap_g : "(null)", \
		       tap_w);						\
} while (0)

#define is_near(got, want, tol, ...) do {				\
	double tap_g = (got), tap_w = (want);				\
	if (!ok(fabs(tap_g - tap_w) <= (tol), __VA_ARGS__))		\
		printf("#  got %.17g, want %.17g\n", tap_g, tap_w);	\
} while (0)

__attribute__((unused))
static int tap_done(void)
{
	printf("1..%d\n", tap_nr);
	return tap_failed ? 1 : 0;
}

#endif
