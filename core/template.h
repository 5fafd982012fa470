/*
 * A source text with places for values.  `@NAME@` is the value of NAME, `@@`
 * is an `@`; an `@` that is neither is an error.  A NAME begins with a letter
 * or `_`, has letters, digits and `_`, at most 32.
 *
 * The values stand in a space file: lines `NAME = value value ...`; a value is
 * a word of A-Z a-z 0-9 _ . + -, at most 32 of these; blank lines and lines
 * that begin with `#` count for nothing.
 *
 * Text in, plain data out; both are foreign, so every cap is ours.
 */
#ifndef CORE_TEMPLATE_H
#define CORE_TEMPLATE_H

#include <stddef.h>

#include "core/buf.h"
#include "core/err.h"
#include "core/proposer.h"

#define TEMPLATE_MAX_TEXT (1u << 20)	/* bytes of a template */
#define TEMPLATE_MAX_FILLED (4u << 20)	/* and of what becomes of it */
#define TEMPLATE_MAX_PLACES 10000
#define TEMPLATE_MAX_SPACE (64u << 10)	/* bytes of a space file */
#define TEMPLATE_MAX_WORD 32

struct template {
	struct buf text;	/* with `@@` and `@NAME@` taken out */
	struct template_place {
		size_t at;	/* in text: the value goes before this byte */
		int name;	/* index in the space */
	} *place;
	size_t nr, cap;
};
#define TEMPLATE_INIT { BUF_INIT, NULL, 0, 0 }

/*
 * The names of the text are those of the space, all of them: ERR_FORMAT with
 * source and line for an unknown one, ERR_FORMAT for one that is not used.
 * source: the file's name, for messages.  template_release() in any case.
 */
int template_parse(struct template *t, const char *source, const char *text,
		   size_t len, const struct space *s, struct err *err);
/* Adds the text with the values of a setting; no value is -1. */
int template_fill(const struct template *t, const struct space *s,
		  const int *setting, struct buf *out, struct err *err);
void template_release(struct template *t);

/* Adds the names of a space file; their values are words, needed, none is
 * set.  ERR_FORMAT with source and line. */
int template_space(struct space *s, const char *source, const char *text,
		   size_t len, struct err *err);
/* A name, and a value, as they may stand there. */
bool template_name_ok(const char *name, size_t len);
bool template_value_ok(const char *value, size_t len);
/* Adds a name without values, to be filled by the caller. */
struct locus_values *space_add(struct space *s, const char *name, size_t len);

#endif
