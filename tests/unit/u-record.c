/* needs: core/record.c */
#include <stdlib.h>

#include "core/mem.h"
#include "core/record.h"
#include "tests/unit/tap.h"

static void verdicts(void)
{
	static const char *const all[] = {
		"build-fail", "gate-fail", "crash", "timeout", "wrong",
		"cheat", "too-good", "slower", "same", "faster", "confirmed",
		"no-verdict", "no-proposal", "dup",
	};
	int timed = 0;

	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		int v = verdict_parse(all[i]);

		if (ok(v > V_NONE && v < V_NR, "'%s' is a verdict", all[i]))
			is_str(verdict_name((enum verdict)v), all[i],
			       "and its name is that");
	}
	is_int(ARRAY_SIZE(all), V_NR - 1, "these are all");
	is_int(verdict_parse("Faster"), -1, "no other spelling");
	is_int(verdict_parse(""), -1, "nothing is no verdict");
	for (int v = 0; v < V_NR; v++)
		timed += verdict_is_timed((enum verdict)v);
	is_int(timed, 4, "four verdicts have a time");
	ok(verdict_is_timed(V_SLOWER) && verdict_is_timed(V_SAME) &&
	   verdict_is_timed(V_FASTER) && verdict_is_timed(V_CONFIRMED),
	   "these");
}

static void all_nan(const struct record *r)
{
	const double v[] = {
		r->lr, r->lr_low, r->lr_high, r->est_speedup, r->speedup,
		r->ci_low, r->ci_high, r->vs_parent, r->vs_rival,
		r->vs_best_flags, r->time_ns, r->baseline_ns, r->gflops,
		r->gbs, r->roof, r->attempt_s,
	};
	int nr = 0;

	for (size_t i = 0; i < ARRAY_SIZE(v); i++)
		nr += isnan(v[i]);
	is_int(nr, ARRAY_SIZE(v), "all numbers are NAN");
}

static void fill(struct record *r)
{
	r->verdict = V_CONFIRMED;
	r->speedup = 2.5;
	r->launches = 12;
	r->compiled = r->correct = true;
	r->nr_shapes = 2;
	r->shape = xcalloc(2, sizeof(*r->shape));
	for (int i = 0; i < 2; i++) {
		shape_result_init(&r->shape[i]);
		r->shape[i].shape = xasprintf("M=%d", i);
		r->shape[i].time_ns = i;
	}
	r->shape[1].holdout = true;
	r->error = xstrdup("none at all");
	r->host = xstrdup("h");
	r->device = xstrdup("d");
	r->sandbox = xstrdup("S2");
	r->oracle = xstrdup("auto");
	r->clock = xstrdup("cpu");
	r->compiler = xstrdup("gcc 1");
	r->flags = xstrdup("-O3");
	r->against = xstrdup("root");
	buf_add(&r->samples, "[1\0]", 4);
}

int main(void)
{
	struct record r, copy;
	struct shape_result s;

	verdicts();
	shape_result_init(&s);
	ok(isnan(s.time_ns) && isnan(s.speedup) && isnan(s.roof) &&
	   isnan(s.flops) && !s.shape && !s.holdout, "an empty shape");
	record_init(&r);
	all_nan(&r);
	is_int(r.verdict, V_NONE, "not judged");
	record_copy(&copy, &r);
	ok(!copy.shape && !copy.error && !copy.samples.len,
	   "a copy of nothing");
	record_release(&copy);
	fill(&r);
	record_copy(&copy, &r);
	record_release(&r);
	all_nan(&r);
	ok(!r.shape && !r.nr_shapes && !r.error && !r.host, "released");
	is_int(copy.verdict, V_CONFIRMED, "the copy lives on");
	is_near(copy.speedup, 2.5, 0, "with its numbers");
	is_int((long long)copy.nr_shapes, 2, "its shapes");
	is_str(copy.shape[1].shape, "M=1", "their names");
	ok(copy.shape[1].holdout && !copy.shape[0].holdout, "their kinds");
	is_str(copy.error, "none at all", "error");
	is_str(copy.host, "h", "host");
	is_str(copy.device, "d", "device");
	is_str(copy.sandbox, "S2", "sandbox");
	is_str(copy.oracle, "auto", "oracle");
	is_str(copy.clock, "cpu", "clock");
	is_str(copy.compiler, "gcc 1", "compiler");
	is_str(copy.flags, "-O3", "flags");
	is_str(copy.against, "root", "against");
	ok(copy.samples.len == 4 && !memcmp(copy.samples.ptr, "[1\0]", 4),
	   "samples, NUL and all");
	record_release(&copy);
	record_release(&copy);
	return tap_done();
}
