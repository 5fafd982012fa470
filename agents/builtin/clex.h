/*
 * C text as tokens with their places.  Any byte string gives tokens or an
 * error that says what cannot be read; nothing is expanded or included.
 */
#ifndef AGENTS_BUILTIN_CLEX_H
#define AGENTS_BUILTIN_CLEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/err.h"

enum ctok_kind {
	CTOK_WORD,		/* identifier or keyword */
	CTOK_NUMBER,
	CTOK_STRING,
	CTOK_CHAR,
	CTOK_PUNCT,		/* the longest operator that fits */
	CTOK_COMMENT,
	CTOK_LINE		/* a preprocessor line with its continuations
				 * and comments, without its newline */
};

struct ctok {
	enum ctok_kind kind;
	uint32_t pos, len;	/* bytes of the text */
};

struct clex {
	const char *text;	/* borrowed */
	size_t len;
	struct ctok *all;	/* every token, in order */
	size_t nr_all, cap_all;
	struct ctok *v;		/* without comments and preprocessor lines */
	size_t nr, cap;
};
#define CLEX_INIT { NULL, 0, NULL, 0, 0, NULL, 0, 0 }

/* On an error *l is empty.  At most SOURCE_MAX_FILE bytes. */
int clex_run(struct clex *l, const char *text, size_t len, struct err *err);
void clex_release(struct clex *l);

/* True if token i of v spells s. */
bool clex_is(const struct clex *l, size_t i, const char *s);
/* True if tokens i and j of v spell the same. */
bool clex_same(const struct clex *l, size_t i, size_t j);
/* True if a preprocessor line lies between the bytes a and b. */
bool clex_line_between(const struct clex *l, uint32_t a, uint32_t b);
/* The line number of a byte, from 1. */
unsigned clex_line_nr(const struct clex *l, uint32_t pos);

#endif
