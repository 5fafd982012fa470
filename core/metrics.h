/*
 * A metrics line: what a note of refs/notes/maxkernel/<s>/metrics/<w> holds,
 * one event a line, ASCII, keys in a fixed order, time first (so that lines
 * sort by time), under METRIC_MAX_LINE bytes:
 *
 *  {"t":"2026-12-01T03:04:05.123Z","v":1,"w":"host-9a3f","e":"eval",...}
 *
 * eval (on a node): st (state id), k (12 hex digits of the section's hash),
 *	ep (judge epoch), dev (device class), verdict, the record's numbers by
 *	their names in the design as far as they fit, error (first line), raw
 * spend (on the spec commit, or a ledger, see core/store_ledger.c): step,
 *	verdict (dup, no-proposal), st, attempt_s, device_s, error (first
 *	line): an attempt that made no node.  Of one whose node was pruned:
 *	its verdict, and if it had a recipe that, est_speedup, from and on (the
 *	steps of its parent and origin; not there: the root).  With step 0 and
 *	no-proposal: the time of a tune's trials, which are no attempts; st
 *	names it (core/tune_log.h)
 * spend with call (12 hex digits) in place of a verdict: one call of a model,
 *	which is no attempt: step, agent, model, in, cached, out, reason
 *	(tokens), cost (US dollars; not there: unknown), s (seconds waited).
 *	Each id counts once, however many notes hold it
 * config (on the spec commit): what ("done", "reopen"), why
 * lesson (on the spec commit): text
 * void (on the note of the line that it takes back): of (metric_id)
 *
 * raw is the id of a blob in an anchor's tree: the whole record.  Its first
 * line is a JSON object with every field and the shapes, what follows are the
 * samples as the judge gave them.
 *
 * A line is never changed.  An unknown "v" or "e" is kept and ignored.
 */
#ifndef CORE_METRICS_H
#define CORE_METRICS_H

#include <stdint.h>

#include "core/buf.h"
#include "core/oid.h"
#include "core/record.h"
#include "core/usage.h"

#define METRIC_VERSION 1
#define METRIC_MAX_LINE 400		/* bytes, without the newline */
#define METRIC_MAX_READ 4096		/* longer lines are not read */
#define METRIC_MAX_RAW (8u << 20)	/* bytes of a raw blob */
#define METRIC_TIME 24			/* "2026-12-01T03:04:05.123Z" */
/* What one line may use up, whoever wrote it: a larger attempt_s, device_s or
 * s is read as this. */
#define METRIC_MAX_ATTEMPT_S 86400
/*
 * Steps of others beyond the first are not read: ours go on behind the last.
 * So there is room for ours up to the second, and behind it for sums.
 */
#define METRIC_MAX_STEP 1000000000u
#define METRIC_MAX_OWN_STEP 4000000000u

enum metric_event {
	METRIC_EVAL, METRIC_SPEND, METRIC_LESSON, METRIC_VOID, METRIC_CONFIG
};

struct metric {
	char t[METRIC_TIME + 1];	/* UTC */
	char *worker;
	enum metric_event event;
	struct oid state;		/* zero: not given */
	char section[13];
	int epoch;
	uint32_t step;
	struct record rec;		/* eval and spend; device is in it */
	char *recipe;			/* spend: see struct spend */
	uint32_t from, on;
	struct usage used;		/* spend with used.id: a call */
	struct oid raw;			/* zero: none */
	char *what, *why;		/* config; lesson: what is the text */
	char of[13];			/* void */
};

void metric_init(struct metric *m);
void metric_release(struct metric *m);

/* The time now, never twice the same in one process. */
void metric_now(char t[METRIC_TIME + 1]);
/* Seconds since 1970 of such a text; it has to be of that form. */
int64_t metric_seconds(const char t[METRIC_TIME + 1]);

/*
 * Adds the line, with its newline.  What the record holds beyond what fits on
 * the line is left out: see metric_needs_raw().
 */
void metric_format(struct buf *out, const struct metric *m);
/* Does the record of an eval line hold what the line cannot? */
bool metric_needs_raw(const struct metric *m);
void metric_format_raw(struct buf *out, const struct record *rec);

enum metric_read {
	METRIC_OK,
	METRIC_NEWER,		/* "v" is unknown; *m is empty */
	METRIC_UNKNOWN		/* "e" is unknown; *m is empty */
};
/*
 * Reads one line (no newline).  Returns an enum metric_read, or ERR_FORMAT
 * for a torn or corrupt one.  *m is to be released if METRIC_OK came.
 */
int metric_parse(struct metric *m, const char *line, size_t len,
		 struct err *err);
/* Fills rec (initialised) from a raw blob; the fields that the blob does not
 * have keep their values. */
int metric_parse_raw(struct record *rec, const char *text, size_t len,
		     struct err *err);

/* Names a line: 12 hex digits of the blob id of its text. */
void metric_id(const char *line, size_t len, char id[13]);

#endif
