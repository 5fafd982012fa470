/* Whose place a chain that was pruned takes. */
#include <string.h>
#include <strings.h>

#include "core/prune_parts.h"

#define MAX_PRUNES 100		/* that followed each other */

void prune_trailers(const char *message, const char *key,
		    void (*fn)(void *ctx, const char *value, size_t len),
		    void *ctx)
{
	size_t key_len = strlen(key), len;

	for (const char *p = message; *p; p += len + (p[len] == '\n')) {
		len = strcspn(p, "\n");
		if (len > key_len + 2 && p[key_len] == ':' &&
		    p[key_len + 1] == ' ' && !strncasecmp(p, key, key_len))
			fn(ctx, p + key_len + 2, len - key_len - 2);
	}
}

struct named {
	const struct oid *want;
	struct oid last;	/* the newest that is named; zero: none */
	bool found;
};

static void is_named(void *ctx, const char *value, size_t len)
{
	struct named *n = ctx;
	struct oid id;

	if (len != OID_HEX || !oid_parse(&id, value))
		return;
	n->last = id;
	n->found |= oid_eq(&id, n->want);
}

/* Looks for the name in the anchors of a chain. */
static int look_for(struct repo *r, const struct oid *tip, struct named *n,
		    struct err *err)
{
	struct oid at = *tip, last = { { 0 } };

	n->last = last;
	for (size_t i = 0; i < PRUNE_MAX_ANCHORS && !n->found; i++) {
		struct commit c;
		bool more;

		if (repo_commit_read(r, &at, &c, err) < 0)
			return err->code;
		more = is_anchor(c.message);
		memset(&n->last, 0, sizeof(n->last));
		if (more)
			prune_trailers(c.message, PRUNE_TRAILER, is_named, n);
		if (oid_is_zero(&last))
			last = n->last;
		more = more && c.nr_parents;
		if (more)
			at = c.parent[0];
		commit_release(&c);
		if (!more)
			break;
	}
	n->last = last;
	return n->found;
}

int prune_replaces(struct repo *r, const struct oid *old,
		   const struct oid *new, struct err *err)
{
	struct named n = { .want = old };
	struct err ignored;
	int ret = look_for(r, new, &n, err);

	/* What it names may be here still, and know more. */
	for (int i = 0; !ret && i < MAX_PRUNES && !oid_is_zero(&n.last); i++) {
		struct oid last = n.last;

		if (repo_is_ancestor(r, old, &last, &ignored) == 1)
			return 1;
		if (look_for(r, &last, &n, &ignored) == 1)
			return 1;
	}
	return ret;
}
