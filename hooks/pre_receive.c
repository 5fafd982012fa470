/*
 * pre-receive: what a push brings of searches is checked by the rules of
 * core/incoming.h before any ref moves; the rest of the push is none of its
 * business.  The new objects are still in quarantine: git's variables, which
 * repo_open() follows, name where.
 */
#include <stdlib.h>
#include <string.h>

#include "core/incoming.h"
#include "core/mem.h"
#include "hooks/hook.h"

#define MAX_TOLD 20

struct receive {
	struct repo *r;
	struct hook_lines lines;
	struct buf prefix;	/* maxkernel.refPrefix, or empty */
	struct incoming **in;	/* one for each search */
	struct strv slugs;
	size_t cap_in, refused;
};

/* "refs/" stands for the prefix again; NULL: not a ref of ours. */
static char *our_name(const struct receive *rc, const char *ref)
{
	static const char *const spaces[] = { "refs/maxkernel/",
					      "refs/notes/maxkernel/" };
	char *name;

	if (rc->prefix.len && !strncmp(ref, rc->prefix.ptr, rc->prefix.len))
		name = xasprintf("refs/%s", ref + rc->prefix.len);
	else
		name = xstrdup(ref);
	for (size_t i = 0; i < ARRAY_SIZE(spaces); i++)
		if (!strncmp(name, spaces[i], strlen(spaces[i])))
			return name;
	free(name);
	return NULL;
}

static void refuse(struct receive *rc, const char *ref, const char *why)
{
	if (++rc->refused <= MAX_TOLD)
		hook_say("refused %s: %s", ref, why);
	else if (rc->refused == MAX_TOLD + 1)
		hook_say("and more of this kind");
}

/* The spec of a search: the one that comes with the push, else the one that
 * is here. */
static int find_spec(struct receive *rc, const char *slug, struct oid *out,
		     struct err *err)
{
	char *want = xasprintf("refs/maxkernel/%s/spec", slug);
	char *name, *there;
	bool found = false;
	int ret = 0;

	for (size_t i = 0; !found && i < rc->lines.nr; i++) {
		const struct hook_line *l = &rc->lines.v[i];

		name = oid_is_zero(&l->new) ? NULL : our_name(rc, l->ref);
		found = name && !strcmp(name, want);
		if (found)
			*out = l->new;
		free(name);
	}
	there = rc->prefix.len ? xasprintf("%s%s", rc->prefix.ptr, want + 5) :
		xstrdup(want);
	if (!found)
		ret = repo_ref_read(rc->r, there, out, err);
	if (ret == ERR_NOTFOUND)
		ret = err_set(err, ERR_FORMAT, "search '%s' has no spec here; "
			      "push '%s' first", slug, there);
	free(there);
	free(want);
	return ret;
}

/* The rules of a search; NULL and *err when there are none. */
static struct incoming *rules(struct receive *rc, const char *slug,
			      struct err *err)
{
	struct incoming *in = NULL;
	struct oid spec;

	for (size_t i = 0; i < rc->slugs.nr; i++)
		if (!strcmp(rc->slugs.v[i], slug))
			return rc->in[i];
	if (find_spec(rc, slug, &spec, err) < 0 ||
	    incoming_begin(rc->r, slug, &spec, &in, err) < 0)
		return NULL;
	GROW(rc->in, rc->slugs.nr, rc->cap_in);
	rc->in[rc->slugs.nr] = in;
	strv_push(&rc->slugs, slug);
	return in;
}

/* A lease is anybody's to end; else something of a search would go. */
static void check_deletion(struct receive *rc, const struct hook_line *l,
			   const char *name)
{
	const char *rest = strchr(name + strlen("refs/maxkernel/"), '/');

	if (!strncmp(name, "refs/maxkernel/", 15) && rest &&
	    !strncmp(rest, "/lease/", 7))
		return;
	if (repo_config_bool(rc->r, "maxkernel.allowPrune", false))
		return;
	refuse(rc, l->ref, "parts of a search are not deleted here; who keeps "
	       "this repository can allow it with 'git config "
	       "maxkernel.allowPrune true'");
}

/* 0: it may move, 1: it may not, *err says why; negative: it could not be
 * found out. */
static int check_line(struct receive *rc, const struct hook_line *l,
		      const char *name, struct err *err)
{
	struct incoming *in;
	char *slug = incoming_slug(name);
	int ret;

	if (!slug) {
		err_set(err, ERR_FORMAT, "no search has a ref of such a name");
		return 1;
	}
	in = rules(rc, slug, err);
	ret = in ? incoming_ref(in, name, &l->old, &l->new, NULL, err) :
		(int)err->code;
	free(slug);
	if (ret == ERR_SYS || ret == ERR_STOPPED)
		return err_wrap(err, "cannot check %s", l->ref);
	return ret != 0;
}

/* What hangs on nodes that another line brings is all right if that one is,
 * in whatever order they come. */
static int check_lines(struct receive *rc, char *const *name, bool *done,
		       struct err *why, struct err *err)
{
	size_t passed, left;

	do {
		passed = left = 0;
		for (size_t i = 0; i < rc->lines.nr; i++) {
			int ret;

			if (done[i])
				continue;
			ret = check_line(rc, &rc->lines.v[i], name[i],
					 &why[i]);
			if (ret < 0) {
				*err = why[i];
				return ret;
			}
			done[i] = !ret;
			passed += !ret;
			left += ret;
		}
	} while (passed && left);
	return 0;
}

/* Might one of them be ours?  maxkernel.refPrefix is not known yet. */
static bool concerns_us(const struct hook_lines *l)
{
	for (size_t i = 0; i < l->nr; i++)
		if (strstr(l->v[i].ref, "maxkernel/"))
			return true;
	return false;
}

static int check_all(struct receive *rc, struct err *err)
{
	size_t nr = rc->lines.nr;
	char **name = xcalloc(nr, sizeof(*name));
	bool *done = xcalloc(nr, sizeof(*done));
	struct err *why = xcalloc(nr, sizeof(*why));
	int ret;

	repo_config_str(rc->r, "maxkernel.refPrefix", &rc->prefix);
	for (size_t i = 0; i < nr; i++) {
		const struct hook_line *l = &rc->lines.v[i];

		name[i] = our_name(rc, l->ref);
		done[i] = !name[i] || oid_is_zero(&l->new);
		if (name[i] && oid_is_zero(&l->new))
			check_deletion(rc, l, name[i]);
	}
	ret = check_lines(rc, name, done, why, err);
	for (size_t i = 0; i < nr; i++) {
		if (!ret && !done[i])
			refuse(rc, rc->lines.v[i].ref, why[i].msg);
		free(name[i]);
	}
	free(name);
	free(done);
	free(why);
	return ret ? ret : rc->refused > 0;
}

static int pre_receive(const struct buf *input, int argc, char **argv,
		       struct err *err)
{
	struct receive rc = { .prefix = BUF_INIT, .slugs = STRV_INIT };
	int ret = hook_lines_parse(input, false, &rc.lines, err);

	(void)argc;
	(void)argv;
	if (ret < 0)
		return ret;
	if (concerns_us(&rc.lines)) {
		ret = repo_open(&rc.r, ".", err);
		if (!ret)
			ret = check_all(&rc, err);
		for (size_t i = 0; i < rc.slugs.nr; i++)
			incoming_end(rc.in[i]);
		repo_close(rc.r);
	}
	free(rc.in);
	strv_release(&rc.slugs);
	buf_release(&rc.prefix);
	hook_lines_release(&rc.lines);
	return ret;
}

const struct hook hook_pre_receive = {
	.name = "pre-receive",
	.server = true,
	.run = pre_receive,
};
