/*
 * Pushing a search while it runs: one `git maxkernel push` at a time, started
 * at most every maxkernel.pushInterval seconds.  It never holds the search
 * up and never ends it: what it complains of is told once, as a warning.
 */
#ifndef CMD_BACKGROUND_H
#define CMD_BACKGROUND_H

#include "cmd/cmd.h"
#include "core/share.h"

struct background;

/* remote: as named by the user; "": the usual one.  Says at once what would
 * fail every time: no remote, a setting that is none. */
int background_open(struct background **out, struct repo *r,
		    const char *remote, struct err *err);
/* Begins with a search, whose slug is given. */
void background_begin(struct background *b, const char *slug);
const char *background_remote(const struct background *b);
/* Seconds between two pushes. */
double background_interval_s(const struct background *b);
/* To be called often; looks, starts and tells, and returns at once. */
void background_tick(struct background *b);
/*
 * The search has ended: waits for the push that is under way and makes the
 * last one, branches included, a minute each at most.  A failure is a warning
 * that names the command to run later.
 */
void background_end(struct background *b);
void background_close(struct background *b);	/* NULL is fine */

#endif
