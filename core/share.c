#include "core/share.h"

#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/prune.h"
#include "core/share_parts.h"
#include "core/source.h"
#include "core/worker.h"

#define USUAL_PREFIX "refs/heads/maxkernel-data/"

/* ---- settings ---- */

int share_branches(struct repo *r, enum share_branches *out, struct err *err)
{
	struct buf v = BUF_INIT;
	int ret = 0;

	*out = BRANCHES_BEST;
	if (repo_config_str(r, "maxkernel.pushBranches", &v)) {
		if (!strcmp(v.ptr, "beam"))
			*out = BRANCHES_BEAM;
		else if (!strcmp(v.ptr, "none"))
			*out = BRANCHES_NONE;
		else if (strcmp(v.ptr, "best") != 0)
			ret = err_set(err, ERR_FORMAT, "maxkernel.pushBranches "
				      "is '%s': it takes best, beam or none",
				      v.ptr);
	}
	buf_release(&v);
	return ret;
}

static int read_prefix(struct repo *r, const char *remote, char **out,
		       bool *set, struct err *err)
{
	char *key = xasprintf("remote.%s.maxkernelRefPrefix", remote);
	struct buf v = BUF_INIT;
	char *probe;
	int ret = 0;

	*set = repo_config_str(r, key, &v) ||
		repo_config_str(r, "maxkernel.refPrefix", &v);
	if (!*set || !v.len) {
		*set = false;
		buf_reset(&v);
		buf_addstr(&v, "refs/");
	}
	if (v.ptr[v.len - 1] != '/')
		buf_addch(&v, '/');
	probe = xasprintf("%sx", v.ptr);
	if (!remote_ref_ok(probe) ||
	    !strncmp(v.ptr, "refs/heads/maxkernel/", 21) ||
	    !strncmp(v.ptr, "refs/maxkernel/", 15) ||
	    !strncmp(v.ptr, "refs/notes/", 11) ||
	    !strncmp(v.ptr, "refs/tags/", 10))
		ret = err_set(err, ERR_FORMAT, "maxkernel.refPrefix is '%s': it "
			      "takes the beginning of refs, as "
			      USUAL_PREFIX, v.ptr);
	*out = ret ? NULL : xstrdup(v.ptr);
	free(probe);
	free(key);
	buf_release(&v);
	return ret;
}

static void set_other(struct share *sh)
{
	free(sh->prefix2);
	sh->prefix2 = xstrdup(strcmp(sh->prefix, "refs/") ? "refs/" :
			      USUAL_PREFIX);
}

static char *name_there(const char *prefix, const char *ref)
{
	if (!strncmp(ref, "refs/heads/", 11) || strncmp(ref, "refs/", 5))
		return xstrdup(ref);
	return xasprintf("%s%s", prefix, ref + 5);
}

char *share_remote_name(struct repo *r, const char *remote, const char *ref)
{
	struct err unused = ERR_INIT;
	char *prefix, *name;
	bool set;

	if (read_prefix(r, remote, &prefix, &set, &unused) < 0)
		return xstrdup(ref);
	name = name_there(prefix, ref);
	free(prefix);
	return name;
}

/* An URL or a path has no name: a hash stands for it. */
static char *track_name(const char *remote)
{
	struct oid id;

	if (store_word_ok(remote))
		return xstrdup(remote);
	source_blob_id(remote, strlen(remote), &id);
	return xasprintf("url-%.12s", oid_text(&id).s);
}

/* ---- a session ---- */

int share_open(struct share *sh, struct repo *r, const struct remote_opts *o,
	       const struct share_teller *t, struct share_sum *sum,
	       struct err *err)
{
	int ret;

	memset(sh, 0, sizeof(*sh));
	memset(sum, 0, sizeof(*sum));
	sh->r = r;
	sh->o = o;
	sh->t = t;
	sh->sum = sum;
	sh->track = track_name(o->name);
	sh->at = -1;
	ret = read_prefix(r, o->name, &sh->prefix, &sh->prefix_set, err);
	if (!ret)
		ret = worker_settle(r, err);
	if (!ret)
		ret = worker_ids(r, &sh->ids, err);
	return ret ? ret : worker_need(r, sh->ids.v[0], err);
}

void share_close(struct share *sh)
{
	for (int i = 0; i < 2; i++)
		remote_refs_release(&sh->place[i]);
	remote_refs_release(&sh->there);
	strv_release(&sh->second);
	free(sh->prefix2);
	strv_release(&sh->ids);
	strv_release(&sh->pushed);
	free(sh->prefix);
	free(sh->track);
}

__attribute__((format(printf, 3, 0)))
static void pass_on(void (*fn)(void *ctx, const char *text), void *ctx,
		    const char *fmt, va_list ap)
{
	struct buf raw = BUF_INIT, clean = BUF_INIT;

	buf_vaddf(&raw, fmt, ap);
	buf_add_clean(&clean, raw.ptr, raw.len, false);
	if (fn)
		fn(ctx, clean.ptr);
	buf_release(&raw);
	buf_release(&clean);
}

void share_tell(struct share *sh, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (sh->t)
		pass_on(sh->t->told, sh->t->ctx, fmt, ap);
	va_end(ap);
}

void share_warn(struct share *sh, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (sh->t)
		pass_on(sh->t->warned, sh->t->ctx, fmt, ap);
	va_end(ap);
}

/* ---- names ---- */

static bool take(const char **p, const char *what)
{
	size_t len = strlen(what);

	if (strncmp(*p, what, len) != 0)
		return false;
	*p += len;
	return true;
}

/* Up to the next slash, or the end. */
static bool take_part(const char **p, char *out, size_t size)
{
	size_t len = strcspn(*p, "/");

	if (!len || len >= size)
		return false;
	memcpy(out, *p, len);
	out[len] = '\0';
	*p += len;
	if (**p == '/')
		(*p)++;
	return true;
}

static bool parse_branch(const char *p, struct share_ref *out)
{
	char number[6];

	out->kind = SHARE_BRANCH;
	if (!take_part(&p, out->what, sizeof(out->what)) ||
	    !take_part(&p, out->worker, sizeof(out->worker)) ||
	    !store_word_ok(out->worker))
		return false;
	if (!strcmp(out->what, "best"))
		return !*p;
	return !strcmp(out->what, "beam") &&
	       take_part(&p, number, sizeof(number)) && !*p &&
	       strspn(number, "0123456789") == strlen(number);
}

static bool parse_rest(const char *p, bool notes, struct share_ref *out)
{
	static const char *const kinds[] = { "plan", "metrics", "agents" };
	bool known = false;

	if (!notes && !strcmp(p, "spec")) {
		out->kind = SHARE_SPEC;
		return true;
	}
	if (!take_part(&p, out->what, sizeof(out->what)))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		known |= notes && !strcmp(out->what, kinds[i]);
	out->kind = notes ? SHARE_NOTES : SHARE_CHAIN;
	return (notes ? known : !strcmp(out->what, "w")) &&
	       take_part(&p, out->worker, sizeof(out->worker)) && !*p &&
	       store_word_ok(out->worker);
}

bool share_parse(const char *ref, struct share_ref *out)
{
	const char *p = ref;
	bool notes, branch;

	memset(out, 0, sizeof(*out));
	if (!remote_ref_ok(ref) || ref[strlen(ref) - 1] == '/')
		return false;
	notes = take(&p, "refs/notes/maxkernel/");
	branch = !notes && take(&p, "refs/heads/maxkernel/");
	if (!notes && !branch && !take(&p, "refs/maxkernel/"))
		return false;
	if (!take_part(&p, out->slug, sizeof(out->slug)) ||
	    !store_slug_ok(out->slug))
		return false;
	return branch ? parse_branch(p, out) : parse_rest(p, notes, out);
}

char *share_there(const struct share *sh, const char *ref)
{
	struct share_ref parsed;
	bool second = sh->at > 0 || (sh->at < 0 && sh->second.nr &&
		      share_parse(ref, &parsed) &&
		      strv_has(&sh->second, parsed.slug));

	return name_there(second ? sh->prefix2 : sh->prefix, ref);
}

char *share_local(const struct share *sh, const char *there)
{
	const char *longer = sh->prefix, *shorter = sh->prefix2;

	if (!strncmp(there, "refs/heads/maxkernel/", 21))
		return xstrdup(there);
	if (strlen(longer) < strlen(shorter)) {
		longer = sh->prefix2;
		shorter = sh->prefix;
	}
	if (!strncmp(there, longer, strlen(longer)))
		return xasprintf("refs/%s", there + strlen(longer));
	return xasprintf("refs/%s", there + (strncmp(there, shorter,
			 strlen(shorter)) ? 5 : strlen(shorter)));
}

char *share_tracking(const struct share *sh, const char *ref)
{
	const char *p = ref;

	if (take(&p, "refs/notes/maxkernel/"))
		return xasprintf("refs/notes/remote/%s/maxkernel/%s",
				 sh->track, p);
	if (take(&p, "refs/heads/maxkernel/"))
		return xasprintf("refs/maxkernel-remote/%s/heads/%s",
				 sh->track, p);
	take(&p, "refs/maxkernel/");
	return xasprintf("refs/maxkernel-remote/%s/%s", sh->track, p);
}

/* ---- what the remote has ---- */

static void add_ref(struct remote_refs *l, const char *name,
		    const struct oid *id)
{
	GROW(l->v, l->nr, l->cap);
	l->v[l->nr++] = (struct remote_ref){ xstrdup(name), *id };
}

static int by_name(const void *a, const void *b)
{
	const struct remote_ref *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static void sort(struct remote_refs *l)
{
	if (l->nr > 1)
		qsort(l->v, l->nr, sizeof(*l->v), by_name);
}

/* What is below a prefix, by local names; branches have no other name. */
static void find_below(const char *prefix, bool branches,
		       const struct remote_refs *all, struct remote_refs *out)
{
	size_t len = strlen(prefix);

	remote_refs_release(out);
	for (size_t i = 0; i < all->nr; i++) {
		const char *name = all->v[i].name;
		bool branch = !strncmp(name, "refs/heads/maxkernel/", 21);
		struct share_ref parsed;
		char *local;

		if (branch ? !branches : strncmp(name, prefix, len) != 0)
			continue;
		local = branch ? xstrdup(name) :
			xasprintf("refs/%s", name + len);
		if (share_parse(local, &parsed) &&
		    branch == (parsed.kind == SHARE_BRANCH))
			add_ref(out, local, &all->v[i].id);
		free(local);
	}
	sort(out);
}

static bool has_data(const struct remote_refs *l)
{
	for (size_t i = 0; i < l->nr; i++)
		if (strncmp(l->v[i].name, "refs/heads/", 11) != 0)
			return true;
	return false;
}

/* A clone of a repository that keeps the data under branches has no setting
 * yet that says so: a search goes on where the remote has it. */
static void find_prefix(struct share *sh, const struct remote_refs *all)
{
	struct share_ref parsed;

	strv_release(&sh->second);
	sh->second = (struct strv)STRV_INIT;
	if (!sh->prefix_set && !has_data(&sh->place[0]) &&
	    has_data(&sh->place[1])) {
		free(sh->prefix);
		sh->prefix = xstrdup(sh->prefix2);
		set_other(sh);
		find_below(sh->prefix, true, all, &sh->place[0]);
		find_below(sh->prefix2, false, all, &sh->place[1]);
		share_tell(sh, "the searches on '%s' are under %s",
			   sh->o->name, sh->prefix);
	}
	for (size_t i = 0; !sh->prefix_set && i < sh->place[1].nr; i++)
		if (share_parse(sh->place[1].v[i].name, &parsed) &&
		    parsed.kind == SHARE_SPEC &&
		    !strcmp(sh->prefix2, USUAL_PREFIX))
			strv_push(&sh->second, parsed.slug);
}

void share_use(struct share *sh, int place)
{
	struct share_ref parsed;

	sh->at = place;
	remote_refs_release(&sh->there);
	for (int k = 0; k < 2; k++)
		for (size_t i = 0; i < sh->place[k].nr; i++) {
			const struct remote_ref *ref = &sh->place[k].v[i];

			if (!share_parse(ref->name, &parsed))
				continue;
			if (place < 0 && parsed.kind != SHARE_BRANCH &&
			    strv_has(&sh->second, parsed.slug) != (k == 1))
				continue;
			if (place >= 0 && place != k)
				continue;
			add_ref(&sh->there, ref->name, &ref->id);
		}
	sort(&sh->there);
}

bool share_has(const struct share *sh, const char *ref)
{
	return remote_refs_find(&sh->place[0], ref) ||
	       remote_refs_find(&sh->place[1], ref);
}

int share_look(struct share *sh, struct err *err)
{
	struct strv patterns = STRV_INIT;
	struct remote_refs all;
	int ret;

	set_other(sh);
	strv_pushf(&patterns, "%smaxkernel/*", sh->prefix);
	strv_pushf(&patterns, "%snotes/maxkernel/*", sh->prefix);
	strv_pushf(&patterns, "%smaxkernel/*", sh->prefix2);
	strv_pushf(&patterns, "%snotes/maxkernel/*", sh->prefix2);
	strv_push(&patterns, "refs/heads/maxkernel/*");
	ret = remote_list(sh->r, sh->o, &patterns, &all, err);
	if (!ret) {
		find_below(sh->prefix, true, &all, &sh->place[0]);
		find_below(sh->prefix2, false, &all, &sh->place[1]);
		find_prefix(sh, &all);
		share_use(sh, -1);
		remote_refs_release(&all);
	}
	strv_release(&patterns);
	return ret;
}

int share_fetch(struct share *sh, const struct strv *refs, struct err *err)
{
	struct strv specs = STRV_INIT;
	int ret = 0;

	for (size_t i = 0; i < refs->nr; i++) {
		char *from = share_there(sh, refs->v[i]);
		char *to = share_tracking(sh, refs->v[i]);

		strv_pushf(&specs, "+%s:%s", from, to);
		free(from);
		free(to);
	}
	if (specs.nr)
		ret = remote_fetch(sh->r, sh->o, &specs, false, err);
	strv_release(&specs);
	return ret;
}

/* ---- histories ---- */

bool share_before(struct share *sh, const struct oid *a, const struct oid *b)
{
	struct err unused = ERR_INIT;

	return oid_eq(a, b) || repo_is_ancestor(sh->r, a, b, &unused) == 1;
}

bool share_pruned(struct share *sh, const struct oid *tip,
		  const struct oid *there)
{
	struct err unused = ERR_INIT;

	return prune_replaces(sh->r, there, tip, &unused) == 1;
}

/* ---- a second writer ---- */

int share_renew(struct share *sh, struct err *err)
{
	char *old = xstrdup(sh->ids.v[0]);
	int ret = worker_renew(sh->r, old, err);

	if (ret == ERR_LIMIT) {
		sh->sum->refused++;
		share_warn(sh, "%s; what is there under that id is left alone",
			   err->msg);
		err->code = ERR_NONE;
		free(old);
		return 1;
	}
	strv_release(&sh->ids);
	if (!ret)
		ret = worker_ids(sh->r, &sh->ids, err);
	if (!ret)
		share_warn(sh, "another clone writes as worker '%s' too (was "
			   "this folder copied?): this one is '%s' from now on",
			   old, sh->ids.v[0]);
	free(old);
	return ret;
}
