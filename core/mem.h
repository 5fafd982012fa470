/*
 * Memory.  Out of memory ends the program, here and nowhere else: these never
 * return NULL.  Sizes that overflow end it too.
 */
#ifndef CORE_MEM_H
#define CORE_MEM_H

#include <stddef.h>

void *xmalloc(size_t size);
void *xcalloc(size_t nr, size_t size);		/* zeroed */
void *xreallocarray(void *ptr, size_t nr, size_t size);
char *xstrdup(const char *s);			/* NULL gives NULL */
char *xstrndup(const char *s, size_t len);	/* at most len bytes */
char *xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/*
 * Makes room in an array for one more element, doubling it when it is full:
 *	GROW(arr, nr, cap);
 *	arr[nr++] = x;
 */
#define GROW(arr, nr, cap) do {						\
	if ((nr) >= (cap)) {						\
		(cap) = (cap) ? (cap) * 2 : 8;				\
		(arr) = xreallocarray((arr), (size_t)(cap), sizeof(*(arr))); \
	}								\
} while (0)

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#endif
