/* Tuning a node: what the files of the command share. */
#ifndef CMD_TUNE_H
#define CMD_TUNE_H

#include "cmd/node.h"
#include "cmd/running.h"
#include "cmd/task.h"
#include "core/search.h"
#include "core/tune.h"

struct tune_opts {
	struct tune_want want;
	struct strv only, values, require;
	const char *template, *space, *file;
	int64_t attempts, grid, seed, jobs;
	double time_s, device_s, until;
	bool json, verbose;
};

/* Everything that is open. */
struct tuning {
	const struct tune_opts *o;
	struct view view;	/* as the node was found; closed early */
	struct search *search;
	struct kernel_file section;
	struct task task;
	struct oid node;
	char *device;		/* the judge may be lost and replaced */
	struct purse purse;
	struct search_run run;
	struct running *running;
	struct tune_space space;
	struct template template;
	struct buf text;	/* of the template */
	char *file;
	struct tune tune;
	bool begun;		/* search_begin() was called */
};

/* ---- tune_out.c ---- */

/* Events of the search, its tick and the trials; ctx is the struct tuning. */
void tuning_event(void *ctx, const struct search_event *e);
void tuning_tick(void *ctx, const struct search_now *n);
void tuning_trial(void *ctx, const struct tune *t,
		  const struct tune_trial *one);
/* Was the winner confirmed as faster than the node? */
bool tuning_is_better(const struct tuning *g);
/* The result on stdout. */
int tuning_print(struct tuning *g, struct err *err);

#endif
