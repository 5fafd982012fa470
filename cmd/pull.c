/* git maxkernel pull: takes over what others found. */
#include <math.h>

#include "cmd/opt.h"
#include "cmd/out.h"
#include "cmd/sharing.h"
#include "core/mem.h"

struct came {			/* what is told of one search */
	const char *slug;
	size_t refs, nodes;	/* that are new */
	struct search *search;
	struct graph graph;	/* on the device class of the search */
	struct record best;
	bool has_best;
};

static int came_open(struct came *c, struct repo *r, struct err *err)
{
	struct strv warnings = STRV_INIT;
	int ret = store_open(r, c->slug, &c->search, err);

	graph_init(&c->graph);
	record_init(&c->best);
	if (ret)
		return ret;
	ret = store_load(c->search, c->search->spec.device, &c->graph,
			 &warnings, err);
	for (size_t i = 0; i < warnings.nr; i++)
		warn_once(warnings.v[i]);
	strv_release(&warnings);
	c->has_best = !ret && c->graph.nr && c->graph.champion;
	if (c->has_best)
		ret = store_record(c->search,
				   &c->graph.node[c->graph.champion].id,
				   c->search->spec.device, &c->best, err);
	return ret;
}

static void came_close(struct came *c)
{
	record_release(&c->best);
	graph_release(&c->graph);
	store_close(c->search);
}

static void print_json(const struct came *c)
{
	const struct spec *spec = &c->search->spec;
	struct jout j;

	jout_begin(&j);
	jout_str(&j, "kernel", spec->kernel);
	jout_str(&j, "search", spec->slug);
	jout_int(&j, "refs", (long long)c->refs);
	jout_int(&j, "new_nodes", (long long)c->nodes);
	jout_int(&j, "nodes", c->graph.nr ? c->graph.nr - 1 : 0);
	jout_str(&j, "node", c->has_best ? oid_text(
		 &c->graph.node[c->graph.champion].id).s : NULL);
	jout_record(&j, &c->best);
	jout_end(&j, stdout);
}

static void add_row(struct table *t, const struct came *c)
{
	const struct spec *spec = &c->search->spec;
	struct buf ratio = BUF_INIT, interval = BUF_INIT;

	fmt_ratio(&ratio, c->has_best ? c->best.speedup : NAN);
	fmt_interval(&interval, c->has_best ? c->best.ci_low : NAN,
		     c->has_best ? c->best.ci_high : NAN);
	table_cell(t, "%s", spec->slug);
	table_cell(t, "%s", spec->kernel);
	table_cell(t, "%zu", c->nodes);
	table_cell(t, "%s", ratio.ptr);
	table_cell(t, "%s", interval.ptr);
	table_cell(t, "%s%s", c->has_best ? oid_short(
		   &c->graph.node[c->graph.champion].id).s : "-",
		   c->has_best && c->best.claimed ? " (claimed)" : "");
	table_cell(t, "%s", spec->device);
	buf_release(&ratio);
	buf_release(&interval);
}

static int print_came(struct sharing *sh, bool json, struct err *err)
{
	static const char *const heads[] = {
		"search", "kernel", "new nodes", "best", "95 % interval",
		"node", "device class"
	};
	struct table t;
	int ret = 0;

	table_init(&t, ARRAY_SIZE(heads), 0x1c);
	for (size_t i = 0; i < ARRAY_SIZE(heads); i++)
		table_cell(&t, "%s", heads[i]);
	for (size_t i = 0; i < sh->moved.nr && !ret; i++) {
		struct came c = { .slug = sh->moved.v[i],
				  .refs = sh->refs[i], .nodes = sh->nodes[i] };

		ret = came_open(&c, sh->session->repo, err);
		if (!ret && json)
			print_json(&c);
		else if (!ret)
			add_row(&t, &c);
		came_close(&c);
	}
	if (!json && !out_quiet && sh->moved.nr)
		table_print(&t, stdout);
	else if (!json && !out_quiet)
		printf("nothing new\n");
	table_release(&t);
	return ret;
}

static int pull_run(struct session *s, int argc, char **argv, struct err *err)
{
	struct sharing sh = { .session = s, .fetches = true };
	bool json = false;
	const struct opt opts[] = {
		OPT_BOOL(0, "background", &sh.background,
			"never ask for a password or a host key"),
		OPT_BOOL(0, "json", &json,
			"print one JSON object a search with something new"),
		OPT_BOOL('v', "verbose", &sh.verbose,
			"tell what stays as it is, and why"),
		OPT_BOOL('q', "quiet", &out_quiet, "say nothing but errors"),
		OPT_END
	};
	struct share_sum sum = { 0, 0, 0, 0 };
	int status, ret;

	argc = opt_parse(&cmd_pull, opts, argc, argv, &status, err);
	if (argc < 0)
		return status;
	ret = sharing_open(&sh, s, argc, argv, err);
	if (!ret)
		ret = share_pull(s->repo, &sh.opts, &sh.searches, &sh.teller,
				 &sum, err);
	live("%s", "");
	if (!ret)
		ret = print_came(&sh, json, err);
	sharing_close(&sh);
	if (ret)
		return cmd_status_of(err);
	return sum.refused ? EXIT_NO : EXIT_DONE;
}

static const char *const usage[] = {
	"git maxkernel pull [<options>] [<remote>] [<search>...]",
	NULL
};

const struct cmd cmd_pull = {
	.name = "pull",
	.group = "share",
	.summary = "take over what others found from a remote",
	.usage = usage,
	.needs = NEED_REPO,
	.run = pull_run,
};
