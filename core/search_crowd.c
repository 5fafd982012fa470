/*
 * Several workers on one search.  All that have the same earlier rounds plan
 * the same round, so they share its slots alone: a chunk is claimed, judged
 * and shared with the others; who finds nothing to claim waits for them.  A
 * round is over when each of its steps has a record, and then one worker does
 * its confirmation.
 *
 * A chunk is a fixed run of slots, whatever they expand: its name does not
 * hang on the plan, and a small round still feeds several workers.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/rng.h"
#include "core/search_state.h"

#define CHUNK_MOST 8		/* slots of one */
#define CHUNKS 8		/* of a round, as far as it has slots */
#define MAX_DEVICE 60		/* characters of it in a key */

struct joint {			/* one round */
	struct state *st;
	uint32_t round;
	struct attempt *at;
	size_t nr;		/* slots */
	size_t chunk;		/* slots of a chunk */
	bool *mine;		/* claimed, to be judged now */
	bool fresh;		/* what is made may have changed */
	bool unshared;		/* results of ours wait for the remote */
};

/* ---- names ---- */

/* "<device>-r<round>-<what>", as core/lease.h wants it. */
static char *key(const struct state *st, uint32_t round, const char *what)
{
	const char *device = st->info.device;
	struct buf name = BUF_INIT;
	char *text;
	struct oid id;

	for (const char *p = device; *p; p++)
		buf_addch(&name, isalnum((unsigned char)*p) && !(*p & 0x80) ?
			  tolower((unsigned char)*p) : '-');
	if (name.len > MAX_DEVICE) {
		source_blob_id(device, strlen(device), &id);
		buf_reset(&name);
		buf_addf(&name, "%s", oid_short(&id).s);
	}
	text = xasprintf("%s-r%u-%s", name.ptr, round, what);
	buf_release(&name);
	return text;
}

static char *chunk_key(const struct joint *j, size_t chunk)
{
	char *what = xasprintf("c%zu", chunk * j->chunk);
	char *text = key(j->st, j->round, what);

	free(what);
	return text;
}

/* ---- one graph for all ---- */

/* A node with the step and the state of one that is kept, or NODE_NONE. */
static uint32_t twin(const struct graph *kept, const struct node *n)
{
	for (uint32_t i = kept->nr; i-- > 1;) {
		if (kept->node[i].step != n->step)
			break;
		if (oid_eq(&kept->node[i].state, &n->state))
			return i;
	}
	return NODE_NONE;
}

/* Of two that made the same step the one with a record stays.  The texts of
 * either node may be its own or the graph's. */
static void swap_record(struct graph *g, struct node *kept, struct node *n)
{
	struct record was = kept->rec;

	if (!kept->pending || n->pending)
		return;
	kept->rec = n->rec;
	n->rec = was;
	kept->pending = n->pending;
	kept->claimed = n->claimed;
	if (kept->borrowed) {
		kept->rec_worker = graph_text(g, n->rec_worker);
	} else {
		free(kept->rec_worker);
		kept->rec_worker = n->rec_worker ? xstrdup(n->rec_worker) :
			NULL;
	}
}

void search_crowd_fold(struct graph *g)
{
	struct graph kept = *g, gone;
	uint32_t *map = xcalloc(g->nr, sizeof(*map));

	kept.node = NULL;
	kept.slot[0] = kept.slot[1] = NULL;
	kept.nr = kept.cap = kept.nr_slots = 0;
	graph_init(&gone);
	for (uint32_t i = 0; i < g->nr; i++) {
		struct node *n = &g->node[i];

		map[i] = i && n->step ? twin(&kept, n) : NODE_NONE;
		if (map[i] == NODE_NONE) {
			map[i] = graph_add(&kept, n);
		} else {
			swap_record(&kept, &kept.node[map[i]], n);
			graph_add(&gone, n);
		}
	}
	for (uint32_t i = 0; i < kept.nr; i++)
		for (int p = 0; p < 2; p++)
			if (kept.node[i].parent[p] != NODE_NONE)
				kept.node[i].parent[p] =
					map[kept.node[i].parent[p]];
	free(g->node);
	free(g->slot[0]);
	free(g->slot[1]);
	free(map);
	graph_release(&gone);
	*g = kept;
	graph_settle(g);
}

/* ---- the others ---- */

/* The remote out of reach is no error: it is waited for.  A signal is seen by
 * who asks search_stopped(). */
static int excuse(int ret, struct err *err)
{
	if (ret != ERR_NET && ret != ERR_STOPPED)
		return ret;
	err->code = ERR_NONE;
	return 0;
}

static int pull(struct state *st, bool *fresh, struct err *err)
{
	const struct search_crowd *c = st->run->crowd;
	bool news = false;
	int ret = excuse(c->pull(c->ctx, &news, err), err);

	*fresh |= news;
	return ret;
}

/* *unshared stays set while the remote is out of reach. */
static int share(struct state *st, bool *unshared, struct err *err)
{
	const struct search_crowd *c = st->run->crowd;
	int ret = c->share(c->ctx, err);

	*unshared = ret == ERR_NET || ret == ERR_STOPPED;
	return excuse(ret, err);
}

static int wait_others(struct state *st, struct err *err)
{
	const struct search_crowd *c = st->run->crowd;

	st->waiting = true;
	search_tick(st);
	st->waiting = false;
	return c->wait(c->ctx, err);
}

/* ---- the slots of a round ---- */

/* A node that has no record, its worker having been killed, is judged as it
 * stands. */
static int take_stored(struct state *st, const struct node *n,
		       struct attempt *a, struct err *err)
{
	if (a->stored || !n->op || !strcmp(n->op, "plan"))
		return 0;
	srcset_release(&a->p.source);
	a->stored = true;
	a->id = n->id;
	a->state = n->state;
	return store_source(st->run->search->repo, &n->id, st->run->kernel,
			    false, &a->p.source, err);
}

static int mark_slot(struct state *st, const struct graph *now,
		     struct attempt *a, struct err *err)
{
	const struct node *pending = NULL;

	for (uint32_t i = now->nr; i-- > 1 && now->node[i].step >= a->step;) {
		if (now->node[i].step != a->step)
			continue;
		if (!now->node[i].pending) {
			a->phase = AT_DONE;
			a->written = true;
			return 0;
		}
		pending = &now->node[i];
	}
	for (uint32_t i = 0; i < now->nr_spend; i++)
		if (now->spend[i].step == a->step) {
			a->phase = AT_DONE;
			a->written = true;
		}
	return pending ? take_stored(st, pending, a, err) : 0;
}

/* Which slots have been made by now, by anyone. */
static int mark_made(struct joint *j, struct err *err)
{
	struct search_run *run = j->st->run;
	struct graph now;
	int ret;

	if (!j->fresh)
		return 0;
	graph_init(&now);
	ret = store_load(run->search, j->st->info.device, &now, NULL, err);
	for (size_t i = 0; i < j->nr && !ret; i++)
		if (!j->at[i].written)
			ret = mark_slot(j->st, &now, &j->at[i], err);
	graph_release(&now);
	j->fresh = ret != 0;
	return ret;
}

static size_t missing(const struct joint *j, size_t lo, size_t hi)
{
	size_t nr = 0;

	for (size_t i = lo; i < hi && i < j->nr; i++)
		nr += !j->at[i].written;
	return nr;
}

/* ---- claiming ---- */

/* Claims up to `most` chunks of those in list; *won of them. */
static int claim_some(struct joint *j, const size_t *list, size_t nr,
		      size_t *won, struct err *err)
{
	const struct search_crowd *c = j->st->run->crowd;
	char **name = xcalloc(nr, sizeof(*name));
	bool *ok = xcalloc(nr, sizeof(*ok));
	int ret;

	for (size_t i = 0; i < nr; i++)
		name[i] = chunk_key(j, list[i]);
	ret = excuse(c->claim(c->ctx, (const char *const *)name, ok, nr, err),
		     err);
	for (size_t i = 0; i < nr; i++) {
		for (size_t k = 0; ok[i] && k < j->chunk; k++)
			if (list[i] * j->chunk + k < j->nr)
				j->mine[list[i] * j->chunk + k] = true;
		*won += ok[i];
		free(name[i]);
	}
	free(name);
	free(ok);
	return ret;
}

/* Slots that this worker may still begin. */
static size_t allowance(const struct state *st)
{
	const struct purse *p = st->run->purse;

	if (!p->budget.attempts || st->run->crowd->company)
		return SIZE_MAX;
	return p->used.attempts >= p->budget.attempts ? 0 :
		(size_t)(p->budget.attempts - p->used.attempts);
}

/*
 * As many chunks as keep the judges busy, and, once it is known how long an
 * attempt takes, as last claim_s; but no more than leaves the other workers
 * their share.
 */
static size_t chunks_at_once(const struct joint *j, size_t chunks)
{
	const struct state *st = j->st;
	const struct search_crowd *c = st->run->crowd;
	size_t least = ((size_t)st->run->jobs + j->chunk - 1) / j->chunk;
	size_t workers = c->workers ? c->workers(c->ctx) : 1;
	size_t share = chunks / (workers ? workers : 1);
	double want;

	if (!st->joint_made || !(st->joint_s > 0))
		return least;
	want = c->claim_s * (double)st->joint_made / st->joint_s /
		(double)j->chunk;
	if (want < (double)share)
		share = (size_t)want;
	return share > least ? share : least;
}

/* Each worker begins elsewhere. */
static int claim_chunks(struct joint *j, size_t *won, struct err *err)
{
	const char *worker = j->st->run->search->worker;
	size_t chunks = (j->nr + j->chunk - 1) / j->chunk, nr = 0;
	size_t most = chunks_at_once(j, chunks);
	size_t first = (size_t)rng_mix(rng_hash(worker, strlen(worker)),
				       j->round) % chunks;
	size_t *list = xcalloc(chunks, sizeof(*list));
	int ret = 0;

	*won = 0;
	memset(j->mine, 0, j->nr * sizeof(*j->mine));
	for (size_t i = 0; i < chunks && !ret && !*won; i++) {
		size_t k = (first + i) % chunks;

		if (missing(j, k * j->chunk, (k + 1) * j->chunk))
			list[nr++] = k;
		if (nr == most || (nr && i + 1 == chunks)) {
			ret = claim_some(j, list, nr, won, err);
			nr = 0;
		}
	}
	free(list);
	return ret;
}

/* ---- judging what was claimed ---- */

/* Slots that are not ours are kept from search_judge_all(). */
static int judge_mine(struct joint *j, struct err *err)
{
	size_t left = allowance(j->st), todo = 0;
	bool *hidden = xcalloc(j->nr, sizeof(*hidden));
	double began = clock_s();
	int ret = 0;

	for (size_t i = 0; i < j->nr; i++) {
		struct attempt *a = &j->at[i];

		if (a->written)
			continue;
		if (j->mine[i] && left) {
			left--;
			todo++;
			continue;
		}
		hidden[i] = true;
		a->phase = AT_DONE;
		a->written = true;
	}
	if (todo)
		ret = search_judge_all(j->st, j->at, j->nr, NULL, err);
	j->st->joint_s += clock_s() - began;
	j->st->joint_made += todo;
	for (size_t i = 0; i < j->nr; i++)
		if (hidden[i]) {
			j->at[i].phase = AT_NEW;
			j->at[i].written = false;
		}
	free(hidden);
	return ret;
}

/* One turn: claims and judges, or waits. */
static int turn(struct joint *j, struct err *err)
{
	size_t won = 0;
	int ret = 0;

	if (j->unshared)
		ret = share(j->st, &j->unshared, err);
	else
		ret = claim_chunks(j, &won, err);
	if (!ret && won) {
		/* Done and released while we were claiming it? */
		ret = pull(j->st, &j->fresh, err);
		if (!ret)
			ret = mark_made(j, err);
		if (!ret)
			ret = judge_mine(j, err);
		if (!ret && !search_stopped(j->st))
			ret = share(j->st, &j->unshared, err);
		return ret ? ret : pull(j->st, &j->fresh, err);
	}
	if (!ret)
		ret = wait_others(j->st, err);
	return ret ? ret : pull(j->st, &j->fresh, err);
}

/* Until every slot is made; *whole: it came to that. */
static int make_round(struct joint *j, bool *whole, struct err *err)
{
	int ret = 0;

	*whole = false;
	while (!ret) {
		ret = mark_made(j, err);
		if (ret || search_stopped(j->st))
			break;
		if (!missing(j, 0, j->nr) && !j->unshared) {
			*whole = true;
			break;
		}
		if (search_crowd_lost(j->st) || !search_may_go_on(j->st, NULL, 0))
			break;
		ret = turn(j, err);
	}
	return ret;
}

/* ---- one worker for all: confirmations, the end ---- */

/*
 * Claims a name that stands for work which others may have done meanwhile;
 * *ours: what is there now is loaded and the work is ours.
 */
static int claim_one(struct state *st, const char *name, bool *ours,
		     struct err *err)
{
	const struct search_crowd *c = st->run->crowd;
	bool news = false;
	int ret = excuse(c->claim(c->ctx, &name, ours, 1, err), err);

	if (!ret && !*ours)
		ret = wait_others(st, err);
	if (!ret)
		ret = pull(st, &news, err);
	if (!ret && (news || *ours))
		ret = search_reload(st, err);
	return ret;
}

/* Was a confirmation of the node made, by anyone, whatever came of it? */
static int was_tried(struct state *st, uint32_t node, bool *tried,
		     struct err *err)
{
	struct graph *g = &st->run->graph;
	struct record *rec;
	size_t nr;
	int ret = store_records(st->run->search, &g->node[node].id, &rec, &nr,
				err);

	*tried = false;
	for (size_t i = 0; i < nr; i++) {
		*tried |= rec[i].confirming && rec[i].device &&
			!strcmp(rec[i].device, st->info.device);
		record_release(&rec[i]);
	}
	free(rec);
	/* One without a verdict is not in the graph. */
	if (*tried)
		g->node[node].rec.confirming = true;
	return ret;
}

static int confirm_round(struct state *st, uint32_t round, struct err *err)
{
	uint32_t first = round * (uint32_t)st->run->search->spec.round;
	char *name = key(st, round, "confirm");
	bool ours = false, tried = false, unshared = false;
	int ret = 0;

	while (!ret && !search_stopped(st)) {
		uint32_t node = search_to_confirm(st, search_nodes_before(
						  &st->run->graph, first));

		if (node != NODE_NONE)
			ret = was_tried(st, node, &tried, err);
		if (ret || node == NODE_NONE || tried)
			break;
		if (ours) {
			ret = search_confirm(st, node, false, err);
			break;
		}
		if (search_late(st, 0) || search_crowd_lost(st))
			break;
		ret = claim_one(st, name, &ours, err);
	}
	free(name);
	if (ours && !ret && !search_stopped(st))
		ret = share(st, &unshared, err);
	while (unshared && !ret && !search_stopped(st) &&
	       !search_late(st, 0) && !search_crowd_lost(st)) {
		ret = wait_others(st, err);
		if (!ret)
			ret = share(st, &unshared, err);
	}
	/* As the others see it: a line holds fewer digits. */
	return ret || !ours ? ret : search_reload(st, err);
}

/* ---- what core/search.c calls ---- */

/* Slots of the round that the budget of the whole search allows. */
static size_t joint_slots(const struct state *st, uint32_t first, size_t nr)
{
	int64_t left = st->joint_attempts;

	if (!left)
		return nr;
	left -= search_attempts_in(&st->run->graph, st->prefix, first);
	return left <= 0 ? 0 : (int64_t)nr > left ? (size_t)left : nr;
}

int search_crowd_round(struct state *st, uint32_t round, struct attempt *at,
		       size_t nr, bool *more, struct err *err)
{
	struct joint j = { .st = st, .round = round, .at = at, .fresh = true };
	bool whole, cut;
	int ret;

	*more = false;
	j.nr = joint_slots(st, round * (uint32_t)st->run->search->spec.round,
			   nr);
	cut = j.nr < nr;
	if (!j.nr) {
		st->run->end = SEARCH_ATTEMPTS;
		st->joint_end = true;
		return 0;
	}
	/* Of the round, not of the plan, which a budget or a shortage of
	 * proposals may cut: the names of the chunks are the same for all. */
	j.chunk = (size_t)st->run->search->spec.round / CHUNKS;
	j.chunk = j.chunk < 1 ? 1 : j.chunk > CHUNK_MOST ? CHUNK_MOST : j.chunk;
	j.mine = xcalloc(j.nr, sizeof(*j.mine));
	ret = make_round(&j, &whole, err);
	if (!ret)
		ret = search_reload(st, err);
	if (!ret && whole && !cut)
		ret = confirm_round(st, round, err);
	if (!ret && whole && cut) {
		st->run->end = SEARCH_ATTEMPTS;
		st->joint_end = true;
	}
	*more = !ret && whole && !cut && !search_stopped(st) &&
		!search_crowd_lost(st) && search_may_go_on(st, NULL, 0);
	free(j.mine);
	return ret;
}

static int was_ended(struct state *st, bool *ended, struct err *err)
{
	char *why = NULL;
	int ret = store_finished(st->run->search, &why, err);

	*ended = why != NULL;
	free(why);
	return ret;
}

int search_crowd_final(struct state *st, struct err *err)
{
	struct search_run *run = st->run;
	bool ours = false, ended = false;
	int ret = 0;

	if (run->end != SEARCH_EXHAUSTED && run->end != SEARCH_FINISHED &&
	    !st->joint_end)
		return 0;
	while (!ret && !ours && !ended && !search_stopped(st) &&
	       !search_late(st, 0) && !search_crowd_lost(st)) {
		ret = claim_one(st, "end", &ours, err);
		if (!ret)
			ret = was_ended(st, &ended, err);
	}
	if (search_crowd_lost(st))
		ours = true;
	run->over = !ours || ended;
	if (ret || run->over)
		return ret;
	st->prefix = run->graph.nr;
	st->champion = run->graph.champion;
	search_remember(st);
	return search_final(st, err);
}
