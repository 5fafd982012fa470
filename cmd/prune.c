/* git maxkernel prune: drops searches, or their losers, after showing what
 * goes. */
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/node.h"
#include "cmd/opt.h"
#include "cmd/out.h"
#include "cmd/sharing.h"
#include "cmd/task.h"
#include "core/mem.h"
#include "core/prune.h"
#include "core/prune_remote.h"

#define MAX_SHOWN 20		/* nodes of one search */

struct target {
	struct view v;		/* v.search NULL: it is on the remote alone */
	char *slug;
	struct prune_plan plan;
	struct prune_there there;
	bool done;
};

struct prune {
	struct repo *repo;
	struct prune_rule rule;
	const char *remote_opt;	/* NULL: not asked for; "": the default */
	char *remote;
	bool dry, yes, json, losers;
	struct target *t;
	size_t nr;
	struct words words;	/* the remote's own */
};

/* What the server says of a refusal is told with it. */
static void on_said(void *ctx, const char *line)
{
	struct prune *p = ctx;

	words_hear(&p->words, line);
}

static struct remote_opts remote_of(const struct prune *p)
{
	return (struct remote_opts){ .name = p->remote, .quiet = out_quiet,
				     .stop_fd = task_stop_fd,
				     .said = on_said, .ctx = (void *)(uintptr_t)p };
}

/* ---- planning ---- */

static int open_target(struct prune *p, struct target *t, const char *name,
		       struct err *err)
{
	int ret = node_slug(p->repo, name, &t->slug, err);

	if (ret == ERR_NOTFOUND && p->remote && !p->losers &&
	    prune_remote_slug(name)) {
		t->slug = xstrdup(name);
		err->code = ERR_NONE;
		return 0;
	}
	if (ret)
		return ret;
	for (size_t i = 0; p->t + i < t; i++)
		if (!strcmp(p->t[i].slug, t->slug))
			return err_set(err, ERR_USAGE, "search %s is named "
				       "twice", t->slug);
	return view_open(&t->v, p->repo, t->slug, err);
}

static int plan_target(struct prune *p, struct target *t, struct err *err)
{
	struct remote_opts o = remote_of(p);
	int ret = 0;

	if (t->v.search)
		ret = store_claim(t->v.search, err);
	if (!ret && t->v.search)
		ret = prune_plan(t->v.search, &p->rule, &t->plan, err);
	if (!ret && p->remote && p->rule.whole)
		ret = prune_remote_plan(p->repo, t->slug, &o, &t->there, err);
	if (!ret && !t->v.search && !t->there.nr)
		ret = err_set(err, ERR_NOTFOUND, "there is no search '%s', "
			      "here or on '%s'", t->slug, p->remote);
	return ret;
}

static bool has_work(const struct prune *p, const struct target *t)
{
	return t->plan.nr_refs || t->plan.nr_nodes || t->plan.unfinished ||
	       t->there.nr || (p->remote && p->losers);
}

/* ---- showing ---- */

static void show_size(const struct prune_plan *plan)
{
	double kb = (double)plan->bytes / 1e3;

	printf("  %zu node%s, about %.*f %s\n", plan->nr_nodes,
	       plan->nr_nodes == 1 ? "" : "s", kb >= 999.5 && kb < 1e4,
	       kb < 999.5 ? kb : kb / 1e3, kb < 999.5 ? "kB" : "MB");
}

static void show_nodes(const struct target *t)
{
	for (size_t i = 0; i < t->plan.nr_nodes && i < MAX_SHOWN; i++) {
		uint32_t at = graph_find(&t->v.graph, &t->plan.node[i]);
		const struct node *n = &t->v.graph.node[at];

		if (at == NODE_NONE)
			continue;
		printf("  %s step %" PRIu32 " %s ", oid_short(&n->id).s,
		       n->step, node_verdict(&t->v, at));
		put_clean(stdout, n->subject ? n->subject : "");
		putchar('\n');
	}
	if (t->plan.nr_nodes > MAX_SHOWN)
		printf("  and %zu more\n", t->plan.nr_nodes - MAX_SHOWN);
}

static void show_whole(const struct prune *p, const struct target *t)
{
	printf("search %s, all of it:\n", t->slug);
	for (size_t i = 0; i < t->plan.nr_refs; i++)
		printf("  %s\n", t->plan.ref[i].name);
	for (size_t i = 0; i < t->there.nr; i++) {
		printf("  on ");
		put_clean(stdout, p->remote);
		printf(": %s\n", t->there.item[i].ref);
	}
	if (t->v.search)
		show_size(&t->plan);
	if (t->there.leases)
		printf("  %zu lease%s: somebody may be at work on it\n",
		       t->there.leases, t->there.leases == 1 ? "" : "s");
}

static void show(const struct prune *p, const struct target *t)
{
	if (p->rule.whole) {
		show_whole(p, t);
	} else {
		printf("search %s, its losers:\n", t->slug);
		show_nodes(t);
		show_size(&t->plan);
		printf("  %zu node%s stay%s\n", t->plan.kept,
		       t->plan.kept == 1 ? "" : "s",
		       t->plan.kept == 1 ? "s" : "");
	}
	if (t->plan.others)
		printf("  %zu loser%s of other workers stay\n", t->plan.others,
		       t->plan.others == 1 ? "" : "s");
	if (t->plan.unfinished)
		puts("  and what an earlier pruning left undone");
	for (size_t i = 0; i < t->plan.stays.nr; i++)
		warn("%s", t->plan.stays.v[i]);
	for (size_t i = 0; i < t->there.stays.nr; i++)
		warn("%s", t->there.stays.v[i]);
}

static void put_list(struct jout *j, const char *key, const struct strv *v)
{
	struct buf b = BUF_INIT;

	buf_addch(&b, '[');
	for (size_t i = 0; i < v->nr; i++) {
		if (i)
			buf_addch(&b, ',');
		buf_add_json(&b, v->v[i]);
	}
	buf_addch(&b, ']');
	jout_raw(j, key, b.ptr);
	buf_release(&b);
}

static void show_json(const struct prune *p, const struct target *t)
{
	struct strv refs = STRV_INIT, there = STRV_INIT, nodes = STRV_INIT;
	struct jout j;

	for (size_t i = 0; i < t->plan.nr_refs; i++)
		strv_push(&refs, t->plan.ref[i].name);
	for (size_t i = 0; i < t->there.nr; i++)
		strv_push(&there, t->there.item[i].ref);
	for (size_t i = 0; i < t->plan.nr_nodes; i++)
		strv_push(&nodes, oid_text(&t->plan.node[i]).s);
	jout_begin(&j);
	jout_str(&j, "search", t->slug);
	jout_str(&j, "kernel", t->v.search ? t->v.search->spec.kernel : NULL);
	jout_bool(&j, "losers", p->losers);
	put_list(&j, "refs", &refs);
	put_list(&j, "nodes", &nodes);
	jout_int(&j, "kept", (long long)t->plan.kept);
	jout_int(&j, "others", (long long)t->plan.others);
	jout_int(&j, "bytes", (long long)t->plan.bytes);
	put_list(&j, "stays", &t->plan.stays);
	jout_str(&j, "remote", p->remote);
	put_list(&j, "remote_refs", &there);
	jout_bool(&j, "done", t->done);
	jout_end(&j, stdout);
	strv_release(&refs);
	strv_release(&there);
	strv_release(&nodes);
}

/* ---- asking ---- */

static bool said_yes(void)
{
	struct pollfd p[2] = { { STDIN_FILENO, POLLIN, 0 },
			       { task_stop_fd, POLLIN, 0 } };
	char answer[16];
	ssize_t n;

	fputs("Drop this? [y/N] ", stderr);
	fflush(stderr);
	while (!task_stop && poll(p, 2, -1) < 0)
		;
	if (task_stop || p[1].revents)
		return false;
	n = read(STDIN_FILENO, answer, sizeof(answer));
	return n > 0 && (*answer == 'y' || *answer == 'Y');
}

/* 1: go on; 0: no */
static int agreed(const struct prune *p)
{
	fflush(stdout);
	if (p->dry)
		return 0;
	if (p->yes)
		return 1;
	if (isatty(STDIN_FILENO) && isatty(STDERR_FILENO))
		return said_yes();
	say("nothing was dropped: this is not a terminal, so that it takes "
	    "--yes");
	return 0;
}

/* ---- doing ---- */

static void tell(void *ctx, const char *text)
{
	(void)ctx;
	warn("%s", text);
}

static int push_losers(struct prune *p, struct target *t, struct err *err)
{
	struct remote_opts o = remote_of(p);
	struct share_teller teller = { .warned = tell };
	struct share_sum sum;
	struct strv slugs = STRV_INIT;
	int ret;

	strv_push(&slugs, t->slug);
	ret = share_push_pruned(p->repo, &o, &slugs, &teller, &sum, err);
	strv_release(&slugs);
	if (!ret && sum.refused)
		ret = err_set(err, ERR_NET, "'%s' has not taken all of what "
			      "is left of search %s", p->remote, t->slug);
	return ret;
}

/* The remote first: what it refuses is still here then. */
static int do_target(struct prune *p, struct target *t, struct err *err)
{
	struct remote_opts o = remote_of(p);
	int ret = 0;

	if (t->there.nr)
		ret = prune_remote_do(p->repo, &o, &t->there, err);
	if (!ret && (t->plan.nr_refs || t->plan.nr_nodes ||
		     t->plan.unfinished))
		ret = prune_do(t->v.search, &t->plan, err);
	if (!ret && p->losers && p->remote)
		ret = push_losers(p, t, err);
	t->done = !ret;
	return ret;
}

static void done(struct prune *p, const struct target *t)
{
	if (p->losers)
		say("%zu node%s of search %s dropped", t->plan.nr_nodes,
		    t->plan.nr_nodes == 1 ? "" : "s", t->slug);
	else
		say("search %s dropped", t->slug);
}

static int run_all(struct prune *p, int argc, char **argv, struct err *err)
{
	bool any = false;
	int ret = 0, no;

	if (p->remote_opt && !*p->remote_opt)
		ret = remote_default(p->repo, &p->remote, err);
	else if (p->remote_opt)
		p->remote = xstrdup(p->remote_opt);
	for (int i = 0; !ret && i < argc; i++) {
		struct target *t = &p->t[p->nr++];

		ret = open_target(p, t, argv[i], err);
		if (!ret)
			ret = plan_target(p, t, err);
		if (ret)
			return cmd_status_of(err);
		any |= has_work(p, t);
		if (!p->json && (!out_quiet || (!p->yes && !p->dry)))
			show(p, t);
	}
	if (ret)
		return cmd_status_of(err);
	if (!any) {
		say("there is nothing to drop");
		for (size_t i = 0; p->json && i < p->nr; i++)
			show_json(p, &p->t[i]);
		return EXIT_DONE;
	}
	no = !agreed(p);
	for (size_t i = 0; !no && !ret && i < p->nr && !task_stop; i++) {
		ret = do_target(p, &p->t[i], err);
		if (!ret)
			done(p, &p->t[i]);
	}
	for (size_t i = 0; p->json && i < p->nr; i++)
		show_json(p, &p->t[i]);
	if (ret) {
		words_tell(&p->words);
		return cmd_status_of(err);
	}
	return task_stop ? EXIT_INTERRUPTED : no && !p->dry ? EXIT_NO :
	       EXIT_DONE;
}

static void release(struct prune *p)
{
	for (size_t i = 0; i < p->nr; i++) {
		struct target *t = &p->t[i];

		prune_plan_release(&t->plan);
		prune_there_release(&t->there);
		if (t->v.search)
			view_close(&t->v);
		free(t->slug);
	}
	free(p->t);
	free(p->remote);
	strv_release(&p->words.v);
}

static int prune_run(struct session *s, int argc, char **argv,
		     struct err *err)
{
	struct prune p = { .repo = s->repo };
	int64_t depth = 0;
	const struct opt opts[] = {
		OPT_BOOL(0, "losers", &p.losers,
			"drop nodes that came to nothing, not the search"),
		OPT_INT(0, "depth", &depth, 1, INT32_MAX, "<n>",
			"losers deeper than <n> alone"),
		OPT_TIME(0, "older", &p.rule.older_s, "<time>",
			"losers older than this alone (2h, 30d)"),
		OPT_MAYBE("remote", &p.remote_opt, "[=<remote>]",
			"on the remote as well"),
		OPT_BOOL('n', "dry-run", &p.dry, "show what would go"),
		OPT_BOOL('y', "yes", &p.yes, "do not ask"),
		OPT_BOOL(0, "json", &p.json, "print one JSON object a search"),
		OPT_BOOL('q', "quiet", &out_quiet, "no messages"),
		OPT_END
	};
	int status;

	argc = opt_parse(&cmd_prune, opts, argc, argv, &status, err);
	if (argc < 0)
		return status;
	status = opt_operands(argc, 1, 1000, err);
	if (status)
		return status;
	if (!p.losers && (depth || p.rule.older_s > 0))
		return err_set(err, ERR_USAGE, "--depth and --older choose "
			       "among --losers"), EXIT_USAGE;
	p.rule.whole = !p.losers;
	p.rule.beyond_depth = (uint32_t)depth;
	p.t = xcalloc((size_t)argc, sizeof(*p.t));
	task_signals();
	status = run_all(&p, argc, argv, err);
	release(&p);
	return status;
}

static const char *const usage[] = {
	"git maxkernel prune [<options>] <search>...",
	NULL
};

const struct cmd cmd_prune = {
	.name = "prune",
	.group = "act",
	.summary = "drop a search, or its losers",
	.usage = usage,
	.needs = NEED_REPO,
	.run = prune_run,
};
