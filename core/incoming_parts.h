/* What the files of core/incoming*.c share; no one else includes this. */
#ifndef CORE_INCOMING_PARTS_H
#define CORE_INCOMING_PARTS_H

#include "core/incoming.h"
#include "core/metrics.h"
#include "core/notes.h"
#include "core/oidset.h"
#include "core/store_parts.h"

#define INCOMING_MAX_CHANGES 256u	/* files that one node changes */
#define INCOMING_MAX_TEXT ((uint64_t)2 << 30)	/* bytes of the new notes of one ref */
#define INCOMING_MAX_RAWS 65536u	/* entries of an anchor's tree */

struct incoming {
	struct repo *repo;
	char *slug;
	struct spec spec;
	struct oid spec_commit, root_state;
	struct kernel kernel;
	bool has_kernel;
	struct oidset passed;	/* commits of chains that passed before */
	struct oidset raws;	/* trees of anchors that passed before */
};

/* ---- text (incoming_text.c) ---- */

/* UTF-8 without control characters but newline, tab and return. */
bool incoming_is_text(const char *s, size_t len);

/* ---- commits (incoming_walk.c) ---- */

enum commit_kind {
	KIND_ROOT,
	KIND_NODE,
	KIND_ANCHOR,
	KIND_OTHER		/* nothing of a search that is known here */
};

struct seen {
	struct oid id, tree;	/* tree: zero for a root */
	int64_t time;
	size_t parent;		/* index into walk.parent */
	uint32_t nr_parents;
	enum commit_kind kind;
	bool known;		/* accepted earlier, or below what was */
	bool waiting;		/* its parents were not looked at yet */
};

/*
 * The commits that a new tip brings: all that are reachable from it, not
 * reachable from what was accepted, and not beyond a root.  Newest first, so
 * that what is old is looked at only near where new and old meet; but where
 * something new hangs on a commit of no known search, all that was accepted
 * is asked whether it knows that one.
 */
struct walk {
	struct incoming *in;
	struct seen *v;
	size_t nr, cap;
	struct oid *parent;
	size_t nr_parents, cap_parents;
	uint32_t *slot;		/* hash: index + 1; 0 free */
	size_t nr_slots;
	uint32_t *heap;
	size_t nr_heap, cap_heap;
	size_t nr_new;		/* of the heap, those that are not known */
	size_t nr_other;	/* of v, those of KIND_OTHER not known */
	size_t nodes;		/* new ones met */
	struct strv united;	/* slugs */
	struct oidset roots;
};

void walk_init(struct walk *w, struct incoming *in);
void walk_release(struct walk *w);
/*
 * Adds where it starts, known or new.  ERR_FORMAT and ERR_LIMIT name the
 * commit that breaks a rule.
 */
int walk_tip(struct walk *w, const struct oid *id, bool known,
	     struct err *err);
/* Meets all that is new and the parents of it; errors as walk_tip(). */
int walk_run(struct walk *w, struct err *err);
/* NULL if the walk did not meet it. */
struct seen *walk_find(const struct walk *w, const struct oid *id);

/* ---- the rules of a chain (incoming_chain.c) ---- */

int incoming_chain(struct incoming *in, const char *worker,
		   const struct oid *old, const struct oid *new,
		   size_t *nodes, struct err *err);

/* ---- trees (incoming_tree.c) ---- */

/* What a node changes in its parent's tree. */
int incoming_node_tree(struct incoming *in, const struct oid *node,
		       const struct oid *from, const struct oid *to,
		       struct err *err);
/* Raw samples, named by their ids. */
int incoming_anchor_tree(struct incoming *in, const struct oid *anchor,
			 const struct oid *tree, struct err *err);

/* ---- notes (incoming_notes.c) ---- */

int incoming_notes(struct incoming *in, const struct oid *old,
		   const struct oid *new, struct err *err);

#endif
