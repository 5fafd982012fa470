/* needs: core/dtype.c core/expr.c core/ini.c core/kernel.c core/kernel_arg.c
 * core/kernel_flags.c core/kernel_keys.c core/kernel_shape.c core/record.c
 * core/source.c core/sha1.c core/json.c core/judge.c core/judge_process.c
 * core/judge_reply.c core/judge_scripted.c core/paths.c core/tempdir.c */
/* Lines of a judge process that says what it should not. */
#include <stdlib.h>

#include "core/judge_reply.h"
#include "tests/unit/tap.h"

static void parse(struct judge_reply *r, const char *line)
{
	struct err err = ERR_INIT;

	if (judge_reply_parse(r, line, strlen(line), &err))
		ok(false, "%s: %s", line, err.msg);
}

static int record(const char *line, enum judge_stage stage,
		  struct record *out, struct err *err)
{
	struct judge_reply r;
	int ret;

	parse(&r, line);
	record_init(out);
	ret = judge_reply_record(&r, stage, out, err);
	judge_reply_release(&r);
	return ret;
}

/* Stages as bits, JUDGE_BUILD the lowest. */
static void test_verdicts(void)
{
	static const struct {
		const char *name;
		unsigned stages;
	} t[] = {
		{ "build-fail", 1 }, { "gate-fail", 1 }, { "same", 15 },
		{ "wrong", 14 }, { "crash", 14 }, { "timeout", 14 },
		{ "cheat", 14 }, { "no-verdict", 14 }, { "slower", 12 },
		{ "faster", 4 }, { "too-good", 8 }, { "confirmed", 8 },
		{ "dup", 0 }, { "no-proposal", 0 }, { "none", 0 }, { "", 0 },
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		unsigned passed = 0;

		for (unsigned s = 0; s < 4; s++) {
			struct buf line = BUF_INIT;
			struct err err = ERR_INIT;
			struct record rec;

			buf_addf(&line, "{\"verdict\":\"%s\",\"speedup\":2}",
				 t[i].name);
			if (!record(line.ptr, JUDGE_BUILD + s, &rec, &err))
				passed |= 1u << s;
			record_release(&rec);
			buf_release(&line);
		}
		is_int(passed, t[i].stages, "stages of '%s'", t[i].name);
	}
}

static void test_record(void)
{
	struct err err = ERR_INIT;
	struct record rec;

	ok(!record("{\"verdict\":\"confirmed\",\"speedup\":1.5,\"lr\":-0.5,"
		   "\"time_ns\":-1,\"launches\":1e99,\"shapes\":[{\"roof\":"
		   "0.5},7],\"error\":\"a\\nb\\u001b\"}", JUDGE_CONFIRM, &rec,
		   &err), "a record");
	ok(rec.speedup == 1.5 && rec.lr == -0.5, "has its numbers");
	ok(isnan(rec.time_ns), "no time is negative");
	is_int(rec.launches, 1000000, "launches are bounded");
	is_int((long long)rec.nr_shapes, 2, "shapes, of whatever type");
	is_str(rec.error, "a\nb?", "the error is clean");
	ok(rec.roof == 0.5, "the first shape's rate");
	record_release(&rec);
	ok(record("{\"verdict\":\"confirmed\"}", JUDGE_CONFIRM, &rec, &err)
	   == ERR_FORMAT, "nothing is confirmed without a speedup");
	record_release(&rec);
	ok(record("{\"verdict\":\"\\u001b[1m\"}", JUDGE_CHECK, &rec, &err) &&
	   !strchr(err.msg, 033), "a bad verdict is shown clean");
	record_release(&rec);
}

static void test_head(void)
{
	static const char *const bad[] = {
		"", "[]", "{", "{} x", "{\"id\":1,\"id\":2}",
		"{\"e\":\"\xff\"}", "{\"e\":\"\\u0000\"}",
	};
	struct err err = ERR_INIT;
	struct judge_reply r;
	char *why;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ok(judge_reply_parse(&r, bad[i], strlen(bad[i]), &err) ==
		   ERR_FORMAT && !r.doc, "refused: %s", err.msg);
	parse(&r, "{\"id\":3,\"e\":\"progress\",\"doing\":\"a\\u0007b\"}");
	ok(r.event == REPLY_PROGRESS && r.id == 3, "progress");
	is_str(r.doing, "a?b", "is clean");
	judge_reply_release(&r);
	parse(&r, "{\"id\":1.5,\"e\":\"done\",\"fatal\":true,"
	      "\"error\":\"x\\u009b\"}");
	ok(r.event == REPLY_DONE && r.fatal && r.id == -1, "the end");
	why = judge_reply_error(&r);
	is_str(why, "x?", "with a reason");
	free(why);
	judge_reply_release(&r);
}

static void test_info(void)
{
	static const char *const devices[] = {
		"", "../x", "A", "a b", "a/b",
		"0123456789012345678901234567890123456789012345678901234567890",
	};
	struct judge_info info;
	struct judge_reply r;
	struct err err = ERR_INIT;
	const char *name[] = { "a.json", "", ".x", "a/b", "..", "/x" };

	for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++) {
		struct buf b = BUF_INIT;

		buf_addf(&b, "{\"ok\":true,\"device\":\"%s\",\"device_text\":"
			 "\"\",\"host\":\"\",\"sandbox\":\"\",\"oracle\":\"\","
			 "\"compiler\":\"\",\"shapes\":[{}]}", devices[i]);
		parse(&r, b.ptr);
		memset(&info, 0, sizeof(info));
		ok(judge_reply_info(&r, &info, &err) == ERR_FORMAT,
		   "no device: '%s'", devices[i]);
		judge_info_release(&info);
		judge_reply_release(&r);
		buf_release(&b);
	}
	for (size_t i = 0; i < sizeof(name) / sizeof(name[0]); i++) {
		struct buf b = BUF_INIT;

		buf_addf(&b, "{\"samples\":\"%s\"}", name[i]);
		parse(&r, b.ptr);
		ok(!judge_reply_samples(&r) == (i > 0), "samples '%s'",
		   name[i]);
		judge_reply_release(&r);
		buf_release(&b);
	}
}

int main(void)
{
	test_head();
	test_info();
	test_verdicts();
	test_record();
	return tap_done();
}
