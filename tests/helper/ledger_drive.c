/* needs: core/oid.c core/dtype.c core/expr.c core/ini.c core/kernel*.c
 * core/record.c core/source.c core/sha1.c core/oidset.c core/repo*.c core/git.c
 * core/notes*.c core/json.c core/metrics*.c core/usage.c core/lesson.c core/prior.c core/graph.c
 * core/store*.c core/journal.c
 *
 * Drives what is spent, for the shell tests:
 *
 *	attempt <slug> <step> (node|dup) <steps> [<call>...]
 *	journal <slug> <step> <call>
 *	settle <slug>			prints how many calls
 *	spent <slug>			the graph's sums and calls
 *
 * A call is "<id or ->,<agent>,<model>,<in>,<cached>,<out>,<reasoning>,<cost
 * or ->".
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/journal.h"
#include "core/mem.h"
#include "core/store.h"

static struct repo *repo;
static struct search *search;
static struct graph graph;
static struct strv warn;
static struct err err;

static int failed(void)
{
	fprintf(stderr, "fatal: %s\n", err.msg);
	return 128;
}

static void show_warnings(void)
{
	for (size_t i = 0; i < warn.nr; i++)
		fprintf(stderr, "warning: %s\n", warn.v[i]);
	strv_release(&warn);
}

static void parse_call(const char *text, struct usages *out)
{
	char *copy = xstrdup(text), *rest = copy, *field[8] = { NULL };
	struct usage u = { .seconds = 1.5 };

	for (size_t i = 0; i < ARRAY_SIZE(field); i++) {
		field[i] = strsep(&rest, ",");
		if (!field[i])
			field[i] = copy + strlen(text);
	}
	if (strcmp(field[0], "-") != 0)
		snprintf(u.id, sizeof(u.id), "%s", field[0]);
	u.agent = field[1];
	u.model = field[2];
	u.tokens_in = strtoll(field[3], NULL, 10);
	u.tokens_cached = strtoll(field[4], NULL, 10);
	u.tokens_out = strtoll(field[5], NULL, 10);
	u.tokens_reasoning = strtoll(field[6], NULL, 10);
	u.cost = strcmp(field[7], "-") ? strtod(field[7], NULL) : NAN;
	usages_add(out, &u);
	free(copy);
}

/* The root's sources with a line more. */
static int source_of(uint32_t step, struct srcset *out)
{
	struct kernel_file f = { NULL, 0, 0 };
	const struct spec *spec = &search->spec;
	char *text = xasprintf("/* step %u */\n", step);
	int ret = kernel_section_parse(&f, spec->kernel, spec->section,
				       strlen(spec->section), &err);

	if (!ret)
		ret = store_source(repo, &spec->root, &f.v[0], false, out,
				   &err);
	for (size_t i = 0; !ret && i < out->nr; i++)
		if (out->v[i].writable)
			buf_add(&out->v[i].text, text, strlen(text));
	kernel_file_release(&f);
	free(text);
	return ret;
}

static int do_attempt(int argc, char **argv)
{
	struct srcset source = SRCSET_INIT;
	struct usages used = USAGES_INIT;
	struct record rec;
	bool node = !strcmp(argv[1], "node");
	struct store_attempt a = {
		.op = "mutate", .proposer = "scripted", .strategy = "s",
		.subject = "a step", .plan = "# Plan\n", .nr_parents = 1,
		.parent = &search->spec.root, .used = &used, .rec = &rec,
		.step = (uint32_t)strtoul(argv[0], NULL, 10),
		.steps = (int)strtol(argv[2], NULL, 10),
	};
	int ret = node ? source_of(a.step, &source) : 0;

	record_init(&rec);
	rec.verdict = node ? V_WRONG : V_DUP;
	rec.attempt_s = 0.25;
	rec.device_s = 0.125;
	rec.compiled = true;
	if (node)
		a.source = &source;
	for (int i = 3; i < argc; i++)
		parse_call(argv[i], &used);
	if (!ret)
		ret = store_append(search, &a, 1, &err);
	if (!ret)
		printf("%s\n", node ? oid_text(&a.id).s : "-");
	srcset_release(&source);
	usages_release(&used);
	return ret;
}

static int do_journal(char **argv)
{
	struct usages used = USAGES_INIT;
	int ret;

	parse_call(argv[1], &used);
	ret = journal_usage(search, (uint32_t)strtoul(argv[0], NULL, 10),
			    &used.v[0], &err);
	if (!ret)
		printf("%s\n", used.v[0].id);
	usages_release(&used);
	return ret;
}

static int do_settle(void)
{
	size_t nr = 0;
	int ret = store_claim(search, &err);

	if (!ret)
		ret = journal_settle(search, &nr, &warn, &err);
	if (!ret)
		printf("%zu\n", nr);
	return ret;
}

static void print_call(const struct call *c)
{
	const struct usage *u = &c->used;

	printf("call %s step %" PRIu32 " %s %s %s %" PRId64 " %" PRId64
	       " %" PRId64 " %" PRId64 " %.6g%s\n", u->id, c->step, c->worker,
	       u->agent, u->model, u->tokens_in, u->tokens_cached,
	       u->tokens_out, u->tokens_reasoning, u->cost,
	       c->claimed ? " claimed" : "");
}

static int do_spent(void)
{
	int ret = store_load(search, search->spec.device, &graph, &warn,
			     &err);

	if (ret)
		return ret;
	for (uint32_t i = 1; i < graph.nr; i++)
		printf("node %" PRIu32 " steps %d device %.6g\n",
		       graph.node[i].step, graph.node[i].steps,
		       graph.node[i].device_s);
	for (uint32_t i = 0; i < graph.nr_call; i++)
		print_call(&graph.call[i]);
	printf("attempts %" PRIu32 " time %.6g device %.6g calls %" PRIu32
	       " tokens %" PRId64 " cost %.6g\n",
	       graph.nr - 1 + graph.nr_spend, graph.spent_s, graph.device_s,
	       graph.nr_call, graph.tokens, graph.cost);
	graph_release(&graph);
	return 0;
}

int main(int argc, char **argv)
{
	int ret = 129;

	if (argc < 3) {
		fputs("usage: ledger_drive <what> <slug> ...\n", stderr);
		return 129;
	}
	if (repo_open(&repo, ".", &err))
		return failed();
	if (store_open(repo, argv[2], &search, &err)) {
		repo_close(repo);
		return failed();
	}
	if (!strcmp(argv[1], "attempt") && argc >= 6)
		ret = do_attempt(argc - 3, argv + 3);
	else if (!strcmp(argv[1], "journal") && argc == 5)
		ret = do_journal(argv + 3);
	else if (!strcmp(argv[1], "settle"))
		ret = do_settle();
	else if (!strcmp(argv[1], "spent"))
		ret = do_spent();
	show_warnings();
	store_close(search);
	repo_close(repo);
	return ret < 0 ? failed() : ret;
}
