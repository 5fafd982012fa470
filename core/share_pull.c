/* Fetching what others wrote, checking it and taking it over. */
#include <errno.h>
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/git.h"
#include "core/incoming.h"
#include "core/mem.h"
#include "core/share_parts.h"
#include "core/worker.h"

#define MAX_SLUGS 4096u		/* searches of one pull */

struct pull {
	struct share sh;
	struct strv slugs;	/* to be taken, sorted */
};

static int stopped(const struct share *sh, struct err *err)
{
	struct pollfd p = { sh->o->stop_fd, POLLIN, 0 };

	return sh->o->stop_fd > 0 && poll(&p, 1, 0) > 0 ?
		err_set(err, ERR_STOPPED, "interrupted") : 0;
}

/* ---- which searches ---- */

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool has_slug(const struct strv *sorted, const char *slug)
{
	return sorted->nr && bsearch(&slug, sorted->v, sorted->nr,
				     sizeof(*sorted->v), by_text);
}

/* Sorted, each once. */
static void sort_slugs(struct strv *s)
{
	struct strv once = STRV_INIT;

	strv_sort(s);
	for (size_t i = 0; i < s->nr; i++)
		if (!i || strcmp(s->v[i], s->v[i - 1]) != 0)
			strv_push(&once, s->v[i]);
	strv_release(s);
	*s = once;
}

static void add_slugs(const struct remote_refs *there, struct strv *out)
{
	for (size_t i = 0; i < there->nr; i++) {
		struct share_ref ref;

		if (share_parse(there->v[i].name, &ref) &&
		    ref.kind != SHARE_BRANCH &&
		    (!out->nr || strcmp(out->v[out->nr - 1], ref.slug) != 0))
			strv_push(out, ref.slug);
	}
	sort_slugs(out);
}

/* A whole slug or the only one that begins so. */
static int find_slug(const struct share *sh, const struct strv *all,
		     const char *want, struct strv *out, struct err *err)
{
	const char *found = NULL;
	size_t nr = 0;

	for (size_t i = 0; i < all->nr; i++) {
		if (!strcmp(all->v[i], want)) {
			strv_push(out, want);
			return 0;
		}
		if (*want && !strncmp(all->v[i], want, strlen(want))) {
			found = all->v[i];
			nr++;
		}
	}
	if (nr > 1)
		return err_set(err, ERR_FORMAT, "'%s' could be any of %zu "
			       "searches on remote '%s'", want, nr,
			       sh->o->name);
	if (!found)
		return err_set(err, ERR_NOTFOUND, "remote '%s' has no search "
			       "'%s'", sh->o->name, want);
	strv_push(out, found);
	return 0;
}

static int choose(struct pull *p, const struct strv *wanted, struct err *err)
{
	struct strv all = STRV_INIT;
	int ret = 0;

	strv_release(&p->slugs);
	memset(&p->slugs, 0, sizeof(p->slugs));
	for (int k = 0; k < 2; k++)
		add_slugs(&p->sh.place[k], &all);
	for (size_t i = 0; i < wanted->nr && !ret; i++)
		ret = find_slug(&p->sh, &all, wanted->v[i], &p->slugs, err);
	for (size_t i = 0; i < all.nr && i < MAX_SLUGS && !wanted->nr; i++)
		strv_push(&p->slugs, all.v[i]);
	if (!ret && !wanted->nr && all.nr > MAX_SLUGS)
		share_warn(&p->sh, "remote '%s' has %zu searches: the first "
			   "%u of them are taken, name others to have them",
			   p->sh.o->name, all.nr, MAX_SLUGS);
	sort_slugs(&p->slugs);
	strv_release(&all);
	return ret;
}

/* ---- fetching ---- */

static bool at(struct share *sh, const char *ref, const struct oid *id)
{
	struct err unused = ERR_INIT;
	struct oid have;

	return !repo_ref_read(sh->r, ref, &have, &unused) &&
	       oid_eq(&have, id);
}

/* An older copy of what is here. */
static bool behind(struct share *sh, const struct remote_ref *there)
{
	struct err unused = ERR_INIT;
	struct oid have;

	return !repo_ref_read(sh->r, there->name, &have, &unused) &&
	       share_before(sh, &there->id, &have);
}

static bool wanted(const struct pull *p, const char *name,
		   struct share_ref *ref)
{
	return share_parse(name, ref) && ref->kind != SHARE_BRANCH &&
	       has_slug(&p->slugs, ref->slug);
}

static int fetch(struct pull *p, struct err *err)
{
	struct strv refs = STRV_INIT;
	int ret;

	for (size_t i = 0; i < p->sh.there.nr; i++) {
		const struct remote_ref *there = &p->sh.there.v[i];
		struct share_ref ref;
		char *copy;

		if (!wanted(p, there->name, &ref) ||
		    at(&p->sh, there->name, &there->id) ||
		    (p->sh.at > 0 && behind(&p->sh, there)))
			continue;
		copy = share_tracking(&p->sh, there->name);
		if (!at(&p->sh, copy, &there->id))
			strv_push(&refs, there->name);
		free(copy);
	}
	ret = share_fetch(&p->sh, &refs, err);
	strv_release(&refs);
	return ret;
}

/* Lists and fetches; again when a ref went away or moved in between. */
static int look_and_fetch(struct pull *p, const struct strv *slugs,
			  struct err *err)
{
	int ret = 0;

	for (int try = 0; try < SHARE_TRIES; try++) {
		ret = share_look(&p->sh, err);
		if (!ret)
			ret = choose(p, slugs, err);
		if (ret)
			return ret;
		share_use(&p->sh, 0);
		ret = fetch(p, err);
		if (ret != ERR_NET || !strstr(err->msg, "remote ref"))
			break;
	}
	return ret;
}

struct stale {
	struct pull *p;
	const char *prefix, *local;
	bool all;		/* also what the remote has */
	struct strv refs;
	struct oid *id;		/* where each is */
	size_t nr, cap;
};

static int add_stale(void *ctx, const char *name, const struct oid *id)
{
	struct stale *s = ctx;
	char *local = xasprintf("%s%s", s->local, name + strlen(s->prefix));
	struct share_ref ref;

	/* That it had the spec is how a push knows that it was dropped. */
	if (wanted(s->p, local, &ref) &&
	    (s->all || (ref.kind != SHARE_SPEC &&
			!share_has(&s->p->sh, local)))) {
		strv_push(&s->refs, name);
		GROW(s->id, s->nr, s->cap);
		s->id[s->nr++] = *id;
	}
	free(local);
	return 0;
}

static int drop_copies_of(struct pull *p, const char *local, bool all,
			  struct err *err)
{
	char *prefix = share_tracking(&p->sh, local);
	struct stale s = { .p = p, .prefix = prefix, .local = local,
			   .all = all };
	int ret = repo_ref_each(p->sh.r, prefix, add_stale, &s, err);

	if (!ret)
		ret = git_refs_delete(p->sh.r, &s.refs, s.id, err);
	if (ret == ERR_GIT) {		/* the next pull does it */
		share_tell(&p->sh, "old copies stay for now: %s", err->msg);
		ret = 0;
	}
	strv_release(&s.refs);
	free(s.id);
	free(prefix);
	return ret;
}

/* Copies of what the remote does not have any more (all: of what is wanted)
 * keep objects alive. */
static int drop_copies(struct pull *p, bool all, struct err *err)
{
	int ret = drop_copies_of(p, "refs/maxkernel/", all, err);

	return ret ? ret : drop_copies_of(p, "refs/notes/maxkernel/", all,
					  err);
}

/* ---- what a power cut left ---- */

static size_t clear_folder(const char *path)
{
	DIR *dir = opendir(path);
	size_t nr = 0;

	for (struct dirent *e = dir ? readdir(dir) : NULL; e;
	     e = readdir(dir)) {
		struct stat st;

		if (strlen(e->d_name) == OID_HEX - 2 &&
		    !fstatat(dirfd(dir), e->d_name, &st,
			     AT_SYMLINK_NOFOLLOW) &&
		    S_ISREG(st.st_mode) && !st.st_size)
			nr += !unlinkat(dirfd(dir), e->d_name, 0);
	}
	if (dir)
		closedir(dir);
	return nr;
}

/* Loose objects without any bytes: git takes them for there, and fetches
 * none of them again.  Returns how many there were. */
static size_t clear_empty(struct repo *r)
{
	size_t nr = 0;

	for (unsigned i = 0; i < 256; i++) {
		char *path = xasprintf("%sobjects/%02x", repo_gitdir(r), i);

		nr += clear_folder(path);
		free(path);
	}
	return nr;
}

/* ---- taking over ---- */

static bool is_own(const struct share *sh, const struct share_ref *ref)
{
	return ref->kind != SHARE_SPEC && worker_is(sh->ids.v[0], ref->worker);
}

/* The remote has more under our id than we do.  What was pruned here is ours
 * all the same, as far as it was pushed from here. */
static bool second_writer(struct pull *p, const struct remote_ref *there,
			  const struct share_ref *ref)
{
	struct err unused = ERR_INIT;
	struct oid have;

	if (repo_ref_read(p->sh.r, there->name, &have, &unused) < 0)
		return !share_was_pushed(&p->sh, there->name, &there->id);
	return !share_before(&p->sh, &there->id, &have) &&
	       !(ref->kind == SHARE_CHAIN &&
		 share_pruned(&p->sh, &have, &there->id));
}

static int check_own(struct pull *p, struct err *err)
{
	for (size_t i = 0; i < p->sh.there.nr; i++) {
		struct share_ref ref;

		if (wanted(p, p->sh.there.v[i].name, &ref) &&
		    is_own(&p->sh, &ref) &&
		    second_writer(p, &p->sh.there.v[i], &ref)) {
			int ret = share_renew(&p->sh, err);

			return ret > 0 ? 0 : ret;
		}
	}
	return 0;
}

static void refuse(struct share *sh, const char *ref, const struct err *why)
{
	if (sh->sum->refused++ >= STORE_MAX_WARN)
		return;
	share_warn(sh, "'%s' is not taken over: %s", ref, why->msg);
}

static int move(struct share *sh, const char *ref, const struct oid *old,
		const struct oid *new, struct err *err)
{
	int ret = repo_sync(sh->r, err);

	if (!ret)
		ret = repo_ref_cas(sh->r, ref, old, new, "maxkernel: pull",
				   err);
	return ret;
}

/* 1: moved, 0: nothing to do, -1: refused, *why says it. */
static int take_ref(struct pull *p, struct incoming *in,
		    const struct remote_ref *there,
		    const struct share_ref *ref, size_t *nodes,
		    struct err *why)
{
	struct share *sh = &p->sh;
	struct oid old;
	size_t nr = 0;
	int ret = repo_ref_read(sh->r, there->name, &old, why);

	if (is_own(sh, ref) &&
	    (ret != ERR_NOTFOUND ||
	     !share_was_pushed(sh, there->name, &there->id))) {
		why->code = ERR_NONE;
		return 0;
	}
	if (ret == ERR_NOTFOUND)
		memset(&old, 0, sizeof(old));
	else if (ret || share_before(sh, &there->id, &old) ||
		 (sh->at > 0 && share_pruned(sh, &old, &there->id)))
		return 0;
	ret = incoming_ref(in, there->name, &old, &there->id, &nr, why);
	if (!ret)
		ret = move(sh, there->name, &old, &there->id, why);
	if (ret)
		return -1;
	*nodes += nr;
	return 1;
}

static size_t lower_bound(const struct remote_refs *l, const char *name)
{
	size_t lo = 0, hi = l->nr;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (strcmp(l->v[mid].name, name) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* [*lo, *hi): what the remote has below the folder of a kind. */
static void find_kind(const struct remote_refs *l, const char *slug,
		      enum share_kind kind, size_t *lo, size_t *hi)
{
	/* '0' is what comes behind '/' */
	const char *top = kind == SHARE_NOTES ? "refs/notes/maxkernel" :
		"refs/maxkernel";
	char *from = xasprintf("%s/%s/", top, slug);
	char *to = xasprintf("%s/%s0", top, slug);

	*lo = lower_bound(l, from);
	*hi = lower_bound(l, to);
	free(from);
	free(to);
}

/* The spec to judge the others by: ours, or the remote's if we have none. */
static int take_spec(struct pull *p, const char *slug, struct incoming **in,
		     bool *new, struct err *why)
{
	char *name = xasprintf("refs/maxkernel/%s/spec", slug);
	const struct oid *there = remote_refs_find(&p->sh.there, name);
	struct oid here;
	int ret = repo_ref_read(p->sh.r, name, &here, why);

	*new = ret == ERR_NOTFOUND;
	if (*new && !there)
		ret = err_set(why, ERR_FORMAT, "the remote has no spec of it");
	else if (*new)
		ret = incoming_begin(p->sh.r, slug, there, in, why);
	else if (!ret && there && !oid_eq(there, &here))
		ret = err_set(why, ERR_FORMAT, "another search has that name "
			      "here");
	else if (!ret)
		ret = incoming_begin(p->sh.r, slug, &here, in, why);
	if (!ret && *new)
		ret = incoming_ref(*in, name, NULL, there, NULL, why);
	if (!ret && *new)
		ret = move(&p->sh, name, NULL, there, why);
	free(name);
	return ret;
}

/* What hangs on nodes that another ref brings is taken after that one.
 * Returns how many refs moved. */
static size_t take_kind(struct pull *p, struct incoming *in, const char *slug,
			enum share_kind kind, size_t *nodes)
{
	struct err unused = ERR_INIT, *why;
	size_t sum = 0, moved, left, lo, hi;
	const struct remote_ref *there;
	bool *done;

	find_kind(&p->sh.there, slug, kind, &lo, &hi);
	there = p->sh.there.v + lo;
	why = xcalloc(hi - lo, sizeof(*why));
	done = xcalloc(hi - lo, sizeof(*done));
	do {
		moved = left = 0;
		for (size_t i = 0; i < hi - lo; i++) {
			struct share_ref ref;
			int ret;

			if (done[i] || !share_parse(there[i].name, &ref) ||
			    ref.kind != kind || stopped(&p->sh, &unused))
				continue;
			ret = take_ref(p, in, &there[i], &ref, nodes, &why[i]);
			done[i] = ret >= 0;
			moved += ret > 0;
			left += ret < 0;
		}
		sum += moved;
	} while (moved && left && kind == SHARE_CHAIN);
	for (size_t i = 0; i < hi - lo; i++)
		if (!done[i] && why[i].code && why[i].code != ERR_STOPPED)
			refuse(&p->sh, there[i].name, &why[i]);
	free(why);
	free(done);
	return sum;
}

static void take_search(struct pull *p, const char *slug)
{
	static const enum share_kind order[] = { SHARE_CHAIN, SHARE_NOTES };
	struct share *sh = &p->sh;
	struct incoming *in = NULL;
	struct err why = ERR_INIT;
	size_t nodes = 0, refs;
	bool new;

	if (take_spec(p, slug, &in, &new, &why)) {
		refuse(sh, slug, &why);
		incoming_end(in);
		return;
	}
	refs = new;
	for (size_t k = 0; k < ARRAY_SIZE(order); k++)
		refs += take_kind(p, in, slug, order[k], &nodes);
	incoming_end(in);
	sh->sum->searches += refs > 0;
	sh->sum->refs += refs;
	sh->sum->nodes += nodes;
	if (refs && sh->t && sh->t->search)
		sh->t->search(sh->t->ctx, slug, refs, nodes);
}

/* Two at once in one clone would fetch to the same refs.  *fd is to be
 * closed. */
static int lock(struct repo *r, int *fd, struct err *err)
{
	char *path = xasprintf("%smaxkernel/log/pull.lock", repo_gitdir(r));
	int ret = 0;

	*fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
	if (*fd < 0)
		ret = err_sys(err, "cannot create '%s'", path);
	else if (flock(*fd, LOCK_EX) < 0)
		ret = errno == EINTR ? err_set(err, ERR_STOPPED, "interrupted") :
			err_sys(err, "cannot lock '%s'", path);
	free(path);
	return ret;
}

static int take_all(struct pull *p, struct err *err)
{
	struct strv here = STRV_INIT;
	int ret = 0;

	add_slugs(&p->sh.there, &here);
	for (size_t i = 0; i < p->slugs.nr && !ret; i++) {
		if (has_slug(&here, p->slugs.v[i]))
			take_search(p, p->slugs.v[i]);
		ret = stopped(&p->sh, err);
	}
	strv_release(&here);
	return ret;
}

static int fetch_and_take(struct pull *p, const struct strv *slugs,
			  struct err *err)
{
	int ret = look_and_fetch(p, slugs, err);

	if (!ret)
		ret = check_own(p, err);
	if (!ret)
		ret = take_all(p, err);
	if (ret || !p->sh.place[1].nr)
		return ret;
	/* The beginning of a search, or the rest of it, may be elsewhere. */
	share_use(&p->sh, 1);
	ret = fetch(p, err);
	if (!ret)
		ret = check_own(p, err);
	return ret ? ret : take_all(p, err);
}

/* Once more, if what could not be had or read is damage of ours. */
static int take_lost(struct pull *p, const struct strv *slugs, int ret,
		     struct err *err)
{
	size_t nr;

	if (ret == ERR_STOPPED || (!ret && !p->sh.sum->refused))
		return ret;
	nr = clear_empty(p->sh.r);
	if (!nr)
		return ret;
	share_warn(&p->sh, "%zu objects were empty, as a power cut leaves "
		   "them: what the remote has is fetched once more", nr);
	p->sh.sum->refused = 0;
	ret = drop_copies(p, true, err);
	return ret ? ret : fetch_and_take(p, slugs, err);
}

int share_pull(struct repo *r, const struct remote_opts *o,
	       const struct strv *slugs, const struct share_teller *t,
	       struct share_sum *sum, struct err *err)
{
	struct pull p;
	int fd = -1;
	int ret = share_open(&p.sh, r, o, t, sum, err);

	memset(&p.slugs, 0, sizeof(p.slugs));
	if (!ret)	/* which has made the folder */
		ret = lock(r, &fd, err);
	if (!ret)
		ret = take_lost(&p, slugs, fetch_and_take(&p, slugs, err),
				err);
	if (!ret)
		ret = drop_copies(&p, false, err);
	if (sum->refused > STORE_MAX_WARN)
		share_warn(&p.sh, "%zu more are not taken over",
			   sum->refused - STORE_MAX_WARN);
	if (fd >= 0)
		close(fd);
	strv_release(&p.slugs);
	share_close(&p.sh);
	return ret;
}
