/*
 * Attempts on judges: each judge works on one attempt at a time, stage by
 * stage; those that end within a moment are written together.
 */
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/mem.h"
#include "core/search_state.h"
#include "core/tempdir.h"

#define MAX_LOST 3		/* judges in a row before the search gives up */

void attempt_release(struct attempt *a)
{
	proposal_release(&a->p);
	usages_release(&a->used);
	record_release(&a->rec);
}

/* ---- one judge ---- */

static const char *device(const struct state *st)
{
	return st->info.device;
}

/* It has just said something, or was just asked. */
static void hear(struct slot *s)
{
	const char *doing = s->judge->ops->doing(s->judge);

	s->heard = clock_s();
	snprintf(s->said, sizeof(s->said), "%s", doing);
}

static int slot_open(struct state *st, int i, struct err *err)
{
	struct slot *s = &st->slot[i];
	struct judge_config cfg = st->run->config;
	struct judge_request req = { .stage = JUDGE_OPEN };
	int ret;

	if (!s->work)
		s->work = xasprintf("%s/j%d", cfg.work, i);
	tempdir_remove(s->work);	/* of the judge before it */
	if (mkdir(s->work, 0700) < 0)
		return err_sys(err, "cannot create '%s'", s->work);
	cfg.work = s->work;
	cfg.helper = i > 0;
	ret = judge_open(&s->judge, &cfg, err);
	if (ret)
		return ret;
	s->opening = true;
	hear(s);
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

	s->stage_began = clock_s();
	if (st->rival && stage == JUDGE_SCREEN) {
		req.against_root = false;
		req.against = st->rival->state;
		req.against_lr = log(st->rival->rec.est_speedup);
		req.against_source = &st->rival->p.source;
	} else if (!req.against_root && stage >= JUDGE_SCREEN) {
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
	hear(s);
	return ret;
}

/* A stage is over, or given up: what it took of the device. */
static void count_device(struct state *st, struct slot *s, bool device)
{
	double took = clock_s() - s->stage_began;
	double *sum;

	if (!device || !s->at || !(s->stage_began > 0))
		return;
	sum = &s->at->rec.device_s;
	*sum = isnan(*sum) ? took : *sum + took;
	st->run->device_s += took;
	purse_use(st->run->purse, 0, took, 0, 0);
}

/* Takes over what a stage found; the rest of the record stays. */
static void merge(struct record *to, struct record *from)
{
	char *compiler = to->compiler;
	double s = to->attempt_s, device = to->device_s;

	to->compiler = NULL;
	record_release(to);
	*to = *from;
	to->attempt_s = s;
	to->device_s = device;
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
	double base = to_root ? 0 : st->rival ?
		log(st->rival->rec.est_speedup) :
		policy_score(g, st->champion);

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
	a->rec.attempt_s = clock_s() - a->began;
	describe(st, &a->rec);
}

/* A judge that died: the attempt has no verdict, the judge is replaced. */
static int judge_lost(struct state *st, int i, struct err *err)
{
	struct slot *s = &st->slot[i];
	char *text;

	if (s->opening || ++st->lost >= MAX_LOST)
		return err_wrap(err, "the judge was lost");
	count_device(st, s, s->at && s->at->phase > AT_BUILD);
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

/* Has it neither ended its stage nor gone on in it for too long? */
static bool is_silent(const struct state *st, struct slot *s)
{
	const char *doing = s->judge->ops->doing(s->judge);

	if (strncmp(s->said, doing, sizeof(s->said) - 1) != 0)
		hear(s);
	return st->run->silence_s > 0 &&
		clock_s() - s->heard > st->run->silence_s;
}

static int end_silent(struct state *st, int i, struct err *err)
{
	err_set(err, ERR_LIMIT, "it has said nothing for %.0f s (%s)",
		st->run->silence_s, st->slot[i].said);
	return judge_lost(st, i, err);
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
		return is_silent(st, s) ? end_silent(st, i, err) : 0;
	count_device(st, s, !s->opening && s->at->phase > AT_BUILD);
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
	a->began = clock_s();
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
	double began = clock_s();

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
	st->inside_s += clock_s() - began;
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

static int busy_slots(const struct state *st)
{
	int nr = 0;

	for (int i = 0; i < st->run->jobs; i++)
		nr += st->slot[i].at != NULL;
	return nr;
}

/* What was begun and will not be ended took the device all the same. */
static void give_up(struct state *st)
{
	for (int i = 0; i < st->run->jobs; i++) {
		struct slot *s = &st->slot[i];

		if (!s->at)
			continue;
		count_device(st, s, !s->opening && s->at->phase > AT_BUILD);
		s->at = NULL;
	}
}

/* Attempts that took so long are written at once, others in batches of those
 * that ended within that time. */
#define BATCH_S 0.05

static bool is_due(const struct state *st, const struct attempt *at, size_t nr)
{
	double now = clock_s();

	if (search_stopped(st))
		return true;
	for (size_t i = 0; i < nr; i++)
		if (at[i].phase == AT_DONE && !at[i].written &&
		    now - at[i].began > BATCH_S)
			return true;
	return false;
}

/* Gives the next attempts to free judges; *late: no more begin.  NULL: all
 * do, however late it is. */
static int begin_some(struct state *st, struct attempt *at, size_t nr,
		      size_t *next, bool *late, struct err *err)
{
	int ret = 0;

	for (int i = 0; i < st->run->jobs && !ret; i++) {
		while (*next < nr && at[*next].phase != AT_NEW)
			++*next;
		if (*next == nr || st->slot[i].at)
			continue;
		if (late)
			*late = *late || search_late(st, 0) ||
				purse_device_late(st->run->purse,
						  busy_slots(st));
		if (!late || !*late)
			ret = slot_take(st, i, &at[*next], err);
	}
	return ret;
}

int search_judge_all(struct state *st, struct attempt *at, size_t nr,
		     bool *cut, struct err *err)
{
	bool late = false;
	size_t next = 0, left;
	int ret = 0;

	for (size_t i = 0; i < nr && !ret; i++)
		if (at[i].phase == AT_NEW)
			ret = recall(st, &at[i], err);
	while (!ret) {
		if (is_due(st, at, nr))
			ret = search_write_done(st, at, nr, err);
		if (ret || search_stopped(st))
			break;
		ret = begin_some(st, at, nr, &next,
				 cut && !st->joint ? &late : NULL, err);
		left = 0;
		for (size_t i = 0; i < nr; i++)
			left += at[i].phase != AT_DONE &&
				(!late || at[i].phase != AT_NEW);
		if (ret || !left)
			break;
		ret = step_all(st, err);
	}
	if (!ret)
		ret = search_write_done(st, at, nr, err);
	give_up(st);
	for (size_t i = 0; i < nr && late; i++)
		if (at[i].phase == AT_NEW)
			*cut = true;
	if (cut && *cut && late)
		search_may_go_on(st, NULL, 0);	/* says why */
	return ret;
}

/* ---- confirmation ---- */

/* The stage is done: its record is the attempt's. */
static void take_confirmed(struct state *st, struct attempt *a,
			   struct record *rec, bool to_root)
{
	merge(&a->rec, rec);
	a->rec.compiled = true;
	a->rec.correct = verdict_is_timed(a->rec.verdict) ||
		a->rec.verdict == V_TOO_GOOD;
	a->rec.confirming = true;
	estimate(st, a, to_root);
	finish(st, a);
	st->slot[0].at = NULL;
	st->lost = 0;
}

/* One step of the confirmation that the first judge works on. */
static int confirm_step(struct state *st, bool to_root, struct err *err)
{
	struct slot *s = &st->slot[0];
	struct record rec;
	int ret;

	record_init(&rec);
	ret = s->judge->ops->step(s->judge, &rec, err);
	if (ret < 0) {
		ret = judge_lost(st, 0, err);
	} else if (ret == 0) {
		ret = is_silent(st, s) ? end_silent(st, 0, err) : 0;
	} else if (s->opening) {
		s->opening = false;
		ret = slot_start(st, 0, JUDGE_CONFIRM, to_root, err);
	} else {
		count_device(st, s, true);
		take_confirmed(st, s->at, &rec, to_root);
		ret = 0;
	}
	record_release(&rec);
	return ret;
}

static int store_confirmed(struct state *st, uint32_t node,
			   struct attempt *a, struct err *err)
{
	struct node *n = &st->run->graph.node[node];
	struct search_event e = { .kind = SEARCH_CONFIRM, .step = a->step,
				  .subject = n->subject, .commit = &a->id,
				  .rec = &a->rec };
	int ret = store_measure(st->run->search, &a->id, &a->state, &a->rec,
				err);

	if (ret)
		return ret;
	if (record_replaces(&a->rec, &n->rec)) {
		record_release(&n->rec);
		record_copy(&n->rec, &a->rec);
	}
	/* Even without a verdict: not tried again. */
	n->rec.confirming = true;
	n->pending = false;
	graph_settle(&st->run->graph);
	st->prior_from = 0;		/* what steps gained is known better */
	search_emit(st, &e);
	return 0;
}

/* On the first judge. */
int search_confirm(struct state *st, uint32_t node, bool to_root,
		   struct err *err)
{
	const struct node *n = &st->run->graph.node[node];
	struct attempt a = { .step = n->step, .parent = n->parent[0],
			     .parent2 = NODE_NONE, .state = n->state,
			     .id = n->id, .phase = AT_CONFIRM };
	int ret;

	record_init(&a.rec);
	ret = search_source(st, node, &a.p.source, err);
	if (ret) {
		attempt_release(&a);
		return ret;
	}
	a.p.subject = xstrdup(n->subject);
	a.began = clock_s();
	st->slot[0].at = &a;
	st->champion = st->run->graph.champion;
	if (!st->slot[0].judge)
		ret = slot_open(st, 0, err);
	else if (!st->slot[0].opening)
		ret = slot_start(st, 0, JUDGE_CONFIRM, to_root, err);
	if (ret < 0)
		ret = judge_lost(st, 0, err);
	while (!ret && st->slot[0].at && !search_stopped(st)) {
		wait_news(st);
		search_tick(st);
		if (!search_stopped(st))
			ret = confirm_step(st, to_root, err);
	}
	give_up(st);
	if (!ret && a.phase == AT_DONE)
		ret = store_confirmed(st, node, &a, err);
	if (a.phase == AT_DONE && a.rec.attempt_s > st->confirm_s) {
		st->confirm_s = a.rec.attempt_s;
		search_keep_back(st);
	}
	attempt_release(&a);
	return ret;
}
