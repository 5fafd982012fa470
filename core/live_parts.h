/* What the files of live share; no one else includes this. */
#ifndef CORE_LIVE_PARTS_H
#define CORE_LIVE_PARTS_H

#include "core/live.h"

#define LIVE_MAX_NAME 96

/* "<slug><tail>", from the second slot on "<slug>.<slot><tail>". */
void live_name(const char *slug, int slot, const char *tail,
	       char out[LIVE_MAX_NAME]);
/* The folder of the files, made if need be; or -1 and *err. */
int live_dir(struct repo *r, bool make, struct err *err);

/* ---- the file's text (live_text.c) ---- */

void live_format(struct buf *b, const struct live_state *s);
/* *s is all zero; on an error it holds whatever. */
int live_parse(const char *text, size_t len, struct live_state *s,
	       struct err *err);

#endif
