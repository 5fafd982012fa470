/*
 * Dropping what is no longer wanted: a whole search, or its losers.  First a
 * plan that says what goes, then the doing; what any branch, tag, other
 * search or remote-tracking branch of the user still needs stays.
 */
#ifndef CORE_PRUNE_H
#define CORE_PRUNE_H

#include "core/graph.h"
#include "core/store.h"

#define PRUNE_MAX_TIPS 1000u	/* old tips that a pruned chain names */

struct prune_rule {
	bool whole;		/* the search with all its refs */
	uint32_t beyond_depth;	/* losers deeper than this; 0: any depth */
	double older_s;		/* losers older than this; 0: any age */
};
/*
 * A loser is a node that is none of: the root, the champion or frontier of a
 * device class, one that the policy needs there, a confirmed node or one nearly
 * as fast as the champion, one made by hand, by merging or by dropping steps,
 * one that is pending, one of the last round, one that a landing commit in the
 * user's history stands for, an ancestor of those or of a node that stays.
 * What the policy needs is all that it may ever come back to, so that a search
 * which goes on does so as if nothing had been dropped.  Only nodes that our
 * own worker wrote go, and only those that no ref but our chain (and the copies
 * of what a remote has) leads to: the others' chains are theirs.
 */
struct prune_ref {
	char *name;
	struct oid id;		/* where it was */
};
struct prune_plan {
	struct prune_ref *ref;	/* whole: refs that go; the spec last */
	size_t nr_refs, cap_refs;
	struct oid *node;	/* losers that go; whole: all nodes */
	size_t nr_nodes, cap_nodes;
	size_t kept;		/* nodes that stay */
	size_t others;		/* losers of other workers, which stay */
	bool unfinished;	/* an earlier one was cut off: notes are left */
	struct strv stays;	/* clean sentences: what stays, and why */
	uint64_t bytes;		/* that go, about, once git gc has run */
};
/* prune_plan_release() afterwards in any case. */
int prune_plan(struct search *s, const struct prune_rule *rule,
	       struct prune_plan *out, struct err *err);
/*
 * Does it locally.  Whole: the refs are deleted if they are where they were.
 * Losers: our anchor chain is written anew over the nodes that stay; its first
 * anchor names the tips that it had ("Maxkernel-Pruned: <old tip>", the newest
 * last), by which others' pull knows it; notes of the dropped nodes go from
 * our notes refs, but each has left a spend line (core/metrics.h): its
 * step, state, verdict and seconds, so that neither is tried or paid again,
 * and its recipe and speedup on the search's device class, by which the next
 * steps are chosen; a node whose line has no room for its recipe stays.
 *
 * Any prefix of it is a valid search, and doing it again (plan anew) completes
 * it.  The caller has the search by store_claim().
 */
int prune_do(struct search *s, const struct prune_plan *p, struct err *err);
void prune_plan_release(struct prune_plan *p);

/*
 * Is the chain at `new` one that was pruned from a chain that `old` was a tip
 * of?  1 or 0; negative: it could not be read.  Neither `old` nor what the
 * chain names need be here; where what it names is, `old` may be below that.
 */
int prune_replaces(struct repo *r, const struct oid *old,
		   const struct oid *new, struct err *err);

#endif
