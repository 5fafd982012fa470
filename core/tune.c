#include "core/tune.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/search_state.h"

#define FINALISTS 3		/* that are checked and timed anew, at most */

/* One batch under way; what the events are told with. */
struct batch {
	struct tune *t;
	struct attempt at[TUNER_BATCH];
	size_t trial[TUNER_BATCH];	/* whose attempt it is */
	size_t nr;
	struct err err;			/* of the log */
	/* of the run, while the events are ours */
	void (*event)(void *ctx, const struct search_event *e);
	void (*tick)(void *ctx, const struct search_now *n);
	void *ctx;
};

static double node_score(const struct tune *t)
{
	return policy_score(&t->run->graph, t->node);
}

/* ---- sources ---- */

static int fill_template(const struct tune *t, const int *set,
			 struct srcset *out, struct err *err)
{
	struct buf text = BUF_INIT;
	int ret = search_source(t->run->state, t->node, out, err);

	if (!ret)
		ret = template_fill(t->template, &t->space->sel, set, &text,
				    err);
	if (!ret)
		srcset_put(out, t->file, text.ptr, text.len, true);
	buf_release(&text);
	return ret;
}

static int fill_recipe(const struct tune *t, const int *set,
		       struct proposal *p, struct err *err)
{
	const struct node *n = &t->run->graph.node[t->node];
	int *full = xcalloc(t->space->full.nr + 1, sizeof(*full));
	struct srcset origin = SRCSET_INIT;
	struct buf recipe = BUF_INIT;
	int ret = search_source(t->run->state, n->origin, &origin, err);

	tune_space_full(t->space, set, full);
	if (!ret)
		ret = t->by->compose(&t->space->full, full,
				     n->recipe ? n->recipe : "", &recipe, err);
	if (!ret)
		ret = t->by->apply(t->run->kernel, &origin, recipe.ptr,
				   &p->source, err);
	p->recipe = buf_detach(&recipe);
	srcset_release(&origin);
	free(full);
	return ret;
}

/* The version of a setting.  ERR_FORMAT: none comes of it. */
static int make(const struct tune *t, const int *set, struct attempt *a,
		struct err *err)
{
	int ret;

	memset(a, 0, sizeof(*a));
	proposal_init(&a->p);
	record_init(&a->rec);
	a->parent = t->node;
	a->parent2 = NODE_NONE;
	a->op = "tune";
	a->by = t->by ? t->by->name : "tuner";
	if (t->by) {
		ret = fill_recipe(t, set, &a->p, err);
	} else {
		a->p.recipe = xstrdup("");
		ret = fill_template(t, set, &a->p.source, err);
	}
	a->p.strategy = xstrdup("tune");
	if (!ret)
		srcset_state(&a->p.source, &a->state);
	return ret;
}

static void set_subject(const struct tune *t, const int *set,
			struct proposal *p)
{
	struct buf text = BUF_INIT;

	buf_addf(&text, "%.30s: tune ", t->run->kernel->name);
	tune_set_text(t->space, set, &text);
	if (text.len > 72) {
		buf_splice(&text, 69, text.len - 69, "...", 3);
		text.ptr[text.len] = '\0';
	}
	free(p->subject);
	p->subject = buf_detach(&text);
}

/* ---- trials ---- */

static void score(const struct tune *t, struct tune_trial *one)
{
	const struct tune_result *r = one->res;

	one->score = r && verdict_is_timed(r->verdict) && r->est > 0 ?
		log(r->est) - node_score(t) : NAN;
}

static void tell(const struct tune *t, const struct tune_trial *one)
{
	if (t->told)
		t->told(t->ctx, t, one);
}

static void take_result(const struct attempt *a, struct tune_result *r)
{
	bool timed = verdict_is_timed(a->rec.verdict) &&
		a->rec.est_speedup > 0;

	*r = (struct tune_result){
		.state = a->state, .verdict = a->rec.verdict,
		.est = timed ? a->rec.est_speedup : NAN, .lr = a->rec.lr,
		.seconds = a->rec.attempt_s > 0 ? a->rec.attempt_s : 0,
		.device_s = a->rec.device_s > 0 ? a->rec.device_s : 0,
		.error = a->rec.error,
	};
	if (!timed && verdict_is_timed(r->verdict))
		r->verdict = V_NO_VERDICT;
}

/* An attempt has ended: its result is kept before anything else is done. */
static void keep(struct batch *b, size_t i, bool known)
{
	struct tune *t = b->t;
	struct tune_trial *one = &t->trial[b->trial[i]];
	struct tune_result r;

	take_result(&b->at[i], &r);
	if (known)
		r.seconds = r.device_s = 0;
	/* A judge that was lost has said nothing: another run may ask again. */
	if (known || r.verdict == V_NO_VERDICT)
		tune_log_note(&t->log, &r);
	else if (!b->err.code)
		tune_log_add(&t->log, &r, &b->err);
	one->res = tune_log_find(&t->log, &one->state);
	one->paid = !known;
	score(t, one);
	tell(t, one);
}

static void on_event(void *ctx, const struct search_event *e)
{
	struct batch *b = ctx;

	if (e->kind != SEARCH_ATTEMPT) {
		if (b->event)
			b->event(b->ctx, e);
		return;
	}
	for (size_t i = 0; i < b->nr; i++)
		if (e->rec == &b->at[i].rec && b->trial[i] < b->t->nr)
			keep(b, i, e->known);
}

static void on_tick(void *ctx, const struct search_now *n)
{
	const struct batch *b = ctx;

	if (b->tick)
		b->tick(b->ctx, n);
}

/* The trial that the others are screened against; nr: the node itself is. */
static size_t leader(const struct tune *t)
{
	size_t best = t->nr;
	double score = 0;

	for (size_t i = 0; i < t->nr; i++)
		if (t->trial[i].score > score + TUNE_GAIN) {
			score = t->trial[i].score;
			best = i;
		}
	return best;
}

static void batch_release(struct batch *b)
{
	for (size_t i = 0; i < b->nr; i++)
		attempt_release(&b->at[i]);
	b->nr = 0;
}

/* Judges what is in a batch, against the leader. */
static int judge(struct batch *b, size_t lead, bool *cut, struct err *err)
{
	struct tune *t = b->t;
	struct search_run *run = t->run;
	struct state *st = run->state;
	struct attempt rival;
	int ret = 0;

	if (lead < t->nr) {
		ret = make(t, t->trial[lead].set, &rival, err);
		rival.rec.est_speedup = t->trial[lead].res->est;
		st->rival = &rival;
	}
	st->champion = t->node;
	b->event = run->event;
	b->tick = run->tick;
	b->ctx = run->ctx;
	run->event = on_event;
	run->tick = on_tick;
	run->ctx = b;
	if (!ret)
		ret = search_judge_all(st, b->at, b->nr, cut, err);
	run->event = b->event;
	run->tick = b->tick;
	run->ctx = b->ctx;
	st->rival = NULL;
	if (lead < t->nr)
		attempt_release(&rival);
	if (!ret && b->err.code) {
		*err = b->err;
		ret = err->code;
	}
	return ret;
}

/* ---- batches ---- */

static bool was_tried(const struct tune *t, const struct oid *state)
{
	for (size_t i = 0; i < t->nr; i++)
		if (!t->trial[i].error && oid_eq(&t->trial[i].state, state))
			return true;
	return oid_eq(&t->run->graph.node[t->node].state, state);
}

/* A setting becomes a trial: known, or one more attempt of the batch. */
static int add_trial(struct batch *b, const int *set, struct err *err)
{
	struct tune *t = b->t;
	struct attempt *a = &b->at[b->nr];
	struct tune_trial one = { .score = NAN };
	int ret = make(t, set, a, err);

	memcpy(one.set, set, t->space->sel.nr * sizeof(*set));
	if (ret == ERR_FORMAT || ret == ERR_LIMIT || ret == ERR_NOTFOUND) {
		one.error = xstrdup(err->msg);
		err->code = ERR_NONE;
		ret = 0;
	} else if (!ret) {
		one.state = a->state;
		one.again = was_tried(t, &a->state);
		if (!one.again)
			one.res = tune_log_find(&t->log, &a->state);
		score(t, &one);
	}
	GROW(t->trial, t->nr, t->cap);
	t->trial[t->nr++] = one;
	t->evals += !one.error && !one.again;
	if (ret || one.error || one.again || one.res) {
		attempt_release(a);
		if (!ret)
			tell(t, &t->trial[t->nr - 1]);
		return ret;
	}
	set_subject(t, set, &a->p);
	a->step = (uint32_t)t->nr;
	a->trial = true;
	b->trial[b->nr++] = t->nr - 1;
	return 0;
}

/* The version of the node itself, reached by another setting. */
static bool is_node(const struct tune *t, const struct tune_trial *one)
{
	return one->again &&
		oid_eq(&one->state, &t->run->graph.node[t->node].state);
}

/* Takes out what was not judged any more; scores what is known only now. */
static void settle(struct tune *t, size_t from)
{
	size_t nr = from;

	for (size_t i = from; i < t->nr; i++) {
		struct tune_trial *one = &t->trial[i];

		if (one->again && !is_node(t, one)) {
			one->res = tune_log_find(&t->log, &one->state);
			score(t, one);
		}
		if (one->res || one->error || one->again)
			t->trial[nr++] = *one;
	}
	t->nr = nr;
	t->evals = 0;
	for (size_t i = 0; i < nr; i++)
		t->evals += t->trial[i].res && !t->trial[i].again;
}

static bool is_enough(const struct tune *t)
{
	for (size_t i = 0; i < t->nr && t->until > 0; i++)
		if (t->trial[i].res && t->trial[i].res->est >= t->until)
			return true;
	return false;
}

/* Wall or device time is up; the run says which. */
static enum tune_end end_late(const struct tune *t)
{
	search_may_go_on(t->run->state, NULL, 0);
	return t->run->end == SEARCH_DEVICE ? TUNE_DEVICE : TUNE_TIME;
}

static int run_batch(struct tune *t, struct tuner *q, bool *more,
		     struct err *err)
{
	int set[TUNER_BATCH * TUNER_MAX_NAMES];
	size_t asked = tuner_ask(q, set), from = t->nr, lead = leader(t);
	struct batch b = { .t = t, .err = ERR_INIT };
	bool cut = false, all;
	size_t i = 0;
	int ret = 0;

	*more = false;
	if (!asked)
		return 0;
	for (; i < asked && !ret; i++) {
		if ((int64_t)t->evals >= t->attempts)
			break;
		ret = add_trial(&b, set + i * t->space->sel.nr, err);
	}
	/* Trials before this batch lead it, whatever the log had of it. */
	if (!ret && b.nr)
		ret = judge(&b, lead < from ? lead : t->nr, &cut, err);
	batch_release(&b);
	settle(t, from);
	if (ret)
		return ret;
	all = i == asked && t->nr - from == asked;
	for (size_t k = 0; all && k < asked; k++) {
		const struct tune_trial *one = &t->trial[from + k];

		tuner_tell(q, k, is_node(t, one) ? 0 : one->score);
	}
	if (search_stopped(t->run->state))
		t->end = TUNE_STOPPED;
	else if (cut)
		t->end = end_late(t);
	else if (is_enough(t))
		t->end = TUNE_UNTIL;
	else if (!all || (int64_t)t->evals >= t->attempts)
		t->end = TUNE_ATTEMPTS;
	else
		*more = true;
	return 0;
}

/* ---- the winner ---- */

/* Against the node, which need not be the champion. */
static int confirm(struct tune *t, struct err *err)
{
	struct graph *g = &t->run->graph;
	const struct node *n = &g->node[t->made];
	int ret;

	if (!verdict_is_timed(n->rec.verdict) || tune_confirmed(t, n) ||
	    search_stopped(t->run->state))
		return 0;
	g->champion = t->node;		/* until the graph is settled */
	ret = search_confirm(t->run->state, t->made, false, err);
	graph_settle(g);
	return ret;
}

static int write_winner(struct tune *t, size_t best, struct attempt *a,
			struct err *err)
{
	struct state *st = t->run->state;
	int ret;

	a->trial = a->written = false;
	a->step = search_next_round_step(st);
	tune_plan(t, &t->trial[best], a->p.recipe, &a->p.plan);
	if (a->rec.samples.len &&
	    a->rec.samples.ptr[a->rec.samples.len - 1] != '\n')
		buf_addch(&a->rec.samples, '\n');
	tune_samples(t, &a->rec.samples);
	ret = search_write_done(st, a, 1, err);
	if (ret)
		return ret;
	search_add(st, a);
	graph_settle(&t->run->graph);
	t->made = graph_find(&t->run->graph, &a->id);
	return confirm(t, err);
}

/* Checks and times the version anew, against the node; *good: it holds. */
static int check_anew(struct tune *t, size_t best, struct batch *b,
		      bool *good, struct err *err)
{
	struct attempt *a = &b->at[0];
	struct tune_result r;
	int ret = make(t, t->trial[best].set, a, err);

	b->nr = 1;
	b->trial[0] = t->nr;	/* no trial: its event is passed over */
	*good = false;
	if (ret)
		return ret;
	set_subject(t, t->trial[best].set, &a->p);
	a->trial = true;
	ret = judge(b, t->nr, NULL, err);
	if (ret || a->phase != AT_DONE)
		return ret;
	*good = a->rec.verdict == V_FASTER || a->rec.verdict == V_CONFIRMED;
	if (*good || a->known)
		return 0;
	take_result(a, &r);
	return tune_log_add(&t->log, &r, err);	/* for its time */
}

static int choose(struct tune *t, struct err *err)
{
	size_t rank[FINALISTS], nr = tune_rank(t, FINALISTS, rank);
	bool good = false;
	int ret = 0;

	for (size_t i = 0; i < nr && !ret && !good; i++) {
		struct batch b = { .t = t, .err = ERR_INIT };
		const struct tune_trial *one = &t->trial[rank[i]];

		if (!(one->score > TUNE_GAIN) ||
		    search_stopped(t->run->state))
			break;
		t->made = graph_find_state(&t->run->graph, &one->state);
		if (t->made == 0) {	/* the root is no winner */
			t->made = NODE_NONE;
			continue;
		}
		if (t->made != NODE_NONE) {
			t->best = rank[i];
			t->known = true;
			return confirm(t, err);
		}
		ret = check_anew(t, rank[i], &b, &good, err);
		if (!ret && good) {
			t->best = rank[i];
			ret = write_winner(t, rank[i], &b.at[0], err);
		}
		batch_release(&b);
	}
	return ret;
}

/* The time of the trials, which no node has: a line of no step, since it is no
 * attempt of the search. */
static int write_spend(struct tune *t, struct err *err)
{
	const struct node *n = &t->run->graph.node[t->node];
	struct attempt a = {
		.parent = t->node, .parent2 = NODE_NONE,
		.op = "tune", .by = t->by ? t->by->name : "tuner",
		.phase = AT_DONE, .empty = true,
	};
	int ret;

	if (!(t->log.unpaid_s > 0))
		return 0;
	if (tune_log_paying(&t->log, err))
		return err->code;
	a.state = t->log.paying;
	proposal_init(&a.p);
	record_init(&a.rec);
	a.rec.verdict = V_NO_PROPOSAL;
	a.rec.error = xasprintf("tuning node %s: %zu settings tried",
				oid_short(&n->id).s, t->evals);
	a.p.recipe = xstrdup("");
	a.p.strategy = xstrdup("tune");
	a.p.subject = xasprintf("%.30s: tune", t->run->kernel->name);
	a.rec.attempt_s = t->log.unpaid_s;
	a.rec.device_s = t->log.unpaid_device_s;
	ret = search_write_done(t->run->state, &a, 1, err);
	if (!ret)
		ret = tune_log_paid(&t->log, err);
	attempt_release(&a);
	return ret;
}

/* ---- the whole ---- */

static int check_node(const struct tune *t, struct err *err)
{
	const struct node *n = &t->run->graph.node[t->node];

	if (t->node == 0 || (!n->pending && verdict_is_timed(n->rec.verdict) &&
			     !isnan(n->score)))
		return 0;
	return err_set(err, ERR_FORMAT, "node %s has no time on this device "
		       "class (%s): only a version that is right can be tuned",
		       oid_short(&n->id).s, n->pending ? "pending" :
		       verdict_name(n->rec.verdict));
}

static int open_all(struct tune *t, struct tuner **q, struct err *err)
{
	const struct search_run *run = t->run;
	struct tuner_opts o = {
		.space = &t->space->sel, .require = t->space->require,
		.nr_require = t->space->nr_require, .seed = t->seed,
		.grid = t->grid, .trials = t->attempts,
	};
	int ret;

	*q = NULL;
	if (check_node(t, err))
		return err->code;
	if (!t->attempts)
		t->attempts = TUNER_MAX_TRIALS;
	ret = tune_log_open(&t->log, run->search, run->state->info.device,
			    run->state->info.sandbox, err);
	if (!ret)
		ret = tune_log_settle(&t->log, &run->graph, err);
	if (!ret)
		ret = tuner_open(q, &o, err);
	if (!ret) {
		t->whole = tuner_is_grid(*q);
		t->legal = tuner_legal(*q);
	}
	return ret;
}

int tune_run(struct tune *t, struct err *err)
{
	struct search_run *run = t->run;
	struct tuner *q;
	bool more = true;
	int ret;

	t->made = NODE_NONE;
	t->end = TUNE_WHOLE;
	ret = open_all(t, &q, err);
	while (!ret && more) {
		if (search_stopped(run->state))
			t->end = TUNE_STOPPED;
		else if (search_late(run->state, 0))
			t->end = end_late(t);
		more = t->end == TUNE_WHOLE;
		if (more)
			ret = run_batch(t, q, &more, err);
	}
	tuner_close(q);
	for (size_t i = 0; i < t->nr; i++)
		if (t->trial[i].res && !t->trial[i].again) {
			t->seconds += t->trial[i].res->seconds;
			t->device_s += t->trial[i].res->device_s;
		}
	t->best = t->nr;
	if (!ret)
		ret = choose(t, err);
	if (!ret && search_stopped(run->state))
		t->end = TUNE_STOPPED;
	if (!ret)
		ret = write_spend(t, err);
	for (int i = 0; i < run->jobs; i++)
		run->judge[i] = run->state->slot[i].judge;
	return ret;
}

void tune_release(struct tune *t)
{
	for (size_t i = 0; i < t->nr; i++)
		free(t->trial[i].error);
	free(t->trial);
	t->trial = NULL;
	t->nr = t->cap = 0;
	tune_log_close(&t->log);
}
