#include "core/judge_reply.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

#define MAX_TEXT 4096		/* of one string */
#define MAX_DOING 100
#define MAX_DEVICE 60
#define MAX_SHAPES 256
#define MAX_LAUNCHES 1e6

int judge_reply_parse(struct judge_reply *r, const char *line, size_t len,
		      struct err *err)
{
	struct buf doing = BUF_INIT;
	const char *event, *text;
	double id;

	memset(r, 0, sizeof(*r));
	if (json_parse_object(&r->doc, line, len, err))
		return err_wrap(err, "the judge's reply");
	id = json_num(r->doc, "id", -1);
	r->id = id >= 0 && id < 1e15 && id == floor(id) ? (int64_t)id : -1;
	event = json_str(r->doc, "e", "");
	if (!strcmp(event, "done")) {
		r->event = REPLY_DONE;
		r->fatal = json_bool(r->doc, "fatal", false);
	} else if (!strcmp(event, "progress")) {
		r->event = REPLY_PROGRESS;
		text = json_str(r->doc, "doing", "");
		buf_add_clean(&doing, text, strnlen(text, MAX_DOING), false);
		snprintf(r->doing, sizeof(r->doing), "%s", doing.ptr);
		buf_release(&doing);
	}
	return 0;
}

void judge_reply_release(struct judge_reply *r)
{
	json_free(r->doc);
	memset(r, 0, sizeof(*r));
}

static char *text_of(const struct json *o, const char *key, bool multiline)
{
	const char *s = json_str(o, key, NULL);
	struct buf b = BUF_INIT;

	if (!s)
		return NULL;
	buf_add_clean(&b, s, strnlen(s, MAX_TEXT), multiline);
	return buf_detach(&b);
}

char *judge_reply_error(const struct judge_reply *r)
{
	return text_of(r->doc, "error", true);
}

/* A time, a rate, a ratio: never negative. */
static double amount(const struct json *o, const char *key)
{
	double v = json_num(o, key, NAN);

	return v >= 0 ? v : NAN;
}

static void read_shape(const struct json *o, struct shape_result *s)
{
	s->shape = text_of(o, "shape", false);
	if (!s->shape)
		s->shape = xstrdup("");
	s->time_ns = amount(o, "time_ns");
	s->baseline_ns = amount(o, "baseline_ns");
	s->speedup = amount(o, "speedup");
	s->ci_low = amount(o, "ci_low");
	s->ci_high = amount(o, "ci_high");
	s->flops = amount(o, "flops");
	s->bytes = amount(o, "bytes");
	s->gflops = amount(o, "gflops");
	s->gbs = amount(o, "gbs");
	s->roof = amount(o, "roof");
	s->holdout = json_bool(o, "holdout", false);
}

static struct shape_result *read_shapes(const struct json *o, size_t *nr)
{
	const struct json *list = json_get(o, "shapes"), *v;
	struct shape_result *s;
	size_t max = json_count(list);

	*nr = 0;
	if (json_type(list) != JSON_ARRAY || max > MAX_SHAPES)
		return NULL;
	s = xcalloc(max, sizeof(*s));
	for (v = json_first(list); v && *nr < max; v = json_next(v))
		read_shape(v, &s[(*nr)++]);
	return s;
}

/* The device class is a part of names. */
static bool is_slug(const char *s)
{
	size_t len = s ? strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789-") :
		     0;

	return len && len <= MAX_DEVICE && !s[len];
}

int judge_reply_info(const struct judge_reply *r, struct judge_info *i,
		     struct err *err)
{
	const struct json *o = r->doc;

	if (!json_bool(o, "ok", false)) {
		char *why = judge_reply_error(r);

		err_set(err, ERR_FORMAT, "%s", why && *why ? why :
			"the judge gave up");
		free(why);
		return err->code;
	}
	i->device = text_of(o, "device", false);
	i->device_text = text_of(o, "device_text", false);
	i->host = text_of(o, "host", false);
	i->sandbox = text_of(o, "sandbox", false);
	i->oracle = text_of(o, "oracle", false);
	i->compiler = text_of(o, "compiler", false);
	i->best_flags = text_of(o, "best_flags", false);
	i->best_flags_speedup = amount(o, "best_flags_speedup");
	i->resolution = amount(o, "resolution");
	i->shape = read_shapes(o, &i->nr_shapes);
	if (!is_slug(i->device) || !i->device_text || !i->host ||
	    !i->sandbox || !i->oracle || !i->compiler || !i->nr_shapes)
		return err_set(err, ERR_FORMAT, "the judge's answer to 'open' "
			       "lacks a field");
	return 0;
}

static bool is_of_stage(int verdict, enum judge_stage stage)
{
	switch (verdict) {
	case V_BUILD_FAIL:
	case V_GATE_FAIL:
		return stage == JUDGE_BUILD;
	case V_SAME:
		return true;
	case V_CRASH:
	case V_TIMEOUT:
	case V_WRONG:
	case V_CHEAT:
	case V_NO_VERDICT:
		return stage >= JUDGE_CHECK;
	case V_SLOWER:
		return stage >= JUDGE_SCREEN;
	case V_FASTER:
		return stage == JUDGE_SCREEN;
	case V_TOO_GOOD:
	case V_CONFIRMED:
		return stage == JUDGE_CONFIRM;
	default:
		return false;
	}
}

static int read_verdict(const struct json *o, enum judge_stage stage,
			struct record *out, struct err *err)
{
	char *name = text_of(o, "verdict", false);
	int v = name ? verdict_parse(name) : -1;

	if (!is_of_stage(v, stage))
		err_set(err, ERR_FORMAT, "the judge's verdict '%.100s' is not "
			"one of this stage", name ? name : "");
	else
		out->verdict = (enum verdict)v;
	free(name);
	return out->verdict == V_NONE ? err->code : 0;
}

int judge_reply_record(const struct judge_reply *r, enum judge_stage stage,
		       struct record *out, struct err *err)
{
	const struct json *o = r->doc;

	if (read_verdict(o, stage, out, err))
		return err->code;
	out->error = judge_reply_error(r);
	out->clock = text_of(o, "clock", false);
	out->lr = json_num(o, "lr", NAN);
	out->lr_low = json_num(o, "lr_low", NAN);
	out->lr_high = json_num(o, "lr_high", NAN);
	out->time_ns = amount(o, "time_ns");
	out->baseline_ns = amount(o, "baseline_ns");
	out->launches = (int)fmax(0, fmin(json_num(o, "launches", 0),
					  MAX_LAUNCHES));
	out->shape = read_shapes(o, &out->nr_shapes);
	if (out->nr_shapes) {
		out->gflops = out->shape[0].gflops;
		out->gbs = out->shape[0].gbs;
		out->roof = out->shape[0].roof;
	}
	if (stage != JUDGE_CONFIRM)
		return 0;
	out->speedup = amount(o, "speedup");
	out->ci_low = amount(o, "ci_low");
	out->ci_high = amount(o, "ci_high");
	out->est_speedup = amount(o, "est_speedup");
	out->vs_rival = amount(o, "vs_rival");
	out->vs_best_flags = amount(o, "vs_best_flags");
	if (out->verdict == V_CONFIRMED && !(out->speedup > 0))
		return err_set(err, ERR_FORMAT, "the judge confirms without a "
			       "speedup");
	return 0;
}

const char *judge_reply_samples(const struct judge_reply *r)
{
	const char *name = json_str(r->doc, "samples", NULL);

	return name && *name && *name != '.' && !strchr(name, '/') ? name :
								     NULL;
}
