/*
 * Several searches on one budget, each over a kernel of its own, by turns: a
 * round of the one that core/portfolio.h names, then the next.  A single one
 * has all turns.
 */
#ifndef CMD_MANY_H
#define CMD_MANY_H

#include "cmd/run.h"
#include "core/portfolio.h"

struct member {			/* one search */
	const struct kernel *kernel;	/* borrowed, or of section */
	struct kernel_file section;
	struct task task;
	struct judge_info info;		/* what its judge found */
	struct search *search;
	struct runner runner;
	struct share share;
	struct run_result result;
	bool has_result;
	bool failed;			/* it was warned of, if it has company */
	uint64_t turn;			/* its last one */
};

struct many {
	struct session *session;
	const struct run_opts *opts;
	struct purse purse;
	struct member *v;
	size_t nr;
	size_t *order;		/* of turns: by the names of the kernels, so that
				 * it is the same when they are resumed */
	uint64_t turns;
	size_t at;			/* whose turn it is */
	bool printed;
};

void many_open(struct many *m, struct session *s, const struct run_opts *o,
	       size_t nr);
void many_close(struct many *m);

/*
 * Opens the task of a member (its kernel is set) and its judge, and prints
 * what that found.  from and worktree: as task_open(); base: NULL, or the
 * user's commit that from stands for.
 */
int many_task(struct many *m, size_t i, const char *from, bool worktree,
	      const struct oid *base, struct err *err);
/* What was made of its search before counts for its turns. */
int many_share(struct member *b, struct err *err);
/*
 * A member can't go on, because of *err: with others it is warned of, and they
 * go on (0); alone, or after a signal, it is the run's error.
 */
int many_fail(struct many *m, size_t i, struct err *err);
/* Makes rounds until all are over or the run is stopped; prints the results
 * (of those that have a search).  Returns the exit status. */
int many_run(struct many *m, struct err *err);

#endif
