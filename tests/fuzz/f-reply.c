/* needs: core/dtype.c core/expr.c core/ini.c core/kernel.c core/kernel_arg.c
 * core/kernel_flags.c core/kernel_keys.c core/kernel_shape.c core/record.c
 * core/source.c core/sha1.c core/json.c core/judge.c core/judge_process.c
 * core/judge_reply.c core/judge_scripted.c core/paths.c core/tempdir.c */
/*
 * The first byte is the stage, '0' for `open`, the rest a line of the judge process.  Texts
 * come out clean and bounded, numbers make sense, a verdict is one of its
 * stage; what was read, written again as the judge does, reads the same.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/judge_reply.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool good)
{
	if (!good)
		abort();
}

static void is_clean(const char *s, bool multiline)
{
	struct buf b = BUF_INIT;

	if (!s)
		return;
	buf_add_clean(&b, s, strlen(s), multiline);
	must(!strcmp(b.ptr, s) && b.len <= 4096);
	buf_release(&b);
}

static void is_message(const struct err *err)
{
	must(err->code < 0 && err->msg[0]);
	for (const char *p = err->msg; *p; p++)
		must((unsigned char)*p >= 32 || *p == '\n' || *p == '\t');
}

/* NAN, or finite and not negative. */
static void is_amount(double v)
{
	must(isnan(v) || (v >= 0 && isfinite(v)));
}

static void check_shapes(const struct shape_result *s, size_t nr)
{
	must(nr <= 256 && (!nr || s));
	for (size_t i = 0; i < nr; i++) {
		is_clean(s[i].shape, false);
		must(s[i].shape != NULL);
		is_amount(s[i].time_ns);
		is_amount(s[i].baseline_ns);
		is_amount(s[i].speedup);
		is_amount(s[i].ci_low);
		is_amount(s[i].ci_high);
		is_amount(s[i].flops);
		is_amount(s[i].bytes);
		is_amount(s[i].gflops);
		is_amount(s[i].gbs);
		is_amount(s[i].roof);
	}
}

/* ---- written as core/judge/judge_main.c does ---- */

static void put_shapes(struct buf *b, const struct shape_result *s, size_t nr)
{
	json_open(b, "shapes", '[');
	for (size_t i = 0; i < nr; i++) {
		json_open(b, NULL, '{');
		json_put_str(b, "shape", s[i].shape);
		json_put_num(b, "time_ns", s[i].time_ns, 0);
		json_put_num(b, "baseline_ns", s[i].baseline_ns, 0);
		json_put_num(b, "speedup", s[i].speedup, 0);
		json_put_num(b, "ci_low", s[i].ci_low, 0);
		json_put_num(b, "ci_high", s[i].ci_high, 0);
		json_put_num(b, "flops", s[i].flops, 0);
		json_put_num(b, "bytes", s[i].bytes, 0);
		json_put_num(b, "gflops", s[i].gflops, 0);
		json_put_num(b, "gbs", s[i].gbs, 0);
		json_put_num(b, "roof", s[i].roof, 0);
		json_put_bool(b, "holdout", s[i].holdout);
		json_shut(b, '}');
	}
	json_shut(b, ']');
}

static void put_record(struct buf *b, const struct record *r)
{
	json_open(b, NULL, '{');
	json_put_str(b, "verdict", verdict_name(r->verdict));
	json_put_str(b, "error", r->error);
	json_put_str(b, "clock", r->clock);
	json_put_num(b, "lr", r->lr, 0);
	json_put_num(b, "lr_low", r->lr_low, 0);
	json_put_num(b, "lr_high", r->lr_high, 0);
	json_put_num(b, "time_ns", r->time_ns, 0);
	json_put_num(b, "baseline_ns", r->baseline_ns, 0);
	json_put_int(b, "launches", r->launches);
	json_put_num(b, "speedup", r->speedup, 0);
	json_put_num(b, "ci_low", r->ci_low, 0);
	json_put_num(b, "ci_high", r->ci_high, 0);
	json_put_num(b, "est_speedup", r->est_speedup, 0);
	json_put_num(b, "vs_rival", r->vs_rival, 0);
	json_put_num(b, "vs_best_flags", r->vs_best_flags, 0);
	put_shapes(b, r->shape, r->nr_shapes);
	json_shut(b, '}');
}

static void put_info(struct buf *b, const struct judge_info *i)
{
	json_open(b, NULL, '{');
	json_put_bool(b, "ok", true);
	json_put_str(b, "device", i->device);
	json_put_str(b, "device_text", i->device_text);
	json_put_str(b, "host", i->host);
	json_put_str(b, "sandbox", i->sandbox);
	json_put_str(b, "oracle", i->oracle);
	json_put_str(b, "compiler", i->compiler);
	json_put_str(b, "best_flags", i->best_flags);
	json_put_num(b, "best_flags_speedup", i->best_flags_speedup, 0);
	json_put_num(b, "resolution", i->resolution, 0);
	put_shapes(b, i->shape, i->nr_shapes);
	json_shut(b, '}');
}

/* ---- both ways ---- */

static void check_record(const struct record *r, enum judge_stage stage)
{
	is_clean(r->error, true);
	is_clean(r->clock, false);
	must(!isinf(r->lr) && r->launches >= 0 && r->launches <= 1000000);
	is_amount(r->time_ns);
	is_amount(r->baseline_ns);
	is_amount(r->speedup);
	is_amount(r->ci_low);
	is_amount(r->ci_high);
	is_amount(r->est_speedup);
	is_amount(r->vs_rival);
	is_amount(r->vs_best_flags);
	check_shapes(r->shape, r->nr_shapes);
	must(r->verdict != V_NONE && r->verdict < V_NO_PROPOSAL);
	must(r->verdict != V_CONFIRMED ||
	     (stage == JUDGE_CONFIRM && r->speedup > 0));
	must(r->verdict != V_FASTER || stage == JUDGE_SCREEN);
	must(!verdict_is_timed(r->verdict) || r->verdict == V_SAME ||
	     stage >= JUDGE_SCREEN);
	must(stage == JUDGE_CONFIRM || isnan(r->speedup));
}

static void again_record(const struct record *r, enum judge_stage stage)
{
	struct buf one = BUF_INIT, two = BUF_INIT;
	struct err err = ERR_INIT;
	struct judge_reply reply;
	struct record twice;

	put_record(&one, r);
	must(judge_reply_parse(&reply, one.ptr, one.len, &err) == 0);
	record_init(&twice);
	must(judge_reply_record(&reply, stage, &twice, &err) == 0);
	put_record(&two, &twice);
	must(!strcmp(one.ptr, two.ptr));
	record_release(&twice);
	judge_reply_release(&reply);
	buf_release(&one);
	buf_release(&two);
}

static void try_record(const struct judge_reply *reply,
		       enum judge_stage stage)
{
	struct err err = ERR_INIT;
	struct record r;

	record_init(&r);
	if (judge_reply_record(reply, stage, &r, &err)) {
		is_message(&err);
	} else {
		check_record(&r, stage);
		again_record(&r, stage);
	}
	record_release(&r);
}

static void again_info(const struct judge_info *i)
{
	struct buf one = BUF_INIT, two = BUF_INIT;
	struct err err = ERR_INIT;
	struct judge_reply reply;
	struct judge_info twice;

	memset(&twice, 0, sizeof(twice));
	put_info(&one, i);
	must(judge_reply_parse(&reply, one.ptr, one.len, &err) == 0);
	must(judge_reply_info(&reply, &twice, &err) == 0);
	put_info(&two, &twice);
	must(!strcmp(one.ptr, two.ptr));
	judge_info_release(&twice);
	judge_reply_release(&reply);
	buf_release(&one);
	buf_release(&two);
}

static void try_info(const struct judge_reply *reply)
{
	struct err err = ERR_INIT;
	struct judge_info i;

	memset(&i, 0, sizeof(i));
	if (judge_reply_info(reply, &i, &err)) {
		must(err.code == ERR_FORMAT);
		is_message(&err);
	} else {
		must(strspn(i.device, "abcdefghijklmnopqrstuvwxyz"
			    "0123456789-") == strlen(i.device));
		is_clean(i.device_text, false);
		is_clean(i.host, false);
		is_clean(i.sandbox, false);
		is_clean(i.oracle, false);
		is_clean(i.compiler, false);
		is_clean(i.best_flags, false);
		is_amount(i.resolution);
		check_shapes(i.shape, i.nr_shapes);
		again_info(&i);
	}
	judge_info_release(&i);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err err = ERR_INIT;
	struct judge_reply r;
	const char *name;
	enum judge_stage stage;
	char *why;

	if (!size)
		return 0;
	stage = (enum judge_stage)((unsigned)(*data - '0') % 5);
	if (judge_reply_parse(&r, (const char *)data + 1, size - 1, &err)) {
		is_message(&err);
		must(!r.doc);
		return 0;
	}
	must(r.id >= -1);
	is_clean(r.doing, false);
	why = judge_reply_error(&r);
	is_clean(why, true);
	free(why);
	name = judge_reply_samples(&r);
	must(!name || (*name && *name != '.' && !strchr(name, '/')));
	if (stage == JUDGE_OPEN)
		try_info(&r);
	else
		try_record(&r, stage);
	judge_reply_release(&r);
	return 0;
}
