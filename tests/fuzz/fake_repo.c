#include "tests/fuzz/fake_repo.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/mem.h"
#include "core/store_parts.h"

struct fakes fakes;

void fake_id(size_t i, struct oid *out)
{
	for (size_t k = 0; k < OID_RAW; k++)
		out->id[k] = (unsigned char)((i + 1) * (2 * k + 41) + k);
	out->id[0] = (unsigned char)(i + 1);
}

const struct fake *fake_find(const struct oid *id)
{
	size_t i = id->id[0];
	struct oid want;

	if (!i || i > fakes.nr)
		return NULL;
	fake_id(i - 1, &want);
	return oid_eq(&want, id) ? &fakes.v[i - 1] : NULL;
}

void fake_clear(void)
{
	for (size_t i = 0; i < fakes.nr; i++) {
		buf_release(&fakes.v[i].text);
		tree_release(&fakes.v[i].tree);
	}
	memset(&fakes, 0, sizeof(fakes));
}

/* ---- from lines ---- */

static size_t object(int c)
{
	return c >= '0' && c < '0' + FAKE_MAX ? (size_t)(c - '0') : 0;
}

static void add_text(struct buf *b, const char *s, size_t len)
{
	struct oid id;

	for (size_t i = 0; i < len; i++) {
		if (s[i] == '%' && i + 1 < len) {
			fake_id(object(s[++i]), &id);
			buf_addstr(b, oid_text(&id).s);
		} else {
			buf_addch(b, (unsigned char)s[i]);
		}
	}
}

static void add_entry(struct tree *t, const char *s, size_t len)
{
	static const char kinds[] = "fxlds";
	static const unsigned modes[] = { 0100644, 0100755, 0120000, 040000,
					  0160000 };
	const char *k = len > 2 ? strchr(kinds, *s) : NULL;
	struct buf name = BUF_INIT;
	struct tree_entry *e;

	if (!k || !*k || object(s[1]) + 1 >= fakes.nr)
		return;			/* Git has no rings */
	add_text(&name, s + 2, len - 2);
	GROW(t->v, t->nr, t->cap);
	e = &t->v[t->nr++];
	e->name = xstrdup(name.ptr);
	e->mode = modes[k - kinds];
	fake_id(object(s[1]), &e->id);
	buf_release(&name);
}

static void add_object(int kind, const char *s, size_t len)
{
	struct fake *f;

	if (fakes.nr == FAKE_MAX)
		return;
	f = &fakes.v[fakes.nr++];
	memset(f, 0, sizeof(*f));
	buf_init(&f->text);
	f->kind = kind == 'B' ? FAKE_BLOB : kind == 'T' ? FAKE_TREE :
		FAKE_COMMIT;
	if (kind == 'B') {
		add_text(&f->text, s, len);
		buf_addch(&f->text, '\n');
	}
	if (kind != 'C')
		return;
	fake_id(object(len ? *s : 0), &f->of_tree);
	for (size_t i = 1; i < len && f->nr_parents < FAKE_MAX; i++)
		if (object(s[i]) + 1 < fakes.nr)
			fake_id(object(s[i]), &f->parent[f->nr_parents++]);
}

static void add_line(const char *s, size_t len)
{
	struct fake *f = fakes.nr ? &fakes.v[fakes.nr - 1] : NULL;
	int kind = len ? *s : 0;

	if (kind == 'B' || kind == 'T' || kind == 'C') {
		add_object(kind, s + 1, len - 1);
	} else if (kind == 'K' && len > 1 && fakes.nr_known < FAKE_MAX) {
		fake_id(object(s[1]), &fakes.known[fakes.nr_known++]);
	} else if (kind == 'O' && len > 1) {
		fake_id(object(s[1]), &fakes.old);
	} else if (!f) {
		return;
	} else if ((kind == 'b' && f->kind == FAKE_BLOB) ||
		   (kind == 'm' && f->kind == FAKE_COMMIT)) {
		add_text(&f->text, s + 1, len - 1);
		buf_addch(&f->text, '\n');
	} else if (kind == 'e' && f->kind == FAKE_TREE) {
		add_entry(&f->tree, s + 1, len - 1);
	} else if (kind == 't') {
		for (size_t i = 1; i < len && i < 15; i++)
			f->time = f->time * 10 + (s[i] & 15);
	}
}

void fake_read(const char *text, size_t len)
{
	const char *end = text + len;

	while (text < end) {
		const char *nl = memchr(text, '\n', (size_t)(end - text));
		size_t n = (size_t)((nl ? nl : end) - text);

		add_line(text, n);
		text += n + 1;
	}
}

/* ---- in place of core/repo*.c ---- */

static int find(const struct oid *id, enum fake_kind kind,
		const struct fake **out, struct err *err)
{
	*out = fake_find(id);
	if (!*out)
		return err_set(err, ERR_NOTFOUND, "no object %s",
			       oid_text(id).s);
	return (*out)->kind == kind ? 0 :
		err_set(err, ERR_GIT, "object %s is another",
			oid_text(id).s);
}

int repo_commit_read(struct repo *r, const struct oid *id, struct commit *c,
		     struct err *err)
{
	const struct fake *f;

	(void)r;
	memset(c, 0, sizeof(*c));
	if (find(id, FAKE_COMMIT, &f, err) < 0)
		return err->code;
	c->id = *id;
	c->tree = f->of_tree;
	c->nr_parents = f->nr_parents;
	c->parent = xcalloc(f->nr_parents, sizeof(*c->parent));
	for (size_t i = 0; i < f->nr_parents; i++)
		c->parent[i] = f->parent[i];
	c->time = f->time;
	c->message = xstrdup(f->text.ptr);
	return 0;
}

void commit_release(struct commit *c)
{
	free(c->parent);
	free(c->message);
	memset(c, 0, sizeof(*c));
}

int repo_commit_tree(struct repo *r, const struct oid *commit,
		     struct oid *tree, struct err *err)
{
	const struct fake *f;

	(void)r;
	if (find(commit, FAKE_COMMIT, &f, err) < 0)
		return err->code;
	*tree = f->of_tree;
	return 0;
}

int repo_tree_read(struct repo *r, const struct oid *id, struct tree *t,
		   struct err *err)
{
	const struct fake *f;

	(void)r;
	memset(t, 0, sizeof(*t));
	if (find(id, FAKE_TREE, &f, err) < 0)
		return err->code;
	t->nr = t->cap = f->tree.nr;
	t->v = xcalloc(t->nr, sizeof(*t->v));
	for (size_t i = 0; i < t->nr; i++) {
		t->v[i] = f->tree.v[i];
		t->v[i].name = xstrdup(f->tree.v[i].name);
	}
	return 0;
}

void tree_release(struct tree *t)
{
	for (size_t i = 0; i < t->nr; i++)
		free(t->v[i].name);
	free(t->v);
	memset(t, 0, sizeof(*t));
}

int repo_blob_check(struct repo *r, const struct oid *id, size_t max,
		    struct err *err)
{
	const struct fake *f;

	(void)r;
	if (find(id, FAKE_BLOB, &f, err) < 0)
		return err->code;
	return f->text.len <= max ? 0 : err_set(err, ERR_LIMIT, "too long");
}

int repo_blob_read(struct repo *r, const struct oid *id, struct buf *out,
		   size_t max, struct err *err)
{
	int ret = repo_blob_check(r, id, max, err);

	if (!ret)
		buf_add(out, fake_find(id)->text.ptr, fake_find(id)->text.len);
	return ret;
}

int repo_tree_path(struct repo *r, const struct oid *tree, const char *path,
		   struct tree_entry *out, struct err *err)
{
	const struct fake *f;

	(void)r;
	if (find(tree, FAKE_TREE, &f, err) < 0)
		return err->code;
	for (size_t i = 0; i < f->tree.nr; i++)
		if (!strcmp(f->tree.v[i].name, path)) {
			*out = f->tree.v[i];
			out->name = NULL;
			return 0;
		}
	return err_set(err, ERR_NOTFOUND, "there is no '%s'", path);
}

static bool reaches(const struct oid *from, const struct oid *to, int depth)
{
	const struct fake *f = fake_find(from);

	if (oid_eq(from, to))
		return true;
	for (size_t i = 0; f && depth && i < f->nr_parents; i++)
		if (reaches(&f->parent[i], to, depth - 1))
			return true;
	return false;
}

int repo_is_ancestor(struct repo *r, const struct oid *a,
		     const struct oid *b, struct err *err)
{
	(void)r;
	(void)err;
	return reaches(b, a, 10);
}

int repo_ref_read(struct repo *r, const char *name, struct oid *out,
		  struct err *err)
{
	(void)r;
	if (!fakes.nr_known)
		return err_set(err, ERR_NOTFOUND, "there is no '%s'", name);
	*out = fakes.known[0];
	return 0;
}

int repo_ref_each(struct repo *r, const char *prefix,
		  int (*fn)(void *ctx, const char *name,
			    const struct oid *id), void *ctx,
		  struct err *err)
{
	int ret = 0;

	(void)r;
	(void)err;
	for (size_t i = 0; !ret && i < fakes.nr_known; i++) {
		char *name = xasprintf("%sworker-%04zu", prefix, i);

		ret = fn(ctx, name, &fakes.known[i]);
		free(name);
	}
	return ret;
}

bool glob_match(const char *glob, const char *path)
{
	return fnmatch(glob, path, FNM_PATHNAME) == 0;
}

int store_state(struct repo *r, const struct oid *commit,
		const struct kernel *k, struct oid *state, struct err *err)
{
	(void)k;
	return repo_commit_tree(r, commit, state, err);
}

/* ---- what a reader never calls ---- */

static int never(struct err *err)
{
	(void)err;
	abort();
}

void tree_put(struct tree *t, const char *name, const struct oid *id,
	      unsigned mode)
{
	(void)t;
	(void)name;
	(void)id;
	(void)mode;
	abort();
}

int repo_tree_write(struct repo *r, struct tree *t, struct oid *out,
		    struct err *err)
{
	(void)r;
	(void)t;
	(void)out;
	return never(err);
}

int repo_blob_write(struct repo *r, const void *data, size_t len,
		    struct oid *out, struct err *err)
{
	(void)r;
	(void)data;
	(void)len;
	(void)out;
	return never(err);
}

int repo_commit_write(struct repo *r, const struct oid *tree,
		      const struct oid *parents, size_t nr_parents,
		      const char *message, struct oid *out, struct err *err)
{
	(void)r;
	(void)tree;
	(void)parents;
	(void)nr_parents;
	(void)message;
	(void)out;
	return never(err);
}

int repo_ref_cas(struct repo *r, const char *name, const struct oid *old,
		 const struct oid *new, const char *reflog, struct err *err)
{
	(void)r;
	(void)name;
	(void)old;
	(void)new;
	(void)reflog;
	return never(err);
}

int repo_sync(struct repo *r, struct err *err)
{
	(void)r;
	return never(err);
}

int repo_lock(struct repo *r, struct err *err)
{
	(void)r;
	return never(err);
}

void repo_unlock(struct repo *r)
{
	(void)r;
}

const char *repo_gitdir(const struct repo *r)
{
	(void)r;
	return "/nowhere/";
}

void judged_free(struct judged *j)
{
	(void)j;
}

void store_tidy(struct search *s, bool last)
{
	(void)s;
	(void)last;
}

int store_worker(struct repo *r, char **out, struct err *err)
{
	(void)r;
	(void)out;
	return never(err);
}
