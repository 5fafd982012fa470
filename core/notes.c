#include "core/notes.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/mem.h"


/* ---- reading ---- */

static bool is_hex(const char *s, size_t len)
{
	return strspn(s, "0123456789abcdef") == len;
}

static void add_note(struct notes *n, const struct oid *on,
		     const struct oid *blob)
{
	GROW(n->v, n->nr, n->cap);
	n->v[n->nr].on = *on;
	n->v[n->nr++].blob = *blob;
}

enum entry_kind { ENTRY_OTHER, ENTRY_NOTE, ENTRY_LEVEL };

/* What an entry of a notes tree is, `used` digits down.  hex holds the digits
 * so far and gets those of the entry. */
static enum entry_kind entry_kind(const struct tree_entry *e, char *hex,
				  size_t used)
{
	size_t len = strlen(e->name);

	if (len > OID_HEX - used || !is_hex(e->name, len))
		return ENTRY_OTHER;
	memcpy(hex + used, e->name, len + 1);
	if (S_ISREG(e->mode) && used + len == OID_HEX)
		return ENTRY_NOTE;
	return S_ISDIR(e->mode) && used + len < OID_HEX && len % 2 == 0 ?
		ENTRY_LEVEL : ENTRY_OTHER;
}

/* prefix: only notes whose digits agree with it (NULL: all). */
static int read_level(struct repo *r, const struct oid *tree, char *hex,
		      size_t used, const char *prefix, struct notes *out,
		      struct err *err)
{
	struct tree t;
	struct oid on;
	int ret = repo_tree_read(r, tree, &t, err);

	for (size_t i = 0; !ret && i < t.nr; i++) {
		enum entry_kind kind = entry_kind(&t.v[i], hex, used);
		size_t len = used + strlen(t.v[i].name);

		if (kind == ENTRY_OTHER ||
		    (prefix && strncmp(hex, prefix, len)))
			continue;
		if (kind == ENTRY_LEVEL)
			ret = read_level(r, &t.v[i].id, hex, len, prefix, out,
					 err);
		else if (oid_parse(&on, hex))
			add_note(out, &on, &t.v[i].id);
	}
	tree_release(&t);
	return ret;
}

static int by_on(const void *a, const void *b)
{
	const struct note *x = a, *y = b;
	int c = oid_cmp(&x->on, &y->on);

	return c ? c : oid_cmp(&x->blob, &y->blob);
}

static int read_ref(struct repo *r, const char *ref, const char *prefix,
		    struct notes *out, struct err *err)
{
	char hex[OID_HEX + 1];
	struct oid tip, tree;
	int ret;

	memset(out, 0, sizeof(*out));
	ret = repo_ref_read(r, ref, &tip, err);
	if (ret == ERR_NOTFOUND)
		return 0;
	if (!ret)
		ret = repo_commit_tree(r, &tip, &tree, err);
	if (!ret)
		ret = read_level(r, &tree, hex, 0, prefix, out, err);
	if (ret < 0) {
		notes_release(out);
		return err_wrap(err, "cannot read the notes of '%s'", ref);
	}
	if (out->nr > 1)
		qsort(out->v, out->nr, sizeof(*out->v), by_on);
	return 0;
}

int notes_read(struct repo *r, const char *ref, struct notes *out,
	       struct err *err)
{
	return read_ref(r, ref, NULL, out, err);
}

int notes_get(struct repo *r, const char *ref, const struct oid *on,
	      struct notes *out, struct err *err)
{
	return read_ref(r, ref, oid_text(on).s, out, err);
}

void notes_release(struct notes *n)
{
	free(n->v);
	memset(n, 0, sizeof(*n));
}

/* ---- a batch ---- */

struct change {
	struct oid on;
	bool append;
	struct buf text;
	size_t order;		/* as they were asked for */
};

struct notes_batch {
	struct repo *repo;
	char *ref;
	bool had_tip;
	struct oid tip, tree;	/* tree: only if had_tip */
	struct change *v;
	size_t nr, cap;
	struct oid commit;	/* after notes_write() */
};

int notes_begin(struct repo *r, const char *ref, struct notes_batch **out,
		struct err *err)
{
	struct notes_batch *b = xcalloc(1, sizeof(*b));
	int ret;

	*out = NULL;
	b->repo = r;
	b->ref = xstrdup(ref);
	ret = repo_ref_read(r, ref, &b->tip, err);
	if (!ret) {
		b->had_tip = true;
		ret = repo_commit_tree(r, &b->tip, &b->tree, err);
	}
	if (ret && ret != ERR_NOTFOUND) {
		notes_free(b);
		return err_wrap(err, "cannot read the notes of '%s'", ref);
	}
	if (ret && b->had_tip) {
		notes_free(b);
		return err_set(err, ERR_GIT, "the notes of '%s' are damaged",
			       ref);
	}
	*out = b;
	return 0;
}

static struct change *change_new(struct notes_batch *b, const struct oid *on,
				 bool append)
{
	struct change *c;

	GROW(b->v, b->nr, b->cap);
	c = &b->v[b->nr];
	c->on = *on;
	c->append = append;
	c->order = b->nr++;
	buf_init(&c->text);
	return c;
}

static int too_long(struct err *err, const struct oid *on)
{
	return err_set(err, ERR_LIMIT, "the note on %s would be longer than "
		       "%u bytes", oid_short(on).s, NOTES_MAX_TEXT);
}

int notes_put(struct notes_batch *b, const struct oid *on,
	      const void *text, size_t len, struct err *err)
{
	if (len > NOTES_MAX_TEXT)
		return too_long(err, on);
	buf_add(&change_new(b, on, false)->text, text, len);
	return 0;
}

int notes_append(struct notes_batch *b, const struct oid *on,
		 const char *line, struct err *err)
{
	size_t len = strlen(line);
	struct change *c;

	if (len > NOTES_MAX_TEXT)
		return too_long(err, on);
	c = change_new(b, on, true);
	buf_add(&c->text, line, len);
	if (len && line[len - 1] != '\n')
		buf_addch(&c->text, '\n');
	return 0;
}

/* ---- writing ---- */

/*
 * Takes apart what the tree holds for one bucket: notes go to out, all else
 * stays in keep (a level that holds other things is kept without its notes).
 */
static int split_level(struct notes_batch *b, const struct oid *tree,
		       char *hex, size_t used, struct notes *out,
		       struct tree *keep, struct err *err)
{
	struct tree t;
	struct oid on;
	int ret = repo_tree_read(b->repo, tree, &t, err);

	for (size_t i = 0; !ret && i < t.nr; i++) {
		enum entry_kind kind = entry_kind(&t.v[i], hex, used);
		struct tree sub = { NULL, 0, 0 };
		struct oid id = t.v[i].id;

		if (kind == ENTRY_NOTE && oid_parse(&on, hex)) {
			add_note(out, &on, &id);
			continue;
		}
		if (kind == ENTRY_LEVEL) {
			ret = split_level(b, &id, hex,
					  used + strlen(t.v[i].name), out,
					  &sub, err);
			if (!ret && sub.nr)
				ret = repo_tree_write(b->repo, &sub, &id, err);
		}
		if (!ret && (kind == ENTRY_OTHER || sub.nr))
			tree_put(keep, t.v[i].name, &id, t.v[i].mode);
		tree_release(&sub);
	}
	tree_release(&t);
	return ret;
}

/* A set of JSON lines merges as git's cat_sort_uniq does. */
static bool is_lines(const struct buf *b)
{
	const char *p = b->ptr;

	for (; *p; p += strcspn(p, "\n"), p += *p == '\n')
		if (*p != '{' && *p != '\n')
			return false;
	return strlen(b->ptr) == b->len;
}

static void union_lines(struct buf *a, const struct buf *b)
{
	struct strv lines = STRV_INIT;
	size_t len;

	if (a->len && a->ptr[a->len - 1] != '\n')
		buf_addch(a, '\n');
	buf_add(a, b->ptr, b->len);
	for (const char *p = a->ptr; *p; p += len + (p[len] == '\n')) {
		len = strcspn(p, "\n");
		if (len)
			strv_pushf(&lines, "%.*s", (int)len, p);
	}
	strv_sort(&lines);
	buf_reset(a);
	for (size_t i = 0; i < lines.nr; i++)
		if (!i || strcmp(lines.v[i], lines.v[i - 1]))
			buf_addf(a, "%s\n", lines.v[i]);
	strv_release(&lines);
}

static int blob_text(struct notes_batch *b, const struct note *n,
		     struct buf *out, struct err *err)
{
	buf_reset(out);
	if (repo_blob_read(b->repo, &n->blob, out, NOTES_MAX_TEXT, err) < 0)
		return err_wrap(err, "cannot read the note on %s in '%s'",
				oid_short(&n->on).s, b->ref);
	return 0;
}

/* Two copies of one note, which only other tools leave: lines are united,
 * of other texts the one with the smaller id stays. */
static int fold_copy(struct notes_batch *b, struct note *to,
		     const struct note *other, struct err *err)
{
	struct buf x = BUF_INIT, y = BUF_INIT;
	int ret = 0;

	if (oid_eq(&to->blob, &other->blob))
		return 0;
	ret = blob_text(b, to, &x, err);
	if (!ret)
		ret = blob_text(b, other, &y, err);
	if (!ret && is_lines(&x) && is_lines(&y)) {
		union_lines(&x, &y);
		ret = repo_blob_write(b->repo, x.ptr, x.len, &to->blob, err);
	} else if (!ret && oid_cmp(&other->blob, &to->blob) < 0) {
		to->blob = other->blob;
	}
	buf_release(&x);
	buf_release(&y);
	return ret;
}

static int fold_copies(struct notes_batch *b, struct notes *n,
		       struct err *err)
{
	size_t nr = 0;

	if (n->nr > 1)
		qsort(n->v, n->nr, sizeof(*n->v), by_on);
	for (size_t i = 0; i < n->nr; i++) {
		if (!nr || !oid_eq(&n->v[nr - 1].on, &n->v[i].on))
			n->v[nr++] = n->v[i];
		else if (fold_copy(b, &n->v[nr - 1], &n->v[i], err) < 0)
			return err->code;
	}
	n->nr = nr;
	return 0;
}

static struct note *note_find(struct notes *n, size_t nr,
			      const struct oid *on)
{
	struct note key = { *on, { { 0 } } };
	size_t lo = 0, hi = nr;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		int c = oid_cmp(&n->v[mid].on, &key.on);

		if (!c)
			return &n->v[mid];
		if (c < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return NULL;
}

/* The changes [lo, hi) are all of one note. */
static int apply_note(struct notes_batch *b, size_t lo, size_t hi,
		      const struct note *old, struct oid *blob,
		      struct err *err)
{
	struct buf text = BUF_INIT;
	int ret = 0;

	if (old && b->v[lo].append)
		ret = blob_text(b, old, &text, err);
	for (size_t i = lo; !ret && i < hi; i++) {
		const struct change *c = &b->v[i];

		if (!c->append)
			buf_reset(&text);
		else if (text.len && text.ptr[text.len - 1] != '\n')
			buf_addch(&text, '\n');
		if (!buf_add_max(&text, c->text.ptr, c->text.len,
				 NOTES_MAX_TEXT))
			ret = too_long(err, &c->on);
	}
	if (!ret)
		ret = repo_blob_write(b->repo, text.ptr, text.len, blob, err);
	buf_release(&text);
	return ret;
}

static int apply_changes(struct notes_batch *b, size_t lo, size_t hi,
			 struct notes *n, struct err *err)
{
	size_t sorted = n->nr, i, next;

	for (i = lo; i < hi; i = next) {
		struct note *old = note_find(n, sorted, &b->v[i].on);
		struct oid blob;

		for (next = i + 1; next < hi &&
		     oid_eq(&b->v[next].on, &b->v[i].on); next++)
			;
		if (apply_note(b, i, next, old, &blob, err) < 0)
			return err->code;
		if (old)
			old->blob = blob;
		else
			add_note(n, &b->v[i].on, &blob);
	}
	return 0;
}

static void put_note(struct tree *t, const struct note *n)
{
	struct tree_entry *e;

	GROW(t->v, t->nr, t->cap);	/* no copy is there: no tree_put() */
	e = &t->v[t->nr++];
	e->name = xstrdup(oid_text(&n->on).s + 2);
	e->id = n->blob;
	e->mode = 0100644;
}

/* Moves what root holds of bucket xx into notes and keep. */
static int take_bucket(struct notes_batch *b, struct tree *root,
		       const char *xx, struct notes *n, struct tree *keep,
		       struct err *err)
{
	char hex[OID_HEX + 1];
	size_t nr = 0;
	int ret = 0;

	for (size_t i = 0; i < root->nr; i++) {
		struct tree_entry *e = &root->v[i];
		enum entry_kind kind = entry_kind(e, hex, 0);
		struct oid on;

		if (ret || strncmp(e->name, xx, 2) ||
		    (kind == ENTRY_LEVEL && e->name[2])) {
			root->v[nr++] = *e;
		} else if (kind == ENTRY_NOTE && oid_parse(&on, hex)) {
			add_note(n, &on, &e->id);
			free(e->name);
		} else if (kind == ENTRY_LEVEL) {
			ret = split_level(b, &e->id, hex, 2, n, keep, err);
			free(e->name);
		} else {
			root->v[nr++] = *e;
		}
	}
	root->nr = nr;
	return ret;
}

static int write_bucket(struct notes_batch *b, struct tree *root, size_t lo,
			size_t hi, struct err *err)
{
	struct notes n = { NULL, 0, 0 };
	struct tree keep = { NULL, 0, 0 };
	struct oid id;
	char xx[3];
	int ret;

	memcpy(xx, oid_text(&b->v[lo].on).s, 2);
	xx[2] = '\0';
	ret = take_bucket(b, root, xx, &n, &keep, err);
	if (!ret)
		ret = fold_copies(b, &n, err);
	if (!ret)
		ret = apply_changes(b, lo, hi, &n, err);
	for (size_t i = 0; !ret && i < n.nr; i++)
		put_note(&keep, &n.v[i]);
	if (!ret)
		ret = repo_tree_write(b->repo, &keep, &id, err);
	if (!ret)
		tree_put(root, xx, &id, 040000);
	notes_release(&n);
	tree_release(&keep);
	return ret;
}

static int by_change(const void *a, const void *b)
{
	const struct change *x = a, *y = b;
	int c = oid_cmp(&x->on, &y->on);

	return c ? c : x->order < y->order ? -1 : x->order > y->order;
}

static int write_tree(struct notes_batch *b, struct oid *out, struct err *err)
{
	struct tree root = { NULL, 0, 0 };
	size_t i, next;
	int ret = 0;

	if (b->had_tip)
		ret = repo_tree_read(b->repo, &b->tree, &root, err);
	if (b->nr > 1)
		qsort(b->v, b->nr, sizeof(*b->v), by_change);
	for (i = 0; !ret && i < b->nr; i = next) {
		for (next = i + 1; next < b->nr &&
		     b->v[next].on.id[0] == b->v[i].on.id[0]; next++)
			;
		ret = write_bucket(b, &root, i, next, err);
	}
	if (!ret)
		ret = repo_tree_write(b->repo, &root, out, err);
	tree_release(&root);
	return ret;
}

int notes_write(struct notes_batch *b, struct err *err)
{
	struct oid tree;
	int ret = write_tree(b, &tree, err);

	if (ret < 0)
		return err_wrap(err, "cannot write the notes of '%s'", b->ref);
	b->commit = b->tip;
	if (!b->nr || (b->had_tip && oid_eq(&tree, &b->tree)))
		return 0;
	return repo_commit_write(b->repo, &tree, &b->tip, b->had_tip ? 1 : 0,
				 "Notes added by 'git maxkernel'\n",
				 &b->commit, err);
}

int notes_move(struct notes_batch *b, struct err *err)
{
	if (!b->nr || (b->had_tip && oid_eq(&b->commit, &b->tip)))
		return 0;
	return repo_ref_cas(b->repo, b->ref, b->had_tip ? &b->tip : NULL,
			    &b->commit, "notes: Notes added by "
			    "'git maxkernel'", err);
}

void notes_free(struct notes_batch *b)
{
	if (!b)
		return;
	for (size_t i = 0; i < b->nr; i++)
		buf_release(&b->v[i].text);
	free(b->v);
	free(b->ref);
	free(b);
}
