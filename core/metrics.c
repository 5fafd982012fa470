#include "core/metrics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/json.h"
#include "core/mem.h"
#include "core/source.h"

#define RAW_MEMBER 50		/* ,"raw":"<40>" with the closing brace */
#define MAX_NAME 64		/* worker, device class */
#define MAX_SHAPES 256
#define MAX_ERROR 65536

static const char *const events[] = {
	[METRIC_EVAL] = "eval", [METRIC_SPEND] = "spend",
	[METRIC_LESSON] = "lesson", [METRIC_VOID] = "void",
	[METRIC_CONFIG] = "config",
};

/* The plain fields of a record, by their names in the design. */
struct num_field {
	const char *key;
	size_t at;
	int digits;		/* 0: all */
	bool positive;
};
#define NUM(name, digits, positive) \
	{ #name, offsetof(struct record, name), digits, positive }
static const struct num_field nums[] = {
	/* what the graph needs comes first: a line has little room */
	NUM(speedup, 0, true), NUM(est_speedup, 0, true),
	NUM(attempt_s, 4, false), NUM(ci_low, 7, true),
	NUM(ci_high, 7, true), NUM(time_ns, 7, true), NUM(lr, 0, false), NUM(gflops, 5, false),
	NUM(gbs, 5, false), NUM(roof, 4, false), NUM(baseline_ns, 7, true),
	NUM(lr_low, 7, false), NUM(lr_high, 7, false),
	NUM(vs_parent, 6, true), NUM(vs_rival, 6, true),
	NUM(vs_best_flags, 6, true),
};

struct str_field {
	const char *key;
	size_t at;
	size_t max;
};
#define STR(name, max) { #name, offsetof(struct record, name), max }
static const struct str_field strs[] = {
	STR(host, 256), STR(sandbox, 64), STR(oracle, 64), STR(clock, 64),
	STR(against, 64), STR(compiler, 1024), STR(flags, 4096),
};

static double *num_at(const struct record *r, const struct num_field *f)
{
	return (double *)(void *)((char *)(uintptr_t)r + f->at);
}

static char **str_at(const struct record *r, const struct str_field *f)
{
	return (char **)(void *)((char *)(uintptr_t)r + f->at);
}

void metric_init(struct metric *m)
{
	memset(m, 0, sizeof(*m));
	record_init(&m->rec);
}

void metric_release(struct metric *m)
{
	record_release(&m->rec);
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
static bool says_compiled(enum verdict v)
{
	return v != V_NONE && v != V_BUILD_FAIL && v != V_NO_PROPOSAL &&
	       v != V_NO_VERDICT && v != V_DUP;
}

static bool says_correct(enum verdict v)
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

	for (size_t i = 0; i < ARRAY_SIZE(nums); i++) {
		double x = *num_at(r, &nums[i]);
		size_t before = b->len;

		if (!isfinite(x))
			continue;
		json_put_num(b, nums[i].key, x, nums[i].digits);
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

	for (size_t i = 0; i < ARRAY_SIZE(strs); i++) {
		const char *s = *str_at(r, &strs[i]);
		size_t before = b->len;

		if (!s)
			continue;
		json_put_str(b, strs[i].key, s);
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

/* All spend lines of a search stand in one note: they are kept short. */
static void add_spend(struct buf *b, size_t start, const struct record *r)
{
	json_put_str(b, "verdict", verdict_name(r->verdict));
	if (isfinite(r->attempt_s))
		json_put_num(b, "attempt_s", r->attempt_s, 4);
	if (r->error)
		add_error(b, start, r->error);
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
	json_put_str(b, "e", events[m->event]);
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
		add_spend(b, start, &m->rec);
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
	for (size_t i = 0; i < ARRAY_SIZE(nums); i++)
		if (isfinite(*num_at(rec, &nums[i])))
			json_put_num(out, nums[i].key, *num_at(rec, &nums[i]),
				     0);
	json_put_bool(out, "compiled", rec->compiled);
	json_put_bool(out, "correct", rec->correct);
	json_put_int(out, "launches", rec->launches);
	if (rec->device)
		json_put_str(out, "device", rec->device);
	for (size_t i = 0; i < ARRAY_SIZE(strs); i++)
		if (*str_at(rec, &strs[i]))
			json_put_str(out, strs[i].key, *str_at(rec, &strs[i]));
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

/* ---- reading ---- */

static bool time_ok(const char *t)
{
	static const char form[] = "0000-00-00T00:00:00.000Z";

	for (size_t i = 0; i < sizeof(form); i++)
		if (form[i] == '0' ? t[i] < '0' || t[i] > '9' :
		    t[i] != form[i])
			return false;
	return true;
}

static bool word_ok(const char *s)
{
	for (; *s; s++)
		if (*s <= 32 || *s >= 127 || strchr("/\\\"", *s))
			return false;
	return true;
}

static int parse_word(const struct json *j, const char *key, char **out,
		      struct err *err)
{
	const char *s = NULL;

	if (json_need_str(j, key, MAX_NAME, &s, err) < 0)
		return err->code;
	if (!*s || !word_ok(s))
		return err_set(err, ERR_FORMAT, "'%s' is not a name", key);
	free(*out);
	*out = xstrdup(s);
	return 0;
}

static int parse_id(const struct json *j, const char *key, struct oid *out,
		    struct err *err)
{
	const char *s = NULL;

	if (json_opt_str(j, key, OID_HEX, &s, err) < 0)
		return err->code;
	if (s && (strlen(s) != OID_HEX || !oid_parse(out, s)))
		return err_set(err, ERR_FORMAT, "'%s' is not an object id",
			       key);
	return 0;
}

static int parse_short(const struct json *j, const char *key, char out[13],
		       struct err *err)
{
	const char *s = NULL;

	if (json_need_str(j, key, 12, &s, err) < 0)
		return err->code;
	if (strlen(s) != 12 || strspn(s, "0123456789abcdef") != 12)
		return err_set(err, ERR_FORMAT, "'%s' is not 12 hex digits",
			       key);
	memcpy(out, s, 13);
	return 0;
}

static int parse_nums(const struct json *j, struct record *r, struct err *err)
{
	int64_t launches = r->launches;

	for (size_t i = 0; i < ARRAY_SIZE(nums); i++) {
		double *x = num_at(r, &nums[i]);

		if (json_opt_num(j, nums[i].key, x, err) < 0)
			return err->code;
		if (nums[i].positive && *x <= 0)
			return err_set(err, ERR_FORMAT, "'%s' is not above 0",
				       nums[i].key);
	}
	if (r->attempt_s < 0)
		return err_set(err, ERR_FORMAT, "'attempt_s' is below 0");
	if (r->attempt_s > METRIC_MAX_ATTEMPT_S)
		r->attempt_s = METRIC_MAX_ATTEMPT_S;
	if (json_opt_int(j, "launches", 0, 1000000, &launches, err) < 0)
		return err->code;
	r->launches = (int)launches;
	return 0;
}

/* Text from a note goes to terminals and pages: cleaned here already. */
static void set_clean(char **to, const char *s, bool multiline)
{
	struct buf b = BUF_INIT;

	buf_add_clean(&b, s, strlen(s), multiline);
	free(*to);
	*to = buf_detach(&b);
}

static int parse_strs(const struct json *j, struct record *r, struct err *err)
{
	const char *s;

	for (size_t i = 0; i < ARRAY_SIZE(strs); i++) {
		s = NULL;
		if (json_opt_str(j, strs[i].key, strs[i].max, &s, err) < 0)
			return err->code;
		if (s)
			set_clean(str_at(r, &strs[i]), s, false);
	}
	s = NULL;
	if (json_opt_str(j, "error", MAX_ERROR, &s, err) < 0)
		return err->code;
	if (s)
		set_clean(&r->error, s, true);
	return 0;
}

/* 0, or 1 for a verdict that we do not know yet. */
static int parse_verdict(const struct json *j, struct record *r,
			 struct err *err)
{
	const char *s = NULL;
	int v;

	if (json_need_str(j, "verdict", 32, &s, err) < 0)
		return err->code;
	v = verdict_parse(s);
	if (v < 0)
		return 1;
	r->verdict = (enum verdict)v;
	r->compiled = says_compiled(r->verdict);
	r->correct = says_correct(r->verdict);
	return 0;
}

static int parse_record(const struct json *j, struct record *r,
			struct err *err)
{
	int ret = parse_verdict(j, r, err);

	if (!ret)
		ret = parse_nums(j, r, err);
	if (!ret)
		ret = parse_strs(j, r, err);
	if (!ret)
		ret = json_opt_bool(j, "confirming", &r->confirming, err);
	return ret;
}

static int parse_eval(const struct json *j, struct metric *m, struct err *err)
{
	int64_t epoch = 0;
	int ret = parse_id(j, "st", &m->state, err);

	if (!ret && oid_is_zero(&m->state))
		ret = err_set(err, ERR_FORMAT, "'st' is missing");
	if (!ret)
		ret = parse_short(j, "k", m->section, err);
	if (!ret)
		ret = json_need_int(j, "ep", 0, 1000000, &epoch, err);
	m->epoch = (int)epoch;
	if (!ret)
		ret = parse_word(j, "dev", &m->rec.device, err);
	return ret ? ret : parse_record(j, &m->rec, err);
}

static int parse_spend(const struct json *j, struct metric *m,
		       struct err *err)
{
	int64_t step = 0;
	int ret = json_need_int(j, "step", 0, METRIC_MAX_OWN_STEP, &step,
				err);

	m->step = (uint32_t)step;
	if (!ret)
		ret = parse_id(j, "st", &m->state, err);
	return ret ? ret : parse_record(j, &m->rec, err);
}

static int parse_texts(const struct json *j, struct metric *m,
		       const char *key, struct err *err)
{
	const char *what = NULL, *why = NULL;

	if (json_need_str(j, key, METRIC_MAX_READ, &what, err) < 0 ||
	    json_opt_str(j, "why", METRIC_MAX_READ, &why, err) < 0)
		return err->code;
	set_clean(&m->what, what, false);
	if (why)
		set_clean(&m->why, why, false);
	return 0;
}

static int parse_event(const struct json *j, struct metric *m,
		       const char *event, struct err *err)
{
	size_t e = 0;

	while (e < ARRAY_SIZE(events) && strcmp(events[e], event))
		e++;
	if (e == ARRAY_SIZE(events))
		return METRIC_UNKNOWN;
	m->event = (enum metric_event)e;
	switch (m->event) {
	case METRIC_EVAL:
		return parse_eval(j, m, err);
	case METRIC_SPEND:
		return parse_spend(j, m, err);
	case METRIC_LESSON:
		return parse_texts(j, m, "text", err);
	case METRIC_VOID:
		return parse_short(j, "of", m->of, err);
	case METRIC_CONFIG:
		break;
	}
	return parse_texts(j, m, "what", err);
}

static int parse_line(const struct json *j, struct metric *m, struct err *err)
{
	const char *t = NULL, *event = NULL;
	int64_t v = 0;
	int ret = json_need_int(j, "v", 1, 1000000, &v, err);

	if (ret < 0)
		return ret;
	if (v != METRIC_VERSION)
		return METRIC_NEWER;
	ret = json_need_str(j, "t", METRIC_TIME, &t, err);
	if (!ret && (strlen(t) != METRIC_TIME || !time_ok(t)))
		ret = err_set(err, ERR_FORMAT, "'t' is not a time");
	if (!ret)
		memcpy(m->t, t, METRIC_TIME + 1);
	if (!ret)
		ret = parse_word(j, "w", &m->worker, err);
	if (!ret)
		ret = json_need_str(j, "e", 32, &event, err);
	if (!ret)
		ret = parse_event(j, m, event, err);
	if (ret == 1)			/* a verdict of a newer version */
		return METRIC_UNKNOWN;
	return ret ? ret : parse_id(j, "raw", &m->raw, err);
}

int metric_parse(struct metric *m, const char *line, size_t len,
		 struct err *err)
{
	struct json *j;
	int ret;

	metric_init(m);
	if (len > METRIC_MAX_READ)
		return err_set(err, ERR_FORMAT, "a line of %zu bytes", len);
	ret = json_parse_object(&j, line, len, err);
	if (!ret) {
		ret = parse_line(j, m, err);
		json_free(j);
	}
	if (ret < 0)
		err->code = ret = ERR_FORMAT;
	if (ret)
		metric_release(m);
	return ret;
}

static int parse_shape(const struct json *j, struct shape_result *s,
		       struct err *err)
{
	const struct { const char *key; double *x; } f[] = {
		{ "time_ns", &s->time_ns },
		{ "baseline_ns", &s->baseline_ns },
		{ "speedup", &s->speedup },
		{ "ci_low", &s->ci_low }, { "ci_high", &s->ci_high },
		{ "flops", &s->flops }, { "bytes", &s->bytes },
		{ "gflops", &s->gflops }, { "gbs", &s->gbs },
		{ "roof", &s->roof },
	};
	const char *text = "";

	if (json_opt_str(j, "shape", 1024, &text, err) < 0 ||
	    json_opt_bool(j, "holdout", &s->holdout, err) < 0)
		return err->code;
	for (size_t i = 0; i < ARRAY_SIZE(f); i++)
		if (json_opt_num(j, f[i].key, f[i].x, err) < 0)
			return err->code;
	set_clean(&s->shape, text, false);
	return 0;
}

static int parse_shapes(const struct json *j, struct record *r,
			struct err *err)
{
	const struct json *list = json_get(j, "shapes"), *v;
	size_t nr = json_count(list);

	if (!list)
		return 0;
	if (json_type(list) != JSON_ARRAY || nr > MAX_SHAPES)
		return err_set(err, ERR_FORMAT, "'shapes' is not a list of at "
			       "most %d", MAX_SHAPES);
	for (size_t i = 0; i < r->nr_shapes; i++)
		free(r->shape[i].shape);
	free(r->shape);
	r->nr_shapes = 0;
	r->shape = xcalloc(nr, sizeof(*r->shape));
	for (v = json_first(list); v; v = json_next(v)) {
		struct shape_result *s = &r->shape[r->nr_shapes++];

		shape_result_init(s);
		if (parse_shape(v, s, err) < 0)
			return err->code;
	}
	return 0;
}

static int parse_raw_head(const struct json *j, struct record *r,
			  struct err *err)
{
	int64_t v = 0;

	if (json_need_int(j, "v", 1, 1000000, &v, err) < 0)
		return err->code;
	if (v != METRIC_VERSION)
		return err_set(err, ERR_FORMAT, "it is of version %lld",
			       (long long)v);
	if (parse_record(j, r, err) < 0)
		return err->code;
	if (json_get(j, "device") && parse_word(j, "device", &r->device,
						err) < 0)
		return err->code;
	if (json_opt_bool(j, "compiled", &r->compiled, err) < 0 ||
	    json_opt_bool(j, "correct", &r->correct, err) < 0)
		return err->code;
	return parse_shapes(j, r, err);
}

int metric_parse_raw(struct record *rec, const char *text, size_t len,
		     struct err *err)
{
	const char *nl = memchr(text, '\n', len);
	size_t head = nl ? (size_t)(nl - text) : len;
	struct json *j;
	int ret;

	if (len > METRIC_MAX_RAW)
		return err_set(err, ERR_LIMIT, "longer than %u bytes",
			       METRIC_MAX_RAW);
	ret = json_parse_object(&j, text, head, err);
	if (ret < 0)
		return ret;
	ret = parse_raw_head(j, rec, err);
	json_free(j);
	if (ret < 0)
		return ret;
	buf_reset(&rec->samples);
	if (nl)
		buf_add(&rec->samples, nl + 1, len - head - 1);
	return 0;
}
