/* Other programs, git above all, run with an argument vector, never a shell. */
#ifndef CMD_CHILD_H
#define CMD_CHILD_H

#include <stdbool.h>
#include <stddef.h>

#include "core/buf.h"

/*
 * Runs it with our standard streams and waits.  *status is its exit status,
 * 128 + n if signal n ended it.  ERR_NOTFOUND: there is no such program.
 */
int child_run(struct strv *argv, int *status, struct err *err);
/* The same with its stdout into out (ERR_LIMIT past max bytes), no stdin,
 * and no stderr when quiet. */
int child_read(struct strv *argv, bool quiet, size_t max, struct buf *out,
	       int *status, struct err *err);
/* Becomes the program; returns only with an error. */
int child_exec(struct strv *argv, struct err *err);
/* True if a program of that name can be found through PATH. */
bool child_exists(const char *name);

#endif
