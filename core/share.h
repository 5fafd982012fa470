/*
 * Sharing searches by plain Git: which refs go to a remote and come from it,
 * and under which names.
 *
 * On a remote the refs have their local names; where it takes only heads and
 * tags, maxkernel.refPrefix (or remote.<name>.maxkernelRefPrefix), such as
 * "refs/heads/maxkernel-data/", stands in for "refs/":
 * refs/maxkernel/x -> refs/heads/maxkernel-data/maxkernel/x, refs/notes/... ->
 * refs/heads/maxkernel-data/notes/...; branches keep their names.
 *
 * What was fetched lies under refs/maxkernel-remote/<remote>/ and
 * refs/notes/remote/<remote>/maxkernel/ (both forced: copies of the remote)
 * and is taken over into the local refs only forward and only after
 * core/incoming.h has passed it.
 */
#ifndef CORE_SHARE_H
#define CORE_SHARE_H

#include "core/remote.h"
#include "core/store.h"

/* Told of as they come; text is clean.  NULL: nobody. */
struct share_teller {
	void (*said)(void *ctx, const char *text);	/* for the person */
	void (*told)(void *ctx, const char *text);	/* a line for -v */
	void (*warned)(void *ctx, const char *text);
	/* of each search with something moved; pull: how much */
	void (*search)(void *ctx, const char *slug, size_t refs, size_t nodes);
	void *ctx;
};

enum share_branches { BRANCHES_NONE, BRANCHES_BEST, BRANCHES_BEAM };
/* maxkernel.pushBranches: best (default), beam (and best), none. */
int share_branches(struct repo *r, enum share_branches *out, struct err *err);

struct share_sum {
	size_t searches;	/* had something to do */
	size_t refs;		/* moved */
	size_t nodes;		/* pull: taken over */
	size_t refused;		/* refs left alone, each warned of */
};

/*
 * Pushes what this worker wrote of each search: spec first and alone, then
 * anchors, notes, then the branches by lease.  Refs of other workers that the
 * remote lacks go too (a relay loses nothing), never over what is there.  An
 * own ref that the remote has otherwise means a second writer with our id (a
 * copied clone): this clone takes a new worker id, told in a warning, and
 * pushes under it.  A search that the remote had and has no more was dropped
 * there: slugs empty (all searches) leaves it, with a warning; by its name it
 * is pushed again.  ERR_NET: the remote was not reached.
 */
int share_push(struct repo *r, const struct remote_opts *o,
	       const struct strv *slugs, enum share_branches branches,
	       const struct share_teller *t, struct share_sum *sum,
	       struct err *err);
/*
 * As share_push() with BRANCHES_NONE, and puts chains of ours that were
 * pruned here in the place of those that they were pruned from: what
 * share_push() never does, it warns of such a search and leaves it.
 */
int share_push_pruned(struct repo *r, const struct remote_opts *o,
		      const struct strv *slugs, const struct share_teller *t,
		      struct share_sum *sum, struct err *err);
/*
 * Fetches and takes over, one process of this clone at a time.  slugs empty:
 * all searches.  A ref that fails its
 * check is warned of and left where it was fetched to; the others are taken.
 */
int share_pull(struct repo *r, const struct remote_opts *o,
	       const struct strv *slugs, const struct share_teller *t,
	       struct share_sum *sum, struct err *err);

/* The remote's name of a local ref; caller frees. */
char *share_remote_name(struct repo *r, const char *remote, const char *ref);

#endif
