/*
 * Where lines of spends go.  A note is written anew with every batch, so the
 * one on the spec commit takes them only while it is short.  What comes later
 * stands on ledgers: empty commits that hang in the anchor chain beside the
 * nodes, each with a note of bounded length.  A ledger is the last parent of
 * the anchor that came with it.  Unlike an anchor it stays the commit that it
 * is when the chain is written anew (pruning, another worker id).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/oidset.h"
#include "core/store_parts.h"

#define LEDGER_BYTES 65536u	/* of one note of lines, about */
#define LOOK_BACK 16		/* anchors in which the last one is looked for */

struct ledger {
	char worker[80];	/* whose; a name is shorter */
	struct oid at;		/* zero: none */
	bool looked, spec_full;
};

bool store_is_ledger(const struct commit *c)
{
	static const char subject[] = "maxkernel: ledger ";

	return !strncmp(c->message, subject, sizeof(subject) - 1);
}

/* Has our note on a commit room for so many bytes? */
static int has_room(struct search *s, const struct oid *on, size_t more,
		    bool *room, struct err *err)
{
	char *ref = store_notes_ref(s->spec.slug, "metrics", s->worker);
	size_t left = more < LEDGER_BYTES ? LEDGER_BYTES - more : 0;
	struct notes n;
	int ret = notes_get(s->repo, ref, on, &n, err);

	free(ref);
	*room = true;
	for (size_t i = 0; !ret && *room && i < n.nr; i++) {
		ret = repo_blob_check(s->repo, &n.v[i].blob, left, err);
		*room = !ret;
		if (ret == ERR_LIMIT)
			ret = 0;
	}
	notes_release(&n);
	return ret;
}

static bool is_own(const struct search *s, const struct oid *id)
{
	struct buf value = BUF_INIT;
	struct err ignored;
	struct commit c;
	bool own;

	if (repo_commit_read(s->repo, id, &c, &ignored) < 0)
		return false;
	own = store_is_ledger(&c) &&
		commit_trailer(c.message, "Maxkernel-Search", &value) &&
		!strcmp(value.ptr, s->spec.slug) &&
		commit_trailer(c.message, "Maxkernel-Worker", &value) &&
		!strcmp(value.ptr, s->worker);
	commit_release(&c);
	buf_release(&value);
	return own;
}

/* The ledger that an earlier process left; where none is near, a new one will
 * do. */
static void look_back(struct search *s, struct ledger *l)
{
	char *ref = store_anchor_ref(s->spec.slug, s->worker);
	struct err ignored;
	struct oid at;
	int ret = repo_ref_read(s->repo, ref, &at, &ignored);

	free(ref);
	for (int i = 0; !ret && i < LOOK_BACK && oid_is_zero(&l->at); i++) {
		struct commit c;
		bool more;

		if (repo_commit_read(s->repo, &at, &c, &ignored) < 0)
			break;
		more = c.nr_parents && is_anchor(c.message);
		if (more && is_own(s, &c.parent[c.nr_parents - 1]))
			l->at = c.parent[c.nr_parents - 1];
		if (more)
			at = c.parent[0];
		commit_release(&c);
		if (!more)
			break;
	}
	l->looked = true;
}

static int write_ledger(struct search *s, struct oid *out, struct err *err)
{
	struct tree empty = { NULL, 0, 0 };
	char now[METRIC_TIME + 1], *message;
	struct oid tree;
	int ret = repo_tree_write(s->repo, &empty, &tree, err);

	metric_now(now);
	message = xasprintf("maxkernel: ledger %s\n\nMaxkernel-Search: %s\n"
			    "Maxkernel-Worker: %s\n", now, s->spec.slug,
			    s->worker);
	if (!ret)
		ret = repo_commit_write(s->repo, &tree, NULL, 0, message, out,
					err);
	free(message);
	return ret;
}

int ledger_place(struct search *s, size_t len, struct oid *on, bool *new,
		 struct err *err)
{
	struct ledger *l = s->ledger;
	bool room = false;
	int ret = 0;

	*new = false;
	if (l && strcmp(l->worker, s->worker) != 0) {
		ledger_forget(s);
		l = NULL;
	}
	if (!l) {
		l = s->ledger = xcalloc(1, sizeof(*l));
		snprintf(l->worker, sizeof(l->worker), "%s", s->worker);
	}
	if (!l->spec_full) {
		ret = has_room(s, &s->spec_commit, len, &room, err);
		l->spec_full = !ret && !room;
		*on = s->spec_commit;
		if (ret || room)
			return ret;
	}
	if (!l->looked)
		look_back(s, l);
	if (!oid_is_zero(&l->at))
		ret = has_room(s, &l->at, len, &room, err);
	if (!ret && !room) {
		ret = write_ledger(s, &l->at, err);
		*new = true;
	}
	if (ret)	/* not to be taken for one that is in the chain */
		ledger_forget(s);
	else
		*on = l->at;
	return ret;
}

void ledger_forget(struct search *s)
{
	free(s->ledger);
	s->ledger = NULL;
}

/* ---- calls that were paid for already ---- */

static struct oid call_key(const char *call)
{
	struct oid key;

	source_blob_id(call, strlen(call), &key);
	return key;
}

void ledger_paid(struct search *s, const char *call)
{
	struct oid key = call_key(call);

	if (!s->paid)
		s->paid = xcalloc(1, sizeof(*s->paid));
	oidset_add(s->paid, &key);
}

bool ledger_is_paid(const struct search *s, const char *call)
{
	struct oid key = call_key(call);

	return s->paid && oidset_has(s->paid, &key);
}

void ledger_release_paid(struct search *s)
{
	if (s->paid)
		oidset_release(s->paid);
	free(s->paid);
	s->paid = NULL;
}
