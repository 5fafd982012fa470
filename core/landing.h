/*
 * The message of a landing commit: the text of a pull request.  Pure text
 * from plain data; core/store.c writes the commit.
 */
#ifndef CORE_LANDING_H
#define CORE_LANDING_H

#include "core/graph.h"
#include "core/store.h"

/*
 * Adds the message to out: a subject of at most 72 bytes, the plan, a table
 * of the numbers with their intervals, where they were measured, the command
 * that measures again, trailers.  rec has the shapes (store_record()); plan
 * is Markdown or empty.  A node that is not confirmed says so in the subject, and
 * so does one whose numbers are another worker's claim.
 * No line begins with '#': git would take it for a comment after a conflict.
 */
void land_message(struct buf *out, const struct spec *spec,
		  const struct node *node, const struct record *rec,
		  const char *plan);

#endif
