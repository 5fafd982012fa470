/* What the files of pruning share; no one else includes this. */
#ifndef CORE_PRUNE_PARTS_H
#define CORE_PRUNE_PARTS_H

#include "core/oidset.h"
#include "core/prune.h"
#include "core/store_parts.h"

#define PRUNE_TRAILER "Maxkernel-Pruned"
#define PRUNE_MAX_ANCHORS 2000000u

/* Calls fn with each value of a trailer, in order. */
void prune_trailers(const char *message, const char *key,
		    void (*fn)(void *ctx, const char *value, size_t len),
		    void *ctx);

/*
 * Writes our chain anew without the nodes of gone and the raw blobs of
 * gone_raw, and moves its ref.  ERR_RACE: it moved under us.
 */
int prune_chain(struct search *s, const struct oidset *gone,
		const struct oidset *gone_raw, struct err *err);

/* Has the spend line of the node room for all that the search goes by? */
bool prune_tells(const struct search *s, const struct graph *g, uint32_t node);

/* Notes of ours on commits that an earlier prune dropped, as their states
 * on the spec commit tell; the caller frees. */
int prune_leftovers(struct search *s, const struct graph *g,
		    struct oid **out, size_t *nr, struct err *err);

#endif
