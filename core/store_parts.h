/* What the files of the store share; no one else includes this. */
#ifndef CORE_STORE_PARTS_H
#define CORE_STORE_PARTS_H

#include "core/metrics.h"
#include "core/notes.h"
#include "core/store.h"

#define STORE_MAX_SLUG 40
#define STORE_MAX_NAME 200		/* bytes of the name of a kernel */
#define STORE_MAX_NODES 1000000u
#define STORE_MAX_STEPS 64		/* of one plan that are left */
#define STORE_MAX_SLOTS 256		/* workers of one clone at once */
#define STORE_MAX_WARN 50u		/* warnings of one call */

/* ---- names (store_spec.c) ---- */

bool store_slug_ok(const char *slug);
/* A device class, worker or policy: [A-Za-z0-9._+-], 1 to 64, no dot or dash
 * first, fit to stand in a ref name. */
bool store_word_ok(const char *word);
/* What the message of a commit says: "maxkernel: anchor <n>". */
bool is_anchor(const char *message);
unsigned long anchor_number(const char *message);	/* 0: it has none */
/* One of the ways in which a node is made. */
bool store_op_ok(const char *op);
/* Caller frees. */
char *store_spec_ref(const char *slug);
/* Caller frees; w NULL gives the prefix of all workers. */
char *store_anchor_ref(const char *slug, const char *w);
char *store_notes_ref(const char *slug, const char *kind, const char *w);
/* Adds a warning, at most STORE_MAX_WARN of them. */
void store_warn(struct strv *warn, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* The spec of a slug, checked. */
int store_spec_read(struct repo *r, const char *slug, struct spec *out,
		    struct oid *commit, struct err *err);
/* The same of a commit that no ref needs to name; on an error *out is
 * empty. */
int store_spec_at(struct repo *r, const char *slug, const struct oid *commit,
		  struct spec *out, struct err *err);
/* Adds the text of a spec's file. */
void store_spec_format(struct buf *b, const struct spec *s);
/* Reads it; on an error *out is empty. */
int store_spec_parse(const char *text, size_t len, struct spec *out,
		     struct err *err);
void store_section_hash(const char *section, char out[13]);
/* The section as a kernel; kernel_release() afterwards. */
int store_spec_kernel(const struct spec *spec, struct kernel *out,
		      struct err *err);

/* ---- lines (store_lines.c) ---- */

struct line {
	struct metric m;
	char *text;		/* for the order and for void */
	struct oid on;
	char *ref_worker;	/* in whose notes it stands */
	bool ours;
};
struct lines {
	struct line *v;
	size_t nr, cap;
};
void lines_release(struct lines *l);
/*
 * Is w a worker whose refs are ours?  The present id and its slots are, and
 * `worker`, what the search is written under, unless that is a former id: a
 * ref of that is another clone's.
 */
bool lines_own_ref(const struct strv *ids, const char *worker, const char *w);
struct line_reader {
	struct repo *repo;
	const char *worker;	/* ours */
	const struct strv *ids;	/* of this clone, the former ones too */
	const struct oid *on;	/* NULL: all */
	bool config;		/* config lines, and void ones, are enough */
	struct lines *out;
	struct strv *warn;
	bool newer;		/* there were lines of a newer version */
	bool unread;		/* something is not there, or damaged */
};
/* Adds the lines of one note of a ref. */
void lines_add_note(struct line_reader *rd, const char *ref,
		    const struct oid *on, const struct oid *blob);
/* Once, when all are read. */
void lines_tell_newer(struct line_reader *rd, const char *slug);
/*
 * Adds the lines of every metrics ref of a search: of all notes, or of the
 * note on one commit.  What cannot be read is named in warn and left out.
 * lines_sort() afterwards.
 */
int lines_read(struct repo *r, const char *slug, const char *worker,
	       const struct oid *on, struct lines *out, struct strv *warn,
	       struct err *err);
/* The config lines on the spec commit (and others, perhaps). */
int lines_read_config(struct search *s, struct lines *out, struct err *err);
/* By note, then time; equal lines once, lines taken back by void gone. */
void lines_sort(struct lines *l);
/* Does an eval line count on this device class? */
bool line_counts(const struct line *l, const char *section_hash,
		 const char *device);
/*
 * Of the lines [lo, hi) of one note those that count and, unless state is
 * NULL, are of that state: the index of the one that decides, or hi.
 */
size_t lines_choose(const struct lines *l, size_t lo, size_t hi,
		    const char *section_hash, const char *device,
		    const struct oid *state);
/* The same, without preferring ours. */
size_t lines_choose_any(const struct lines *l, size_t lo, size_t hi,
			const char *section_hash, const char *device,
			const struct oid *state);
/* Fills rec from the line and its raw blob; a raw blob that cannot be read
 * leaves what the line says. */
void line_record(struct repo *r, const struct line *l, struct record *rec);

/* ---- where lines of spends stand (store_ledger.c) ---- */

bool store_is_ledger(const struct commit *c);
/*
 * The commit whose note takes len more bytes of such lines: the spec commit, a
 * ledger of ours, or (*new) a new one, which the next anchor has to have as
 * its last parent.  Under the lock, just before they are written.
 */
int ledger_place(struct search *s, size_t len, struct oid *on, bool *new,
		 struct err *err);
/*
 * This call has its line, which was written when the search was opened, since
 * its attempt was cut off: if the attempt is made again, it needs none.
 */
void ledger_paid(struct search *s, const char *call);
bool ledger_is_paid(const struct search *s, const char *call);
void ledger_release_paid(struct search *s);
/* They were not written: what was placed may not be in the chain. */
void ledger_forget(struct search *s);
/* Writes lines (each with its newline) of ours, in as many batches as it
 * takes. */
int store_spend_lines(struct search *s, const struct strv *lines,
		      struct err *err);

/* ---- sources (store_source.c) ---- */

/* The state id of a commit, from its tree alone. */
int store_state(struct repo *r, const struct oid *commit,
		const struct kernel *k, struct oid *state, struct err *err);

/* ---- notes trees side by side (store_notes.c) ---- */

struct oid_list {
	struct oid *v;
	size_t nr, cap;
};
void oid_list_add(struct oid_list *l, const struct oid *id);
void oid_list_sort(struct oid_list *l);	/* each once */

struct note_at {
	struct oid on, blob;
	uint32_t ref;		/* the reader's number of it */
};
struct note_list {
	struct note_at *v;
	size_t nr, cap;
};
/* Adds the notes of a tree; only: those on these commits (sorted; NULL: on
 * all).  note_list_sort() afterwards. */
int note_list_read(struct repo *r, const struct oid *tree, uint32_t ref,
		   const struct oid_list *only, struct note_list *out,
		   struct err *err);
void note_list_sort(struct note_list *l);
/* Adds the commits whose notes differ between two trees (NULL: none). */
int notes_changed(struct repo *r, const struct oid *a, const struct oid *b,
		  struct oid_list *out, struct err *err);

/* ---- the graph as a file (store_cache.c) ---- */

struct united_steps {		/* jumped over: (from, to] */
	uint32_t from, to;
};
struct cache_tip {
	char *name;		/* of the ref */
	struct oid id;
	struct oid tree;	/* of a notes ref; zero: of an anchor */
};
struct cache {			/* what a graph was made from */
	struct cache_tip *tip;
	size_t nr, cap;
	struct strv slug;	/* of searches united with this one */
	struct oid_list root;	/* and their roots */
	struct oid_list ledger;	/* commits with lines of spends */
	struct united_steps *steps;
	size_t nr_steps, cap_steps;
	struct strv warn;	/* what was told when it was made */
};
void cache_tip(struct cache *c, const char *name, const struct oid *id,
	       const struct oid *tree);
void cache_release(struct cache *c);
/*
 * Reads the graph that was kept under the key (all that it depends on besides
 * the tips): false if there is none that can be believed, and then g and c are
 * empty.  Its scores are not settled.  The texts are those of the mapped file.
 */
bool cache_read(struct search *s, const struct buf *key, struct cache *c,
		struct graph *g);
/* Keeps it; where that cannot be, it is not kept. */
void cache_write(struct search *s, const struct buf *key,
		 const struct cache *c, const struct graph *g);

/* ---- packing (store_tidy.c) ---- */

/* After a batch, and (last) when the search is closed; outside the lock. */
void store_tidy(struct search *s, bool last);

/* ---- known verdicts (store_judged.c) ---- */

void judged_free(struct judged *j);
/* Told of every eval line that we write. */
void judged_note(struct search *s, const struct metric *m);

#endif
