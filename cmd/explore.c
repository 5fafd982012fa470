/* git maxkernel explore: searches kernels for faster versions. */
#include <stdlib.h>
#include <string.h>

#include "agents/agents.h"
#include "cmd/opt.h"
#include "cmd/out.h"
#include "cmd/run.h"
#include "core/mem.h"

#define DEFAULT_TIME_S 60.0

struct explore_opts {
	struct run_opts run;
	const char *policy, *proposer, *from, *push;
	int64_t width, branches, depth, seed;
	double keep;
	bool worktree;
};

static void fill_spec(struct spec *spec, const struct task *t,
		      const struct explore_opts *o)
{
	bool beam = !strcmp(o->policy, "beam");

	memset(spec, 0, sizeof(*spec));
	spec->kernel = xstrdup(t->kernel->name);
	spec->section = xstrdup(t->kernel->text.ptr);
	spec->policy = xstrdup(o->policy);
	spec->proposer = xstrdup(o->proposer);
	spec->device = xstrdup(t->judge[0]->info.device);
	spec->width = (int)o->width;
	spec->branches = (int)o->branches;
	spec->depth = (int)o->depth;
	spec->keep = o->keep;
	spec->round = beam ? (int)(o->width * o->branches) : (int)o->branches;
	spec->seed = (uint64_t)o->seed;
	spec->base = t->base;
	spec->root = t->root;
	spec->attempts = o->run.attempts;
	spec->time_s = o->run.time_s;
}

/* Another root commit with the same sources is the same root; those of
 * reference, baseline and rivals count too. */
static bool same_search(struct task *t, const struct spec *a,
			const struct spec *want)
{
	struct spec with = *a;
	struct srcset source = SRCSET_INIT;
	struct oid there, here;
	struct err unused = ERR_INIT;
	bool same;

	with.root = want->root;
	if (!spec_same(&with, want))
		return false;
	if (oid_eq(&a->root, &want->root))
		return true;
	if (store_source(t->session->repo, &a->root, t->kernel, true, &source,
			 &unused)) {
		srcset_release(&source);
		return false;
	}
	srcset_state(&source, &there);
	srcset_state(&t->aux, &here);
	same = oid_eq(&there, &here);
	srcset_release(&source);
	return same;
}

/* Recipes of the best nodes of a search, best first, one a line. */
static void best_recipes(struct search *from, const struct task *t, size_t max,
			 struct buf *out)
{
	struct strv warnings = STRV_INIT;
	struct err unused = ERR_INIT;
	struct graph g;
	size_t nr = 0, kept = 0;
	uint32_t *rank;

	graph_init(&g);
	if (!store_load(from, t->judge[0]->info.device, &g, &warnings,
			&unused) && g.champion) {
		rank = xcalloc(g.nr, sizeof(*rank));
		rank[nr++] = g.champion;
		for (uint32_t i = 1; i < g.nr; i++)
			if (i != g.champion && policy_usable(&g, i) &&
			    g.node[i].score > 0)
				rank[nr++] = i;
		policy_rank(&g, rank + 1, nr - 1);
		for (size_t i = 0; i < nr && kept < max; i++) {
			const char *recipe = g.node[rank[i]].recipe;

			if (!recipe || !*recipe)
				continue;
			buf_addf(out, "%s\n", recipe);
			kept++;
		}
		free(rank);
	}
	graph_release(&g);
	strv_release(&warnings);
}

/* What an earlier search of this kernel found is tried first. */
static char *seeds_for(const struct task *t, const struct spec_list *list,
		       int64_t max)
{
	struct buf seeds = BUF_INIT;

	for (size_t i = 0; i < list->nr && !seeds.len; i++) {
		struct err unused = ERR_INIT;
		struct search *from;

		if (strcmp(list->v[i].kernel, t->kernel->name) != 0 ||
		    store_open(t->session->repo, list->v[i].slug, &from,
			       &unused))
			continue;
		best_recipes(from, t, (size_t)max, &seeds);
		store_close(from);
	}
	return buf_detach(&seeds);
}

/* The newest search with an equal spec that can go on, else the newest equal
 * one, else a new one. */
static int find_search(struct task *t, const struct explore_opts *o,
		       struct search **out, struct err *err)
{
	struct spec_list list = { NULL, 0, 0 };
	struct strv warnings = STRV_INIT;
	struct spec want;
	char *equal = NULL;
	int ret = store_list(t->session->repo, &list, &warnings, err);

	*out = NULL;
	for (size_t i = 0; i < warnings.nr; i++)
		warn("%s", warnings.v[i]);
	fill_spec(&want, t, o);
	for (size_t i = 0; i < list.nr && !ret && !*out; i++) {
		char *why = NULL;

		if (!same_search(t, &list.v[i], &want))
			continue;
		ret = store_open(t->session->repo, list.v[i].slug, out, err);
		if (!ret)
			ret = store_finished(*out, &why, err);
		if (why && !equal)
			equal = xstrdup(list.v[i].slug);
		if (why || ret) {
			store_close(*out);
			*out = NULL;
		}
		free(why);
	}
	if (!ret && !*out && equal)
		ret = store_open(t->session->repo, equal, out, err);
	else if (!ret && *out)
		say("%s: going on with search %s", t->kernel->name,
		    (*out)->spec.slug);
	else if (!ret) {
		want.seeds = seeds_for(t, &list, o->branches);
		ret = store_create(t->session->repo, &want, out, err);
	}
	free(equal);
	spec_release(&want);
	strv_release(&warnings);
	spec_list_release(&list);
	return ret;
}

static int explore_one(struct session *s, const struct kernel *k,
		       const struct explore_opts *o, struct run_result *out,
		       struct err *err)
{
	struct search *search = NULL;
	struct task t;
	int ret = task_open(&t, s, k, o->from, o->worktree, err);

	if (!ret)
		ret = task_judge(&t, (int)o->run.jobs, err);
	if (!ret) {
		task_print_root(&t);
		ret = find_search(&t, o, &search, err);
	}
	if (!ret) {
		say("%s: search %s, policy %s", k->name, search->spec.slug,
		    search->spec.policy);
		ret = run_search(&t, search, &o->run, out, err);
	}
	store_close(search);
	task_close(&t);
	return ret;
}

struct results {		/* of the kernels, as they come */
	struct run_result *v;
	size_t done, nr;
	bool json, last, printed;
};

static void print_results(struct results *r)
{
	if (!r->printed)
		run_print(r->v, r->done, r->json);
	fflush(stdout);
	r->printed = true;
}

/* The one that was being made is v[done]. */
static void on_ready(void *ctx, const struct run_result *unused)
{
	struct results *r = ctx;

	(void)unused;
	if (!r->last && !task_stop)
		return;
	r->done++;
	print_results(r);
	r->done--;
}

static int explore_all(struct session *s, const struct kernel *const *k,
		       size_t nr, const struct explore_opts *o,
		       struct err *err)
{
	struct run_result *r = xcalloc(nr, sizeof(*r));
	struct results all = { .v = r, .nr = nr, .json = o->run.json };
	struct explore_opts mine = *o;
	size_t done = 0, better = 0, failed = 0;
	bool stop = false;

	mine.run.ready = on_ready;
	mine.run.ctx = &all;
	for (size_t i = 0; i < nr && !stop; i++) {
		int ret;

		all.done = done;
		all.last = i + 1 == nr;
		ret = explore_one(s, k[i], &mine, &r[done], err);
		if (ret == ERR_STOPPED || task_stop)
			stop = true;
		if (ret) {
			run_result_release(&r[done]);
			memset(&r[done], 0, sizeof(r[done]));
			failed++;
			if (nr == 1 || stop)
				break;
			warn("%s", err->msg);
			err->code = ERR_NONE;
			continue;
		}
		better += r[done++].has_best;
	}
	all.done = done;
	print_results(&all);
	for (size_t i = 0; i < done; i++)
		run_result_release(&r[i]);
	free(r);
	if (stop || task_stop)
		return EXIT_INTERRUPTED;
	if (failed)
		return err->code ? cmd_status_of(err) : EXIT_FAILED;
	return better ? EXIT_DONE : EXIT_NO;
}

static int check_options(const struct explore_opts *o, struct err *err)
{
	if (!policy_find(o->policy))
		return err_set(err, ERR_USAGE, "there is no policy '%s': greedy "
			       "or beam", o->policy);
	if (!proposer_find(o->proposer))
		return err_set(err, ERR_USAGE, "there is no proposer '%s': "
			       "builtin", o->proposer);
	if (!(o->keep > 0 && o->keep <= 1))
		return err_set(err, ERR_USAGE, "--keep takes a factor over 0, at "
			       "most 1");
	if (o->run.time_s >= 0 && !(o->run.time_s >= 1))
		return err_set(err, ERR_USAGE, "--time takes a second or more");
	if (o->from && o->worktree)
		return err_set(err, ERR_USAGE, "--from and --worktree exclude "
			       "each other");
	return 0;
}

/* Nodes are commits: said before anything is measured. */
static int check_identity(struct session *s, struct err *err)
{
	struct buf name = BUF_INIT, mail = BUF_INIT;
	int ret = repo_identity(s->repo, &name, &mail, err);

	buf_release(&name);
	buf_release(&mail);
	return ret;
}

static int explore_run(struct session *s, int argc, char **argv,
		       struct err *err)
{
	struct explore_opts o = { .policy = "greedy", .proposer = "builtin",
				  .width = 4, .branches = 4, .depth = 8,
				  .keep = 0.8, .seed = 1,
				  .run = { .time_s = -1,
					   .jobs = 1 } };
	const struct opt opts[] = {
		OPT_STR(0, "policy", &o.policy, "<name>",
			"greedy (default) or beam"),
		OPT_INT(0, "width", &o.width, 1, 16, "<n>",
			"nodes in the beam (4)"),
		OPT_INT(0, "branches", &o.branches, 1, 64, "<n>",
			"attempts a node and round (4)"),
		OPT_INT(0, "depth", &o.depth, 1, 1000, "<n>",
			"rounds of the beam (8)"),
		OPT_DOUBLE(0, "keep", &o.keep, "<factor>",
			"drop from the beam what is slower than this times "
			"its best (0.8)"),
		OPT_STR(0, "proposer", &o.proposer, "<name>",
			"who makes the attempts: builtin"),
		OPT_INT(0, "attempts", &o.run.attempts, 1, 1000000, "<n>",
			"stop after <n> attempts a kernel"),
		OPT_TIME(0, "time", &o.run.time_s, "<time>",
			"begin no attempt after this time a kernel: 90, 5m, "
			"2h (60 s if no budget is given)"),
		OPT_INT(0, "seed", &o.seed, 0, INT64_MAX, "<n>",
			"of all choices (1)"),
		OPT_INT('j', "jobs", &o.run.jobs, 1, 64, "<n>",
			"attempts in flight (1)"),
		OPT_BOOL(0, "worktree", &o.worktree,
			"search from the work tree's versions, not HEAD's"),
		OPT_STR(0, "from", &o.from, "<commit>",
			"search from this commit"),
		OPT_MAYBE("push", &o.push, "[=<remote>]",
			"push to the remote while it runs"),
		OPT_BOOL(0, "json", &o.run.json,
			"print one JSON object a kernel"),
		OPT_BOOL('v', "verbose", &o.run.verbose,
			"tell of every attempt on a terminal too"),
		OPT_BOOL('q', "quiet", &out_quiet, "no progress"),
		OPT_END
	};
	struct kernel_file f;
	const struct kernel **k;
	size_t nr;
	int status, ret;

	argc = opt_parse(&cmd_explore, opts, argc, argv, &status, err);
	if (argc < 0)
		return status;
	if (check_options(&o, err))
		return EXIT_USAGE;
	if (!o.run.attempts && o.run.time_s < 0)
		o.run.time_s = DEFAULT_TIME_S;
	o.run.time_s = o.run.time_s < 0 ? 0 : o.run.time_s;
	ret = task_kernels(s, &f, err);
	if (ret)
		return cmd_status_of(err);
	nr = argc ? (size_t)argc : f.nr;
	k = xcalloc(nr, sizeof(*k));
	for (size_t i = 0; i < nr && !ret; i++) {
		if (argc)
			ret = task_kernel(&f, argv[i], &k[i], err);
		else
			k[i] = &f.v[i];
	}
	if (!ret)
		ret = check_identity(s, err);
	if (!ret && o.push)
		ret = background_open(&o.run.push, s->repo, o.push, err);
	task_signals();
	status = ret ? cmd_status_of(err) : explore_all(s, k, nr, &o, err);
	background_close(o.run.push);
	free(k);
	kernel_file_release(&f);
	return status;
}

static const char *const usage[] = {
	"git maxkernel explore [<options>] [<kernel>...]",
	NULL
};

const struct cmd cmd_explore = {
	.name = "explore",
	.group = "search",
	.summary = "search for faster versions of kernels",
	.usage = usage,
	.needs = NEED_REPO,
	.run = explore_run,
};
