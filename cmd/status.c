/* git maxkernel status: the searches of this repository, or one in detail. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cmd/claim.h"
#include "cmd/node.h"
#include "cmd/opt.h"
#include "cmd/out.h"
#include "cmd/rest.h"
#include "cmd/watch.h"
#include "core/mem.h"

static const char *const usage[] = {
	"git maxkernel status [--watch] [--json] [<kernel>|<search>]",
	NULL
};

/* "finished: exhausted", "unfinished"; JSON: the reason, or NULL. */
static int how_it_stands(struct view *v, char **why, struct err *err)
{
	*why = NULL;
	return store_finished(v->search, why, err);
}

/* Why one that is not finished made no more, as far as its graph tells. */
struct standing {
	struct spec_list list;
	char *group;		/* that was asked for last */
	bool spent;		/* its budget */
};

/* Has all been used that it was started with, by all that share it?  What
 * can't be read of the others has used nothing. */
static bool spent(struct standing *st, const struct view *v)
{
	const struct spec *s = &v->search->spec;
	struct err unused = ERR_INIT;
	struct budget rest;

	if (st->group && !strcmp(st->group, spec_group(s)))
		return st->spent;
	free(st->group);
	st->group = xstrdup(spec_group(s));
	if (rest_of_group(v->search->repo, &st->list, s, &rest, &st->spent,
			  &unused))
		st->spent = rest_of_search(s, &v->graph, &rest);
	return st->spent;
}

static void standing_release(struct standing *st)
{
	spec_list_release(&st->list);
	free(st->group);
}

/* Is the best as fast as was asked for? */
static bool fast_enough(const struct view *v)
{
	double until = v->search->spec.budget.until;
	uint32_t best = v->graph.champion;

	return best && until > 0 && v->graph.node[best].rec.speedup >= until;
}

static void count_verdicts(const struct graph *g, uint32_t count[V_NR],
			   uint32_t *pending)
{
	memset(count, 0, V_NR * sizeof(*count));
	*pending = 0;
	for (uint32_t i = 1; i < g->nr; i++) {
		if (g->node[i].pending)
			++*pending;
		else
			count[g->node[i].rec.verdict]++;
	}
	for (uint32_t i = 0; i < g->nr_spend; i++)
		count[g->spend[i].verdict]++;
}

/* ---- JSON ---- */

static void verdicts_json(struct jout *j, const struct graph *g)
{
	uint32_t count[V_NR], pending;
	struct jout inner;
	struct buf text = BUF_INIT;

	count_verdicts(g, count, &pending);
	jout_begin(&inner);
	for (int i = V_NONE + 1; i < V_NR; i++)
		if (count[i])
			jout_int(&inner, verdict_name((enum verdict)i),
				 count[i]);
	if (pending)
		jout_int(&inner, "pending", pending);
	jout_detach(&inner, &text);
	jout_raw(j, "verdicts", text.ptr);
	buf_release(&text);
}

static void best_json(struct jout *j, const struct view *v)
{
	const struct graph *g = &v->graph;
	uint32_t best = watch_best(g);
	const struct record *r = &g->node[best].rec;
	bool sure = best && best == g->champion;

	jout_str(j, "node", best ? oid_text(&g->node[best].id).s : NULL);
	jout_num(j, "est_speedup", best ? r->est_speedup : NAN);
	jout_num(j, "speedup", sure ? r->speedup : NAN);
	jout_num(j, "ci_low", sure ? r->ci_low : NAN);
	jout_num(j, "ci_high", sure ? r->ci_high : NAN);
	jout_str(j, "trust", !best ? NULL : g->node[best].claimed ?
		 "claimed" : "measured");
	jout_str(j, "measured_by", best ? g->node[best].rec_worker : NULL);
}

static void running_json(struct jout *j, const struct live_state *l)
{
	jout_bool(j, "running", l != NULL);
	if (l && l->pid)
		jout_int(j, "pid", l->pid);
	else
		jout_str(j, "pid", NULL);
	jout_str(j, "log", l && *l->log ? l->log : NULL);
}

static int print_json(struct view *v, const struct live_state *l,
		      struct err *err)
{
	const struct spec *s = &v->search->spec;
	uint32_t *frontier;
	struct jout j;
	char *why;
	int ret = how_it_stands(v, &why, err);

	if (ret)
		return ret;
	jout_begin(&j);
	jout_str(&j, "kernel", s->kernel);
	jout_str(&j, "search", s->slug);
	jout_str(&j, "policy", s->policy);
	jout_str(&j, "proposer", s->proposer);
	jout_str(&j, "device", s->device);
	jout_str(&j, "base", oid_text(&s->base).s);
	jout_str(&j, "root", oid_text(&s->root).s);
	jout_int(&j, "time", s->time);
	jout_int(&j, "attempts", v->graph.nr - 1 + v->graph.nr_spend);
	jout_int(&j, "nodes", v->graph.nr);
	jout_num(&j, "spent_s", v->graph.spent_s);
	running_json(&j, l);
	jout_bool(&j, "finished", why != NULL);
	jout_str(&j, "finished_why", why);
	jout_int(&j, "frontier",
		 (long long)node_frontier(v, SIZE_MAX, &frontier));
	best_json(&j, v);
	verdicts_json(&j, &v->graph);
	jout_end(&j, stdout);
	free(frontier);
	free(why);
	return 0;
}

/* ---- for people ---- */

/* Of one that does not run. */
static const char *state_of(struct standing *st, const struct view *v,
			    const char *why)
{
	return why ? why : fast_enough(v) ? "fast enough" :
	       spent(st, v) ? "budget spent" : "unfinished";
}

static int add_row(struct table *t, struct standing *st, struct view *v,
		   const struct live_state *l, int64_t now, struct err *err)
{
	const struct spec *s = &v->search->spec;
	const struct graph *g = &v->graph;
	uint32_t best = watch_best(g);
	struct buf b = BUF_INIT;
	char *why;
	int ret = how_it_stands(v, &why, err);

	if (ret)
		return ret;
	table_cell(t, "%s", s->kernel);
	table_cell(t, "%s", s->slug);
	table_tint(t, COL_NODE);
	table_cell(t, "%s", s->policy);
	table_cell(t, "%" PRIu32, g->nr - 1 + g->nr_spend);
	if (best)
		node_speedup(&b, &g->node[best]);
	else
		buf_addch(&b, '-');
	if (best && g->node[best].claimed)
		buf_addstr(&b, " (claimed)");
	table_cell(t, "%s", b.ptr);
	if (g->champion)
		table_tint(t, COL_GOOD);
	buf_reset(&b);
	fmt_interval(&b, g->champion ? g->node[best].rec.ci_low : NAN,
		     g->champion ? g->node[best].rec.ci_high : NAN);
	table_cell(t, "%s", b.ptr);
	buf_reset(&b);
	if (l)
		watch_state(&b, l);
	else
		buf_addstr(&b, state_of(st, v, why));
	table_cell(t, "%s", b.ptr);
	buf_reset(&b);
	fmt_age(&b, s->time, now);
	table_cell(t, "%s", b.ptr);
	buf_release(&b);
	free(why);
	return 0;
}

static void table_heads(struct table *t)
{
	table_init(t, 8, 1u << 3 | 1u << 4);
	table_cell(t, "kernel");
	table_cell(t, "search");
	table_cell(t, "policy");
	table_cell(t, "attempts");
	table_cell(t, "best");
	table_cell(t, "interval");
	table_cell(t, "state");
	table_cell(t, "started");
}

/* What cannot be looked at does not run, as far as is known. */
static void find_live(struct repo *r, const char *slug, struct live_list *out)
{
	struct err unused = ERR_INIT;

	live_find(r, slug, out, &unused);
}

static int list_all(struct repo *r, bool json, struct err *err)
{
	struct standing st = { .list = { NULL, 0, 0 } };
	struct spec_list *list = &st.list;
	struct live_list live = LIVE_LIST_INIT;
	int64_t now = (int64_t)time(NULL);
	struct table t;
	struct view v;
	int ret = node_searches(r, list, err);

	table_heads(&t);
	find_live(r, NULL, &live);
	for (size_t i = 0; !ret && i < list->nr; i++) {
		const struct live_state *l = live_of(&live, list->v[i].slug);

		ret = view_open(&v, r, list->v[i].slug, err);
		if (ret)
			break;
		ret = json ? print_json(&v, l, err) :
		      add_row(&t, &st, &v, l, now, err);
		view_close(&v);
	}
	if (!ret && !json && list->nr)
		table_print(&t, stdout);
	if (!ret && !json && !list->nr) {
		struct err none = ERR_INIT;

		node_none(r, &none);
		puts(none.msg);
	}
	table_release(&t);
	live_list_release(&live);
	standing_release(&st);
	return ret;
}

static void fact(const char *name, const char *value)
{
	printf("%-11s", name);
	put_clean(stdout, value && *value ? value : "-");
	putchar('\n');
}

static void fact_best(struct view *v)
{
	uint32_t best = watch_best(&v->graph);
	const struct node *n = &v->graph.node[best];
	struct buf b = BUF_INIT;

	if (!best) {
		fact("best", "nothing faster yet");
		return;
	}
	node_speedup(&b, n);
	if (v->graph.champion) {
		buf_addch(&b, ' ');
		fmt_interval(&b, n->rec.ci_low, n->rec.ci_high);
		buf_addstr(&b, n->claimed ? " " : " confirmed");
		claim_full(&b, v, best);
	} else {
		buf_addstr(&b, " estimated, not confirmed");
		buf_addstr(&b, n->claimed ? ", " : "");
		claim_full(&b, v, best);
	}
	buf_addf(&b, ", node %s", node_short(v, best).s);
	if (n->subject)
		buf_addf(&b, " (%s)", n->subject);
	fact("best", b.ptr);
	buf_release(&b);
}

static void fact_verdicts(const struct graph *g)
{
	uint32_t count[V_NR], pending;
	struct buf b = BUF_INIT;

	count_verdicts(g, count, &pending);
	for (int i = V_NR - 1; i > V_NONE; i--)
		if (count[i])
			buf_addf(&b, "%s%" PRIu32 " %s", b.len ? ", " : "",
				 count[i], verdict_name((enum verdict)i));
	if (pending)
		buf_addf(&b, "%s%" PRIu32 " pending", b.len ? ", " : "",
			 pending);
	fact("verdicts", b.ptr);
	buf_release(&b);
}

static void fact_policy(const struct view *v)
{
	const struct spec *s = &v->search->spec;
	struct buf b = BUF_INIT;

	buf_addstr(&b, s->policy);
	if (!strcmp(s->policy, "beam"))
		buf_addf(&b, ", width %d, %d branches, depth %d, keep %g",
			 s->width, s->branches, s->depth, s->keep);
	buf_addf(&b, ", rounds of %d, seed %" PRIu64 ", proposer %s",
		 s->round, s->seed, s->proposer);
	fact("policy", b.ptr);
	buf_release(&b);
}

static void print_go_on(struct standing *st, const struct view *v)
{
	printf("go on:      git maxkernel resume ");
	if (fast_enough(v))
		printf("--until %.1f ", 0.1 +
		       v->graph.node[v->graph.champion].rec.speedup * 1.2);
	if (spent(st, v))
		printf("--attempts 100 ");
	puts(v->search->spec.slug);
}

/* What to type next. */
static void next_step(struct standing *st, const struct view *v,
		      const struct live_state *l, const char *why)
{
	const struct spec *s = &v->search->spec;

	putchar('\n');
	if (l)
		printf("watch:      git maxkernel status --watch %s\n"
		       "halt:       git maxkernel halt %s\n", s->slug,
		       s->slug);
	else if (!why)
		print_go_on(st, v);
	if (v->graph.champion) {
		printf("look:       git maxkernel show %s\n",
		       node_short(v, v->graph.champion).s);
		if (v->graph.node[v->graph.champion].claimed)
			printf("measure it: git maxkernel verify %s\n",
			       node_short(v, v->graph.champion).s);
		printf("take it:    git maxkernel pick %s\n",
		       node_short(v, v->graph.champion).s);
	}
	printf("all of it:  git maxkernel log %s\n", s->slug);
}

static void fact_state(struct standing *st, const struct view *v,
		       const struct live_state *l, const char *why)
{
	struct buf b = BUF_INIT;

	if (l)
		watch_state(&b, l);
	else
		buf_addf(&b, "%s%s", why ? "finished: " : "",
			 state_of(st, v, why));
	buf_addstr(&b, ", started ");
	fmt_age(&b, v->search->spec.time, (int64_t)time(NULL));
	fact("state", b.ptr);
	buf_release(&b);
	if (l && *l->log)
		fact("log", l->log);
}

static int details(struct standing *st, struct view *v,
		   const struct live_state *l, struct err *err)
{
	const struct spec *s = &v->search->spec;
	uint32_t *frontier;
	struct buf b = BUF_INIT;
	size_t nr;
	char *why;
	int ret = how_it_stands(v, &why, err);

	if (ret)
		return ret;
	fact("kernel", s->kernel);
	fact("search", s->slug);
	fact_policy(v);
	fact("root", oid_text(&s->root).s);
	fact("device", s->device);
	fact_state(st, v, l, why);
	buf_addf(&b, "%" PRIu32 ", ", v->graph.nr - 1 + v->graph.nr_spend);
	fmt_seconds(&b, v->graph.spent_s);
	buf_addstr(&b, " spent");
	fact("attempts", b.ptr);
	fact_verdicts(&v->graph);
	buf_reset(&b);
	nr = node_frontier(v, SIZE_MAX, &frontier);
	buf_addf(&b, "%zu node%s", nr, nr == 1 ? "" : "s");
	fact("frontier", b.ptr);
	fact_best(v);
	next_step(st, v, l, why);
	buf_release(&b);
	free(frontier);
	free(why);
	return 0;
}

/* As Git starts it for what is printed once. */
static void page(struct session *s)
{
	struct buf pager = BUF_INIT;

	repo_config_str(s->repo, "core.pager", &pager);
	pager_start(pager.len ? pager.ptr : NULL);
	buf_release(&pager);
}

static int show_one(struct session *s, const char *name, bool json,
		    struct err *err)
{
	struct live_list live = LIVE_LIST_INIT;
	struct standing st = { .list = { NULL, 0, 0 } };
	const struct live_state *l;
	struct view v;
	int ret;

	if (node_search(s->repo, name, &v, err))
		return cmd_status_of(err);
	find_live(s->repo, v.search->spec.slug, &live);
	l = live_of(&live, v.search->spec.slug);
	ret = json ? 0 : node_searches(s->repo, &st.list, err);
	if (!ret)
		ret = json ? print_json(&v, l, err) :
		      details(&st, &v, l, err);
	standing_release(&st);
	live_list_release(&live);
	view_close(&v);
	return ret ? EXIT_FAILED : EXIT_DONE;
}

static int status_run(struct session *s, int argc, char **argv,
		      struct err *err)
{
	bool json = false, watching = false;
	const struct opt opts[] = {
		OPT_BOOL(0, "watch", &watching,
			"show what runs, until it has ended"),
		OPT_BOOL(0, "json", &json, "print one JSON object per search"),
		OPT_END
	};
	int status;

	argc = opt_parse(&cmd_status, opts, argc, argv, &status, err);
	if (argc < 0)
		return status;
	status = opt_operands(argc, 0, 1, err);
	if (status)
		return status;
	if (watching)
		return watch(s, argc ? argv[0] : NULL, json, err);
	page(s);
	if (!argc)
		return list_all(s->repo, json, err) ? EXIT_FAILED : EXIT_DONE;
	return show_one(s, argv[0], json, err);
}

const struct cmd cmd_status = {
	.name = "status",
	.group = "look",
	.summary = "list the searches, or show how one stands",
	.usage = usage,
	.needs = NEED_REPO,
	.run = status_run,
};
