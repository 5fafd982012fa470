/*
 * The git program, for what libgit2 must not or cannot do: deleting refs and
 * the network.  An argument list, never a shell.  Its words are in English
 * (LC_ALL=C), so that they can be told apart.
 */
#ifndef CORE_GIT_H
#define CORE_GIT_H

#include "core/buf.h"
#include "core/err.h"
#include "core/repo.h"

#define GIT_MAX_OUTPUT (64u << 20)	/* bytes of stdout kept */
#define GIT_MAX_ERRORS 8192u		/* bytes of stderr kept, the last */

struct git_run {
	const struct strv *args;	/* after "git --git-dir=<dir>" */
	const char *input;		/* for stdin; NULL: /dev/null */
	size_t input_len;
	int timeout_ms;			/* 0: none */
	int stop_fd;			/* becomes readable: git is ended;
					 * 0 or less: there is none */
	/*
	 * For the network: git and what it starts (ssh, a credential helper)
	 * may ask the person at the terminal, if there is one.  Otherwise they
	 * run in a session of their own, without a terminal, and are told not
	 * to ask (GIT_TERMINAL_PROMPT=0).
	 */
	bool may_ask;
	/* Told of each line of stderr as it comes, clean; NULL: nobody. */
	void (*said)(void *ctx, const char *line);
	void *ctx;
	/* out */
	struct buf out;			/* stdout */
	struct buf errors;		/* the last of stderr */
	int status;			/* exit status; 128 + n for signal n */
};

/*
 * Runs it to its end.  0 whatever the exit status; ERR_SYS if git could not
 * be started, ERR_LIMIT if it took or wrote too much, ERR_STOPPED by stop_fd
 * (git and its children are ended then: asked first, killed after two
 * seconds).  It does not wait for what git leaves behind (an ssh master).
 * git_run_release() afterwards, in any case.
 */
int git_run(struct repo *r, struct git_run *run, struct err *err);
void git_run_release(struct git_run *run);
/* What it said on stderr, on one clean line without hints and progress. */
void git_run_words(const struct git_run *run, struct buf *out);

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
/* All of them, each if it is where ids says, or none: one transaction.
 * ERR_GIT with what git said. */
int git_refs_delete(struct repo *r, const struct strv *names,
		    const struct oid *ids, struct err *err);

#endif
