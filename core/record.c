#include "core/record.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

static const char *const names[V_NR] = {
	[V_NONE] = "none",
	[V_BUILD_FAIL] = "build-fail",
	[V_GATE_FAIL] = "gate-fail",
	[V_CRASH] = "crash",
	[V_TIMEOUT] = "timeout",
	[V_WRONG] = "wrong",
	[V_CHEAT] = "cheat",
	[V_TOO_GOOD] = "too-good",
	[V_SLOWER] = "slower",
	[V_SAME] = "same",
	[V_FASTER] = "faster",
	[V_CONFIRMED] = "confirmed",
	[V_NO_VERDICT] = "no-verdict",
	[V_NO_PROPOSAL] = "no-proposal",
	[V_DUP] = "dup",
};

const char *verdict_name(enum verdict v)
{
	assert((unsigned)v < V_NR);
	return names[v];
}

int verdict_parse(const char *name)
{
	for (int v = 0; v < V_NR; v++)
		if (!strcmp(names[v], name))
			return v;
	return -1;
}

bool verdict_is_timed(enum verdict v)
{
	return v == V_SLOWER || v == V_SAME || v == V_FASTER ||
	       v == V_CONFIRMED;
}

void shape_result_init(struct shape_result *s)
{
	*s = (struct shape_result){
		.time_ns = NAN, .baseline_ns = NAN, .speedup = NAN,
		.ci_low = NAN, .ci_high = NAN, .flops = NAN, .bytes = NAN,
		.gflops = NAN, .gbs = NAN, .roof = NAN,
	};
}

void record_init(struct record *r)
{
	*r = (struct record){
		.lr = NAN, .lr_low = NAN, .lr_high = NAN, .est_speedup = NAN,
		.speedup = NAN, .ci_low = NAN, .ci_high = NAN,
		.vs_parent = NAN, .vs_rival = NAN, .vs_best_flags = NAN,
		.time_ns = NAN, .baseline_ns = NAN, .gflops = NAN, .gbs = NAN,
		.roof = NAN, .attempt_s = NAN, .device_s = NAN, .samples = BUF_INIT,
	};
}

void record_release(struct record *r)
{
	if (r->borrowed) {	/* nor has such a one shapes or samples */
		record_init(r);
		return;
	}
	for (size_t i = 0; i < r->nr_shapes; i++)
		free(r->shape[i].shape);
	free(r->shape);
	free(r->error);
	free(r->host);
	free(r->device);
	free(r->sandbox);
	free(r->oracle);
	free(r->clock);
	free(r->compiler);
	free(r->flags);
	free(r->against);
	buf_release(&r->samples);
	record_init(r);
}

void record_copy(struct record *to, const struct record *from)
{
	*to = *from;
	to->borrowed = false;
	to->shape = NULL;
	if (from->nr_shapes)
		to->shape = xcalloc(from->nr_shapes, sizeof(*to->shape));
	for (size_t i = 0; i < from->nr_shapes; i++) {
		to->shape[i] = from->shape[i];
		to->shape[i].shape = xstrdup(from->shape[i].shape);
	}
	to->error = xstrdup(from->error);
	to->host = xstrdup(from->host);
	to->device = xstrdup(from->device);
	to->sandbox = xstrdup(from->sandbox);
	to->oracle = xstrdup(from->oracle);
	to->clock = xstrdup(from->clock);
	to->compiler = xstrdup(from->compiler);
	to->flags = xstrdup(from->flags);
	to->against = xstrdup(from->against);
	buf_init(&to->samples);
	buf_add(&to->samples, from->samples.ptr, from->samples.len);
}
