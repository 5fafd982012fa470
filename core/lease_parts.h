/* What the files of leases share; no one else includes this. */
#ifndef CORE_LEASE_PARTS_H
#define CORE_LEASE_PARTS_H

#include "core/clock.h"
#include "core/lease.h"

struct own {			/* a lease that is ours, or may be */
	char *key;
	struct oid id;		/* zero: not known to be ours */
	struct oid maybe;	/* pushed, and nobody said what came of it */
	double at;		/* when id was pushed */
	bool dropped;		/* to be deleted */
};

struct seen {			/* a lease of somebody else's */
	char *key;
	struct oid id;
	double since;		/* when this id was seen first */
	int ttl_s;		/* 0: not read yet */
};

struct leases {
	struct repo *repo;
	struct remote_opts opts;
	char *remote, *slug, *worker;
	char *prefix;		/* of the refs, as the remote names them */
	int ttl_s;
	struct own *own;
	size_t nr_own, cap_own;
	struct seen *seen;
	size_t nr_seen;
	size_t lost;
	bool blind;
};

int lease_clamp_ttl(int64_t s);
/* Index in own, or nr_own. */
size_t lease_find_own(const struct leases *l, const char *key);
void lease_remove_own(struct leases *l, size_t i);
void leases_forget(struct leases *l);
/* What the claim of a key has to find on the remote; false: it is alive. */
bool lease_claimable(const struct leases *l, const char *key,
		     struct oid *expected);

#endif
