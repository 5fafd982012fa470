/* git maxkernel tune: searches the numbers of one node for better ones. */
#include "cmd/tune.h"

#include <stdlib.h>
#include <string.h>

#include "agents/agents.h"
#include "cmd/elsewhere.h"
#include "cmd/opt.h"
#include "cmd/out.h"
#include "cmd/run.h"
#include "cmd/start.h"
#include "core/mem.h"

#define DEFAULT_GRID 256	/* settings that are all tried */
#define DEFAULT_ATTEMPTS 256	/* without any budget */

/* ---- opening ---- */

/* ERR_USAGE: there are several kernels that it may be about. */
static int several(const struct strv *kernels, const char *name,
		   struct err *err)
{
	struct buf list = BUF_INIT;

	if (kernels->nr < 2)
		return 0;
	for (size_t i = 0; i < kernels->nr; i++)
		buf_addf(&list, "%s%.60s", i ? ", " : "", kernels->v[i]);
	err_set(err, ERR_USAGE, "'%.100s' has %zu kernels: name one of %.600s",
		name, kernels->nr, list.ptr);
	buf_release(&list);
	return err->code;
}

/* A commit that searches start from does not say which kernel is meant. */
static int check_commit(struct tuning *g, struct session *s, const char *name,
			struct err *err)
{
	struct strv kernels = STRV_INIT;
	struct spec_list list = { NULL, 0, 0 };
	struct kernel_file section;
	struct err unused = ERR_INIT;
	const char *at = strrchr(name, '@');
	int ret;

	if ((at && !strcmp(at, "@root")) || node_names_search(s->repo, name))
		return 0;
	if (!task_kernels(s, &section, &unused))
		for (size_t i = 0; i < section.nr; i++)
			strv_push(&kernels, section.v[i].name);
	kernel_file_release(&section);
	ret = node_searches(s->repo, &list, err);
	for (size_t i = 0; i < list.nr; i++)
		if (oid_eq(&list.v[i].root, &g->node) &&
		    !strv_has(&kernels, list.v[i].kernel))
			strv_push(&kernels, list.v[i].kernel);
	spec_list_release(&list);
	if (!ret)
		ret = several(&kernels, name, err);
	strv_release(&kernels);
	return ret;
}

/* A node of a search; ERR_NOTFOUND: a commit that is in none. */
static int find_node(struct tuning *g, struct session *s, const char *name,
		     struct err *err)
{
	uint32_t idx;
	int ret = node_find(s->repo, name, &g->view, &idx, err);

	if (ret)
		return ret;
	g->node = g->view.graph.node[idx].id;
	ret = store_open(s->repo, g->view.search->spec.slug, &g->search, err);
	view_close(&g->view);
	if (!ret && idx == 0)
		ret = check_commit(g, s, name, err);
	return ret;
}

static int open_search(struct tuning *g, struct session *s, struct err *err)
{
	struct oid_hex root = oid_text(&g->search->spec.root);
	int ret = run_spec_kernel(&g->search->spec, &g->section, err);

	if (ret)
		return ret;
	ret = task_open(&g->task, s, &g->section.v[0], root.s, false, err);
	g->task.base = g->search->spec.base;
	return ret;
}

/* What is in no search yet: a kernel as HEAD has it, or a commit where there is
 * one kernel only. */
static int open_commit(struct tuning *g, struct session *s, const char *name,
		       struct err *err)
{
	const struct kernel *k = NULL;
	const char *rev = name, *at = strrchr(name, '@');
	struct strv kernels = STRV_INIT;
	char *kernel = at && !strcmp(at, "@root") ?
		xstrndup(name, (size_t)(at - name)) : xstrdup(name);
	struct oid commit;
	int ret = task_kernels(s, &g->section, err);

	if (!ret)
		k = kernel_find(&g->section, kernel);
	free(kernel);
	if (ret)
		return ret;
	if (k)
		rev = "HEAD";
	ret = repo_rev(s->repo, rev, &commit, err);
	if (ret && !k)
		return err_set(err, ERR_NOTFOUND, "there is no node, revision "
			       "or kernel '%.100s'", name);
	for (size_t i = 0; !k && i < g->section.nr; i++)
		strv_push(&kernels, g->section.v[i].name);
	if (!ret)
		ret = several(&kernels, name, err);
	strv_release(&kernels);
	if (!k && g->section.nr)
		k = &g->section.v[0];
	if (!ret)
		ret = task_open(&g->task, s, k, oid_text(&commit).s, false,
				err);
	if (!ret)
		g->node = g->task.root;
	return ret;
}

static int new_search(struct tuning *g, struct session *s, struct err *err)
{
	struct start_opts so = START_OPTS_INIT;
	struct start start;
	bool fresh = false;
	int ret = start_open(&start, s->repo, false, err);

	if (!ret)
		ret = start_search(&start, &g->task,
				   g->task.judge[0]->info.device, &so,
				   &g->search, &fresh, err);
	if (!ret && fresh)
		say("%s: search %s, policy %s", g->task.kernel->name,
		    g->search->spec.slug, g->search->spec.policy);
	start_release(&start);
	return ret;
}

/* The file that the template stands for, one that a node may change. */
static int choose_file(struct tuning *g, const struct srcset *source,
		       struct err *err)
{
	const struct kernel *k = g->task.kernel;
	const char *want = g->o->file ? g->o->file : k->file.v[0];

	for (size_t i = 0; i < source->nr && !g->file; i++)
		if (source->v[i].writable &&
		    (g->o->file ? !strcmp(want, source->v[i].path) :
		     glob_match(want, source->v[i].path)))
			g->file = xstrdup(source->v[i].path);
	for (size_t i = 0; i < k->file.nr && !g->file && g->o->file; i++)
		if (glob_match(k->file.v[i], want) && path_is_safe(want))
			g->file = xstrdup(want);
	if (!g->file && !g->o->file && path_is_safe(want) &&
	    !strpbrk(want, "*?[\\"))
		g->file = xstrdup(want);
	if (!g->file)
		return err_set(err, ERR_USAGE, "'%.200s' is no file that "
			       "kernel '%s' may change", want, k->name);
	return 0;
}

static int read_template(struct tuning *g, const struct srcset *source,
			 struct err *err)
{
	const struct tune_opts *o = g->o;
	struct buf space = BUF_INIT;
	int ret = buf_read_file(&g->text, o->template, TEMPLATE_MAX_TEXT, err);

	if (!ret && o->space)
		ret = buf_read_file(&space, o->space, TEMPLATE_MAX_SPACE, err);
	if (!ret)
		ret = tune_space_read(&g->space, o->space,
				      o->space ? space.ptr : NULL, space.len,
				      &o->want, err);
	if (!ret)
		ret = template_parse(&g->template, o->template, g->text.ptr,
				     g->text.len, &g->space.sel, err);
	if (!ret)
		ret = choose_file(g, source, err);
	buf_release(&space);
	return ret;
}

/* What is tuned, from the node as the graph has it. */
static int make_space(struct tuning *g, struct err *err)
{
	const struct graph *gr = &g->run.graph;
	const struct node *n = &gr->node[g->tune.node];
	struct srcset source = SRCSET_INIT;
	uint32_t from = g->o->template ? g->tune.node : n->origin;
	int ret = 0;

	if (from == 0)
		srcset_copy(&source, &g->task.source);
	else
		ret = store_source(g->search->repo, &gr->node[from].id,
				   g->task.kernel, false, &source, err);
	if (!ret && g->o->template) {
		ret = read_template(g, &source, err);
		g->tune.template = &g->template;
		g->tune.template_name = g->o->template;
		g->tune.file = g->file;
	} else if (!ret) {
		g->tune.by = start_applier(&g->search->spec);
		ret = !g->tune.by ? err_set(err, ERR_FORMAT, "search %s wants "
			"the proposer '%s', which this version does not have",
			g->search->spec.slug, g->search->spec.proposer) :
			tune_space_make(&g->space, g->tune.by, g->task.kernel,
					&source, n->recipe ? n->recipe : "",
					&g->o->want, err);
	}
	srcset_release(&source);
	return ret;
}

/* Is there a setting to try?  Before a search is begun for it. */
static int check_space(struct tuning *g, struct err *err)
{
	const struct start_opts so = START_OPTS_INIT;
	struct tuner *q = NULL;
	int ret;

	if (g->o->template)
		ret = read_template(g, &g->task.source, err);
	else
		ret = tune_space_make(&g->space, proposer_find(so.proposer),
				      g->task.kernel, &g->task.source, "",
				      &g->o->want, err);
	if (!ret) {
		struct tuner_opts o = {
			.space = &g->space.sel, .require = g->space.require,
			.nr_require = g->space.nr_require,
			.grid = g->o->grid, .trials = g->o->attempts,
		};

		ret = tuner_open(&q, &o, err);
		tuner_close(q);
	}
	/* It is made anew of the search's own sources. */
	tune_space_release(&g->space);
	template_release(&g->template);
	buf_release(&g->text);
	free(g->file);
	g->file = NULL;
	return ret;
}

/* ---- running ---- */

static int publish(struct tuning *g, struct err *err)
{
	struct publication p = {
		.search = g->search, .graph = &g->run.graph,
		.policy = g->run.policy, .proposer = g->run.proposer,
		.kernel = g->task.kernel,
		.device = g->device,
	};
	struct strv warnings = STRV_INIT;
	int ret = search_publish(&p, &warnings, err);

	for (size_t i = 0; i < warnings.nr; i++)
		warn("%s", warnings.v[i]);
	strv_release(&warnings);
	return ret;
}

static void fill_run(struct tuning *g)
{
	struct budget budget = { .time_s = g->o->time_s,
				 .device_s = g->o->device_s };
	const struct spec *spec = &g->search->spec;

	purse_init(&g->purse, &budget);
	g->run = (struct search_run){
		.search = g->search, .kernel = g->task.kernel,
		.root = &g->task.source, .aux = &g->task.aux,
		.policy = policy_find(spec->policy),
		.proposer = start_applier(spec),
		.judge = g->task.judge, .jobs = g->task.jobs,
		.config = g->task.config, .purse = &g->purse,
		.stop = &task_stop, .stop_fd = task_stop_fd,
		.event = tuning_event, .tick = tuning_tick, .ctx = g,
	};
	g->tune = (struct tune){
		.run = &g->run, .space = &g->space,
		.seed = (uint64_t)g->o->seed, .grid = g->o->grid,
		.attempts = g->o->attempts, .until = g->o->until,
		.told = tuning_trial, .ctx = g, .made = NODE_NONE,
	};
	graph_init(&g->run.graph);
}

static int tune_node(struct tuning *g, struct err *err)
{
	int ret = store_claim(g->search, err);

	if (ret)
		return ret;
	fill_run(g);
	if (!g->run.policy || !g->run.proposer)
		return err_set(err, ERR_FORMAT, "search %s wants the policy "
			       "'%s' and the proposer '%s', which this version "
			       "does not have", g->search->spec.slug,
			       g->search->spec.policy,
			       g->search->spec.proposer);
	ret = elsewhere_measure(&g->task, g->search, err);
	if (ret)
		return ret;
	running_begin(&g->running, g->search, &g->purse);
	running_tunes(g->running);
	g->begun = true;
	ret = search_begin(&g->run, err);
	if (!ret) {
		g->tune.node = graph_find(&g->run.graph, &g->node);
		if (g->tune.node == NODE_NONE && oid_eq(&g->node, &g->task.root))
			g->tune.node = 0;
		if (g->tune.node == NODE_NONE)
			ret = err_set(err, ERR_NOTFOUND, "search %s has no node "
				      "%s", g->search->spec.slug,
				      oid_short(&g->node).s);
	}
	if (!ret)
		ret = make_space(g, err);
	if (!ret && (task_stop || g->run.halt))
		g->tune.end = TUNE_STOPPED;
	else if (!ret)
		ret = tune_run(&g->tune, err);
	live("%s", "");
	return ret;
}

/* 1: the winner is better than the node; 0: none is. */
static int tune_one(struct tuning *g, struct session *s, const char *name,
		    struct err *err)
{
	struct err why = ERR_INIT;
	int ret = find_node(g, s, name, &why);

	if (!ret)
		ret = open_search(g, s, err);
	else if (ret == ERR_NOTFOUND && !strstr(name, "@best"))
		ret = open_commit(g, s, name, err);
	else
		*err = why;
	if (!ret && !g->search)
		ret = check_space(g, err);
	if (!ret)
		ret = task_judge(&g->task, (int)g->o->jobs, err);
	if (!ret) {
		task_print_root(&g->task);
		g->device = xstrdup(g->task.judge[0]->info.device);
		if (!g->search)
			ret = new_search(g, s, err);
	}
	if (!ret)
		ret = tune_node(g, err);
	if (!ret)
		ret = publish(g, err);
	if (!ret)
		ret = tuning_print(g, err);
	return ret ? ret : tuning_is_better(g);
}

static void close_all(struct tuning *g)
{
	struct err unused = ERR_INIT;

	if (g->begun)		/* nothing of the search is brought to its end */
		search_end(&g->run, ERR_STOPPED, &unused);
	running_end(g->running);
	tune_release(&g->tune);
	tune_space_release(&g->space);
	template_release(&g->template);
	buf_release(&g->text);
	free(g->file);
	free(g->device);
	if (g->search)
		search_release(&g->run);
	store_close(g->search);
	task_close(&g->task);
	kernel_file_release(&g->section);
}

/* ---- the command ---- */

static int check_options(struct tune_opts *o, struct err *err)
{
	if (o->template && (o->want.all || o->only.nr))
		return err_set(err, ERR_USAGE, "--template excludes --all and "
			       "--only: all its names are tuned");
	if (!o->template && (o->space || o->file))
		return err_set(err, ERR_USAGE, "--space and --file belong to a "
			       "--template");
	if (o->want.all && o->only.nr)
		return err_set(err, ERR_USAGE, "--all and --only exclude each "
			       "other");
	if (o->time_s >= 0 && !(o->time_s >= 1))
		return err_set(err, ERR_USAGE, "--time takes a second or more");
	if (o->device_s >= 0 && !(o->device_s > 0))
		return err_set(err, ERR_USAGE, "--device-time takes a time over "
			       "0");
	if (o->until < 0 || (o->until > 0 && !(o->until > 1)))
		return err_set(err, ERR_USAGE, "--until takes a speedup over 1");
	return 0;
}

static void fill_options(struct tune_opts *o)
{
	if (!o->attempts && o->time_s < 0 && o->device_s < 0)
		o->attempts = DEFAULT_ATTEMPTS;
	/* What fits the budget is tried whole. */
	if (o->attempts > o->grid)
		o->grid = o->attempts;
	o->time_s = o->time_s < 0 ? 0 : o->time_s;
	o->device_s = o->device_s < 0 ? 0 : o->device_s;
	o->want.only = &o->only;
	o->want.values = &o->values;
	o->want.require = &o->require;
}

/* "A,B" and "C" become three names. */
static void split_only(const struct strv *given, struct strv *out)
{
	for (size_t i = 0; i < given->nr; i++)
		for (const char *p = given->v[i];; p++) {
			size_t len = strcspn(p, ",");
			char *name = xstrndup(p, len);

			if (len && !strv_has(out, name))
				strv_push(out, name);
			free(name);
			p += len;
			if (!*p)
				break;
		}
}

static int run_tune(struct session *s, struct tune_opts *o, const char *name,
		    struct err *err)
{
	struct tuning *g = xcalloc(1, sizeof(*g));
	bool stopped;
	int ret;

	g->o = o;
	buf_init(&g->text);
	g->template = (struct template)TEMPLATE_INIT;
	task_signals();
	ret = tune_one(g, s, name, err);
	stopped = task_stop || (ret >= 0 && g->tune.end == TUNE_STOPPED);
	close_all(g);
	free(g);
	if (stopped)
		return EXIT_INTERRUPTED;
	return ret < 0 ? cmd_status_of(err) : ret ? EXIT_DONE : EXIT_NO;
}

static int tune_cmd(struct session *s, int argc, char **argv,
		    struct err *err)
{
	struct tune_opts o = { .time_s = -1, .device_s = -1, .jobs = 1, .seed = 1,
			       .grid = DEFAULT_GRID };
	struct strv only = STRV_INIT;
	const struct opt opts[] = {
		OPT_LIST(0, "only", &only, "<name>,...",
			"tune these numbers and choices alone"),
		OPT_BOOL(0, "all", &o.want.all,
			"tune every choice that the proposer has"),
		OPT_LIST(0, "values", &o.values, "<name>=<value>,...",
			"the values of a number"),
		OPT_LIST(0, "require", &o.require, "<expression>",
			"try only settings for which it holds"),
		OPT_STR(0, "template", &o.template, "<file>",
			"fill in the places @NAME@ of this source text"),
		OPT_STR(0, "space", &o.space, "<file>",
			"with values from lines NAME = value value ..."),
		OPT_STR(0, "file", &o.file, "<path>",
			"the kernel's file that it becomes (the first)"),
		OPT_INT(0, "grid", &o.grid, 1, TUNER_MAX_TRIALS, "<n>",
			"try all settings if there are at most <n> (256)"),
		OPT_INT(0, "attempts", &o.attempts, 1, TUNER_MAX_TRIALS, "<n>",
			"try at most <n> settings (256 if no budget is given)"),
		OPT_TIME(0, "time", &o.time_s, "<time>",
			"begin no trial after this time: 90, 5m, 2h"),
		OPT_TIME(0, "device-time", &o.device_s, "<time>",
			"begin no trial when the judges took so long"),
		OPT_DOUBLE(0, "until", &o.until, "<speedup>",
			"over the root: enough, the rest is not tried"),
		OPT_INT(0, "seed", &o.seed, 0, INT64_MAX, "<n>",
			"of all choices (1)"),
		OPT_INT('j', "jobs", &o.jobs, 1, 64, "<n>",
			"trials in flight (1)"),
		OPT_BOOL(0, "json", &o.json, "print one JSON object"),
		OPT_BOOL('v', "verbose", &o.verbose,
			"tell of every trial on a terminal too"),
		OPT_BOOL('q', "quiet", &out_quiet, "no progress"),
		OPT_END
	};
	int status;

	argc = opt_parse(&cmd_tune, opts, argc, argv, &status, err);
	if (argc >= 0) {
		status = opt_operands(argc, 1, 1, err);
		split_only(&only, &o.only);
		if (!status && check_options(&o, err))
			status = EXIT_USAGE;
	}
	if (argc >= 0 && !status) {
		fill_options(&o);
		status = run_tune(s, &o, argv[0], err);
	}
	strv_release(&only);
	strv_release(&o.only);
	strv_release(&o.values);
	strv_release(&o.require);
	return status;
}

static const char *const usage[] = {
	"git maxkernel tune [<options>] <node>",
	NULL
};

const struct cmd cmd_tune = {
	.name = "tune",
	.group = "one stage at a time",
	.summary = "search the numbers of a node for better ones",
	.usage = usage,
	.needs = NEED_REPO,
	.run = tune_cmd,
};
