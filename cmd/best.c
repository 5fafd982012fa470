/* git maxkernel best: the champion of each kernel. */
#include <stdlib.h>

#include "cmd/claim.h"
#include "cmd/node.h"
#include "cmd/opt.h"
#include "cmd/out.h"
#include "cmd/shapes.h"

static const char *const usage[] = {
	"git maxkernel best [--json] [<kernel>...]",
	NULL
};

static void print_json(const struct view *v, uint32_t idx,
		       const struct record *r)
{
	struct buf pick = BUF_INIT, branch = BUF_INIT;
	struct oid other;
	struct jout j;

	buf_addf(&pick, "git maxkernel pick %s", node_short(v, idx).s);
	jout_begin(&j);
	node_json(&j, v, idx, r);
	jout_str(&j, "branch", node_branch_of(v, idx, &branch, &other) ?
		 branch.ptr : NULL);
	jout_str(&j, "pick", pick.ptr);
	jout_end(&j, stdout);
	buf_release(&pick);
	buf_release(&branch);
}

/* The branch that really has it, or how it gets one. */
static void print_branch(const struct view *v, uint32_t idx)
{
	struct buf branch = BUF_INIT;
	struct oid other;

	if (node_branch_of(v, idx, &branch, &other)) {
		printf("branch: ");
		put_clean(stdout, branch.ptr);
		putchar('\n');
	} else if (!v->graph.node[idx].claimed) {
		printf("branch: none; git maxkernel verify %s measures it "
		       "here and lands it\n", node_short(v, idx).s);
	}
	if (!oid_is_zero(&other) && !oid_eq(&other, &v->graph.node[idx].id)) {
		buf_reset(&branch);
		node_best_branch(v, &branch);
		printf("older:  %s has %s, the best that was measured here\n",
		       branch.ptr, oid_short(&other).s);
	}
	buf_release(&branch);
}

static void print_text(const struct view *v, uint32_t idx,
		       const struct record *r)
{
	const struct node *n = &v->graph.node[idx];
	struct buf b = BUF_INIT;

	fputs(colour(COL_BOLD), stdout);
	put_clean(stdout, v->search->spec.kernel);
	fputs(colour(COL_RESET), stdout);
	fmt_ratio(&b, r->speedup);
	printf("  %s%s%s ", colour(COL_GOOD), b.ptr, colour(COL_RESET));
	buf_reset(&b);
	fmt_interval(&b, r->ci_low, r->ci_high);
	printf("%s  node %s%s%s  ", b.ptr, colour(COL_NODE),
	       node_short(v, idx).s, colour(COL_RESET));
	put_clean(stdout, n->subject ? n->subject : "");
	puts("\n");
	shapes_print(r, stdout);
	if (r->nr_shapes)
		putchar('\n');
	buf_reset(&b);
	claim_text(&b, n, r);
	if (n->claimed)
		printf("trust:  %s, not measured here\n"
		       "verify: git maxkernel verify %s\n", b.ptr,
		       node_short(v, idx).s);
	print_branch(v, idx);
	printf("pick:   git maxkernel pick %s\n", node_short(v, idx).s);
	buf_release(&b);
}

/* 1: it has a champion, 0: not. */
static int best_one(struct repo *r, const char *kernel, bool json, bool gap,
		    struct err *err)
{
	struct record rec;
	struct view v;
	uint32_t idx;
	int ret = node_best(r, kernel, &v, &idx, err);

	if (ret < 0)
		return ret;
	if (!ret) {
		say("%s: no confirmed node yet in search %s", kernel,
		    v.search->spec.slug);
		view_close(&v);
		return 0;
	}
	ret = node_record(&v, idx, &rec, err);
	if (!ret) {
		if (gap && !json)
			putchar('\n');
		if (json)
			print_json(&v, idx, &rec);
		else
			print_text(&v, idx, &rec);
		record_release(&rec);
	}
	view_close(&v);
	return ret ? ret : 1;
}

static int best_run(struct session *s, int argc, char **argv, struct err *err)
{
	bool json = false;
	const struct opt opts[] = {
		OPT_BOOL(0, "json", &json, "print one JSON object per kernel"),
		OPT_END
	};
	struct strv kernels = STRV_INIT;
	int status, ret = 0, found = 0;

	argc = opt_parse(&cmd_best, opts, argc, argv, &status, err);
	if (argc < 0)
		return status;
	for (int i = 0; i < argc; i++)
		strv_push(&kernels, argv[i]);
	if (!argc)
		ret = node_kernels(s->repo, &kernels, err);
	for (size_t i = 0; ret >= 0 && i < kernels.nr; i++) {
		ret = best_one(s->repo, kernels.v[i], json, found > 0, err);
		found += ret > 0;
	}
	if (ret >= 0 && !kernels.nr) {
		struct err none = ERR_INIT;

		node_none(s->repo, &none);
		say("%s", none.msg);
	}
	strv_release(&kernels);
	if (ret < 0)
		return cmd_status_of(err);
	return found ? EXIT_DONE : EXIT_NO;
}

const struct cmd cmd_best = {
	.name = "best",
	.group = "look",
	.summary = "show the champion of each kernel",
	.usage = usage,
	.needs = NEED_REPO | PAGED,
	.run = best_run,
};
