/* What runs, as text. */
#include <string.h>

#include "core/json.h"
#include "core/live_parts.h"
#include "core/mem.h"

#define MAX_TOKENS (INT64_C(1) << 53)

/* ---- writing ---- */

static void format_jobs(struct buf *b, const struct live_state *s)
{
	json_open(b, "jobs", '[');
	for (int i = 0; i < s->nr_jobs && i < LIVE_MAX_JOBS; i++) {
		json_open(b, NULL, '{');
		json_put_int(b, "step", s->job[i].step);
		json_put_str(b, "subject", s->job[i].subject);
		json_put_str(b, "doing", s->job[i].doing);
		json_put_num(b, "seconds", s->job[i].seconds, 6);
		json_shut(b, '}');
	}
	json_shut(b, ']');
}

static void format_budget(struct buf *b, const char *key,
			  const struct budget *g)
{
	json_open(b, key, '{');
	json_put_int(b, "attempts", g->attempts);
	json_put_num(b, "time_s", g->time_s, 9);
	json_put_num(b, "device_s", g->device_s, 9);
	json_put_int(b, "tokens", g->tokens);
	json_put_num(b, "cost", g->cost, 0);
	json_put_num(b, "until", g->until, 0);
	json_shut(b, '}');
}

void live_format(struct buf *b, const struct live_state *s)
{
	json_open(b, NULL, '{');
	json_put_int(b, "v", 1);
	json_put_int(b, "pid", s->pid);
	json_put_str(b, "host", s->host);
	json_put_str(b, "kernel", s->kernel);
	if (s->tuning)
		json_put_bool(b, "tuning", true);
	json_put_int(b, "started", s->started);
	json_put_int(b, "updated", s->updated);
	json_put_str(b, "log", s->log);
	json_put_int(b, "attempts", s->attempts);
	json_put_num(b, "elapsed_s", s->elapsed_s, 9);
	json_put_num(b, "device_s", s->device_s, 9);
	json_put_int(b, "tokens", s->tokens);
	json_put_num(b, "cost", s->cost, 0);
	json_put_num(b, "best", s->best, 0);
	json_put_str(b, "doing", s->doing);
	format_budget(b, "cap", &s->cap);
	format_budget(b, "used", &s->used);
	format_jobs(b, s);
	json_shut(b, '}');
	buf_addch(b, '\n');
}

/* ---- reading ---- */

/* Foreign text into an array, cut between two characters. */
static void put(char *out, size_t size, const char *text)
{
	struct buf b = BUF_INIT;
	size_t len;

	buf_add_clean(&b, text, strlen(text), false);
	len = b.len;
	if (len >= size) {
		len = size - 1;
		while (len && ((unsigned char)b.ptr[len] & 0xc0) == 0x80)
			len--;
	}
	memcpy(out, b.ptr, len);
	out[len] = '\0';
	buf_release(&b);
}

static int get_text(const struct json *o, const char *key, char *out,
		    size_t size, struct err *err)
{
	const char *text = "";
	int ret = json_need_str(o, key, LIVE_MAX_FILE, &text, err);

	if (!ret)
		put(out, size, text);
	return ret;
}

static int get_count(const struct json *o, const char *key, int64_t max,
		     int64_t *out, struct err *err)
{
	return json_need_int(o, key, 0, max, out, err);
}

/* Finite and not negative. */
static int get_num(const struct json *o, const char *key, double *out,
		   struct err *err)
{
	int ret = json_need_num(o, key, out, err);

	if (!ret && *out < 0)
		ret = err_set(err, ERR_FORMAT, "'%s' is negative", key);
	return ret;
}

static int parse_job(const struct json *o, struct live_job *job,
		     struct err *err)
{
	int64_t step = 0;
	int ret = get_count(o, "step", UINT32_MAX, &step, err);

	if (!ret)
		ret = get_text(o, "subject", job->subject,
			       sizeof(job->subject), err);
	if (!ret)
		ret = get_text(o, "doing", job->doing, sizeof(job->doing), err);
	if (!ret)
		ret = get_num(o, "seconds", &job->seconds, err);
	job->step = (uint32_t)step;
	return ret;
}

static int parse_jobs(const struct json *o, struct live_state *s,
		      struct err *err)
{
	const struct json *jobs = NULL;
	int ret = json_need_array(o, "jobs", &jobs, err);

	if (!ret && json_count(jobs) > LIVE_MAX_JOBS)
		ret = err_set(err, ERR_LIMIT, "too many jobs");
	for (const struct json *j = json_first(jobs); j && !ret;
	     j = json_next(j))
		ret = parse_job(j, &s->job[s->nr_jobs++], err);
	return ret;
}

struct number {
	const char *key;
	double *to;
};

static int get_nums(const struct json *o, const struct number *n, size_t nr,
		    struct err *err)
{
	int ret = 0;

	for (size_t i = 0; i < nr && !ret; i++)
		ret = get_num(o, n[i].key, n[i].to, err);
	return ret;
}

static int parse_budget(const struct json *o, struct budget *g,
			struct err *err)
{
	const struct number nums[] = {
		{ "time_s", &g->time_s }, { "device_s", &g->device_s },
		{ "cost", &g->cost }, { "until", &g->until },
	};
	int ret = get_nums(o, nums, ARRAY_SIZE(nums), err);

	if (!ret)
		ret = get_count(o, "attempts", MAX_TOKENS, &g->attempts, err);
	if (!ret)
		ret = get_count(o, "tokens", MAX_TOKENS, &g->tokens, err);
	return ret;
}

static int parse_spend(const struct json *o, struct live_state *s,
		       struct err *err)
{
	const struct number nums[] = {
		{ "elapsed_s", &s->elapsed_s }, { "device_s", &s->device_s },
		{ "cost", &s->cost }, { "best", &s->best },
	};
	int64_t attempts = 0;
	int ret = get_count(o, "attempts", UINT32_MAX, &attempts, err);

	s->attempts = (uint32_t)attempts;
	if (!ret)
		ret = get_nums(o, nums, ARRAY_SIZE(nums), err);
	if (!ret)
		ret = get_count(o, "tokens", MAX_TOKENS, &s->tokens, err);
	if (!ret)
		ret = parse_budget(json_get(o, "cap"), &s->cap, err);
	if (!ret)
		ret = parse_budget(json_get(o, "used"), &s->used, err);
	return ret;
}

int live_parse(const char *text, size_t len, struct live_state *s,
	       struct err *err)
{
	struct json *doc = NULL;
	int64_t version = 0, pid = 0;
	int ret = json_parse_object(&doc, text, len, err);

	if (!ret)
		ret = json_need_int(doc, "v", 1, 1, &version, err);
	if (!ret)
		ret = json_need_int(doc, "pid", 1, INT32_MAX, &pid, err);
	s->pid = (long)pid;
	if (!ret)
		ret = get_text(doc, "host", s->host, sizeof(s->host), err);
	if (!ret)
		ret = get_text(doc, "kernel", s->kernel, sizeof(s->kernel),
			       err);
	if (!ret)
		ret = get_text(doc, "log", s->log, sizeof(s->log), err);
	if (!ret)
		ret = get_text(doc, "doing", s->doing, sizeof(s->doing), err);
	if (!ret)
		ret = get_count(doc, "started", MAX_TOKENS, &s->started, err);
	if (!ret)
		ret = get_count(doc, "updated", MAX_TOKENS, &s->updated, err);
	if (!ret)
		ret = parse_spend(doc, s, err);
	if (!ret)
		ret = parse_jobs(doc, s, err);
	if (!ret)
		s->tuning = json_bool(doc, "tuning", false);
	json_free(doc);
	return ret;
}
