/* JSON lines: one object a line, the names as the design gives them. */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "cmd/out.h"

void jout_begin(struct jout *j)
{
	buf_init(&j->text);
	buf_addch(&j->text, '{');
	j->more = false;
}

static void key(struct jout *j, const char *name)
{
	if (j->more)
		buf_addch(&j->text, ',');
	j->more = true;
	buf_add_json(&j->text, name);
	buf_addch(&j->text, ':');
}

void jout_str(struct jout *j, const char *name, const char *value)
{
	key(j, name);
	if (value)
		buf_add_json(&j->text, value);
	else
		buf_addstr(&j->text, "null");
}

void jout_num(struct jout *j, const char *name, double value)
{
	key(j, name);
	if (isfinite(value))
		buf_addf(&j->text, "%.10g", value);
	else
		buf_addstr(&j->text, "null");
}

void jout_int(struct jout *j, const char *name, long long value)
{
	key(j, name);
	buf_addf(&j->text, "%lld", value);
}

void jout_bool(struct jout *j, const char *name, bool value)
{
	key(j, name);
	buf_addstr(&j->text, value ? "true" : "false");
}

void jout_raw(struct jout *j, const char *name, const char *json)
{
	key(j, name);
	buf_addstr(&j->text, json);
}

static void add_shape(struct buf *out, const struct shape_result *s)
{
	struct jout j;

	jout_begin(&j);
	jout_str(&j, "shape", s->shape ? s->shape : "");
	jout_num(&j, "time_ns", s->time_ns);
	jout_num(&j, "baseline_ns", s->baseline_ns);
	jout_num(&j, "speedup", s->speedup);
	jout_num(&j, "ci_low", s->ci_low);
	jout_num(&j, "ci_high", s->ci_high);
	jout_num(&j, "gflops", s->gflops);
	jout_num(&j, "gbs", s->gbs);
	jout_num(&j, "roof", s->roof);
	jout_detach(&j, out);
}

void jout_shapes(struct jout *j, const char *name, const struct record *r,
		 bool holdout)
{
	struct buf list = BUF_INIT;

	buf_addch(&list, '[');
	for (size_t i = 0; i < r->nr_shapes; i++) {
		if (r->shape[i].holdout != holdout)
			continue;
		if (list.len > 1)
			buf_addch(&list, ',');
		add_shape(&list, &r->shape[i]);
	}
	buf_addch(&list, ']');
	jout_raw(j, name, list.ptr);
	buf_release(&list);
}

/* Numbers of another worker are claims. */
static const char *trust(const struct record *r)
{
	if (r->verdict == V_NONE)
		return NULL;
	return r->claimed ? "claimed" : "measured";
}

static void put_record(struct jout *j, const struct record *r, bool device)
{
	jout_str(j, "verdict", r->verdict == V_NONE ? NULL :
		 verdict_name(r->verdict));
	jout_num(j, "est_speedup", r->est_speedup);
	jout_num(j, "speedup", r->speedup);
	jout_num(j, "ci_low", r->ci_low);
	jout_num(j, "ci_high", r->ci_high);
	jout_num(j, "vs_parent", r->vs_parent);
	jout_num(j, "vs_rival", r->vs_rival);
	jout_num(j, "vs_best_flags", r->vs_best_flags);
	jout_num(j, "time_ns", r->time_ns);
	jout_num(j, "baseline_ns", r->baseline_ns);
	jout_num(j, "gflops", r->gflops);
	jout_num(j, "gbs", r->gbs);
	jout_num(j, "roof", r->roof);
	jout_shapes(j, "shapes", r, false);
	jout_shapes(j, "holdout", r, true);
	jout_bool(j, "compiled", r->compiled);
	jout_bool(j, "correct", r->correct);
	jout_int(j, "launches", r->launches);
	jout_str(j, "host", r->host);
	jout_str(j, "device", r->device);
	jout_str(j, "sandbox", r->sandbox);
	jout_str(j, "oracle", r->oracle);
	jout_str(j, "trust", trust(r));
	jout_num(j, "attempt_s", r->attempt_s);
	if (device)
		jout_num(j, "device_s", r->device_s);
	jout_str(j, "error", r->error);
}

void jout_record(struct jout *j, const struct record *r)
{
	put_record(j, r, true);
}

void jout_found(struct jout *j, const struct record *r)
{
	put_record(j, r, false);
}

void jout_detach(struct jout *j, struct buf *out)
{
	buf_addch(&j->text, '}');
	buf_add(out, j->text.ptr, j->text.len);
	buf_release(&j->text);
}

void jout_end(struct jout *j, FILE *f)
{
	buf_addstr(&j->text, "}\n");
	fwrite(j->text.ptr, 1, j->text.len, f);
	fflush(f);
	buf_release(&j->text);
}
