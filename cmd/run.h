/* Running one search and telling of it: what explore and resume share. */
#ifndef CMD_RUN_H
#define CMD_RUN_H

#include "cmd/background.h"
#include "cmd/task.h"
#include "core/search.h"

struct run_result;
struct run_opts {
	int64_t attempts, jobs;		/* attempts 0: no cap */
	double time_s;			/* 0: no cap */
	bool json, verbose;
	const struct search_crowd *crowd;	/* NULL: alone */
	struct background *push;		/* NULL: nothing is pushed */
	/* Called when the result stands, before the last push, which may
	 * take its time; NULL: nobody. */
	void (*ready)(void *ctx, const struct run_result *r);
	void *ctx;
};

struct run_result {			/* a line of the final table */
	char *kernel, *search;
	struct record best;		/* the champion's, with shapes */
	bool has_best;
	struct shape_result root;	/* of the first timed shape */
	struct oid node;
	char *advice;			/* the best is a claim; may be NULL */
	uint32_t made, nodes;
	double elapsed_s;
	const char *why;		/* search_end_name(), or finished before */
	bool stopped;
	bool over;			/* another worker brings it to its end */
};
void run_result_release(struct run_result *r);

/* Kernel of a spec, parsed from its section; the file is released by the
 * caller. */
int run_spec_kernel(const struct spec *spec, struct kernel_file *f,
		    struct err *err);
struct view;
/* What is left of the budget that a search was started with, as attempts (-1:
 * nothing) and seconds (RUN_LEAST_TIME_S at least). */
#define RUN_LEAST_TIME_S 1.0
void run_rest_of_budget(const struct view *v, struct run_opts *o);
/*
 * Searches with an open task until the budget is spent, publishes the landing
 * branches and fills *out.  A finished search is told of, not run.
 */
int run_search(struct task *t, struct search *s, const struct run_opts *o,
	       struct run_result *out, struct err *err);
/* The final table, or a JSON object for each. */
void run_print(const struct run_result *r, size_t nr, bool json);

#endif
