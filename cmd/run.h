/*
 * Running one search and telling of it: what explore, resume and worker
 * share.  Several may have rounds by turns, see cmd/many.h.
 */
#ifndef CMD_RUN_H
#define CMD_RUN_H

#include "cmd/background.h"
#include "cmd/task.h"
#include "core/search.h"

struct run_opts {
	struct budget budget;		/* of this run, all its searches */
	int64_t jobs;
	bool json, verbose;
	const struct search_crowd *crowd;	/* NULL: alone */
	const char *push;		/* remote to push to while it runs, "":
					 * the usual one; NULL: none */
};

struct run_result {			/* a line of the final table */
	char *kernel, *search, *policy;
	struct record best;		/* the champion's, with shapes */
	bool has_best;
	struct shape_result root;	/* of the first timed shape */
	struct oid node;
	char *advice;			/* the best is a claim; may be NULL */
	uint32_t made, nodes;
	double elapsed_s, device_s, outside_s;
	int64_t tokens;
	double cost;
	const char *why;		/* search_end_name(), or finished before */
	bool stopped;
	bool over;			/* another worker brings it to its end */
};
void run_result_release(struct run_result *r);

/* Kernel of a spec, parsed from its section; the file is released by the
 * caller. */
int run_spec_kernel(const struct spec *spec, struct kernel_file *f,
		    struct err *err);

/* A search of which rounds are made. */
struct crowd;
struct running;
struct runner {
	/* in: borrowed; purse may be others' too */
	struct task *task;
	struct search *search;
	const struct judge_info *info;	/* what the task's judge found */
	const struct run_opts *opts;
	struct purse *purse;
	double share;		/* of the purse, as it may be; 0: all of it */
	/* Called often while this one has its turn; NULL: nobody. */
	void (*beside)(void *ctx);
	void *ctx;
	/* out */
	struct search_run run;
	bool begun;
	/* private */
	struct background *push;
	struct crowd *crowd;	/* of a search that is pushed; may be NULL */
	struct running *running;
};

/*
 * 1: it ended before; *out is what came of it, and it is not run.  0: it can
 * go on.
 */
int run_told(struct runner *r, struct run_result *out, struct err *err);
/* Takes the search: from here on others see that it runs, and can halt it.
 * run_leave() in any case. */
int run_claim(struct runner *r, struct err *err);
/* Claims the search if it is not yet, and prepares it; the task's first judge
 * is open.  run_leave() in any case. */
int run_begin(struct runner *r, struct err *err);
/* Is it asked to halt, or was it? */
bool run_is_halted(struct runner *r);
/* *more: another round may follow. */
int run_round(struct runner *r, bool *more, struct err *err);
/* Brings it to its end, publishes the landing branches and fills *out.  ret:
 * what came of the last round.  Of one that was halted before it began *out is
 * what it had. */
int run_finish(struct runner *r, int ret, struct run_result *out,
	       struct err *err);
/* Keeps up what others see of it, while another search has its turn. */
void run_keep(struct runner *r);
/* The last push, which may take its time; and lets go of everything. */
void run_leave(struct runner *r);

/* All of it, of one search alone. */
int run_search(struct task *t, struct search *s, const struct run_opts *o,
	       struct run_result *out, struct err *err);

/* The final table, or a JSON object for each. */
void run_print(const struct run_result *r, size_t nr, bool json);

#endif
