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
	int64_t gc_since;	/* when a wait for a gc began; 0: no wait */
	bool gc_told, gc_given_up;
	struct recent *recent;	/* written objects, oldest first */
	size_t nr_recent, cap_recent, recent_bytes;
	size_t fresh_recent;	/* from here on: since a ref was moved */
	bool moved_recent;
	int64_t all_recent;	/* when all were looked for */
	int64_t seen_recent_ms;	/* when those since a ref was moved were */
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

/* ---- objects that no ref may lead to yet (repo_recent.c) ---- */

int object_put(struct repo *r, const void *data, size_t len,
	       git_object_t type, struct oid *out, struct err *err);
void recent_add(struct repo *r, const struct oid *id, git_object_t type,
		const void *data, size_t len);
/* Writes those again that are gone; *lost: some were. */
int recent_check(struct repo *r, bool *lost, struct err *err);
/* They were there a moment ago, too short a time for a gc. */
bool recent_seen(struct repo *r);
/* A ref was moved: they may be forgotten after a while. */
void recent_settled(struct repo *r);
void recent_release(struct repo *r);
/* Does a `git gc` run in the repository? */
bool repo_gc_runs(struct repo *r);
/* Waits until none does, so long at most; true if there was one.  After 10
 * minutes, all waits together, it is told and waited for no more. */
bool repo_gc_wait(struct repo *r, long max_ms);

/* The entry whose name is these len bytes, or NULL. */
struct tree_entry *tree_find(struct tree *t, const char *name, size_t len);

#endif
