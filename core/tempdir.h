/* Private folders for builds, removed whole. */
#ifndef CORE_TEMPDIR_H
#define CORE_TEMPDIR_H

#include "core/err.h"

/*
 * A new folder of mode 0700 below TMPDIR or /tmp, with our process id in its
 * name.  Folders of ours whose process is gone (kill -9) are removed first.
 * The caller frees *out, after tempdir_remove().
 */
int tempdir_make(char **out, struct err *err);
/* Removes the folder and all in it; follows no link, reports nothing. */
void tempdir_remove(const char *path);

#endif
