#include "core/incoming.h"

#include <stdlib.h>
#include <string.h>

#include "core/incoming_parts.h"
#include "core/json.h"
#include "core/lease.h"
#include "core/mem.h"

#define LEASE_MAX_MESSAGE 1024

/* ---- names ---- */

struct ref_name {
	char *slug;		/* owned */
	const char *rest;	/* behind the slug and its slash */
	bool notes, branch;
};

static bool ref_split(const char *ref, struct ref_name *out)
{
	static const struct {
		const char *prefix;
		bool notes, branch;
	} spaces[] = {
		{ "refs/maxkernel/", false, false },
		{ "refs/notes/maxkernel/", true, false },
		{ "refs/heads/maxkernel/", false, true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(spaces); i++) {
		size_t len = strlen(spaces[i].prefix);
		const char *slash;

		if (strncmp(ref, spaces[i].prefix, len))
			continue;
		slash = strchr(ref + len, '/');
		if (!slash)
			return false;
		out->slug = xstrndup(ref + len, (size_t)(slash - ref) - len);
		out->rest = slash + 1;
		out->notes = spaces[i].notes;
		out->branch = spaces[i].branch;
		if (store_slug_ok(out->slug))
			return true;
		free(out->slug);
		return false;
	}
	return false;
}

char *incoming_slug(const char *ref)
{
	struct ref_name n;

	return ref_split(ref, &n) ? n.slug : NULL;
}

/* ---- the rules of one search ---- */

static int check_spec(struct incoming *in, struct err *err)
{
	struct commit root;
	int ret = store_spec_kernel(&in->spec, &in->kernel, err);

	if (ret < 0)
		return ret;
	in->has_kernel = true;
	ret = repo_commit_read(in->repo, &in->spec.root, &root, err);
	if (ret < 0)
		return ret;
	if (!oid_eq(&in->spec.root, &in->spec.base) &&
	    (root.nr_parents != 1 ||
	     !oid_eq(&root.parent[0], &in->spec.base)))
		ret = err_set(err, ERR_FORMAT, "its root %s does not stand on "
			      "its base", oid_short(&in->spec.root).s);
	commit_release(&root);
	return ret ? ret : store_state(in->repo, &in->spec.root, &in->kernel,
				       &in->root_state, err);
}

int incoming_begin(struct repo *r, const char *slug, const struct oid *spec,
		   struct incoming **out, struct err *err)
{
	struct incoming *in = xcalloc(1, sizeof(*in));
	int ret;

	*out = NULL;
	in->repo = r;
	in->slug = xstrdup(slug);
	in->spec_commit = *spec;
	ret = store_slug_ok(slug) ? 0 :
		err_set(err, ERR_FORMAT, "it is not the name of a search");
	if (!ret)
		ret = store_spec_at(r, slug, spec, &in->spec, err);
	if (!ret)
		ret = check_spec(in, err);
	if (!ret) {
		*out = in;
		return 0;
	}
	incoming_end(in);
	if (ret != ERR_LIMIT && ret != ERR_SYS)
		err->code = ERR_FORMAT;
	return err_wrap(err, "commit %s is no spec of search '%.*s'",
			oid_short(spec).s, STORE_MAX_SLUG, slug);
}

void incoming_end(struct incoming *in)
{
	if (!in)
		return;
	if (in->has_kernel)
		kernel_release(&in->kernel);
	spec_release(&in->spec);
	oidset_release(&in->passed);
	oidset_release(&in->raws);
	free(in->slug);
	free(in);
}

/* ---- leases ---- */

static int lease_text(const struct commit *c, const char *key,
		      struct err *err)
{
	const char *w = NULL, *k = NULL, *nonce = NULL;
	int64_t ttl = 0;
	struct json *j;
	int ret = json_parse_object(&j, c->message, strlen(c->message), err);

	if (ret < 0)
		return ret;
	ret = json_need_str(j, "w", 64, &w, err);
	if (!ret)
		ret = json_need_str(j, "key", LEASE_MAX_KEY, &k, err);
	if (!ret)
		ret = json_need_str(j, "nonce", 100, &nonce, err);
	if (!ret)
		ret = json_need_int(j, "ttl", LEASE_MIN_TTL_S,
				    LEASE_MAX_TTL_S, &ttl, err);
	if (!ret && !store_word_ok(w))
		ret = err_set(err, ERR_FORMAT, "'w' is not a worker");
	if (!ret && strcmp(k, key))
		ret = err_set(err, ERR_FORMAT, "'key' is not that of the ref");
	json_free(j);
	return ret;
}

static int check_lease(struct incoming *in, const char *key,
		       const struct oid *new, struct err *err)
{
	size_t len = strlen(key);
	struct commit c;
	struct tree t;
	int ret;

	if (!len || len > LEASE_MAX_KEY ||
	    strspn(key, "abcdefghijklmnopqrstuvwxyz0123456789._-") != len)
		return err_set(err, ERR_FORMAT, "it is no lease's name");
	if (repo_commit_read(in->repo, new, &c, err) < 0)
		return err_set(err, ERR_FORMAT, "object %s is no commit",
			       oid_short(new).s);
	ret = repo_tree_read(in->repo, &c.tree, &t, err);
	if (!ret && t.nr)
		ret = err_set(err, ERR_FORMAT, "lease %s holds files",
			      oid_short(new).s);
	tree_release(&t);
	if (!ret && c.nr_parents)
		ret = err_set(err, ERR_FORMAT, "lease %s has parents",
			      oid_short(new).s);
	if (!ret && strlen(c.message) > LEASE_MAX_MESSAGE)
		ret = err_set(err, ERR_LIMIT, "lease %s has a message of more "
			      "than %d bytes", oid_short(new).s,
			      LEASE_MAX_MESSAGE);
	if (!ret && lease_text(&c, key, err) < 0)
		ret = err_wrap(err, "lease %s", oid_short(new).s);
	commit_release(&c);
	return ret;
}

/* ---- which rule ---- */

static int check_spec_ref(struct incoming *in, const struct oid *old,
			  const struct oid *new, struct err *err)
{
	if (!oid_is_zero(old) && !oid_eq(old, new))
		return err_set(err, ERR_FORMAT, "the spec of a search is "
			       "written once, and this one is at %s already",
			       oid_short(old).s);
	return oid_eq(new, &in->spec_commit) ? 0 :
		err_set(err, ERR_FORMAT, "%s is not the spec that the search "
			"is checked by", oid_short(new).s);
}

static int check_notes_ref(struct incoming *in, const char *rest,
			   const struct oid *old, const struct oid *new,
			   struct err *err)
{
	static const char *const kinds[] = { "plan/", "metrics/", "agents/" };

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		size_t len = strlen(kinds[i]);

		if (!strncmp(rest, kinds[i], len) && store_word_ok(rest + len))
			return incoming_notes(in, old, new, err);
	}
	return err_set(err, ERR_FORMAT, "no notes of a search have such a "
		       "name");
}

static int dispatch(struct incoming *in, const struct ref_name *n,
		    const struct oid *old, const struct oid *new,
		    size_t *nodes, struct err *err)
{
	if (n->branch)		/* derived, or a person's: not looked at */
		return 0;
	if (n->notes)
		return check_notes_ref(in, n->rest, old, new, err);
	if (!strcmp(n->rest, "spec"))
		return check_spec_ref(in, old, new, err);
	if (!strncmp(n->rest, "w/", 2) && store_word_ok(n->rest + 2))
		return incoming_chain(in, n->rest + 2, old, new, nodes, err);
	if (!strncmp(n->rest, "lease/", 6))
		return check_lease(in, n->rest + 6, new, err);
	return err_set(err, ERR_FORMAT, "a search has no such ref");
}

int incoming_ref(struct incoming *in, const char *ref, const struct oid *old,
		 const struct oid *new, size_t *nodes, struct err *err)
{
	struct oid zero = { { 0 } };
	struct ref_name n;
	size_t nr = 0;
	int ret;

	if (nodes)
		*nodes = 0;
	if (!ref_split(ref, &n))
		return err_set(err, ERR_FORMAT, "it is not a ref of a search");
	ret = strcmp(n.slug, in->slug) ?
		err_set(err, ERR_FORMAT, "it is a ref of search '%s'", n.slug) :
		0;
	old = old ? old : &zero;
	if (!ret && !oid_eq(old, new))
		ret = dispatch(in, &n, old, new, &nr, err);
	else if (!ret && oid_is_zero(new))
		ret = err_set(err, ERR_FORMAT, "there is nothing to check");
	if (!ret && nodes)
		*nodes = nr;
	free(n.slug);
	return ret;
}
