/*
 * What comes from others is checked before it is taken for part of a search:
 * by `pull` before a local ref moves, by the server's pre-receive hook before
 * a push is accepted.  One set of rules, in one place:
 *
 * - spec: a readable spec of that slug, its parents its base and root;
 *   written once, never changed
 * - w/<w>: a chain of anchors whose tip says that it is of that search and
 *   that worker, only forward (below may be the chain of an earlier id of
 *   the same clone); every new node has well-formed trailers, descends from
 *   the search's root by nodes alone, changes in its first parent's tree only
 *   files that the section's `file` globs match, adds no symlink, submodule
 *   or mode other than the parent's, and keeps within the limits below
 * - below an anchor that unites a search (core/merge.h): that search's nodes
 *   and anchors too, down to the root that it names, if that has the sources
 *   that ours has
 * - notes {plan,metrics,agents}/<w>: a notes tree of any depth; new notes are
 *   within NOTES_MAX_TEXT; lines that cannot be read are not a reason to
 *   refuse (they are skipped when read), but bytes that are no text are:
 *   control characters, bad UTF-8
 * - a chain that was pruned (core/prune.h) may replace the one that it names
 *   and what that one stood on
 * - lease/<key>: as core/lease.h says; at most 1 KB, and never more than the
 *   one commit
 * - branches: anything; they are derived, or a person's
 *
 * What refs/maxkernel/<s>/w/ has here counts as accepted: it is where the look
 * ends.  Cost is that of what is new.
 */
#ifndef CORE_INCOMING_H
#define CORE_INCOMING_H

#include "core/store.h"

#define INCOMING_MAX_NODES 1000000u	/* new nodes of one ref */
#define INCOMING_MAX_PARENTS 300u	/* of an anchor */
#define INCOMING_MAX_MESSAGE (256u << 10)
#define INCOMING_MAX_FILE (4u << 20)	/* a kernel file */

struct incoming;		/* the rules of one search */

/*
 * spec: the commit that the search's spec is, or would be, at.  ERR_FORMAT
 * with the reason when it is not a spec of that slug.
 */
int incoming_begin(struct repo *r, const char *slug, const struct oid *spec,
		   struct incoming **out, struct err *err);
/*
 * May the ref (its local name) move from old (zero: it is not there) to new?
 * 0; ERR_FORMAT or ERR_LIMIT with the reason, which names the commit and the
 * path; other codes: it could not be found out.  *nodes (may be NULL): nodes
 * that are new.
 */
int incoming_ref(struct incoming *in, const char *ref, const struct oid *old,
		 const struct oid *new, size_t *nodes, struct err *err);
void incoming_end(struct incoming *in);

/* Slug of a ref of ours (refs/maxkernel/<s>/..., refs/notes/maxkernel/<s>/...,
 * refs/heads/maxkernel/<s>/...), or NULL; caller frees. */
char *incoming_slug(const char *ref);

#endif
