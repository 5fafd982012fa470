/*
 * Which state a recipe leads to, as far as this process has seen: a hunt for
 * what is new need not rewrite the sources for each of hundreds that are not.
 */
#ifndef AGENTS_BUILTIN_MEMO_H
#define AGENTS_BUILTIN_MEMO_H

#include "core/kernel.h"
#include "core/oid.h"

/* Of a recipe on an origin; the section says what strategies may do. */
void memo_key(const struct kernel *k, const struct oid *origin,
	      const char *recipe, struct oid *key);
/* False: not known.  A zero state: it cannot be applied. */
bool memo_find(const struct oid *key, struct oid *state);
void memo_add(const struct oid *key, const struct oid *state);

#endif
