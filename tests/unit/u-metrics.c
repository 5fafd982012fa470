/* needs: core/metrics*.c core/usage.c core/json.c core/record.c core/source.c core/sha1.c
 */
#include <stdlib.h>

#include "core/json.h"
#include "core/mem.h"
#include "core/metrics.h"
#include "tests/unit/tap.h"

#define ST "1b19e9fb8708ca9e89a2443bf451ab0a737cd372"
#define HEAD "{\"t\":\"2026-12-01T07:00:10.679Z\",\"v\":1,\"w\":\"vm-7dbd\","
#define EVAL HEAD "\"e\":\"eval\",\"st\":\"" ST "\",\"k\":\"361091597d41\"," \
	"\"ep\":1,\"dev\":\"d-1\","

static struct err err;

static int parse(struct metric *m, const char *line)
{
	return metric_parse(m, line, strlen(line), &err);
}

static void test_good(void)
{
	struct metric m;

	is_int(parse(&m, EVAL "\"verdict\":\"confirmed\",\"speedup\":2.5,"
		     "\"ci_low\":2.4,\"ci_high\":2.6,\"time_ns\":1000,"
		     "\"launches\":7,\"raw\":\"" ST "\",\"new\":[1]}"),
	       METRIC_OK, "an eval line, with an unknown key");
	is_str(m.t, "2026-12-01T07:00:10.679Z", "its time");
	is_str(m.worker, "vm-7dbd", "its worker");
	is_int(m.event, METRIC_EVAL, "its event");
	is_str(oid_text(&m.state).s, ST, "its state");
	is_str(m.section, "361091597d41", "its section");
	is_str(m.rec.device, "d-1", "its device class");
	is_int(m.rec.verdict, V_CONFIRMED, "its verdict");
	is_near(m.rec.speedup, 2.5, 0, "its speedup");
	is_int(m.rec.launches, 7, "its launches");
	ok(m.rec.compiled && m.rec.correct, "confirmed is built and right");
	ok(isnan(m.rec.est_speedup), "what is not there is not measured");
	ok(!oid_is_zero(&m.raw), "its raw blob");
	metric_release(&m);

	is_int(parse(&m, HEAD "\"e\":\"spend\",\"step\":4,\"verdict\":\"dup\","
		     "\"st\":\"" ST "\",\"attempt_s\":0.5}"), METRIC_OK,
	       "a spend line");
	is_int(m.step, 4, "its step");
	ok(!m.recipe, "of no node");
	metric_release(&m);
	is_int(parse(&m, HEAD "\"e\":\"spend\",\"step\":4,"
		     "\"verdict\":\"slower\",\"est_speedup\":0.5,"
		     "\"from\":3,\"on\":2,\"recipe\":\"restrict; "
		     "vw(\\u001b)\"}"), METRIC_OK, "one of a pruned node");
	is_str(m.recipe, "restrict; vw(?)", "its recipe, cleaned");
	ok(m.from == 3 && m.on == 2, "its parent and origin");
	is_near(m.rec.est_speedup, 0.5, 0, "its speedup");
	metric_release(&m);
	is_int(parse(&m, HEAD "\"e\":\"config\",\"what\":\"done\","
		     "\"why\":\"exhausted\"}"), METRIC_OK, "a config line");
	is_str(m.why, "exhausted", "its reason");
	metric_release(&m);
	is_int(parse(&m, HEAD "\"e\":\"lesson\",\"text\":\"a\\u001b[31mb\"}"),
	       METRIC_OK, "a lesson");
	is_str(m.what, "a?[31mb", "cleaned of control characters");
	metric_release(&m);
	is_int(parse(&m, HEAD "\"e\":\"void\",\"of\":\"0123456789ab\"}"),
	       METRIC_OK, "a void line");
	is_str(m.of, "0123456789ab", "what it takes back");
	metric_release(&m);
}

static void test_ignored(void)
{
	struct metric m;

	is_int(parse(&m, "{\"v\":2,\"anything\":true}"), METRIC_NEWER,
	       "a newer version");
	is_int(parse(&m, HEAD "\"e\":\"party\"}"), METRIC_UNKNOWN,
	       "an unknown event");
	is_int(parse(&m, EVAL "\"verdict\":\"splendid\"}"), METRIC_UNKNOWN,
	       "an unknown verdict");
}

static void test_bad(void)
{
	static const char *const bad[] = {
		"", "{", "null", "[]", "garbage", "{}", "{\"v\":\"1\"}",
		"{\"v\":0}", "{\"v\":1}", HEAD "\"e\":7}",
		HEAD "\"e\":\"eval\"}",
		"{\"t\":\"yesterday\",\"v\":1,\"w\":\"a\",\"e\":\"lesson\","
		"\"text\":\"\"}",
		"{\"t\":\"2026-12-01T07:00:10.679Z\",\"v\":1,\"w\":\"a/b\","
		"\"e\":\"lesson\",\"text\":\"\"}",
		EVAL "\"verdict\":1}", EVAL "\"x\":1}",
		EVAL "\"verdict\":\"same\",\"speedup\":-1}",
		EVAL "\"verdict\":\"same\",\"speedup\":0}",
		EVAL "\"verdict\":\"same\",\"speedup\":\"2\"}",
		EVAL "\"verdict\":\"same\",\"time_ns\":1e999}",
		EVAL "\"verdict\":\"same\",\"attempt_s\":-2}",
		EVAL "\"verdict\":\"same\",\"launches\":1.5}",
		EVAL "\"verdict\":\"same\",\"raw\":\"12\"}",
		EVAL "\"verdict\":\"same\",\"verdict\":\"confirmed\"}",
		HEAD "\"e\":\"eval\",\"st\":\"xyz\",\"k\":\"361091597d41\","
		"\"ep\":1,\"dev\":\"d\",\"verdict\":\"same\"}",
		HEAD "\"e\":\"eval\",\"st\":\"" ST "\",\"k\":\"361\",\"ep\":1,"
		"\"dev\":\"d\",\"verdict\":\"same\"}",
		HEAD "\"e\":\"spend\",\"step\":-1,\"verdict\":\"dup\"}",
		HEAD "\"e\":\"spend\",\"step\":1,\"verdict\":\"wrong\","
		"\"recipe\":[]}",
		HEAD "\"e\":\"spend\",\"step\":1,\"verdict\":\"wrong\","
		"\"recipe\":\"a\",\"from\":-1}",
		HEAD "\"e\":\"spend\",\"step\":1,\"verdict\":\"wrong\","
		"\"recipe\":\"a\",\"on\":4000000001}",
		HEAD "\"e\":\"spend\",\"step\":1,\"verdict\":\"slower\","
		"\"recipe\":\"a\",\"est_speedup\":0}",
		HEAD "\"e\":\"void\",\"of\":\"0123\"}",
		HEAD "\"e\":\"config\"}",
	};
	struct metric m;
	struct buf b = BUF_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		is_int(parse(&m, bad[i]), ERR_FORMAT, "bad line %zu is refused",
		       i);
	buf_addstr(&b, HEAD "\"e\":\"lesson\",\"text\":\"");
	for (int i = 0; i < METRIC_MAX_READ; i++)
		buf_addch(&b, 'x');
	buf_addstr(&b, "\"}");
	is_int(parse(&m, b.ptr), ERR_FORMAT, "refused: too long");
	buf_release(&b);
}

/* A record with all that a record can have. */
static void fill(struct record *r)
{
	record_init(r);
	r->verdict = V_CONFIRMED;
	r->speedup = 1.0 / 3.0 + 2;
	r->ci_low = 1.0 / 3.0 + 1.9;
	r->ci_high = 1.0 / 3.0 + 2.1;
	r->est_speedup = 2.34567890123;
	r->lr = 0.123456789012345;
	r->lr_low = 0.1;
	r->lr_high = 0.2;
	r->time_ns = 123456.789;
	r->baseline_ns = 288000.25;
	r->vs_parent = 1.01;
	r->vs_rival = 0.9;
	r->vs_best_flags = 1.5;
	r->gflops = 123.456;
	r->gbs = 12.25;
	r->roof = 0.75;
	r->launches = 24;
	r->attempt_s = 12.5;
	r->compiled = r->correct = true;
	r->device = xstrdup("xeon-platinum-8481c-avx512-amx-t1");
	r->host = xstrdup("build-host-17.example.org");
	r->sandbox = xstrdup("full");
	r->oracle = xstrdup("auto");
	r->clock = xstrdup("cpu");
	r->compiler = xstrdup("gcc 12.2.0");
	r->flags = xstrdup("-O3 -march=native -ffast-math \"quoted\"");
	r->against = xstrdup(ST);
	r->error = xstrdup("first line \303\251 of the error\nsecond line");
	r->shape = xcalloc(2, sizeof(*r->shape));
	r->nr_shapes = 2;
	shape_result_init(&r->shape[0]);
	shape_result_init(&r->shape[1]);
	r->shape[0].shape = xstrdup("M=500 N=1000");
	r->shape[0].speedup = 2.5;
	r->shape[1].shape = xstrdup("");
	r->shape[1].holdout = true;
	buf_addstr(&r->samples, "{\"lr\":[0.1,0.2]}\n{\"more\":1}\n");
}

static void is_ascii_line(const struct buf *b, const char *what)
{
	bool good = b->len && b->ptr[b->len - 1] == '\n' &&
		    b->len - 1 < METRIC_MAX_LINE;

	for (size_t i = 0; i + 1 < b->len; i++)
		good &= b->ptr[i] >= 32 && b->ptr[i] < 127;
	ok(good, "%s is one ASCII line under the cap", what);
}

static void test_round_trip(void)
{
	struct metric m, back;
	struct buf b = BUF_INIT, again = BUF_INIT, raw = BUF_INIT;
	struct record full;

	metric_init(&m);
	record_release(&m.rec);
	fill(&m.rec);
	metric_now(m.t);
	m.worker = xstrdup("hosthost-9a3f");
	m.event = METRIC_EVAL;
	oid_parse(&m.state, ST);
	oid_parse(&m.raw, ST);
	memcpy(m.section, "361091597d41", 13);
	m.epoch = JUDGE_EPOCH;
	ok(metric_needs_raw(&m), "much needs a raw blob");
	metric_format(&b, &m);
	is_ascii_line(&b, "a full record");
	is_int(metric_parse(&back, b.ptr, b.len - 1, &err), METRIC_OK,
	       "and is read");
	ok(back.rec.speedup >= m.rec.speedup &&
	   back.rec.speedup <= m.rec.speedup, "its speedup to the last bit");
	metric_format(&again, &back);
	is_str(again.ptr, b.ptr, "written again it is the same line");

	metric_format_raw(&raw, &m.rec);
	record_copy(&full, &back.rec);
	is_int(metric_parse_raw(&full, raw.ptr, raw.len, &err), 0,
	       "the raw blob is read");
	is_str(full.samples.ptr, m.rec.samples.ptr, "samples, to the byte");
	is_str(full.error, m.rec.error, "the whole error");
	is_str(full.flags, m.rec.flags, "flags");
	is_int(full.nr_shapes, 2, "shapes");
	is_str(full.shape[0].shape, "M=500 N=1000", "the first");
	ok(full.shape[1].holdout && isnan(full.shape[1].speedup), "a hold-out");
	is_near(full.baseline_ns, 288000.25, 0, "a number that the line "
		"may lack");
	record_release(&full);
	metric_release(&m);
	metric_release(&back);
	buf_release(&b);
	buf_release(&again);
	buf_release(&raw);
}

/* A spend line has all of a recipe or nothing of it. */
static void test_pruned(void)
{
	struct buf line = BUF_INIT, recipe = BUF_INIT, again = BUF_INIT;
	struct metric m, back;
	size_t len;

	metric_init(&m);
	metric_now(m.t);
	m.worker = xstrdup("hosthost-9a3f");
	m.event = METRIC_SPEND;
	m.step = 1234;
	oid_parse(&m.state, ST);
	m.rec.verdict = V_SLOWER;
	m.rec.attempt_s = m.rec.device_s = 0.0001234;
	m.rec.est_speedup = 1.0 / 3.0;
	m.from = 1200;
	m.on = 7;
	for (len = 1; len < METRIC_MAX_LINE; len++) {
		buf_addch(&recipe, 'r');
		m.recipe = recipe.ptr;
		buf_reset(&line);
		metric_format(&line, &m);
		if (!strstr(line.ptr, "recipe"))
			break;
		if (line.len > METRIC_MAX_LINE)
			break;
	}
	ok(len > 120 && len < METRIC_MAX_LINE && line.len < 300 &&
	   !strstr(line.ptr, "est_speedup") && !strstr(line.ptr, "from"),
	   "a recipe of %zu bytes is left out, with what belongs to it", len);
	recipe.ptr[len - 1] = '\0';
	m.recipe = recipe.ptr;
	buf_reset(&line);
	metric_format(&line, &m);
	is_ascii_line(&line, "one byte less is there");
	is_int(metric_parse(&back, line.ptr, line.len - 1, &err), METRIC_OK,
	       "and is read");
	ok(back.rec.est_speedup >= m.rec.est_speedup &&
	   back.rec.est_speedup <= m.rec.est_speedup, "its speedup to the "
	   "last bit");
	metric_format(&again, &back);
	is_str(again.ptr, line.ptr, "written again it is the same line");
	m.recipe = NULL;
	metric_release(&m);
	metric_release(&back);
	buf_release(&line);
	buf_release(&again);
	buf_release(&recipe);
}

static void test_small(void)
{
	struct metric m;
	struct buf b = BUF_INIT;

	metric_init(&m);
	m.event = METRIC_EVAL;
	m.rec.verdict = V_BUILD_FAIL;
	m.rec.device = xstrdup("d-1");
	m.rec.error = xstrdup("undeclared identifier");
	m.worker = xstrdup("vm-7dbd");
	m.epoch = JUDGE_EPOCH;
	oid_parse(&m.state, ST);
	memcpy(m.section, "361091597d41", 13);
	metric_now(m.t);
	ok(!metric_needs_raw(&m), "a plain failure needs no raw blob");
	metric_format(&b, &m);
	ok(strstr(b.ptr, "\"error\":\"undeclared identifier\""),
	   "its error is on the line");
	free(m.rec.error);
	m.rec.error = xcalloc(5001, 1);
	memset(m.rec.error, '"', 5000);
	buf_reset(&b);
	metric_format(&b, &m);
	is_ascii_line(&b, "a long error");
	ok(metric_needs_raw(&m), "and needs a raw blob");
	metric_release(&m);

	m.event = METRIC_LESSON;
	m.worker = xstrdup("vm-7dbd");
	m.what = xcalloc(3001, 1);
	memset(m.what, '\377', 3000);
	metric_now(m.t);
	buf_reset(&b);
	metric_format(&b, &m);
	is_ascii_line(&b, "a long lesson of bad bytes");
	metric_release(&m);
	buf_release(&b);
}

static void test_raw_bad(void)
{
	static const char *const bad[] = {
		"", "{", "{}", "{\"v\":2,\"verdict\":\"same\"}",
		"{\"v\":1}", "{\"v\":1,\"verdict\":\"same\",\"shapes\":1}",
		"{\"v\":1,\"verdict\":\"same\",\"shapes\":[{\"shape\":7}]}",
		"{\"v\":1,\"verdict\":\"same\",\"compiled\":\"yes\"}",
	};
	struct record r;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		record_init(&r);
		ok(metric_parse_raw(&r, bad[i], strlen(bad[i]), &err) < 0,
		   "bad raw blob %zu is refused", i);
		record_release(&r);
	}
}

static void test_now(void)
{
	char a[METRIC_TIME + 1], b[METRIC_TIME + 1];
	bool rising = true;

	metric_now(a);
	for (int i = 0; i < 2000; i++) {
		metric_now(b);
		rising &= strcmp(a, b) < 0;
		memcpy(a, b, sizeof(a));
	}
	ok(rising, "times of one process rise");
}

#define CALL HEAD "\"e\":\"spend\",\"step\":7,\"call\":\"0123456789ab\","
#define NAMES "\"agent\":\"planner\",\"model\":\"lab/big-1.5:x\","
#define TOKENS "\"in\":1000,\"cached\":200,\"out\":50,\"reason\":7"

static void test_call(void)
{
	struct metric m;
	struct buf b = BUF_INIT;

	is_int(parse(&m, CALL NAMES TOKENS ",\"cost\":0.25,\"s\":3}"),
	       METRIC_OK, "a call");
	is_str(m.used.id, "0123456789ab", "its id");
	is_str(m.used.agent, "planner", "its agent");
	is_str(m.used.model, "lab/big-1.5:x", "its model");
	is_int(usage_tokens(&m.used), 1257, "its tokens");
	is_near(m.used.cost, 0.25, 0, "its cost");
	is_near(m.used.seconds, 3, 0, "its seconds");
	is_int(m.step, 7, "its step");
	metric_format(&b, &m);
	is_str(b.ptr, CALL NAMES TOKENS ",\"cost\":0.25,\"s\":3}\n",
	       "it is written as it was");
	metric_release(&m);
	is_int(parse(&m, CALL NAMES TOKENS ",\"raw\":\"" ST "\"}"),
	       METRIC_OK, "a call of unknown price");
	ok(isnan(m.used.cost) && isnan(m.used.seconds) &&
	   oid_is_zero(&m.raw), "has no cost, and no blob");
	metric_release(&m);
	is_int(parse(&m, CALL NAMES TOKENS ",\"s\":1e9}"), METRIC_OK,
	       "a call that took long");
	is_near(m.used.seconds, METRIC_MAX_ATTEMPT_S, 0, "took a day at most");
	metric_release(&m);
	buf_release(&b);
}

static void test_call_bad(void)
{
	static const char *const bad[] = {
		CALL NAMES "\"in\":1,\"cached\":0,\"out\":0}",
		CALL NAMES "\"in\":-1,\"cached\":0,\"out\":0,\"reason\":0}",
		CALL NAMES "\"in\":1.5,\"cached\":0,\"out\":0,\"reason\":0}",
		CALL NAMES "\"in\":\"1\",\"cached\":0,\"out\":0,\"reason\":0}",
		CALL NAMES "\"in\":9007199254740994,\"cached\":0,\"out\":0,"
			"\"reason\":0}",
		CALL NAMES TOKENS ",\"cost\":-0.01}",
		CALL NAMES TOKENS ",\"cost\":1000000001}",
		CALL NAMES TOKENS ",\"cost\":\"1\"}",
		CALL NAMES TOKENS ",\"s\":-1}",
		CALL NAMES TOKENS ",\"verdict\":\"dup\"}",
		CALL "\"agent\":\"a b\",\"model\":\"m\"," TOKENS "}",
		CALL "\"agent\":\"a\",\"model\":\"\"," TOKENS "}",
		CALL "\"agent\":\"a\",\"model\":\"-m\"," TOKENS "}",
		CALL "\"agent\":\"a\",\"model\":\"m\\u001b\"," TOKENS "}",
		CALL "\"agent\":\"a\"," TOKENS "}",
		CALL "\"agent\":\"a\",\"model\":\"0123456789012345678901234567"
			"8901234567890123456789012345678901234\"," TOKENS "}",
		HEAD "\"e\":\"spend\",\"step\":7,\"call\":\"0123456789AB\","
			NAMES TOKENS "}",
		HEAD "\"e\":\"spend\",\"step\":7,\"call\":null,"
			NAMES TOKENS ",\"verdict\":\"dup\"}",
		HEAD "\"e\":\"spend\",\"call\":\"0123456789ab\"," NAMES
			TOKENS "}",
	};
	struct metric m;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		is_int(parse(&m, bad[i]), ERR_FORMAT, "bad call %zu", i);
		ok(err.msg[0] != '\0', "and why");
	}
}

/* The longest that a worker of ours can write. */
static void test_call_long(void)
{
	char name[USAGE_MAX_NAME + 1], bad[300];
	struct metric m, twice;
	struct buf b = BUF_INIT;

	memset(name, 'n', USAGE_MAX_NAME);
	name[USAGE_MAX_NAME] = '\0';
	memset(bad, '"', sizeof(bad) - 1);
	bad[sizeof(bad) - 1] = '\0';
	metric_init(&m);
	m.event = METRIC_SPEND;
	m.worker = xstrdup("hostname-0123-256");
	m.step = METRIC_MAX_OWN_STEP;
	metric_now(m.t);
	m.used = (struct usage){
		.agent = xstrdup(name), .model = xstrdup(bad),
		.tokens_in = INT64_MAX, .tokens_cached = INT64_MAX,
		.tokens_out = INT64_MAX, .tokens_reasoning = INT64_MAX,
		.cost = 1.0 / 3e5, .seconds = 86399.75, .id = "0123456789ab",
	};
	metric_format(&b, &m);
	is_ascii_line(&b, "the longest call");
	is_int(parse(&twice, b.ptr), METRIC_OK, "it is read again");
	is_str(twice.used.agent, name, "its agent");
	is_int((int)strspn(twice.used.model, "_"), USAGE_MAX_NAME,
	       "its model, made fit");
	is_int(twice.used.tokens_in == USAGE_MAX_TOKENS, 1, "its tokens");
	is_int(usage_tokens(&twice.used) == USAGE_MAX_TOKENS, 1,
	       "sums stop there");
	metric_release(&twice);
	m.used.cost = -5;
	m.used.tokens_in = -5;
	buf_reset(&b);
	metric_format(&b, &m);
	is_int(parse(&twice, b.ptr), METRIC_OK, "what is below 0");
	ok(twice.used.tokens_in == 0 && twice.used.cost >= 0 &&
	   twice.used.cost <= 0, "is 0");
	metric_release(&twice);
	metric_release(&m);
	buf_release(&b);
}

static void test_seconds(void)
{
	ok(metric_seconds("1970-01-01T00:00:00.000Z") == 0, "the epoch");
	ok(metric_seconds("2026-12-01T07:00:10.679Z") == 1796108410,
	   "seconds of a time");
	ok(metric_seconds("2024-02-29T23:59:59.999Z") == 1709251199,
	   "of a leap day");
	ok(metric_seconds("9999-99-99T99:99:99.999Z") > 0, "of none at all");
}

static void test_device_s(void)
{
	struct metric m;

	is_int(parse(&m, EVAL "\"verdict\":\"same\",\"device_s\":1.5}"),
	       METRIC_OK, "device seconds");
	is_near(m.rec.device_s, 1.5, 0, "are read");
	metric_release(&m);
	is_int(parse(&m, EVAL "\"verdict\":\"same\",\"device_s\":1e9}"),
	       METRIC_OK, "too many");
	is_near(m.rec.device_s, METRIC_MAX_ATTEMPT_S, 0, "are a day");
	metric_release(&m);
	is_int(parse(&m, EVAL "\"verdict\":\"same\",\"device_s\":-1}"),
	       ERR_FORMAT, "below 0 they are none");
}

int main(void)
{
	char id[13];

	test_good();
	test_ignored();
	test_bad();
	test_round_trip();
	test_pruned();
	test_small();
	test_raw_bad();
	test_now();
	test_call();
	test_call_bad();
	test_call_long();
	test_seconds();
	test_device_s();
	metric_id("hello\n", 6, id);
	is_str(id, "ce013625030b", "a line is named as git names a blob");
	return tap_done();
}
