/* Objects: commits, trees, blobs, and how commits hang together. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "core/mem.h"
#include "core/repo_parts.h"

#define MAX_META (16u << 20)	/* bytes of a commit or tree object */

/* ---- objects ---- */

/* The object exists, has the type and at most max bytes. */
static int check_object(struct repo *r, const struct oid *id, int type,
			size_t max, struct err *err)
{
	git_object_t have;
	size_t len;
	struct err ignored;
	bool lost;
	int rc = git_odb_read_header(&len, &have, r->odb, as_git(id));

	r->all_recent = rc == GIT_ENOTFOUND ? 0 : r->all_recent;
	if (rc == GIT_ENOTFOUND && recent_check(r, &lost, &ignored) == 0 &&
	    lost)
		rc = git_odb_read_header(&len, &have, r->odb, as_git(id));
	if (rc < 0)
		return repo_err(err, rc, "cannot read object %s",
			       oid_text(id).s);
	if ((int)have != type)
		return err_set(err, ERR_GIT, "object %s is a %s, not a %s",
			       oid_text(id).s, git_object_type2string(have),
			       git_object_type2string((git_object_t)type));
	if (len > max)
		return err_set(err, ERR_LIMIT, "object %s has %zu bytes, more "
			       "than %zu", oid_text(id).s, len, max);
	return 0;
}

int repo_commit_read(struct repo *r, const struct oid *id, struct commit *c,
		     struct err *err)
{
	git_commit *g;
	int rc;

	memset(c, 0, sizeof(*c));
	rc = check_object(r, id, GIT_OBJECT_COMMIT, MAX_META, err);
	if (rc < 0)
		return rc;
	rc = git_commit_lookup(&g, r->g, as_git(id));
	if (rc < 0)
		return repo_err(err, rc, "cannot read commit %s",
			       oid_text(id).s);
	c->id = *id;
	from_git(&c->tree, git_commit_tree_id(g));
	c->nr_parents = git_commit_parentcount(g);
	c->parent = xcalloc(c->nr_parents, sizeof(*c->parent));
	for (size_t i = 0; i < c->nr_parents; i++)
		from_git(&c->parent[i],
			 git_commit_parent_id(g, (unsigned)i));
	c->time = git_commit_time(g);
	c->message = xstrdup(git_commit_message(g));
	git_commit_free(g);
	return 0;
}

void commit_release(struct commit *c)
{
	free(c->parent);
	free(c->message);
	memset(c, 0, sizeof(*c));
}

static int write_object(struct repo *r, const void *data, size_t len,
			git_object_t type, struct oid *out, struct err *err)
{
	if (object_put(r, data, len, type, out, err) < 0)
		return err->code;
	recent_add(r, out, type, data, len);
	return 0;
}

static void add_person(struct buf *b, const char *what, const struct buf *name,
		       const struct buf *mail)
{
	time_t now = time(NULL);
	struct tm tm;
	long off;

	localtime_r(&now, &tm);
	off = tm.tm_gmtoff / 60;
	buf_addf(b, "%s %s <%s> %lld %c%02ld%02ld\n", what, name->ptr,
		 mail->ptr, (long long)now, off < 0 ? '-' : '+',
		 labs(off) / 60, labs(off) % 60);
}

static int add_persons(struct repo *r, struct buf *b, struct err *err)
{
	struct buf name = BUF_INIT, mail = BUF_INIT;
	int ret = repo_author(r, &name, &mail, err);

	if (!ret) {
		add_person(b, "author", &name, &mail);
		ret = repo_identity(r, &name, &mail, err);
	}
	if (!ret) {
		add_person(b, "committer", &name, &mail);
		if (!r->ident_set)	/* for reflogs */
			git_repository_set_ident(r->g, name.ptr, mail.ptr);
		r->ident_set = true;
	}
	buf_release(&name);
	buf_release(&mail);
	return ret;
}

int repo_commit_write(struct repo *r, const struct oid *tree,
		      const struct oid *parents, size_t nr_parents,
		      const char *message, struct oid *out, struct err *err)
{
	struct buf b = BUF_INIT;
	int ret;

	buf_addf(&b, "tree %s\n", oid_text(tree).s);
	for (size_t i = 0; i < nr_parents; i++)
		buf_addf(&b, "parent %s\n", oid_text(&parents[i]).s);
	ret = add_persons(r, &b, err);
	if (!ret) {
		buf_addf(&b, "\n%s", message);
		ret = write_object(r, b.ptr, b.len, GIT_OBJECT_COMMIT, out,
				   err);
	}
	buf_release(&b);
	return ret;
}

int repo_tree_read(struct repo *r, const struct oid *id, struct tree *t,
		   struct err *err)
{
	git_tree *g;
	size_t nr;
	int rc;

	memset(t, 0, sizeof(*t));
	rc = check_object(r, id, GIT_OBJECT_TREE, MAX_META, err);
	if (rc < 0)
		return rc;
	rc = git_tree_lookup(&g, r->g, as_git(id));
	if (rc < 0)
		return repo_err(err, rc, "cannot read tree %s",
			       oid_text(id).s);
	nr = git_tree_entrycount(g);
	t->v = xcalloc(nr, sizeof(*t->v));
	t->cap = t->nr = nr;
	for (size_t i = 0; i < nr; i++) {
		const git_tree_entry *e = git_tree_entry_byindex(g, i);

		t->v[i].name = xstrdup(git_tree_entry_name(e));
		from_git(&t->v[i].id, git_tree_entry_id(e));
		t->v[i].mode = (unsigned)git_tree_entry_filemode(e);
	}
	git_tree_free(g);
	return 0;
}

/* Git orders a folder as if its name ended in '/'. */
static int by_git_order(const void *a, const void *b)
{
	const struct tree_entry *x = a, *y = b;
	size_t lx = strlen(x->name), ly = strlen(y->name);
	int c = memcmp(x->name, y->name, lx < ly ? lx : ly);
	unsigned char cx, cy;

	if (c)
		return c;
	if (lx == ly)
		return 0;
	cx = lx > ly ? (unsigned char)x->name[ly] :
		S_ISDIR(x->mode) ? '/' : '\0';
	cy = ly > lx ? (unsigned char)y->name[lx] :
		S_ISDIR(y->mode) ? '/' : '\0';
	return cx < cy ? -1 : cx > cy;
}

/* Most trees are in order already, but for an entry or two at the end. */
static void sort_entries(struct tree *t)
{
	size_t left = t->nr;	/* entries that may be moved this way */

	for (size_t i = 1; i < t->nr; i++) {
		struct tree_entry e = t->v[i];
		size_t to = i;

		while (to && left && by_git_order(&t->v[to - 1], &e) > 0) {
			t->v[to] = t->v[to - 1];
			to--;
			left--;
		}
		t->v[to] = e;
		if (!left) {
			qsort(t->v, t->nr, sizeof(*t->v), by_git_order);
			return;
		}
	}
}

static int by_name(const void *a, const void *b)
{
	return strcmp((*(struct tree_entry *const *)a)->name,
		      (*(struct tree_entry *const *)b)->name);
}

static bool entry_name_ok(const char *name)
{
	return *name && !strchr(name, '/') && strcmp(name, ".") &&
	       strcmp(name, "..") && strcasecmp(name, ".git");
}

/* A file "a" and a folder "a" do not sort beside each other, so that equal
 * names are looked for in plain order. */
static int check_twice(const struct tree *t, struct err *err)
{
	struct tree_entry **v = xcalloc(t->nr, sizeof(*v));
	int ret = 0;

	for (size_t i = 0; i < t->nr; i++)
		v[i] = &t->v[i];
	qsort(v, t->nr, sizeof(*v), by_name);
	for (size_t i = 1; !ret && i < t->nr; i++)
		if (!strcmp(v[i - 1]->name, v[i]->name))
			ret = err_set(err, ERR_FORMAT, "'%s' stands twice in "
				      "a tree", v[i]->name);
	free(v);
	return ret;
}

/* t is sorted. */
static int check_names(const struct tree *t, struct err *err)
{
	bool rising = true;

	for (size_t i = 0; i < t->nr; i++) {
		if (!entry_name_ok(t->v[i].name))
			return err_set(err, ERR_FORMAT, "'%s' cannot stand in "
				       "a tree", t->v[i].name);
		rising &= !i || strcmp(t->v[i - 1].name, t->v[i].name) < 0;
	}
	return rising ? 0 : check_twice(t, err);
}

static void add_entry(struct buf *b, const struct tree_entry *e)
{
	const char *file = "100644 ", *folder = "40000 ";

	if (e->mode == 0100644 || e->mode == 040000)
		buf_addstr(b, e->mode == 040000 ? folder : file);
	else
		buf_addf(b, "%o ", e->mode);
	buf_add(b, e->name, strlen(e->name) + 1);
	buf_add(b, e->id.id, OID_RAW);
}

int repo_tree_write(struct repo *r, struct tree *t, struct oid *out,
		    struct err *err)
{
	struct buf b = BUF_INIT;
	int ret;

	sort_entries(t);
	ret = check_names(t, err);
	if (ret < 0)
		return ret;
	for (size_t i = 0; i < t->nr; i++)
		add_entry(&b, &t->v[i]);
	ret = write_object(r, b.ptr, b.len, GIT_OBJECT_TREE, out, err);
	buf_release(&b);
	return ret;
}

struct tree_entry *tree_find(struct tree *t, const char *name, size_t len)
{
	for (size_t i = 0; i < t->nr; i++)
		if (!strncmp(t->v[i].name, name, len) && !t->v[i].name[len])
			return &t->v[i];
	return NULL;
}

void tree_put(struct tree *t, const char *name, const struct oid *id,
	      unsigned mode)
{
	struct tree_entry *e = tree_find(t, name, strlen(name));

	if (!e) {
		GROW(t->v, t->nr, t->cap);
		e = &t->v[t->nr++];
		e->name = xstrdup(name);
	}
	e->id = *id;
	e->mode = mode;
}

void tree_release(struct tree *t)
{
	for (size_t i = 0; i < t->nr; i++)
		free(t->v[i].name);
	free(t->v);
	memset(t, 0, sizeof(*t));
}

int repo_blob_write(struct repo *r, const void *data, size_t len,
		    struct oid *out, struct err *err)
{
	return write_object(r, data, len, GIT_OBJECT_BLOB, out, err);
}

int repo_blob_read(struct repo *r, const struct oid *id, struct buf *out,
		   size_t max, struct err *err)
{
	git_odb_object *o;
	int rc = check_object(r, id, GIT_OBJECT_BLOB, max, err);

	if (rc < 0)
		return rc;
	rc = git_odb_read(&o, r->odb, as_git(id));
	if (rc < 0)
		return repo_err(err, rc, "cannot read object %s",
			       oid_text(id).s);
	buf_add(out, git_odb_object_data(o), git_odb_object_size(o));
	git_odb_object_free(o);
	return 0;
}

int repo_blob_check(struct repo *r, const struct oid *id, size_t max,
		    struct err *err)
{
	return check_object(r, id, GIT_OBJECT_BLOB, max, err);
}

int repo_commit_tree(struct repo *r, const struct oid *commit,
		     struct oid *tree, struct err *err)
{
	struct commit c;
	int ret = repo_commit_read(r, commit, &c, err);

	if (ret < 0)
		return ret;
	*tree = c.tree;
	commit_release(&c);
	return 0;
}

int repo_tree_path(struct repo *r, const struct oid *tree, const char *path,
		   struct tree_entry *out, struct err *err)
{
	git_tree *root = NULL;
	git_tree_entry *e = NULL;
	int rc = git_tree_lookup(&root, r->g, as_git(tree));

	if (rc < 0)
		return repo_err(err, rc, "cannot read tree %s",
			       oid_text(tree).s);
	rc = git_tree_entry_bypath(&e, root, path);
	git_tree_free(root);
	if (rc == GIT_ENOTFOUND)
		return err_set(err, ERR_NOTFOUND, "there is no '%s'", path);
	if (rc < 0)
		return repo_err(err, rc, "cannot look up '%s'", path);
	out->name = NULL;
	from_git(&out->id, git_tree_entry_id(e));
	out->mode = (unsigned)git_tree_entry_filemode(e);
	git_tree_entry_free(e);
	return 0;
}

/* ---- history ---- */

int repo_is_ancestor(struct repo *r, const struct oid *a,
		     const struct oid *b, struct err *err)
{
	int rc;

	if (oid_eq(a, b))
		return 1;
	rc = git_graph_descendant_of(r->g, as_git(b), as_git(a));
	if (rc < 0)
		return repo_err(err, rc, "cannot walk from %s",
			       oid_short(b).s);
	return rc;
}

int repo_tree_diff(struct repo *r, const struct oid *a, const struct oid *b,
		   struct strv *paths, size_t max, struct err *err)
{
	git_tree *ta = NULL, *tb = NULL;
	git_diff *diff = NULL;
	int rc = git_tree_lookup(&ta, r->g, as_git(a));

	if (!rc)
		rc = git_tree_lookup(&tb, r->g, as_git(b));
	if (!rc)
		rc = git_diff_tree_to_tree(&diff, r->g, ta, tb, NULL);
	for (size_t i = 0; !rc && i < git_diff_num_deltas(diff) &&
	     paths->nr < max; i++) {
		const git_diff_delta *d = git_diff_get_delta(diff, i);

		strv_pushf(paths, "%c\t%s", git_diff_status_char(d->status),
			   d->status == GIT_DELTA_DELETED ?
			   d->old_file.path : d->new_file.path);
	}
	if (rc)
		repo_err(err, rc, "cannot compare %s and %s", oid_short(a).s,
			oid_short(b).s);
	git_diff_free(diff);
	git_tree_free(ta);
	git_tree_free(tb);
	return rc ? (int)err->code : 0;
}
