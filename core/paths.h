/* Where the installed pieces are. */
#ifndef CORE_PATHS_H
#define CORE_PATHS_H

/* Path of a helper binary; from MAXKERNEL_EXEC_PATH, else the install
 * prefix.  The caller frees. */
char *paths_exec(const char *name);
/* Path of a file or folder of knowledge; from MAXKERNEL_DATA, else the
 * install prefix.  The caller frees. */
char *paths_data(const char *name);

#endif
