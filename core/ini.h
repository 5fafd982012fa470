/*
 * A reader of the grammar of git-config that knows its lines and follows no
 * include.  It reads exactly what `git config -f FILE --list` of Git 2.39
 * reads (a test compares them), except that a NUL byte is an error.
 */
#ifndef CORE_INI_H
#define CORE_INI_H

#include <stdbool.h>
#include <stddef.h>

#include "core/buf.h"
#include "core/err.h"

enum ini_event { INI_END, INI_SECTION, INI_KEY };

struct ini {
	const char *end, *p;	/* borrowed */
	const char *nul;	/* the first NUL byte, or NULL */
	int line;		/* of the last event, from 1 */
	int at;			/* line of p */
	struct buf section;	/* lowered; "" before the first head */
	bool has_sub;
	struct buf sub;		/* subsection, as written */
	struct buf key;		/* lowered */
	bool has_value;		/* false for a lone "key" */
	struct buf value;	/* unquoted */
};

void ini_init(struct ini *r, const char *text, size_t len);
void ini_release(struct ini *r);
/* An ini_event, or ERR_FORMAT with r->line and a message without it. */
int ini_next(struct ini *r, struct err *err);

#endif
