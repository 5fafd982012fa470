/* Notes: a tree of any depth whose new texts are texts. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/incoming_parts.h"
#include "core/mem.h"

struct notes_compare {
	struct incoming *in;
	uint32_t notes, trees;
	uint64_t bytes;
	struct buf text;
	struct oidset good;	/* texts: one may stand on many commits */
};

static int bad_entry(const char *hex, size_t used, const struct tree_entry *e,
		     struct err *err)
{
	struct buf clean = BUF_INIT;
	int ret;

	buf_add(&clean, hex, used);
	buf_add_clean(&clean, e->name, strnlen(e->name, 100), false);
	ret = err_set(err, ERR_FORMAT, "'%s' in its tree is no note",
		      clean.ptr);
	buf_release(&clean);
	return ret;
}

static int check_text(struct notes_compare *c, const char *hex,
		      const struct oid *blob, struct err *err)
{
	if (++c->notes > NOTES_MAX)
		return err_set(err, ERR_LIMIT, "it brings more than %u notes",
			       NOTES_MAX);
	if (oidset_has(&c->good, blob))
		return 0;
	buf_reset(&c->text);
	if (repo_blob_read(c->in->repo, blob, &c->text, NOTES_MAX_TEXT,
			   err) < 0)
		return err_set(err, err->code == ERR_LIMIT ? ERR_LIMIT :
			       ERR_FORMAT, "the note on %.12s has more than "
			       "%u bytes, or cannot be read", hex,
			       NOTES_MAX_TEXT);
	c->bytes += c->text.len;
	if (c->bytes > INCOMING_MAX_TEXT)
		return err_set(err, ERR_LIMIT, "it brings more than %llu bytes "
			       "of notes",
			       (unsigned long long)INCOMING_MAX_TEXT);
	if (!incoming_is_text(c->text.ptr, c->text.len))
		return err_set(err, ERR_FORMAT, "the note on %.12s is no text",
			       hex);
	oidset_add(&c->good, blob);
	return 0;
}

static int compare_level(struct notes_compare *c, const struct oid *from,
			 const struct oid *to, char *hex, size_t used,
			 struct err *err);

/* One that the old tree does not have like this. */
static int new_entry(struct notes_compare *c, const struct tree_entry *old,
		     const struct tree_entry *e, char *hex, size_t used,
		     struct err *err)
{
	size_t len = strlen(e->name);

	if (len > OID_HEX - used ||
	    strspn(e->name, "0123456789abcdef") != len)
		return bad_entry(hex, used, e, err);
	memcpy(hex + used, e->name, len + 1);
	if (S_ISREG(e->mode) && used + len == OID_HEX)
		return check_text(c, hex, &e->id, err);
	if (!S_ISDIR(e->mode) || !len || len % 2 || used + len == OID_HEX)
		return bad_entry(hex, used, e, err);
	return compare_level(c, old && S_ISDIR(old->mode) ? &old->id : NULL,
			     &e->id, hex, used + len, err);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct tree_entry *)a)->name,
		      ((const struct tree_entry *)b)->name);
}

static int read_side(struct notes_compare *c, const struct oid *id,
		     struct tree *t, struct err *err)
{
	memset(t, 0, sizeof(*t));
	if (!id)
		return 0;
	if (++c->trees > NOTES_MAX_FOLDERS)
		return err_set(err, ERR_LIMIT, "its tree has more than %u "
			       "folders", NOTES_MAX_FOLDERS);
	if (repo_tree_read(c->in->repo, id, t, err) < 0)
		return err_set(err, err->code == ERR_LIMIT ? ERR_LIMIT :
			       ERR_FORMAT, "its tree %s cannot be read",
			       oid_short(id).s);
	if (t->nr > 1)
		qsort(t->v, t->nr, sizeof(*t->v), by_name);
	return 0;
}

/* hex holds the `used` digits that lead here. */
static int compare_level(struct notes_compare *c, const struct oid *from,
			 const struct oid *to, char *hex, size_t used,
			 struct err *err)
{
	struct tree a, b = { NULL, 0, 0 };
	size_t i = 0;
	int ret = read_side(c, from, &a, err);

	if (!ret)
		ret = read_side(c, to, &b, err);
	if (!ret && !b.nr && used)
		ret = err_set(err, ERR_FORMAT, "its tree has an empty folder "
			      "'%.*s'", (int)used, hex);
	for (size_t k = 0; !ret && k < b.nr; k++) {
		const struct tree_entry *e = &b.v[k], *old = NULL;

		if (k && !strcmp(b.v[k - 1].name, e->name))
			ret = bad_entry(hex, used, e, err);
		while (i < a.nr && strcmp(a.v[i].name, e->name) < 0)
			i++;
		if (i < a.nr && !strcmp(a.v[i].name, e->name))
			old = &a.v[i];
		if (!ret && (!old || old->mode != e->mode ||
			     !oid_eq(&old->id, &e->id)))
			ret = new_entry(c, old, e, hex, used, err);
	}
	tree_release(&a);
	tree_release(&b);
	return ret;
}

static int tip_tree(struct incoming *in, const struct oid *tip,
		    struct oid *tree, struct err *err)
{
	if (repo_commit_tree(in->repo, tip, tree, err) == 0)
		return 0;
	return err_set(err, ERR_FORMAT, "its tip cannot be read: object %s is "
		       "no commit", oid_short(tip).s);
}

int incoming_notes(struct incoming *in, const struct oid *old,
		   const struct oid *new, struct err *err)
{
	struct notes_compare c = { .in = in, .text = BUF_INIT };
	bool had = !oid_is_zero(old);
	char hex[OID_HEX + 1] = "";
	struct oid from, to;
	int ret = tip_tree(in, new, &to, err);

	if (!ret && had) {
		ret = repo_is_ancestor(in->repo, old, new, err);
		if (!ret)
			ret = err_set(err, ERR_FORMAT, "it does not go "
				      "forward: %s does not stand on %s",
				      oid_short(new).s, oid_short(old).s);
		if (ret == 1)
			ret = tip_tree(in, old, &from, err);
	}
	if (!ret && (!had || !oid_eq(&from, &to)))
		ret = compare_level(&c, had ? &from : NULL, &to, hex, 0, err);
	buf_release(&c.text);
	oidset_release(&c.good);
	return ret;
}
