/* What the files of the store share; no one else includes this. */
#ifndef CORE_STORE_PARTS_H
#define CORE_STORE_PARTS_H

#include "core/metrics.h"
#include "core/notes.h"
#include "core/store.h"

#define STORE_MAX_SLUG 40
#define STORE_MAX_NODES 1000000u
#define STORE_MAX_WARN 50u		/* warnings of one call */

/* ---- names (store_spec.c) ---- */

bool store_slug_ok(const char *slug);
/* A device class, worker or policy: [A-Za-z0-9._+-], 1 to 64, no dot or dash
 * first, fit to stand in a ref name. */
bool store_word_ok(const char *word);
/* Caller frees; w NULL gives the prefix of all workers. */
char *store_anchor_ref(const char *slug, const char *w);
char *store_notes_ref(const char *slug, const char *kind, const char *w);
/* Adds a warning, at most STORE_MAX_WARN of them. */
void store_warn(struct strv *warn, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* The spec of a slug, checked. */
int store_spec_read(struct repo *r, const char *slug, struct spec *out,
		    struct oid *commit, struct err *err);
void store_section_hash(const char *section, char out[13]);
/* The section as a kernel; kernel_release() afterwards. */
int store_spec_kernel(const struct spec *spec, struct kernel *out,
		      struct err *err);

/* ---- lines (store_lines.c) ---- */

struct line {
	struct metric m;
	char *text;		/* for the order and for void */
	struct oid on;
	bool ours;
};
struct lines {
	struct line *v;
	size_t nr, cap;
};
void lines_release(struct lines *l);
/*
 * Adds the lines of every metrics ref of a search: of all notes, or of the
 * note on one commit.  What cannot be read is named in warn and left out.
 * lines_sort() afterwards.
 */
int lines_read(struct repo *r, const char *slug, const char *worker,
	       const struct oid *on, struct lines *out, struct strv *warn,
	       struct err *err);
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
/* Fills rec from the line and its raw blob; a raw blob that cannot be read
 * leaves what the line says. */
void line_record(struct repo *r, const struct line *l, struct record *rec);

/* ---- sources (store_source.c) ---- */

/* The state id of a commit, from its tree alone. */
int store_state(struct repo *r, const struct oid *commit,
		const struct kernel *k, struct oid *state, struct err *err);

/* ---- known verdicts (store_judged.c) ---- */

void judged_free(struct judged *j);
/* Told of every eval line that we write. */
void judged_note(struct search *s, const struct metric *m);

#endif
