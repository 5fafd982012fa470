/* Pushing what was written here, and what others wrote and the remote lacks. */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "core/mem.h"
#include "core/share_parts.h"
#include "core/worker.h"

struct push {
	struct share sh;
	struct strv slugs;
	struct strv bad;	/* slugs that the remote has otherwise, or
				 * had */
	bool named;		/* these searches alone are asked for */
	bool rewrites;		/* pruned chains go there too */
	struct strv pruned;	/* slugs with chains that do not */
	struct strv moved;	/* slugs with something pushed */
	struct push_item *item;
	size_t nr, cap;
};

static void items_reset(struct push *p)
{
	for (size_t i = 0; i < p->nr; i++)
		free((char *)(uintptr_t)p->item[i].ref);
	p->nr = 0;
}

static void add_item(struct push *p, const char *ref, const struct oid *id,
		     const struct oid *expected)
{
	struct push_item it = { .ref = share_there(&p->sh, ref), .id = *id };

	if (expected) {
		it.leased = true;
		it.expected = *expected;
	}
	GROW(p->item, p->nr, p->cap);
	p->item[p->nr++] = it;
}

/* ---- refusals ---- */

void share_judge_item(struct share *sh, const struct push_item *it,
		      bool *again)
{
	if (it->status == PUSH_DONE)
		sh->sum->refs++;
	if (it->status == PUSH_RACE)
		*again = true;
	if (it->status != PUSH_REFUSED)
		return;
	sh->sum->refused++;
	share_warn(sh, "remote '%s' refused '%s': %s", sh->o->name, it->ref,
		   it->why);
	if (strncmp(it->ref, "refs/heads/", 11) != 0)
		sh->refused_data = true;
	else
		sh->refused_heads = true;
}

/* What to do about refusals, once and last. */
static void hint(struct share *sh)
{
	if (sh->refused_data && !sh->refused_heads && !sh->prefix_set)
		share_warn(sh, "if it takes branches and tags alone: git "
			   "config maxkernel.refPrefix "
			   "refs/heads/maxkernel-data/");
}

void share_pause(int try)
{
	struct timespec ts;
	unsigned char r = 0;
	long ms;

	if (getrandom(&r, 1, 0) != 1)
		r = 128;
	ms = (50L << try) * (128 + r) / 256;
	ts = (struct timespec){ ms / 1000, ms % 1000 * 1000000L };
	nanosleep(&ts, NULL);
}

static void note_moved(struct push *p, const struct push_item *it)
{
	char *local = share_local(&p->sh, it->ref);
	struct share_ref ref;

	if (share_parse(local, &ref)) {
		if (!strv_has(&p->moved, ref.slug))
			strv_push(&p->moved, ref.slug);
		if (ref.kind == SHARE_SPEC ||
		    worker_is(p->sh.ids.v[0], ref.worker))
			share_note_pushed(&p->sh, local, &it->id);
	}
	free(local);
}

/* Pushes what was collected; *again when some of it has to be looked at. */
static int send_items(struct push *p, bool *again, struct err *err)
{
	int ret = 0;

	if (p->nr)
		ret = remote_push(p->sh.r, p->sh.o, p->item, p->nr, false,
				  err);
	for (size_t i = 0; i < p->nr && !ret; i++) {
		share_judge_item(&p->sh, &p->item[i], again);
		if (p->item[i].status == PUSH_DONE)
			note_moved(p, &p->item[i]);
		if (p->item[i].status == PUSH_UNSENT)
			ret = err_set(err, ERR_NET, "remote '%s' did not take "
				      "'%s': %s", p->sh.o->name,
				      p->item[i].ref, *p->item[i].why ?
				      p->item[i].why : "no reason given");
	}
	items_reset(p);
	return ret;
}

/* ---- specs ---- */

static bool is_bad(const struct push *p, const char *slug)
{
	return strv_has(&p->bad, slug);
}

/* The remote had it when we last looked: somebody dropped it there. */
static bool was_there(struct share *sh, const char *spec,
		      const struct oid *id)
{
	char *copy = share_tracking(sh, spec);
	struct err unused = ERR_INIT;
	struct oid had;
	bool was = !repo_ref_read(sh->r, copy, &had, &unused) ||
		share_was_pushed(sh, spec, id);

	free(copy);
	return was;
}

static void leave_dropped(struct push *p, const char *slug)
{
	strv_push(&p->bad, slug);
	p->sh.sum->refused++;
	share_warn(&p->sh, "search %s was dropped on '%s': git maxkernel push "
		   "%s %s brings it back", slug, p->sh.o->name, p->sh.o->name,
		   slug);
}

static int push_specs(struct push *p, bool *again, struct err *err)
{
	int ret = 0;

	for (size_t i = 0; i < p->slugs.nr && !ret; i++) {
		char *ref = xasprintf("refs/maxkernel/%s/spec", p->slugs.v[i]);
		const struct oid *there = remote_refs_find(&p->sh.there, ref);
		struct oid here;

		if (is_bad(p, p->slugs.v[i])) {
			free(ref);
			continue;
		}
		ret = repo_ref_read(p->sh.r, ref, &here, err);
		if (!ret && there)
			share_note_pushed(&p->sh, ref, there);
		if (!ret && !there && !p->named && !share_has(&p->sh, ref) &&
		    was_there(&p->sh, ref, &here)) {
			leave_dropped(p, p->slugs.v[i]);
		} else if (!ret && !there) {
			add_item(p, ref, &here, NULL);
		} else if (!ret && !oid_eq(there, &here)) {
			p->sh.sum->refused++;
			share_warn(&p->sh, "remote '%s' has another search by "
				   "the name '%s'", p->sh.o->name,
				   p->slugs.v[i]);
			strv_push(&p->bad, p->slugs.v[i]);
		}
		free(ref);
	}
	if (!ret)
		ret = send_items(p, again, err);
	return ret;
}

/* ---- chains and notes ---- */

enum own { OWN_SAME, OWN_FORWARD, OWN_PRUNED, OWN_SECOND };

static enum own judge_own(struct push *p, const char *ref,
			  const struct share_ref *parsed,
			  const struct oid *here, const struct oid *there)
{
	struct err unused = ERR_INIT;
	struct oid now;

	if (there && oid_eq(there, here))
		return OWN_SAME;
	if (!there || share_before(&p->sh, there, here))
		return OWN_FORWARD;
	if (parsed->kind == SHARE_CHAIN &&
	    share_pruned(&p->sh, here, there))
		return OWN_PRUNED;
	/* Another process of this clone may have written and pushed more. */
	if (!repo_ref_read(p->sh.r, ref, &now, &unused) &&
	    share_before(&p->sh, there, &now))
		return OWN_SAME;
	return OWN_SECOND;
}

struct walk {
	struct push *p;
	bool second;		/* our id has a second writer */
	struct err *err;
};

static int add_own(struct walk *w, const char *ref,
		   const struct share_ref *parsed, const struct oid *id,
		   const struct oid *there)
{
	/* The notes of a pruned chain are of use with that chain alone. */
	if (strv_has(&w->p->pruned, parsed->slug))
		return 0;
	switch (judge_own(w->p, ref, parsed, id, there)) {
	case OWN_SAME:
		share_note_pushed(&w->p->sh, ref, there);
		break;
	case OWN_FORWARD:
		add_item(w->p, ref, id, NULL);
		break;
	case OWN_PRUNED:
		if (w->p->rewrites)
			add_item(w->p, ref, id, there);
		else
			strv_push(&w->p->pruned, parsed->slug);
		break;
	case OWN_SECOND:
		w->second = true;
		break;
	}
	return 0;
}

static int add_ref(void *ctx, const char *name, const struct oid *id)
{
	struct walk *w = ctx;
	struct share *sh = &w->p->sh;
	const struct oid *there = remote_refs_find(&sh->there, name);
	struct share_ref ref;

	if (!share_parse(name, &ref) ||
	    (ref.kind != SHARE_CHAIN && ref.kind != SHARE_NOTES))
		return 0;
	if (worker_is(sh->ids.v[0], ref.worker))
		return add_own(w, name, &ref, id, there);
	/* Of a former id of ours too: those are another clone's. */
	if (!there || (!oid_eq(there, id) && share_before(sh, there, id)))
		add_item(w->p, name, id, NULL);
	return 0;
}

/* Items of one search; *second: our id has a second writer. */
static int collect(struct push *p, const char *slug, bool *second,
		   struct err *err)
{
	struct walk w = { p, false, err };
	char *chains = store_anchor_ref(slug, NULL);
	char *notes = xasprintf("refs/notes/maxkernel/%s/", slug);
	int ret = repo_ref_each(p->sh.r, chains, add_ref, &w, err);

	if (!ret)
		ret = repo_ref_each(p->sh.r, notes, add_ref, &w, err);
	*second |= w.second;
	free(chains);
	free(notes);
	return ret;
}

/* What is there under our id may be an older chain that we pruned, of which
 * this clone still has the objects only on the remote. */
static int fetch_own(struct push *p, struct err *err)
{
	struct strv refs = STRV_INIT;
	int ret;

	for (size_t i = 0; i < p->sh.there.nr; i++) {
		struct share_ref ref;

		if (share_parse(p->sh.there.v[i].name, &ref) &&
		    (ref.kind == SHARE_CHAIN || ref.kind == SHARE_NOTES) &&
		    worker_is(p->sh.ids.v[0], ref.worker) &&
		    strv_has(&p->slugs, ref.slug))
			strv_push(&refs, p->sh.there.v[i].name);
	}
	ret = share_fetch(&p->sh, &refs, err);
	strv_release(&refs);
	return ret;
}

static int collect_all(struct push *p, bool *second, struct err *err)
{
	int ret = 0;

	*second = false;
	items_reset(p);
	for (size_t i = 0; i < p->slugs.nr && !ret; i++)
		if (!is_bad(p, p->slugs.v[i]))
			ret = collect(p, p->slugs.v[i], second, err);
	return ret;
}

static int push_data(struct push *p, bool *again, struct err *err)
{
	bool second;
	int ret = collect_all(p, &second, err);

	if (!ret && second) {
		ret = fetch_own(p, err);
		if (!ret)
			ret = collect_all(p, &second, err);
	}
	for (int i = 0; i < 2 && !ret && second; i++) {
		ret = share_renew(&p->sh, err);
		if (ret > 0) {
			ret = 0;
			break;
		}
		if (!ret)
			ret = collect_all(p, &second, err);
	}
	return ret ? ret : send_items(p, again, err);
}

/* ---- all of it ---- */

static int find_slugs(struct push *p, const struct strv *slugs,
		      struct err *err)
{
	struct spec_list all;
	int ret = 0;

	p->named = slugs->nr > 0;
	for (size_t i = 0; i < slugs->nr; i++)
		if (!strv_has(&p->slugs, slugs->v[i]))
			strv_push(&p->slugs, slugs->v[i]);
	if (slugs->nr)
		return 0;
	ret = store_list(p->sh.r, &all, NULL, err);
	for (size_t i = 0; i < all.nr && !ret; i++)
		strv_push(&p->slugs, all.v[i].slug);
	spec_list_release(&all);
	return ret;
}

static int push_round(struct push *p, bool *again, struct err *err)
{
	int ret = share_look(&p->sh, err);

	*again = false;
	if (!ret)
		ret = push_specs(p, again, err);
	if (!ret && !*again)
		ret = push_data(p, again, err);
	return ret;
}

static int push_all(struct push *p, struct err *err)
{
	bool again = true;
	int ret = 0;

	for (int try = 0; try < SHARE_TRIES && again && !ret; try++) {
		if (try)
			share_pause(try);
		ret = push_round(p, &again, err);
	}
	if (!ret && again)
		ret = err_set(err, ERR_RACE, "remote '%s' was moved by others "
			      "%d times in a row: push again later",
			      p->sh.o->name, SHARE_TRIES);
	return ret;
}

static int push_branches(struct push *p, enum share_branches which,
			 struct err *err)
{
	struct strv good = STRV_INIT;
	int ret;

	for (size_t i = 0; i < p->slugs.nr; i++)
		if (!is_bad(p, p->slugs.v[i]))
			strv_push(&good, p->slugs.v[i]);
	ret = share_push_branches(&p->sh, &good, which, err);
	strv_release(&good);
	return ret;
}

static void tell_pruned(struct push *p)
{
	for (size_t i = 0; i < p->pruned.nr; i++) {
		p->sh.sum->refused++;
		share_warn(&p->sh, "search %s was pruned here and not on '%s', "
			   "so that nothing that was made here since goes "
			   "there; 'git maxkernel prune --losers --remote=%s "
			   "%s' prunes there too", p->pruned.v[i],
			   p->sh.o->name, p->sh.o->name, p->pruned.v[i]);
	}
}

static int push(struct repo *r, const struct remote_opts *o,
		const struct strv *slugs, enum share_branches branches,
		bool rewrites, const struct share_teller *t,
		struct share_sum *sum, struct err *err)
{
	struct err late = ERR_INIT;
	struct push p;
	int ret;

	memset(&p, 0, sizeof(p));
	p.rewrites = rewrites;
	ret = share_open(&p.sh, r, o, t, sum, err);
	if (!ret)
		ret = find_slugs(&p, slugs, err);
	if (!ret)	/* with nothing to push it is looked at all the same */
		ret = push_all(&p, err);
	if (!ret && branches != BRANCHES_NONE)
		ret = push_branches(&p, branches, err);
	if (share_keep_pushed(&p.sh, &late) && !ret) {
		*err = late;
		ret = late.code;
	}
	if (!ret)
		tell_pruned(&p);
	hint(&p.sh);
	sum->searches = p.moved.nr;
	for (size_t i = 0; t && t->search && i < p.moved.nr; i++)
		t->search(t->ctx, p.moved.v[i], 0, 0);
	items_reset(&p);
	free(p.item);
	strv_release(&p.slugs);
	strv_release(&p.bad);
	strv_release(&p.moved);
	strv_release(&p.pruned);
	share_close(&p.sh);
	return ret;
}

int share_push(struct repo *r, const struct remote_opts *o,
	       const struct strv *slugs, enum share_branches branches,
	       const struct share_teller *t, struct share_sum *sum,
	       struct err *err)
{
	return push(r, o, slugs, branches, false, t, sum, err);
}

int share_push_pruned(struct repo *r, const struct remote_opts *o,
		      const struct strv *slugs, const struct share_teller *t,
		      struct share_sum *sum, struct err *err)
{
	return push(r, o, slugs, BRANCHES_NONE, true, t, sum, err);
}
