/*
 * One line of the judge process (core/judge/wire.h), read strictly: text in,
 * plain data out.  For judge_process.c alone; others use judge.h.  Texts are
 * cleaned and bounded; a number that makes no sense is NAN.
 */
#ifndef CORE_JUDGE_REPLY_H
#define CORE_JUDGE_REPLY_H

#include "core/json.h"
#include "core/judge.h"

enum reply_event { REPLY_OTHER, REPLY_PROGRESS, REPLY_DONE };

struct judge_reply {
	enum reply_event event;
	int64_t id;		/* of the request; -1: none */
	char doing[128];	/* REPLY_PROGRESS */
	bool fatal;		/* REPLY_DONE: the judge can't go on */
	struct json *doc;
};

/* ERR_FORMAT, ERR_LIMIT: not one JSON object; *r is empty then. */
int judge_reply_parse(struct judge_reply *r, const char *line, size_t len,
		      struct err *err);
void judge_reply_release(struct judge_reply *r);

/* Why it failed, for people; the caller frees.  NULL: no reason given. */
char *judge_reply_error(const struct judge_reply *r);
/* The answer to `open`.  ERR_FORMAT: the task is at fault, or a field is
 * missing; *info may hold a part of it in any case. */
int judge_reply_info(const struct judge_reply *r, struct judge_info *info,
		     struct err *err);
/* The answer to a later stage: what the line says, and nothing of the request.
 * ERR_FORMAT when its verdict is none of that stage. */
int judge_reply_record(const struct judge_reply *r, enum judge_stage stage,
		       struct record *out, struct err *err);
/* Name of the file with the samples, within the work folder; NULL: none. */
const char *judge_reply_samples(const struct judge_reply *r);

#endif
