/*
 * JSON: the only file that knows cJSON is core/json.c.  What comes in is
 * hostile, so that the text is checked against the whole grammar (RFC 8259)
 * before cJSON sees it: no trailing text, no control character or bad UTF-8
 * in a string, no U+0000, no name twice in one object, a cap on depth and on
 * the number of values.  Strings are therefore plain C strings.
 */
#ifndef CORE_JSON_H
#define CORE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/err.h"

#define JSON_MAX_DEPTH 32
#define JSON_MAX_VALUES 200000u
#define JSON_MAX_NAMES 4096u	/* in one object */

struct json;			/* a value; borrowed from its document */

enum json_type {
	JSON_NONE,		/* of a NULL value: not there */
	JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_STRING, JSON_ARRAY,
	JSON_OBJECT
};

/* ---- reading ---- */

/*
 * Exactly len bytes at text, white space around the value allowed.  Callers
 * cap len.  ERR_FORMAT says what is wrong and at which byte; ERR_LIMIT past
 * a cap above.
 */
int json_parse(struct json **out, const char *text, size_t len,
	       struct err *err);
/* As json_parse(), and the value must be an object. */
int json_parse_object(struct json **out, const char *text, size_t len,
		      struct err *err);
void json_free(struct json *doc);	/* NULL is allowed */

/* All of these take NULL and the wrong type in good part. */
enum json_type json_type(const struct json *v);
const struct json *json_get(const struct json *object, const char *key);
size_t json_count(const struct json *v);	/* of an array or object */
/* Walks an array or object: first is NULL if it is empty or neither. */
const struct json *json_first(const struct json *v);
const struct json *json_next(const struct json *v);
const char *json_key(const struct json *v);	/* name within its object */

/* The value itself: a string or NULL; a number or NAN. */
const char *json_string(const struct json *v);
double json_number(const struct json *v);

/*
 * Optional members: `otherwise` when the member is absent, null or of
 * another type.
 */
const char *json_str(const struct json *object, const char *key,
		     const char *otherwise);
double json_num(const struct json *object, const char *key,
		double otherwise);
bool json_bool(const struct json *object, const char *key, bool otherwise);

/*
 * Strict members.  ERR_NOTFOUND: absent; ERR_FORMAT: null, another type or
 * out of bounds.  The message names the key.
 */
int json_need_str(const struct json *object, const char *key, size_t max,
		  const char **out, struct err *err);
int json_need_num(const struct json *object, const char *key, double *out,
		  struct err *err);	/* finite */
/* A whole number in [lo, hi]; exact up to 2^53. */
int json_need_int(const struct json *object, const char *key, int64_t lo,
		  int64_t hi, int64_t *out, struct err *err);
int json_need_bool(const struct json *object, const char *key, bool *out,
		   struct err *err);
int json_need_array(const struct json *object, const char *key,
		    const struct json **out, struct err *err);
/*
 * The same for members that may be absent or null: then *out keeps the value
 * that it has and 0 is returned.
 */
int json_opt_str(const struct json *object, const char *key, size_t max,
		 const char **out, struct err *err);
int json_opt_num(const struct json *object, const char *key, double *out,
		 struct err *err);
int json_opt_int(const struct json *object, const char *key, int64_t lo,
		 int64_t hi, int64_t *out, struct err *err);
int json_opt_bool(const struct json *object, const char *key, bool *out,
		  struct err *err);

/* Every name of the object is in the NULL-ended list; else ERR_FORMAT. */
int json_only(const struct json *object, const char *const *keys,
	      struct err *err);

/* ---- writing: ASCII, members in the order of the calls ---- */

/*
 *	json_open(&b, NULL, '{');
 *	json_put_str(&b, "verdict", "wrong");
 *	json_open(&b, "shapes", '[');
 *	json_put_num(&b, NULL, 1.5, 6);		in an array the key is NULL
 *	json_shut(&b, ']');
 *	json_shut(&b, '}');
 *
 * Commas are seen to.
 */
void json_open(struct buf *b, const char *key, char bracket);
void json_shut(struct buf *b, char bracket);
void json_put_str(struct buf *b, const char *key, const char *s); /* NULL: null */
/* At most `digits` significant ones; 0: as few as read back equal.  NAN and
 * infinities become null. */
void json_put_num(struct buf *b, const char *key, double x, int digits);
void json_put_int(struct buf *b, const char *key, int64_t x);
void json_put_bool(struct buf *b, const char *key, bool x);
/* Text that is JSON already. */
void json_put_raw(struct buf *b, const char *key, const char *text);
/* Adds s as an ASCII JSON string; bad UTF-8 becomes U+FFFD. */
void json_add_string(struct buf *b, const char *s);

#endif
