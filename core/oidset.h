/* A set of object ids: open addressing, grows by doubling. */
#ifndef CORE_OIDSET_H
#define CORE_OIDSET_H

#include <stdbool.h>
#include <stddef.h>

#include "core/oid.h"

struct oidset {
	struct oid *slot;	/* zero id: free */
	size_t nr, cap;		/* cap: power of two */
};
#define OIDSET_INIT { NULL, 0, 0 }

/* False if it was there.  The zero id is never a member. */
bool oidset_add(struct oidset *s, const struct oid *id);
bool oidset_has(const struct oidset *s, const struct oid *id);
void oidset_release(struct oidset *s);

#endif
