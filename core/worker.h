/*
 * Worker ids of this clone: the one that it writes under, and those that it
 * had before.  A copied clone has the id of the one that it was copied from;
 * when two such meet on a remote, one takes a new id, and what it wrote is
 * written again under that, once: then each ref has a single writer again, and
 * the refs of the old id are another worker's like any other.  A line is ours
 * if it stands in a notes ref of our id and names our id or one of the former:
 * what the other clone writes under the old id is a claim.
 *
 * <gitdir>/maxkernel/log/worker has one id a line, the present one first.
 */
#ifndef CORE_WORKER_H
#define CORE_WORKER_H

#include "core/store.h"

#define WORKER_MAX_IDS 4096
#define WORKER_MAX_RENEWALS 8	/* a day */

/*
 * Several processes of one clone that work on one search have slots: their
 * refs are those of "<id>-<slot>".  Is w the id, or a slot of it?
 */
bool worker_is(const char *id, const char *w);
/* The same of any of the ids. */
bool worker_is_any(const struct strv *ids, const char *w);
/* What w, one of the ids or a slot of one, is called under the present id;
 * caller frees. */
char *worker_now(const struct strv *ids, const char *w);

/*
 * The ids, the present one first; makes one if there is none.  Where none can
 * be kept, as in a repository that is read-only, the only id is WORKER_NONE,
 * which no ref and no line can have: then nothing is ours, and nothing is
 * written.
 */
#define WORKER_NONE "(none)"
/* ERR_SYS if the id is WORKER_NONE; asked before anything is written. */
int worker_need(struct repo *r, const char *id, struct err *err);
int worker_ids(struct repo *r, struct strv *out, struct err *err);
/*
 * Takes a new id instead of `old` and writes all of ours under it, in every
 * search; the refs of `old` go here.  Nothing to do if the present id is not
 * `old` any more.  ERR_LIMIT: it was done too often; nothing has changed.
 */
int worker_renew(struct repo *r, const char *old, struct err *err);
/* Brings one to its end that was killed. */
int worker_settle(struct repo *r, struct err *err);
/*
 * Writes what one ref of worker `from` holds in a search under the id `to`,
 * as far as it is not there yet; the ref stays.  what: "w" (the anchors),
 * "plan", "metrics" or "agents".
 */
int worker_absorb(struct repo *r, const char *slug, const char *what,
		  const char *from, const char *to, struct err *err);
/* s->worker becomes the present id, if another process has taken a new one.
 * Under the lock before anything is written: the refs of a former id are not
 * ours any more. */
void worker_refresh(struct search *s);

#endif
