/*
 * Dropping a whole search on a remote: what it has there, and its deletion by
 * lease against that.  (Losers go by core/share.h's push: a pruned chain
 * takes the place of the one that it names.)
 */
#ifndef CORE_PRUNE_REMOTE_H
#define CORE_PRUNE_REMOTE_H

#include "core/prune.h"
#include "core/share.h"

struct prune_there {
	struct push_item *item;	/* to delete; the spec last; owns its names */
	size_t nr, cap;
	size_t leases;		/* among them: somebody may be at work */
	struct strv stays;	/* clean sentences: what stays, and why */
};
/* Could it be the slug of a search that only a remote has? */
bool prune_remote_slug(const char *name);
/* prune_there_release() afterwards in any case. */
int prune_remote_plan(struct repo *r, const char *slug,
		      const struct remote_opts *o, struct prune_there *out,
		      struct err *err);
/* ERR_NET with the remote's words when some of it did not go. */
int prune_remote_do(struct repo *r, const struct remote_opts *o,
		    struct prune_there *p, struct err *err);
void prune_there_release(struct prune_there *p);

#endif
