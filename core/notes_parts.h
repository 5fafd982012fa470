/* What the files of notes share; no one else includes this. */
#ifndef CORE_NOTES_PARTS_H
#define CORE_NOTES_PARTS_H

#include "core/notes.h"

struct change {
	struct oid on;
	bool append, remove;
	struct buf text;
	size_t order;		/* as they were asked for */
};

struct notes_batch {
	struct repo *repo;
	char *ref;
	bool had_tip;
	struct oid tip, tree;	/* tree: only if had_tip */
	struct change *v;
	size_t nr, cap;
	bool removes;
	struct oid commit;	/* after notes_write(); zero: there is nothing
				 * to be moved */
};

enum entry_kind { ENTRY_OTHER, ENTRY_NOTE, ENTRY_LEVEL };

/* What an entry of a notes tree is, `used` digits down.  hex holds the digits
 * so far and gets those of the entry. */
enum entry_kind notes_kind(const struct tree_entry *e, char *hex,
			   size_t used);
void notes_add(struct notes *n, const struct oid *on, const struct oid *blob);
/* By what they are on, then by blob. */
int notes_by_on(const void *a, const void *b);
int notes_too_long(struct err *err, const struct oid *on);

/* The tree with the changes of the batch; *empty: it holds nothing at all
 * (notes_write.c). */
int notes_tree(struct notes_batch *b, struct oid *out, bool *empty,
	       struct err *err);

#endif
