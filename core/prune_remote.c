#include "core/prune_remote.h"

#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/store_parts.h"

bool prune_remote_slug(const char *name)
{
	return store_slug_ok(name);
}

void prune_there_release(struct prune_there *p)
{
	for (size_t i = 0; i < p->nr; i++)
		free((char *)(uintptr_t)p->item[i].ref);
	free(p->item);
	strv_release(&p->stays);
	memset(p, 0, sizeof(*p));
}

/* A landing commit of the search, as far as can be seen here. */
static bool is_landing(struct repo *r, const char *slug, const struct oid *id)
{
	struct buf value = BUF_INIT;
	struct err ignored;
	struct commit c;
	bool is = false;

	if (repo_commit_read(r, id, &c, &ignored) == 0) {
		is = c.nr_parents == 1 &&
		     commit_trailer(c.message, "Maxkernel-Node", &value) &&
		     commit_trailer(c.message, "Maxkernel-Search", &value) &&
		     !strcmp(value.ptr, slug);
		commit_release(&c);
	}
	buf_release(&value);
	return is;
}

static void take(struct repo *r, const char *slug, const struct remote_ref *f,
		 struct prune_there *out)
{
	struct push_item *it;

	if (!strncmp(f->name, "refs/heads/maxkernel/", 21) &&
	    !is_landing(r, slug, &f->id)) {
		struct buf text = BUF_INIT;

		buf_addstr(&text, "branch '");
		buf_add_clean(&text, f->name + 11, strlen(f->name + 11),
			      false);
		buf_addstr(&text, "' stays on the remote: its tip is not a "
			   "landing commit that this repository knows");
		strv_push(&out->stays, text.ptr);
		buf_release(&text);
		return;
	}
	out->leases += strstr(f->name, "/lease/") != NULL;
	GROW(out->item, out->nr, out->cap);
	it = &out->item[out->nr++];
	memset(it, 0, sizeof(*it));
	it->ref = xstrdup(f->name);
	it->leased = true;
	it->expected = f->id;
}

/* What is left when not all of it went can still be found by its spec. */
static void spec_last(struct prune_there *p, const char *spec)
{
	for (size_t i = 0; i + 1 < p->nr; i++)
		if (!strcmp(p->item[i].ref, spec)) {
			struct push_item swap = p->item[i];

			p->item[i] = p->item[p->nr - 1];
			p->item[p->nr - 1] = swap;
			return;
		}
}

int prune_remote_plan(struct repo *r, const char *slug,
		      const struct remote_opts *o, struct prune_there *out,
		      struct err *err)
{
	static const char *const below[] = {
		"refs/maxkernel/", "refs/notes/maxkernel/",
		"refs/heads/maxkernel/"
	};
	struct strv prefix = STRV_INIT, globs = STRV_INIT;
	struct remote_refs there = { NULL, 0, 0 };
	char *spec;
	int ret;

	memset(out, 0, sizeof(*out));
	for (size_t i = 0; i < ARRAY_SIZE(below); i++) {
		char *local = xasprintf("%s%s/", below[i], slug);
		char *name = share_remote_name(r, o->name, local);

		strv_push(&prefix, name);
		strv_pushf(&globs, "%s*", name);
		free(local);
		free(name);
	}
	ret = remote_list(r, o, &globs, &there, err);
	for (size_t i = 0; !ret && i < there.nr; i++)
		for (size_t k = 0; k < prefix.nr; k++)
			if (!strncmp(there.v[i].name, prefix.v[k],
				     strlen(prefix.v[k]))) {
				take(r, slug, &there.v[i], out);
				break;
			}
	spec = xasprintf("%sspec", prefix.v[0]);
	spec_last(out, spec);
	free(spec);
	remote_refs_release(&there);
	strv_release(&prefix);
	strv_release(&globs);
	return ret;
}

static int refused(const struct remote_opts *o, const struct push_item *it,
		   struct err *err)
{
	struct buf name = BUF_INIT;

	buf_add_clean(&name, o->name, strlen(o->name), false);
	if (it->status == PUSH_RACE)
		err_set(err, ERR_NET, "somebody else moved '%s' on '%s': look "
			"again at what goes", it->ref, name.ptr);
	else
		err_set(err, ERR_NET, "'%s' does not let '%s' go: %s",
			name.ptr, it->ref, *it->why ? it->why :
			"it did not say why");
	buf_release(&name);
	return err->code;
}

int prune_remote_do(struct repo *r, const struct remote_opts *o,
		    struct prune_there *p, struct err *err)
{
	int ret = remote_push(r, o, p->item, p->nr, true, err);

	/* The one that stopped the others says most. */
	for (int pass = 0; !ret && pass < 2; pass++)
		for (size_t i = 0; !ret && i < p->nr; i++)
			if (p->item[i].status != PUSH_DONE &&
			    p->item[i].status != PUSH_SAME &&
			    (pass || p->item[i].status != PUSH_UNSENT))
				ret = refused(o, &p->item[i], err);
	return ret;
}
