/* What the parts of core/knowledge*.c share. */
#ifndef CORE_KNOWLEDGE_PARTS_H
#define CORE_KNOWLEDGE_PARTS_H

#include "core/knowledge.h"

/* Bytes of the UTF-8 character at p and its code, or 0: it is none. */
size_t utf8_code(const char *p, size_t left, uint32_t *code);

/*
 * The words of a text, in a form in which what means the same is equal: lower
 * case, stems, an identifier as a whole and in its parts.  They hold letters,
 * digits and '_' alone, and are separated by blanks.
 */
void words_add(struct buf *out, const char *text, size_t len);
/* The different words of a query, and what else goes by their names; at most
 * max, first come first kept. */
void words_query(struct strv *out, const char *text, size_t len, size_t max);

/* ---- knowledge_files.c ---- */

struct entry_file {
	enum entry_kind kind;
	char *name;		/* within its folder */
	char *path;		/* for messages */
	struct buf text;
};
struct entry_files {
	struct entry_file *v;
	size_t nr, cap;
};
/* Both add to *f in order of name, and to warn what they leave out. */
int files_shipped(struct entry_files *f, struct strv *warn, struct err *err);
void files_local(struct entry_files *f, struct repo *repo, struct strv *warn);
void files_release(struct entry_files *f);

#endif
