/*
 * The judge, as the search sees it: builds, checks and times candidates and
 * gives the verdict.  Two implementations: the judge process
 * (judge_process.c; JSON lines over pipes, see core/judge/wire.h) and, for
 * tests, a table by state id (judge_scripted.c), chosen by
 * MAXKERNEL_JUDGE=<file>, whose measurements are marked unsandboxed.
 *
 * A judge serves one request at a time: start it, wait until its descriptor
 * is readable, step it until it says that the result is there.
 */
#ifndef CORE_JUDGE_H
#define CORE_JUDGE_H

#include <stdbool.h>

#include "core/err.h"
#include "core/kernel.h"
#include "core/oid.h"
#include "core/record.h"
#include "core/source.h"

enum judge_stage {
	JUDGE_OPEN,		/* root, oracle, roofs: once, first */
	JUDGE_BUILD, JUDGE_CHECK, JUDGE_SCREEN, JUDGE_CONFIRM
};
const char *judge_stage_name(enum judge_stage s);

struct judge_request {
	enum judge_stage stage;
	struct oid state;		/* candidate */
	const struct srcset *source;	/* JUDGE_BUILD: its files */
	struct oid against;		/* champion; built before */
	const struct srcset *against_source;
	bool against_root;		/* the champion is the root */
	double against_lr;		/* ln speedup of the champion */
};

struct judge_info {		/* what JUDGE_OPEN found */
	char *device;		/* slug of the device class */
	char *device_text;	/* for people */
	char *host, *sandbox, *oracle, *compiler, *best_flags;
	double resolution;	/* smallest effect it can see, 0.01 = 1 % */
	struct shape_result *shape;	/* the root's */
	size_t nr_shapes;
	double best_flags_speedup;	/* of best_flags over the root */
};

struct judge;			/* one judge */

struct judge_config {
	const struct kernel *kernel;
	const struct srcset *root;	/* `file` and `use` at the root */
	const struct srcset *aux;	/* reference, baseline, rivals: all of
					 * root and their files */
	const char *work;		/* private directory, exists */
	bool sandbox_none;
	bool helper;			/* only builds, checks and screens: no
					 * arms of other compiler flags */
};

struct judge_ops {
	int (*start)(struct judge *j, const struct judge_request *req,
		     struct err *err);
	/* For poll(); -1: do not wait, step at once. */
	int (*fd)(const struct judge *j);
	/*
	 * 1: done, *out filled (JUDGE_OPEN fills the judge's info instead);
	 * 0: not yet; negative: the judge is lost, or for JUDGE_OPEN the task
	 * itself is at fault (ERR_FORMAT: the message says why).
	 */
	int (*step)(struct judge *j, struct record *out, struct err *err);
	/* What it is doing, for the live line; never NULL. */
	const char *(*doing)(const struct judge *j);
	void (*close)(struct judge *j);	/* ends its children, frees it */
};

struct judge {
	const struct judge_ops *ops;
	struct judge_info info;
};

void judge_info_copy(struct judge_info *to, const struct judge_info *from);
void judge_info_release(struct judge_info *i);

/* From MAXKERNEL_JUDGE, or the judge process. */
int judge_open(struct judge **out, const struct judge_config *cfg,
	       struct err *err);
void judge_close(struct judge *j);	/* NULL is allowed */
/* start and step until done, waiting as needed. */
int judge_call(struct judge *j, const struct judge_request *req,
	       struct record *out, struct err *err);

/* The two implementations. */
int judge_process_open(struct judge **out, const struct judge_config *cfg,
		       struct err *err);
int judge_scripted_open(struct judge **out, const char *table,
			const struct judge_config *cfg, struct err *err);

#endif
