/* Between the files of core/kernel*.c alone. */
#ifndef CORE_KERNEL_PARTS_H
#define CORE_KERNEL_PARTS_H

#include "core/kernel.h"

#define KERNEL_MAX_NAME 63	/* bytes of an identifier */

struct kernel_parse {		/* one section, while it is read */
	struct kernel *k;
	int line;		/* of the key at hand */
	struct err *err;
};

/* Sets "<source>:<line>: ..."; returns ERR_FORMAT. */
int kernel_fail(const struct kernel_parse *p, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* A C identifier of at most KERNEL_MAX_NAME bytes, no keyword. */
bool kernel_is_name(const char *s);
/* A finite decimal number and nothing else. */
bool kernel_number(const char *s, double *out);
/* A non-negative decimal integer up to max and nothing else. */
bool kernel_integer(const char *s, int64_t max, int64_t *out);
/* Splits at blanks. */
void kernel_words(struct strv *out, const char *s);

/* ---- the keys of a section (kernel_keys.c) ---- */

/* What must be known before a key can be read, in this order. */
enum kernel_phase { PHASE_DIMS, PHASE_ARGS, PHASE_REST, PHASE_SHAPES, PHASE_END };

struct kernel_key {
	const char *name;
	enum kernel_phase phase;
	bool many;		/* may be given more than once */
	bool path;		/* blanks in the value are kept */
	int (*set)(struct kernel_parse *p, const char *value);
};
#define KERNEL_NR_KEYS 27
extern const struct kernel_key kernel_keys[KERNEL_NR_KEYS];

/* The value of an `arg` key: first all dims, then all arguments. */
int kernel_parse_dim(struct kernel_parse *p, const char *value);
int kernel_parse_arg(struct kernel_parse *p, const char *value);
int kernel_parse_input(struct kernel_parse *p, const char *value);
/* what: "extent", for messages; of: "argument 'x'", or NULL. */
int kernel_parse_expr(struct kernel_parse *p, struct expr *e,
		      const char *text, const char *what, const char *of);
struct arg *kernel_find_arg(struct kernel *k, const char *name);
void kernel_arg_release(struct arg *a);

/* The way out for a flag that is not allowed. */
const char *kernel_flag_advice(const char *flag);

#endif
