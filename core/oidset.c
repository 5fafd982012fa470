#include "core/oidset.h"

#include <stdlib.h>

#include "core/mem.h"

/* Ids are hashes already: their first bytes do. */
static size_t find(const struct oidset *s, const struct oid *id)
{
	size_t i;

	memcpy(&i, id->id, sizeof(i));
	for (i &= s->cap - 1; !oid_is_zero(&s->slot[i]); i = (i + 1) & (s->cap - 1))
		if (oid_eq(&s->slot[i], id))
			break;
	return i;
}

static void grow(struct oidset *s)
{
	struct oidset old = *s;

	s->cap = old.cap ? old.cap * 2 : 64;
	s->slot = xcalloc(s->cap, sizeof(*s->slot));
	for (size_t i = 0; i < old.cap; i++)
		if (!oid_is_zero(&old.slot[i]))
			s->slot[find(s, &old.slot[i])] = old.slot[i];
	free(old.slot);
}

bool oidset_add(struct oidset *s, const struct oid *id)
{
	size_t i;

	if (oid_is_zero(id))
		return false;
	if (s->nr * 2 >= s->cap)
		grow(s);
	i = find(s, id);
	if (!oid_is_zero(&s->slot[i]))
		return false;
	s->slot[i] = *id;
	s->nr++;
	return true;
}

bool oidset_has(const struct oidset *s, const struct oid *id)
{
	return s->nr && !oid_is_zero(id) && !oid_is_zero(&s->slot[find(s, id)]);
}

void oidset_release(struct oidset *s)
{
	free(s->slot);
	s->slot = NULL;
	s->nr = s->cap = 0;
}
