/* Writing a notes tree: only the levels that a batch touches. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/mem.h"
#include "core/notes_parts.h"

#define NOTES_MANY 64		/* entries of a level that gets levels below */
#define NOTES_FEW 16		/* a level of so few is written flat */

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
		qsort(n->v, n->nr, sizeof(*n->v), notes_by_on);
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

/* The changes [lo, hi) are all of one note; *blob is zero if it goes. */
static int apply_note(struct notes_batch *b, size_t lo, size_t hi,
		      const struct note *old, struct oid *blob,
		      struct err *err)
{
	struct buf text = BUF_INIT;
	bool gone = b->v[hi - 1].remove;
	int ret = 0;

	memset(blob, 0, sizeof(*blob));
	if (old && !gone && b->v[lo].append)
		ret = blob_text(b, old, &text, err);
	for (size_t i = lo; !ret && i < hi; i++) {
		const struct change *c = &b->v[i];

		if (!c->append)
			buf_reset(&text);
		else if (text.len && text.ptr[text.len - 1] != '\n')
			buf_addch(&text, '\n');
		if (!buf_add_max(&text, c->text.ptr, c->text.len,
				 NOTES_MAX_TEXT))
			ret = notes_too_long(err, &c->on);
	}
	if (!ret && !gone)
		ret = repo_blob_write(b->repo, text.ptr, text.len, blob, err);
	buf_release(&text);
	return ret;
}

/* A note that goes keeps its place, with a zero blob. */
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
		else if (!oid_is_zero(&blob))
			notes_add(n, &b->v[i].on, &blob);
	}
	return 0;
}

static void put_entry(struct tree *t, const char *name, const struct oid *id,
		      unsigned mode)
{
	struct tree_entry *e;

	GROW(t->v, t->nr, t->cap);	/* no copy is looked for: no tree_put() */
	e = &t->v[t->nr++];
	e->name = xstrdup(name);
	e->id = *id;
	e->mode = mode;
}

/* Entries of `from`, `used` digits down, that begin with the digits dd go to
 * `to`, two digits less; of a level dd it is what the level holds. */
static int take_below(struct notes_batch *b, struct tree *from, size_t used,
		      const char *dd, struct tree *to, struct err *err)
{
	char hex[OID_HEX + 1];
	struct tree sub = { NULL, 0, 0 };
	size_t nr = 0;
	int ret = 0;

	for (size_t i = 0; i < from->nr; i++) {
		struct tree_entry e = from->v[i];

		if (ret || strncmp(e.name, dd, 2) ||
		    notes_kind(&e, hex, used) == ENTRY_OTHER) {
			from->v[nr++] = e;
			continue;
		}
		if (e.name[2]) {
			put_entry(to, e.name + 2, &e.id, e.mode);
		} else {
			ret = repo_tree_read(b->repo, &e.id, &sub, err);
			for (size_t j = 0; !ret && j < sub.nr; j++)
				put_entry(to, sub.v[j].name, &sub.v[j].id,
					  sub.v[j].mode);
			tree_release(&sub);
		}
		free(e.name);
	}
	from->nr = nr;
	return ret;
}

/*
 * Sorts a level into notes and all else; levels below it are taken apart, too,
 * if deep, and otherwise counted among the else.  A level that holds other
 * things is kept without its notes.
 */
static int split(struct notes_batch *b, const struct tree *t, char *hex,
		 size_t used, bool deep, struct notes *n, struct tree *keep,
		 size_t *nr_levels, struct err *err)
{
	struct oid on;
	int ret = 0;

	for (size_t i = 0; !ret && i < t->nr; i++) {
		const struct tree_entry *e = &t->v[i];
		enum entry_kind kind = notes_kind(e, hex, used);
		struct tree sub = { NULL, 0, 0 }, rest = { NULL, 0, 0 };
		struct oid id = e->id;

		if (kind == ENTRY_NOTE && oid_parse(&on, hex)) {
			notes_add(n, &on, &id);
			continue;
		}
		*nr_levels += kind == ENTRY_LEVEL && !deep;
		if (kind != ENTRY_LEVEL || !deep) {
			put_entry(keep, e->name, &id, e->mode);
			continue;
		}
		ret = repo_tree_read(b->repo, &id, &sub, err);
		if (!ret)
			ret = split(b, &sub, hex, used + strlen(e->name), true,
				    n, &rest, nr_levels, err);
		if (!ret && rest.nr)
			ret = repo_tree_write(b->repo, &rest, &id, err);
		if (!ret && rest.nr)
			tree_put(keep, e->name, &id, e->mode);
		tree_release(&sub);
		tree_release(&rest);
	}
	return ret;
}

static int by_name(const void *a, const void *b)
{
	return strcmp((*(const struct tree_entry *const *)a)->name,
		      (*(const struct tree_entry *const *)b)->name);
}

/* Two levels, one of which had a longer name, may come to one name. */
static bool has_twice(const struct tree *t)
{
	const struct tree_entry **v;
	bool twice = false, rising = true;

	for (size_t i = 1; rising && i < t->nr; i++)
		rising = strcmp(t->v[i - 1].name, t->v[i].name) < 0;
	if (rising)
		return false;
	v = xcalloc(t->nr, sizeof(*v));
	for (size_t i = 0; i < t->nr; i++)
		v[i] = &t->v[i];
	if (t->nr > 1)
		qsort(v, t->nr, sizeof(*v), by_name);
	for (size_t i = 1; i < t->nr; i++)
		twice |= !strcmp(v[i - 1]->name, v[i]->name);
	free(v);
	return twice;
}

static int write_groups(struct notes_batch *b, struct tree *t, size_t used,
			size_t lo, size_t hi, struct err *err);

/*
 * The changes [lo, hi), which have their first `used` digits in common, into
 * the level t.  A level of few entries is written flat, whatever it was; one
 * of many gets levels below, but only for the digits that are touched, so
 * that no batch has to move all that is there.
 */
static int write_level(struct notes_batch *b, struct tree *t, size_t used,
		       size_t lo, size_t hi, struct err *err)
{
	struct notes n = { NULL, 0, 0 };
	struct tree keep = { NULL, 0, 0 };
	char hex[OID_HEX + 1];
	size_t nr_levels = 0;
	bool deep;
	int ret;

	memcpy(hex, oid_text(&b->v[lo].on).s, used);
	ret = split(b, t, hex, used, false, &n, &keep, &nr_levels, err);
	if (nr_levels && (t->nr <= NOTES_FEW || has_twice(&keep))) {
		notes_release(&n);
		tree_release(&keep);
		nr_levels = 0;
		ret = split(b, t, hex, used, true, &n, &keep, &nr_levels, err);
	}
	if (!ret)
		ret = fold_copies(b, &n, err);
	deep = (nr_levels || n.nr + (hi - lo) > NOTES_MANY) &&
	       used + 2 < OID_HEX;
	if (!ret && !deep)
		ret = apply_changes(b, lo, hi, &n, err);
	for (size_t i = 0; !ret && i < n.nr; i++)
		if (!oid_is_zero(&n.v[i].blob))
			put_entry(&keep, oid_text(&n.v[i].on).s + used,
				  &n.v[i].blob, 0100644);
	if (!ret && deep)
		ret = write_groups(b, &keep, used, lo, hi, err);
	tree_release(t);
	*t = keep;
	notes_release(&n);
	return ret;
}

/* Each group of changes with equal next digits into a level of its own. */
static int write_groups(struct notes_batch *b, struct tree *t, size_t used,
			size_t lo, size_t hi, struct err *err)
{
	size_t i, next, at = used / 2;
	int ret = 0;

	for (i = lo; !ret && i < hi; i = next) {
		struct tree sub = { NULL, 0, 0 };
		struct oid id;
		char dd[3] = "";

		for (next = i + 1; next < hi &&
		     b->v[next].on.id[at] == b->v[i].on.id[at]; next++)
			;
		memcpy(dd, oid_text(&b->v[i].on).s + used, 2);
		ret = take_below(b, t, used, dd, &sub, err);
		if (!ret)
			ret = write_level(b, &sub, used + 2, i, next, err);
		if (!ret)
			ret = repo_tree_write(b->repo, &sub, &id, err);
		if (!ret && sub.nr)	/* else all of it went */
			put_entry(t, dd, &id, 040000);
		tree_release(&sub);
	}
	return ret;
}

static int by_change(const void *a, const void *b)
{
	const struct change *x = a, *y = b;
	int c = oid_cmp(&x->on, &y->on);

	return c ? c : x->order < y->order ? -1 : x->order > y->order;
}

int notes_tree(struct notes_batch *b, struct oid *out, bool *empty,
	       struct err *err)
{
	struct tree root = { NULL, 0, 0 };
	int ret = 0;

	if (b->had_tip)
		ret = repo_tree_read(b->repo, &b->tree, &root, err);
	if (b->nr > 1)
		qsort(b->v, b->nr, sizeof(*b->v), by_change);
	if (!ret)
		ret = write_groups(b, &root, 0, 0, b->nr, err);
	if (!ret)
		ret = repo_tree_write(b->repo, &root, out, err);
	*empty = !root.nr;
	tree_release(&root);
	return ret;
}
