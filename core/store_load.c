/* The graph of a search, from its commits and notes. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/oidset.h"
#include "core/store_parts.h"

#define MAX_RECIPE 65536

struct found {			/* a node before it has an index */
	struct node n;
	struct oid parent[2];
	size_t nr_parents;
};

struct loader {
	struct search *s;
	const char *device;
	struct strv *warn;
	struct oidset seen;
	struct oid *todo;	/* commits to look at */
	size_t nr_todo, cap_todo;
	struct found *v;
	size_t nr, cap;
	struct lines lines;
	struct kernel kernel;
	bool has_kernel;
};

static void node_init(struct node *n)
{
	memset(n, 0, sizeof(*n));
	n->parent[0] = n->parent[1] = NODE_NONE;
	record_init(&n->rec);
	n->score = NAN;
}

/* ---- commits ---- */

static void push(struct loader *l, const struct oid *id)
{
	if (oid_eq(id, &l->s->spec.root) || !oidset_add(&l->seen, id))
		return;
	GROW(l->todo, l->nr_todo, l->cap_todo);
	l->todo[l->nr_todo++] = *id;
}

static int push_anchor(void *ctx, const char *name, const struct oid *id)
{
	(void)name;
	push(ctx, id);
	return 0;
}

static char *trailer(const char *message, const char *key)
{
	struct buf raw = BUF_INIT, clean = BUF_INIT;
	char *value = NULL;

	if (commit_trailer(message, key, &raw) && raw.len <= MAX_RECIPE) {
		buf_add_clean(&clean, raw.ptr, raw.len, false);
		value = buf_detach(&clean);
	}
	buf_release(&raw);
	return value;
}

static char *subject(const char *message)
{
	struct buf b = BUF_INIT;
	size_t len = strcspn(message, "\n");

	buf_add_clean(&b, message, len < 1024 ? len : 1024, false);
	return buf_detach(&b);
}

static bool op_ok(const char *op)
{
	static const char *const ops[] = {
		"seed", "plan", "mutate", "crossover", "repair", "tune",
		"import", "human",
	};

	for (size_t i = 0; i < ARRAY_SIZE(ops); i++)
		if (!strcmp(ops[i], op))
			return true;
	return false;
}

static bool step_parse(const char *text, uint32_t *out)
{
	char *end;
	unsigned long x;

	errno = 0;
	x = strtoul(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno || x >= UINT32_MAX)
		return false;
	*out = (uint32_t)x;
	return true;
}

/* Takes a commit of the search apart; false if it is no node. */
static bool take_node(struct loader *l, const struct commit *c)
{
	struct found f;
	char *step = trailer(c->message, "Maxkernel-Step");

	node_init(&f.n);
	f.n.op = trailer(c->message, "Maxkernel-Op");
	if (!f.n.op || !op_ok(f.n.op) || !c->nr_parents || !step ||
	    !step_parse(step, &f.n.step)) {
		free(f.n.op);
		free(step);
		return false;
	}
	free(step);
	f.n.id = c->id;
	f.n.time = c->time;
	f.n.proposer = trailer(c->message, "Maxkernel-Proposer");
	f.n.strategy = trailer(c->message, "Maxkernel-Strategy");
	f.n.recipe = trailer(c->message, "Maxkernel-Recipe");
	f.n.worker = trailer(c->message, "Maxkernel-Worker");
	f.n.subject = subject(c->message);
	f.nr_parents = c->nr_parents < 2 ? 1 : 2;
	for (size_t i = 0; i < f.nr_parents; i++)
		f.parent[i] = c->parent[i];
	GROW(l->v, l->nr, l->cap);
	l->v[l->nr++] = f;
	return true;
}

static bool is_anchor(const struct commit *c)
{
	return !strncmp(c->message, "maxkernel: anchor ", 18);
}

static void visit(struct loader *l, const struct oid *id)
{
	struct commit c;
	struct err why;
	char *search;

	if (repo_commit_read(l->s->repo, id, &c, &why) < 0) {
		store_warn(l->warn, "commit %s is left out: %s",
			   oid_short(id).s, why.msg);
		return;
	}
	search = trailer(c.message, "Maxkernel-Search");
	if (search && !strcmp(search, l->s->spec.slug) &&
	    (is_anchor(&c) || take_node(l, &c)))
		for (size_t i = 0; i < c.nr_parents; i++)
			push(l, &c.parent[i]);
	free(search);
	commit_release(&c);
}

static int walk(struct loader *l, struct err *err)
{
	char *prefix = store_anchor_ref(l->s->spec.slug, NULL);
	int ret = repo_ref_each(l->s->repo, prefix, push_anchor, l, err);

	free(prefix);
	while (!ret && l->nr_todo) {
		struct oid id = l->todo[--l->nr_todo];

		visit(l, &id);
		if (l->nr > STORE_MAX_NODES)
			ret = err_set(err, ERR_LIMIT, "search '%s' has more "
				      "than %u nodes", l->s->spec.slug,
				      STORE_MAX_NODES);
	}
	return ret;
}

static int by_step(const void *a, const void *b)
{
	const struct found *x = a, *y = b;

	if (x->n.step != y->n.step)
		return x->n.step < y->n.step ? -1 : 1;
	return oid_cmp(&x->n.id, &y->n.id);
}

/* ---- records ---- */

/* The lines of the note on id are [*lo, *hi). */
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
	*lo = a;
	while (b < l->nr && oid_eq(&l->v[b].on, id))
		b++;
	*hi = b;
}

/* From our own line if there is one; what others say is not believed. */
static void find_state(struct loader *l, struct node *n, size_t lo, size_t hi)
{
	const struct line *claim = NULL;
	struct err why;

	for (size_t i = lo; i < hi; i++) {
		if (l->lines.v[i].m.event != METRIC_EVAL)
			continue;
		claim = &l->lines.v[i];
		if (claim->ours)
			break;
	}
	if (claim && (claim->ours || !l->has_kernel)) {
		n->state = claim->m.state;
	} else if (l->has_kernel && store_state(l->s->repo, &n->id,
						&l->kernel, &n->state,
						&why) < 0) {
		store_warn(l->warn, "node %s: %s", oid_short(&n->id).s,
			   why.msg);
		memset(&n->state, 0, sizeof(n->state));
	}
}

static void attach(struct loader *l, struct graph *g, struct node *n)
{
	size_t lo, hi, best;

	lines_of(&l->lines, &n->id, &lo, &hi);
	find_state(l, n, lo, hi);
	for (size_t i = lo; i < hi; i++) {
		const struct metric *m = &l->lines.v[i].m;

		if (m->event == METRIC_EVAL && isfinite(m->rec.attempt_s))
			g->spent_s += m->rec.attempt_s;
	}
	best = lines_choose(&l->lines, lo, hi, l->s->section_hash, l->device,
			    &n->state);
	n->pending = best == hi;
	if (n->pending)
		return;
	record_release(&n->rec);
	record_copy(&n->rec, &l->lines.v[best].m.rec);
	n->rec_worker = xstrdup(l->lines.v[best].m.worker);
	n->claimed = n->rec.claimed = !l->lines.v[best].ours;
}

static int by_spend(const void *a, const void *b)
{
	const struct spend *x = a, *y = b;

	return x->step < y->step ? -1 : x->step > y->step;
}

static void load_spend(struct loader *l, struct graph *g)
{
	size_t lo, hi;

	lines_of(&l->lines, &l->s->spec_commit, &lo, &hi);
	for (size_t i = lo; i < hi; i++) {
		const struct metric *m = &l->lines.v[i].m;

		if (m->event != METRIC_SPEND)
			continue;
		GROW(g->spend, g->nr_spend, g->cap_spend);
		g->spend[g->nr_spend++] = (struct spend){
			m->step, m->rec.verdict, m->state, m->rec.attempt_s
		};
		if (isfinite(m->rec.attempt_s))
			g->spent_s += m->rec.attempt_s;
	}
	if (g->nr_spend > 1)
		qsort(g->spend, g->nr_spend, sizeof(*g->spend), by_spend);
}

/* ---- the graph ---- */

static void add_root(struct loader *l, struct graph *g)
{
	struct node n;
	struct commit c;
	struct err ignored;

	node_init(&n);
	n.id = l->s->spec.root;
	n.op = xstrdup("root");
	if (repo_commit_read(l->s->repo, &n.id, &c, &ignored) == 0) {
		n.subject = subject(c.message);
		n.time = c.time;
		commit_release(&c);
	}
	attach(l, g, &n);
	n.pending = false;
	graph_add(g, &n);
}

static void link_parents(struct loader *l, struct graph *g)
{
	for (size_t i = 0; i < l->nr; i++) {
		const struct found *f = &l->v[i];
		struct node *n = &g->node[i + 1];

		for (size_t j = 0; j < f->nr_parents; j++)
			n->parent[j] = graph_find(g, &f->parent[j]);
		if (n->parent[0] != NODE_NONE)
			continue;
		store_warn(l->warn, "the parent of node %s is not of search "
			   "'%s'; it is taken to be the root",
			   oid_short(&n->id).s, l->s->spec.slug);
		n->parent[0] = 0;
	}
}

static int load(struct loader *l, struct graph *g, struct err *err)
{
	struct err why;
	int ret = walk(l, err);

	if (!ret)
		ret = lines_read(l->s->repo, l->s->spec.slug, l->s->worker,
				 NULL, &l->lines, l->warn, err);
	if (ret < 0)
		return ret;
	lines_sort(&l->lines);
	l->has_kernel = store_spec_kernel(&l->s->spec, &l->kernel, &why) == 0;
	if (!l->has_kernel)
		store_warn(l->warn, "%s", why.msg);
	if (l->nr > 1)
		qsort(l->v, l->nr, sizeof(*l->v), by_step);
	add_root(l, g);
	for (size_t i = 0; i < l->nr; i++) {
		attach(l, g, &l->v[i].n);
		graph_add(g, &l->v[i].n);
		node_init(&l->v[i].n);	/* the graph has it now */
	}
	link_parents(l, g);
	load_spend(l, g);
	graph_settle(g);
	return 0;
}

static void found_release(struct node *n)
{
	struct graph g;

	graph_init(&g);
	graph_add(&g, n);
	graph_release(&g);
}

int store_load(struct search *s, const char *device, struct graph *out,
	       struct strv *warn, struct err *err)
{
	struct loader l = { .s = s, .device = device, .warn = warn };
	int ret;

	graph_init(out);
	ret = load(&l, out, err);
	if (ret < 0) {
		for (size_t i = 0; i < l.nr; i++)
			found_release(&l.v[i].n);
		graph_release(out);
	}
	oidset_release(&l.seen);
	lines_release(&l.lines);
	if (l.has_kernel)
		kernel_release(&l.kernel);
	free(l.todo);
	free(l.v);
	return ret < 0 ? err_wrap(err, "cannot load search '%s'",
				  s->spec.slug) : 0;
}

/* ---- one node ---- */

static int node_lines(struct search *s, const struct oid *node,
		      struct lines *l, struct err *err)
{
	int ret = lines_read(s->repo, s->spec.slug, s->worker, node, l, NULL,
			     err);

	lines_sort(l);
	return ret;
}

/* The node's state, where its section can be read. */
static bool node_state(struct search *s, const struct oid *node,
		       struct oid *state)
{
	struct kernel k;
	struct err ignored;
	bool known;

	if (store_spec_kernel(&s->spec, &k, &ignored) < 0)
		return false;
	known = store_state(s->repo, node, &k, state, &ignored) == 0;
	kernel_release(&k);
	return known;
}

int store_record(struct search *s, const struct oid *node,
		 const char *device, struct record *out, struct err *err)
{
	struct lines l = { NULL, 0, 0 };
	struct oid state;
	size_t best;
	int ret = node_lines(s, node, &l, err);

	record_init(out);
	if (!ret) {
		best = lines_choose(&l, 0, l.nr, s->section_hash, device,
				    node_state(s, node, &state) ? &state :
				    NULL);
		if (best == l.nr)
			ret = err_set(err, ERR_NOTFOUND, "node %s was not "
				      "measured on %s", oid_short(node).s,
				      device);
		else
			line_record(s->repo, &l.v[best], out);
	}
	lines_release(&l);
	return ret;
}

int store_records(struct search *s, const struct oid *node,
		  struct record **out, size_t *nr, struct err *err)
{
	struct lines l = { NULL, 0, 0 };
	int ret = node_lines(s, node, &l, err);

	*nr = 0;
	*out = xcalloc(l.nr, sizeof(**out));
	for (size_t i = 0; !ret && i < l.nr; i++)
		if (l.v[i].m.event == METRIC_EVAL)
			line_record(s->repo, &l.v[i], &(*out)[(*nr)++]);
	lines_release(&l);
	return ret;
}

/* ---- the plan ---- */

struct plan_read {
	struct search *s;
	const struct oid *on;
	struct oid blob;
	bool found, ours;
};

static int plan_of_ref(void *ctx, const char *name, const struct oid *id)
{
	struct plan_read *p = ctx;
	bool ours = !strcmp(strrchr(name, '/') + 1, p->s->worker);
	struct notes n;
	struct err ignored;

	(void)id;
	if (p->found && p->ours)
		return 0;
	if (notes_get(p->s->repo, name, p->on, &n, &ignored) < 0)
		return 0;
	if (n.nr && (!p->found || ours ||
		     oid_cmp(&n.v[0].blob, &p->blob) < 0)) {
		p->blob = n.v[0].blob;
		p->ours = ours;
		p->found = true;
	}
	notes_release(&n);
	return 0;
}

int store_plan(struct search *s, const struct oid *node, struct buf *out,
	       struct err *err)
{
	struct plan_read p = { .s = s, .on = node };
	char *prefix = store_notes_ref(s->spec.slug, "plan", NULL);
	int ret = repo_ref_each(s->repo, prefix, plan_of_ref, &p, err);

	free(prefix);
	buf_reset(out);
	if (!ret && p.found)
		ret = repo_blob_read(s->repo, &p.blob, out, NOTES_MAX_TEXT,
				     err);
	return ret < 0 ? err_wrap(err, "cannot read the plan of %s",
				  oid_short(node).s) : 0;
}

/* ---- is it over? ---- */

int store_finished(struct search *s, char **why, struct err *err)
{
	struct lines l = { NULL, 0, 0 };
	const struct metric *last = NULL;
	int ret = node_lines(s, &s->spec_commit, &l, err);

	*why = NULL;
	for (size_t i = 0; i < l.nr; i++)
		if (l.v[i].m.event == METRIC_CONFIG &&
		    (!strcmp(l.v[i].m.what, "done") ||
		     !strcmp(l.v[i].m.what, "reopen")))
			last = &l.v[i].m;
	if (!ret && last && !strcmp(last->what, "done"))
		*why = xstrdup(last->why ? last->why : "done");
	lines_release(&l);
	return ret;
}
