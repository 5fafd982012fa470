/*
 * The hooks that git runs.  Each reads what git gives it on stdin, writes
 * messages on stderr and returns an exit status; none writes a ref.
 */
#ifndef HOOKS_HOOK_H
#define HOOKS_HOOK_H

#include <stdbool.h>
#include <stddef.h>

#include "core/buf.h"
#include "core/err.h"
#include "core/oid.h"
#include "core/repo.h"

#define HOOK_MAX_INPUT (64u << 20)	/* bytes of stdin */

struct hook {
	const char *name;	/* git's */
	bool server;		/* belongs into what is pushed to */
	/*
	 * input: all of stdin.  0 let it pass, 1 refused and said why;
	 * negative: it could not be found out.
	 */
	int (*run)(const struct buf *input, int argc, char **argv,
		   struct err *err);
};
extern const struct hook hook_pre_push, hook_pre_receive;

/* One line of either: two ids and two names, or one name and one. */
struct hook_line {
	struct oid old, new;
	char *local, *ref;	/* local: pre-push only, else NULL */
};
struct hook_lines {
	struct hook_line *v;
	size_t nr, cap;
};
/* pre-push: "<local ref> <local id> <remote ref> <remote id>", old being what
 * the remote has; else "<old> <new> <ref>".  ERR_FORMAT at what is neither. */
int hook_lines_parse(const struct buf *input, bool push,
		     struct hook_lines *out, struct err *err);
void hook_lines_release(struct hook_lines *l);
/* A line on stderr, cleaned: "maxkernel: <text>". */
void hook_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/*
 * Writes the script of a hook, which calls this program.  A hook that is
 * there already is kept beside it and called first.  force: in place of one
 * that an earlier install kept.
 */
int hook_install(struct repo *r, const struct hook *h, bool force,
		 struct err *err);
/* 1: it was ours and is gone, what it had kept is back; 0: it is not ours. */
int hook_remove(struct repo *r, const struct hook *h, struct err *err);

#endif
