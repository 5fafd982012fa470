/*
 * A subcommand is one file with one constant.  A new one needs: the file, a
 * line here, a line in the table of cmd/main.c, its place in the page.
 */
#ifndef CMD_CMD_H
#define CMD_CMD_H

#include "core/err.h"
#include "core/repo.h"

enum exit_status {
	EXIT_DONE = 0,
	EXIT_NO = 1,		/* the answer is no */
	EXIT_FAILED = 128,
	EXIT_USAGE = 129,	/* -h too, as `git X -h` does */
	EXIT_INTERRUPTED = 130
};

enum cmd_need {
	NEED_REPO = 1,		/* opens the repository into the session */
	NEED_WORKTREE = 2,	/* not bare */
	PAGED = 4		/* through the pager, where Git would */
};

struct session {
	struct repo *repo;	/* NULL without NEED_REPO */
	const char *prefix;	/* where the user stands, from the top */
};

struct cmd {
	const char *name, *group, *summary;
	const char *const *usage;	/* lines, NULL-ended */
	int needs;
	/* Returns an exit status.  On an error: fill *err and return
	 * EXIT_FAILED or EXIT_USAGE; main() prints it. */
	int (*run)(struct session *s, int argc, char **argv, struct err *err);
};

extern const struct cmd cmd_init, cmd_add, cmd_audit, cmd_explore, cmd_resume,
	cmd_halt,
	cmd_worker,
	cmd_tune,
	cmd_measure, cmd_status, cmd_log, cmd_show, cmd_graph, cmd_frontier,
	cmd_best, cmd_cost, cmd_diff, cmd_pick, cmd_merge, cmd_prune, cmd_verify, cmd_doctor,
	cmd_version, cmd_push, cmd_pull, cmd_knowledge,
	cmd_hook;	/* in hooks/ */

/* ERR_USAGE gives 129, ERR_STOPPED 130, others 128. */
int cmd_status_of(const struct err *err);

#endif
