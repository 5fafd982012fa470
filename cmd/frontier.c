/* git maxkernel frontier: the nodes that the policy would expand next. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/node.h"
#include "cmd/opt.h"
#include "cmd/out.h"

static const char *const usage[] = {
	"git maxkernel frontier [-n <count>] [--json] [<kernel>|<search>]",
	NULL
};

static void print_json(struct view *v, const uint32_t *list, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		struct jout j;

		jout_begin(&j);
		jout_int(&j, "rank", (long long)i + 1);
		node_json_full(&j, v, list[i]);
		jout_end(&j, stdout);
	}
}

static void print_text(const struct view *v, const uint32_t *list, size_t nr)
{
	static const char *const heads[] = {
		"rank", "node", "step", "depth", "verdict", "speedup",
		"subject"
	};
	struct buf b = BUF_INIT;
	struct table t;

	table_init(&t, 7, 1u << 0 | 1u << 2 | 1u << 3 | 1u << 5);
	for (size_t i = 0; i < 7; i++)
		table_cell(&t, "%s", heads[i]);
	for (size_t i = 0; i < nr; i++) {
		const struct node *n = &v->graph.node[list[i]];

		table_cell(&t, "%zu", i + 1);
		table_cell(&t, "%s", node_short(v, list[i]).s);
		table_tint(&t, COL_NODE);
		table_cell(&t, "%" PRIu32, n->step);
		table_cell(&t, "%" PRIu32, n->depth);
		table_cell(&t, "%s", node_verdict(v, list[i]));
		table_tint(&t, list[i] ? verdict_colour(n->rec.verdict) :
			   COL_DIM);
		buf_reset(&b);
		if (list[i])
			node_speedup(&b, n);
		else
			buf_addstr(&b, "1.00x");
		table_cell(&t, "%s", b.ptr);
		table_cell(&t, "%s", n->subject ? n->subject : "");
	}
	table_print(&t, stdout);
	table_release(&t);
	buf_release(&b);
}

static int frontier_run(struct session *s, int argc, char **argv,
			struct err *err)
{
	bool json = false, exhausted;
	int64_t max = 20;
	const struct opt opts[] = {
		OPT_INT('n', "count", &max, 1, INT32_MAX, "<count>",
			"list at most <count> nodes (20)"),
		OPT_BOOL(0, "json", &json, "print one JSON object per node"),
		OPT_END
	};
	struct view v;
	uint32_t *list = NULL;
	char *why = NULL;
	size_t nr;
	int status;

	argc = opt_parse(&cmd_frontier, opts, argc, argv, &status, err);
	if (argc < 0)
		return status;
	status = opt_operands(argc, 0, 1, err);
	if (status)
		return status;
	if (node_search(s->repo, argc ? argv[0] : NULL, &v, err))
		return cmd_status_of(err);
	if (store_finished(v.search, &why, err)) {
		view_close(&v);
		return cmd_status_of(err);
	}
	exhausted = why && !strcmp(why, "exhausted");
	free(why);
	nr = exhausted ? 0 : node_frontier(&v, (size_t)max, &list);
	if (exhausted)
		say("search %s is exhausted: it would expand nothing",
		    v.search->spec.slug);
	if (json)
		print_json(&v, list, nr);
	else
		print_text(&v, list, nr);
	free(list);
	view_close(&v);
	return nr ? EXIT_DONE : EXIT_NO;
}

const struct cmd cmd_frontier = {
	.name = "frontier",
	.group = "look",
	.summary = "list the nodes that the search would expand next",
	.usage = usage,
	.needs = NEED_REPO | PAGED,
	.run = frontier_run,
};
