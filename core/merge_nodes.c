/* The three-way merge of two nodes, over the kernel's files alone. */
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/merge_parts.h"
#include "core/store_parts.h"

void merge_conflicts_release(struct merge_conflicts *c)
{
	for (size_t i = 0; i < c->nr; i++) {
		free(c->v[i].path);
		free(c->v[i].text);
	}
	free(c->v);
	memset(c, 0, sizeof(*c));
}

static bool is_node(struct repo *r, const struct oid *id)
{
	struct buf op = BUF_INIT;
	struct commit c;
	struct err ignored;
	bool yes;

	if (repo_commit_read(r, id, &c, &ignored) < 0)
		return false;
	yes = commit_trailer(c.message, "Maxkernel-Op", &op);
	commit_release(&c);
	buf_release(&op);
	return yes;
}

/*
 * What both came from: git's merge base if that is a node.  Roots that are
 * other commits with equal sources meet somewhere before them or nowhere:
 * then it is the root.
 */
static int find_base(struct search *s, const struct oid *a,
		     const struct oid *b, struct oid *base, struct err *err)
{
	int ret = repo_merge_base(s->repo, a, b, base, err);

	if (ret == ERR_NOTFOUND)
		err->code = ERR_NONE;
	else if (ret < 0)
		return ret;
	if (ret || !is_node(s->repo, base))
		*base = s->spec.root;
	return 0;
}

/* A tree with the files alone that a node may change. */
static int kernel_tree(struct repo *r, const struct srcset *source,
		       struct oid *out, struct err *err)
{
	struct tree empty = { NULL, 0, 0 };
	int ret = repo_tree_write(r, &empty, out, err);

	return ret ? ret : repo_tree_with(r, out, source, true, out, err);
}

static int commit_kernel_tree(struct repo *r, const struct oid *commit,
			      const struct kernel *k, struct oid *out,
			      struct err *err)
{
	struct srcset source = SRCSET_INIT;
	int ret = store_source(r, commit, k, false, &source, err);

	if (!ret)
		ret = kernel_tree(r, &source, out, err);
	srcset_release(&source);
	return ret;
}

struct taking {
	struct repo *r;
	struct srcset *out;
};

static int take_file(void *ctx, const char *path, const struct oid *blob,
		     struct err *err)
{
	struct taking *t = ctx;
	struct buf text = BUF_INIT;
	int ret = repo_blob_read(t->r, blob, &text, SOURCE_MAX_FILE, err);

	if (!ret)
		srcset_put(t->out, path, text.ptr, text.len, true);
	buf_release(&text);
	return ret;
}

/* The merged files, and what is only used as a has it. */
static int take_files(struct search *s, const struct kernel *k,
		      const struct srcset *a, const struct oid *tree,
		      struct srcset *out, struct err *err)
{
	struct taking t = { s->repo, out };

	*out = (struct srcset)SRCSET_INIT;
	for (size_t i = 0; i < a->nr; i++)
		if (!a->v[i].writable)
			srcset_put(out, a->v[i].path, a->v[i].text.ptr,
				   a->v[i].text.len, false);
	return repo_tree_match(s->repo, tree, &k->file, take_file, &t, err);
}

static int merge_files(struct search *s, const struct kernel *k,
		       const struct oid *a, const struct oid *b,
		       struct srcset *out, struct merge_conflicts *conflicts,
		       struct err *err)
{
	struct oid_hex la = oid_short(a), lb = oid_short(b), lo;
	struct merge_labels labels = { .ours = la.s, .theirs = lb.s };
	struct srcset source = SRCSET_INIT;
	struct oid base, tree[3], merged;
	struct tree_conflict *v = NULL;
	size_t nr = 0;
	int ret = find_base(s, a, b, &base, err);

	lo = oid_short(&base);
	labels.base = lo.s;
	if (!ret)
		ret = store_source(s->repo, a, k, false, &source, err);
	if (!ret)
		ret = commit_kernel_tree(s->repo, &base, k, &tree[0], err);
	if (!ret)
		ret = kernel_tree(s->repo, &source, &tree[1], err);
	if (!ret)
		ret = commit_kernel_tree(s->repo, b, k, &tree[2], err);
	if (!ret)
		ret = repo_merge_trees(s->repo, &tree[0], &tree[1], &tree[2],
				       &labels, &merged, &v, &nr, err);
	if (!ret)
		ret = take_files(s, k, &source, &merged, out, err);
	for (size_t i = 0; !ret && i < nr; i++) {
		GROW(conflicts->v, conflicts->nr, conflicts->cap);
		conflicts->v[conflicts->nr++] = (struct merge_conflict){
			xstrdup(v[i].path), xstrdup(v[i].text)
		};
	}
	tree_conflicts_free(v, nr);
	srcset_release(&source);
	return ret ? ret : nr > 0;
}

int merge_nodes(struct search *s, const struct oid *a, const struct oid *b,
		struct srcset *out, struct merge_conflicts *conflicts,
		struct err *err)
{
	struct kernel k;
	int ret;

	*out = (struct srcset)SRCSET_INIT;
	memset(conflicts, 0, sizeof(*conflicts));
	ret = store_spec_kernel(&s->spec, &k, err);
	if (ret < 0)
		return ret;
	ret = merge_files(s, &k, a, b, out, conflicts, err);
	kernel_release(&k);
	if (ret >= 0)
		return ret;
	srcset_release(out);
	merge_conflicts_release(conflicts);
	return err_wrap(err, "cannot merge %s and %s", oid_short(a).s,
			oid_short(b).s);
}
