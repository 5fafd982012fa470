/* What the files of the repository share: with these alone libgit2 is known. */
#ifndef CORE_REPO_PARTS_H
#define CORE_REPO_PARTS_H

#include <git2.h>

#include "core/repo.h"

#define REPO_MAX_DEPTH 64		/* of nested trees */

struct repo {
	git_repository *g;
	git_odb *odb;
	git_config *config;	/* a snapshot, taken when first asked */
	char *gitdir, *workdir;
	bool ident_set;
	int lock_fd, lock_depth;
	int sync_fd;
};

/* "<text>: <libgit2's reason>"; ERR_NOTFOUND where there is no such thing. */
int repo_err(struct err *err, int rc, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static inline const git_oid *as_git(const struct oid *o)
{
	return (const git_oid *)(const void *)o->id;
}

static inline void from_git(struct oid *to, const git_oid *from)
{
	memcpy(to->id, from->id, OID_RAW);
}

/* "Name" and "mail" for the author line. */
int repo_author(struct repo *r, struct buf *name, struct buf *mail,
		struct err *err);
/* The entry whose name is these len bytes, or NULL. */
struct tree_entry *tree_find(struct tree *t, const char *name, size_t len);

#endif
