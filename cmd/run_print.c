/* What came of a run: the table of explore, resume and worker, and JSON. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/out.h"
#include "cmd/run.h"
#include "core/mem.h"

void run_result_release(struct run_result *r)
{
	free(r->kernel);
	free(r->search);
	free(r->policy);
	free(r->advice);
	free(r->root.shape);
	record_release(&r->best);
}

static void print_json(const struct run_result *r, double share)
{
	struct jout j;

	jout_begin(&j);
	jout_str(&j, "kernel", r->kernel);
	jout_str(&j, "search", r->search);
	jout_str(&j, "node", r->has_best ? oid_text(&r->node).s : NULL);
	jout_str(&j, "policy", r->policy);
	jout_int(&j, "attempts", r->made);
	jout_num(&j, "share", share);
	jout_int(&j, "nodes", r->nodes);
	jout_num(&j, "elapsed_s", r->elapsed_s);
	jout_num(&j, "device_s", r->device_s);
	jout_num(&j, "outside_s", r->outside_s);
	jout_int(&j, "tokens", r->tokens);
	jout_num(&j, "cost", r->cost);
	jout_str(&j, "end", r->why);
	jout_found(&j, &r->best);
	jout_end(&j, stdout);
}

static void add_row(struct table *t, const struct run_result *r,
		    const struct shape_result *s, bool first)
{
	struct buf b[6] = { BUF_INIT, BUF_INIT, BUF_INIT, BUF_INIT, BUF_INIT,
			    BUF_INIT };

	fmt_time(&b[0], s->baseline_ns);
	fmt_time(&b[1], s->time_ns);
	fmt_rate(&b[2], s);
	fmt_ratio(&b[3], s->speedup);
	fmt_interval(&b[4], s->ci_low, s->ci_high);
	fmt_ratio(&b[5], first ? r->best.vs_best_flags : NAN);
	table_cell(t, "%s", first ? r->kernel : "");
	table_cell(t, "%s", s->shape);
	for (int i = 0; i < 3; i++)
		table_cell(t, "%s", b[i].ptr);
	if (isnan(s->roof))
		table_cell(t, "-");
	else
		table_cell(t, "%.0f %%", s->roof * 100);
	table_cell(t, "%s", b[3].ptr);
	table_cell(t, "%s", b[4].ptr);
	table_cell(t, "%s", b[5].ptr);
	table_cell(t, "%s%s", first ? oid_short(&r->node).s : "",
		   first && r->advice ? " (claimed)" : "");
	if (first) {
		table_cell(t, "%u", r->made);
		table_cell(t, "%.0f", r->elapsed_s);
	} else {
		table_cell(t, "%s", "");
		table_cell(t, "%s", "");
	}
	for (size_t i = 0; i < ARRAY_SIZE(b); i++)
		buf_release(&b[i]);
}

/* A record whose shapes did not come along. */
static void add_total(struct table *t, const struct run_result *r)
{
	const struct record *b = &r->best;
	struct shape_result all = {
		.baseline_ns = b->baseline_ns, .time_ns = b->time_ns,
		.speedup = b->speedup, .ci_low = b->ci_low,
		.ci_high = b->ci_high, .gflops = b->gflops, .gbs = b->gbs,
		.roof = b->roof,
	};
	char name[] = "all";

	all.shape = name;
	add_row(t, r, &all, true);
}

static void add_none(struct table *t, const struct run_result *r)
{
	struct buf time = BUF_INIT, rate = BUF_INIT;

	fmt_time(&time, r->root.time_ns);
	fmt_rate(&rate, &r->root);
	table_cell(t, "%s", r->kernel);
	table_cell(t, "%s", r->root.shape ? r->root.shape : "");
	table_cell(t, "%s", time.ptr);
	table_cell(t, "-");
	table_cell(t, "%s", rate.ptr);
	if (isnan(r->root.roof))
		table_cell(t, "-");
	else
		table_cell(t, "%.0f %%", r->root.roof * 100);
	for (int i = 0; i < 3; i++)
		table_cell(t, "-");
	table_cell(t, "none confirmed");
	buf_release(&time);
	buf_release(&rate);
	table_cell(t, "%u", r->made);
	table_cell(t, "%.0f", r->elapsed_s);
}

void run_print(const struct run_result *r, size_t nr, bool json)
{
	static const char *const heads[] = {
		"kernel", "shape", "baseline", "best", "rate", "roof",
		"speedup", "95 % interval", "over flags", "node", "attempts",
		"seconds"
	};
	double made = 0;
	struct table t;

	for (size_t i = 0; i < nr; i++)
		made += r[i].made;
	if (json) {
		for (size_t i = 0; i < nr; i++)
			print_json(&r[i], made > 0 ? r[i].made / made : 0);
		return;
	}
	if (!nr)
		return;
	table_init(&t, ARRAY_SIZE(heads), 0xdfc);
	for (size_t i = 0; i < ARRAY_SIZE(heads); i++)
		table_cell(&t, "%s", heads[i]);
	for (size_t i = 0; i < nr; i++) {
		bool first = true;

		if (!r[i].has_best)
			add_none(&t, &r[i]);
		for (size_t k = 0; r[i].has_best && k < r[i].best.nr_shapes; k++) {
			if (r[i].best.shape[k].holdout)
				continue;
			add_row(&t, &r[i], &r[i].best.shape[k], first);
			first = false;
		}
		if (r[i].has_best && first)
			add_total(&t, &r[i]);
	}
	table_print(&t, stdout);
	table_release(&t);
	for (size_t i = 0; i < nr; i++)
		if (r[i].advice)
			printf("%s: %s\n", r[i].kernel, r[i].advice);
}
