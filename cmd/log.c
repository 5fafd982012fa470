/* git maxkernel log: the nodes of a search, newest first. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/claim.h"
#include "cmd/node.h"
#include "cmd/opt.h"
#include "cmd/out.h"
#include "core/mem.h"

static const char *const usage[] = {
	"git maxkernel log [-n <count>] [--oneline] [--lineage] [--losers] "
	"[--json] [<search>|<node>]",
	NULL
};

struct wish {
	bool oneline, lineage, losers, json;
	int64_t max;		/* 0: all */
};

/* A loser: tried, and no better than what it was made from. */
static bool is_loser(const struct node *n)
{
	return !n->pending && n->rec.verdict != V_CONFIRMED &&
	       n->rec.verdict != V_FASTER && n->rec.verdict != V_NONE;
}

/* Indices newest first; the caller frees. */
static uint32_t *choose(const struct view *v, uint32_t from,
			const struct wish *w, size_t *nr)
{
	const struct graph *g = &v->graph;
	uint32_t *list = xcalloc((size_t)g->nr + 1, sizeof(*list));
	uint32_t i;

	*nr = 0;
	if (w->lineage) {
		/* first parents; bounded, whatever the graph says */
		for (i = from; i != NODE_NONE && *nr < g->nr;
		     i = g->node[i].parent[0])
			if (!w->losers || (i && is_loser(&g->node[i])))
				list[(*nr)++] = i;
	} else {
		for (i = g->nr; i-- > 0;)
			if (!w->losers || (i && is_loser(&g->node[i])))
				list[(*nr)++] = i;
	}
	if (w->max && *nr > (size_t)w->max)
		*nr = (size_t)w->max;
	return list;
}

static void add_row(struct table *t, const struct view *v, uint32_t i)
{
	const struct node *n = &v->graph.node[i];
	struct buf b = BUF_INIT;

	table_cell(t, "%s", node_short(v, i).s);
	table_tint(t, COL_NODE);
	table_cell(t, "%" PRIu32, n->step);
	table_cell(t, "%s", n->op ? n->op : "");
	table_cell(t, "%s%s", node_verdict(v, i),
		   i && n->claimed ? " (claimed)" : "");
	table_tint(t, i ? verdict_colour(n->pending ? V_NONE :
					 n->rec.verdict) : COL_DIM);
	if (i)
		node_speedup(&b, n);
	table_cell(t, "%s", b.ptr);
	table_cell(t, "%s%s", i && i == v->graph.champion ? "* " : "",
		   n->subject ? n->subject : "");
	buf_release(&b);
}

static void print_oneline(const struct view *v, const uint32_t *list,
			  size_t nr)
{
	struct table t;

	table_init(&t, 6, 1u << 1 | 1u << 4);
	for (size_t i = 0; i < nr; i++)
		add_row(&t, v, list[i]);
	/* no heads: the first row is a node like the others */
	table_print_rows(&t, stdout);
	table_release(&t);
}

static void print_parents(const struct view *v, const struct node *n)
{
	for (int i = 0; i < 2; i++)
		if (n->parent[i] != NODE_NONE)
			printf(" %s", node_short(v, n->parent[i]).s);
}

static void print_long(struct view *v, uint32_t i)
{
	const struct node *n = &v->graph.node[i];
	struct buf b = BUF_INIT;

	printf("%snode %s%s%s\n", colour(COL_NODE), oid_text(&n->id).s,
	       i && i == v->graph.champion ? " (champion)" : "",
	       colour(COL_RESET));
	if (i) {
		printf("Step:    %" PRIu32 ", %s of", n->step,
		       n->op ? n->op : "?");
		print_parents(v, n);
		putchar('\n');
		node_speedup(&b, n);
		printf("Verdict: %s%s%s", colour(verdict_colour(n->pending ?
		       V_NONE : n->rec.verdict)), node_verdict(v, i),
		       colour(COL_RESET));
		if (strcmp(b.ptr, "-"))
			printf(", %s", b.ptr);
		if (n->confirmed) {
			buf_reset(&b);
			fmt_interval(&b, n->rec.ci_low, n->rec.ci_high);
			printf(" %s", b.ptr);
		}
		buf_reset(&b);
		claim_full(&b, v, i);
		printf("%s%s\n", b.len ? ", " : "", b.ptr);
	} else {
		puts("Verdict: root, the start of the search");
	}
	if (n->strategy && *n->strategy) {
		fputs("By:      ", stdout);
		put_clean(stdout, n->strategy);
		putchar('\n');
	}
	putchar('\n');
	put_clean_lines(stdout, "    ", n->subject ? n->subject : "");
	if (n->rec.error && *n->rec.error) {
		putchar('\n');
		put_clean_lines(stdout, "    ", n->rec.error);
	}
	buf_release(&b);
}

static void print_list(struct view *v, const struct wish *w,
		       const uint32_t *list, size_t nr)
{
	if (w->oneline && !w->json) {
		print_oneline(v, list, nr);
		return;
	}
	for (size_t i = 0; i < nr; i++) {
		struct jout j;

		if (w->json) {
			jout_begin(&j);
			node_json_full(&j, v, list[i]);
			jout_end(&j, stdout);
			continue;
		}
		if (i)
			putchar('\n');
		print_long(v, list[i]);
	}
}

/* A search by name; else a node, whose lineage is meant. */
static int find(struct repo *r, const char *name, struct view *v,
		uint32_t *from, struct wish *w, struct err *err)
{
	*from = NODE_NONE;
	if (name && !node_names_search(r, name)) {
		w->lineage = true;
		return node_find(r, name, v, from, err);
	}
	return node_search(r, name, v, err);
}

static int log_run(struct session *s, int argc, char **argv, struct err *err)
{
	struct wish w = { false, false, false, false, 0 };
	const struct opt opts[] = {
		OPT_INT('n', "count", &w.max, 1, INT32_MAX, "<count>",
			"show at most <count> nodes"),
		OPT_BOOL(0, "oneline", &w.oneline, "one line per node"),
		OPT_BOOL(0, "lineage", &w.lineage, "only the path from the "
			 "node (default: the champion) to the root"),
		OPT_BOOL(0, "losers", &w.losers, "only what failed or was no "
			 "faster"),
		OPT_BOOL(0, "json", &w.json, "print one JSON object per node"),
		OPT_END
	};
	struct view v;
	uint32_t from, *list;
	size_t nr;
	int status;

	argc = opt_parse(&cmd_log, opts, argc, argv, &status, err);
	if (argc < 0)
		return status;
	status = opt_operands(argc, 0, 1, err);
	if (status)
		return status;
	if (find(s->repo, argc ? argv[0] : NULL, &v, &from, &w, err))
		return cmd_status_of(err);
	if (from == NODE_NONE)
		from = v.graph.champion;
	list = choose(&v, from, &w, &nr);
	print_list(&v, &w, list, nr);
	free(list);
	view_close(&v);
	return EXIT_DONE;
}

const struct cmd cmd_log = {
	.name = "log",
	.group = "look",
	.summary = "list the nodes of a search, newest first",
	.usage = usage,
	.needs = NEED_REPO | PAGED,
	.run = log_run,
};
