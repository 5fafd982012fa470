/*
 * The graph of a search from what was kept of it (store_cache.c) and what the
 * refs have had since: commits behind the old tips, notes whose place in the
 * tree has another id.  Where what was kept does not stand any more, or there
 * is none, it is made from nothing by the same steps.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/mem.h"
#include "core/store_loader.h"
#include "core/worker.h"

/* ---- in its order ---- */

static int by_place(const void *a, const void *b)
{
	const struct node *x = *(const struct node *const *)a;
	const struct node *y = *(const struct node *const *)b;

	if (x->step != y->step)
		return x->step < y->step ? -1 : 1;
	return oid_cmp(&x->id, &y->id);
}

static bool in_order(const struct graph *g)
{
	const struct node *a, *b;

	for (uint32_t i = 2; i < g->nr; i++) {
		a = &g->node[i - 1];
		b = &g->node[i];
		if (by_place(&a, &b) > 0)
			return false;
	}
	return true;
}

/* Puts the nodes behind the root in order, the parents with them. */
static void reorder(struct graph *g)
{
	struct node **order = xcalloc(g->nr, sizeof(*order));
	struct node *sorted = xcalloc(g->nr, sizeof(*sorted));
	uint32_t *place = xcalloc(g->nr, sizeof(*place));

	for (uint32_t i = 0; i < g->nr; i++)
		order[i] = &g->node[i];
	qsort(order + 1, g->nr - 1, sizeof(*order), by_place);
	for (uint32_t i = 0; i < g->nr; i++) {
		place[order[i] - g->node] = i;
		sorted[i] = *order[i];
	}
	for (uint32_t i = 0; i < g->nr; i++)
		for (int j = 0; j < 2; j++)
			if (sorted[i].parent[j] != NODE_NONE)
				sorted[i].parent[j] =
					place[sorted[i].parent[j]];
	free(g->node);
	free(order);
	free(place);
	g->node = sorted;
	g->cap = g->nr;
}

/* ---- notes ---- */

#define MANY_NOTES 1000		/* fewer are read as they come */

/* Commits whose notes are not as they were; cold: not looked for. */
static int changed_notes(struct loader *l, struct oid_list *out,
			 struct err *err)
{
	const struct cache *a = &l->was, *b = &l->now;
	size_t i = 0, j = 0;
	int ret = 0;

	while (!ret && (i < a->nr || j < b->nr)) {
		int c = i == a->nr ? 1 : j == b->nr ? -1 :
			strcmp(a->tip[i].name, b->tip[j].name);
		const struct cache_tip *x = c <= 0 ? &a->tip[i] : NULL;
		const struct cache_tip *y = c >= 0 ? &b->tip[j] : NULL;

		i += c <= 0;
		j += c >= 0;
		if (!is_anchor_tip(x ? x : y))
			ret = notes_changed(l->s->repo, x ? &x->tree : NULL,
					    y ? &y->tree : NULL, out, err);
	}
	return ret;
}

/* only: NULL for all. */
static void list_notes(struct loader *l, const struct oid_list *only,
		       struct note_list *out)
{
	struct err why;

	for (size_t i = 0; i < l->now.nr; i++) {
		const struct cache_tip *t = &l->now.tip[i];

		if (is_anchor_tip(t) || oid_is_zero(&t->tree) ||
		    note_list_read(l->s->repo, &t->tree, (uint32_t)i, only,
				   out, &why) == 0)
			continue;
		store_warn(l->warn, "cannot read the notes of '%s': %s",
			   t->name, why.msg);
		l->rd.unread = true;
	}
	note_list_sort(out);
}

/* The lines of the notes [lo, hi), which are on one commit, into l->lines. */
static void read_lines(struct loader *l, const struct note_list *n, size_t lo,
		       size_t hi)
{
	lines_release(&l->lines);
	for (size_t i = lo; i < hi; i++)
		lines_add_note(&l->rd, l->now.tip[n->v[i].ref].name,
			       &n->v[i].on, &n->v[i].blob);
	lines_sort(&l->lines);
}

/* The number of the commit among those with lines of spends, or NODE_NONE. */
static uint32_t ledger_number(const struct loader *l, const struct oid *on)
{
	const struct oid_list *v = &l->now.ledger;

	if (oid_eq(on, &l->s->spec_commit))
		return 0;
	for (size_t i = 0; oidset_has(&l->ledgers, on) && i < v->nr; i++)
		if (oid_eq(&v->v[i], on))
			return (uint32_t)i + 1;
	return NODE_NONE;
}

struct group {			/* notes on one commit: [lo, hi) of the list */
	uint32_t node, ledger, lo, hi;
	uint64_t place;
};

static int by_place_of_note(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	return x->place < y->place ? -1 : x->place > y->place;
}

/* As they lie in packs. */
static void sort_groups(struct loader *l, const struct note_list *n,
			struct group *v, size_t nr)
{
	struct oid *blob = xcalloc(nr, sizeof(*blob));
	uint64_t *place = xcalloc(nr, sizeof(*place));

	for (size_t i = 0; i < nr; i++)
		blob[i] = n->v[v[i].lo].blob;
	repo_places(l->s->repo, blob, nr, place);
	for (size_t i = 0; i < nr; i++)
		v[i].place = place[i];
	qsort(v, nr, sizeof(*v), by_place_of_note);
	free(blob);
	free(place);
}

static struct group *group_notes(struct loader *l, struct graph *g,
				 const struct note_list *n, size_t *nr)
{
	struct group *v = NULL;
	size_t cap = 0;
	uint32_t lo, hi;

	*nr = 0;
	for (lo = 0; lo < n->nr; lo = hi) {
		const struct oid *on = &n->v[lo].on;
		uint32_t i = graph_find(g, on), ledger = NODE_NONE;

		for (hi = lo + 1; hi < n->nr && oid_eq(&n->v[hi].on, on); hi++)
			;
		if (i == NODE_NONE)
			ledger = ledger_number(l, on);
		GROW(v, *nr, cap);
		v[(*nr)++] = (struct group){ i, ledger, lo, hi, 0 };
	}
	if (*nr > MANY_NOTES)
		sort_groups(l, n, v, *nr);
	return v;
}

/* Nodes whose mark is set get their records anew. */
static void attach_notes(struct loader *l, struct graph *g,
			 const struct note_list *n, bool *mark)
{
	size_t nr;
	struct group *v = group_notes(l, g, n, &nr);

	for (size_t i = 0; i < nr; i++) {
		read_lines(l, n, v[i].lo, v[i].hi);
		if (v[i].ledger != NODE_NONE)
			loader_spends(l, g, v[i].ledger);
		if (v[i].node == NODE_NONE)
			continue;
		loader_renew(l, g, v[i].node);
		mark[v[i].node] = false;
	}
	free(v);
	lines_release(&l->lines);
	for (uint32_t i = 0; i < g->nr; i++)
		if (mark[i])
			loader_renew(l, g, i);
}

/* ---- from what was kept ---- */

#define COLD 1			/* it has to be made from nothing */

static int see_ref(void *ctx, const char *name, const struct oid *id)
{
	static const struct oid none;
	struct loader *l = ctx;

	cache_tip(&l->now, name, id, &none);
	return 0;
}

static int by_ref(const void *a, const void *b)
{
	return strcmp(((const struct cache_tip *)a)->name,
		      ((const struct cache_tip *)b)->name);
}

static int see_refs(struct loader *l, struct err *err)
{
	const char *slug = l->s->spec.slug;
	char *anchors = store_anchor_ref(slug, NULL);
	char *metrics = store_notes_ref(slug, "metrics", NULL);
	int ret = repo_ref_each(l->s->repo, anchors, see_ref, l, err);

	if (!ret)
		ret = repo_ref_each(l->s->repo, metrics, see_ref, l, err);
	if (l->now.nr > 1)
		qsort(l->now.tip, l->now.nr, sizeof(*l->now.tip), by_ref);
	free(anchors);
	free(metrics);
	return ret;
}

/* All that a graph depends on besides the refs. */
static void make_key(const struct loader *l, struct buf *key)
{
	const struct search *s = l->s;

	buf_addf(key, "%s %s %s %d %d %s %ld\n", s->spec.slug,
		 oid_text(&s->spec_commit).s, s->section_hash, JUDGE_EPOCH,
		 s->together, s->worker, (long)geteuid());
	for (size_t i = 0; i < l->ids.nr; i++)
		buf_addf(key, "%s\n", l->ids.v[i]);
	buf_addstr(key, l->device);
}

static bool same_tips(const struct cache *a, const struct cache *b)
{
	if (a->nr != b->nr)
		return false;
	for (size_t i = 0; i < a->nr; i++)
		if (strcmp(a->tip[i].name, b->tip[i].name) ||
		    !oid_eq(&a->tip[i].id, &b->tip[i].id))
			return false;
	return true;
}

static void note_trees(struct loader *l)
{
	struct err why;

	for (size_t i = 0; i < l->now.nr; i++) {
		struct cache_tip *t = &l->now.tip[i];

		if (is_anchor_tip(t) ||
		    repo_commit_tree(l->s->repo, &t->id, &t->tree, &why) == 0)
			continue;
		memset(&t->tree, 0, sizeof(t->tree));
		store_warn(l->warn, "cannot read the notes of '%s': %s",
			   t->name, why.msg);
		l->rd.unread = true;
	}
}

void loader_ledger(struct loader *l, const struct oid *id)
{
	if (oidset_add(&l->ledgers, id))
		oid_list_add(&l->now.ledger, id);
}

static void take_cache(struct loader *l)
{
	const struct cache *c = &l->was;

	for (size_t i = 0; i < c->nr; i++)
		if (is_anchor_tip(&c->tip[i]))
			oidset_add(&l->old_tip, &c->tip[i].id);
	for (size_t i = 0; i < c->root.nr; i++) {
		oidset_add(&l->united.root, &c->root.v[i]);
		oid_list_add(&l->now.root, &c->root.v[i]);
	}
	for (size_t i = 0; i < c->ledger.nr; i++)
		loader_ledger(l, &c->ledger.v[i]);
	for (size_t i = 0; i < c->slug.nr; i++)
		strv_push(&l->united.slug, c->slug.v[i]);
	for (size_t i = 0; i < c->nr_steps; i++) {
		GROW(l->united.v, l->united.nr, l->united.cap);
		l->united.v[l->united.nr++] = c->steps[i];
	}
}

/* Everything that was known is still there, and stands as it did? */
static bool still_good(const struct loader *l)
{
	return l->reached.nr == l->old_tip.nr &&
	       l->united.root.nr == l->was.root.nr &&
	       l->united.slug.nr == l->was.slug.nr && !l->rd.unread;
}

static void give_cache(struct loader *l)
{
	struct cache *c = &l->now;

	for (size_t i = 0; i < l->united.slug.nr; i++)
		strv_push(&c->slug, l->united.slug.v[i]);
	for (size_t i = 0; i < l->united.nr; i++) {
		GROW(c->steps, c->nr_steps, c->cap_steps);
		c->steps[c->nr_steps++] = l->united.v[i];
	}
	for (size_t i = 0; i < l->told.nr; i++)
		strv_push(&c->warn, l->told.v[i]);
}

/* ---- the whole ---- */

/* Where the tips differ from those of l->was: *todo is what to read. */
static int look(struct loader *l, bool cold, struct oid_list *todo,
		struct err *err)
{
	int ret;

	note_trees(l);
	ret = loader_walk(l, err);
	if (ret || cold)
		return ret;
	if (!still_good(l) || changed_notes(l, todo, err))
		return COLD;
	for (size_t i = 0; i < l->nr; i++)
		oid_list_add(todo, &l->v[i].id);
	for (size_t i = l->was.ledger.nr; i < l->now.ledger.nr; i++)
		oid_list_add(todo, &l->now.ledger.v[i]);
	oid_list_sort(todo);
	return 0;
}

/* What is read again is forgotten. */
static void forget_spends(struct loader *l, struct graph *g,
			  const struct oid_list *todo)
{
	bool *gone = xcalloc(l->now.ledger.nr + 1, sizeof(*gone));

	for (size_t i = 0; i < todo->nr; i++) {
		uint32_t at = ledger_number(l, &todo->v[i]);

		if (at != NODE_NONE)
			gone[at] = true;
	}
	loader_forget_spends(g, gone);
	free(gone);
}

static void apply(struct loader *l, struct graph *g, bool cold,
		  const struct oid_list *todo)
{
	uint32_t from = g->nr;
	struct note_list notes = { NULL, 0, 0 };
	bool *mark;

	if (cold)
		loader_add_root(l, g);
	loader_add_found(l, g);
	mark = xcalloc(g->nr, sizeof(*mark));
	for (uint32_t i = from; i < g->nr; i++)
		mark[i] = true;
	for (size_t i = 0; i < todo->nr; i++) {
		uint32_t at = graph_find(g, &todo->v[i]);

		if (at != NODE_NONE)
			mark[at] = true;
	}
	forget_spends(l, g, todo);
	list_notes(l, cold ? NULL : todo, &notes);
	attach_notes(l, g, &notes, mark);
	loader_sort_spends(g);
	if (!in_order(g))
		reorder(g);
	graph_reindex(g);
	free(notes.v);
	free(mark);
}

/* Is it worth the writing?  A few new nodes are as soon read again. */
static bool worth_keeping(const struct loader *l, const struct graph *g,
			  bool cold, const struct oid_list *todo)
{
	return !l->rd.unread && (cold || todo->nr * 256 >= g->nr);
}

static int load(struct loader *l, struct graph *g, bool cold, struct buf *key,
		struct err *err)
{
	struct oid_list todo = { NULL, 0, 0 };
	struct err why;
	int ret;

	l->has_kernel = store_spec_kernel(&l->s->spec, &l->kernel, &why) == 0;
	if (!l->has_kernel)
		store_warn(l->warn, "%s", why.msg);
	ret = look(l, cold, &todo, err);
	if (!ret) {
		apply(l, g, cold, &todo);
		lines_tell_newer(&l->rd, l->s->spec.slug);
		give_cache(l);
		if (worth_keeping(l, g, cold, &todo))
			cache_write(l->s, key, &l->now, g);
	}
	free(todo.v);
	return ret;
}

static int loader_begin(struct loader *l, struct search *s,
			const char *device, struct graph *g, struct err *err)
{
	int ret;

	memset(l, 0, sizeof(*l));
	l->s = s;
	l->g = g;
	l->device = device;
	l->warn = &l->told;
	l->rd = (struct line_reader){
		.repo = s->repo, .worker = s->worker, .ids = &l->ids,
		.out = &l->lines, .warn = &l->told,
	};
	ret = worker_ids(s->repo, &l->ids, err);
	return ret ? ret : see_refs(l, err);
}

static void loader_end(struct loader *l, struct strv *warn)
{
	for (size_t i = 0; warn && i < l->told.nr; i++)
		store_warn(warn, "%s", l->told.v[i]);
	cache_release(&l->was);
	cache_release(&l->now);
	strv_release(&l->ids);
	strv_release(&l->told);
	oidset_release(&l->old_tip);
	oidset_release(&l->reached);
	oidset_release(&l->seen);
	oidset_release(&l->ledgers);
	oidset_release(&l->united.root);
	strv_release(&l->united.slug);
	free(l->united.v);
	free(l->later.v);
	free(l->chain.v);
	lines_release(&l->lines);
	if (l->has_kernel)
		kernel_release(&l->kernel);
	free(l->todo.v);
	free(l->v);
}

/* From what was kept: 0, COLD or an error. */
static int load_warm(struct search *s, const char *device, struct graph *g,
		     struct strv *warn, struct err *err)
{
	struct loader l;
	struct buf key = BUF_INIT;
	int ret = loader_begin(&l, s, device, g, err);

	make_key(&l, &key);
	if (!ret && !cache_read(s, &key, &l.was, g))
		ret = COLD;
	if (!ret && same_tips(&l.was, &l.now)) {
		for (size_t i = 0; i < l.was.warn.nr; i++)
			store_warn(&l.told, "%s", l.was.warn.v[i]);
		take_cache(&l);
	} else if (!ret && l.was.warn.nr) {
		ret = COLD;	/* whether it is still so, who knows */
	} else if (!ret) {
		take_cache(&l);
		ret = load(&l, g, false, &key, err);
	}
	if (!ret)
		loader_count_united(&l, g);
	buf_release(&key);
	loader_end(&l, ret ? NULL : warn);
	return ret;
}

static int load_cold(struct search *s, const char *device, struct graph *g,
		     struct strv *warn, struct err *err)
{
	struct loader l;
	struct buf key = BUF_INIT;
	int ret = loader_begin(&l, s, device, g, err);

	make_key(&l, &key);
	if (!ret)
		ret = load(&l, g, true, &key, err);
	if (!ret)
		loader_count_united(&l, g);
	buf_release(&key);
	loader_end(&l, warn);
	return ret;
}

int store_load(struct search *s, const char *device, struct graph *out,
	       struct strv *warn, struct err *err)
{
	int ret;

	graph_init(out);
	ret = load_warm(s, device, out, warn, err);
	if (ret == COLD) {
		graph_release(out);
		ret = load_cold(s, device, out, warn, err);
	}
	if (ret < 0) {
		graph_release(out);
		return err_wrap(err, "cannot load search '%s'", s->spec.slug);
	}
	loader_sum_spends(out);
	graph_settle(out);
	return 0;
}
