/*
 * What a compiler said, made fit for a record: text in, text out.  A compiler
 * prints what a hostile source makes it print.
 */
#ifndef CORE_JUDGE_DIAGNOSTICS_H
#define CORE_JUDGE_DIAGNOSTICS_H

#include "core/buf.h"

#define DIAGNOSTICS_MAX 500	/* bytes of a text */

/*
 * Adds the line of the output that says most, clean, cut to DIAGNOSTICS_MAX
 * bytes of whole characters; with paths as in the repository: without dir,
 * the folder that the build ran in.  Never empty.
 */
void diagnostics_text(struct buf *out, const struct buf *output,
		      const char *dir);
/* "gcc 12.2.0" from the first line that `cc --version` prints, clean and
 * cut. */
void diagnostics_version(struct buf *out, const char *line);

#endif
