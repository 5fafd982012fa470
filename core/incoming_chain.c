/* The rules of an anchor chain: what its commits are and how they hang
 * together. */
#include <stdlib.h>
#include <string.h>

#include "core/incoming_parts.h"
#include "core/mem.h"
#include "core/prune.h"

static int add_known(void *ctx, const char *name, const struct oid *id)
{
	struct strv *tips = ctx;

	(void)name;
	strv_push(tips, oid_text(id).s);
	return 0;
}

/* What this repository has of the search was accepted earlier. */
static int start_known(struct walk *w, const struct oid *old,
		       const struct oid *new, struct err *err)
{
	char *prefix = store_anchor_ref(w->in->slug, NULL);
	struct strv tips = STRV_INIT;
	struct oid id;
	int ret = repo_ref_each(w->in->repo, prefix, add_known, &tips, err);

	for (size_t i = 0; !ret && i < tips.nr; i++)
		if (oid_parse(&id, tips.v[i]))
			ret = walk_tip(w, &id, true, err);
	if (!ret && !oid_is_zero(old))
		ret = walk_tip(w, old, true, err);
	if (!ret)
		ret = walk_tip(w, new, false, err);
	strv_release(&tips);
	free(prefix);
	return ret;
}

/* ---- the tip ---- */

static int check_is(const struct commit *c, const char *key, const char *want,
		    struct err *err)
{
	struct buf b = BUF_INIT, clean = BUF_INIT;
	bool has = commit_trailer(c->message, key, &b);
	int ret = 0;

	buf_add_clean(&clean, b.ptr, b.len < 100 ? b.len : 100, false);
	if (!has)
		ret = err_set(err, ERR_FORMAT, "anchor %s has no %s",
			      oid_short(&c->id).s, key);
	else if (b.len != strlen(want) || memcmp(b.ptr, want, b.len))
		ret = err_set(err, ERR_FORMAT, "anchor %s is of '%s', not of "
			      "'%s' (%s)", oid_short(&c->id).s, clean.ptr,
			      want, key);
	buf_release(&b);
	buf_release(&clean);
	return ret;
}

/* The tip says whose it is; below may be the chain of an earlier id of the
 * same clone, or of a search that was united. */
static int check_tip(struct incoming *in, const char *worker,
		     const struct oid *new, struct err *err)
{
	struct commit c;
	int ret = repo_commit_read(in->repo, new, &c, err);

	if (ret < 0)
		return ret == ERR_LIMIT ? ret :
			err_set(err, ERR_FORMAT, "its tip cannot be read: "
				"object %s is no commit", oid_short(new).s);
	if (!is_anchor(c.message))
		ret = err_set(err, ERR_FORMAT, "commit %s is not an anchor",
			      oid_short(new).s);
	if (!ret)
		ret = check_is(&c, "Maxkernel-Search", in->slug, err);
	if (!ret)
		ret = check_is(&c, "Maxkernel-Worker", worker, err);
	commit_release(&c);
	return ret;
}

/* ---- what hangs on what ---- */

static int check_node(struct walk *w, const struct seen *s, struct err *err)
{
	const struct seen *first = NULL;
	struct oid from;

	for (uint32_t i = 0; i < s->nr_parents; i++) {
		const struct oid *id = &w->parent[s->parent + i];
		const struct seen *p = walk_find(w, id);

		if (!p || (p->kind != KIND_ROOT && p->kind != KIND_NODE))
			return err_set(err, ERR_FORMAT, "node %s does not "
				       "descend from the base of search '%s': "
				       "its parent %s is no node of it",
				       oid_short(&s->id).s, w->in->slug,
				       oid_short(id).s);
		first = first ? first : p;
	}
	from = first->tree;
	if (oid_is_zero(&from) &&
	    repo_commit_tree(w->in->repo, &first->id, &from, err) < 0)
		return err_wrap(err, "node %s", oid_short(&s->id).s);
	return incoming_node_tree(w->in, &s->id, &from, &s->tree, err);
}

static int check_anchor(struct walk *w, const struct seen *s, struct err *err)
{
	for (uint32_t i = 0; i < s->nr_parents; i++) {
		const struct oid *id = &w->parent[s->parent + i];
		const struct seen *p = walk_find(w, id);

		if (!p || p->kind == KIND_OTHER)
			return err_set(err, ERR_FORMAT, "anchor %s holds "
				       "commit %s, which is neither a node nor "
				       "an anchor of search '%s'",
				       oid_short(&s->id).s, oid_short(id).s,
				       w->in->slug);
	}
	return incoming_anchor_tree(w->in, &s->id, &s->tree, err);
}

static int check_new(struct walk *w, size_t *nodes, struct err *err)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < w->nr; i++) {
		const struct seen *s = &w->v[i];

		if (s->known)
			continue;
		*nodes += s->kind == KIND_NODE;
		if (s->kind == KIND_NODE)
			ret = check_node(w, s, err);
		else if (s->kind == KIND_ANCHOR)
			ret = check_anchor(w, s, err);
	}
	return ret;
}

/* ---- only forward, or pruned ---- */

static int check_forward(struct incoming *in, const struct oid *old,
			 const struct oid *new, struct err *err)
{
	int ret;

	if (oid_is_zero(old))
		return 0;
	ret = repo_is_ancestor(in->repo, old, new, err);
	if (!ret)
		ret = prune_replaces(in->repo, old, new, err);
	if (ret)
		return ret < 0 ? ret : 0;
	return err_set(err, ERR_FORMAT, "it does not go forward: anchor %s "
		       "does not stand on %s, nor was that chain pruned to "
		       "it", oid_short(new).s, oid_short(old).s);
}

/* ---- the whole ---- */

static void pass(struct walk *w)
{
	for (size_t i = 0; i < w->nr; i++)
		if (w->v[i].kind == KIND_NODE || w->v[i].kind == KIND_ANCHOR)
			oidset_add(&w->in->passed, &w->v[i].id);
}

int incoming_chain(struct incoming *in, const char *worker,
		   const struct oid *old, const struct oid *new,
		   size_t *nodes, struct err *err)
{
	struct walk w;
	int ret = check_tip(in, worker, new, err);

	if (ret < 0)
		return ret;
	walk_init(&w, in);
	ret = start_known(&w, old, new, err);
	if (!ret)
		ret = walk_run(&w, err);
	if (!ret)
		ret = check_new(&w, nodes, err);
	if (!ret)
		ret = check_forward(in, old, new, err);
	if (!ret)
		pass(&w);
	walk_release(&w);
	return ret;
}
