/*
 * The anchor chain of our worker, written anew without the nodes that were
 * dropped.  Plain anchors are joined; one that says more (that it unites a
 * search) stays one of its own, with its message.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/mem.h"
#include "core/prune_parts.h"

#define ANCHOR_PARENTS 256u
#define ANCHOR_BLOBS 1024u

struct chain {
	struct search *s;
	const struct oidset *gone, *gone_raw;
	struct oid *at;		/* the old anchors, newest first */
	size_t nr, cap;
	struct strv tips;	/* what the new one replaces, newest first */
	/* the anchor being put together */
	struct oid *parent;
	size_t nr_parents, cap_parents;
	struct tree tree;
	/* what is written */
	struct oid tip;
	unsigned long number;	/* of the anchor at tip; 0: none yet */
};

static bool trailer_is(const char *message, const char *key, const char *want)
{
	struct buf b = BUF_INIT;
	bool same = commit_trailer(message, key, &b) && !strcmp(b.ptr, want);

	buf_release(&b);
	return same;
}

static bool is_link(const struct search *s, const struct commit *c)
{
	return is_anchor(c->message) &&
	       trailer_is(c->message, "Maxkernel-Search", s->spec.slug) &&
	       trailer_is(c->message, "Maxkernel-Worker", s->worker);
}

static void add_tip(void *ctx, const char *value, size_t len)
{
	struct oid id;

	if (len == OID_HEX && oid_parse(&id, value))
		strv_push(ctx, oid_text(&id).s);
}

/* Its first parent, if that is an anchor before it. */
static int previous(struct search *s, const struct commit *c, bool *has,
		    struct err *err)
{
	struct commit p;

	*has = false;
	if (!c->nr_parents)
		return 0;
	if (repo_commit_read(s->repo, &c->parent[0], &p, err) < 0)
		return err->code;
	*has = is_link(s, &p);
	commit_release(&p);
	return 0;
}

/* ---- the old chain ---- */

/* Earlier tips stay named, behind (that is, before) the newest. */
static void take_tips(struct chain *ch, const char *first)
{
	struct strv older = STRV_INIT;

	for (size_t i = 0; i < ch->nr && ch->tips.nr < PRUNE_MAX_TIPS; i++)
		strv_push(&ch->tips, oid_text(&ch->at[i]).s);
	prune_trailers(first, PRUNE_TRAILER, add_tip, &older);
	for (size_t i = older.nr; i-- && ch->tips.nr < PRUNE_MAX_TIPS;)
		strv_push(&ch->tips, older.v[i]);
	strv_release(&older);
}

static int read_chain(struct chain *ch, const struct oid *tip,
		      struct err *err)
{
	struct oid at = *tip;
	bool more = true;

	while (more) {
		struct commit c;
		int ret = repo_commit_read(ch->s->repo, &at, &c, err);

		if (ret < 0)
			return ret;
		if (!ch->nr && !is_link(ch->s, &c))
			ret = err_set(err, ERR_GIT, "the tip of our chain is "
				      "not an anchor of ours");
		else if (ch->nr >= PRUNE_MAX_ANCHORS)
			ret = err_set(err, ERR_LIMIT, "a chain of more than "
				      "%u anchors", PRUNE_MAX_ANCHORS);
		else
			ret = previous(ch->s, &c, &more, err);
		if (!ret) {
			GROW(ch->at, ch->nr, ch->cap);
			ch->at[ch->nr++] = at;
			if (more)
				at = c.parent[0];
			else
				take_tips(ch, c.message);
		}
		commit_release(&c);
		if (ret < 0)
			return ret;
	}
	return 0;
}

/* ---- the new one ---- */

static void add_pruned(struct chain *ch, struct buf *message)
{
	for (size_t i = ch->tips.nr; i--;)
		buf_addf(message, PRUNE_TRAILER ": %s\n", ch->tips.v[i]);
}

/* One anchor over what was put together; message NULL: a plain one. */
static int flush(struct chain *ch, const char *message, struct err *err)
{
	struct oid *parent = xcalloc(ch->nr_parents + 1, sizeof(*parent));
	struct buf text = BUF_INIT;
	size_t nr = 0;
	struct oid tree;
	int ret;

	if (ch->number)
		parent[nr++] = ch->tip;
	for (size_t i = 0; i < ch->nr_parents; i++)
		parent[nr++] = ch->parent[i];
	if (message)
		buf_addstr(&text, message);
	else
		buf_addf(&text, "maxkernel: anchor %lu\n\nMaxkernel-Search: %s\n"
			 "Maxkernel-Worker: %s\n", ch->number + 1,
			 ch->s->spec.slug, ch->s->worker);
	if (!ch->number)
		add_pruned(ch, &text);
	ret = repo_tree_write(ch->s->repo, &ch->tree, &tree, err);
	if (!ret)
		ret = repo_commit_write(ch->s->repo, &tree, parent, nr,
					text.ptr, &ch->tip, err);
	ch->number++;
	ch->nr_parents = 0;
	tree_release(&ch->tree);
	memset(&ch->tree, 0, sizeof(ch->tree));
	buf_release(&text);
	free(parent);
	return ret;
}

static bool is_empty(const struct chain *ch)
{
	return !ch->nr_parents && !ch->tree.nr;
}

/* The message of an anchor that says more than a plain one, without the
 * tips that an earlier pruning named; NULL: it is plain. */
static char *special(const char *message)
{
	struct buf b = BUF_INIT;
	bool more = false;
	size_t len;

	for (const char *p = message; *p; p += len + (p[len] == '\n')) {
		len = strcspn(p, "\n");
		if (!strncmp(p, PRUNE_TRAILER ":", strlen(PRUNE_TRAILER ":")))
			continue;
		buf_addf(&b, "%.*s\n", (int)len, p);
		more |= len && !is_anchor(p) &&
			strncmp(p, "Maxkernel-Search:", 17) &&
			strncmp(p, "Maxkernel-Worker:", 17);
	}
	if (more)
		return buf_detach(&b);
	buf_release(&b);
	return NULL;
}

static int take_tree(struct chain *ch, const struct oid *id, struct err *err)
{
	struct tree t;
	int ret = repo_tree_read(ch->s->repo, id, &t, err);

	for (size_t i = 0; !ret && i < t.nr; i++)
		if (!oidset_has(ch->gone_raw, &t.v[i].id))
			tree_put(&ch->tree, t.v[i].name, &t.v[i].id,
				 t.v[i].mode);
	tree_release(&t);
	return ret;
}

static int take_anchor(struct chain *ch, const struct oid *id, bool has_prev,
		       struct err *err)
{
	struct commit c;
	char *message;
	int ret = repo_commit_read(ch->s->repo, id, &c, err);

	if (ret < 0)
		return ret;
	message = special(c.message);
	if (!is_empty(ch) && (message || ch->tree.nr >= ANCHOR_BLOBS ||
			      ch->nr_parents + c.nr_parents > ANCHOR_PARENTS))
		ret = flush(ch, NULL, err);
	for (size_t i = has_prev; !ret && i < c.nr_parents; i++) {
		if (oidset_has(ch->gone, &c.parent[i]))
			continue;
		GROW(ch->parent, ch->nr_parents, ch->cap_parents);
		ch->parent[ch->nr_parents++] = c.parent[i];
	}
	if (!ret)
		ret = take_tree(ch, &c.tree, err);
	if (!ret && message)
		ret = flush(ch, message, err);
	free(message);
	commit_release(&c);
	return ret;
}

static int write_chain(struct chain *ch, struct err *err)
{
	int ret = 0;

	for (size_t i = ch->nr; !ret && i--;)
		ret = take_anchor(ch, &ch->at[i], i + 1 < ch->nr, err);
	if (!ret && (!ch->number || !is_empty(ch)))
		ret = flush(ch, NULL, err);
	return ret;
}

int prune_chain(struct search *s, const struct oidset *gone,
		const struct oidset *gone_raw, struct err *err)
{
	struct chain ch = { .s = s, .gone = gone, .gone_raw = gone_raw };
	char *ref = store_anchor_ref(s->spec.slug, s->worker);
	struct oid old;
	int ret = repo_ref_read(s->repo, ref, &old, err);

	if (!ret)
		ret = read_chain(&ch, &old, err);
	if (!ret)
		ret = write_chain(&ch, err);
	if (!ret)
		ret = repo_sync(s->repo, err);
	if (!ret)
		ret = repo_ref_cas(s->repo, ref, &old, &ch.tip,
				   "maxkernel: pruned", err);
	tree_release(&ch.tree);
	strv_release(&ch.tips);
	free(ch.parent);
	free(ch.at);
	free(ref);
	return ret;
}
