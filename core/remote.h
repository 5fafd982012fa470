/*
 * A remote, through the git program: the user's ssh config, credential
 * helpers and proxies work, and every transport compares and swaps.  Plain
 * transfer of refs; which refs and why is core/share.h's.
 *
 * Everything a remote says (ref names, ids, messages) is untrusted: bounded,
 * strictly parsed, cleaned before it is shown.
 */
#ifndef CORE_REMOTE_H
#define CORE_REMOTE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/buf.h"
#include "core/err.h"
#include "core/oid.h"
#include "core/repo.h"

#define REMOTE_MAX_REFS 200000u		/* refs of one listing */

struct remote_opts {
	const char *name;	/* a remote of git config, an URL or a path */
	int timeout_ms;		/* of one call of git; 0: none */
	bool quiet;		/* no progress is asked of git */
	/* nobody is there: git, ssh and credential helpers do not ask */
	bool background;
	/* Told of git's progress and the remote's words, a clean line each;
	 * NULL: nobody. */
	void (*said)(void *ctx, const char *line);
	void *ctx;
	/* becomes readable when git is to be ended (a signal); -1: none.  The
	 * call returns ERR_STOPPED then. */
	int stop_fd;
};

/*
 * The remote to use when none is named: maxkernel.remote, else the one that
 * git would push the branch to, else "origin", else the only one there is.
 * ERR_NOTFOUND with the way out.  Caller frees.
 */
int remote_default(struct repo *r, char **out, struct err *err);
/* As remote_default(), but the one that git would fetch from. */
int remote_default_fetch(struct repo *r, char **out, struct err *err);

/* As git check-ref-format has it, and below refs/. */
bool remote_ref_ok(const char *name);

struct remote_ref {
	char *name;
	struct oid id;
};
struct remote_refs {		/* sorted by name */
	struct remote_ref *v;
	size_t nr, cap;
};
/* git ls-remote with these patterns (full names or globs; none: all). */
int remote_list(struct repo *r, const struct remote_opts *o,
		const struct strv *patterns, struct remote_refs *out,
		struct err *err);
void remote_refs_release(struct remote_refs *l);
const struct oid *remote_refs_find(const struct remote_refs *l,
				   const char *name);

/* git fetch --no-tags --no-write-fetch-head with these refspecs, any number
 * of them; a partial clone gets everything. */
int remote_fetch(struct repo *r, const struct remote_opts *o,
		 const struct strv *refspecs, bool prune, struct err *err);

enum push_status {
	PUSH_DONE,		/* created, moved or deleted */
	PUSH_SAME,		/* was there already */
	PUSH_RACE,		/* somebody else moved it: look, then again */
	PUSH_REFUSED,		/* a hook or the server's rules: not again */
	PUSH_UNSENT		/* git ended before it got to it */
};
struct push_item {
	const char *ref;	/* its name on the remote */
	struct oid id;		/* what it is to be; zero: deleted */
	/*
	 * leased: moved only if the remote has `expected` (zero: only if it
	 * is not there), and then whatever the ancestry.  Not leased: moved
	 * only forward.  Never forced otherwise.
	 */
	bool leased;
	struct oid expected;
	enum push_status status;	/* out */
	char why[200];			/* out: the remote's words, cleaned */
};
/*
 * One `git push --porcelain --no-verify` for each 500 items.  atomic: all or
 * none of them, where the remote can; where it can't, what is put and then,
 * if all of that is there, what is deleted.  0 when git could talk to the
 * remote, whatever each status is; ERR_NET with git's words when not.
 * A lease's claim must push a commit that nobody else can have: pushing what
 * is there already is PUSH_SAME and no claim.
 */
int remote_push(struct repo *r, const struct remote_opts *o,
		struct push_item *item, size_t nr, bool atomic,
		struct err *err);

#endif
