/*
 * Writing: objects first, then one sync, then the refs in the order anchor,
 * plan, metrics, agents.  Whatever prefix of that happens is a valid state.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/mem.h"
#include "core/store_parts.h"
#include "core/worker.h"

#define ANCHOR_PARENTS 256
#define MAX_SUBJECT 72
#define MAX_RECIPE 65536
#define RACE_TRIES 50
#define LINES_AT_ONCE 256

enum { PLAN, METRICS, AGENTS, KINDS };
static const char *const kinds[KINDS] = { "plan", "metrics", "agents" };

struct text_item {
	int kind;
	struct oid on;
	char *text;
	bool spend;		/* where it stands is seen to later */
};

struct write {			/* one batch */
	struct search *s;
	char *worker;		/* named by the lines */
	struct oid *node;	/* new commits */
	size_t nr_nodes;
	struct oid *raw;	/* blobs to keep */
	size_t nr_raw, cap_raw;
	struct text_item *item;
	size_t nr_items, cap_items;
	struct oid ledger;	/* a new one; zero: none */
	bool anchored;		/* the anchor is in place */
	bool moved[KINDS];
};

static void write_release(struct write *w)
{
	for (size_t i = 0; i < w->nr_items; i++)
		free(w->item[i].text);
	free(w->item);
	free(w->worker);
	free(w->node);
	free(w->raw);
}

/* Takes over the text. */
static void add_item(struct write *w, int kind, const struct oid *on,
		     char *text)
{
	GROW(w->item, w->nr_items, w->cap_items);
	w->item[w->nr_items++] = (struct text_item){ kind, *on, text, false };
}

/* A note that is no text would keep others from taking any of that ref. */
static void add_text(struct write *w, int kind, const struct oid *on,
		     const char *text)
{
	struct buf clean = BUF_INIT;

	if (!text || !*text)
		return;
	buf_add_clean(&clean, text, strlen(text), true);
	add_item(w, kind, on, buf_detach(&clean));
}

/* ---- anchors ---- */

static int anchor_tree(struct write *w, struct oid *out, struct err *err)
{
	struct tree t = { NULL, 0, 0 };
	int ret;

	for (size_t i = 0; i < w->nr_raw; i++)
		tree_put(&t, oid_text(&w->raw[i]).s, &w->raw[i], 0100644);
	ret = repo_tree_write(w->s->repo, &t, out, err);
	tree_release(&t);
	return ret;
}

/* One anchor on *tip (if has_tip) over nodes [lo, hi). */
static int anchor_commit(struct write *w, size_t lo, size_t hi,
			 unsigned long number, bool has_tip,
			 const struct oid *tree, struct oid *tip,
			 struct err *err)
{
	size_t nr = 0;
	struct oid *parent = xcalloc(hi - lo + 2, sizeof(*parent));
	char *message = xasprintf("maxkernel: anchor %lu\n\n"
				  "Maxkernel-Search: %s\n"
				  "Maxkernel-Worker: %s\n", number,
				  w->s->spec.slug, w->s->worker);
	int ret;

	if (has_tip)
		parent[nr++] = *tip;
	for (size_t i = lo; i < hi; i++)
		parent[nr++] = w->node[i];
	if (hi == w->nr_nodes && !oid_is_zero(&w->ledger))
		parent[nr++] = w->ledger;
	ret = repo_commit_write(w->s->repo, tree, parent, nr, message, tip,
				err);
	free(parent);
	free(message);
	return ret;
}

struct anchor {
	char *ref;
	bool had;
	struct oid old, new;
};

static int anchor_write(struct write *w, struct anchor *a, struct err *err)
{
	unsigned long number = 0;
	struct commit c;
	struct oid tree;
	size_t lo = 0;
	int ret = repo_ref_read(w->s->repo, a->ref, &a->old, err);

	if (ret && ret != ERR_NOTFOUND)
		return ret;
	a->had = ret == 0;
	if (a->had) {
		if (repo_commit_read(w->s->repo, &a->old, &c, err) < 0)
			return err->code;
		number = anchor_number(c.message);
		commit_release(&c);
		a->new = a->old;
	}
	ret = anchor_tree(w, &tree, err);
	do {
		size_t hi = w->nr_nodes - lo > ANCHOR_PARENTS ?
			lo + ANCHOR_PARENTS : w->nr_nodes;

		if (!ret)
			ret = anchor_commit(w, lo, hi, ++number,
					    a->had || lo, &tree, &a->new, err);
		lo = hi;
	} while (lo < w->nr_nodes);
	return ret;
}

/* ---- notes ---- */

static bool has_kind(const struct write *w, int kind)
{
	for (size_t i = 0; i < w->nr_items; i++)
		if (w->item[i].kind == kind)
			return true;
	return false;
}

static int kind_write(struct write *w, int kind, struct notes_batch **b,
		      struct err *err)
{
	char *ref = store_notes_ref(w->s->spec.slug, kinds[kind],
				    w->s->worker);
	int ret = notes_begin(w->s->repo, ref, b, err);

	free(ref);
	for (size_t i = 0; !ret && i < w->nr_items; i++) {
		const struct text_item *it = &w->item[i];

		if (it->kind != kind)
			continue;
		if (kind == METRICS)
			ret = notes_append(*b, &it->on, it->text, err);
		else
			ret = notes_put(*b, &it->on, it->text,
					strlen(it->text), err);
	}
	return ret ? ret : notes_write(*b, err);
}

static int move_all(struct write *w, struct anchor *a,
		    struct notes_batch **b, struct err *err)
{
	int ret = repo_sync(w->s->repo, err);

	if (!ret && a->ref) {
		ret = repo_ref_cas(w->s->repo, a->ref, a->had ? &a->old : NULL,
				   &a->new, "maxkernel: anchor", err);
		w->anchored = !ret;
	}
	for (int k = 0; !ret && k < KINDS; k++) {
		if (!b[k])
			continue;
		ret = notes_move(b[k], err);
		w->moved[k] = !ret;
	}
	return ret;
}

static int write_once(struct write *w, struct err *err)
{
	struct anchor a = { NULL, false, { { 0 } }, { { 0 } } };
	struct notes_batch *b[KINDS] = { NULL };
	int ret = 0;

	if (!w->anchored && (w->nr_nodes || w->nr_raw ||
			     !oid_is_zero(&w->ledger))) {
		a.ref = store_anchor_ref(w->s->spec.slug, w->s->worker);
		ret = anchor_write(w, &a, err);
	}
	for (int k = 0; !ret && k < KINDS; k++)
		if (!w->moved[k] && has_kind(w, k))
			ret = kind_write(w, k, &b[k], err);
	if (!ret)
		ret = move_all(w, &a, b, err);
	for (int k = 0; k < KINDS; k++)
		notes_free(b[k]);
	free(a.ref);
	return ret;
}

/* The lines of spends that are together in a batch stay so. */
static int place_spends(struct write *w, struct err *err)
{
	size_t len = 0;
	struct oid on;
	bool new;

	for (size_t i = 0; i < w->nr_items; i++)
		if (w->item[i].spend)
			len += strlen(w->item[i].text);
	if (!len)
		return 0;
	if (ledger_place(w->s, len, &on, &new, err) < 0)
		return err->code;
	if (new)
		w->ledger = on;
	for (size_t i = 0; i < w->nr_items; i++)
		if (w->item[i].spend)
			w->item[i].on = on;
	return 0;
}

static int write_tries(struct write *w, struct err *err)
{
	int ret = place_spends(w, err);

	if (ret < 0)
		return ret;
	for (int try = 0; try < RACE_TRIES; try++) {
		struct timespec pause = { 0, (try + 1) * 500000L };

		ret = write_once(w, err);
		if (ret != ERR_RACE)
			break;
		nanosleep(&pause, NULL);
	}
	if (ret && !oid_is_zero(&w->ledger))
		ledger_forget(w->s);
	return ret;
}

static int write_commit(struct write *w, struct err *err)
{
	int ret = worker_need(w->s->repo, w->s->worker, err);

	if (!ret)
		ret = repo_lock(w->s->repo, err);
	if (ret < 0)
		return ret;
	worker_refresh(w->s);
	ret = write_tries(w, err);
	repo_unlock(w->s->repo);
	if (!ret)
		store_tidy(w->s, false);
	return ret;
}

/* ---- lines ---- */

/* Writes the raw blob that a record needs and queues the line. */
static int add_metric(struct write *w, struct metric *m, const struct oid *on,
		      struct err *err)
{
	struct buf b = BUF_INIT;
	int ret = 0;

	metric_now(m->t);
	if (!w->worker)		/* of s it may change when they are written */
		w->worker = xstrdup(w->s->worker);
	m->worker = w->worker;
	if (m->event == METRIC_EVAL && metric_needs_raw(m)) {
		metric_format_raw(&b, &m->rec);
		if (b.len > METRIC_MAX_RAW)
			ret = err_set(err, ERR_LIMIT, "a record of %zu bytes",
				      b.len);
		else
			ret = repo_blob_write(w->s->repo, b.ptr, b.len,
					      &m->raw, err);
		GROW(w->raw, w->nr_raw, w->cap_raw);
		w->raw[w->nr_raw++] = m->raw;
		buf_reset(&b);
	}
	if (!ret) {
		metric_format(&b, m);
		add_item(w, METRICS, on, buf_detach(&b));
	}
	buf_release(&b);
	return ret;
}

/* m borrows from rec and s: never released. */
static int eval_metric(struct search *s, struct metric *m,
		       const struct oid *state, const struct record *rec,
		       struct err *err)
{
	memset(m, 0, sizeof(*m));
	m->event = METRIC_EVAL;
	m->rec = *rec;
	m->state = *state;
	m->epoch = JUDGE_EPOCH;
	memcpy(m->section, s->section_hash, sizeof(m->section));
	if (!m->rec.device)
		m->rec.device = s->spec.device;
	if (!store_word_ok(m->rec.device))
		return err_set(err, ERR_FORMAT, "'%s' is not the name of a "
			       "device class", m->rec.device);
	return 0;
}

int store_measure(struct search *s, const struct oid *node,
		  const struct oid *state, const struct record *rec,
		  struct err *err)
{
	struct write w = { .s = s };
	struct metric m;
	int ret = eval_metric(s, &m, state, rec, err);

	if (!ret)
		ret = add_metric(&w, &m, node, err);
	if (!ret)
		ret = write_commit(&w, err);
	if (!ret)
		judged_note(s, &m);
	write_release(&w);
	return ret < 0 ? err_wrap(err, "cannot store a measurement of %s",
				  oid_short(node).s) : 0;
}

static int write_config(struct search *s, const char *what, const char *why,
			struct err *err)
{
	struct write w = { .s = s };
	struct metric m;
	struct buf clean = BUF_INIT;
	char name[16];
	int ret;

	memset(&m, 0, sizeof(m));
	snprintf(name, sizeof(name), "%s", what);
	m.event = METRIC_CONFIG;
	m.what = name;
	if (why)
		buf_add_clean(&clean, why, strlen(why), false);
	m.why = why ? clean.ptr : NULL;
	ret = add_metric(&w, &m, &s->spec_commit, err);
	if (!ret)
		ret = write_commit(&w, err);
	write_release(&w);
	buf_release(&clean);
	return ret;
}

int store_finish(struct search *s, const char *why, struct err *err)
{
	return write_config(s, "done", why, err);
}

int store_reopen(struct search *s, const char *why, struct err *err)
{
	return write_config(s, "reopen", why, err);
}

/* ---- attempts ---- */

static bool one_line(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < 32 || *text == 127)
			return false;
	return true;
}

static int add_trailer(struct buf *b, const char *key, const char *value,
		       struct err *err)
{
	if (!value || !*value)
		return 0;
	if (!one_line(value) || strlen(value) > MAX_RECIPE)
		return err_set(err, ERR_FORMAT, "the value of %s is not one "
			       "line of text", key);
	buf_addf(b, "%s: %s\n", key, value);
	return 0;
}

/* At most 72 bytes, cut between characters. */
static void add_subject(struct buf *b, const struct store_attempt *a)
{
	struct buf clean = BUF_INIT;
	const char *s = a->subject && *a->subject ? a->subject : a->op;
	size_t len = strcspn(s, "\n");

	buf_add_clean(&clean, s, len, false);
	while (clean.len && *clean.ptr == ' ')
		buf_splice(&clean, 0, 1, "", 0);
	len = clean.len < MAX_SUBJECT ? clean.len : MAX_SUBJECT;
	while (len && len < clean.len && (clean.ptr[len] & 0xc0) == 0x80)
		len--;
	buf_add(b, clean.ptr, len);
	if (!len)
		buf_addstr(b, "maxkernel");
	buf_addstr(b, "\n\n");
	buf_release(&clean);
}

static int node_message(struct search *s, const struct store_attempt *a,
			struct buf *b, struct err *err)
{
	char step[16], steps[16] = "";

	snprintf(step, sizeof(step), "%u", a->step);
	if (a->steps > 0)
		snprintf(steps, sizeof(steps), "%d", a->steps <
			 STORE_MAX_STEPS ? a->steps : STORE_MAX_STEPS);
	add_subject(b, a);
	if (add_trailer(b, "Maxkernel-Search", s->spec.slug, err) < 0 ||
	    add_trailer(b, "Maxkernel-Op", a->op, err) < 0 ||
	    add_trailer(b, "Maxkernel-Worker", s->worker, err) < 0 ||
	    add_trailer(b, "Maxkernel-Proposer", a->proposer, err) < 0 ||
	    add_trailer(b, "Maxkernel-Step", step, err) < 0 ||
	    add_trailer(b, "Maxkernel-Plan-Steps", steps, err) < 0 ||
	    add_trailer(b, "Maxkernel-Strategy", a->strategy, err) < 0 ||
	    add_trailer(b, "Maxkernel-Recipe", a->recipe, err) < 0)
		return err->code;
	return 0;
}

static int write_node(struct search *s, struct store_attempt *a,
		      struct err *err)
{
	struct buf message = BUF_INIT;
	struct oid tree;
	int ret;

	if (!a->nr_parents || !a->op)
		return err_set(err, ERR_FORMAT, "a node needs a parent and "
			       "an operation");
	if (oid_is_zero(&a->state))
		srcset_state(a->source, &a->state);
	ret = node_message(s, a, &message, err);
	if (!ret)
		ret = repo_commit_tree(s->repo, &a->parent[0], &tree, err);
	if (!ret)
		ret = repo_tree_with(s->repo, &tree, a->source, true, &tree,
				     err);
	if (!ret)
		ret = repo_commit_write(s->repo, &tree, a->parent,
					a->nr_parents, message.ptr, &a->id,
					err);
	buf_release(&message);
	return ret;
}

static int add_node(struct write *w, struct store_attempt *a,
		    struct metric *m, struct err *err)
{
	int ret = write_node(w->s, a, err);

	if (ret < 0)
		return ret;
	w->node[w->nr_nodes++] = a->id;
	add_text(w, PLAN, &a->id, a->plan);
	add_text(w, AGENTS, &a->id, a->agents);
	if (!a->rec || a->rec->verdict == V_NONE)
		return 0;
	ret = eval_metric(w->s, m, &a->state, a->rec, err);
	return ret ? ret : add_metric(w, m, &a->id, err);
}

static int add_spend(struct write *w, const struct store_attempt *a,
		     struct metric *m, struct err *err)
{
	memset(m, 0, sizeof(*m));
	m->event = METRIC_SPEND;
	m->step = a->step;
	m->state = a->state;
	if (!a->rec)
		return err_set(err, ERR_FORMAT, "an attempt without a state "
			       "needs a verdict");
	m->rec = *a->rec;
	if (add_metric(w, m, &w->s->spec_commit, err) < 0)
		return err->code;
	w->item[w->nr_items - 1].spend = true;
	return 0;
}

/* The calls of models that it made. */
static int add_calls(struct write *w, const struct store_attempt *a,
		     struct err *err)
{
	for (size_t i = 0; a->used && i < a->used->nr; i++) {
		struct metric m;	/* borrows: never released */

		memset(&m, 0, sizeof(m));
		m.event = METRIC_SPEND;
		m.step = a->step;
		m.used = a->used->v[i];
		if (!*m.used.id)
			usage_make_id(m.used.id);
		else if (ledger_is_paid(w->s, m.used.id))
			continue;
		if (add_metric(w, &m, &w->s->spec_commit, err) < 0)
			return err->code;
		w->item[w->nr_items - 1].spend = true;
	}
	return 0;
}

int store_spend_lines(struct search *s, const struct strv *lines,
		      struct err *err)
{
	int ret = 0;

	for (size_t lo = 0, hi; !ret && lo < lines->nr; lo = hi) {
		struct write w = { .s = s };

		for (hi = lo; hi < lines->nr && hi - lo < LINES_AT_ONCE; hi++) {
			add_item(&w, METRICS, &s->spec_commit,
				 xstrdup(lines->v[hi]));
			w.item[hi - lo].spend = true;
		}
		ret = write_commit(&w, err);
		write_release(&w);
	}
	return ret;
}

int store_append(struct search *s, struct store_attempt *a, size_t nr,
		 struct err *err)
{
	struct write w = { .s = s };
	struct metric *m = xcalloc(nr, sizeof(*m));
	int ret = 0;

	w.node = xcalloc(nr, sizeof(*w.node));
	for (size_t i = 0; !ret && i < nr; i++)
		if (add_calls(&w, &a[i], err) < 0)
			ret = err->code;
		else
			ret = a[i].source ? add_node(&w, &a[i], &m[i], err) :
				add_spend(&w, &a[i], &m[i], err);
	if (!ret && nr)
		ret = write_commit(&w, err);
	for (size_t i = 0; !ret && i < nr; i++)
		if (m[i].worker && m[i].event == METRIC_EVAL)
			judged_note(s, &m[i]);
	write_release(&w);
	free(m);
	return ret < 0 ? err_wrap(err, "cannot store attempt %u",
				  nr ? a[0].step : 0) : 0;
}
