#include "core/metrics_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/json.h"
#include "core/mem.h"
#include "core/source.h"

#define RAW_MEMBER 50		/* ,"raw":"<40>" with the closing brace */

const char *const metric_events[METRIC_EVENTS] = {
	[METRIC_EVAL] = "eval", [METRIC_SPEND] = "spend",
	[METRIC_LESSON] = "lesson", [METRIC_VOID] = "void",
	[METRIC_CONFIG] = "config",
};

#define NUM(name, digits, positive) \
	{ #name, offsetof(struct record, name), digits, positive }
const struct num_field metric_nums[METRIC_NUMS] = {
	/* what the graph needs comes first: a line has little room */
	NUM(speedup, 0, true), NUM(est_speedup, 0, true),
	NUM(attempt_s, 4, false), NUM(device_s, 4, false),
	NUM(ci_low, 7, true), NUM(ci_high, 7, true), NUM(time_ns, 7, true),
	NUM(lr, 0, false), NUM(gflops, 5, false), NUM(gbs, 5, false),
	NUM(roof, 4, false), NUM(baseline_ns, 7, true),
	NUM(lr_low, 7, false), NUM(lr_high, 7, false),
	NUM(vs_parent, 6, true), NUM(vs_rival, 6, true),
	NUM(vs_best_flags, 6, true),
};

#define STR(name, max) { #name, offsetof(struct record, name), max }
const struct str_field metric_strs[METRIC_STRS] = {
	STR(host, 256), STR(sandbox, 64), STR(oracle, 64), STR(clock, 64),
	STR(against, 64), STR(compiler, 1024), STR(flags, 4096),
};

void metric_init(struct metric *m)
{
	memset(m, 0, sizeof(*m));
	record_init(&m->rec);
	m->used.cost = m->used.seconds = NAN;
}

void metric_release(struct metric *m)
{
	record_release(&m->rec);
	free(m->used.agent);
	free(m->used.model);
	free(m->recipe);
	free(m->worker);
	free(m->what);
	free(m->why);
	metric_init(m);
}

void metric_now(char t[METRIC_TIME + 1])
{
	static int64_t last;
	struct timespec ts;
	struct tm tm;
	time_t sec;
	int64_t ms;
	size_t len;

	clock_gettime(CLOCK_REALTIME, &ts);
	ms = (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
	if (ms <= last)
		ms = last + 1;
	last = ms;
	sec = (time_t)(ms / 1000);
	gmtime_r(&sec, &tm);
	len = strftime(t, METRIC_TIME + 1, "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(t + len, METRIC_TIME + 1 - len, ".%03dZ", (int)(ms % 1000));
}

void metric_id(const char *line, size_t len, char id[13])
{
	struct oid o;

	source_blob_id(line, len, &o);
	memcpy(id, oid_text(&o).s, 12);
	id[12] = '\0';
}

/* ---- writing ---- */

/* What can be said of a verdict without being told. */
bool says_compiled(enum verdict v)
{
	return v != V_NONE && v != V_BUILD_FAIL && v != V_NO_PROPOSAL &&
	       v != V_NO_VERDICT && v != V_DUP;
}

bool says_correct(enum verdict v)
{
	return verdict_is_timed(v) || v == V_TOO_GOOD;
}

/* A member that is dropped, with false, when it would not leave room for
 * raw and the brace. */
static bool fits(struct buf *b, size_t start, size_t before)
{
	if (b->len - start + RAW_MEMBER <= METRIC_MAX_LINE)
		return true;
	b->len = before;
	b->ptr[before] = '\0';
	return false;
}

static bool add_nums(struct buf *b, size_t start, const struct record *r)
{
	bool all = true;

	for (size_t i = 0; i < METRIC_NUMS; i++) {
		double x = *num_at(r, &metric_nums[i]);
		size_t before = b->len;

		if (!isfinite(x))
			continue;
		json_put_num(b, metric_nums[i].key, x,
			     metric_nums[i].digits);
		all &= fits(b, start, before);
	}
	if (r->launches) {
		size_t before = b->len;

		json_put_int(b, "launches", r->launches);
		all &= fits(b, start, before);
	}
	return all;
}

static bool add_strs(struct buf *b, size_t start, const struct record *r)
{
	bool all = true;

	for (size_t i = 0; i < METRIC_STRS; i++) {
		const char *s = *str_at(r, &metric_strs[i]);
		size_t before = b->len;

		if (!s)
			continue;
		json_put_str(b, metric_strs[i].key, s);
		all &= fits(b, start, before);
	}
	return all;
}

/* The first line of the error, cut to what there is room for. */
static bool add_error(struct buf *b, size_t start, const char *error)
{
	size_t used = b->len - start + RAW_MEMBER + sizeof(",\"error\":\"\"");
	size_t len = strcspn(error, "\n"), before = b->len;
	size_t room = used < METRIC_MAX_LINE ? METRIC_MAX_LINE - used : 0;
	char *cut;

	if (len > room)
		len = room;
	for (; len >= 16 || (len && !error[len]); len--) {
		cut = xstrndup(error, len);
		json_put_str(b, "error", cut);
		free(cut);
		if (fits(b, start, before))
			return !error[len];
	}
	return false;
}

static bool add_record(struct buf *b, size_t start, const struct metric *m)
{
	const struct record *r = &m->rec;
	bool all = r->nr_shapes == 0 && r->samples.len == 0 &&
		   r->compiled == says_compiled(r->verdict) &&
		   r->correct == says_correct(r->verdict);

	json_put_str(b, "verdict", verdict_name(r->verdict));
	if (r->confirming)
		json_put_bool(b, "confirming", true);
	all &= add_nums(b, start, r);
	if (r->error)
		all &= add_error(b, start, r->error);
	all &= add_strs(b, start, r);
	return all;
}

/* All or nothing.  No raw follows. */
static void add_pruned(struct buf *b, size_t start, const struct metric *m)
{
	size_t before = b->len;

	if (isfinite(m->rec.est_speedup))
		json_put_num(b, "est_speedup", m->rec.est_speedup, 0);
	if (m->from)
		json_put_int(b, "from", m->from);
	if (m->on)
		json_put_int(b, "on", m->on);
	json_put_str(b, "recipe", m->recipe);
	if (b->len - start + strlen("}\n") <= METRIC_MAX_LINE)
		return;
	b->len = before;
	b->ptr[before] = '\0';
}

/* All spend lines of a search stand in one note: they are kept short. */
static void add_spend(struct buf *b, size_t start, const struct metric *m)
{
	const struct record *r = &m->rec;

	json_put_str(b, "verdict", verdict_name(r->verdict));
	if (isfinite(r->attempt_s))
		json_put_num(b, "attempt_s", r->attempt_s, 4);
	if (isfinite(r->device_s))
		json_put_num(b, "device_s", r->device_s, 4);
	if (m->recipe)
		add_pruned(b, start, m);
	if (r->error)
		add_error(b, start, r->error);
}

static void add_tokens(struct buf *b, const char *key, int64_t nr)
{
	json_put_int(b, key, usage_sum(0, nr));
}

static double in_bounds(double x, double most)
{
	return x < 0 ? 0 : x > most ? most : x;
}

/* A call of a model.  What was paid is never left out for a name. */
static void add_usage(struct buf *b, const struct usage *u)
{
	char name[USAGE_MAX_NAME + 1];

	json_put_str(b, "call", u->id);
	usage_fit_name(u->agent, name);
	json_put_str(b, "agent", name);
	usage_fit_name(u->model, name);
	json_put_str(b, "model", name);
	add_tokens(b, "in", u->tokens_in);
	add_tokens(b, "cached", u->tokens_cached);
	add_tokens(b, "out", u->tokens_out);
	add_tokens(b, "reason", u->tokens_reasoning);
	if (isfinite(u->cost))
		json_put_num(b, "cost", in_bounds(u->cost, USAGE_MAX_COST),
			     12);
	if (isfinite(u->seconds))
		json_put_num(b, "s", in_bounds(u->seconds,
					       METRIC_MAX_ATTEMPT_S), 4);
}

static void add_id(struct buf *b, const char *key, const struct oid *o)
{
	if (!oid_is_zero(o))
		json_put_str(b, key, oid_text(o).s);
}

/* The text of a lesson or a reason: cut, never broken. */
static void add_text(struct buf *b, size_t start, const char *key,
		     const char *text)
{
	size_t before = b->len;

	for (size_t len = strnlen(text, METRIC_MAX_LINE); len; len--) {
		char *cut = xstrndup(text, len);

		json_put_str(b, key, cut);
		free(cut);
		if (fits(b, start, before))
			return;
	}
	json_put_str(b, key, "");
}

/* True if the line says all that the metric holds. */
static bool build(struct buf *b, const struct metric *m)
{
	size_t start = b->len;
	bool all = true;

	buf_addch(b, '{');
	json_put_str(b, "t", m->t);
	json_put_int(b, "v", METRIC_VERSION);
	json_put_str(b, "w", m->worker);
	json_put_str(b, "e", metric_events[m->event]);
	switch (m->event) {
	case METRIC_EVAL:
		add_id(b, "st", &m->state);
		json_put_str(b, "k", m->section);
		json_put_int(b, "ep", m->epoch);
		if (m->rec.device)
			json_put_str(b, "dev", m->rec.device);
		all = add_record(b, start, m);
		break;
	case METRIC_SPEND:
		json_put_int(b, "step", m->step);
		add_id(b, "st", &m->state);
		if (*m->used.id)
			add_usage(b, &m->used);
		else
			add_spend(b, start, m);
		break;
	case METRIC_LESSON:
		add_text(b, start, "text", m->what);
		break;
	case METRIC_VOID:
		json_put_str(b, "of", m->of);
		break;
	case METRIC_CONFIG:
		json_put_str(b, "what", m->what);
		if (m->why)
			add_text(b, start, "why", m->why);
		break;
	}
	add_id(b, "raw", &m->raw);
	buf_addstr(b, "}\n");
	return all;
}

void metric_format(struct buf *out, const struct metric *m)
{
	build(out, m);
}

bool metric_needs_raw(const struct metric *m)
{
	struct buf b = BUF_INIT;
	bool all = build(&b, m);

	buf_release(&b);
	return !all;
}

static void add_shape(struct buf *b, const struct shape_result *s)
{
	json_open(b, NULL, '{');
	json_put_str(b, "shape", s->shape ? s->shape : "");
	json_put_bool(b, "holdout", s->holdout);
	json_put_num(b, "time_ns", s->time_ns, 0);
	json_put_num(b, "baseline_ns", s->baseline_ns, 0);
	json_put_num(b, "speedup", s->speedup, 0);
	json_put_num(b, "ci_low", s->ci_low, 0);
	json_put_num(b, "ci_high", s->ci_high, 0);
	json_put_num(b, "flops", s->flops, 0);
	json_put_num(b, "bytes", s->bytes, 0);
	json_put_num(b, "gflops", s->gflops, 0);
	json_put_num(b, "gbs", s->gbs, 0);
	json_put_num(b, "roof", s->roof, 0);
	json_shut(b, '}');
}

void metric_format_raw(struct buf *out, const struct record *rec)
{
	buf_addch(out, '{');
	json_put_int(out, "v", METRIC_VERSION);
	json_put_str(out, "verdict", verdict_name(rec->verdict));
	for (size_t i = 0; i < METRIC_NUMS; i++)
		if (isfinite(*num_at(rec, &metric_nums[i])))
			json_put_num(out, metric_nums[i].key,
				     *num_at(rec, &metric_nums[i]), 0);
	json_put_bool(out, "compiled", rec->compiled);
	json_put_bool(out, "correct", rec->correct);
	json_put_int(out, "launches", rec->launches);
	if (rec->device)
		json_put_str(out, "device", rec->device);
	for (size_t i = 0; i < METRIC_STRS; i++)
		if (*str_at(rec, &metric_strs[i]))
			json_put_str(out, metric_strs[i].key,
				     *str_at(rec, &metric_strs[i]));
	if (rec->error)
		json_put_str(out, "error", rec->error);
	if (rec->nr_shapes) {
		json_open(out, "shapes", '[');
		for (size_t i = 0; i < rec->nr_shapes; i++)
			add_shape(out, &rec->shape[i]);
		json_shut(out, ']');
	}
	buf_addstr(out, "}\n");
	buf_add(out, rec->samples.ptr, rec->samples.len);
}
