#include "cmd/node.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/remote.h"

#define MAX_CANDIDATES 8	/* searches that an error names */

/* ---- a search, loaded ---- */

/* Parses the spec's section; a section that a newer version wrote may not be
 * readable, which costs only what needs the file patterns. */
static void view_section(struct view *v)
{
	const struct spec *spec = &v->search->spec;
	struct buf text = BUF_INIT;
	struct err err = ERR_INIT;

	buf_addstr(&text, "[kernel \"");
	for (const char *p = spec->kernel; *p; p++) {
		if (*p == '"' || *p == '\\')
			buf_addch(&text, '\\');
		buf_addch(&text, *p);
	}
	buf_addf(&text, "\"]\n%s", spec->section);
	if (kernel_file_parse(&v->section, spec->slug, text.ptr, text.len,
			      &err))
		warn("the section of search %s cannot be read: %s",
		     spec->slug, err.msg);
	else if (v->section.nr)
		v->kernel = &v->section.v[0];
	buf_release(&text);
}

static void tell(const struct strv *warnings)
{
	for (size_t i = 0; i < warnings->nr; i++)
		warn_once(warnings->v[i]);
}

int view_open(struct view *v, struct repo *r, const char *slug,
	      struct err *err)
{
	struct strv warnings = STRV_INIT;
	int ret;

	memset(v, 0, sizeof(*v));
	graph_init(&v->graph);
	ret = store_open(r, slug, &v->search, err);
	if (ret)
		return ret;
	ret = store_load(v->search, v->search->spec.device, &v->graph,
			 &warnings, err);
	tell(&warnings);
	strv_release(&warnings);
	if (ret) {
		view_close(v);
		return ret;
	}
	view_section(v);
	return 0;
}

void view_close(struct view *v)
{
	if (v->search)
		store_close(v->search);
	v->search = NULL;
	graph_release(&v->graph);
	kernel_file_release(&v->section);
	v->kernel = NULL;
}

/* ---- naming searches ---- */

int node_searches(struct repo *r, struct spec_list *out, struct err *err)
{
	struct strv warnings = STRV_INIT;
	int ret = store_list(r, out, &warnings, err);

	tell(&warnings);
	strv_release(&warnings);
	return ret;
}

/* The newest search of a kernel, or NULL. */
static const struct spec *newest_of(const struct spec_list *l,
				    const char *kernel)
{
	for (size_t i = 0; i < l->nr; i++)
		if (!strcmp(l->v[i].kernel, kernel))
			return &l->v[i];
	return NULL;
}

/* Names them, as far as they are few. */
static int several(const struct spec_list *l, const char *name, bool kernel,
		   struct err *err)
{
	struct buf names = BUF_INIT;
	size_t nr = 0;

	for (size_t i = 0; i < l->nr; i++) {
		if (kernel ? strcmp(l->v[i].kernel, name) != 0 :
		    strncmp(l->v[i].slug, name, strlen(name)) != 0)
			continue;
		if (nr++ < MAX_CANDIDATES)
			buf_addf(&names, "%s%s", names.len ? ", " : "",
				 l->v[i].slug);
	}
	err_set(err, ERR_USAGE, "'%s' is short for %zu searches: %s%s", name,
		nr, names.ptr, nr > MAX_CANDIDATES ? ", ..." : "");
	buf_release(&names);
	return err->code;
}

static int by_slug(const struct spec_list *l, const char *name,
		   const struct spec **out, struct err *err)
{
	size_t len = strlen(name), nr = 0;

	for (size_t i = 0; len && i < l->nr; i++) {
		if (strncmp(l->v[i].slug, name, len))
			continue;
		*out = &l->v[i];
		if (!l->v[i].slug[len])
			return 0;
		nr++;
	}
	if (nr > 1)
		return several(l, name, false, err);
	return nr ? 0 : err_set(err, ERR_NOTFOUND, "there is no search or "
				"kernel '%s'; see 'git maxkernel status'",
				name);
}

static int find_search(const struct spec_list *l, const char *name,
		       const struct spec **out, struct err *err)
{
	if (!l->nr)
		return err_set(err, ERR_NOTFOUND, "there is no search here");
	if (!name) {
		*out = &l->v[0];
		return 0;
	}
	*out = *name ? newest_of(l, name) : NULL;
	if (*out)
		return 0;
	return by_slug(l, name, out, err);
}

int node_none(struct repo *r, struct err *err)
{
	struct err unused = ERR_INIT;
	char *remote = NULL;

	if (remote_default_fetch(r, &remote, &unused))
		err_set(err, ERR_NOTFOUND, "there is no search here; 'git "
			"maxkernel explore' starts one");
	else
		err_set(err, ERR_NOTFOUND, "there is no search here; 'git "
			"maxkernel pull' fetches those of '%s', 'git "
			"maxkernel explore' starts one", remote);
	free(remote);
	return err->code;
}

int node_search(struct repo *r, const char *name, struct view *out,
		struct err *err)
{
	struct spec_list list = { NULL, 0, 0 };
	const struct spec *spec = NULL;
	int ret = node_searches(r, &list, err);

	if (!ret && !list.nr)
		ret = node_none(r, err);
	if (!ret)
		ret = find_search(&list, name, &spec, err);
	if (!ret)
		ret = view_open(out, r, spec->slug, err);
	spec_list_release(&list);
	return ret;
}

/* A whole slug, a kernel that has one search, the beginning of a slug. */
static int find_one(const struct spec_list *l, const char *name,
		    const struct spec **out, struct err *err)
{
	size_t nr = 0;

	for (size_t i = 0; i < l->nr; i++)
		if (!strcmp(l->v[i].slug, name)) {
			*out = &l->v[i];
			return 0;
		}
	for (size_t i = 0; i < l->nr; i++)
		if (!strcmp(l->v[i].kernel, name)) {
			*out = &l->v[i];
			nr++;
		}
	if (nr > 1)
		return several(l, name, true, err);
	return nr ? 0 : by_slug(l, name, out, err);
}

int node_slug(struct repo *r, const char *name, char **slug, struct err *err)
{
	struct spec_list list = { NULL, 0, 0 };
	const struct spec *spec = NULL;
	int ret = node_searches(r, &list, err);

	*slug = NULL;
	if (!ret && !list.nr)
		ret = node_none(r, err);
	if (!ret)
		ret = find_one(&list, name, &spec, err);
	if (!ret)
		*slug = xstrdup(spec->slug);
	spec_list_release(&list);
	return ret;
}

bool node_names_search(struct repo *r, const char *name)
{
	struct spec_list list = { NULL, 0, 0 };
	const struct spec *spec = NULL;
	struct err err = ERR_INIT;
	bool yes;

	yes = !node_searches(r, &list, &err) &&
	      !find_search(&list, name, &spec, &err);
	spec_list_release(&list);
	return yes;
}

int node_kernels(struct repo *r, struct strv *out, struct err *err)
{
	struct spec_list list = { NULL, 0, 0 };
	int ret = node_searches(r, &list, err);

	for (size_t i = 0; !ret && i < list.nr; i++)
		if (!strv_has(out, list.v[i].kernel))
			strv_push(out, list.v[i].kernel);
	spec_list_release(&list);
	return ret;
}

/* ---- the champion of a kernel ---- */

/* The section that `.maxkernel` has now, or false. */
static bool section_now(struct repo *r, const char *kernel, struct buf *out)
{
	struct kernel_file f = { NULL, 0, 0 };
	struct buf text = BUF_INIT;
	struct err err = ERR_INIT;
	const struct kernel *k = NULL;
	char *path;

	if (!repo_workdir(r))
		return false;
	path = xasprintf("%s%s", repo_workdir(r), KERNEL_FILE);
	if (!buf_read_file(&text, path, KERNEL_MAX_TEXT, &err) &&
	    !kernel_file_parse(&f, KERNEL_FILE, text.ptr, text.len, &err))
		k = kernel_find(&f, kernel);
	if (k)
		buf_add(out, k->text.ptr, k->text.len);
	kernel_file_release(&f);
	buf_release(&text);
	free(path);
	return k != NULL;
}

/* What the champion's searches must be equal to. */
/* Has the search's root the kernel's files as HEAD has them? */
static bool root_is_head(struct repo *r, const struct spec *spec)
{
	struct kernel_file f = { NULL, 0, 0 };
	struct srcset a = SRCSET_INIT, b = SRCSET_INIT;
	struct err unused = ERR_INIT;
	struct oid head, x, y;
	bool same = !repo_head(r, &head, &unused) &&
		    !kernel_section_parse(&f, spec->kernel, spec->section,
					  strlen(spec->section), &unused) &&
		    !store_source(r, &spec->root, &f.v[0], false, &a,
				  &unused) &&
		    !store_source(r, &head, &f.v[0], false, &b, &unused);

	if (same) {
		srcset_state(&a, &x);
		srcset_state(&b, &y);
		same = oid_eq(&x, &y);
	}
	srcset_release(&a);
	srcset_release(&b);
	kernel_file_release(&f);
	return same;
}

static const struct spec *model_of(struct repo *r, const struct spec_list *l,
				   const char *kernel)
{
	const struct spec *found = newest_of(l, kernel), *same = NULL;
	struct buf now = BUF_INIT;

	if (found && section_now(r, kernel, &now)) {
		for (size_t i = 0; i < l->nr; i++) {
			if (strcmp(l->v[i].kernel, kernel) ||
			    strcmp(l->v[i].section, now.ptr))
				continue;
			if (!same)
				same = &l->v[i];
			if (root_is_head(r, &l->v[i])) {
				same = &l->v[i];
				break;
			}
		}
	}
	buf_release(&now);
	return same ? same : found;
}

static bool same_task(const struct spec *a, const struct spec *b)
{
	return !strcmp(a->kernel, b->kernel) &&
	       !strcmp(a->section, b->section) &&
	       !strcmp(a->device, b->device) && oid_eq(&a->root, &b->root);
}

/* Higher is better; root: lowest. */
static double claim(const struct view *v)
{
	const struct node *n = &v->graph.node[v->graph.champion];

	if (!v->graph.champion || !n->confirmed)
		return -INFINITY;
	return isfinite(n->rec.ci_low) ? n->rec.ci_low : 0;
}

static int best_of(struct repo *r, const struct spec_list *l,
		   const struct spec *model, struct view *out,
		   struct err *err)
{
	struct view v;
	int ret = view_open(out, r, model->slug, err);

	for (size_t i = 0; !ret && i < l->nr; i++) {
		if (&l->v[i] == model || !same_task(&l->v[i], model))
			continue;
		ret = view_open(&v, r, l->v[i].slug, err);
		if (ret) {
			view_close(out);
			return ret;
		}
		if (claim(&v) > claim(out)) {
			view_close(out);
			*out = v;
		} else {
			view_close(&v);
		}
	}
	return ret;
}

int node_best(struct repo *r, const char *kernel, struct view *out,
	      uint32_t *idx, struct err *err)
{
	struct spec_list list = { NULL, 0, 0 };
	const struct spec *model = NULL;
	int ret = node_searches(r, &list, err);

	if (!ret)
		model = model_of(r, &list, kernel);
	if (!ret && !model)
		ret = err_set(err, ERR_NOTFOUND, "there is no search of "
			      "kernel '%s'; start one with `git maxkernel "
			      "explore %s'", kernel, kernel);
	if (!ret)
		ret = best_of(r, &list, model, out, err);
	spec_list_release(&list);
	if (ret)
		return ret;
	*idx = claim(out) > -INFINITY ? out->graph.champion : 0;
	return *idx != 0;
}

/* ---- naming nodes ---- */

static int champion(struct view *v, uint32_t idx, const char *name,
		    uint32_t *out, struct err *err)
{
	if (idx) {
		*out = idx;
		return 0;
	}
	err_set(err, ERR_NOTFOUND, "'%s': search %s has no confirmed node yet",
		name, v->search->spec.slug);
	view_close(v);
	return err->code;
}

/* <kernel> or <search>, at "best" or "root". */
static int find_named(struct repo *r, const char *name, bool root,
		      struct view *out, uint32_t *idx, struct err *err)
{
	struct spec_list list = { NULL, 0, 0 };
	const struct spec *spec = NULL;
	bool kernel;
	int ret = node_searches(r, &list, err);

	if (!ret)
		ret = find_search(&list, name, &spec, err);
	kernel = !ret && !strcmp(spec->kernel, name);
	if (!ret && !kernel)
		ret = view_open(out, r, spec->slug, err);
	spec_list_release(&list);
	if (ret)
		return ret;
	if (kernel) {
		ret = node_best(r, name, out, idx, err);
		if (ret < 0)
			return ret;
	} else {
		*idx = claim(out) > -INFINITY ? out->graph.champion : 0;
	}
	if (root) {
		*idx = 0;
		return 0;
	}
	return champion(out, *idx, name, idx, err);
}

/* The user's own commit may be the root of a search. */
static int find_root(struct repo *r, const struct oid *commit,
		     struct view *out, uint32_t *idx, struct err *err)
{
	struct spec_list list = { NULL, 0, 0 };
	int ret = node_searches(r, &list, err);
	size_t i;

	for (i = 0; !ret && i < list.nr; i++)
		if (oid_eq(&list.v[i].root, commit))
			break;
	if (!ret && i == list.nr)
		ret = err_set(err, ERR_NOTFOUND, "commit %s is not a node of "
			      "any search", oid_short(commit).s);
	if (!ret)
		ret = view_open(out, r, list.v[i].slug, err);
	spec_list_release(&list);
	*idx = 0;
	return ret;
}

static int find_commit(struct repo *r, const struct oid *node,
		       const char *slug, struct view *out, uint32_t *idx,
		       struct err *err)
{
	int ret = view_open(out, r, slug, err);

	if (ret == ERR_NOTFOUND)	/* united with one that is here? */
		return node_united(r, node, out, idx, err);
	if (ret)
		return ret;
	*idx = graph_find(&out->graph, node);
	if (*idx != NODE_NONE)
		return 0;
	view_close(out);
	return err_set(err, ERR_NOTFOUND, "commit %s says that it is of "
		       "search %s, but that search does not have it",
		       oid_short(node).s, slug);
}

/* 1: no node of ours, *err says why. */
static int find_rev(struct repo *r, const char *name, struct view *out,
		    uint32_t *idx, struct err *err)
{
	struct oid node;
	char *slug = NULL;
	int ret = store_resolve(r, name, &node, &slug, err);

	if (!ret)
		ret = find_commit(r, &node, slug, out, idx, err);
	free(slug);
	if (ret != ERR_NOTFOUND)
		return ret;
	if (repo_rev(r, name, &node, err))
		return 1;
	ret = find_root(r, &node, out, idx, err);
	return ret == ERR_NOTFOUND ? 1 : ret;
}

int node_find(struct repo *r, const char *name, struct view *out,
	      uint32_t *idx, struct err *err)
{
	size_t len = strlen(name);
	const char *at = strrchr(name, '@');
	struct err why = ERR_INIT;
	char *head;
	int ret;

	if (at && at != name && (!strcmp(at, "@best") || !strcmp(at, "@root"))) {
		head = xstrndup(name, len - 5);
		ret = find_named(r, head, at[1] == 'r', out, idx, err);
		free(head);
		return ret;
	}
	ret = find_rev(r, name, out, idx, &why);
	if (ret <= 0) {
		*err = why;
		return ret;
	}
	if (node_names_search(r, name))
		return find_named(r, name, false, out, idx, err);
	return err_set(err, ERR_NOTFOUND, "'%.100s' names no node: %.800s",
		       name, why.msg);
}
