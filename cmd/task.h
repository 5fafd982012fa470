/*
 * What the commands that judge have in common: the kernels of the work tree,
 * a kernel's sources at a commit, a judge in a private folder.
 */
#ifndef CMD_TASK_H
#define CMD_TASK_H

#include <signal.h>

#include "cmd/cmd.h"
#include "core/judge.h"
#include "core/kernel.h"
#include "core/store.h"

/* Set by SIGINT and SIGTERM once task_signals() ran; a second signal ends the
 * program at once. */
extern volatile sig_atomic_t task_stop;
extern int task_stop_fd;		/* readable then; -1 before */
void task_signals(void);

/* `.maxkernel` of the work tree, or of HEAD in a bare repository.
 * ERR_NOTFOUND with the way out when there is none. */
int task_kernels(struct session *s, struct kernel_file *f, struct err *err);
/* One kernel by name; ERR_USAGE listing the names if there is none such. */
int task_kernel(const struct kernel_file *f, const char *name,
		const struct kernel **out, struct err *err);

/* Is this a kernel of `.maxkernel`, whether or not it has a search? */
bool task_is_kernel(struct session *s, const char *name);

struct running;
struct task {
	struct session *session;
	const struct kernel *kernel;	/* borrowed */
	struct oid base;		/* the user's commit */
	struct oid root;		/* base, or a commit of the work tree */
	struct srcset source, aux;
	char *work;			/* private folder, removed at the end */
	int work_lock;			/* shows others that it is in use */
	struct judge *judge[64];
	int jobs;
	struct judge_config config;
	struct running *running;	/* of its search that runs, or NULL */
	bool brief;		/* set before task_judge(): builds, checks and
				 * screens only, so it opens sooner */
};

/*
 * Reads the kernel's sources at from (NULL: HEAD).  worktree: makes a root
 * commit of the work tree's versions; without it a difference is told on
 * stderr.  task_close() in any case.
 */
int task_open(struct task *t, struct session *s, const struct kernel *k,
	      const char *from, bool worktree, struct err *err);
/* Opens the first judge with progress on stderr, ready for requests. */
int task_judge(struct task *t, int jobs, struct err *err);
void task_close(struct task *t);

/* A request, waited for with a live line; ERR_STOPPED after a signal. */
int task_call(struct task *t, const struct judge_request *req,
	      struct record *out, struct err *err);
/* Prints the root's rates, shares of the roof and the resolution. */
void task_print_root(const struct task *t);
/*
 * Builds, checks and confirms a state against the root; fills *out whatever
 * the verdict is.
 */
int task_measure(struct task *t, const struct srcset *source,
		 struct record *out, struct err *err);

#endif
