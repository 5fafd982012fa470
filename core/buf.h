/*
 * A growing text.  ptr is never NULL and always terminated; len does not
 * count the terminator; the text may hold NUL bytes.  The adders cannot fail
 * (out of memory ends the program).  Bytes from a peer, a model, a child or a
 * file enter through buf_add_max() or buf_read_*() alone, which have a cap.
 */
#ifndef CORE_BUF_H
#define CORE_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/err.h"

struct buf {
	char *ptr;
	size_t len, cap;
};
extern char buf_empty[];
#define BUF_INIT { buf_empty, 0, 0 }

void buf_init(struct buf *b);
void buf_release(struct buf *b);	/* frees; b is empty and usable again */
void buf_reset(struct buf *b);		/* length 0; keeps the memory */
char *buf_detach(struct buf *b);	/* the caller frees the text */

void buf_add(struct buf *b, const void *data, size_t len);
void buf_addstr(struct buf *b, const char *s);
void buf_addch(struct buf *b, int c);
void buf_addf(struct buf *b, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void buf_vaddf(struct buf *b, const char *fmt, va_list ap)
	__attribute__((format(printf, 2, 0)));
/* False, and nothing added, when the text would become longer than max. */
bool buf_add_max(struct buf *b, const void *data, size_t len, size_t max);
/* Replaces bytes [pos, pos + len) by data; pos + len <= b->len. */
void buf_splice(struct buf *b, size_t pos, size_t len,
		const void *data, size_t data_len);

/* Reads until end of file; ERR_LIMIT past max bytes. */
int buf_read_fd(struct buf *b, int fd, size_t max, struct err *err);
/* A regular file; ERR_NOTFOUND if there is none, ERR_LIMIT past max. */
int buf_read_file(struct buf *b, const char *path, size_t max,
		  struct err *err);
/* Writes path through a temporary file beside it, fsync and rename. */
int buf_write_file(const char *path, const void *data, size_t len,
		   struct err *err);

/* Adds s as a JSON string with its quotes; bad UTF-8 becomes U+FFFD. */
void buf_add_json(struct buf *b, const char *s);
/*
 * Adds foreign text made fit for a terminal or a log: control characters and
 * bad UTF-8 become '?', newline and tab stay when multiline is true.
 */
void buf_add_clean(struct buf *b, const char *s, size_t len, bool multiline);

/* A list of strings that it owns. */
struct strv {
	char **v;
	size_t nr, cap;
};
#define STRV_INIT { NULL, 0, 0 }
void strv_push(struct strv *s, const char *text);
void strv_pushf(struct strv *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
bool strv_has(const struct strv *s, const char *text);
void strv_sort(struct strv *s);
void strv_release(struct strv *s);
/* Makes the list end in a NULL that nr does not count, as execve() wants. */
char **strv_argv(struct strv *s);

#endif
