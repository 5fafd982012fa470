/*
 * What is known of devices, targets, strategies and methods: short Markdown
 * files, one fact each, that come with the program (below paths_data():
 * hardware/, targets/, strategies/, handbook/) and entries of the repository
 * itself, tracked in KNOWLEDGE_LOCAL at its top.  A file is a head, an empty
 * line and the text:
 *
 *	id: c-restrict
 *	title: Promise that pointers do not overlap
 *	applies: c gcc clang
 *	source: ISO C11 6.7.3.1; own measurement
 *	since: 2026-12-01
 *
 *	Without restrict the compiler ...
 *
 * The five keys stand there once each, in any order.  The id is the file's
 * name without ".md".  applies has the words that the fact holds for, or
 * "any".
 *
 * Entries of a repository are text of others: bounded, without control
 * characters, never followed through a symlink, and their ids begin with
 * "local/", so that none can pass for one of ours.
 */
#ifndef CORE_KNOWLEDGE_H
#define CORE_KNOWLEDGE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/err.h"
#include "core/repo.h"

#define KNOWLEDGE_LOCAL ".maxkernel.d/knowledge"
#define KNOWLEDGE_MAX_FILE (64u << 10)	/* bytes */
#define KNOWLEDGE_MAX_FILES 4000	/* shipped; and of the repository */
#define KNOWLEDGE_MAX_LOCAL (8u << 20)	/* bytes of all of the repository's */
#define KNOWLEDGE_MAX_QUERY (64u << 10)	/* bytes; what is behind is not read */

enum entry_kind {
	ENTRY_HARDWARE, ENTRY_TARGET, ENTRY_STRATEGY, ENTRY_HANDBOOK,
	ENTRY_LOCAL
};
const char *entry_kind_name(enum entry_kind kind);	/* "hardware" */

struct entry {
	char *id;		/* "c-restrict", "local/our-tiles" */
	enum entry_kind kind;
	char *title, *source, *since;
	struct strv applies;
	char *text;		/* Markdown, ends in a newline */
};

/*
 * Reads the text of one file, called name ("c-restrict.md"; NULL: any id
 * will do).  ERR_FORMAT names it and the line.  *e is then empty; else it is
 * to be released.
 */
int entry_parse(struct entry *e, enum entry_kind kind, const char *name,
		const char *text, size_t len, struct err *err);
void entry_release(struct entry *e);
/* Does it hold for each of these words?  "any" holds for all. */
bool entry_applies(const struct entry *e, const struct strv *words);

struct knowledge {
	struct entry *v;	/* sorted by id */
	size_t nr, cap;
	struct db *index;	/* private */
	char *cache;		/* private: path of the index, or NULL */
};

/*
 * All entries; repo may be NULL.  What can't be read is left out and named in
 * warn.  An error only when the shipped ones are not there at all.
 */
int knowledge_load(struct knowledge *k, struct repo *repo, struct strv *warn,
		   struct err *err);
void knowledge_release(struct knowledge *k);
/* By id; "x" finds "local/x" where none of ours has that id.  Or NULL. */
const struct entry *knowledge_find(const struct knowledge *k, const char *id);

struct hit {
	uint32_t entry;		/* index into v */
	double score;		/* the higher the better */
};
/*
 * The entries nearest to any text, best first: at most max, which hit has
 * room for, and only those that hold for all the words of applies (may be
 * NULL).  Gives how many, or a negative code.  The index is made when it is
 * first needed and kept in <gitdir>/maxkernel/cache/knowledge.db; where it
 * cannot be, it is made each time.
 */
int knowledge_search(struct knowledge *k, const char *query, size_t len,
		     const struct strv *applies, struct hit *hit, size_t max,
		     struct err *err);

/*
 * Checks the text and writes it as a new entry of the repository's work tree;
 * *path (the caller's) is where, from the top.  ERR_FORMAT: it is no entry;
 * ERR_USAGE: there is one of that id.
 */
int knowledge_add(struct repo *repo, const char *text, size_t len, char **path,
		  struct err *err);

#endif
