/* Metrics lines and raw blobs, as they come from others: strictly. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "core/mem.h"
#include "core/metrics_parts.h"

#define MAX_NAME 64		/* worker, device class */
#define MAX_SHAPES 256
#define MAX_ERROR 65536

static bool time_ok(const char *t)
{
	static const char form[] = "0000-00-00T00:00:00.000Z";

	for (size_t i = 0; i < sizeof(form); i++)
		if (form[i] == '0' ? t[i] < '0' || t[i] > '9' :
		    t[i] != form[i])
			return false;
	return true;
}

static int64_t digits(const char *s, int nr)
{
	int64_t x = 0;

	while (nr--)
		x = x * 10 + (*s++ - '0');
	return x;
}

int64_t metric_seconds(const char t[METRIC_TIME + 1])
{
	int64_t year = digits(t, 4), month = digits(t + 5, 2);
	int64_t day = digits(t + 8, 2), clock;

	/* Days since 0000-03-01; a month is out of bounds in a line of
	 * another's at most, and then any number will do. */
	year -= month <= 2;
	day += (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 - 1 +
		year * 365 + year / 4 - year / 100 + year / 400 - 719468;
	clock = digits(t + 11, 2) * 3600 + digits(t + 14, 2) * 60 +
		digits(t + 17, 2);
	return day * 86400 + clock;
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

	for (size_t i = 0; i < METRIC_NUMS; i++) {
		double *x = num_at(r, &metric_nums[i]);

		if (json_opt_num(j, metric_nums[i].key, x, err) < 0)
			return err->code;
		if (metric_nums[i].positive && *x <= 0)
			return err_set(err, ERR_FORMAT, "'%s' is not above 0",
				       metric_nums[i].key);
	}
	if (r->attempt_s < 0 || r->device_s < 0)
		return err_set(err, ERR_FORMAT, "'%s' is below 0",
			       r->attempt_s < 0 ? "attempt_s" : "device_s");
	if (r->attempt_s > METRIC_MAX_ATTEMPT_S)
		r->attempt_s = METRIC_MAX_ATTEMPT_S;
	if (r->device_s > METRIC_MAX_ATTEMPT_S)
		r->device_s = METRIC_MAX_ATTEMPT_S;
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

	for (size_t i = 0; i < METRIC_STRS; i++) {
		s = NULL;
		if (json_opt_str(j, metric_strs[i].key, metric_strs[i].max, &s,
				 err) < 0)
			return err->code;
		if (s)
			set_clean(str_at(r, &metric_strs[i]), s, false);
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

static int parse_usage_name(const struct json *j, const char *key,
			    char **out, struct err *err)
{
	const char *s = NULL;

	if (json_need_str(j, key, USAGE_MAX_NAME, &s, err) < 0)
		return err->code;
	if (!usage_name_ok(s))
		return err_set(err, ERR_FORMAT, "'%s' is not a name", key);
	*out = xstrdup(s);
	return 0;
}

static int parse_usage(const struct json *j, struct usage *u,
		       struct err *err)
{
	const struct { const char *key; int64_t *nr; } tokens[] = {
		{ "in", &u->tokens_in }, { "cached", &u->tokens_cached },
		{ "out", &u->tokens_out }, { "reason", &u->tokens_reasoning },
	};

	if (parse_short(j, "call", u->id, err) < 0 ||
	    parse_usage_name(j, "agent", &u->agent, err) < 0 ||
	    parse_usage_name(j, "model", &u->model, err) < 0)
		return err->code;
	for (size_t i = 0; i < ARRAY_SIZE(tokens); i++)
		if (json_need_int(j, tokens[i].key, 0, USAGE_MAX_TOKENS,
				  tokens[i].nr, err) < 0)
			return err->code;
	if (json_opt_num(j, "cost", &u->cost, err) < 0 ||
	    json_opt_num(j, "s", &u->seconds, err) < 0)
		return err->code;
	if (u->cost < 0 || u->cost > USAGE_MAX_COST)
		return err_set(err, ERR_FORMAT, "'cost' is not from 0 to %.0f",
			       USAGE_MAX_COST);
	if (u->seconds < 0)
		return err_set(err, ERR_FORMAT, "'s' is below 0");
	if (u->seconds > METRIC_MAX_ATTEMPT_S)
		u->seconds = METRIC_MAX_ATTEMPT_S;
	return 0;
}

static int parse_pruned(const struct json *j, struct metric *m,
			struct err *err)
{
	int64_t from = 0, on = 0;
	const char *s = NULL;

	if (json_opt_str(j, "recipe", METRIC_MAX_LINE, &s, err) < 0 ||
	    json_opt_int(j, "from", 0, METRIC_MAX_OWN_STEP, &from, err) < 0 ||
	    json_opt_int(j, "on", 0, METRIC_MAX_OWN_STEP, &on, err) < 0)
		return err->code;
	if (s && *s)
		set_clean(&m->recipe, s, false);
	m->from = (uint32_t)from;
	m->on = (uint32_t)on;
	return 0;
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
	if (!ret && !json_get(j, "call")) {
		ret = parse_record(j, &m->rec, err);
		return ret ? ret : parse_pruned(j, m, err);
	}
	if (ret)
		return ret;
	if (json_get(j, "verdict"))
		return err_set(err, ERR_FORMAT, "a call has no verdict");
	return parse_usage(j, &m->used, err);
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

	while (e < METRIC_EVENTS && strcmp(metric_events[e], event))
		e++;
	if (e == METRIC_EVENTS)
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
	if (ret || *m->used.id)		/* a call has none */
		return ret;
	return parse_id(j, "raw", &m->raw, err);
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
