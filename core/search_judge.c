/*
 * Attempts on judges: each judge works on one attempt at a time, stage by
 * stage; an attempt that ends is written at once.
 */
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "core/mem.h"
#include "core/search_state.h"

#define MAX_LOST 3		/* judges in a row before the search gives up */

void attempt_release(struct attempt *a)
{
	proposal_release(&a->p);
	record_release(&a->rec);
}

/* ---- one judge ---- */

static const char *device(const struct state *st)
{
	return st->info.device;
}

static int slot_open(struct state *st, int i, struct err *err)
{
	struct slot *s = &st->slot[i];
	struct judge_config cfg = st->run->config;
	struct judge_request req = { .stage = JUDGE_OPEN };
	int ret;

	if (!s->work) {
		s->work = xasprintf("%s/j%d", cfg.work, i);
		if (mkdir(s->work, 0700) < 0 && errno != EEXIST)
			return err_sys(err, "cannot create '%s'", s->work);
	}
	cfg.work = s->work;
	cfg.helper = i > 0;
	ret = judge_open(&s->judge, &cfg, err);
	if (ret)
		return ret;
	s->opening = true;
	return s->judge->ops->start(s->judge, &req, err);
}

static void slot_close(struct state *st, int i)
{
	judge_close(st->slot[i].judge);
	st->slot[i].judge = NULL;
	st->slot[i].opening = false;
}

static int slot_start(struct state *st, int i, enum judge_stage stage,
		      bool to_root, struct err *err)
{
	struct slot *s = &st->slot[i];
	const struct graph *g = &st->run->graph;
	uint32_t against = to_root ? 0 : st->champion;
	struct judge_request req = {
		.stage = stage, .state = s->at->state,
		.source = &s->at->p.source,
		.against_root = against == 0,
	};
	struct srcset champion = SRCSET_INIT;
	int ret;

	if (!req.against_root && stage >= JUDGE_SCREEN) {
		const struct node *c = &g->node[against];

		req.against = c->state;
		req.against_lr = c->score;
		ret = store_source(st->run->search->repo, &c->id,
				   st->run->kernel, false, &champion, err);
		if (ret)
			return ret;
		req.against_source = &champion;
	}
	ret = s->judge->ops->start(s->judge, &req, err);
	srcset_release(&champion);
	return ret;
}

/* Takes over what a stage found; the rest of the record stays. */
static void merge(struct record *to, struct record *from)
{
	char *compiler = to->compiler;
	double s = to->attempt_s;

	to->compiler = NULL;
	record_release(to);
	*to = *from;
	to->attempt_s = s;
	if (to->compiler)
		free(compiler);
	else
		to->compiler = compiler;
	record_init(from);
}

static void describe(const struct state *st, struct record *r)
{
	const struct judge_info *info = &st->info;

	if (!r->host)
		r->host = xstrdup(info->host);
	if (!r->device)
		r->device = xstrdup(info->device);
	if (!r->sandbox)
		r->sandbox = xstrdup(info->sandbox);
	if (!r->oracle)
		r->oracle = xstrdup(info->oracle);
	if (!r->compiler)
		r->compiler = xstrdup(info->compiler);
}

/* est_speedup and vs_parent from lr, which is against the champion or root. */
static void estimate(const struct state *st, struct attempt *a, bool to_root)
{
	const struct graph *g = &st->run->graph;
	double base = to_root ? 0 : policy_score(g, st->champion);

	if (!verdict_is_timed(a->rec.verdict) || isnan(a->rec.lr))
		return;
	/* A confirmation has measured it. */
	if (!(a->rec.est_speedup > 0))
		a->rec.est_speedup = exp(a->rec.lr + base);
	a->rec.vs_parent = a->rec.est_speedup /
		exp(policy_score(g, a->parent));
}

/* ---- stages ---- */

static void finish(struct state *st, struct attempt *a)
{
	a->phase = AT_DONE;
	a->rec.attempt_s = search_now_s() - a->began;
	describe(st, &a->rec);
}

/* A judge that died: the attempt has no verdict, the judge is replaced. */
static int judge_lost(struct state *st, int i, struct err *err)
{
	struct slot *s = &st->slot[i];
	char *text;

	if (s->opening || ++st->lost >= MAX_LOST)
		return err_wrap(err, "the judge was lost");
	text = xasprintf("the judge was lost and is started anew: %s", err->msg);
	search_note(st, text);
	if (s->at) {
		s->at->rec.verdict = V_NO_VERDICT;
		free(s->at->rec.error);
		s->at->rec.error = text;
		finish(st, s->at);
		s->at = NULL;
	} else {
		free(text);
	}
	slot_close(st, i);
	err->code = ERR_NONE;
	return slot_open(st, i, err);
}

/* The next stage after one that passed, or the end of the attempt. */
static int advance(struct state *st, int i, struct record *rec,
		   struct err *err)
{
	struct attempt *a = st->slot[i].at;
	enum phase done = a->phase;

	merge(&a->rec, rec);
	a->rec.compiled = done > AT_BUILD || a->rec.verdict == V_SAME;
	a->rec.correct = done > AT_CHECK ||
		(done == AT_CHECK && a->rec.verdict == V_SAME);
	if (done >= AT_SCREEN)
		a->rec.correct = verdict_is_timed(a->rec.verdict) ||
			a->rec.verdict == V_TOO_GOOD;
	if (done == AT_BUILD && a->rec.verdict == V_SAME) {
		a->phase = AT_CHECK;
		return slot_start(st, i, JUDGE_CHECK, false, err);
	}
	if (done == AT_CHECK && a->rec.verdict == V_SAME) {
		a->phase = AT_SCREEN;
		return slot_start(st, i, JUDGE_SCREEN, false, err);
	}
	estimate(st, a, false);
	finish(st, a);
	st->slot[i].at = NULL;
	st->lost = 0;
	return 0;
}

/* Lets a busy judge go on; the attempt may end. */
static int slot_step(struct state *st, int i, struct err *err)
{
	struct slot *s = &st->slot[i];
	struct record rec;
	int ret;

	record_init(&rec);
	ret = s->judge->ops->step(s->judge, &rec, err);
	if (ret < 0) {
		record_release(&rec);
		return judge_lost(st, i, err);
	}
	if (ret == 0)
		return 0;
	if (s->opening) {
		s->opening = false;
		ret = 0;
		if (s->at)
			ret = slot_start(st, i, JUDGE_BUILD, false, err);
	} else {
		ret = advance(st, i, &rec, err);
	}
	record_release(&rec);
	return ret < 0 ? judge_lost(st, i, err) : ret;
}

/* Gives an attempt to a free judge. */
static int slot_take(struct state *st, int i, struct attempt *a,
		     struct err *err)
{
	struct slot *s = &st->slot[i];

	s->at = a;
	a->phase = AT_BUILD;
	a->began = search_now_s();
	if (!s->judge)
		return slot_open(st, i, err);
	if (s->opening)
		return 0;
	if (slot_start(st, i, JUDGE_BUILD, false, err) < 0)
		return judge_lost(st, i, err);
	return 0;
}

/* Waits until a busy judge has news, a signal came or a tick is due. */
static void wait_news(struct state *st)
{
	struct pollfd p[SEARCH_MAX_JOBS + 1];
	nfds_t nr = 0;
	int timeout = SEARCH_TICK_MS;

	if (st->run->stop_fd >= 0)
		p[nr++] = (struct pollfd){ .fd = st->run->stop_fd,
					   .events = POLLIN };
	for (int i = 0; i < st->run->jobs; i++) {
		struct slot *s = &st->slot[i];
		int fd;

		if (!s->judge || (!s->at && !s->opening))
			continue;
		fd = s->judge->ops->fd(s->judge);
		if (fd < 0)
			timeout = 0;
		else
			p[nr++] = (struct pollfd){ .fd = fd, .events = POLLIN };
	}
	poll(p, nr, timeout);
}

static int step_all(struct state *st, struct err *err)
{
	wait_news(st);
	for (int i = 0; i < st->run->jobs; i++) {
		struct slot *s = &st->slot[i];
		int ret;

		if (!s->judge || (!s->at && !s->opening) || search_stopped(st))
			continue;
		ret = slot_step(st, i, err);
		if (ret)
			return ret;
	}
	search_tick(st);
	return 0;
}

static void add_measured(struct buf *plan, const struct record *r)
{
	buf_addf(plan, "\n## Measured\n\nVerdict: %s", verdict_name(r->verdict));
	if (!isnan(r->est_speedup))
		buf_addf(plan, ", estimated %.2fx over the root",
			 r->est_speedup);
	if (!isnan(r->vs_parent))
		buf_addf(plan, ", %.2fx over its parent", r->vs_parent);
	buf_addstr(plan, ".\n");
	if (r->error) {
		buf_addstr(plan, "\n");
		buf_add_clean(plan, r->error, strlen(r->error), true);
		buf_addstr(plan, "\n");
	}
}

static void tell_written(struct state *st, struct attempt *a)
{
	struct search_event e = {
		.kind = SEARCH_ATTEMPT, .step = a->step,
		.subject = a->p.subject, .commit = &a->id,
		.rec = &a->rec, .known = a->known,
	};

	a->written = true;
	st->run->made += !a->stored;
	search_emit(st, &e);
}

/* Records of nodes that a killed run wrote and had no time to judge. */
static int write_stored(struct state *st, struct attempt *at, size_t nr,
			struct err *err)
{
	int ret = 0;

	for (size_t i = 0; i < nr && !ret; i++) {
		struct attempt *a = &at[i];

		if (a->phase != AT_DONE || a->written || !a->stored)
			continue;
		ret = store_measure(st->run->search, &a->id, &a->state,
				    &a->rec, err);
		if (!ret)
			tell_written(st, a);
	}
	return ret;
}

/* Writes the attempts that have ended and are not written, in one batch. */
static int write_done(struct state *st, struct attempt *at, size_t nr,
		      struct err *err)
{
	struct store_attempt *out = xcalloc(nr, sizeof(*out));
	struct oid *parent = xcalloc(nr, sizeof(*parent));
	size_t *from = xcalloc(nr, sizeof(*from)), n = 0;
	int ret = 0;

	for (size_t i = 0; i < nr; i++) {
		struct attempt *a = &at[i];

		if (a->phase != AT_DONE || a->written || a->stored)
			continue;
		add_measured(&a->p.plan, &a->rec);
		parent[n] = st->run->graph.node[a->parent].id;
		out[n] = (struct store_attempt){
			.op = a->op, .proposer = st->run->proposer->name,
			.strategy = a->p.strategy, .recipe = a->p.recipe,
			.subject = a->p.subject, .step = a->step,
			.parent = &parent[n], .nr_parents = 1,
			.source = &a->p.source, .plan = a->p.plan.ptr,
			.rec = &a->rec, .state = a->state,
		};
		from[n++] = i;
	}
	if (n)
		ret = store_append(st->run->search, out, n, err);
	if (!ret)
		ret = write_stored(st, at, nr, err);
	for (size_t i = 0; i < n && !ret; i++) {
		at[from[i]].id = out[i].id;
		tell_written(st, &at[from[i]]);
	}
	free(from);
	free(parent);
	free(out);
	return ret;
}

/* A verdict from another search of the repository ends an attempt at once. */
static int recall(struct state *st, struct attempt *a, struct err *err)
{
	struct record rec;
	int ret;

	record_init(&rec);
	ret = store_judged(st->run->search, &a->state, device(st), &rec, err);
	/* What ran unconfined is no verdict for a judge with a jail. */
	if (ret == 1 && (!rec.sandbox || !st->info.sandbox ||
			 strcmp(rec.sandbox, "none") != 0 ||
			 !strcmp(st->info.sandbox, "none"))) {
		merge(&a->rec, &rec);
		a->known = true;
		finish(st, a);
		a->rec.attempt_s = 0;
		a->rec.confirming = false;
		a->rec.vs_parent = NAN;
	}
	record_release(&rec);
	return ret < 0 ? ret : 0;
}

/* Judges every attempt that has not ended yet, and writes each. */
int search_judge_all(struct state *st, struct attempt *at, size_t nr,
		     struct err *err)
{
	size_t next = 0, left = 0;
	int ret = 0;

	for (size_t i = 0; i < nr; i++) {
		if (at[i].phase == AT_NEW)
			ret = recall(st, &at[i], err);
		if (ret)
			return ret;
	}
	for (;;) {
		ret = write_done(st, at, nr, err);
		if (ret || search_stopped(st))
			return ret;
		for (int i = 0; i < st->run->jobs && !ret; i++) {
			while (next < nr && at[next].phase != AT_NEW)
				next++;
			if (next < nr && !st->slot[i].at)
				ret = slot_take(st, i, &at[next], err);
		}
		if (ret)
			return ret;
		left = 0;
		for (size_t i = 0; i < nr; i++)
			left += at[i].phase != AT_DONE;
		if (!left)
			return write_done(st, at, nr, err);
		ret = step_all(st, err);
		if (ret)
			return ret;
	}
}

void search_add(struct state *st, struct attempt *a)
{
	struct graph *g = &st->run->graph;
	struct node n = {
		.id = a->id, .state = a->state,
		.parent = { a->parent, NODE_NONE }, .step = a->step,
		.op = xstrdup(a->op), .proposer = xstrdup(st->run->proposer->name),
		.strategy = xstrdup(a->p.strategy), .recipe = xstrdup(a->p.recipe),
		.subject = xstrdup(a->p.subject),
		.worker = xstrdup(st->run->search->worker),
		.time = (int64_t)time(NULL),
	};

	record_copy(&n.rec, &a->rec);
	graph_add(g, &n);
}

/* ---- confirmation ---- */

/* Runs one confirmation of a node on judge 0 and writes it. */
int search_confirm(struct state *st, uint32_t node, bool to_root,
		   struct err *err)
{
	struct graph *g = &st->run->graph;
	struct attempt a = { .step = g->node[node].step,
			     .parent = g->node[node].parent[0],
			     .state = g->node[node].state,
			     .id = g->node[node].id, .phase = AT_CONFIRM };
	struct search_event e = { .kind = SEARCH_CONFIRM, .step = a.step,
				  .subject = g->node[node].subject,
				  .commit = &a.id, .rec = &a.rec };
	int ret;

	record_init(&a.rec);
	ret = search_source(st, node, &a.p.source, err);
	if (ret)
		return ret;
	a.began = search_now_s();
	st->slot[0].at = &a;
	st->champion = g->champion;
	if (!st->slot[0].judge)
		ret = slot_open(st, 0, err);
	else if (!st->slot[0].opening)
		ret = slot_start(st, 0, JUDGE_CONFIRM, to_root, err);
	if (ret < 0)
		ret = judge_lost(st, 0, err);
	while (!ret && st->slot[0].at && !search_stopped(st)) {
		struct record rec;

		wait_news(st);
		search_tick(st);
		if (search_stopped(st))
			break;
		record_init(&rec);
		ret = st->slot[0].judge->ops->step(st->slot[0].judge, &rec, err);
		if (ret < 0) {
			ret = judge_lost(st, 0, err);
		} else if (ret == 1 && st->slot[0].opening) {
			st->slot[0].opening = false;
			ret = slot_start(st, 0, JUDGE_CONFIRM, to_root, err);
		} else if (ret == 1) {
			merge(&a.rec, &rec);
			a.rec.compiled = true;
			a.rec.correct = verdict_is_timed(a.rec.verdict) ||
				a.rec.verdict == V_TOO_GOOD;
			a.rec.confirming = true;
			estimate(st, &a, to_root);
			finish(st, &a);
			st->slot[0].at = NULL;
			st->lost = 0;
			ret = 0;
		}
		record_release(&rec);
	}
	st->slot[0].at = NULL;
	if (!ret && a.phase == AT_DONE) {
		ret = store_measure(st->run->search, &a.id, &a.state, &a.rec,
				    err);
		if (!ret) {
			if (record_replaces(&a.rec, &g->node[node].rec)) {
				record_release(&g->node[node].rec);
				record_copy(&g->node[node].rec, &a.rec);
			}
			/* Even without a verdict: not tried again. */
			g->node[node].rec.confirming = true;
			g->node[node].pending = false;
			graph_settle(g);
			search_emit(st, &e);
		}
		if (a.rec.attempt_s > st->confirm_s)
			st->confirm_s = a.rec.attempt_s;
	}
	attempt_release(&a);
	return ret;
}

