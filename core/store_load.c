/* The graph of a search, from its commits and notes. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/store_loader.h"
#include "core/worker.h"

#define MAX_RECIPE 65536
#define WALK_SORTED 1000	/* fewer commits are read as they come */

static void node_init(struct node *n)
{
	memset(n, 0, sizeof(*n));
	n->parent[0] = n->parent[1] = NODE_NONE;
	record_init(&n->rec);
	n->score = NAN;
	n->borrowed = true;
}

/* ---- commits ---- */

/* chain: an anchor as a rule, looked at first.  The others can wait, and are
 * then read as they lie in packs. */
static void push(struct loader *l, const struct oid *id, bool chain)
{
	struct oid_list *to = chain ? &l->chain : &l->todo;

	if (oidset_has(&l->old_tip, id)) {	/* known, with all below */
		oidset_add(&l->reached, id);
		return;
	}
	if (graph_find(l->g, id) != NODE_NONE)
		return;
	if (oid_eq(id, &l->s->spec.root) ||
	    oidset_has(&l->united.root, id) || !oidset_add(&l->seen, id))
		return;
	oid_list_add(to, id);
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

/* Both as texts of the graph. */
static char *graph_trailer(struct loader *l, const char *message,
			   const char *key)
{
	char *value = trailer(message, key);
	char *text = graph_text(l->g, value);

	free(value);
	return text;
}

static char *subject(struct loader *l, const char *message)
{
	struct buf b = BUF_INIT;
	size_t len = strcspn(message, "\n");
	char *text;

	buf_add_clean(&b, message, len < 1024 ? len : 1024, false);
	text = graph_text(l->g, b.ptr);
	buf_release(&b);
	return text;
}

static bool step_parse(const char *text, unsigned long max, uint32_t *out)
{
	char *end;
	unsigned long x;

	errno = 0;
	x = strtoul(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno || x > max)
		return false;
	*out = (uint32_t)x;
	return true;
}

/* The step of a node, or false; one that cannot be is told. */
static bool take_step(struct loader *l, const struct commit *c,
		      uint32_t *out)
{
	char *step = trailer(c->message, "Maxkernel-Step");
	char *worker = trailer(c->message, "Maxkernel-Worker");
	bool ours = worker && worker_is_any(&l->ids, worker);
	bool good = step && step_parse(step, ours ? METRIC_MAX_OWN_STEP :
				       METRIC_MAX_STEP, out);

	if (step && !good)
		store_warn(l->warn, "commit %s is left out: its step is "
			   "'%.20s'", oid_short(&c->id).s, step);
	free(step);
	free(worker);
	return good;
}

/* Of its plan that are still to do. */
static int take_plan_steps(struct loader *l, const struct commit *c)
{
	char *text = trailer(c->message, "Maxkernel-Plan-Steps");
	uint32_t steps = 0;

	if (text && !step_parse(text, STORE_MAX_STEPS, &steps))
		store_warn(l->warn, "node %s: the steps of its plan are "
			   "'%.20s'; it is taken to have none left",
			   oid_short(&c->id).s, text);
	free(text);
	return (int)steps;
}

/* Takes a commit of the search apart; false if it is no node. */
static bool take_node(struct loader *l, const struct commit *c,
		      const char *search)
{
	struct found f = { .id = c->id, .time = c->time };
	char *op = trailer(c->message, "Maxkernel-Op");
	bool good = op && store_op_ok(op) && c->nr_parents &&
		take_step(l, c, &f.step);

	f.op = good ? graph_text(l->g, op) : NULL;
	free(op);
	if (!good)
		return false;
	f.united = strcmp(search, l->s->spec.slug) != 0;
	f.proposer = graph_trailer(l, c->message, "Maxkernel-Proposer");
	f.strategy = graph_trailer(l, c->message, "Maxkernel-Strategy");
	f.recipe = graph_trailer(l, c->message, "Maxkernel-Recipe");
	f.worker = graph_trailer(l, c->message, "Maxkernel-Worker");
	f.subject = subject(l, c->message);
	f.steps = take_plan_steps(l, c);
	f.nr_parents = c->nr_parents < 2 ? 1 : 2;
	for (uint32_t i = 0; i < f.nr_parents; i++)
		f.parent[i] = c->parent[i];
	GROW(l->v, l->nr, l->cap);
	l->v[l->nr++] = f;
	return true;
}

/* Of this search, or of one that is united with it. */
static bool is_ours(const struct loader *l, const char *slug)
{
	return !strcmp(slug, l->s->spec.slug) ||
	       strv_has(&l->united.slug, slug);
}

/* "<own last step> <last step of both>" of an anchor that unites. */
static void take_steps(struct united *u, const char *message)
{
	char *text = trailer(message, "Maxkernel-Steps");
	char *to = text ? strchr(text, ' ') : NULL;
	struct united_steps s;

	if (to) {
		*to++ = '\0';
		if (step_parse(text, METRIC_MAX_STEP, &s.from) &&
		    step_parse(to, METRIC_MAX_STEP, &s.to)) {
			GROW(u->v, u->nr, u->cap);
			u->v[u->nr++] = s;
		}
	}
	free(text);
}

/* "Maxkernel-Unites: <slug> <root>" of an anchor.  What was passed over as
 * another search's is looked at again. */
static void take_united(struct loader *l, const char *message)
{
	char *slug = trailer(message, "Maxkernel-Unites");
	char *root = slug ? strchr(slug, ' ') : NULL;
	struct oid id;

	if (root)
		*root++ = '\0';
	if (root && strlen(root) == OID_HEX && oid_parse(&id, root) &&
	    store_slug_ok(slug)) {
		if (oidset_add(&l->united.root, &id))
			oid_list_add(&l->now.root, &id);
		take_steps(&l->united, message);
		if (!is_ours(l, slug)) {
			strv_push(&l->united.slug, slug);
			for (size_t i = 0; i < l->later.nr; i++)
				oid_list_add(&l->todo, &l->later.v[i]);
			l->later.nr = 0;
		}
	}
	free(slug);
}

static void visit(struct loader *l, const struct oid *id)
{
	struct commit c;
	struct err why;
	char *search;

	if (oidset_has(&l->united.root, id))	/* seen before it was known */
		return;

	if (repo_commit_read(l->s->repo, id, &c, &why) < 0) {
		store_warn(l->warn, "commit %s is left out: %s",
			   oid_short(id).s, why.msg);
		l->rd.unread = true;
		return;
	}
	search = trailer(c.message, "Maxkernel-Search");
	if (search && is_ours(l, search)) {
		if (is_anchor(c.message))
			take_united(l, c.message);
		if (store_is_ledger(&c))
			loader_ledger(l, id);
		else if (is_anchor(c.message) || take_node(l, &c, search))
			for (size_t i = 0; i < c.nr_parents; i++)
				push(l, &c.parent[i], !i && is_anchor(c.message));
	} else if (search) {
		oid_list_add(&l->later, id);
	}
	free(search);
	commit_release(&c);
}

bool is_anchor_tip(const struct cache_tip *t)
{
	return !strncmp(t->name, "refs/maxkernel/", 15);
}

struct placed {
	uint64_t place;
	struct oid id;
};

static int by_placed(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;

	return x->place < y->place ? -1 : x->place > y->place;
}

static void sort_by_place(struct loader *l, struct oid_list *ids)
{
	uint64_t *place = xcalloc(ids->nr, sizeof(*place));
	struct placed *v = xcalloc(ids->nr, sizeof(*v));

	repo_places(l->s->repo, ids->v, ids->nr, place);
	for (size_t i = 0; i < ids->nr; i++)
		v[i] = (struct placed){ place[i], ids->v[i] };
	qsort(v, ids->nr, sizeof(*v), by_placed);
	for (size_t i = 0; i < ids->nr; i++)
		ids->v[i] = v[i].id;
	free(place);
	free(v);
}

static int walk_some(struct loader *l, struct err *err)
{
	struct oid_list now;

	while (l->chain.nr) {
		struct oid id = l->chain.v[--l->chain.nr];

		visit(l, &id);
	}
	now = l->todo;
	memset(&l->todo, 0, sizeof(l->todo));
	if (now.nr > WALK_SORTED)
		sort_by_place(l, &now);
	for (size_t i = 0; i < now.nr && l->nr + l->g->nr <= STORE_MAX_NODES;
	     i++)
		visit(l, &now.v[i]);
	free(now.v);
	if (l->nr + l->g->nr > STORE_MAX_NODES)
		return err_set(err, ERR_LIMIT, "search '%s' has more than %u "
			       "nodes", l->s->spec.slug, STORE_MAX_NODES);
	return 0;
}

int loader_walk(struct loader *l, struct err *err)
{
	int ret = 0;

	for (size_t i = 0; i < l->now.nr; i++)
		if (is_anchor_tip(&l->now.tip[i]))
			push(l, &l->now.tip[i].id, true);
	while (!ret && (l->todo.nr || l->chain.nr))
		ret = walk_some(l, err);
	return ret;
}

static int by_step(const void *a, const void *b)
{
	const struct found *x = a, *y = b;

	if (x->step != y->step)
		return x->step < y->step ? -1 : 1;
	return oid_cmp(&x->id, &y->id);
}

/* ---- records ---- */

/* From our own line if there is one; what others say is not believed. */
static void find_state(struct loader *l, struct node *n)
{
	const struct line *claim = NULL;
	struct err why;

	for (size_t i = 0; i < l->lines.nr; i++) {
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
		l->rd.unread = true;
		memset(&n->state, 0, sizeof(n->state));
	}
}

static void forget_record(struct node *n)
{
	n->rec_worker = NULL;
	record_release(&n->rec);
	n->claimed = false;
	n->spent_s = n->device_s = 0;
}

/* A copy whose texts are the graph's.  A line has no shapes and samples. */
static void lend_record(struct graph *g, struct record *to,
			const struct record *from)
{
	*to = *from;
	to->borrowed = true;
	to->error = graph_text(g, from->error);
	to->host = graph_text(g, from->host);
	to->device = graph_text(g, from->device);
	to->sandbox = graph_text(g, from->sandbox);
	to->oracle = graph_text(g, from->oracle);
	to->clock = graph_text(g, from->clock);
	to->compiler = graph_text(g, from->compiler);
	to->flags = graph_text(g, from->flags);
	to->against = graph_text(g, from->against);
	to->shape = NULL;
	to->nr_shapes = 0;
	buf_init(&to->samples);
}

/* Takes what l->lines, the lines of its notes, say of a node. */
static void attach(struct loader *l, struct node *n)
{
	size_t nr = l->lines.nr, best;

	find_state(l, n);
	for (size_t i = 0; i < nr; i++) {
		const struct metric *m = &l->lines.v[i].m;

		if (m->event != METRIC_EVAL)
			continue;
		if (isfinite(m->rec.attempt_s))
			n->spent_s += m->rec.attempt_s;
		if (isfinite(m->rec.device_s))
			n->device_s += m->rec.device_s;
	}
	best = (l->s->together ? lines_choose_any : lines_choose)
		(&l->lines, 0, nr, l->s->section_hash, l->device, &n->state);
	n->pending = best == nr;
	if (n->pending)
		return;
	lend_record(l->g, &n->rec, &l->lines.v[best].m.rec);
	n->rec_worker = graph_text(l->g, l->lines.v[best].m.worker);
	n->claimed = n->rec.claimed = !l->lines.v[best].ours;
}

void loader_renew(struct loader *l, struct graph *g, uint32_t i)
{
	forget_record(&g->node[i]);
	attach(l, &g->node[i]);
	if (i == 0)
		g->node[i].pending = false;
}

/* ---- the graph ---- */

void loader_add_root(struct loader *l, struct graph *g)
{
	struct node n;
	struct commit c;
	struct err ignored;

	node_init(&n);
	n.id = l->s->spec.root;
	n.op = graph_text(g, "root");
	if (repo_commit_read(l->s->repo, &n.id, &c, &ignored) == 0) {
		n.subject = subject(l, c.message);
		n.time = c.time;
		commit_release(&c);
	}
	graph_add(g, &n);
}

/* Those that l found, which stand in the graph from `from` on. */
static void link_parents(struct loader *l, struct graph *g, uint32_t from)
{
	for (size_t i = 0; i < l->nr; i++) {
		const struct found *f = &l->v[i];
		struct node *n = &g->node[from + i];

		for (size_t j = 0; j < f->nr_parents; j++) {
			n->parent[j] = graph_find(g, &f->parent[j]);
			if (n->parent[j] == NODE_NONE &&
			    oidset_has(&l->united.root, &f->parent[j]))
				n->parent[j] = 0;
		}
		if (n->parent[0] != NODE_NONE)
			continue;
		store_warn(l->warn, "the parent of node %s is not of search "
			   "'%s'; it is taken to be the root",
			   oid_short(&n->id).s, l->s->spec.slug);
		n->parent[0] = 0;
	}
}

void loader_add_found(struct loader *l, struct graph *g)
{
	uint32_t from = g->nr;

	if (l->nr > 1)
		qsort(l->v, l->nr, sizeof(*l->v), by_step);
	graph_reserve(g, g->nr + (uint32_t)l->nr);
	for (size_t i = 0; i < l->nr; i++) {
		const struct found *f = &l->v[i];
		struct node n;

		node_init(&n);
		n.id = f->id;
		n.step = f->step;
		n.steps = f->steps;
		n.time = f->time;
		n.united = f->united;
		n.op = f->op;
		n.proposer = f->proposer;
		n.strategy = f->strategy;
		n.recipe = f->recipe;
		n.subject = f->subject;
		n.worker = f->worker;
		graph_add(g, &n);
	}
	link_parents(l, g, from);
	free(l->v);
	l->v = NULL;
	l->nr = l->cap = 0;
}

static int by_from(const void *a, const void *b)
{
	const struct united_steps *x = a, *y = b;

	return x->from < y->from ? -1 : x->from > y->from;
}

/* What a search that goes on has to know of the steps jumped over. */
void loader_count_united(struct loader *l, struct graph *g)
{
	struct united *u = &l->united;
	uint32_t size = (uint32_t)l->s->spec.round, at = 0;

	if (u->nr > 1)
		qsort(u->v, u->nr, sizeof(*u->v), by_from);
	for (size_t i = 0; i < u->nr; i++) {
		uint32_t from = u->v[i].from / size + !!(u->v[i].from % size);
		uint32_t to = u->v[i].to / size + !!(u->v[i].to % size);

		if (from < at)
			from = at;
		if (to > from)
			g->united_rounds += to - from;
		if (to > at)
			at = to;
		if (u->v[i].to > g->united_step)
			g->united_step = u->v[i].to;
	}
}
