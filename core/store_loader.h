/* A search being loaded: store_load.c (commits, records) and store_renew.c. */
#ifndef CORE_STORE_LOADER_H
#define CORE_STORE_LOADER_H

#include "core/oidset.h"
#include "core/store_parts.h"

struct found {			/* a node before it has an index */
	struct oid id;
	struct oid parent[2];
	uint32_t nr_parents, step;
	int64_t time;
	bool united;
	int steps;
	char *op, *proposer, *strategy, *recipe, *subject, *worker;
};

/*
 * Searches that anchors of this one unite with it (core/merge.h): commits
 * below may be theirs too, and their roots stand for ours.
 */
struct united {
	struct strv slug;
	struct oidset root;
	struct united_steps *v;
	size_t nr, cap;
};

struct loader {
	struct search *s;
	struct graph *g;	/* what is known already */
	struct cache was, now;	/* what g was made from, and is */
	struct oidset old_tip;	/* of anchors, in `was` */
	struct oidset reached;	/* those of them that the walk came to */
	struct oidset ledgers;	/* now.ledger */
	struct united united;
	struct oid_list later;	/* of a search that may turn out to be united */
	const char *device;
	struct strv *warn;	/* &told */
	struct oidset seen;
	struct oid_list chain, todo;	/* commits to look at */
	struct found *v;
	size_t nr, cap;
	struct lines lines;	/* of one note */
	struct line_reader rd;
	struct strv ids;
	struct strv told;	/* warnings */
	struct kernel kernel;
	bool has_kernel;
};

bool is_anchor_tip(const struct cache_tip *t);
/* A commit that holds lines of spends was met. */
void loader_ledger(struct loader *l, const struct oid *id);
/* The commits from the anchors of l->now down to what is known, into l->v. */
int loader_walk(struct loader *l, struct err *err);
void loader_add_root(struct loader *l, struct graph *g);
/* Moves what was found into the graph; parents are linked, states are not
 * known yet. */
void loader_add_found(struct loader *l, struct graph *g);
/* What l->lines say of a node, instead of what was said before. */
void loader_renew(struct loader *l, struct graph *g, uint32_t i);
void loader_count_united(struct loader *l, struct graph *g);

/* ---- what was spent (store_spent.c) ---- */

/* What l->lines, those of the notes on commit number `ledger`, say of attempts
 * without a node and calls of models, more of them. */
void loader_spends(struct loader *l, struct graph *g, uint32_t ledger);
/* What stands on a commit that is marked (by its number) is forgotten. */
void loader_forget_spends(struct graph *g, const bool *gone);
/* In an order that does not hang on that of reading. */
void loader_sort_spends(struct graph *g);
/* Calls become one of each id; then the sums. */
void loader_sum_spends(struct graph *g);

#endif
