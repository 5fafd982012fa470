/* Reading notes, and a batch of changes to them. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/mem.h"
#include "core/notes_parts.h"

/* ---- reading ---- */

static bool is_hex(const char *s, size_t len)
{
	return strspn(s, "0123456789abcdef") == len;
}

void notes_add(struct notes *n, const struct oid *on, const struct oid *blob)
{
	GROW(n->v, n->nr, n->cap);
	n->v[n->nr].on = *on;
	n->v[n->nr++].blob = *blob;
}

enum entry_kind notes_kind(const struct tree_entry *e, char *hex,
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

/*
 * prefix: only notes whose digits agree with it (NULL: all).  left: folders
 * that may still be read; a few trees that name each other can stand for more
 * than any memory holds.
 */
static int read_level(struct repo *r, const struct oid *tree, char *hex,
		      size_t used, const char *prefix, uint32_t *left,
		      struct notes *out, struct err *err)
{
	struct tree t;
	struct oid on;
	int ret;

	if (!*left || out->nr > NOTES_MAX)
		return err_set(err, ERR_LIMIT, "more than %u notes or %u "
			       "folders", NOTES_MAX, NOTES_MAX_FOLDERS);
	--*left;
	ret = repo_tree_read(r, tree, &t, err);
	for (size_t i = 0; !ret && i < t.nr; i++) {
		enum entry_kind kind = notes_kind(&t.v[i], hex, used);
		size_t len = used + strlen(t.v[i].name);

		if (kind == ENTRY_OTHER ||
		    (prefix && strncmp(hex, prefix, len)))
			continue;
		if (kind == ENTRY_LEVEL)
			ret = read_level(r, &t.v[i].id, hex, len, prefix,
					 left, out, err);
		else if (oid_parse(&on, hex))
			notes_add(out, &on, &t.v[i].id);
	}
	tree_release(&t);
	return ret;
}

int notes_by_on(const void *a, const void *b)
{
	const struct note *x = a, *y = b;
	int c = oid_cmp(&x->on, &y->on);

	return c ? c : oid_cmp(&x->blob, &y->blob);
}

static int read_ref(struct repo *r, const char *ref, const char *prefix,
		    struct notes *out, struct err *err)
{
	uint32_t left = NOTES_MAX_FOLDERS;
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
		ret = read_level(r, &tree, hex, 0, prefix, &left, out, err);
	if (ret < 0) {
		notes_release(out);
		return err_wrap(err, "cannot read the notes of '%s'", ref);
	}
	if (out->nr > 1)
		qsort(out->v, out->nr, sizeof(*out->v), notes_by_on);
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
	c->remove = false;
	c->order = b->nr++;
	buf_init(&c->text);
	return c;
}

int notes_too_long(struct err *err, const struct oid *on)
{
	return err_set(err, ERR_LIMIT, "the note on %s would be longer than "
		       "%u bytes", oid_short(on).s, NOTES_MAX_TEXT);
}

int notes_put(struct notes_batch *b, const struct oid *on,
	      const void *text, size_t len, struct err *err)
{
	if (len > NOTES_MAX_TEXT)
		return notes_too_long(err, on);
	buf_add(&change_new(b, on, false)->text, text, len);
	return 0;
}

int notes_append(struct notes_batch *b, const struct oid *on,
		 const char *line, struct err *err)
{
	size_t len = strlen(line);
	struct change *c;

	if (len > NOTES_MAX_TEXT)
		return notes_too_long(err, on);
	c = change_new(b, on, true);
	buf_add(&c->text, line, len);
	if (len && line[len - 1] != '\n')
		buf_addch(&c->text, '\n');
	return 0;
}

void notes_remove(struct notes_batch *b, const struct oid *on)
{
	change_new(b, on, false)->remove = true;
	b->removes = true;
}

int notes_write(struct notes_batch *b, struct err *err)
{
	bool empty;
	struct oid tree;
	int ret = notes_tree(b, &tree, &empty, err);

	if (ret < 0)
		return err_wrap(err, "cannot write the notes of '%s'", b->ref);
	memset(&b->commit, 0, sizeof(b->commit));
	if (!b->nr || (b->had_tip ? oid_eq(&tree, &b->tree) : empty))
		return 0;
	return repo_commit_write(b->repo, &tree, &b->tip, b->had_tip ? 1 : 0,
				 b->removes ?
				 "Notes removed by 'git maxkernel'\n" :
				 "Notes added by 'git maxkernel'\n",
				 &b->commit, err);
}

int notes_move(struct notes_batch *b, struct err *err)
{
	if (oid_is_zero(&b->commit))
		return 0;
	return repo_ref_cas(b->repo, b->ref, b->had_tip ? &b->tip : NULL,
			    &b->commit, b->removes ? "notes: Notes removed by "
			    "'git maxkernel'" : "notes: Notes added by "
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
