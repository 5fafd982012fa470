/* Landing branches, and which node a revision stands for. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/git.h"
#include "core/mem.h"
#include "core/store_parts.h"

static char *branch_ref(const char *slug, const char *what)
{
	return xasprintf("refs/heads/maxkernel/%s/%s", slug, what);
}

/* A branch is ours to move if its tip is a landing commit of this search and
 * no one has it checked out. */
static int check_ours(struct search *s, const char *ref,
		      const struct commit *tip, struct err *err)
{
	struct buf value = BUF_INIT;
	bool ours = commit_trailer(tip->message, "Maxkernel-Node", &value) &&
		commit_trailer(tip->message, "Maxkernel-Search", &value) &&
		!strcmp(value.ptr, s->spec.slug) && tip->nr_parents == 1 &&
		oid_eq(&tip->parent[0], &s->spec.base);
	const char *name = ref + strlen("refs/heads/");

	buf_release(&value);
	if (!ours)
		return err_set(err, ERR_GIT, "branch '%s' has commits made by "
			       "hand and stays as it is; rename it to have it "
			       "written anew", name);
	if (repo_branch_in_use(s->repo, ref))
		return err_set(err, ERR_GIT, "branch '%s' is checked out and "
			       "stays as it is", name);
	return 0;
}

/* ---- writing one ---- */

static int landing_tree(struct search *s, const struct oid *node,
			struct oid *out, struct err *err)
{
	struct srcset source;
	struct kernel k;
	struct oid tree;
	int ret = store_spec_kernel(&s->spec, &k, err);

	if (ret < 0)
		return ret;
	ret = store_source(s->repo, node, &k, false, &source, err);
	kernel_release(&k);
	if (ret < 0)
		return ret;
	ret = repo_commit_tree(s->repo, &s->spec.base, &tree, err);
	if (!ret)
		ret = repo_tree_with(s->repo, &tree, &source, true, out, err);
	srcset_release(&source);
	return ret;
}

/* The message with our trailers, if it lacks them. */
static void landing_message(struct search *s, const struct oid *node,
			    const char *message, struct buf *out)
{
	struct buf value = BUF_INIT;
	bool has = commit_trailer(message, "Maxkernel-Node", &value);

	buf_add_clean(out, message, strlen(message), true);
	while (out->len && out->ptr[out->len - 1] == '\n')
		out->ptr[--out->len] = '\0';
	if (!out->len)
		buf_addf(out, "maxkernel: %s", oid_short(node).s);
	if (!has)
		buf_addf(out, "\n\nMaxkernel-Search: %s\nMaxkernel-Node: %s",
			 s->spec.slug, oid_text(node).s);
	buf_addch(out, '\n');
	buf_release(&value);
}

static int land(struct search *s, const char *ref, const struct oid *tree,
		const char *message, struct err *err)
{
	struct commit tip;
	struct oid old, new;
	int ret = repo_ref_read(s->repo, ref, &old, err);
	bool had = ret == 0, same;

	if (ret && ret != ERR_NOTFOUND)
		return ret;
	if (had) {
		if (repo_commit_read(s->repo, &old, &tip, err) < 0)
			return err->code;
		ret = check_ours(s, ref, &tip, err);
		same = oid_eq(&tip.tree, tree) && !strcmp(tip.message,
							  message);
		commit_release(&tip);
		if (ret || same)
			return ret;
	}
	ret = repo_commit_write(s->repo, tree, &s->spec.base, 1, message,
				&new, err);
	if (!ret)
		ret = repo_sync(s->repo, err);
	return ret ? ret : repo_ref_cas(s->repo, ref, had ? &old : NULL, &new,
					"maxkernel: landing commit", err);
}

int store_land(struct search *s, const char *what, const struct oid *node,
	       const char *message, struct err *err)
{
	char *ref = branch_ref(s->spec.slug, what);
	struct buf text = BUF_INIT;
	struct oid tree;
	int ret = repo_lock(s->repo, err);

	if (!ret) {
		landing_message(s, node, message, &text);
		ret = landing_tree(s, node, &tree, err);
		for (int try = 0; !ret && try < 5; try++) {
			ret = land(s, ref, &tree, text.ptr, err);
			if (ret != ERR_RACE)
				break;
			ret = try < 4 ? 0 : ret;
		}
		repo_unlock(s->repo);
	}
	buf_release(&text);
	free(ref);
	return ret;
}

/* ---- taking some away ---- */

struct trim {
	size_t skip;		/* bytes of the prefix */
	long keep;
	struct strv names;
};

static int add_trim(void *ctx, const char *name, const struct oid *id)
{
	struct trim *t = ctx;
	const char *text = name + t->skip;
	char *end;
	long k;

	(void)id;
	errno = 0;
	k = strtol(text, &end, 10);
	if (*text >= '0' && *text <= '9' && !*end && !errno && k >= t->keep)
		strv_push(&t->names, name);
	return 0;
}

static int trim_one(struct search *s, const char *ref, struct err *err)
{
	struct commit tip;
	struct oid old;
	struct err why;
	int ret = repo_ref_read(s->repo, ref, &old, err);

	if (ret == ERR_NOTFOUND)
		return 0;
	if (!ret)
		ret = repo_commit_read(s->repo, &old, &tip, err);
	if (ret < 0)
		return ret;
	ret = check_ours(s, ref, &tip, &why);
	commit_release(&tip);
	if (ret < 0)			/* somebody's: left alone */
		return 0;
	ret = git_ref_delete(s->repo, ref, &old, err);
	return ret == ERR_RACE ? 0 : ret;
}

int store_unland(struct search *s, const char *what, struct err *err)
{
	char *ref = branch_ref(s->spec.slug, what);
	int ret = trim_one(s, ref, err);

	if (!ret)
		err->code = ERR_NONE;
	free(ref);
	return ret;
}

int store_land_trim(struct search *s, const char *device, int keep,
		    struct err *err)
{
	char *what = xasprintf("beam/%s/", device);
	char *prefix = branch_ref(s->spec.slug, what);
	struct trim t = { strlen(prefix), keep, STRV_INIT };
	int ret = repo_ref_each(s->repo, prefix, add_trim, &t, err);

	for (size_t i = 0; !ret && i < t.names.nr; i++)
		ret = trim_one(s, t.names.v[i], err);
	strv_release(&t.names);
	free(prefix);
	free(what);
	return ret;
}

/* ---- revisions ---- */

static int resolve(const struct commit *c, struct oid *node, char **slug)
{
	struct buf value = BUF_INIT, op = BUF_INIT;
	bool found = false;

	if (commit_trailer(c->message, "Maxkernel-Search", &value) &&
	    store_slug_ok(value.ptr)) {
		*slug = xstrdup(value.ptr);
		if (commit_trailer(c->message, "Maxkernel-Node", &value)) {
			found = value.len == OID_HEX &&
				oid_parse(node, value.ptr);
		} else if (commit_trailer(c->message, "Maxkernel-Op", &op)) {
			*node = c->id;
			found = true;
		}
	}
	buf_release(&value);
	buf_release(&op);
	return found ? 0 : ERR_NOTFOUND;
}

int store_resolve(struct repo *r, const char *rev, struct oid *node,
		  char **slug, struct err *err)
{
	struct commit c, n;
	struct err ignored;
	struct oid id;
	int ret = repo_rev(r, rev, &id, err);

	*slug = NULL;
	if (!ret)
		ret = repo_commit_read(r, &id, &c, err);
	if (ret < 0)
		return ret;
	ret = resolve(&c, node, slug);
	commit_release(&c);
	if (!ret) {
		if (repo_commit_read(r, node, &n, &ignored) == 0)
			commit_release(&n);
		else
			ret = err_set(err, ERR_NOTFOUND, "'%s' stands for node "
				      "%s, which is not in this repository",
				      rev, oid_short(node).s);
	} else {
		ret = err_set(err, ERR_NOTFOUND, "'%s' is not a node of a "
			      "search", rev);
	}
	if (ret < 0) {
		free(*slug);
		*slug = NULL;
	}
	return ret;
}
