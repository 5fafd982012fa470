/*
 * The source texts of one kernel state: what a build directory holds, and
 * what the state id is a hash of.  Plain data, no Git.
 */
#ifndef CORE_SOURCE_H
#define CORE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/buf.h"
#include "core/err.h"
#include "core/oid.h"

#define SOURCE_MAX_FILE (4u << 20)	/* bytes of one source file */
#define SOURCE_MAX_FILES 256
#define SOURCE_MAX_PATH 1024		/* bytes of a path */

struct srcfile {
	char *path;		/* from the top of the repository; never "..",
				 * never absolute */
	struct buf text;
	bool writable;		/* matched by `file`, not by `use` */
};

struct srcset {
	struct srcfile *v;	/* sorted by path */
	size_t nr, cap;
};
#define SRCSET_INIT { NULL, 0, 0 }

/* Copies; keeps the order; a path that is there is replaced. */
void srcset_put(struct srcset *s, const char *path, const char *text,
		size_t len, bool writable);
struct srcfile *srcset_find(const struct srcset *s, const char *path);
void srcset_copy(struct srcset *to, const struct srcset *from);
void srcset_release(struct srcset *s);

/*
 * The state id: SHA-1, computed as Git does for a blob, of the lines
 * "<blob id> <path>\n" of all files in order of path.  Equal for equal
 * sources, whatever else the commit's tree holds.
 */
void srcset_state(const struct srcset *s, struct oid *state);
/* The blob id that Git gives these bytes. */
void source_blob_id(const void *data, size_t len, struct oid *id);

/*
 * Writes the files under dir (which exists and is empty), making folders,
 * mode 0644 and 0755.  Refuses a path that path_is_safe() refuses.
 */
int srcset_write(const struct srcset *s, const char *dir, struct err *err);

/* Relative, no empty, "." or ".." component, no ".git", no control bytes. */
bool path_is_safe(const char *path);

#endif
