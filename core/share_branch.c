/*
 * Landing branches on a remote: moved by lease, and only where the remote's
 * is a landing commit that is no better by its measurements.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/share_parts.h"

struct landing {		/* what a tip stands for */
	bool is;		/* a landing commit of the search */
	struct oid node, tree;
};

struct branch {
	char *ref;
	struct share_ref parsed;
	struct oid here;	/* zero: it is on the remote alone */
	bool told;
};

struct branches {
	struct share *sh;
	enum share_branches which;
	struct branch *v;
	size_t nr, cap;
	struct push_item *item;
	size_t nr_items;
};

static void branches_release(struct branches *b)
{
	for (size_t i = 0; i < b->nr; i++)
		free(b->v[i].ref);
	free(b->v);
	free(b->item);
}

/* Does this clone land what it finds on the device class? */
static bool lands(const struct branches *b, const struct share_ref *on)
{
	for (size_t i = 0; i < b->nr; i++)
		if (!strcmp(b->v[i].parsed.slug, on->slug) &&
		    !strcmp(b->v[i].parsed.worker, on->worker))
			return true;
	return false;
}

/* Branches of a beam that has become smaller here. */
static void add_stale(struct branches *b, const struct strv *slugs)
{
	static const struct oid none;
	size_t nr = b->nr;

	for (size_t i = 0; i < b->sh->there.nr; i++) {
		const char *ref = b->sh->there.v[i].name;
		struct share_ref parsed;
		size_t k = 0;

		if (!share_parse(ref, &parsed) ||
		    parsed.kind != SHARE_BRANCH ||
		    strcmp(parsed.what, "beam") != 0 ||
		    !strv_has(slugs, parsed.slug) || !lands(b, &parsed))
			continue;
		while (k < nr && strcmp(b->v[k].ref, ref) != 0)
			k++;
		if (k < nr)
			continue;
		GROW(b->v, b->nr, b->cap);
		b->v[b->nr++] = (struct branch){ xstrdup(ref), parsed, none,
						  false };
	}
}

static int add_branch(void *ctx, const char *name, const struct oid *id)
{
	struct branches *b = ctx;
	struct share_ref parsed;

	if (!share_parse(name, &parsed) || parsed.kind != SHARE_BRANCH ||
	    (b->which == BRANCHES_BEST && strcmp(parsed.what, "best") != 0))
		return 0;
	GROW(b->v, b->nr, b->cap);
	b->v[b->nr++] = (struct branch){ xstrdup(name), parsed, *id,
					  false };
	return 0;
}

static struct landing landing_of(struct share *sh, const char *slug,
				 const struct oid *tip)
{
	struct err unused = ERR_INIT;
	struct buf value = BUF_INIT;
	struct landing l = { .is = false };
	struct commit c;

	if (repo_commit_read(sh->r, tip, &c, &unused) < 0)
		return l;
	l.tree = c.tree;
	l.is = c.nr_parents == 1 &&
		commit_trailer(c.message, "Maxkernel-Search", &value) &&
		!strcmp(value.ptr, slug) &&
		commit_trailer(c.message, "Maxkernel-Node", &value) &&
		value.len == OID_HEX && oid_parse(&l.node, value.ptr);
	commit_release(&c);
	buf_release(&value);
	return l;
}

/* Is it a node of the search?  *score: its ln speedup if it is confirmed on
 * the device class, else NAN. */
static bool knows(struct share *sh, const char *slug, const char *device,
		  const struct oid *node, double *score)
{
	struct err unused = ERR_INIT;
	struct search *s;
	struct graph g;
	bool known = false;
	uint32_t i;

	*score = NAN;
	if (store_open(sh->r, slug, &s, &unused) < 0)
		return false;
	if (store_load(s, device, &g, NULL, &unused) == 0) {
		i = graph_find(&g, node);
		known = i != NODE_NONE;
		if (known && g.node[i].confirmed)
			*score = g.node[i].score;
		graph_release(&g);
	}
	store_close(s);
	return known;
}

/* The remote's tips that we do not have, and what they are judged by. */
static int fetch_tips(struct branches *b, struct err *err)
{
	struct strv refs = STRV_INIT, slugs = STRV_INIT;
	struct share_sum sum;
	int ret = 0;

	for (size_t i = 0; i < b->nr; i++) {
		const struct oid *there = remote_refs_find(&b->sh->there,
							   b->v[i].ref);

		if (!there || oid_eq(there, &b->v[i].here))
			continue;
		strv_push(&refs, b->v[i].ref);
		if (!strv_has(&slugs, b->v[i].parsed.slug))
			strv_push(&slugs, b->v[i].parsed.slug);
	}
	if (refs.nr)
		ret = share_fetch(b->sh, &refs, err);
	if (!ret && slugs.nr)
		ret = share_pull(b->sh->r, b->sh->o, &slugs, NULL, &sum, err);
	strv_release(&refs);
	strv_release(&slugs);
	return ret;
}

/* Is what the remote has to stay? */
static bool theirs_stays(struct branches *b, const struct branch *br,
			 const struct oid *there)
{
	const char *name = br->ref + strlen("refs/heads/");
	struct landing theirs = landing_of(b->sh, br->parsed.slug, there);
	struct landing ours = landing_of(b->sh, br->parsed.slug, &br->here);
	double x, y;

	if (!theirs.is) {
		share_warn(b->sh, "branch '%s' on remote '%s' has commits made "
			   "by hand and stays as it is", name, b->sh->o->name);
		return true;
	}
	if (oid_eq(&theirs.node, &ours.node))
		return true;
	if (strcmp(br->parsed.what, "best") != 0)
		return false;
	knows(b->sh, br->parsed.slug, br->parsed.worker, &theirs.node, &x);
	knows(b->sh, br->parsed.slug, br->parsed.worker, &ours.node, &y);
	if (!isnan(x) && !(y > x)) {
		share_tell(b->sh, "branch '%s' on remote '%s' is better and "
			   "stays", name, b->sh->o->name);
		return true;
	}
	return false;
}

/* What another clone landed there is its own affair: its beam may be wider. */
static bool is_stale(struct branches *b, const struct branch *br,
		     const struct oid *there)
{
	return share_is_as_pushed(b->sh, br->ref, there);
}

static void add_item(struct branches *b, const struct branch *br,
		     const struct oid *there)
{
	static const struct oid none;

	b->item[b->nr_items++] = (struct push_item){
		.ref = br->ref, .id = br->here, .leased = true,
		.expected = there ? *there : none,
	};
}

/* Once, however often it is tried. */
static void tell_by_hand(struct branches *b, struct branch *br)
{
	if (!br->told)
		share_warn(b->sh, "branch '%s' has commits made by hand and is "
			   "not pushed; 'git push %s %s' pushes it",
			   br->ref + 11, b->sh->o->name, br->ref + 11);
	br->told = true;
}

static void collect(struct branches *b)
{
	b->nr_items = 0;
	for (size_t i = 0; i < b->nr; i++) {
		struct branch *br = &b->v[i];
		const struct oid *there = remote_refs_find(&b->sh->there,
							   br->ref);

		if (there && oid_eq(there, &br->here))
			continue;
		if (oid_is_zero(&br->here)) {
			if (there && is_stale(b, br, there))
				add_item(b, br, there);
			continue;
		}
		if (!landing_of(b->sh, br->parsed.slug, &br->here).is) {
			tell_by_hand(b, br);
			continue;
		}
		if (there && theirs_stays(b, br, there))
			continue;
		add_item(b, br, there);
	}
}

static int push_once(struct branches *b, bool *again, struct err *err)
{
	int ret = fetch_tips(b, err);

	if (ret)
		return ret;
	collect(b);
	if (b->nr_items)
		ret = remote_push(b->sh->r, b->sh->o, b->item, b->nr_items,
				  false, err);
	for (size_t i = 0; i < b->nr_items && !ret; i++) {
		const struct push_item *it = &b->item[i];

		if (!oid_is_zero(&it->id) && (it->status == PUSH_DONE ||
					      it->status == PUSH_SAME))
			share_note_pushed(b->sh, it->ref, &it->id);
		share_judge_item(b->sh, it, again);
	}
	return ret;
}

int share_push_branches(struct share *sh, const struct strv *slugs,
			enum share_branches which, struct err *err)
{
	struct branches b = { .sh = sh, .which = which };
	bool again = true;
	int ret = 0;

	for (size_t i = 0; i < slugs->nr && !ret; i++) {
		char *prefix = xasprintf("refs/heads/maxkernel/%s/",
					 slugs->v[i]);

		ret = repo_ref_each(sh->r, prefix, add_branch, &b, err);
		free(prefix);
	}
	if (which == BRANCHES_BEAM)
		add_stale(&b, slugs);
	b.item = xcalloc(b.nr, sizeof(*b.item));
	for (int try = 0; b.nr && try < SHARE_TRIES && again && !ret; try++) {
		again = false;
		if (try) {
			share_pause(try);
			ret = share_look(sh, err);
		}
		if (!ret)
			ret = push_once(&b, &again, err);
	}
	if (!ret && b.nr && again)
		ret = err_set(err, ERR_RACE, "the branches on remote '%s' were "
			      "moved by others %d times in a row: push again "
			      "later", sh->o->name, SHARE_TRIES);
	branches_release(&b);
	return ret;
}
