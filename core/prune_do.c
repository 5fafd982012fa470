/*
 * Pruning: first what was spent is written down, then the chain lets go of
 * the nodes, then their notes go.  After each of these the search is whole.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/git.h"
#include "core/mem.h"
#include "core/prune_parts.h"

#define RACE_TRIES 5

/* ---- a whole search ---- */

/* One transaction: all of [lo, hi), if each is where it was, or none. */
static int delete_refs(struct search *s, const struct prune_plan *p,
		       size_t lo, size_t hi, struct err *err)
{
	struct strv names = STRV_INIT;
	struct oid *ids = xcalloc(hi - lo, sizeof(*ids));
	int ret;

	for (size_t i = lo; i < hi; i++) {
		strv_push(&names, p->ref[i].name);
		ids[i - lo] = p->ref[i].id;
	}
	ret = git_refs_delete(s->repo, &names, ids, err);
	strv_release(&names);
	free(ids);
	return ret == ERR_GIT ? err_wrap(err, "nothing was deleted") : ret;
}

static int do_whole(struct search *s, const struct prune_plan *p,
		    struct err *err)
{
	size_t last = p->nr_refs - 1;
	char *claim = xasprintf("%smaxkernel/log/%s.lock",
				repo_gitdir(s->repo), s->spec.slug);
	int ret = delete_refs(s, p, 0, last, err);

	if (!ret)
		ret = delete_refs(s, p, last, p->nr_refs, err);
	if (!ret)
		unlink(claim);	/* of store_claim(); it is ours */
	free(claim);
	return ret;
}

/* ---- what was spent ---- */

struct doing {
	struct search *s;
	struct graph g;
	struct lines lines;	/* of all workers, sorted */
	struct oidset gone, gone_raw;
};

static void lines_of(const struct lines *l, const struct oid *id, size_t *lo,
		     size_t *hi)
{
	size_t a = 0, b = l->nr;

	while (a < b) {
		size_t mid = a + (b - a) / 2;

		if (oid_cmp(&l->v[mid].on, id) < 0)
			a = mid + 1;
		else
			b = mid;
	}
	for (*lo = a; a < l->nr && oid_eq(&l->v[a].on, id);)
		a++;
	*hi = a;
}

/* The lines are in order of their steps. */
static bool has_spend(const struct graph *g, const struct node *n)
{
	uint32_t i = graph_spend_from(g, n->step);

	for (; i < g->nr_spend && g->spend[i].step == n->step; i++)
		if (oid_eq(&g->spend[i].state, &n->state))
			return true;
	return false;
}

/* What the search goes by when it goes on.  The minimiser's version is no
 * step: its time is not told. */
static void tell_version(const struct graph *g, const struct node *n,
			 struct metric *m)
{
	bool step = !n->strategy || strcmp(n->strategy, "minimise") != 0;

	if (!n->recipe || !*n->recipe || n->parent[0] >= g->nr)
		return;
	m->recipe = xstrdup(n->recipe);
	m->from = g->node[n->parent[0]].step;
	m->on = g->node[n->origin].step;
	if (step && isfinite(n->score))
		m->rec.est_speedup = n->rec.est_speedup;
}

bool prune_tells(const struct search *s, const struct graph *g, uint32_t node)
{
	const struct node *n = &g->node[node];
	struct metric m;
	struct buf line = BUF_INIT;
	bool told;

	if (!n->recipe || !*n->recipe)
		return true;
	metric_init(&m);
	metric_now(m.t);
	m.worker = xstrdup(s->worker);
	m.event = METRIC_SPEND;
	m.step = n->step;
	m.state = n->state;
	m.rec.verdict = n->rec.verdict;
	m.rec.attempt_s = m.rec.device_s = 0.0001234;	/* as many bytes */
	tell_version(g, n, &m);
	metric_format(&line, &m);
	told = strstr(line.ptr, "\"recipe\":") != NULL;
	buf_release(&line);
	metric_release(&m);
	return told;
}

/* The time is that of its last line, so that doing it again gives the same
 * line, which counts once. */
static void spend_line(struct doing *d, const struct node *n, struct buf *out)
{
	struct metric m;
	size_t lo, hi;
	double sum = 0, device = NAN;
	enum verdict last = V_NO_VERDICT;

	metric_init(&m);
	lines_of(&d->lines, &n->id, &lo, &hi);
	for (size_t i = lo; i < hi; i++) {
		const struct metric *x = &d->lines.v[i].m;

		if (x->event != METRIC_EVAL)
			continue;
		memcpy(m.t, x->t, sizeof(m.t));
		last = x->rec.verdict;
		if (isfinite(x->rec.attempt_s))
			sum += x->rec.attempt_s;
		if (isfinite(x->rec.device_s))
			device = isnan(device) ? x->rec.device_s :
				device + x->rec.device_s;
	}
	if (!*m.t)
		metric_now(m.t);
	m.worker = xstrdup(d->s->worker);
	m.event = METRIC_SPEND;
	m.step = n->step;
	m.state = n->state;
	m.rec.verdict = n->pending ? last : n->rec.verdict;
	m.rec.attempt_s = sum;
	m.rec.device_s = device;
	tell_version(&d->g, n, &m);
	metric_format(out, &m);
	metric_release(&m);
}

static int write_spends(struct doing *d, struct err *err)
{
	struct strv lines = STRV_INIT;
	int ret;

	for (uint32_t i = 1; i < d->g.nr; i++) {
		struct buf line = BUF_INIT;

		if (oidset_has(&d->gone, &d->g.node[i].id) &&
		    !has_spend(&d->g, &d->g.node[i])) {
			spend_line(d, &d->g.node[i], &line);
			strv_push(&lines, line.ptr);
		}
		buf_release(&line);
	}
	ret = store_spend_lines(d->s, &lines, err);
	strv_release(&lines);
	return ret;
}

/* ---- what is left of them ---- */

/* Raw blobs that only lines of dropped nodes name. */
static void find_gone_raw(struct doing *d)
{
	struct oidset kept = OIDSET_INIT;

	for (size_t i = 0; i < d->lines.nr; i++)
		if (!oidset_has(&d->gone, &d->lines.v[i].on))
			oidset_add(&kept, &d->lines.v[i].m.raw);
	for (size_t i = 0; i < d->lines.nr; i++)
		if (oidset_has(&d->gone, &d->lines.v[i].on) &&
		    !oidset_has(&kept, &d->lines.v[i].m.raw))
			oidset_add(&d->gone_raw, &d->lines.v[i].m.raw);
	oidset_release(&kept);
}

/* Is a note of ours on it one that has to go: a line of it is of a state
 * that a spend line of ours tells, and no node has it. */
static bool is_left(const struct graph *g, const struct lines *l, size_t lo,
		    size_t hi, const struct oidset *spent)
{
	if (graph_find(g, &l->v[lo].on) != NODE_NONE)
		return false;
	for (size_t i = lo; i < hi; i++)
		if (l->v[i].ours && l->v[i].m.event == METRIC_EVAL &&
		    oidset_has(spent, &l->v[i].m.state))
			return true;
	return false;
}

int prune_leftovers(struct search *s, const struct graph *g,
		    struct oid **out, size_t *nr, struct err *err)
{
	struct lines l = { NULL, 0, 0 };
	struct oidset spent = OIDSET_INIT;
	size_t lo, hi, cap = 0;
	int ret = lines_read(s->repo, s->spec.slug, s->worker, NULL, &l, NULL,
			     err);

	*out = NULL;
	*nr = 0;
	lines_sort(&l);
	for (uint32_t i = 0; i < g->nr_spend; i++)
		oidset_add(&spent, &g->spend[i].state);
	for (lo = 0; !ret && lo < l.nr; lo = hi) {
		for (hi = lo + 1; hi < l.nr &&
		     oid_eq(&l.v[hi].on, &l.v[lo].on); hi++)
			;
		if (!is_left(g, &l, lo, hi, &spent))
			continue;
		GROW(*out, *nr, cap);
		(*out)[(*nr)++] = l.v[lo].on;
	}
	oidset_release(&spent);
	lines_release(&l);
	return ret;
}

static int without_notes(struct search *s, const char *kind,
			 const struct oid *on, size_t nr,
			 struct notes_batch **out, struct err *err)
{
	char *ref = store_notes_ref(s->spec.slug, kind, s->worker);
	int ret = notes_begin(s->repo, ref, out, err);

	for (size_t i = 0; !ret && i < nr; i++)
		notes_remove(*out, &on[i]);
	free(ref);
	return ret ? ret : notes_write(*out, err);
}

/* The metrics last: by them a cut off pruning finds the others. */
static int remove_notes(struct search *s, const struct oid *on, size_t nr,
			struct err *err)
{
	static const char *const kinds[] = { "plan", "agents", "metrics" };
	struct notes_batch *b[ARRAY_SIZE(kinds)] = { NULL };
	int ret = 0;

	for (size_t i = 0; !ret && i < ARRAY_SIZE(kinds); i++)
		ret = without_notes(s, kinds[i], on, nr, &b[i], err);
	if (!ret)
		ret = repo_sync(s->repo, err);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (!ret)
			ret = notes_move(b[i], err);
		notes_free(b[i]);
	}
	return ret;
}

static int drop_notes(struct doing *d, struct err *err)
{
	struct graph g;
	struct oid *left = NULL;
	size_t nr = 0;
	int ret = store_load(d->s, d->s->spec.device, &g, NULL, err);

	if (ret < 0)
		return ret;
	ret = prune_leftovers(d->s, &g, &left, &nr, err);
	if (!ret && nr)
		ret = remove_notes(d->s, left, nr, err);
	free(left);
	graph_release(&g);
	return ret;
}

/* ---- losers ---- */

static int again(int (*step)(struct doing *d, struct err *err),
		 struct doing *d, struct err *err)
{
	int ret = ERR_RACE;

	for (int i = 0; ret == ERR_RACE && i < RACE_TRIES; i++)
		ret = step(d, err);
	return ret;
}

static int let_go(struct doing *d, struct err *err)
{
	return prune_chain(d->s, &d->gone, &d->gone_raw, err);
}

static int do_losers(struct search *s, const struct prune_plan *p,
		     struct err *err)
{
	struct doing d = { .s = s };
	int ret = store_load(s, s->spec.device, &d.g, NULL, err);

	if (!ret)
		ret = lines_read(s->repo, s->spec.slug, s->worker, NULL,
				 &d.lines, NULL, err);
	lines_sort(&d.lines);
	for (size_t i = 0; i < p->nr_nodes; i++)
		oidset_add(&d.gone, &p->node[i]);
	find_gone_raw(&d);
	if (!ret && p->nr_nodes)
		ret = again(write_spends, &d, err);
	if (!ret && p->nr_nodes)
		ret = again(let_go, &d, err);
	if (!ret)
		ret = again(drop_notes, &d, err);
	graph_release(&d.g);
	lines_release(&d.lines);
	oidset_release(&d.gone);
	oidset_release(&d.gone_raw);
	return ret;
}

int prune_do(struct search *s, const struct prune_plan *p, struct err *err)
{
	int ret = repo_lock(s->repo, err);

	if (ret < 0)
		return ret;
	if (p->nr_refs)
		ret = do_whole(s, p, err);
	else if (p->nr_nodes || p->unfinished)
		ret = do_losers(s, p, err);
	repo_unlock(s->repo);
	return ret < 0 ? err_wrap(err, "cannot prune search %s",
				  s->spec.slug) : 0;
}
