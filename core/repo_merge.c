/* Three-way merges: commits' bases and trees, by libgit2. */
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/repo_parts.h"

int repo_merge_base(struct repo *r, const struct oid *a, const struct oid *b,
		    struct oid *base, struct err *err)
{
	git_oid id;
	int rc = git_merge_base(&id, r->g, as_git(a), as_git(b));

	if (rc == GIT_ENOTFOUND)
		return err_set(err, ERR_NOTFOUND, "%s and %s have no commit in "
			       "common", oid_short(a).s, oid_short(b).s);
	if (rc < 0)
		return repo_err(err, rc, "cannot look for the merge base of %s "
				"and %s", oid_short(a).s, oid_short(b).s);
	from_git(base, &id);
	return 0;
}

void tree_conflicts_free(struct tree_conflict *v, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		free(v[i].path);
		free(v[i].text);
	}
	free(v);
}

struct merging {
	struct repo *r;
	const struct merge_labels *labels;
	struct tree_conflict **v;
	size_t *nr, cap;
};

/* The text with markers; NULL where one side has no text to show. */
static int conflict_text(struct merging *m, const git_index_entry *base,
			 const git_index_entry *ours,
			 const git_index_entry *theirs, char **out,
			 struct err *err)
{
	git_merge_file_options o;
	git_merge_file_result result;
	int rc;

	*out = NULL;
	if (!ours || !theirs)
		return 0;
	memset(&result, 0, sizeof(result));
	git_merge_file_options_init(&o, GIT_MERGE_FILE_OPTIONS_VERSION);
	o.ancestor_label = m->labels->base;
	o.our_label = m->labels->ours;
	o.their_label = m->labels->theirs;
	o.flags = GIT_MERGE_FILE_STYLE_DIFF3;
	rc = git_merge_file_from_index(&result, m->r->g, base, ours, theirs,
				       &o);
	if (rc < 0)
		return repo_err(err, rc, "cannot merge '%s'", ours->path);
	if (result.ptr && !memchr(result.ptr, '\0', result.len))
		*out = xstrndup(result.ptr, result.len);
	git_merge_file_result_free(&result);
	return 0;
}

static int add_conflict(struct merging *m, const git_index_entry *base,
			const git_index_entry *ours,
			const git_index_entry *theirs, struct err *err)
{
	const git_index_entry *named = ours ? ours : theirs ? theirs : base;
	struct tree_conflict *c;

	GROW(*m->v, *m->nr, m->cap);
	c = &(*m->v)[(*m->nr)++];
	c->path = xstrdup(named->path);
	return conflict_text(m, base, ours, theirs, &c->text, err);
}

/* Takes the conflicts out of the index: their paths stay as ours has them,
 * or theirs where ours has none. */
static int take_conflicts(struct merging *m, git_index *index,
			  struct err *err)
{
	const git_index_entry *base, *ours, *theirs;
	git_index_conflict_iterator *it = NULL;
	int rc = git_index_conflict_iterator_new(&it, index), ret = 0;

	if (rc < 0)
		return repo_err(err, rc, "cannot read the conflicts");
	while (!ret) {
		rc = git_index_conflict_next(&base, &ours, &theirs, it);
		if (rc == GIT_ITEROVER)
			break;
		ret = rc < 0 ? repo_err(err, rc, "cannot read the conflicts") :
			add_conflict(m, base, ours, theirs, err);
	}
	git_index_conflict_iterator_free(it);
	return ret;
}

static int settle_conflict(struct merging *m, git_index *index,
			   const char *path, struct err *err)
{
	const git_index_entry *base, *ours, *theirs;
	git_index_entry e;
	char *name = xstrdup(path);
	int rc = git_index_conflict_get(&base, &ours, &theirs, index, name);

	memset(&e, 0, sizeof(e));
	if (!rc && (ours || theirs)) {
		e.id = ours ? ours->id : theirs->id;
		e.mode = ours ? ours->mode : theirs->mode;
		e.path = name;
	}
	if (!rc)
		rc = git_index_conflict_remove(index, name);
	if (!rc && e.path)
		rc = git_index_add(index, &e);
	free(name);
	return rc < 0 ? repo_err(err, rc, "cannot settle '%s' of %s", path,
				 repo_gitdir(m->r)) : 0;
}

static int merge_trees(struct repo *r, const struct oid *base,
		       const struct oid *ours, const struct oid *theirs,
		       git_index **index, struct err *err)
{
	git_merge_options o;
	git_tree *t[3] = { NULL, NULL, NULL };
	const struct oid *id[3] = { base, ours, theirs };
	int rc = 0;

	git_merge_options_init(&o, GIT_MERGE_OPTIONS_VERSION);
	o.file_flags = GIT_MERGE_FILE_STYLE_DIFF3;
	for (int i = 0; i < 3 && !rc; i++)
		rc = git_tree_lookup(&t[i], r->g, as_git(id[i]));
	if (!rc)
		rc = git_merge_trees(index, r->g, t[0], t[1], t[2], &o);
	for (int i = 0; i < 3; i++)
		git_tree_free(t[i]);
	return rc < 0 ? repo_err(err, rc, "cannot merge trees") : 0;
}

int repo_merge_trees(struct repo *r, const struct oid *base,
		     const struct oid *ours, const struct oid *theirs,
		     const struct merge_labels *labels, struct oid *out,
		     struct tree_conflict **conflicts, size_t *nr,
		     struct err *err)
{
	struct merging m = { r, labels, conflicts, nr, 0 };
	git_index *index = NULL;
	git_oid id;
	int ret, rc;

	*conflicts = NULL;
	*nr = 0;
	ret = merge_trees(r, base, ours, theirs, &index, err);
	if (!ret)
		ret = take_conflicts(&m, index, err);
	for (size_t i = 0; !ret && i < *nr; i++)
		ret = settle_conflict(&m, index, (*conflicts)[i].path, err);
	if (!ret) {
		rc = git_index_write_tree_to(&id, index, r->g);
		if (rc < 0)
			ret = repo_err(err, rc, "cannot write the merged tree");
		else
			from_git(out, &id);
	}
	git_index_free(index);
	if (ret < 0) {
		tree_conflicts_free(*conflicts, *nr);
		*conflicts = NULL;
		*nr = 0;
	}
	return ret;
}
