/* needs: core/oid.c core/dtype.c core/expr.c core/ini.c core/kernel*.c
 * core/record.c core/source.c core/sha1.c core/oidset.c core/repo*.c core/git.c
 * core/notes*.c core/json.c core/metrics*.c core/usage.c core/lesson.c core/prior.c core/graph.c core/store*.c
 *
 * store_dump <slug> <device>: the graph of a search, every field of it.
 */
#include <inttypes.h>
#include <stdio.h>

#include "core/store.h"

static void text(const char *name, const char *s)
{
	printf(" %s=%s%s", name, s ? "'" : "", s ? s : "-");
}

static void number(const char *name, double x)
{
	printf(" %s=%a", name, x);
}

static void dump_record(const struct record *r)
{
	printf("  %s %d%d%d%d launches %d shapes %zu samples %zu",
	       verdict_name(r->verdict), r->compiled, r->correct,
	       r->confirming, r->claimed, r->launches, r->nr_shapes,
	       r->samples.len);
	number("lr", r->lr);
	number("low", r->lr_low);
	number("high", r->lr_high);
	number("est", r->est_speedup);
	number("speedup", r->speedup);
	number("ci_low", r->ci_low);
	number("ci_high", r->ci_high);
	number("vs_parent", r->vs_parent);
	number("vs_rival", r->vs_rival);
	number("vs_best_flags", r->vs_best_flags);
	number("time", r->time_ns);
	number("baseline", r->baseline_ns);
	number("gflops", r->gflops);
	number("gbs", r->gbs);
	number("roof", r->roof);
	number("attempt", r->attempt_s);
	number("device_s", r->device_s);
	text("error", r->error);
	text("host", r->host);
	text("device", r->device);
	text("sandbox", r->sandbox);
	text("oracle", r->oracle);
	text("clock", r->clock);
	text("compiler", r->compiler);
	text("flags", r->flags);
	text("against", r->against);
	putchar('\n');
}

static void dump_node(const struct graph *g, uint32_t i)
{
	const struct node *n = &g->node[i];

	printf("node %" PRIu32 " %s %s parents %d %d step %" PRIu32
	       " depth %" PRIu32 " origin %" PRIu32 " time %" PRId64
	       " %d%d%d%d found %d %d", i, oid_text(&n->id).s,
	       oid_text(&n->state).s, (int)n->parent[0], (int)n->parent[1],
	       n->step, n->depth, n->origin, n->time, n->pending, n->claimed,
	       n->confirmed, n->united, graph_find(g, &n->id) == i,
	       (int)graph_find_state(g, &n->state));
	text("op", n->op);
	text("proposer", n->proposer);
	text("strategy", n->strategy);
	text("recipe", n->recipe);
	text("subject", n->subject);
	text("worker", n->worker);
	text("by", n->rec_worker);
	number("score", n->score);
	number("spent", n->spent_s);
	number("device", n->device_s);
	printf(" steps=%d", n->steps);
	putchar('\n');
	dump_record(&n->rec);
}

static void dump_call(const struct call *c)
{
	const struct usage *u = &c->used;

	printf("call %s step %" PRIu32 " time %" PRId64 " %d tokens %" PRId64
	       " %" PRId64 " %" PRId64 " %" PRId64, u->id, c->step, c->time,
	       c->claimed, u->tokens_in, u->tokens_cached, u->tokens_out,
	       u->tokens_reasoning);
	text("agent", u->agent);
	text("model", u->model);
	text("worker", c->worker);
	number("cost", u->cost);
	number("seconds", u->seconds);
	putchar('\n');
}

static void dump(const struct graph *g)
{
	for (uint32_t i = 0; i < g->nr; i++)
		dump_node(g, i);
	for (uint32_t i = 0; i < g->nr_spend; i++) {
		printf("spend %" PRIu32 " %s %s", g->spend[i].step,
		       verdict_name(g->spend[i].verdict),
		       oid_text(&g->spend[i].state).s);
		number("attempt", g->spend[i].attempt_s);
		number("device", g->spend[i].device_s);
		if (g->spend[i].recipe) {
			printf(" from %" PRIu32 " on %" PRIu32 " '%s'",
			       g->spend[i].parent, g->spend[i].origin,
			       g->spend[i].recipe);
			number("score", g->spend[i].score);
		}
		printf(" line %" PRIx64 "\n", g->spend[i].line);
	}
	for (uint32_t i = 0; i < g->nr_call; i++)
		dump_call(&g->call[i]);
	printf("champion %" PRIu32 " united %" PRIu32 " %" PRIu32, g->champion,
	       g->united_step, g->united_rounds);
	number("spent", g->spent_s);
	number("device", g->device_s);
	number("cost", g->cost);
	printf(" tokens %" PRId64 "\n", g->tokens);
}

int main(int argc, char **argv)
{
	struct repo *r;
	struct search *s;
	struct graph g;
	struct strv warn = STRV_INIT;
	struct err err = ERR_INIT;
	int ret;

	if (argc != 3) {
		fputs("usage: store_dump <slug> <device>\n", stderr);
		return 129;
	}
	ret = repo_open(&r, ".", &err);
	if (!ret)
		ret = store_open(r, argv[1], &s, &err);
	if (!ret)
		ret = store_load(s, argv[2], &g, &warn, &err);
	if (ret) {
		fprintf(stderr, "fatal: %s\n", err.msg);
		return 128;
	}
	dump(&g);
	for (size_t i = 0; i < warn.nr; i++)
		printf("warning: %s\n", warn.v[i]);
	strv_release(&warn);
	graph_release(&g);
	store_close(s);
	repo_close(r);
	return 0;
}
