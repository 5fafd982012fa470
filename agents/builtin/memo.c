#include "agents/builtin/memo.h"

#include <stdint.h>
#include <stdlib.h>

#include "core/mem.h"
#include "core/source.h"

#define MAX_ENTRIES 65536u

struct entry {
	struct oid key, state;
	bool used;
};

/* Open addressing, at most half full; begun anew when that is too much. */
static struct entry *table;
static size_t nr, cap;

void memo_key(const struct kernel *k, const struct oid *origin,
	      const char *recipe, struct oid *key)
{
	struct buf text = BUF_INIT;

	buf_add(&text, origin->id, OID_RAW);
	buf_addf(&text, "%s\n%s", recipe, k->text.ptr);
	source_blob_id(text.ptr, text.len, key);
	buf_release(&text);
}

/* Where the key is, or would be. */
static struct entry *slot_of(struct entry *v, size_t size,
			     const struct oid *key)
{
	uint32_t at;

	memcpy(&at, key->id, sizeof(at));
	for (size_t i = at & (size - 1);; i = (i + 1) & (size - 1))
		if (!v[i].used || oid_eq(&v[i].key, key))
			return &v[i];
}

bool memo_find(const struct oid *key, struct oid *state)
{
	const struct entry *e = cap ? slot_of(table, cap, key) : NULL;

	if (!e || !e->used)
		return false;
	*state = e->state;
	return true;
}

static void make_room(void)
{
	size_t size = cap ? cap * 2 : 1024;
	struct entry *v;

	if (nr * 2 < cap)
		return;
	if (nr >= MAX_ENTRIES) {
		memset(table, 0, cap * sizeof(*table));
		nr = 0;
		return;
	}
	v = xcalloc(size, sizeof(*v));
	for (size_t i = 0; i < cap; i++)
		if (table[i].used)
			*slot_of(v, size, &table[i].key) = table[i];
	free(table);
	table = v;
	cap = size;
}

void memo_add(const struct oid *key, const struct oid *state)
{
	struct entry *e;

	make_room();
	e = slot_of(table, cap, key);
	nr += !e->used;
	*e = (struct entry){ *key, *state, true };
}
