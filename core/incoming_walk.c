/* Which commits a new tip of an anchor chain brings, and what each one is. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/incoming_parts.h"
#include "core/mem.h"

#define MAX_UNITED 64

/* ---- a table of commits ---- */

void walk_init(struct walk *w, struct incoming *in)
{
	memset(w, 0, sizeof(*w));
	w->in = in;
	oidset_add(&w->roots, &in->spec.root);
	oidset_add(&w->roots, &in->spec.base);
}

void walk_release(struct walk *w)
{
	free(w->v);
	free(w->parent);
	free(w->slot);
	free(w->heap);
	strv_release(&w->united);
	oidset_release(&w->roots);
}

static size_t slot_of(const struct walk *w, const struct oid *id)
{
	size_t i;

	memcpy(&i, id->id, sizeof(i));
	for (i &= w->nr_slots - 1; w->slot[i]; i = (i + 1) & (w->nr_slots - 1))
		if (oid_eq(&w->v[w->slot[i] - 1].id, id))
			break;
	return i;
}

static void grow_slots(struct walk *w)
{
	free(w->slot);
	w->nr_slots = w->nr_slots ? w->nr_slots * 2 : 1024;
	w->slot = xcalloc(w->nr_slots, sizeof(*w->slot));
	for (size_t i = 0; i < w->nr; i++)
		w->slot[slot_of(w, &w->v[i].id)] = (uint32_t)i + 1;
}

struct seen *walk_find(const struct walk *w, const struct oid *id)
{
	size_t i;

	if (!w->nr_slots)
		return NULL;
	i = slot_of(w, id);
	return w->slot[i] ? &w->v[w->slot[i] - 1] : NULL;
}

/* ---- newest first ---- */

static bool before(const struct walk *w, uint32_t a, uint32_t b)
{
	if (w->v[a].time != w->v[b].time)
		return w->v[a].time > w->v[b].time;
	return a < b;
}

static void heap_push(struct walk *w, uint32_t x)
{
	size_t i;

	GROW(w->heap, w->nr_heap, w->cap_heap);
	i = w->nr_heap++;
	while (i && before(w, x, w->heap[(i - 1) / 2])) {
		w->heap[i] = w->heap[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	w->heap[i] = x;
	w->v[x].waiting = true;
	w->nr_new += !w->v[x].known;
}

static uint32_t heap_pop(struct walk *w)
{
	uint32_t top = w->heap[0], x = w->heap[--w->nr_heap];
	size_t i = 0;

	while (2 * i + 1 < w->nr_heap) {
		size_t child = 2 * i + 1;

		if (child + 1 < w->nr_heap &&
		    before(w, w->heap[child + 1], w->heap[child]))
			child++;
		if (!before(w, w->heap[child], x))
			break;
		w->heap[i] = w->heap[child];
		i = child;
	}
	w->heap[i] = x;
	w->v[top].waiting = false;
	w->nr_new -= !w->v[top].known;
	return top;
}

/* ---- what a commit is ---- */

/* NULL if it is not there, or no word of ours. */
static char *word_trailer(const char *message, const char *key)
{
	struct buf b = BUF_INIT;
	char *word = NULL;

	if (commit_trailer(message, key, &b) && strlen(b.ptr) == b.len &&
	    store_word_ok(b.ptr))
		word = buf_detach(&b);
	buf_release(&b);
	return word;
}

/* An anchor, or a ledger (core/store_ledger.c), which hangs beside one and is
 * as plain. */
static bool is_chain(const char *message)
{
	return is_anchor(message) ||
	       !strncmp(message, "maxkernel: ledger ", 18);
}

/* Of a commit that was accepted earlier, whatever the search. */
static enum commit_kind known_kind(const struct commit *c)
{
	char *search = word_trailer(c->message, "Maxkernel-Search");
	char *op = word_trailer(c->message, "Maxkernel-Op");
	enum commit_kind kind = KIND_OTHER;

	if (search && is_chain(c->message))
		kind = KIND_ANCHOR;
	else if (search && op)
		kind = KIND_NODE;
	free(search);
	free(op);
	return kind;
}

static int bad(const struct commit *c, const char *what, struct err *err)
{
	return err_set(err, ERR_FORMAT, "commit %s %s", oid_short(&c->id).s,
		       what);
}

static bool number_ok(const char *text, unsigned long long most)
{
	char *end;
	unsigned long long x;

	errno = 0;
	x = strtoull(text, &end, 10);
	return *text >= '0' && *text <= '9' && !*end && !errno && x <= most;
}

static bool step_ok(const char *text)
{
	return number_ok(text, METRIC_MAX_STEP);
}

static bool steps_ok(const char *text)
{
	return number_ok(text, STORE_MAX_STEPS);
}

static int check_word(const struct commit *c, const char *key, bool needed,
		      bool (*ok)(const char *), struct err *err)
{
	struct buf b = BUF_INIT;
	bool has = commit_trailer(c->message, key, &b);
	bool good = has ? strlen(b.ptr) == b.len && ok(b.ptr) : !needed;

	buf_release(&b);
	return good ? 0 : err_set(err, ERR_FORMAT, "commit %s has %s %s",
				  oid_short(&c->id).s,
				  has ? "a malformed" : "no", key);
}

static int check_node(const struct commit *c, struct err *err)
{
	if (!c->nr_parents || c->nr_parents > 2)
		return bad(c, "is a node with a number of parents other than "
			   "1 or 2", err);
	if (check_word(c, "Maxkernel-Op", true, store_op_ok, err) < 0 ||
	    check_word(c, "Maxkernel-Worker", true, store_word_ok, err) < 0 ||
	    check_word(c, "Maxkernel-Step", true, step_ok, err) < 0 ||
	    check_word(c, "Maxkernel-Plan-Steps", false, steps_ok, err) < 0 ||
	    check_word(c, "Maxkernel-Proposer", false, store_word_ok,
		       err) < 0)
		return err->code;
	return 0;
}

static int check_anchor(const struct commit *c, struct err *err)
{
	if (c->nr_parents > INCOMING_MAX_PARENTS)
		return err_set(err, ERR_LIMIT, "anchor %s has %zu parents, "
			       "more than %u", oid_short(&c->id).s,
			       c->nr_parents, INCOMING_MAX_PARENTS);
	return check_word(c, "Maxkernel-Worker", true, store_word_ok, err);
}

static int check_message(const struct commit *c, struct err *err)
{
	size_t len = strlen(c->message);

	if (len > INCOMING_MAX_MESSAGE)
		return err_set(err, ERR_LIMIT, "commit %s has a message of "
			       "%zu bytes, more than %u", oid_short(&c->id).s,
			       len, INCOMING_MAX_MESSAGE);
	if (!incoming_is_text(c->message, len))
		return bad(c, "has a message that is no text", err);
	return 0;
}

/* ---- united searches ---- */

/* The named root is a root if it holds the sources that ours holds. */
static int check_root(struct walk *w, const struct commit *c,
		      const struct oid *root, struct err *err)
{
	struct oid state;
	struct err why;

	if (store_state(w->in->repo, root, &w->in->kernel, &state, &why) < 0)
		return err_set(err, ERR_FORMAT, "anchor %s unites a search "
			       "whose root cannot be read: %s",
			       oid_short(&c->id).s, why.msg);
	if (!oid_eq(&state, &w->in->root_state))
		return err_set(err, ERR_FORMAT, "anchor %s unites a search "
			       "whose root %s has other sources",
			       oid_short(&c->id).s, oid_short(root).s);
	return 0;
}

static void set_kind(struct walk *w, struct seen *s, enum commit_kind kind)
{
	w->nr_other -= !s->known && s->kind == KIND_OTHER;
	s->kind = kind;
	w->nr_other += !s->known && s->kind == KIND_OTHER;
}

static int add_root(struct walk *w, const struct commit *c,
		    const struct oid *root, bool known, struct err *err)
{
	struct seen *s = walk_find(w, root);

	if (oidset_has(&w->roots, root))
		return 0;
	if (!known && check_root(w, c, root, err) < 0)
		return err->code;
	oidset_add(&w->roots, root);
	if (s)
		set_kind(w, s, KIND_ROOT);
	return 0;
}

static int again(struct walk *w, struct err *err);

/* known: the anchor was accepted, so that it was checked then. */
static int take_united(struct walk *w, const struct commit *c, bool known,
		       struct err *err)
{
	struct buf b = BUF_INIT;
	struct oid root;
	char *space;
	int ret = 0;

	if (!commit_trailer(c->message, "Maxkernel-Unites", &b))
		goto out;
	space = strchr(b.ptr, ' ');
	if (space)
		*space++ = '\0';
	if (!space || !store_slug_ok(b.ptr) || strlen(space) != OID_HEX ||
	    !oid_parse(&root, space)) {
		ret = known ? 0 :
			bad(c, "has a malformed Maxkernel-Unites", err);
		goto out;
	}
	ret = add_root(w, c, &root, known, err);
	if (ret || strv_has(&w->united, b.ptr))
		goto out;
	if (w->united.nr < MAX_UNITED) {
		strv_push(&w->united, b.ptr);
		ret = again(w, err);
	} else if (!known) {
		ret = err_set(err, ERR_LIMIT, "more than %d searches are "
			      "united", MAX_UNITED);
	}
out:
	buf_release(&b);
	return ret;
}

/* ---- the walk ---- */

static int new_kind(struct walk *w, const struct commit *c,
		    enum commit_kind *kind, struct err *err)
{
	char *search = word_trailer(c->message, "Maxkernel-Search");
	bool ours = search && (!strcmp(search, w->in->slug) ||
			       strv_has(&w->united, search));
	int ret;

	free(search);
	*kind = KIND_OTHER;
	if (!ours)
		return 0;
	ret = check_message(c, err);
	if (ret < 0)
		return ret;
	if (is_chain(c->message)) {
		*kind = KIND_ANCHOR;
		return check_anchor(c, err);
	}
	*kind = KIND_NODE;
	if (++w->nodes > INCOMING_MAX_NODES)
		return err_set(err, ERR_LIMIT, "more than %u new nodes",
			       INCOMING_MAX_NODES);
	return check_node(c, err);
}

static void take(struct walk *w, uint32_t i, const struct commit *c)
{
	struct seen *s = &w->v[i];

	s->tree = c->tree;
	s->time = c->time;
	s->parent = w->nr_parents;
	if (s->kind == KIND_OTHER)	/* where it leads is no matter */
		return;
	s->nr_parents = (uint32_t)c->nr_parents;
	for (size_t k = 0; k < c->nr_parents; k++) {
		GROW(w->parent, w->nr_parents, w->cap_parents);
		w->parent[w->nr_parents++] = c->parent[k];
	}
	heap_push(w, i);
}

static int look(struct walk *w, uint32_t i, struct err *err)
{
	struct oid id = w->v[i].id;
	bool known = w->v[i].known;
	enum commit_kind kind;
	struct commit c;
	struct err why;
	int ret = 0;

	if (oidset_has(&w->roots, &id)) {
		set_kind(w, &w->v[i], KIND_ROOT);
		return 0;
	}
	set_kind(w, &w->v[i], KIND_OTHER);
	if (repo_commit_read(w->in->repo, &id, &c, &why) < 0) {
		if (known)
			return 0;
		*err = why;
		return err->code == ERR_LIMIT ? ERR_LIMIT :
			err_set(err, ERR_FORMAT, "%s", why.msg);
	}
	kind = known ? known_kind(&c) : KIND_OTHER;
	if (!known)
		ret = new_kind(w, &c, &kind, err);
	set_kind(w, &w->v[i], kind);
	if (!ret)
		take(w, i, &c);
	if (!ret && kind == KIND_ANCHOR)
		ret = take_united(w, &c, known, err);
	commit_release(&c);
	return ret;
}

/* What was passed over as another search's is looked at again. */
static int again(struct walk *w, struct err *err)
{
	for (uint32_t i = 0; i < w->nr; i++)
		if (w->v[i].kind == KIND_OTHER && !w->v[i].known &&
		    look(w, i, err) < 0)
			return err->code;
	return 0;
}

/* It and what it stands on was accepted: what was taken for new is not, and
 * what was passed over as another search's may be one of a united one. */
static int make_known(struct walk *w, struct seen *s, struct err *err)
{
	struct seen **todo = NULL;
	size_t nr = 0, cap = 0;
	int ret = 0;

	GROW(todo, nr, cap);
	todo[nr++] = s;
	while (nr && !ret) {
		s = todo[--nr];
		if (!s || s->known)
			continue;
		w->nr_other -= s->kind == KIND_OTHER;
		s->known = true;
		if (s->kind == KIND_OTHER) {
			ret = look(w, (uint32_t)(s - w->v), err);
			continue;
		}
		w->nr_new -= s->waiting;
		for (uint32_t i = 0; !s->waiting && i < s->nr_parents; i++) {
			GROW(todo, nr, cap);
			todo[nr++] = walk_find(w, &w->parent[s->parent + i]);
		}
	}
	free(todo);
	return ret;
}

int walk_tip(struct walk *w, const struct oid *id, bool known,
	     struct err *err)
{
	struct seen *s;
	size_t at;

	if (w->nr * 2 >= w->nr_slots)
		grow_slots(w);
	at = slot_of(w, id);
	if (w->slot[at])
		return known ? make_known(w, &w->v[w->slot[at] - 1], err) : 0;
	GROW(w->v, w->nr, w->cap);
	s = &w->v[w->nr++];
	memset(s, 0, sizeof(*s));
	s->id = *id;
	s->known = known || oidset_has(&w->in->passed, id);
	w->slot[at] = (uint32_t)w->nr;
	return look(w, (uint32_t)w->nr - 1, err);
}

/* Past the oldest new commit what is known can't reach a new one, if the
 * times are right; if not, something known is looked at once more.  But what
 * united the search that a new one hangs on may lie further down. */
static bool has_more(const struct walk *w, int64_t oldest)
{
	return w->nr_new || (w->nr_heap && (w->nr_other ||
			     w->v[w->heap[0]].time >= oldest));
}

int walk_run(struct walk *w, struct err *err)
{
	int64_t oldest = INT64_MAX;
	int ret = 0;

	while (!ret && has_more(w, oldest)) {
		uint32_t i = heap_pop(w);
		size_t start = w->v[i].parent, nr = w->v[i].nr_parents;

		if (w->v[i].kind == KIND_ROOT)
			continue;
		if (!w->v[i].known && w->v[i].time < oldest)
			oldest = w->v[i].time;
		for (size_t k = 0; !ret && k < nr; k++) {
			struct oid id = w->parent[start + k];

			ret = walk_tip(w, &id, w->v[i].known, err);
		}
	}
	return ret;
}
