/*
 * Notes trees: <2 hex>/<38 hex> fan-out written by us, one level more where a
 * level has many notes, any depth read.  Moved by compare and swap, in
 * batches.  git_note_create() is not used: it never fans out and loses notes
 * that two processes write.
 */
#ifndef CORE_NOTES_H
#define CORE_NOTES_H

#include "core/repo.h"

#define NOTES_MAX_TEXT (16u << 20)	/* bytes of one note */
#define NOTES_MAX 1000000u		/* of one ref, about */
#define NOTES_MAX_FOLDERS 200000u	/* of its tree */

struct note {
	struct oid on;		/* the commit it annotates */
	struct oid blob;
};
struct notes {			/* a whole ref, sorted by `on` */
	struct note *v;
	size_t nr, cap;
};

/* Reads a notes ref; an absent ref gives no notes.  Entries that are not
 * notes are skipped; copies of one note at two depths both appear. */
int notes_read(struct repo *r, const char *ref, struct notes *out,
	       struct err *err);
/* As notes_read(), but only the copies of the note on one commit. */
int notes_get(struct repo *r, const char *ref, const struct oid *on,
	      struct notes *out, struct err *err);
void notes_release(struct notes *n);

/*
 * A batch being built for one ref.  put replaces the note, append adds lines
 * to the text that is there (a newline between is seen to), remove takes the
 * note away if there is one; changes of one note are done in their order.
 */
struct notes_batch;
int notes_begin(struct repo *r, const char *ref, struct notes_batch **out,
		struct err *err);
int notes_put(struct notes_batch *b, const struct oid *on,
	      const void *text, size_t len, struct err *err);
int notes_append(struct notes_batch *b, const struct oid *on,
		 const char *line, struct err *err);
void notes_remove(struct notes_batch *b, const struct oid *on);
/* Writes trees and the notes commit; no ref is moved yet. */
int notes_write(struct notes_batch *b, struct err *err);
/* Moves the ref; ERR_RACE: begin again.  Call after repo_sync(). */
int notes_move(struct notes_batch *b, struct err *err);
void notes_free(struct notes_batch *b);

#endif
