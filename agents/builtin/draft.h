/*
 * A first `.maxkernel` section for a C file, from its prototype, loop bounds
 * and subscripts.  What it says is a guess to be proven by running the kernel
 * between guard pages, and to be read by its author.
 */
#ifndef AGENTS_BUILTIN_DRAFT_H
#define AGENTS_BUILTIN_DRAFT_H

#include "core/buf.h"
#include "core/err.h"
#include "core/source.h"

/*
 * Adds the text of the section to out, and to notes a sentence for each thing
 * that could not be derived and was guessed.  entry: NULL for the only
 * function with external linkage.  ERR_NOTFOUND: no such function, or several;
 * ERR_FORMAT: it cannot be read, or has a parameter that no section can say.
 */
int draft_section(const struct srcset *src, const char *path,
		  const char *entry, struct buf *out, struct strv *notes,
		  struct err *err);

#endif
