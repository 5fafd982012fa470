/*
 * Searches and nodes as the commands name and see them.
 *
 * A search: its slug or an unambiguous prefix, or a kernel's name (its newest
 * search), or nothing (the newest of all).
 *
 * A node: any Git revision (a landing commit and what was picked from it
 * stand for their node, the commit that a search starts from for its root);
 * <name>@best and <name>@root, <name> being a kernel or a search; <name>
 * alone is <name>@best.
 */
#ifndef CMD_NODE_H
#define CMD_NODE_H

#include "cmd/out.h"
#include "core/graph.h"
#include "core/kernel.h"
#include "core/repo.h"
#include "core/store.h"

struct view {			/* one search, loaded */
	struct search *search;
	struct graph graph;	/* as seen on the search's device class */
	struct kernel_file section;
	const struct kernel *kernel;	/* the spec's; NULL: unreadable */
};

/* Damaged notes are named by warn().  On an error there is nothing to close. */
int view_open(struct view *v, struct repo *r, const char *slug,
	      struct err *err);
void view_close(struct view *v);

/* All searches, newest first, damaged ones named by warn(). */
int node_searches(struct repo *r, struct spec_list *out, struct err *err);
/* By name (NULL: the newest); ERR_NOTFOUND says what to type. */
int node_search(struct repo *r, const char *name, struct view *out,
		struct err *err);
/* The slug that a name stands for and no other: a slug, a kernel with one
 * search, the beginning of a slug.  Caller frees. */
int node_slug(struct repo *r, const char *name, char **slug, struct err *err);
/* Sets ERR_NOTFOUND: there is no search here, and where there may be some. */
int node_none(struct repo *r, struct err *err);
/* Is this the name of a kernel or a search, rather than of a node? */
bool node_names_search(struct repo *r, const char *name);
/* *idx indexes out->graph. */
int node_find(struct repo *r, const char *name, struct view *out,
	      uint32_t *idx, struct err *err);
/* A node of a search that is not here, in one that it was united with. */
int node_united(struct repo *r, const struct oid *node, struct view *out,
		uint32_t *idx, struct err *err);
/*
 * The champion of a kernel: the highest ci_low among the searches that have
 * the same section, root and device class as its newest search, which is the
 * newest with the section that `.maxkernel` has now, else the newest at all.
 * 1: found; 0: no champion (*out is that newest search, *idx 0).
 */
int node_best(struct repo *r, const char *kernel, struct view *out,
	      uint32_t *idx, struct err *err);
/* Names of the kernels that have searches, in order of first sight. */
int node_kernels(struct repo *r, struct strv *out, struct err *err);

/* The policy's frontier, at most max nodes, best first; the caller frees. */
size_t node_frontier(const struct view *v, size_t max, uint32_t **out);
/* Landing branch without refs/heads/: maxkernel/<s>/best/<d>. */
void node_best_branch(const struct view *v, struct buf *out);
/*
 * The branch that has this node: that one here, else a remote's copy of it
 * ("origin/maxkernel/..."), as Git calls it; false: none has.  *other: what
 * the one here has instead, zero if there is none.
 */
bool node_branch_of(const struct view *v, uint32_t idx, struct buf *out,
		    struct oid *other);
/* Pathspecs of what a node may change, for the git program. */
void node_pathspecs(const struct view *v, struct strv *out);
/* The record with its shapes, falling back on the graph's; caller releases. */
int node_record(struct view *v, uint32_t idx, struct record *out,
		struct err *err);
/* As node_json() with the whole record, its shapes and strings. */
void node_json_full(struct jout *j, struct view *v, uint32_t idx);
/* Adds kernel, search, node, parents, op, depth, proposer, strategy, recipe,
 * step, subject and time; then the record's fields, r or the node's own. */
void node_json(struct jout *j, const struct view *v, uint32_t idx,
	       const struct record *r);
/* "3.21x" if confirmed, "~3.2x" if estimated, "-". */
void node_speedup(struct buf *b, const struct node *n);
/* "root" for the root, else the verdict's name, "pending". */
const char *node_verdict(const struct view *v, uint32_t idx);
/* First 12 digits. */
struct oid_hex node_short(const struct view *v, uint32_t idx);

#endif
