/*
 * One JSON object a line, flat: strings, numbers, true, false, null.  The
 * reader is strict (no nesting, no repeated key, no trailing text, no NUL or
 * bad UTF-8 in a string) and bounded; the writer prints numbers that are not
 * finite as null.
 */
#ifndef CORE_JUDGE_LINE_H
#define CORE_JUDGE_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/err.h"

#define LINE_MAX_FIELDS 32

enum line_type { LINE_STRING, LINE_NUMBER, LINE_BOOL, LINE_NULL };

struct line_field {
	char *key;
	enum line_type type;
	char *text;		/* LINE_STRING */
	double number;		/* LINE_NUMBER; LINE_BOOL: 0 or 1 */
};

struct line {
	struct line_field v[LINE_MAX_FIELDS];
	int nr;
};

/* On an error *l is empty. */
int line_parse(struct line *l, const char *text, size_t len,
	       struct err *err);
void line_release(struct line *l);
/* NULL if it is not there or no string. */
const char *line_str(const struct line *l, const char *key);
/* False if it is not there or no number (nor bool). */
bool line_num(const struct line *l, const char *key, double *out);

/* The writer: begin, add..., end.  end adds the newline. */
void line_begin(struct buf *b);
void line_add_key(struct buf *b, const char *key);
void line_add_str(struct buf *b, const char *key, const char *value);
void line_add_num(struct buf *b, const char *key, double value);
void line_add_int(struct buf *b, const char *key, int64_t value);
void line_add_bool(struct buf *b, const char *key, bool value);
void line_end(struct buf *b);
/* A number as JSON: shortest of 9 digits, null if it is not finite. */
void line_put_num(struct buf *b, double value);

#endif
