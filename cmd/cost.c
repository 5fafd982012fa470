/* git maxkernel cost: what searches have spent. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cost_sum.h"
#include "cmd/opt.h"
#include "cmd/task.h"

static const char *const usage[] = {
	"git maxkernel cost [--by <what>] [--json] [<kernel>|<search>]",
	NULL
};

/* ---- JSON ---- */

static void row_json(const struct cost *c, const struct cost_row *r)
{
	bool total = r == &c->total;
	struct jout j;

	jout_begin(&j);
	jout_str(&j, "by", total ? "total" : cost_by_name(c->by));
	if (r->search) {
		jout_str(&j, "kernel", r->kernel);
		jout_str(&j, "search", r->search);
	}
	if (!total && c->by == COST_AGENT)
		jout_str(&j, "agent", r->key);
	if (!total && c->by == COST_MODEL)
		jout_str(&j, "model", r->key);
	if (!total && c->by == COST_NODE) {
		jout_int(&j, "step", r->step);
		jout_str(&j, "node", *r->node ? oid_text(&r->id).s : NULL);
		jout_str(&j, "subject", r->subject);
	}
	if (total || c->by == COST_SEARCH || c->by == COST_NODE) {
		jout_int(&j, "attempts", r->attempts);
		jout_num(&j, "attempt_s", r->attempt_s);
		jout_num(&j, "device_s", r->device_s);
	}
	jout_int(&j, "calls", r->calls);
	jout_int(&j, "tokens_in", r->used.tokens_in);
	jout_int(&j, "tokens_cached", r->used.tokens_cached);
	jout_int(&j, "tokens_out", r->used.tokens_out);
	jout_int(&j, "tokens_reasoning", r->used.tokens_reasoning);
	jout_int(&j, "tokens", usage_tokens(&r->used));
	jout_num(&j, "model_s", r->used.seconds);
	jout_num(&j, "cost", r->used.cost);
	jout_int(&j, "unpriced_calls", r->unpriced);
	jout_int(&j, "claimed_calls", r->claimed);
	jout_num(&j, "claimed_cost", r->claimed_cost);
	jout_int(&j, "unsettled_calls", r->unsettled);
	jout_end(&j, stdout);
}

/* ---- for people ---- */

static void add_count(struct buf *b, const char *before, int64_t nr,
		      const char *after)
{
	if (nr)
		buf_addf(b, "%s%" PRId64 " call%s %s", before, nr,
			 nr == 1 ? "" : "s", after);
}

/* "$1.20 + 3 calls of unknown price, 2 calls claimed" */
static void cost_cell(struct table *t, const struct cost_row *r)
{
	struct buf b = BUF_INIT;
	double cost = r->used.cost;

	if (!r->calls)
		buf_addch(&b, '-');
	else
		buf_addf(&b, "$%.*f", cost > 0 && cost < 0.995 ? 4 : 2, cost);
	add_count(&b, " + ", r->unpriced, "of unknown price");
	add_count(&b, ", ", r->claimed, "claimed");
	add_count(&b, ", ", r->unsettled, "in the journal alone");
	table_cell(t, "%s", b.ptr);
	buf_release(&b);
}

static void seconds_cell(struct table *t, double s)
{
	struct buf b = BUF_INIT;

	if (s > 0)
		fmt_seconds(&b, s);
	else
		buf_addch(&b, '-');
	table_cell(t, "%s", b.ptr);
	buf_release(&b);
}

static void tokens_cells(struct table *t, const struct cost_row *r)
{
	table_cell(t, "%" PRId64, r->calls);
	table_cell(t, "%" PRId64, r->used.tokens_in);
	table_cell(t, "%" PRId64, r->used.tokens_cached);
	table_cell(t, "%" PRId64, r->used.tokens_out);
	table_cell(t, "%" PRId64, r->used.tokens_reasoning);
}

/* Of a list of nodes: are they of more than one search? */
static bool of_several(const struct cost *c)
{
	for (size_t i = 1; i < c->nr; i++)
		if (strcmp(c->v[i].search, c->v[0].search) != 0)
			return true;
	return false;
}

static void heads(struct table *t, enum cost_by by, bool several)
{
	static const char *const searches[] = {
		"search", "attempts", "time", "device", "calls", "in",
		"cached", "out", "reasoning", "cost", NULL
	};
	static const char *const nodes[] = {
		"search", "step", "node", "time", "device", "calls", "tokens", "cost",
		"subject", NULL
	};
	static const char *const others[] = {
		NULL, "calls", "in", "cached", "out", "reasoning", "wait",
		"cost", NULL
	};
	const char *const *h = by == COST_SEARCH ? searches :
		by == COST_NODE ? nodes + !several : others;

	if (by == COST_SEARCH)
		table_init(t, 10, 0x1fe);
	else if (by == COST_NODE)
		table_init(t, 8 + several, 0x3du << several);
	else
		table_init(t, 8, 0x7e);
	table_cell(t, "%s", *h ? *h : cost_by_name(by));
	for (h++; *h; h++)
		table_cell(t, "%s", *h);
}

static void add_node(struct table *t, const struct cost_row *r, bool total,
		     bool several)
{
	if (several)
		table_cell(t, "%s", total ? "total" : r->search);
	if (!total)
		table_cell(t, "%" PRIu32, r->step);
	else
		table_cell(t, "%s", several ? "" : "total");
	table_cell(t, "%s", *r->node ? r->node : total ? "" : "-");
	table_tint(t, COL_NODE);
	seconds_cell(t, r->attempt_s);
	seconds_cell(t, r->device_s);
	table_cell(t, "%" PRId64, r->calls);
	table_cell(t, "%" PRId64, usage_tokens(&r->used));
	cost_cell(t, r);
	table_cell(t, "%s", r->subject ? r->subject : "");
}

static void add_row(struct table *t, const struct cost *c,
		    const struct cost_row *r, bool several)
{
	bool total = r == &c->total;

	if (c->by == COST_NODE) {
		add_node(t, r, total, several);
		return;
	}
	table_cell(t, "%s%s", total ? "total" : r->key,
		   r->search && !r->kernel ? " (pruned)" : "");
	if (c->by == COST_SEARCH) {
		table_tint(t, total ? COL_RESET : COL_NODE);
		table_cell(t, "%" PRId64, r->attempts);
		seconds_cell(t, r->attempt_s);
		seconds_cell(t, r->device_s);
	}
	tokens_cells(t, r);
	if (c->by != COST_SEARCH)
		seconds_cell(t, r->used.seconds);
	cost_cell(t, r);
}

/* Most expensive first; nodes by search and step. */
static int by_cost(const void *a, const void *b)
{
	const struct cost_row *x = a, *y = b;

	if (x->used.cost > y->used.cost || x->used.cost < y->used.cost)
		return x->used.cost > y->used.cost ? -1 : 1;
	return strcmp(x->key, y->key);
}

static int by_step(const void *a, const void *b)
{
	const struct cost_row *x = a, *y = b;
	int c = strcmp(x->search, y->search);

	if (!c && x->step != y->step)
		c = x->step < y->step ? -1 : 1;
	return c ? c : strcmp(x->key, y->key);
}

static void print_cost(struct cost *c, bool json)
{
	bool several = c->by == COST_NODE && of_several(c);
	struct table t;

	if (c->by != COST_SEARCH && c->nr > 1)
		qsort(c->v, c->nr, sizeof(*c->v),
		      c->by == COST_NODE ? by_step : by_cost);
	if (json) {
		for (size_t i = 0; i < c->nr; i++)
			row_json(c, &c->v[i]);
		row_json(c, &c->total);
		return;
	}
	heads(&t, c->by, several);
	for (size_t i = 0; i < c->nr; i++)
		add_row(&t, c, &c->v[i], several);
	add_row(&t, c, &c->total, several);
	table_print(&t, stdout);
	table_release(&t);
}

/* ---- which searches ---- */

static int add_search(struct cost *c, struct repo *r, const char *slug,
		      struct err *err)
{
	struct view v;
	int ret = view_open(&v, r, slug, err);

	if (ret)
		return ret;
	cost_add(c, &v);
	view_close(&v);
	return 0;
}

/* All, those that were pruned too, or those of a kernel; or one. */
static int add_named(struct cost *c, struct repo *r, const char *name,
		     struct err *err)
{
	struct spec_list list = { NULL, 0, 0 };
	struct strv pruned = STRV_INIT;
	size_t nr = 0;
	char *slug = NULL;
	int ret = node_searches(r, &list, err);

	if (!ret)
		journal_orphans(r, &pruned);
	for (size_t i = 0; i < pruned.nr; i++) {
		if (name && strcmp(pruned.v[i], name) != 0)
			continue;
		cost_add_pruned(c, r, pruned.v[i]);
		nr++;
	}
	for (size_t i = 0; !ret && i < list.nr; i++) {
		if (name && strcmp(list.v[i].kernel, name) != 0)
			continue;
		ret = add_search(c, r, list.v[i].slug, err);
		nr++;
	}
	if (!ret && !nr && name)
		ret = node_slug(r, name, &slug, err);
	if (!ret && slug)
		ret = add_search(c, r, slug, err);
	free(slug);
	strv_release(&pruned);
	spec_list_release(&list);
	return ret;
}

static int cost_run(struct session *s, int argc, char **argv, struct err *err)
{
	const char *by = "search";
	bool json = false;
	const struct opt opts[] = {
		OPT_STR(0, "by", &by, "<what>", "a row for each search, "
			"agent, model or node (default: search)"),
		OPT_BOOL(0, "json", &json, "print one JSON object a row, the "
			 "total last"),
		OPT_END
	};
	struct cost c;
	int status, what;
	bool nothing;

	argc = opt_parse(&cmd_cost, opts, argc, argv, &status, err);
	if (argc < 0)
		return status;
	status = opt_operands(argc, 0, 1, err);
	if (status)
		return status;
	what = cost_by_parse(by);
	if (what < 0) {
		err_set(err, ERR_USAGE, "--by is search, agent, model or "
			"node, not '%s'", by);
		return EXIT_USAGE;
	}
	cost_init(&c, (enum cost_by)what);
	if (add_named(&c, s->repo, argc ? argv[0] : NULL, err) &&
	    !(argc && err->code == ERR_NOTFOUND &&
	      task_is_kernel(s, argv[0]))) {
		cost_release(&c);
		return cmd_status_of(err);
	}
	*err = (struct err)ERR_INIT;
	nothing = cost_is_empty(&c);
	if (nothing)
		say("nothing was spent %s yet", argc ? "there" : "here");
	else
		print_cost(&c, json);
	cost_release(&c);
	return nothing ? EXIT_NO : EXIT_DONE;
}

const struct cmd cmd_cost = {
	.name = "cost",
	.group = "look",
	.summary = "show what searches have spent",
	.usage = usage,
	.needs = NEED_REPO | PAGED,
	.run = cost_run,
};
