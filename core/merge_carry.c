/* What a search has and another lacks: notes and chains, and their writing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/mem.h"
#include "core/merge_parts.h"
#include "core/store_parts.h"
#include "core/worker.h"

#define ANCHOR_TIPS 255		/* parents of one anchor, beside the last */
#define RACE_TRIES 50

static const char *const kinds[NOTE_KINDS] = { "plan", "metrics", "agents" };

void carry_release(struct carry *c)
{
	for (size_t i = 0; i < c->nr_items; i++)
		free(c->item[i].text);
	free(c->item);
	free(c->tip);
	strv_release(&c->ids);
	memset(c, 0, sizeof(*c));
}

static void add_item(struct carry *c, enum note_kind kind,
		     const struct oid *on, const char *text, size_t len)
{
	GROW(c->item, c->nr_items, c->cap_items);
	c->item[c->nr_items++] = (struct carry_item){
		kind, *on, xstrndup(text, len), len
	};
}

/* Where a note of from belongs in into. */
static const struct oid *moved(const struct carry *c, const struct oid *on)
{
	if (oid_eq(on, &c->from->spec_commit))
		return &c->into->spec_commit;
	if (oid_eq(on, &c->from->spec.root))
		return &c->into->spec.root;
	return on;
}

static bool is_own_ref(const struct carry *c, const char *ref)
{
	return lines_own_ref(&c->ids, c->into->worker,
			     strrchr(ref, '/') + 1);
}

/* ---- lines ---- */

struct carrying {
	struct carry *c;
	struct oidset all, own;	/* lines of into; those in our own refs */
	struct oidset mine;	/* lines of our own refs of any search */
	bool has_mine;
	struct unite_sum *sum;
	struct err *err;
};

/* Names a line and what it stands on. */
static struct oid line_key(const struct oid *on, const char *text, size_t len)
{
	struct buf b = BUF_INIT;
	struct oid key;

	buf_add(&b, on->id, OID_RAW);
	buf_add(&b, text, len);
	source_blob_id(b.ptr, b.len, &key);
	buf_release(&b);
	return key;
}

/* Calls fn for every line of the notes of a ref; a note that cannot be read
 * is passed over, as the loader does. */
static int each_line(struct repo *r, const char *ref,
		     void (*fn)(struct carrying *lr, const char *ref,
				const struct oid *on, const char *text,
				size_t len),
		     struct carrying *lr, struct err *err)
{
	struct notes n;
	int ret = notes_read(r, ref, &n, err);

	if (ret < 0)
		return ret;
	for (size_t i = 0; i < n.nr; i++) {
		struct buf text = BUF_INIT;
		struct err ignored;
		size_t len;

		if (repo_blob_read(r, &n.v[i].blob, &text, NOTES_MAX_TEXT,
				   &ignored) < 0)
			buf_reset(&text);
		for (const char *p = text.ptr; *p; p += len + (p[len] == '\n')) {
			len = strcspn(p, "\n");
			if (len)
				fn(lr, ref, &n.v[i].on, p, len);
		}
		buf_release(&text);
	}
	notes_release(&n);
	return 0;
}

static void know_line(struct carrying *lr, const char *ref,
		      const struct oid *on, const char *text, size_t len)
{
	struct oid key = line_key(on, text, len);

	oidset_add(&lr->all, &key);
	if (is_own_ref(lr->c, ref))
		oidset_add(&lr->own, &key);
}

static int know_ref(void *ctx, const char *name, const struct oid *id)
{
	struct carrying *lr = ctx;

	(void)id;
	return each_line(lr->c->into->repo, name, know_line, lr, lr->err);
}

static void know_mine(struct carrying *lr, const char *ref,
		      const struct oid *on, const char *text, size_t len)
{
	struct oid key;

	(void)ref;
	(void)on;
	source_blob_id(text, len, &key);
	oidset_add(&lr->mine, &key);
}

static int mine_ref(void *ctx, const char *name, const struct oid *id)
{
	struct carrying *lr = ctx;
	struct err ignored;

	(void)id;
	if (is_own_ref(lr->c, name) && strstr(name, "/metrics/"))
		each_line(lr->c->into->repo, name, know_mine, lr, &ignored);
	return 0;
}

/*
 * A line in our name that another wrote into his notes becomes ours by being
 * carried into our notes: only if a search of ours has it.
 */
static bool is_mine(struct carrying *lr, const char *text, size_t len)
{
	struct err ignored;
	struct oid key;

	if (!lr->has_mine)
		repo_ref_each(lr->c->into->repo, "refs/notes/maxkernel/",
			      mine_ref, lr, &ignored);
	lr->has_mine = true;
	source_blob_id(text, len, &key);
	return oidset_has(&lr->mine, &key);
}

/* May a line that we cannot read as a whole be in our name? */
static bool names_us(const struct carrying *lr, const char *text,
		     size_t len)
{
	char *copy = xstrndup(text, len);
	bool yes = strchr(copy, '\\') != NULL;

	for (size_t i = 0; i < lr->c->ids.nr && !yes; i++)
		yes = strstr(copy, lr->c->ids.v[i]) != NULL;
	free(copy);
	return yes;
}

/* May it be carried, and does it count as ours? */
static bool may_carry(struct carrying *lr, const char *ref,
		      const struct oid *on, const char *text, size_t len,
		      bool *ours, bool *spend)
{
	const struct search *s = lr->c->from;
	bool own_ref = is_own_ref(lr->c, ref), good = true;
	struct metric m;
	struct err ignored;
	int ret = metric_parse(&m, text, len, &ignored);

	*ours = *spend = false;
	if (ret < 0)
		return false;
	if (ret != METRIC_OK) {		/* of a newer version */
		*ours = own_ref;
		return !oid_eq(on, &s->spec_commit) &&
		       (own_ref || !names_us(lr, text, len));
	}
	/* As the loader does: slots and former ids count too. */
	if (worker_is_any(&lr->c->ids, m.worker)) {
		good = own_ref || is_mine(lr, text, len);
		*ours = true;
	}
	*spend = m.event == METRIC_SPEND;
	/* Nobody takes back in our notes what he could not in his. */
	if (m.event == METRIC_CONFIG ||
	    (m.event == METRIC_VOID && !own_ref &&
	     strcmp(strrchr(ref, '/') + 1, m.worker) != 0))
		good = false;
	metric_release(&m);
	return good;
}

static void take_line(struct carrying *lr, const char *ref,
		      const struct oid *on, const char *text, size_t len)
{
	const struct oid *to = moved(lr->c, on);
	struct oid key = line_key(to, text, len);
	bool ours, spend;

	if (oidset_has(&lr->own, &key))
		return;
	if (!may_carry(lr, ref, on, text, len, &ours, &spend) ||
	    (!ours && oidset_has(&lr->all, &key)))
		return;
	oidset_add(&lr->all, &key);
	oidset_add(&lr->own, &key);
	add_item(lr->c, NOTE_METRICS, to, text, len);
	lr->sum->spends += spend;
	lr->sum->notes += !spend;
	if (memmem(text, len, "\"raw\":", 6))
		lr->c->raw = true;
}

static int take_ref(void *ctx, const char *name, const struct oid *id)
{
	struct carrying *lr = ctx;

	(void)id;
	return each_line(lr->c->into->repo, name, take_line, lr, lr->err);
}

static int carry_lines(struct carry *c, struct unite_sum *sum, struct err *err)
{
	struct carrying lr = { .c = c, .sum = sum, .err = err };
	char *into = store_notes_ref(c->into->spec.slug, "metrics", NULL);
	char *from = store_notes_ref(c->from->spec.slug, "metrics", NULL);
	int ret = repo_ref_each(c->into->repo, into, know_ref, &lr, err);

	if (!ret)
		ret = repo_ref_each(c->into->repo, from, take_ref, &lr, err);
	oidset_release(&lr.all);
	oidset_release(&lr.own);
	oidset_release(&lr.mine);
	free(into);
	free(from);
	return ret;
}

/* ---- plans, and what the agents did ---- */

struct text_note {
	struct note n;
	bool ours;
};

struct text_reader {
	const struct carry *c;
	struct search *s;
	struct text_note *v;
	size_t nr, cap;
	struct err *err;
};

static int read_texts(void *ctx, const char *name, const struct oid *id)
{
	struct text_reader *tr = ctx;
	struct notes n;
	int ret = notes_read(tr->s->repo, name, &n, tr->err);

	(void)id;
	if (ret < 0)
		return ret;
	for (size_t i = 0; i < n.nr; i++) {
		GROW(tr->v, tr->nr, tr->cap);
		tr->v[tr->nr++] = (struct text_note){
			n.v[i], is_own_ref(tr->c, name)
		};
	}
	notes_release(&n);
	return 0;
}

/* Of several texts on one commit that which is shown comes first. */
static int by_text(const void *a, const void *b)
{
	const struct text_note *x = a, *y = b;
	int c = oid_cmp(&x->n.on, &y->n.on);

	if (!c)
		c = y->ours - x->ours;
	return c ? c : oid_cmp(&x->n.blob, &y->n.blob);
}

static int read_kind(const struct carry *c, struct search *s,
		     enum note_kind kind, struct text_reader *out,
		     struct err *err)
{
	char *prefix = store_notes_ref(s->spec.slug, kinds[kind], NULL);
	int ret;

	*out = (struct text_reader){ .c = c, .s = s, .err = err };
	ret = repo_ref_each(s->repo, prefix, read_texts, out, err);
	if (out->nr > 1)
		qsort(out->v, out->nr, sizeof(*out->v), by_text);
	free(prefix);
	return ret;
}

static int carry_texts(struct carry *c, enum note_kind kind,
		       struct unite_sum *sum, struct err *err)
{
	struct text_reader a, b = { .v = NULL };
	struct oidset have = OIDSET_INIT;
	int ret = read_kind(c, c->into, kind, &a, err);

	for (size_t i = 0; i < a.nr; i++)
		oidset_add(&have, &a.v[i].n.on);
	if (!ret)
		ret = read_kind(c, c->from, kind, &b, err);
	for (size_t i = 0; !ret && i < b.nr; i++) {
		const struct oid *on = moved(c, &b.v[i].n.on);
		struct buf text = BUF_INIT;
		struct err ignored;

		if (oidset_add(&have, on) &&
		    !repo_blob_read(c->into->repo, &b.v[i].n.blob, &text,
				    NOTES_MAX_TEXT, &ignored)) {
			add_item(c, kind, on, text.ptr, text.len);
			sum->notes++;
		}
		buf_release(&text);
	}
	oidset_release(&have);
	free(a.v);
	free(b.v);
	return ret;
}

int carry_notes(struct carry *c, struct unite_sum *sum, struct err *err)
{
	int ret;

	strv_release(&c->ids);
	ret = worker_ids(c->into->repo, &c->ids, err);
	if (!ret)
		ret = carry_texts(c, NOTE_PLAN, sum, err);
	if (!ret)
		ret = carry_lines(c, sum, err);
	return ret ? ret : carry_texts(c, NOTE_AGENTS, sum, err);
}

/* ---- chains ---- */

struct tips {
	struct oid *v;
	size_t nr, cap;
};

static int add_tip(void *ctx, const char *name, const struct oid *id)
{
	struct tips *t = ctx;

	(void)name;
	GROW(t->v, t->nr, t->cap);
	t->v[t->nr++] = *id;
	return 0;
}

static int chain_tips(struct search *s, struct tips *t, struct err *err)
{
	char *prefix = store_anchor_ref(s->spec.slug, NULL);
	int ret = repo_ref_each(s->repo, prefix, add_tip, t, err);

	free(prefix);
	return ret;
}

/* Every anchor below into's tips: the first parent of each, and all of those
 * that unite. */
static int known_anchors(struct search *s, struct oidset *seen,
			 struct err *err)
{
	struct tips todo = { NULL, 0, 0 };
	int ret = chain_tips(s, &todo, err);

	while (!ret && todo.nr) {
		struct oid id = todo.v[--todo.nr];
		struct buf unused = BUF_INIT;
		struct commit c;
		size_t nr;

		if (!oidset_add(seen, &id))
			continue;
		ret = repo_commit_read(s->repo, &id, &c, err);
		if (ret < 0)
			break;
		nr = commit_trailer(c.message, "Maxkernel-Unites", &unused) ?
			c.nr_parents : c.nr_parents > 0;
		if (!is_anchor(c.message))
			nr = 0;
		for (size_t i = 0; i < nr; i++)
			add_tip(&todo, NULL, &c.parent[i]);
		commit_release(&c);
		buf_release(&unused);
	}
	free(todo.v);
	return ret;
}

int carry_tips(struct carry *c, bool all, struct err *err)
{
	struct oidset seen = OIDSET_INIT;
	struct tips t = { NULL, 0, 0 };
	int ret = known_anchors(c->into, &seen, err);

	if (!ret)
		ret = chain_tips(c->from, &t, err);
	for (size_t i = 0; !ret && i < t.nr; i++) {
		if (oidset_has(&seen, &t.v[i]))
			continue;
		GROW(c->tip, c->nr_tips, c->cap_tips);
		c->tip[c->nr_tips++] = t.v[i];
	}
	if (!ret && all && !c->nr_tips) {
		c->tip = t.v;
		c->nr_tips = c->cap_tips = t.nr;
		t.v = NULL;
	}
	free(t.v);
	oidset_release(&seen);
	return ret;
}

/* ---- writing ---- */

struct anchor {
	char *ref;
	bool had, moved;
	struct oid old, new;
};

static char *anchor_message(const struct carry *c, unsigned long number)
{
	return xasprintf("maxkernel: anchor %lu\n\n"
			 "Maxkernel-Search: %s\nMaxkernel-Worker: %s\n"
			 "Maxkernel-Unites: %s %s\nMaxkernel-Steps: %u %u\n",
			 number, c->into->spec.slug, c->into->worker,
			 c->from->spec.slug, oid_text(&c->from->spec.root).s,
			 c->own_step, c->last_step);
}

static int number_of(struct repo *r, const struct oid *id,
		     unsigned long *out, struct err *err)
{
	struct commit c;
	int ret = repo_commit_read(r, id, &c, err);

	if (!ret)
		*out = anchor_number(c.message);
	commit_release(&c);
	return ret;
}

static int anchor_write(const struct carry *c, struct anchor *a,
			struct err *err)
{
	struct repo *r = c->into->repo;
	struct tree empty = { NULL, 0, 0 };
	unsigned long number = 0;
	struct oid tree;
	int ret = repo_ref_read(r, a->ref, &a->old, err);

	if (ret && ret != ERR_NOTFOUND)
		return ret;
	a->had = !ret;
	a->new = a->old;
	ret = a->had ? number_of(r, &a->old, &number, err) : 0;
	if (!ret)
		ret = repo_tree_write(r, &empty, &tree, err);
	for (size_t lo = 0; !ret && lo < c->nr_tips; lo += ANCHOR_TIPS) {
		struct oid parent[ANCHOR_TIPS + 1];
		size_t nr = 0;
		char *message = anchor_message(c, ++number);

		if (a->had || lo)
			parent[nr++] = a->new;
		for (size_t i = lo; i < c->nr_tips && i < lo + ANCHOR_TIPS; i++)
			parent[nr++] = c->tip[i];
		ret = repo_commit_write(r, &tree, parent, nr, message, &a->new,
					err);
		free(message);
	}
	return ret;
}

static int kind_write(const struct carry *c, enum note_kind kind,
		      struct notes_batch **b, struct err *err)
{
	char *ref = store_notes_ref(c->into->spec.slug, kinds[kind],
				    c->into->worker);
	int ret = notes_begin(c->into->repo, ref, b, err);

	free(ref);
	for (size_t i = 0; !ret && i < c->nr_items; i++) {
		const struct carry_item *it = &c->item[i];

		if (it->kind != kind)
			continue;
		if (kind == NOTE_METRICS)
			ret = notes_append(*b, &it->on, it->text, err);
		else
			ret = notes_put(*b, &it->on, it->text, it->len, err);
	}
	return ret ? ret : notes_write(*b, err);
}

struct writing {
	struct anchor a;
	bool moved[NOTE_KINDS];
};

/* Objects, sync, anchor, notes: any prefix of it is a valid state. */
static int write_once(const struct carry *c, struct writing *w,
		      struct err *err)
{
	struct repo *r = c->into->repo;
	struct notes_batch *b[NOTE_KINDS] = { NULL };
	bool anchor = c->nr_tips && !w->a.moved;
	int ret = anchor ? anchor_write(c, &w->a, err) : 0;

	for (int k = 0; !ret && k < NOTE_KINDS; k++)
		if (!w->moved[k])
			ret = kind_write(c, (enum note_kind)k, &b[k], err);
	if (!ret)
		ret = repo_sync(r, err);
	if (!ret && anchor) {
		ret = repo_ref_cas(r, w->a.ref, w->a.had ? &w->a.old : NULL,
				   &w->a.new, "maxkernel: unite", err);
		w->a.moved = !ret;
	}
	for (int k = 0; !ret && k < NOTE_KINDS; k++) {
		if (!b[k])
			continue;
		ret = notes_move(b[k], err);
		w->moved[k] = !ret;
	}
	for (int k = 0; k < NOTE_KINDS; k++)
		notes_free(b[k]);
	return ret;
}

int carry_write(struct carry *c, struct err *err)
{
	struct writing w = { .a.ref = NULL };
	int ret = repo_lock(c->into->repo, err);

	if (ret < 0)
		return ret;
	worker_refresh(c->into);
	w.a.ref = store_anchor_ref(c->into->spec.slug, c->into->worker);
	for (int try = 0; try < RACE_TRIES; try++) {
		struct timespec pause = { 0, (try + 1) * 500000L };

		ret = write_once(c, &w, err);
		if (ret != ERR_RACE)
			break;
		nanosleep(&pause, NULL);
	}
	repo_unlock(c->into->repo);
	free(w.a.ref);
	return ret;
}
