/* git maxkernel show: all that is known of one node. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/child.h"
#include "cmd/claim.h"
#include "cmd/node.h"
#include "cmd/opt.h"
#include "cmd/out.h"
#include "cmd/shapes.h"
#include "cmd/tune_show.h"

#define STAT_MAX (1u << 20)

static const char *const usage[] = {
	"git maxkernel show [--json] [<node>]",
	NULL
};

struct shown {
	struct view *v;
	uint32_t idx;
	struct record rec;	/* with shapes */
	struct record *all;	/* every measurement, oldest first */
	size_t nr_all;
	struct buf plan;
};

static void shown_release(struct shown *s)
{
	for (size_t i = 0; i < s->nr_all; i++)
		record_release(&s->all[i]);
	free(s->all);
	record_release(&s->rec);
	buf_release(&s->plan);
}

static int load(struct shown *s, struct view *v, uint32_t idx,
		struct err *err)
{
	const struct oid *id = &v->graph.node[idx].id;
	int ret;

	memset(s, 0, sizeof(*s));
	s->v = v;
	s->idx = idx;
	buf_init(&s->plan);
	ret = node_record(v, idx, &s->rec, err);
	if (!ret)
		ret = store_plan(v->search, id, &s->plan, err);
	if (!ret)
		ret = store_records(v->search, id, &s->all, &s->nr_all, err);
	if (ret)
		shown_release(s);
	return ret;
}

/* ---- JSON ---- */

static void print_json(const struct shown *s)
{
	struct buf list = BUF_INIT;
	struct jout j, one;

	jout_begin(&j);
	node_json(&j, s->v, s->idx, &s->rec);
	jout_str(&j, "clock", s->rec.clock);
	jout_str(&j, "compiler", s->rec.compiler);
	jout_str(&j, "flags", s->rec.flags);
	jout_str(&j, "plan", s->plan.len ? s->plan.ptr : NULL);
	buf_addch(&list, '[');
	for (size_t i = 0; i < s->nr_all; i++) {
		if (i)
			buf_addch(&list, ',');
		jout_begin(&one);
		jout_record(&one, &s->all[i]);
		jout_detach(&one, &list);
	}
	buf_addch(&list, ']');
	jout_raw(&j, "measurements", list.ptr);
	tune_show_json(&j, s->all, s->nr_all);
	jout_end(&j, stdout);
	buf_release(&list);
}

/* ---- for people ---- */

static void fact(const char *name, const char *value)
{
	if (!value || !*value)
		return;
	printf("%-12s", name);
	put_clean(stdout, value);
	putchar('\n');
}

static void head(const char *text)
{
	printf("\n%s%s%s\n", colour(COL_BOLD), text, colour(COL_RESET));
}

/* "3 calls, 4512 tokens, $0.0312" */
static void fact_used(const struct view *v, uint32_t idx)
{
	struct usage used;
	uint32_t unknown, nr = graph_used(&v->graph, idx, &used, &unknown);
	struct buf b = BUF_INIT;

	if (nr) {
		buf_addf(&b, "%" PRIu32 " call%s, %" PRId64 " tokens, $%.4f",
			 nr, nr == 1 ? "" : "s", usage_tokens(&used),
			 used.cost);
		if (unknown)
			buf_addf(&b, " + %" PRIu32 " of unknown price",
				 unknown);
	}
	fact("models", b.ptr);
	buf_release(&b);
}

static void print_ids(const struct shown *s)
{
	const struct view *v = s->v;
	const struct node *n = &v->graph.node[s->idx];
	struct buf b = BUF_INIT;

	printf("%snode %s%s%s\n", colour(COL_NODE), oid_text(&n->id).s,
	       s->idx && s->idx == v->graph.champion ? " (champion)" : "",
	       colour(COL_RESET));
	fact("subject", n->subject);
	fact("kernel", v->search->spec.kernel);
	fact("search", v->search->spec.slug);
	fact("state", oid_text(&n->state).s);
	for (int i = 0; i < 2; i++)
		if (n->parent[i] != NODE_NONE)
			buf_addf(&b, "%s%s", b.len ? " " : "",
				 node_short(v, n->parent[i]).s);
	fact("parents", b.ptr);
	buf_reset(&b);
	buf_addf(&b, "%s, step %" PRIu32 ", depth %" PRIu32, n->op ? n->op :
		 "?", n->step, n->depth);
	fact("made by", b.ptr);
	fact("proposer", n->proposer);
	fact("strategy", n->strategy);
	fact("recipe", n->recipe);
	fact("worker", n->worker);
	buf_reset(&b);
	if (n->steps)
		buf_addf(&b, "%d more step%s", n->steps,
			 n->steps == 1 ? "" : "s");
	fact("plan has", b.ptr);
	fact_used(v, s->idx);
	buf_release(&b);
}

static void fact_factor(const char *name, double x)
{
	struct buf b = BUF_INIT;

	if (isfinite(x)) {
		fmt_ratio(&b, x);
		fact(name, b.ptr);
	}
	buf_release(&b);
}

static void print_verdict(const struct shown *s)
{
	const struct node *n = &s->v->graph.node[s->idx];
	const struct record *r = &s->rec;
	struct buf b = BUF_INIT;

	head("Verdict");
	printf("%-12s%s%s%s\n", "verdict",
	       colour(s->idx && !n->pending ? verdict_colour(r->verdict) :
		      COL_DIM),
	       s->idx && !n->pending && r->verdict != V_NONE ?
	       verdict_name(r->verdict) : node_verdict(s->v, s->idx),
	       colour(COL_RESET));
	if (isfinite(r->speedup)) {
		fmt_ratio(&b, r->speedup);
		buf_addch(&b, ' ');
		fmt_interval(&b, r->ci_low, r->ci_high);
		buf_addstr(&b, " over the baseline");
		fact("speedup", b.ptr);
	} else if (isfinite(r->est_speedup)) {
		buf_addch(&b, '~');
		fmt_ratio(&b, r->est_speedup);
		buf_addstr(&b, " estimated, not confirmed");
		fact("speedup", b.ptr);
	}
	fact_factor("vs parent", r->vs_parent);
	fact_factor("vs flags", r->vs_best_flags);
	fact_factor("vs rival", r->vs_rival);
	if (r->error && *r->error) {
		printf("%-12s\n", "error");
		put_clean_lines(stdout, "    ", r->error);
	}
	buf_release(&b);
}

static void print_where(const struct node *n, const struct record *r)
{
	struct buf b = BUF_INIT;

	if (!r->host && !r->device)
		return;
	head(n->claimed ? "Claimed, not measured here" : "Measured");
	fact("by", n->rec_worker);
	fact("host", r->host);
	fact("device", r->device);
	fact("compiler", r->compiler);
	fact("flags", r->flags);
	fact("sandbox", r->sandbox);
	fact("oracle", r->oracle);
	fact("clock", r->clock);
	if (r->launches > 0) {
		buf_addf(&b, "%d", r->launches);
		fact("launches", b.ptr);
		buf_reset(&b);
	}
	if (isfinite(r->attempt_s)) {
		fmt_seconds(&b, r->attempt_s);
		if (isfinite(r->device_s)) {
			buf_addstr(&b, ", the device ");
			fmt_seconds(&b, r->device_s);
		}
		fact("attempt", b.ptr);
	}
	buf_release(&b);
}

static void measurement_row(struct table *t, const struct record *r)
{
	struct buf b = BUF_INIT;

	table_cell(t, "%s", verdict_name(r->verdict));
	table_tint(t, verdict_colour(r->verdict));
	if (isfinite(r->speedup)) {
		fmt_ratio(&b, r->speedup);
	} else if (isfinite(r->est_speedup)) {
		buf_addch(&b, '~');
		fmt_ratio(&b, r->est_speedup);
	} else {
		buf_addch(&b, '-');
	}
	table_cell(t, "%s", b.ptr);
	buf_reset(&b);
	fmt_interval(&b, r->ci_low, r->ci_high);
	table_cell(t, "%s", b.ptr);
	buf_reset(&b);
	fmt_time(&b, r->time_ns);
	table_cell(t, "%s", b.ptr);
	table_cell(t, "%d", r->launches);
	table_cell(t, "%s", r->host ? r->host : "-");
	table_cell(t, "%s", r->device ? r->device : "-");
	table_cell(t, "%s", r->sandbox ? r->sandbox : "-");
	buf_release(&b);
}

static void print_measurements(const struct shown *s)
{
	static const char *const heads[] = {
		"verdict", "speedup", "interval", "time", "launches", "host",
		"device", "sandbox"
	};
	struct table t;

	if (s->nr_all < 2)
		return;
	head("All measurements");
	table_init(&t, 8, 1u << 1 | 1u << 3 | 1u << 4);
	for (size_t i = 0; i < 8; i++)
		table_cell(&t, "%s", heads[i]);
	for (size_t i = 0; i < s->nr_all; i++)
		measurement_row(&t, &s->all[i]);
	table_print(&t, stdout);
	table_release(&t);
}

/* Through git, for its diffstat; a node that git cannot diff is shown all
 * the same. */
static void print_stat(const struct shown *s)
{
	struct strv argv = STRV_INIT;
	struct buf text = BUF_INIT;
	struct err err = ERR_INIT;
	int status;

	if (!s->idx)
		return;
	strv_push(&argv, "git");
	strv_push(&argv, "diff");
	strv_push(&argv, "--stat");
	strv_push(&argv, "--no-color");
	strv_push(&argv, "--no-ext-diff");
	strv_push(&argv, oid_text(&s->v->graph.node[0].id).s);
	strv_push(&argv, oid_text(&s->v->graph.node[s->idx].id).s);
	strv_push(&argv, "--");
	node_pathspecs(s->v, &argv);
	if (child_read(&argv, true, STAT_MAX, &text, &status, &err))
		warn("no diffstat: %s", err.msg);
	if (text.len) {
		head("Changed since the root");
		put_clean_lines(stdout, "", text.ptr);
	}
	buf_release(&text);
	strv_release(&argv);
}

static void print_text(const struct shown *s)
{
	print_ids(s);
	print_verdict(s);
	if (s->rec.nr_shapes)
		putchar('\n');
	shapes_print(&s->rec, stdout);
	print_where(&s->v->graph.node[s->idx], &s->rec);
	if (s->plan.len) {
		head("Plan");
		put_clean_lines(stdout, "    ", s->plan.ptr);
	}
	print_measurements(s);
	tune_show(s->all, s->nr_all);
	print_stat(s);
	if (s->idx)
		printf("\nmeasure it again: git maxkernel verify %s\n",
		       node_short(s->v, s->idx).s);
}

/* Without a name: the champion of the newest search, or its root. */
static int find(struct repo *r, const char *name, struct view *v,
		uint32_t *idx, struct err *err)
{
	int ret;

	if (name)
		return node_find(r, name, v, idx, err);
	ret = node_search(r, NULL, v, err);
	if (!ret)
		*idx = v->graph.champion;
	return ret;
}

static int show_run(struct session *s, int argc, char **argv, struct err *err)
{
	bool json = false;
	const struct opt opts[] = {
		OPT_BOOL(0, "json", &json, "print one JSON object"),
		OPT_END
	};
	struct shown shown;
	struct view v;
	uint32_t idx;
	int status;

	argc = opt_parse(&cmd_show, opts, argc, argv, &status, err);
	if (argc < 0)
		return status;
	status = opt_operands(argc, 0, 1, err);
	if (status)
		return status;
	if (find(s->repo, argc ? argv[0] : NULL, &v, &idx, err))
		return cmd_status_of(err);
	if (load(&shown, &v, idx, err)) {
		view_close(&v);
		return EXIT_FAILED;
	}
	if (json)
		print_json(&shown);
	else
		print_text(&shown);
	shown_release(&shown);
	view_close(&v);
	return EXIT_DONE;
}

const struct cmd cmd_show = {
	.name = "show",
	.group = "look",
	.summary = "show a node: plan, verdict, numbers, changes",
	.usage = usage,
	.needs = NEED_REPO | PAGED,
	.run = show_run,
};
