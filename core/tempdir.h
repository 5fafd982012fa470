/* Private folders for builds, removed whole. */
#ifndef CORE_TEMPDIR_H
#define CORE_TEMPDIR_H

#include "core/err.h"

/*
 * A new folder of mode 0700 below TMPDIR or /tmp, locked through *lock while
 * it is in use.  Folders of ours that nobody holds a lock on (kill -9) are
 * removed first.  The caller frees *out after tempdir_remove() and closes
 * *lock.
 */
int tempdir_make(char **out, int *lock, struct err *err);
/* Removes the folder and all in it; follows no link, reports nothing. */
void tempdir_remove(const char *path);

#endif
