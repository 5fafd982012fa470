/*
 * The repository: objects and refs, no policy of ours.  libgit2 is known to
 * core/repo*.c alone.  Network and ref deletion go through the git program
 * (core/git.h).
 *
 * Durability: refs are fsynced, objects are made durable by repo_sync()
 * before a ref is moved onto them.
 */
#ifndef CORE_REPO_H
#define CORE_REPO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/err.h"
#include "core/oid.h"
#include "core/source.h"

struct repo;

/*
 * Opens the repository that holds path ("." as a rule), as git would
 * (GIT_DIR, safe.directory).  Refuses sha256 and shallow repositories with a
 * sentence that says the way out.  Bare is allowed; see repo_workdir().
 */
int repo_open(struct repo **out, const char *path, struct err *err);
void repo_close(struct repo *r);
/* Version of the linked libgit2, "1.5.1". */
const char *repo_libgit2(void);

const char *repo_workdir(const struct repo *r);	/* NULL if bare; ends in '/' */
const char *repo_gitdir(const struct repo *r);	/* common dir; ends in '/' */

/* git config of the user and repository; false if unset. */
bool repo_config_str(struct repo *r, const char *key, struct buf *out);
bool repo_config_bool(struct repo *r, const char *key, bool otherwise);
int64_t repo_config_int(struct repo *r, const char *key, int64_t otherwise);
/* As repo_config_int(); ERR_FORMAT, which names the setting, if it is not a
 * number from lo to hi. */
int repo_config_range(struct repo *r, const char *key, int64_t lo, int64_t hi,
		      int64_t *value, struct err *err);
int repo_config_add(struct repo *r, const char *key, const char *value,
		    struct err *err);	/* multivar, unless there already */
bool repo_config_has_value(struct repo *r, const char *key,
			   const char *value);

/* "Name <mail>" as git would use; ERR_FORMAT with git's advice if unset. */
int repo_identity(struct repo *r, struct buf *name, struct buf *mail,
		  struct err *err);

/* ERR_NOTFOUND on an unborn branch. */
int repo_head(struct repo *r, struct oid *commit, struct err *err);
/* Full name of the branch, or false when HEAD is detached. */
bool repo_head_branch(struct repo *r, struct buf *out);
/* Any revision -> commit; ERR_NOTFOUND. */
int repo_rev(struct repo *r, const char *rev, struct oid *commit,
	     struct err *err);

/* ---- objects ---- */

struct commit {
	struct oid id, tree;
	struct oid *parent;
	size_t nr_parents;
	int64_t time;		/* committer, seconds */
	char *message;
};
int repo_commit_read(struct repo *r, const struct oid *id, struct commit *c,
		     struct err *err);
void commit_release(struct commit *c);
/* Value of a trailer ("Maxkernel-Op") in the last paragraph, or false. */
bool commit_trailer(const char *message, const char *key, struct buf *out);

/*
 * Writes a commit with the user's identity and the time now.  No hooks, no
 * signature, no ref is moved.
 */
int repo_commit_write(struct repo *r, const struct oid *tree,
		      const struct oid *parents, size_t nr_parents,
		      const char *message, struct oid *out, struct err *err);

struct tree_entry {
	char *name;
	struct oid id;
	unsigned mode;		/* 0100644, 0100755, 040000, 0120000, 0160000 */
};
struct tree {
	struct tree_entry *v;
	size_t nr, cap;
};
int repo_tree_read(struct repo *r, const struct oid *id, struct tree *t,
		   struct err *err);
/* Sorts as Git does and writes. */
int repo_tree_write(struct repo *r, struct tree *t, struct oid *out,
		    struct err *err);
void tree_put(struct tree *t, const char *name, const struct oid *id,
	      unsigned mode);
void tree_release(struct tree *t);

int repo_blob_write(struct repo *r, const void *data, size_t len,
		    struct oid *out, struct err *err);
/* ERR_LIMIT past max bytes. */
int repo_blob_read(struct repo *r, const struct oid *id, struct buf *out,
		   size_t max, struct err *err);
/* It is there, a blob and of at most max bytes; not read. */
int repo_blob_check(struct repo *r, const struct oid *id, size_t max,
		    struct err *err);

/*
 * Where objects lie, by which many are best read in order: then each pack is
 * gone through once.  UINT64_MAX: in no pack of this repository.
 */
void repo_places(struct repo *r, const struct oid *id, size_t nr,
		 uint64_t *place);

/* Tree of a commit; blob or tree at a path in a tree (ERR_NOTFOUND). */
int repo_commit_tree(struct repo *r, const struct oid *commit,
		     struct oid *tree, struct err *err);
int repo_tree_path(struct repo *r, const struct oid *tree, const char *path,
		   struct tree_entry *out, struct err *err); /* out->name NULL */
/* tree with the files of s put in (modes of existing entries kept). */
int repo_tree_with(struct repo *r, const struct oid *tree,
		   const struct srcset *s, bool writable_only,
		   struct oid *out, struct err *err);
/*
 * Calls fn for every blob below tree whose path one of the globs matches
 * (fnmatch with FNM_PATHNAME; a glob without wildcard is a path).  A symlink
 * or submodule that matches is ERR_FORMAT naming it.
 */
int repo_tree_match(struct repo *r, const struct oid *tree,
		    const struct strv *globs,
		    int (*fn)(void *ctx, const char *path,
			      const struct oid *blob, struct err *err),
		    void *ctx, struct err *err);

/* tree with these paths taken out; folders that become empty go too. */
int repo_tree_without(struct repo *r, const struct oid *tree,
		      const struct strv *paths, struct oid *out,
		      struct err *err);

/* As repo_tree_match() matches; and whether a path below dir could. */
bool glob_match(const char *glob, const char *path);
bool glob_leads_below(const char *glob, const char *dir);

/* ---- refs ---- */

/* ERR_NOTFOUND. */
int repo_ref_read(struct repo *r, const char *name, struct oid *out,
		  struct err *err);
/*
 * Compare and swap: moves name from old (NULL or zero: must not exist) to
 * new.  ERR_RACE if it is not at old.  A lock file older than 60 s, or than
 * the machine's last start, is taken for dead and moved away, with a message
 * on stderr.  Takes repo_lock() where the caller has not.
 */
int repo_ref_cas(struct repo *r, const char *name, const struct oid *old,
		 const struct oid *new, const char *reflog, struct err *err);
/*
 * Moves away, with a message, the locks below a folder of refs
 * ("refs/remotes") that processes left which died more than 60 s ago; gives
 * how many.  Our own refs need no call: repo_ref_cas() sees to them.
 */
size_t repo_ref_clear_locks(struct repo *r, const char *folder);
/* Calls fn for refs whose name begins with prefix, in order of name; fn
 * returning non-zero ends the walk with that value. */
int repo_ref_each(struct repo *r, const char *prefix,
		  int (*fn)(void *ctx, const char *name,
			    const struct oid *id), void *ctx,
		  struct err *err);
/* Is the branch (full name) checked out in some work tree? */
bool repo_branch_in_use(struct repo *r, const char *name);
/*
 * Objects written so far are there and on disk when this returns (syncfs),
 * and no `git gc` runs, which could take them away before a ref leads to
 * them: call it last before repo_ref_cas().  What a gc or prune took is
 * written again.  Waiting for a gc is told on stderr.
 */
int repo_sync(struct repo *r, struct err *err);
/* flock on <gitdir>/maxkernel/lock around a batch; nests. */
int repo_lock(struct repo *r, struct err *err);
void repo_unlock(struct repo *r);

/* a is an ancestor of b, or b itself: 1, else 0; negative on error. */
int repo_is_ancestor(struct repo *r, const struct oid *a,
		     const struct oid *b, struct err *err);
/* Paths that differ between two trees ("M\tpath"), at most max. */
int repo_tree_diff(struct repo *r, const struct oid *a, const struct oid *b,
		   struct strv *paths, size_t max, struct err *err);

/* ---- merging (repo_merge.c) ---- */

/* The best common ancestor, as git merge-base; ERR_NOTFOUND: none. */
int repo_merge_base(struct repo *r, const struct oid *a, const struct oid *b,
		    struct oid *base, struct err *err);
struct tree_conflict {
	char *path;
	char *text;		/* with diff3 markers; NULL: binary, or deleted
				 * on one side */
};
struct merge_labels {		/* behind the markers */
	const char *base, *ours, *theirs;
};
/*
 * Three-way merge of trees, as git does it.  0 and the merged tree, in which
 * a path with a conflict is as in ours (in theirs where ours has none), and
 * the conflicts, which are the caller's (tree_conflicts_free()).
 */
int repo_merge_trees(struct repo *r, const struct oid *base,
		     const struct oid *ours, const struct oid *theirs,
		     const struct merge_labels *labels, struct oid *out,
		     struct tree_conflict **conflicts, size_t *nr,
		     struct err *err);
void tree_conflicts_free(struct tree_conflict *v, size_t nr);

#endif
