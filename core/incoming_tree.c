/* Trees of nodes and anchors: only subtrees that differ are read. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/incoming_parts.h"
#include "core/mem.h"

#define MAX_DEPTH 64

struct compare {
	struct incoming *in;
	const struct oid *node;
	struct buf path;
	uint32_t changes;
};

static int refuse(struct compare *c, enum err_code code, const char *what,
		  struct err *err)
{
	struct buf clean = BUF_INIT;
	int ret;

	buf_add_clean(&clean, c->path.ptr, c->path.len < 300 ? c->path.len :
		      300, false);
	ret = err_set(err, code, "node %s %s '%s'", oid_short(c->node).s,
		      what, clean.ptr);
	buf_release(&clean);
	return ret;
}

static bool may_change(const struct compare *c)
{
	const struct strv *file = &c->in->kernel.file;

	for (size_t i = 0; i < file->nr; i++)
		if (glob_match(file->v[i], c->path.ptr))
			return true;
	return false;
}

/* to NULL: the file goes; from NULL: it is new. */
static int check_file(struct compare *c, const struct tree_entry *from,
		      const struct tree_entry *to, struct err *err)
{
	unsigned mode = from ? from->mode : 0100644;
	int ret;

	if (to && !S_ISREG(to->mode))
		return refuse(c, ERR_FORMAT, S_ISLNK(to->mode) ?
			      "adds the symbolic link" : "adds the submodule",
			      err);
	if (!may_change(c) || !path_is_safe(c->path.ptr))
		return refuse(c, ERR_FORMAT, "changes a file that is not the "
			      "kernel's:", err);
	if (to && to->mode != mode)
		return refuse(c, ERR_FORMAT, "changes the mode of", err);
	if (++c->changes > INCOMING_MAX_CHANGES)
		return refuse(c, ERR_LIMIT, "changes too many files, at last",
			      err);
	if (!to)
		return 0;
	ret = repo_blob_check(c->in->repo, &to->id, INCOMING_MAX_FILE, err);
	if (ret < 0)
		return refuse(c, ret == ERR_LIMIT ? ERR_LIMIT : ERR_FORMAT,
			      ret == ERR_LIMIT ? "has too large a" :
			      "has an unreadable", err);
	return 0;
}

static int compare_trees(struct compare *c, const struct oid *from,
			 const struct oid *to, int depth, struct err *err);

/* One name, on one side or on both. */
static int compare_entry(struct compare *c, const struct tree_entry *from,
			 const struct tree_entry *to, int depth,
			 struct err *err)
{
	bool from_dir = from && S_ISDIR(from->mode);
	bool to_dir = to && S_ISDIR(to->mode);
	size_t len = c->path.len;
	int ret = 0;

	if (from && to && from->mode == to->mode && oid_eq(&from->id, &to->id))
		return 0;
	if (len)
		buf_addch(&c->path, '/');
	buf_addstr(&c->path, (to ? to : from)->name);
	if (from_dir || to_dir)
		ret = compare_trees(c, from_dir ? &from->id : NULL,
				    to_dir ? &to->id : NULL, depth + 1, err);
	if (!ret && ((from && !from_dir) || (to && !to_dir)))
		ret = check_file(c, from_dir ? NULL : from,
				 to_dir ? NULL : to, err);
	c->path.len = len;
	c->path.ptr[len] = '\0';
	return ret;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct tree_entry *)a)->name,
		      ((const struct tree_entry *)b)->name);
}

static int read_side(struct compare *c, const struct oid *id, struct tree *t,
		     struct err *err)
{
	memset(t, 0, sizeof(*t));
	if (!id)
		return 0;
	if (repo_tree_read(c->in->repo, id, t, err) < 0)
		return refuse(c, ERR_FORMAT, "has an unreadable folder", err);
	if (t->nr > 1)
		qsort(t->v, t->nr, sizeof(*t->v), by_name);
	return 0;
}

static int check_names(struct compare *c, const struct tree *t, int depth,
		       struct err *err)
{
	if (!t->nr && depth)
		return refuse(c, ERR_FORMAT, "has an empty folder", err);
	for (size_t i = 0; i < t->nr; i++)
		if (!*t->v[i].name || strchr(t->v[i].name, '/') ||
		    (i && !strcmp(t->v[i - 1].name, t->v[i].name)))
			return refuse(c, ERR_FORMAT, "has a malformed folder",
				      err);
	return 0;
}

static int compare_trees(struct compare *c, const struct oid *from,
			 const struct oid *to, int depth, struct err *err)
{
	struct tree a, b = { NULL, 0, 0 };
	size_t i = 0, k = 0;
	int ret;

	if (depth > MAX_DEPTH)
		return refuse(c, ERR_LIMIT, "has too deep a folder", err);
	ret = read_side(c, from, &a, err);
	if (!ret)
		ret = read_side(c, to, &b, err);
	if (!ret)
		ret = check_names(c, &b, to ? depth : 0, err);
	while (!ret && (i < a.nr || k < b.nr)) {
		int order = i == a.nr ? 1 : k == b.nr ? -1 :
			strcmp(a.v[i].name, b.v[k].name);

		ret = compare_entry(c, order <= 0 ? &a.v[i] : NULL,
				    order >= 0 ? &b.v[k] : NULL, depth, err);
		i += order <= 0;
		k += order >= 0;
	}
	tree_release(&a);
	tree_release(&b);
	return ret;
}

int incoming_node_tree(struct incoming *in, const struct oid *node,
		       const struct oid *from, const struct oid *to,
		       struct err *err)
{
	struct compare c = { in, node, BUF_INIT, 0 };
	int ret = 0;

	if (oid_eq(from, to))
		return 0;
	buf_addch(&c.path, ' ');	/* so that it can be cut to nothing */
	buf_reset(&c.path);
	ret = compare_trees(&c, from, to, 0, err);
	buf_release(&c.path);
	return ret;
}

/* ---- anchors ---- */

static int check_raw(struct incoming *in, const struct oid *anchor,
		     const struct tree_entry *e, struct err *err)
{
	struct buf name = BUF_INIT;
	int ret = 0;

	if (!S_ISREG(e->mode) || strcmp(e->name, oid_text(&e->id).s)) {
		buf_add_clean(&name, e->name, strnlen(e->name, 100), false);
		ret = err_set(err, ERR_FORMAT, "anchor %s holds '%s', which "
			      "is no record of samples", oid_short(anchor).s,
			      name.ptr);
	} else if (repo_blob_check(in->repo, &e->id, METRIC_MAX_RAW,
				   err) < 0) {
		ret = err_set(err, err->code == ERR_LIMIT ? ERR_LIMIT :
			      ERR_FORMAT, "anchor %s holds a record of samples "
			      "that is too large or cannot be read: %s",
			      oid_short(anchor).s, e->name);
	}
	buf_release(&name);
	return ret;
}

int incoming_anchor_tree(struct incoming *in, const struct oid *anchor,
			 const struct oid *tree, struct err *err)
{
	struct tree t;
	int ret;

	if (oidset_has(&in->raws, tree))	/* those of one batch share it */
		return 0;
	ret = repo_tree_read(in->repo, tree, &t, err);
	if (ret < 0)
		return err_set(err, ERR_FORMAT, "anchor %s has a tree that "
			       "cannot be read", oid_short(anchor).s);
	if (t.nr > INCOMING_MAX_RAWS)
		ret = err_set(err, ERR_LIMIT, "anchor %s holds %zu records of "
			      "samples, more than %u", oid_short(anchor).s,
			      t.nr, INCOMING_MAX_RAWS);
	for (size_t i = 0; !ret && i < t.nr; i++)
		ret = check_raw(in, anchor, &t.v[i], err);
	if (!ret)
		oidset_add(&in->raws, tree);
	tree_release(&t);
	return ret;
}
