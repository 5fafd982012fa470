/* What the remote has of leases, ours and others'. */
#include "core/lease_parts.h"

#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "core/mem.h"

#define MAX_MESSAGE 4096	/* bytes of a lease that are read */
#define MAX_READ 16		/* leases of others read in one look */

int lease_clamp_ttl(int64_t s)
{
	return s < LEASE_MIN_TTL_S ? LEASE_MIN_TTL_S :
	       s > LEASE_MAX_TTL_S ? LEASE_MAX_TTL_S : (int)s;
}

/* Index in own, or nr_own. */
size_t lease_find_own(const struct leases *l, const char *key)
{
	size_t i = 0;

	while (i < l->nr_own && strcmp(l->own[i].key, key) != 0)
		i++;
	return i;
}

static struct seen *find_seen(const struct leases *l, const char *key)
{
	for (size_t i = 0; i < l->nr_seen; i++)
		if (!strcmp(l->seen[i].key, key))
			return &l->seen[i];
	return NULL;
}

void lease_remove_own(struct leases *l, size_t i)
{
	free(l->own[i].key);
	l->own[i] = l->own[--l->nr_own];
}

void leases_forget(struct leases *l)
{
	for (size_t i = 0; i < l->nr_seen; i++)
		free(l->seen[i].key);
	free(l->seen);
}

/* ---- looking ---- */

/* The ttl that a lease of somebody else's states; 0 if it says none. */
static int read_ttl(struct leases *l, const struct seen *s)
{
	struct err unused = ERR_INIT;
	struct json *j = NULL;
	struct commit c;
	const char *key = NULL;
	int64_t ttl = 0;

	if (repo_commit_read(l->repo, &s->id, &c, &unused))
		return 0;
	if (strlen(c.message) <= MAX_MESSAGE)
		json_parse_object(&j, c.message, strlen(c.message), &unused);
	if (!j || json_need_int(j, "ttl", 1, INT32_MAX, &ttl, &unused) ||
	    json_need_str(j, "key", LEASE_MAX_KEY, &key, &unused) ||
	    strcmp(key, s->key) != 0)
		ttl = LEASE_TTL_S;
	json_free(j);
	commit_release(&c);
	return lease_clamp_ttl(ttl);
}

/*
 * Only of leases that have stood for the least ttl: most are gone before.  A
 * lease that was renewed meanwhile is read another time.
 */
static void read_ttls(struct leases *l)
{
	struct err unused = ERR_INIT;
	double now = clock_s();
	int nr = 0;

	for (size_t i = 0; i < l->nr_seen && nr < MAX_READ; i++) {
		struct seen *s = &l->seen[i];
		struct strv spec = STRV_INIT;

		if (s->ttl_s || now - s->since < LEASE_MIN_TTL_S / 2.0)
			continue;
		nr++;
		strv_pushf(&spec, "%s%s", l->prefix, s->key);
		if (!remote_fetch(l->repo, &l->opts, &spec, false, &unused))
			s->ttl_s = read_ttl(l, s);
		strv_release(&spec);
	}
}

/* What the remote has for a key that is ours, or may be. */
static void saw_own(struct leases *l, size_t i, const struct oid *there)
{
	struct own *o = &l->own[i];

	if (there && !oid_is_zero(&o->maybe) && oid_eq(there, &o->maybe))
		o->id = o->maybe;
	if (there && oid_eq(there, &o->id)) {
		memset(&o->maybe, 0, sizeof(o->maybe));
		return;
	}
	if (!o->dropped && !oid_is_zero(&o->id))
		l->lost++;
	lease_remove_own(l, i);
}

static void saw_other(struct leases *l, const char *key,
		      const struct oid *id, struct seen *out)
{
	const struct seen *before = find_seen(l, key);

	*out = (struct seen){ xstrdup(key), *id, clock_s(), 0 };
	if (before && oid_eq(&before->id, id)) {
		if (!l->blind)
			out->since = before->since;
		out->ttl_s = before->ttl_s;
	}
}

void leases_saw(struct leases *l, const struct remote_refs *refs)
{
	size_t len = strlen(l->prefix), nr = 0;
	struct seen *seen = xcalloc(refs->nr, sizeof(*seen));

	for (size_t i = l->nr_own; i-- > 0;) {
		char *ref = xasprintf("%s%s", l->prefix, l->own[i].key);

		saw_own(l, i, remote_refs_find(refs, ref));
		free(ref);
	}
	for (size_t i = 0; i < refs->nr; i++) {
		const char *key = refs->v[i].name + len;

		if (strncmp(refs->v[i].name, l->prefix, len) != 0 ||
		    !lease_key_ok(key) || lease_find_own(l, key) < l->nr_own)
			continue;
		saw_other(l, key, &refs->v[i].id, &seen[nr++]);
	}
	leases_forget(l);
	l->seen = seen;
	l->nr_seen = nr;
	l->blind = false;
	read_ttls(l);
}

void leases_blind(struct leases *l)
{
	l->blind = true;
}

char *leases_pattern(const struct leases *l)
{
	return xasprintf("%s*", l->prefix);
}

int leases_look(struct leases *l, struct err *err)
{
	struct strv patterns = STRV_INIT;
	struct remote_refs refs = { NULL, 0, 0 };
	char *pattern = leases_pattern(l);
	int ret;

	strv_push(&patterns, pattern);
	ret = remote_list(l->repo, &l->opts, &patterns, &refs, err);
	if (!ret)
		leases_saw(l, &refs);
	remote_refs_release(&refs);
	strv_release(&patterns);
	free(pattern);
	return ret;
}

/* ---- who is alive ---- */

static bool alive(const struct leases *l, const struct seen *s)
{
	const char *dot = strchr(s->key, '.');

	if (dot && !strcmp(dot + 1, l->worker))
		return false;
	return clock_s() - s->since <
		(s->ttl_s ? s->ttl_s : LEASE_TTL_S);
}

bool lease_claimable(const struct leases *l, const char *key,
		     struct oid *expected)
{
	const struct seen *s = find_seen(l, key);

	memset(expected, 0, sizeof(*expected));
	if (!s)
		return true;
	*expected = s->id;
	return !alive(l, s);
}

const char *leases_dead(const struct leases *l, const char *prefix)
{
	for (size_t i = 0; i < l->nr_seen; i++)
		if (!strncmp(l->seen[i].key, prefix, strlen(prefix)) &&
		    !alive(l, &l->seen[i]))
			return l->seen[i].key;
	return NULL;
}

size_t leases_live(const struct leases *l, const char *prefix)
{
	size_t nr = 0;

	for (size_t i = 0; i < l->nr_seen; i++)
		nr += !strncmp(l->seen[i].key, prefix, strlen(prefix)) &&
			alive(l, &l->seen[i]);
	return nr;
}
