#include "core/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *checked(void *ptr)
{
	if (!ptr) {
		fputs("fatal: out of memory\n", stderr);
		exit(128);
	}
	return ptr;
}

void *xmalloc(size_t size)
{
	return checked(malloc(size ? size : 1));
}

void *xcalloc(size_t nr, size_t size)
{
	return checked(calloc(nr ? nr : 1, size ? size : 1));
}

void *xreallocarray(void *ptr, size_t nr, size_t size)
{
	return checked(reallocarray(ptr, nr ? nr : 1, size ? size : 1));
}

char *xstrdup(const char *s)
{
	return s ? checked(strdup(s)) : NULL;
}

char *xstrndup(const char *s, size_t len)
{
	return checked(strndup(s, len));
}

char *xasprintf(const char *fmt, ...)
{
	char *s;
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vasprintf(&s, fmt, ap);
	va_end(ap);
	return checked(len < 0 ? NULL : s);
}
