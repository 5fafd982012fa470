#include "core/crowd_parts.h"

#include <ctype.h>
#include <math.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/store_parts.h"
#include "core/worker.h"

#define WAIT_GROWS 1.5
#define PAUSE_MOST_S 60.0	/* while the remote is out of reach */
#define HURRY_MS 20000		/* for the last push after a signal */
#define HASTE_MS 2000		/* where it was out of reach before */
#define REFUSALS 5		/* in a row, until it is taken for a no */
#define INTERVAL_MOST_S 3600
#define CLAIM_S 10.0		/* that what is claimed at once is to last */
#define RACE_TRIES 5
#define RACE_PAUSE_S 0.5

enum { CHAIN, PLAN, METRICS, AGENTS };

void crowd_warn(const struct crowd *c, const char *text)
{
	if (c->teller.warned)
		c->teller.warned(c->teller.ctx, text);
}

void crowd_say(const struct crowd *c, const char *fmt, ...)
{
	struct buf text = BUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	buf_vaddf(&text, fmt, ap);
	va_end(ap);
	if (c->teller.said)
		c->teller.said(c->teller.ctx, text.ptr);
	buf_release(&text);
}

/* Between half and all of s, so that workers do not go in step. */
static double jittered(struct crowd *c, double s)
{
	return s * (0.5 + rng_unit(&c->rng) / 2);
}

/* Seconds until the next call, after a number of bad ones. */
static void rest(struct crowd *c, int bad)
{
	double s = ldexp(1, bad < 6 ? bad : 6);

	c->retry = clock_s() +
		jittered(c, s < PAUSE_MOST_S ? s : PAUSE_MOST_S);
}

/* Tells once that the remote is out of reach, and once that it is back. */
int crowd_noted(struct crowd *c, int ret, const struct err *err)
{
	char *text = NULL;

	if (ret == ERR_NET) {
		rest(c, c->failed);
		leases_blind(c->leases);
		if (!c->failed++)
			text = xasprintf("%s; it is tried again until it can "
					 "be reached", err->msg);
	} else if (!ret && c->failed) {
		c->failed = 0;
		text = xasprintf("the remote '%s' can be reached again",
				 c->remote);
	}
	if (text)
		crowd_warn(c, text);
	free(text);
	return ret;
}

/* As crowd_noted(), of a push: that the remote refuses it may be trouble of
 * its own that passes. */
static int noted_push(struct crowd *c, int ret, bool moved,
		      const struct err *err)
{
	char *text;

	if (!ret && moved)
		c->refused = 0;
	if (ret != ERR_GIT || ++c->refused >= REFUSALS)
		return crowd_noted(c, ret, err);
	rest(c, c->refused);
	if (c->refused == 1) {
		text = xasprintf("%s; it is tried again", err->msg);
		crowd_warn(c, text);
		free(text);
	}
	return ERR_NET;
}

/* After a failure the next call waits for its turn. */
static bool resting(const struct crowd *c, struct err *err)
{
	if ((!c->failed && !c->refused) || clock_s() >= c->retry)
		return false;
	err_set(err, ERR_NET, "the remote '%s' is out of reach", c->remote);
	return true;
}

/* ---- names ---- */

/* A key of this worker's alone. */
static char *key_of(const char *kind, const char *worker)
{
	struct buf key = BUF_INIT;

	buf_addstr(&key, kind);
	for (const char *p = worker; *p; p++)
		buf_addch(&key, isalnum((unsigned char)*p) && !(*p & 0x80) ?
			  tolower((unsigned char)*p) : '-');
	return buf_detach(&key);
}

/* This clone may take another id on the way (core/worker.h). */
static void name_refs(struct crowd *c)
{
	static const char *const kind[] = { "", "plan", "metrics", "agents" };
	const struct search *s = c->search;

	if (c->worker && !strcmp(c->worker, s->worker))
		return;
	if (c->here)
		lease_drop(c->leases, c->here);
	free(c->worker);
	free(c->here);
	free(c->single);
	c->worker = xstrdup(s->worker);
	c->here = key_of(KEY_HERE, s->worker);
	c->single = key_of(KEY_ALONE, s->worker);
	for (int k = 0; k < CROWD_REFS; k++) {
		free(c->own[k].local);
		free(c->own[k].there);
		memset(&c->own[k], 0, sizeof(c->own[k]));
		c->own[k].local = k == CHAIN ?
			store_anchor_ref(s->spec.slug, s->worker) :
			store_notes_ref(s->spec.slug, kind[k], s->worker);
		c->own[k].there = share_remote_name(s->repo, c->remote,
						    c->own[k].local);
	}
}

/* ---- pulling ---- */

static bool ends_in(const char *name, const char *worker)
{
	const char *slash = strrchr(name, '/');

	return slash && !strcmp(slash + 1, worker);
}

/* A hash of the refs that are neither leases nor ours. */
static void digest(const struct crowd *c, const struct remote_refs *refs,
		   const char *leases, struct oid *out)
{
	struct buf text = BUF_INIT;
	size_t len = strlen(leases) - 1;	/* without the star */

	for (size_t i = 0; i < refs->nr; i++) {
		const char *name = refs->v[i].name;

		if (strncmp(name, leases, len) != 0 &&
		    !ends_in(name, c->search->worker))
			buf_addf(&text, "%s %s\n", oid_text(&refs->v[i].id).s,
				 name);
	}
	source_blob_id(text.ptr, text.len, out);
	buf_release(&text);
}

static void add_pattern(const struct crowd *c, const char *format_prefix,
			struct strv *out)
{
	char *local = xasprintf("%s%s/", format_prefix,
				c->search->spec.slug);
	char *there = share_remote_name(c->search->repo, c->remote, local);

	strv_pushf(out, "%s*", there);
	free(there);
	free(local);
}

static int take_over(struct crowd *c, struct err *err)
{
	struct share_sum sum = { 0, 0, 0, 0 };
	struct strv slugs = STRV_INIT;
	int ret;

	strv_push(&slugs, c->search->spec.slug);
	ret = share_pull(c->search->repo, &c->opts, &slugs, &c->teller, &sum,
			 err);
	strv_release(&slugs);
	return ret;
}

/* The presence of one who was killed is cleared away, if that can be. */
static void sweep(struct crowd *c)
{
	const char *dead = leases_dead(c->leases, KEY_HERE);
	struct err unused = ERR_INIT;
	char *key;

	if (!dead)
		dead = leases_dead(c->leases, KEY_ALONE);
	if (!dead)
		return;
	key = xstrdup(dead);
	if (lease_claim(c->leases, key, &unused) > 0)
		lease_drop(c->leases, key);
	free(key);
}

/* One ls-remote tells of leases and results; a fetch only if there are new
 * ones. */
int crowd_take(struct crowd *c, bool *news, struct err *err)
{
	struct strv patterns = STRV_INIT;
	struct remote_refs refs = { NULL, 0, 0 };
	char *leases;
	struct oid now;
	int ret;

	*news = false;
	if (resting(c, err))
		return ERR_NET;
	leases = leases_pattern(c->leases);
	add_pattern(c, "refs/maxkernel/", &patterns);
	add_pattern(c, "refs/notes/maxkernel/", &patterns);
	ret = remote_list(c->search->repo, &c->opts, &patterns, &refs, err);
	if (!ret) {
		leases_saw(c->leases, &refs);
		digest(c, &refs, leases, &now);
		*news = c->dirty || !oid_eq(&now, &c->others);
	}
	if (!ret && *news) {
		c->dirty = true;
		ret = take_over(c, err);
	}
	if (!ret && *news) {
		c->dirty = false;
		c->others = now;
		c->news = true;
		c->wait_s = WAIT_LEAST_S;
	}
	if (!ret)
		sweep(c);
	remote_refs_release(&refs);
	strv_release(&patterns);
	free(leases);
	return crowd_noted(c, ret, err);
}

static int pull(void *ctx, bool *news, struct err *err)
{
	return crowd_take(ctx, news, err);
}

/* ---- claims ---- */

static size_t workers(void *ctx)
{
	const struct crowd *c = ctx;

	return 1 + leases_live(c->leases, KEY_HERE);
}

/* Where pushes are counted, they are counted for all workers together. */
static void pace(struct crowd *c)
{
	struct pollfd p = { .fd = c->opts.stop_fd, .events = POLLIN };
	double s = c->interval_s * (double)workers(c) + c->pushed_at -
		clock_s();

	if (c->interval_s > 0 && s > 0)
		poll(&p, p.fd >= 0, (int)(s * 1000) + 1);
	c->pushed_at = clock_s();
}

/* Another makes the rounds alone, and will see that we are here. */
static bool held_off(struct crowd *c)
{
	bool is = leases_live(c->leases, KEY_ALONE) > 0;

	if (is && !c->held_off)
		crowd_say(c, "another worker makes this search alone: it is "
			  "asked to share, and what it makes is waited for "
			  "(if it was killed, for %d s at most)",
			  (int)repo_config_int(c->search->repo,
					       "maxkernel.leaseSeconds",
					       LEASE_TTL_S));
	c->held_off = is;
	return is;
}

/* Our presence is claimed along with the first keys. */
static int claim(void *ctx, const char *const *key, bool *won, size_t nr,
		 struct err *err)
{
	struct crowd *c = ctx;
	const char **all;
	bool *ok, any = false;
	size_t most;
	int ret;

	memset(won, 0, nr * sizeof(*won));
	if (resting(c, err))
		return ERR_NET;
	ret = c->looked ? 0 : leases_look(c->leases, err);
	if (ret)
		return crowd_noted(c, ret, err);
	c->looked = true;
	most = held_off(c) ? 0 : nr;
	all = xcalloc(nr + 1, sizeof(*all));
	ok = xcalloc(nr + 1, sizeof(*ok));
	name_refs(c);
	all[0] = c->here;
	for (size_t i = 0; i < most; i++)
		all[i + 1] = key[i];
	pace(c);
	ret = leases_claim(c->leases, all, ok, most + 1, err);
	for (size_t i = 0; i < most && !ret; i++) {
		won[i] = ok[i + 1];
		any |= won[i];
	}
	free(all);
	free(ok);
	if (any)
		c->wait_s = WAIT_LEAST_S;
	return noted_push(c, ret, any, err);
}

/* Stolen chunks are finished all the same: their results are valid. */
static void keep(void *ctx)
{
	struct crowd *c = ctx;
	struct err err = ERR_INIT;
	size_t lost = 0;

	if (c->alone) {
		crowd_keep_alone(c);
		return;
	}
	if (resting(c, &err))
		return;
	noted_push(c, leases_renew(c->leases, &lost, &err), false, &err);
	if (lost)
		crowd_warn(c, "another worker has taken over what this one "
			   "works on: it was out of reach for too long");
}

/* ---- sharing ---- */

/* Items for the refs of ours that have moved. */
static int own_items(struct crowd *c, struct push_item *item, int *from,
		     size_t *nr, struct err *err)
{
	*nr = 0;
	name_refs(c);
	for (int k = 0; k < CROWD_REFS; k++) {
		struct oid id;
		int ret = repo_ref_read(c->search->repo, c->own[k].local, &id,
					err);

		if (ret == ERR_NOTFOUND) {
			err->code = ERR_NONE;
			continue;
		}
		if (ret)
			return ret;
		if (oid_eq(&id, &c->own[k].id))
			continue;
		item[*nr] = (struct push_item){ .ref = c->own[k].there,
						.id = id,
						.status = PUSH_UNSENT };
		from[(*nr)++] = k;
	}
	return 0;
}

static int judge_item(struct crowd *c, const struct push_item *it, int kind,
		      struct err *err)
{
	switch (it->status) {
	case PUSH_DONE:
	case PUSH_SAME:
		c->own[kind].id = it->id;
		return 0;
	case PUSH_UNSENT:
		return err_set(err, ERR_NET, "not everything reached the remote "
			       "'%s'", c->remote);
	case PUSH_RACE:
		return err_set(err, ERR_RACE, "another clone writes '%s' on the "
			       "remote '%s' too", c->own[kind].local,
			       c->remote);
	default:
		return err_set(err, ERR_GIT, "the remote '%s' refuses '%s': %s",
			       c->remote, c->own[kind].local, it->why);
	}
}

/* ERR_RACE: another process of this clone pushes the same refs, or a copy of
 * this clone does. */
static int push_once(struct crowd *c, struct err *err)
{
	struct push_item item[CROWD_REFS];
	int from[CROWD_REFS];
	size_t nr;
	int ret = own_items(c, item, from, &nr, err);

	if (!ret)
		ret = leases_push(c->leases, item, nr, err);
	for (size_t i = 0; i < nr && !ret; i++)
		ret = judge_item(c, &item[i], from[i], err);
	return ret;
}

/* A plain push finds out whether a copy of this clone writes under our id,
 * and takes another one then. */
static int settle_id(struct crowd *c, struct err *err)
{
	struct share_sum sum = { 0, 0, 0, 0 };
	struct strv slugs = STRV_INIT;
	int ret;

	strv_push(&slugs, c->search->spec.slug);
	ret = share_push(c->search->repo, &c->opts, &slugs, BRANCHES_NONE,
			 &c->teller, &sum, err);
	strv_release(&slugs);
	worker_refresh(c->search);
	return ret;
}

static int push_own(struct crowd *c, struct err *err)
{
	int ret = push_once(c, err);

	for (int i = 0; i < RACE_TRIES && ret == ERR_RACE; i++) {
		poll(NULL, 0, (int)(jittered(c, RACE_PAUSE_S) * 1000));
		if (i == RACE_TRIES / 2)
			ret = settle_id(c, err);
		ret = ret && ret != ERR_RACE ? ret : push_once(c, err);
	}
	if (ret == ERR_RACE)
		err->code = ERR_GIT;
	return ret == ERR_RACE ? ERR_GIT : ret;
}

/* The chunks stay ours until their results are there. */
int crowd_share(struct crowd *c, struct err *err)
{
	int ret;

	if (resting(c, err))
		return ERR_NET;
	pace(c);
	leases_drop_all(c->leases);
	lease_keep(c->leases, c->here);
	c->wait_s = WAIT_LEAST_S;
	ret = push_own(c, err);
	if (ret)
		leases_keep_all(c->leases);
	return noted_push(c, ret, true, err);
}

static int share(void *ctx, struct err *err)
{
	return crowd_share(ctx, err);
}

/* ---- waiting ---- */

static int wait_a_little(void *ctx, struct err *err)
{
	struct crowd *c = ctx;
	struct pollfd p = { .fd = c->opts.stop_fd, .events = POLLIN };
	double s = jittered(c, c->wait_s);

	(void)err;
	if (c->failed || c->refused)
		s = fmin(c->retry - clock_s(), WAIT_MOST_S);
	c->wait_s = c->wait_s * WAIT_GROWS < WAIT_MOST_S ?
		c->wait_s * WAIT_GROWS : WAIT_MOST_S;
	keep(c);
	if (s > 0)
		poll(&p, p.fd >= 0, (int)(s * 1000) + 1);
	return 0;
}

/* ---- opening and closing ---- */

int crowd_open(struct search *s, const struct remote_opts *o, int ttl_s,
	       int64_t attempts, const struct share_teller *t,
	       struct crowd **out, struct err *err)
{
	struct crowd *c = xcalloc(1, sizeof(*c));
	int ret;

	c->face = (struct search_crowd){
		.ctx = c, .attempts = attempts, .pull = pull, .claim = claim,
		.share = share, .keep = keep, .wait = wait_a_little,
		.workers = workers,
	};
	c->search = s;
	c->opts = *o;
	c->remote = xstrdup(o->name);
	c->opts.name = c->remote;
	if (t)
		c->teller = *t;
	c->dirty = true;
	c->wait_s = WAIT_LEAST_S;
	c->interval_s = (double)repo_config_int(s->repo,
						"maxkernel.chunkInterval", 0);
	if (!(c->interval_s >= 0 && c->interval_s <= INTERVAL_MOST_S)) {
		ret = err_set(err, ERR_FORMAT, "maxkernel.chunkInterval takes 0 "
			      "to %d seconds", INTERVAL_MOST_S);
		goto fail;
	}
	c->pushed_at = -INFINITY;
	c->face.claim_s = fmax(CLAIM_S, c->interval_s);
	rng_init(&c->rng, rng_mix(rng_hash(s->worker, strlen(s->worker)),
				  (uint64_t)(clock_s() * 1e6)));
	name_refs(c);
	ret = leases_open(s->repo, &c->opts, s->spec.slug, s->worker, ttl_s,
			  &c->leases, err);
	if (ret)
		goto fail;
	*out = c;
	return 0;
fail:
	crowd_close(c, &(struct err)ERR_INIT);
	return ret;
}

const struct search_crowd *crowd_face(struct crowd *c)
{
	return &c->face;
}

int crowd_close(struct crowd *c, struct err *err)
{
	int ret = 0;

	if (!c)
		return 0;
	if (c->leases) {
		/* The signal that ended the run must not end this push. */
		c->opts.stop_fd = -1;
		leases_hurry(c->leases, c->alone && c->blind ? HASTE_MS :
			     HURRY_MS);
		leases_drop_all(c->leases);
		ret = push_own(c, err);
		leases_close(c->leases);
	}
	for (int k = 0; k < CROWD_REFS; k++) {
		free(c->own[k].local);
		free(c->own[k].there);
	}
	free(c->worker);
	free(c->here);
	free(c->single);
	free(c->remote);
	free(c);
	return ret;
}
