/*
 * Leases: who works on what, on the remote alone, at
 * refs/maxkernel/<s>/lease/<key>.  Advisory: two who work on the same cost
 * time, never correctness.
 *
 * A lease is a parentless commit with an empty tree whose message is one JSON
 * object {"w","key","nonce","ttl"}; its nonce makes it nobody else's.  It is
 * created only if absent, renewed and stolen by compare and swap.  Nobody's
 * clock is compared: a lease is dead when this observer has seen the same id
 * there for its ttl (at least LEASE_MIN_TTL_S, at most LEASE_MAX_TTL_S;
 * LEASE_TTL_S where it cannot be read) by its own monotonic clock.
 *
 * A push whose end was not seen (the connection broke) may have been done:
 * the next look or push finds out, and what turns out to be ours is ours.
 */
#ifndef CORE_LEASE_H
#define CORE_LEASE_H

#include "core/remote.h"

#define LEASE_TTL_S 900
#define LEASE_MIN_TTL_S 2
#define LEASE_MAX_TTL_S 86400
#define LEASE_MAX_KEY 100	/* characters */

struct leases;			/* of one search on one remote */

/* o and what it points to are copied. */
int leases_open(struct repo *r, const struct remote_opts *o, const char *slug,
		const char *worker, int ttl_s, struct leases **out,
		struct err *err);
/* Releases what is held, as far as the remote can be reached, and frees;
 * NULL is allowed. */
void leases_close(struct leases *l);

/*
 * A key is [a-z0-9._-], at most LEASE_MAX_KEY, and fit for a ref name.  One
 * that has a dot and a worker's name behind it is that worker's alone: one of
 * ours that was not claimed through l is of a process that is no more.
 */
bool lease_key_ok(const char *key);

/* Looks at what is there now (one ls-remote). */
int leases_look(struct leases *l, struct err *err);
/* The pattern of that ls-remote; caller frees. */
char *leases_pattern(const struct leases *l);
/* As leases_look(), from a listing of the caller's that has all of it. */
void leases_saw(struct leases *l, const struct remote_refs *refs);
/* How many leases of others, whose keys begin so, were alive as of the last
 * look. */
size_t leases_live(const struct leases *l, const char *prefix);
/* The key of one that is dead, or NULL; borrowed until the next look. */
const char *leases_dead(const struct leases *l, const char *prefix);
/*
 * The remote was out of reach, for the others too perhaps, so that they could
 * not renew: with the next look every ttl begins anew.
 */
void leases_blind(struct leases *l);

/*
 * Claims a key: 1 it is ours (also when it was before), 0 somebody else has
 * it and is alive as of the last look, or was faster.
 */
int lease_claim(struct leases *l, const char *key, struct err *err);
/* The same for several keys in one push; 0 and won[i]. */
int leases_claim(struct leases *l, const char *const *key, bool *won,
		 size_t nr, struct err *err);
/* Renews all that is older than a third of its ttl; 0 and *lost = how many
 * were stolen from us since the last call.  Cheap to call often. */
int leases_renew(struct leases *l, size_t *lost, struct err *err);
bool lease_held(const struct leases *l, const char *key);
int lease_release(struct leases *l, const char *key, struct err *err);
/*
 * Not ours any longer, as of now; the remote is told with the next push of
 * any kind, so that giving back the last chunk and claiming the next is one.
 */
void lease_drop(struct leases *l, const char *key);
void leases_drop_all(struct leases *l);
/* Takes back a lease_drop(), or every one, that the remote was not told of. */
void lease_keep(struct leases *l, const char *key);
void leases_keep_all(struct leases *l);
/* Pushes these items (NULL: none) together with what was dropped, which is
 * not deleted before they are there. */
int leases_push(struct leases *l, struct push_item *more, size_t nr,
		struct err *err);

/* For calls that must be made after a signal: replaces opts.stop_fd and
 * opts.timeout_ms. */
void leases_hurry(struct leases *l, int timeout_ms);

#endif
