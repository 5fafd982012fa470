/* What one worker id wrote, under another one too. */
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/oidset.h"
#include "core/store_parts.h"
#include "core/worker.h"

#define MAX_CHAIN 1000000u	/* anchors */

/* ---- a chain under another id ---- */

struct chain {			/* anchors of one worker, newest first */
	struct commit *v;
	size_t nr, cap;
};

static void chain_release(struct chain *c)
{
	for (size_t i = 0; i < c->nr; i++)
		commit_release(&c->v[i]);
	free(c->v);
}

static bool is_anchor_of(const struct commit *c, const char *slug,
			 const char *worker)
{
	struct buf value = BUF_INIT;
	bool is = is_anchor(c->message) &&
		commit_trailer(c->message, "Maxkernel-Search", &value) &&
		!strcmp(value.ptr, slug) &&
		commit_trailer(c->message, "Maxkernel-Worker", &value) &&
		!strcmp(value.ptr, worker);

	buf_release(&value);
	return is;
}

/* An absent ref is an empty chain. */
static int chain_read(struct repo *r, const char *slug, const char *worker,
		      struct chain *out, struct err *err)
{
	char *ref = store_anchor_ref(slug, worker);
	struct oid at;
	int ret = repo_ref_read(r, ref, &at, err);

	memset(out, 0, sizeof(*out));
	free(ref);
	if (ret == ERR_NOTFOUND)
		return 0;
	while (!ret && out->nr < MAX_CHAIN) {
		struct commit c;

		ret = repo_commit_read(r, &at, &c, err);
		if (ret < 0)
			break;
		if (!is_anchor_of(&c, slug, worker)) {
			commit_release(&c);
			break;
		}
		GROW(out->v, out->nr, out->cap);
		out->v[out->nr++] = c;
		if (!c.nr_parents)
			break;
		at = c.parent[0];
	}
	return ret;
}

/* The i-th anchor's parents that are not the anchor before it. */
static size_t first_node(const struct chain *c, size_t i)
{
	return i + 1 < c->nr && c->v[i].nr_parents &&
	       oid_eq(&c->v[i].parent[0], &c->v[i + 1].id);
}

/* What the chain keeps alive: nodes and raw blobs. */
static int add_kept(struct repo *r, const struct chain *c, size_t i,
		    struct oidset *set, bool *new, struct err *err)
{
	struct tree t;
	int ret = repo_tree_read(r, &c->v[i].tree, &t, err);

	*new = false;
	for (size_t k = first_node(c, i); k < c->v[i].nr_parents; k++)
		*new |= oidset_add(set, &c->v[i].parent[k]);
	for (size_t k = 0; !ret && k < t.nr; k++)
		*new |= oidset_add(set, &t.v[k].id);
	tree_release(&t);
	return ret;
}

/* Its trailers, but for those that are of the chain that it stood in. */
static void copy_trailers(const char *message, struct buf *out)
{
	static const char *const skip[] = {
		"Maxkernel-Search:", "Maxkernel-Worker:", "Maxkernel-Pruned:"
	};
	const char *p = strstr(message, "\n\n");

	for (p = p ? p + 2 : ""; *p; p += strcspn(p, "\n"), p += *p == '\n') {
		bool wanted = !strncmp(p, "Maxkernel-", 10);

		for (size_t i = 0; i < ARRAY_SIZE(skip); i++)
			wanted &= strncmp(p, skip[i], strlen(skip[i])) != 0;
		if (wanted)
			buf_addf(out, "%.*s\n", (int)strcspn(p, "\n"), p);
	}
}

/* Writes anchor i of the chain again, behind *tip. */
static int copy_anchor(struct repo *r, const struct chain *c, size_t i,
		       const char *slug, const char *to, unsigned long number,
		       bool has_tip, struct oid *tip, struct err *err)
{
	const struct commit *a = &c->v[i];
	struct oid *parent = xcalloc(a->nr_parents + 1, sizeof(*parent));
	struct buf text = BUF_INIT;
	size_t nr = 0;
	int ret;

	buf_addf(&text, "maxkernel: anchor %lu\n\nMaxkernel-Search: %s\n"
		 "Maxkernel-Worker: %s\n", number, slug, to);
	copy_trailers(a->message, &text);
	if (has_tip)
		parent[nr++] = *tip;
	for (size_t k = first_node(c, i); k < a->nr_parents; k++)
		parent[nr++] = a->parent[k];
	ret = repo_commit_write(r, &a->tree, parent, nr, text.ptr, tip, err);
	buf_release(&text);
	free(parent);
	return ret;
}

static int absorb_chain(struct repo *r, const char *slug, const char *from,
			const char *to, struct err *err)
{
	struct oidset kept = OIDSET_INIT;
	struct chain src, dst;
	struct oid tip = { { 0 } }, old;
	char *ref = store_anchor_ref(slug, to);
	bool new, had;
	int ret = chain_read(r, slug, from, &src, err);

	memset(&dst, 0, sizeof(dst));
	if (!ret)
		ret = chain_read(r, slug, to, &dst, err);
	for (size_t i = dst.nr; i-- && !ret;)
		ret = add_kept(r, &dst, i, &kept, &new, err);
	had = dst.nr > 0;
	if (had)
		tip = dst.v[0].id;
	old = tip;
	for (size_t i = src.nr, n = dst.nr; i-- && !ret;) {
		ret = add_kept(r, &src, i, &kept, &new, err);
		if (!ret && new)
			ret = copy_anchor(r, &src, i, slug, to, ++n,
					  !oid_is_zero(&tip), &tip, err);
	}
	if (!ret && !oid_eq(&tip, &old))
		ret = repo_sync(r, err);
	if (!ret && !oid_eq(&tip, &old))
		ret = repo_ref_cas(r, ref, had ? &old : NULL, &tip,
				   "maxkernel: new worker id", err);
	oidset_release(&kept);
	chain_release(&src);
	chain_release(&dst);
	free(ref);
	return ret;
}

/* ---- notes under another id ---- */

static const struct note *note_on(const struct notes *n, const struct oid *on)
{
	size_t lo = 0, hi = n->nr;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (oid_cmp(&n->v[mid].on, on) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < n->nr && oid_eq(&n->v[lo].on, on) ? &n->v[lo] : NULL;
}

static struct oid line_id(const char *line, size_t len)
{
	struct oid id;

	source_blob_id(line, len, &id);
	return id;
}

/* Adds to out the lines of text that have does not hold. */
static void new_lines(const struct buf *have, const struct buf *text,
		      struct buf *out)
{
	struct oidset known = OIDSET_INIT;
	size_t len;

	for (const char *p = have->ptr; *p; p += len + (p[len] == '\n')) {
		struct oid id;

		len = strcspn(p, "\n");
		id = line_id(p, len);
		oidset_add(&known, &id);
	}
	for (const char *p = text->ptr; *p; p += len + (p[len] == '\n')) {
		struct oid id;

		len = strcspn(p, "\n");
		id = line_id(p, len);
		if (len && oidset_add(&known, &id))
			buf_addf(out, "%.*s\n", (int)len, p);
	}
	oidset_release(&known);
}

static int add_lines(struct notes_batch *b, const struct oid *on,
		     const struct buf *have, const struct buf *text,
		     struct err *err)
{
	struct buf new = BUF_INIT;
	int ret = 0;

	new_lines(have, text, &new);
	if (new.len)
		ret = notes_append(b, on, new.ptr, err);
	buf_release(&new);
	return ret;
}

static int add_note(struct repo *r, struct notes_batch *b,
		    const struct note *n, const struct note *have, bool lines,
		    struct err *err)
{
	struct buf text = BUF_INIT, old = BUF_INIT;
	int ret;

	if (have && (!lines || oid_eq(&have->blob, &n->blob)))
		return 0;
	ret = repo_blob_read(r, &n->blob, &text, NOTES_MAX_TEXT, err);
	if (!ret && !have)
		ret = notes_put(b, &n->on, text.ptr, text.len, err);
	if (!ret && have)
		ret = repo_blob_read(r, &have->blob, &old, NOTES_MAX_TEXT,
				     err);
	if (!ret && have)
		ret = add_lines(b, &n->on, &old, &text, err);
	buf_release(&text);
	buf_release(&old);
	return ret;
}

static int merge_notes(struct repo *r, const char *src, const char *dst,
		       bool lines, struct err *err)
{
	struct notes from = { NULL, 0, 0 }, to = { NULL, 0, 0 };
	struct notes_batch *b = NULL;
	int ret = notes_read(r, src, &from, err);

	if (!ret)
		ret = notes_read(r, dst, &to, err);
	if (!ret)
		ret = notes_begin(r, dst, &b, err);
	for (size_t i = 0; i < from.nr && !ret; i++)
		ret = add_note(r, b, &from.v[i], note_on(&to, &from.v[i].on),
			       lines, err);
	if (!ret)
		ret = notes_write(b, err);
	if (!ret)
		ret = repo_sync(r, err);
	if (!ret)
		ret = notes_move(b, err);
	notes_free(b);
	notes_release(&from);
	notes_release(&to);
	return ret;
}

static int absorb_notes(struct repo *r, const char *slug, const char *kind,
			const char *from, const char *to, struct err *err)
{
	char *src = store_notes_ref(slug, kind, from);
	char *dst = store_notes_ref(slug, kind, to);
	struct oid have, there;
	int ret = repo_ref_read(r, src, &have, err);

	if (!ret) {
		ret = repo_ref_read(r, dst, &there, err);
		if (ret == ERR_NOTFOUND)
			ret = repo_ref_cas(r, dst, NULL, &have, "maxkernel: "
					   "new worker id", err);
		else if (!ret && !oid_eq(&have, &there))
			ret = merge_notes(r, src, dst,
					  strcmp(kind, "plan") != 0, err);
	} else if (ret == ERR_NOTFOUND) {
		ret = 0;
	}
	free(src);
	free(dst);
	return ret;
}

int worker_absorb(struct repo *r, const char *slug, const char *what,
		  const char *from, const char *to, struct err *err)
{
	int ret = repo_lock(r, err);

	if (ret < 0)
		return ret;
	if (!strcmp(what, "w"))
		ret = absorb_chain(r, slug, from, to, err);
	else
		ret = absorb_notes(r, slug, what, from, to, err);
	repo_unlock(r);
	return ret < 0 ? err_wrap(err, "cannot write search '%s' under "
				  "another worker id", slug) : 0;
}
