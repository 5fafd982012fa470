#include "core/lease_parts.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "core/git.h"
#include "core/json.h"
#include "core/mem.h"
#include "core/share.h"

struct job {			/* one ref of a push */
	size_t own;
	char *ref;
};

bool lease_key_ok(const char *key)
{
	size_t len = strlen(key);

	return len && len <= LEASE_MAX_KEY && *key != '.' &&
	       key[len - 1] != '.' && !strstr(key, "..") &&
	       (len < 5 || strcmp(key + len - 5, ".lock") != 0) &&
	       strspn(key, "abcdefghijklmnopqrstuvwxyz0123456789._-") == len;
}

/* A push goes to each of them, and what one says is not what another has. */
static int check_urls(struct repo *r, const char *remote, struct err *err)
{
	struct strv args = STRV_INIT;
	struct git_run run = { .args = &args };
	size_t nr = 0;
	int ret;

	strv_push(&args, "config");
	strv_push(&args, "--get-all");
	strv_pushf(&args, "remote.%s.pushurl", remote);
	ret = git_run(r, &run, err);
	for (size_t i = 0; !ret && i < run.out.len; i++)
		nr += run.out.ptr[i] == '\n';
	if (nr > 1)
		ret = err_set(err, ERR_FORMAT, "remote '%s' has %zu push URLs: "
			      "workers that share a search need a remote with "
			      "one", remote, nr);
	git_run_release(&run);
	strv_release(&args);
	return ret;
}

int leases_open(struct repo *r, const struct remote_opts *o, const char *slug,
		const char *worker, int ttl_s, struct leases **out,
		struct err *err)
{
	struct leases *l;
	char *local;
	int ret = check_urls(r, o->name, err);

	*out = NULL;
	if (ret < 0)
		return ret;
	l = xcalloc(1, sizeof(*l));
	local = xasprintf("refs/maxkernel/%s/lease/", slug);
	l->repo = r;
	l->opts = *o;
	l->remote = xstrdup(o->name);
	l->opts.name = l->remote;
	l->slug = xstrdup(slug);
	l->worker = xstrdup(worker);
	l->ttl_s = lease_clamp_ttl(ttl_s);
	l->prefix = share_remote_name(r, l->remote, local);
	free(local);
	*out = l;
	return 0;
}

void leases_close(struct leases *l)
{
	struct err unused = ERR_INIT;

	if (!l)
		return;
	leases_drop_all(l);
	leases_push(l, NULL, 0, &unused);
	while (l->nr_own)
		lease_remove_own(l, l->nr_own - 1);
	free(l->own);
	leases_forget(l);
	free(l->remote);
	free(l->slug);
	free(l->worker);
	free(l->prefix);
	free(l);
}

void leases_hurry(struct leases *l, int timeout_ms)
{
	l->opts.stop_fd = -1;
	l->opts.timeout_ms = timeout_ms;
}

bool lease_held(const struct leases *l, const char *key)
{
	size_t i = lease_find_own(l, key);

	return i < l->nr_own && !l->own[i].dropped &&
	       !oid_is_zero(&l->own[i].id);
}

/* ---- one push ---- */

static int new_commit(struct leases *l, const char *key, struct oid *out,
		      struct err *err)
{
	unsigned char nonce[16];
	struct tree empty = { NULL, 0, 0 };
	struct buf text = BUF_INIT, hex = BUF_INIT;
	struct oid tree;
	int ret;

	if (getrandom(nonce, sizeof(nonce), 0) != sizeof(nonce))
		return err_sys(err, "cannot get random bytes");
	for (size_t i = 0; i < sizeof(nonce); i++)
		buf_addf(&hex, "%02x", nonce[i]);
	json_open(&text, NULL, '{');
	json_put_str(&text, "w", l->worker);
	json_put_str(&text, "key", key);
	json_put_str(&text, "nonce", hex.ptr);
	json_put_int(&text, "ttl", l->ttl_s);
	json_shut(&text, '}');
	buf_addch(&text, '\n');
	ret = repo_tree_write(l->repo, &empty, &tree, err);
	if (!ret)
		ret = repo_commit_write(l->repo, &tree, NULL, 0, text.ptr, out,
					err);
	buf_release(&text);
	buf_release(&hex);
	return ret;
}

/* What came of one ref of a push; an entry that is no longer ours is marked
 * by two zero ids. */
static void settle(struct leases *l, struct own *o, struct push_item *it,
		   double began)
{
	static const struct oid zero;
	bool deleted = oid_is_zero(&it->id);
	/* SAME: an earlier push of this very commit came through after all. */
	bool done = it->status == PUSH_DONE || it->status == PUSH_SAME;

	if (done) {
		o->id = it->id;
		o->maybe = zero;
		o->at = began;
	} else if (it->status == PUSH_UNSENT) {
		if (!deleted)
			o->maybe = it->id;
	} else if (it->status == PUSH_REFUSED) {
		/* Where deleting is not allowed a lease dies of age. */
		if (deleted)
			o->id = o->maybe = zero;
	} else if (!oid_is_zero(&it->expected) && !oid_is_zero(&o->maybe) &&
		   !oid_eq(&it->expected, &o->maybe)) {
		/* An earlier renewal may stand there: that is tried next. */
		o->id = o->maybe;
		o->maybe = zero;
		o->at = 0;
	} else {
		l->lost += !deleted && !oid_is_zero(&o->id);
		o->id = o->maybe = zero;
	}
}

static void add_job(struct leases *l, size_t own, const struct oid *id,
		    const struct oid *expected, struct push_item *item,
		    struct job *job)
{
	job->own = own;
	job->ref = xasprintf("%s%s", l->prefix, l->own[own].key);
	*item = (struct push_item){ .ref = job->ref, .id = *id, .leased = true,
				    .expected = *expected,
				    .status = PUSH_UNSENT };
}

/* Adds what was dropped and is still there as far as we know. */
static size_t add_drops(struct leases *l, struct push_item *item,
			struct job *job)
{
	static const struct oid zero;
	size_t nr = 0;

	for (size_t i = 0; i < l->nr_own; i++) {
		struct own *o = &l->own[i];

		if (!o->dropped)
			continue;
		if (oid_is_zero(&o->id))	/* a claim that may stand there */
			o->id = o->maybe;
		add_job(l, i, &zero, &o->id, &item[nr], &job[nr]);
		nr++;
	}
	return nr;
}

static void sweep(struct leases *l)
{
	for (size_t i = l->nr_own; i-- > 0;)
		if (oid_is_zero(&l->own[i].id) && oid_is_zero(&l->own[i].maybe))
			lease_remove_own(l, i);
}

/* What came of the first items of a push, which are job's. */
static int settle_jobs(struct leases *l, struct push_item *item,
		       struct job *job, size_t nr_jobs, double began, int ret,
		       struct err *err)
{
	for (size_t i = 0; i < nr_jobs; i++) {
		if (ret)
			item[i].status = PUSH_UNSENT;
		settle(l, &l->own[job[i].own], &item[i], began);
		if (!ret && item[i].status == PUSH_REFUSED &&
		    !oid_is_zero(&item[i].id))
			ret = err_set(err, ERR_GIT, "the remote refuses leases: "
				      "'%s': %s", job[i].ref, item[i].why);
		free(job[i].ref);
	}
	sweep(l);
	return ret;
}

static int push(struct leases *l, struct push_item *item, struct job *job,
		size_t nr_jobs, struct err *err)
{
	double began = clock_s();
	int ret = nr_jobs ? remote_push(l->repo, &l->opts, item, nr_jobs,
					false, err) : 0;

	return settle_jobs(l, item, job, nr_jobs, began, ret, err);
}

static bool any_is(const struct push_item *item, size_t nr,
		   enum push_status status)
{
	for (size_t i = 0; i < nr; i++)
		if (item[i].status == status)
			return true;
	return false;
}

static bool all_there(const struct push_item *item, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (item[i].status != PUSH_DONE && item[i].status != PUSH_SAME)
			return false;
	return true;
}

/*
 * A chunk that is given back before its results are there would be done a
 * second time: both at once or, where one ref stops the others, the results
 * and only then the rest.  item: the drops, then nr results.
 */
static int push_results(struct leases *l, struct push_item *item,
			size_t drops, size_t nr, struct err *err)
{
	struct push_item *more = item + drops;
	int ret = remote_push(l->repo, &l->opts, item, drops + nr,
			      drops && nr, err);

	if (ret || !drops || !any_is(more, nr, PUSH_UNSENT))
		return ret;
	ret = remote_push(l->repo, &l->opts, more, nr, false, err);
	if (!ret && all_there(more, nr))
		ret = remote_push(l->repo, &l->opts, item, drops, false, err);
	return ret;
}

int leases_push(struct leases *l, struct push_item *more, size_t nr,
		struct err *err)
{
	size_t most = l->nr_own + nr, jobs;
	struct push_item *item = xcalloc(most, sizeof(*item));
	struct job *job = xcalloc(l->nr_own, sizeof(*job));
	double began = clock_s();
	int ret = 0;

	jobs = add_drops(l, item, job);
	if (nr)
		memcpy(item + jobs, more, nr * sizeof(*item));
	if (jobs + nr)
		ret = push_results(l, item, jobs, nr, err);
	ret = settle_jobs(l, item, job, jobs, began, ret, err);
	if (nr)
		memcpy(more, item + jobs, nr * sizeof(*item));
	free(job);
	free(item);
	return ret;
}

/* ---- claims ---- */

/* Takes back what was dropped and not deleted yet. */
static bool still_ours(struct leases *l, const char *key)
{
	size_t i = lease_find_own(l, key);

	if (i == l->nr_own || oid_is_zero(&l->own[i].id))
		return false;
	l->own[i].dropped = false;
	return true;
}

static int add_claim(struct leases *l, const char *key,
		     const struct oid *expected, struct push_item *item,
		     struct job *job, struct err *err)
{
	struct oid id;
	size_t i = lease_find_own(l, key);

	if (new_commit(l, key, &id, err))
		return err->code;
	if (i == l->nr_own) {
		GROW(l->own, l->nr_own, l->cap_own);
		l->own[l->nr_own++] = (struct own){ .key = xstrdup(key) };
	}
	l->own[i].dropped = false;
	/* Of a claim whose end was not seen: it may be what is there. */
	if (!oid_is_zero(&l->own[i].maybe))
		expected = &l->own[i].maybe;
	add_job(l, i, &id, expected, item, job);
	return 0;
}

int leases_claim(struct leases *l, const char *const *key, bool *won,
		 size_t nr, struct err *err)
{
	size_t most = l->nr_own + nr, jobs, drops = 0;
	struct push_item *item = xcalloc(most, sizeof(*item));
	struct job *job = xcalloc(most, sizeof(*job));
	struct oid expected;
	int ret = 0;

	for (size_t i = 0; i < nr && !ret; i++)
		if (!lease_key_ok(key[i]))
			ret = err_set(err, ERR_FORMAT, "'%s' is not the key of "
				      "a lease", key[i]);
		else
			still_ours(l, key[i]);
	if (!ret)
		drops = add_drops(l, item, job);
	jobs = drops;
	for (size_t i = 0; i < nr && !ret; i++) {
		if (lease_held(l, key[i]) || !lease_claimable(l, key[i], &expected))
			continue;
		ret = add_claim(l, key[i], &expected, &item[jobs], &job[jobs],
				err);
		jobs += !ret;
	}
	if (!ret && jobs > drops)
		ret = push(l, item, job, jobs, err);
	else
		for (size_t i = 0; i < jobs; i++)
			free(job[i].ref);
	sweep(l);	/* claims that were never pushed */
	for (size_t i = 0; i < nr; i++)
		won[i] = lease_held(l, key[i]);
	free(job);
	free(item);
	return ret;
}

int lease_claim(struct leases *l, const char *key, struct err *err)
{
	bool won = false;
	int ret = leases_claim(l, &key, &won, 1, err);

	return ret ? ret : won;
}

/* ---- renewing and giving back ---- */

static bool due(const struct leases *l, const struct own *o, double now)
{
	return o->dropped || (!oid_is_zero(&o->id) &&
			      now - o->at > l->ttl_s / 3.0);
}

static int renew(struct leases *l, struct err *err)
{
	size_t most = l->nr_own, jobs;
	struct push_item *item = xcalloc(most, sizeof(*item));
	struct job *job = xcalloc(most, sizeof(*job));
	double now = clock_s();
	struct oid id;
	int ret = 0;

	jobs = add_drops(l, item, job);
	for (size_t i = 0; i < most && !ret; i++) {
		struct own *o = &l->own[i];

		if (o->dropped || !due(l, o, now))
			continue;
		ret = new_commit(l, o->key, &id, err);
		if (ret)
			break;
		add_job(l, i, &id, &o->id, &item[jobs], &job[jobs]);
		jobs++;
	}
	if (!ret)
		ret = push(l, item, job, jobs, err);
	else
		for (size_t i = 0; i < jobs; i++)
			free(job[i].ref);
	free(job);
	free(item);
	return ret;
}

int leases_renew(struct leases *l, size_t *lost, struct err *err)
{
	double now = clock_s();
	bool any = false;
	int ret = 0;

	for (size_t i = 0; i < l->nr_own; i++)
		any |= due(l, &l->own[i], now);
	if (any)
		ret = renew(l, err);
	*lost = l->lost;
	l->lost = 0;
	return ret;
}

void lease_drop(struct leases *l, const char *key)
{
	size_t i = lease_find_own(l, key);

	if (i < l->nr_own)
		l->own[i].dropped = true;
}

void lease_keep(struct leases *l, const char *key)
{
	size_t i = lease_find_own(l, key);

	if (i < l->nr_own && !oid_is_zero(&l->own[i].id))
		l->own[i].dropped = false;
}

void leases_drop_all(struct leases *l)
{
	for (size_t i = 0; i < l->nr_own; i++)
		l->own[i].dropped = true;
}

void leases_keep_all(struct leases *l)
{
	for (size_t i = 0; i < l->nr_own; i++)
		if (!oid_is_zero(&l->own[i].id))
			l->own[i].dropped = false;
}

int lease_release(struct leases *l, const char *key, struct err *err)
{
	lease_drop(l, key);
	return leases_push(l, NULL, 0, err);
}
