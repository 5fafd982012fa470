/*
 * The git program, for what libgit2 must not or cannot do: deleting refs and,
 * later, the network.  An argument list, never a shell.
 */
#ifndef CORE_GIT_H
#define CORE_GIT_H

#include "core/buf.h"
#include "core/err.h"
#include "core/repo.h"

#define GIT_MAX_OUTPUT (16u << 20)	/* bytes of stdout kept */
#define GIT_MAX_ERRORS 4096u		/* bytes of stderr kept */

struct git_run {
	const struct strv *args;	/* after "git --git-dir=<dir>" */
	const char *input;		/* for stdin; NULL: /dev/null */
	size_t input_len;
	int timeout_ms;			/* 0: none */
	/* out */
	struct buf out;			/* stdout */
	struct buf errors;		/* stderr, cut */
	int status;			/* exit status; 128 + n for signal n */
};

/*
 * Runs it to its end.  0 whatever the exit status; ERR_SYS if git could not
 * be started, ERR_LIMIT if it took or wrote too much (it is killed then).
 * git_run_release() afterwards, in any case.
 */
int git_run(struct repo *r, struct git_run *run, struct err *err);
void git_run_release(struct git_run *run);

/* As git_run(), and an exit status other than 0 is ERR_GIT with what git
 * said.  out may be NULL. */
int git_call(struct repo *r, const struct strv *args, struct buf *out,
	     struct err *err);

/*
 * git update-ref -d name old, tried again while something else holds the
 * lock.  ERR_RACE if the ref is not at old.
 */
int git_ref_delete(struct repo *r, const char *name, const struct oid *old,
		   struct err *err);

#endif
