/* Trees with files put in or taken out, and files found by globs. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/mem.h"
#include "core/repo_parts.h"

/* ---- trees with files put in ---- */

struct put {			/* files to put, sorted by path */
	struct repo *r;
	const struct srcfile **v;
};

static int put_blob(struct put *p, struct tree *t, const struct srcfile *f,
		    const char *name, struct err *err)
{
	struct tree_entry *e = tree_find(t, name, strlen(name));
	git_oid id;
	struct oid oid;

	if (e && !S_ISREG(e->mode))
		return err_set(err, ERR_FORMAT, "'%s' is %s in the commit, not "
			       "a file", f->path, S_ISDIR(e->mode) ?
			       "a folder" : "a link or submodule");
	git_odb_hash(&id, f->text.ptr, f->text.len, GIT_OBJECT_BLOB);
	from_git(&oid, &id);
	if (e && oid_eq(&e->id, &oid))
		return 0;
	if (repo_blob_write(p->r, f->text.ptr, f->text.len, &oid, err) < 0)
		return err->code;
	tree_put(t, name, &oid, e ? e->mode : 0100644);
	return 0;
}

/* Files [lo, hi) lie below the folder whose path has `skip` bytes. */
static int put_level(struct put *p, const struct oid *old, size_t lo,
		     size_t hi, size_t skip, struct oid *out, struct err *err)
{
	struct tree t = { NULL, 0, 0 };
	size_t i, next;
	int ret = 0;

	if (old)
		ret = repo_tree_read(p->r, old, &t, err);
	for (i = lo; !ret && i < hi; i = next) {
		const char *name = p->v[i]->path + skip;
		const char *slash = strchr(name, '/');
		struct tree_entry *e;
		struct oid sub;
		char *dir;
		size_t len;

		next = i + 1;
		if (!slash) {
			ret = put_blob(p, &t, p->v[i], name, err);
			continue;
		}
		len = (size_t)(slash - name) + 1;
		while (next < hi && !strncmp(p->v[next]->path + skip, name,
					     len))
			next++;
		e = tree_find(&t, name, len - 1);
		if (e && !S_ISDIR(e->mode)) {
			ret = err_set(err, ERR_FORMAT, "'%.*s' is not a folder "
				      "in the commit, as '%s' needs",
				      (int)(skip + len - 1), p->v[i]->path,
				      p->v[i]->path);
			continue;
		}
		ret = put_level(p, e ? &e->id : NULL, i, next, skip + len,
				&sub, err);
		dir = xstrndup(name, len - 1);
		if (!ret)
			tree_put(&t, dir, &sub, 040000);
		free(dir);
	}
	if (!ret)
		ret = repo_tree_write(p->r, &t, out, err);
	tree_release(&t);
	return ret;
}

int repo_tree_with(struct repo *r, const struct oid *tree,
		   const struct srcset *s, bool writable_only,
		   struct oid *out, struct err *err)
{
	struct put p = { r, xcalloc(s->nr, sizeof(*p.v)) };
	size_t nr = 0;
	int ret = 0;

	for (size_t i = 0; !ret && i < s->nr; i++) {
		if (writable_only && !s->v[i].writable)
			continue;
		if (!path_is_safe(s->v[i].path))
			ret = err_set(err, ERR_FORMAT, "'%s' is not a path "
				      "that may be written", s->v[i].path);
		p.v[nr++] = &s->v[i];
	}
	*out = *tree;
	if (!ret && nr)
		ret = put_level(&p, tree, 0, nr, 0, out, err);
	free(p.v);
	return ret;
}

/* tree without one path; a folder that becomes empty goes too. */
static int remove_path(struct repo *r, const struct oid *tree,
		       const char *path, struct oid *out, bool *empty,
		       struct err *err)
{
	const char *slash = strchr(path, '/');
	size_t len = slash ? (size_t)(slash - path) : strlen(path);
	struct tree t;
	struct tree_entry *e;
	bool gone = !slash;
	int ret = repo_tree_read(r, tree, &t, err);

	if (ret < 0)
		return ret;
	e = tree_find(&t, path, len);
	if (e && slash && S_ISDIR(e->mode))
		ret = remove_path(r, &e->id, slash + 1, &e->id, &gone, err);
	if (!ret && e && gone) {
		free(e->name);
		*e = t.v[--t.nr];
	}
	*empty = t.nr == 0;
	if (!ret)
		ret = repo_tree_write(r, &t, out, err);
	tree_release(&t);
	return ret;
}

int repo_tree_without(struct repo *r, const struct oid *tree,
		      const struct strv *paths, struct oid *out,
		      struct err *err)
{
	bool empty;

	*out = *tree;
	for (size_t i = 0; i < paths->nr; i++) {
		int ret = remove_path(r, out, paths->v[i], out, &empty, err);

		if (ret < 0)
			return ret;
	}
	return 0;
}

/* ---- globs ---- */

static bool is_literal(const char *glob)
{
	return !strpbrk(glob, "*?[\\");
}

bool glob_match(const char *glob, const char *path)
{
	if (is_literal(glob))
		return !strcmp(glob, path);
	return fnmatch(glob, path, FNM_PATHNAME) == 0;
}

bool glob_leads_below(const char *glob, const char *dir)
{
	bool literal = is_literal(glob);

	if (strpbrk(glob, "[\\"))	/* may hide a slash: be generous */
		return true;
	for (;;) {
		size_t lg = strcspn(glob, "/"), ld = strcspn(dir, "/");
		char part[256], name[256];

		if (!glob[lg])		/* the glob ends at or above dir */
			return false;
		if (lg >= sizeof(part) || ld >= sizeof(name))
			return !literal;
		memcpy(part, glob, lg);
		part[lg] = '\0';
		memcpy(name, dir, ld);
		name[ld] = '\0';
		if (fnmatch(part, name, FNM_PATHNAME))
			return false;
		if (!dir[ld])
			return true;
		glob += lg + 1;
		dir += ld + 1;
	}
}

struct match {
	struct repo *r;
	const struct strv *globs;
	int (*fn)(void *ctx, const char *path, const struct oid *blob,
		  struct err *err);
	void *ctx;
	struct buf path;
};

static bool match_any(const struct match *m, const char *path)
{
	for (size_t i = 0; i < m->globs->nr; i++)
		if (glob_match(m->globs->v[i], path))
			return true;
	return false;
}

static bool leads_below(const struct match *m, const char *dir,
			bool literal_only)
{
	for (size_t i = 0; i < m->globs->nr; i++)
		if ((!literal_only || is_literal(m->globs->v[i])) &&
		    glob_leads_below(m->globs->v[i], dir))
			return true;
	return false;
}

static int match_level(struct match *m, const struct oid *tree, int depth,
		       struct err *err);

static int match_entry(struct match *m, const struct tree_entry *e, int depth,
		       struct err *err)
{
	const char *path = m->path.ptr;

	if (S_ISDIR(e->mode))
		return leads_below(m, path, false) ?
			match_level(m, &e->id, depth + 1, err) : 0;
	if (!S_ISREG(e->mode)) {
		if (!match_any(m, path) && !leads_below(m, path, true))
			return 0;
		return err_set(err, ERR_FORMAT, "'%s' is a %s, not a regular "
			       "file", path, S_ISLNK(e->mode) ?
			       "symbolic link" : "submodule");
	}
	if (!match_any(m, path))
		return 0;
	if (!path_is_safe(path))
		return err_set(err, ERR_FORMAT, "'%s' is not a path that may "
			       "be read", path);
	return m->fn(m->ctx, path, &e->id, err);
}

static int match_level(struct match *m, const struct oid *tree, int depth,
		       struct err *err)
{
	size_t len = m->path.len;
	struct tree t;
	int ret;

	if (depth > REPO_MAX_DEPTH)
		return err_set(err, ERR_LIMIT, "'%s' lies too deep",
			       m->path.ptr);
	ret = repo_tree_read(m->r, tree, &t, err);
	for (size_t i = 0; !ret && i < t.nr; i++) {
		if (len)
			buf_addch(&m->path, '/');
		buf_addstr(&m->path, t.v[i].name);
		ret = match_entry(m, &t.v[i], depth, err);
		m->path.len = len;
		m->path.ptr[len] = '\0';
	}
	tree_release(&t);
	return ret;
}

int repo_tree_match(struct repo *r, const struct oid *tree,
		    const struct strv *globs,
		    int (*fn)(void *ctx, const char *path,
			      const struct oid *blob, struct err *err),
		    void *ctx, struct err *err)
{
	struct match m = { r, globs, fn, ctx, BUF_INIT };
	int ret;

	buf_addch(&m.path, ' ');	/* so that it can be cut to nothing */
	buf_reset(&m.path);
	ret = match_level(&m, tree, 0, err);
	buf_release(&m.path);
	return ret;
}
