/* git maxkernel merge: unites two searches, or crosses two nodes. */
#include <stdlib.h>
#include <string.h>

#include "agents/agents.h"
#include "cmd/claim.h"
#include "cmd/merge.h"
#include "cmd/opt.h"
#include "core/merge.h"
#include "core/search.h"

#define MAX_SEEDS 8		/* nodes that --as-seeds takes */

int merge_publish(struct search *search, const struct graph *g,
		  const char *device, const struct kernel *k, struct err *err)
{
	struct publication p = {
		.search = search, .graph = g,
		.policy = policy_find(search->spec.policy),
		.proposer = proposer_find(search->spec.proposer),
		.kernel = k, .device = device,
	};
	struct strv warnings = STRV_INIT;
	int ret;

	if (!p.policy || !k)		/* of a newer version */
		return 0;
	ret = search_publish(&p, &warnings, err);
	for (size_t i = 0; i < warnings.nr; i++)
		warn("%s", warnings.v[i]);
	strv_release(&warnings);
	if (ret == ERR_FORMAT || ret == ERR_NOTFOUND) {
		warn("the landing branches are left as they are: %s",
		     err->msg);
		err->code = ERR_NONE;
		ret = 0;
	}
	return ret;
}

/* ---- two searches ---- */

struct united {
	struct unite_sum sum;
	size_t seeds;
	bool as_seeds;
};

static void print_united(const struct view *v, const char *from,
			 const struct united *u, bool json)
{
	const struct graph *g = &v->graph;
	struct jout j;

	if (json) {
		jout_begin(&j);
		jout_str(&j, "kernel", v->search->spec.kernel);
		jout_str(&j, "search", v->search->spec.slug);
		jout_str(&j, u->as_seeds ? "seeded_by" : "united_with", from);
		jout_int(&j, "nodes", (long long)(u->as_seeds ? u->seeds :
						  u->sum.nodes));
		jout_int(&j, "notes", (long long)u->sum.notes);
		jout_int(&j, "spends", (long long)u->sum.spends);
		jout_str(&j, "best", g->champion ?
			 oid_text(&g->node[g->champion].id).s : NULL);
		jout_end(&j, stdout);
		return;
	}
	if (u->as_seeds)
		printf("%s: %zu new node%s from %s\n", v->search->spec.slug,
		       u->seeds, u->seeds == 1 ? "" : "s", from);
	else if (!u->sum.nodes && !u->sum.notes && !u->sum.spends)
		printf("%s has all of %s already\n", v->search->spec.slug,
		       from);
	else
		printf("%s: %zu new nodes, %zu notes and lines, %zu attempts "
		       "without a node from %s\n", v->search->spec.slug,
		       u->sum.nodes, u->sum.notes, u->sum.spends, from);
	if (g->champion) {
		struct buf ratio = BUF_INIT;

		node_speedup(&ratio, &g->node[g->champion]);
		printf("best: %s %s ", node_short(v, g->champion).s, ratio.ptr);
		put_clean(stdout, g->node[g->champion].subject);
		buf_reset(&ratio);
		claim_text(&ratio, &g->node[g->champion], NULL);
		printf("%s%s%s\n", ratio.len ? " (" : "", ratio.ptr,
		       ratio.len ? ")" : "");
		buf_release(&ratio);
	}
}

/* A search that had ended goes on: there is something new in it. */
static int reopen(struct search *s, const char *from, struct err *err)
{
	struct buf why = BUF_INIT;
	char *done = NULL;
	int ret = store_finished(s, &done, err);

	buf_addf(&why, "merged with %s", from);
	if (!ret && done)
		ret = store_reopen(s, why.ptr, err);
	free(done);
	buf_release(&why);
	return ret;
}

static int unite(struct search *into, struct search *from,
		 const struct merge_opts *o, struct united *u,
		 struct err *err)
{
	struct err why;
	int ret;

	u->as_seeds = o->as_seeds;
	if (o->as_seeds)
		ret = merge_seeds(into, from, MAX_SEEDS, &u->seeds, err);
	else
		ret = merge_unite(into, from, &u->sum, err);
	if (!o->as_seeds && ret == ERR_FORMAT &&
	    strcmp(into->spec.slug, from->spec.slug)) {
		why = *err;
		err_set(err, ERR_FORMAT, "%s; --as-seeds takes the best of %s "
			"as new nodes of %s, to be judged there", why.msg,
			from->spec.slug, into->spec.slug);
	}
	if (!ret && (u->sum.nodes || u->seeds))
		ret = reopen(into, from->spec.slug, err);
	return ret;
}

int merge_searches(struct session *s, const char *into, const char *from,
		   const struct merge_opts *o, struct err *err)
{
	struct united u = { .as_seeds = false };
	struct search *a = NULL, *b = NULL;
	char *slug[2] = { NULL, NULL };
	struct view v;
	int ret = node_slug(s->repo, into, &slug[0], err);

	if (!ret)
		ret = node_slug(s->repo, from, &slug[1], err);
	if (!ret)
		ret = store_open(s->repo, slug[0], &a, err);
	if (!ret)
		ret = store_open(s->repo, slug[1], &b, err);
	if (!ret)
		ret = store_claim(a, err);
	if (!ret)
		ret = unite(a, b, o, &u, err);
	if (!ret)
		ret = view_open(&v, s->repo, a->spec.slug, err);
	if (!ret) {
		if (!o->as_seeds)
			ret = merge_publish(v.search, &v.graph,
					    v.search->spec.device, v.kernel,
					    err);
		if (!ret)
			print_united(&v, b->spec.slug, &u, o->json);
		if (!ret && u.seeds)
			say("'git maxkernel resume %s' judges them",
			    a->spec.slug);
		view_close(&v);
	}
	store_close(a);
	store_close(b);
	free(slug[0]);
	free(slug[1]);
	return ret ? cmd_status_of(err) : EXIT_DONE;
}

/* ---- which of the two ---- */

enum operand { NAMES_NOTHING, NAMES_SEARCH, NAMES_NODE };

static bool is_at(const char *name)
{
	const char *at = strrchr(name, '@');

	return at && at != name &&
	       (!strcmp(at, "@best") || !strcmp(at, "@root"));
}

/* A search by its whole slug; a node by a revision; a search by a prefix. */
static enum operand operand_of(struct session *s, const char *name,
			       struct err *err)
{
	struct err ignored = ERR_INIT;
	char *slug = NULL;
	enum operand found = NAMES_NOTHING;
	struct oid id;

	if (is_at(name))
		return NAMES_NODE;
	if (!node_slug(s->repo, name, &slug, err))
		found = NAMES_SEARCH;
	if ((!slug || strcmp(slug, name)) &&
	    !repo_rev(s->repo, name, &id, &ignored))
		found = NAMES_NODE;
	free(slug);
	if (found)
		err->code = ERR_NONE;
	return found;
}

static int two_operands(struct session *s, char **argv,
			const struct merge_opts *o, struct err *err)
{
	struct err why[2] = { ERR_INIT, ERR_INIT };
	enum operand kind[2];

	for (int i = 0; i < 2; i++) {
		kind[i] = operand_of(s, argv[i], &why[i]);
		if (kind[i] == NAMES_NOTHING)
			return err_set(err, why[i].code, "'%s' names neither a "
				       "node nor a search: %s", argv[i],
				       why[i].msg), cmd_status_of(&why[i]);
	}
	if (kind[0] != kind[1])
		return err_set(err, ERR_USAGE, "'%s' names a %s and '%s' a %s: "
			       "merge takes two searches or two nodes", argv[0],
			       kind[0] == NAMES_NODE ? "node" : "search",
			       argv[1], kind[1] == NAMES_NODE ? "node" :
			       "search"), EXIT_USAGE;
	if (kind[0] == NAMES_SEARCH) {
		if (o->no_judge)
			return err_set(err, ERR_USAGE, "--no-judge is for two "
				       "nodes"), EXIT_USAGE;
		return merge_searches(s, argv[0], argv[1], o, err);
	}
	if (o->as_seeds)
		return err_set(err, ERR_USAGE, "--as-seeds is for two "
			       "searches"), EXIT_USAGE;
	return merge_two_nodes(s, argv[0], argv[1], o, err);
}

static int merge_run(struct session *s, int argc, char **argv,
		     struct err *err)
{
	struct merge_opts o = { .json = false };
	const struct opt opts[] = {
		OPT_BOOL(0, "as-seeds", &o.as_seeds,
			"take the best of <other> as new nodes of <search>"),
		OPT_BOOL(0, "no-judge", &o.no_judge,
			"only make the node, judge it later"),
		OPT_BOOL(0, "continue", &o.go_on,
			"go on after conflicts were edited"),
		OPT_BOOL(0, "abort", &o.abort,
			"give up a merge that has conflicts"),
		OPT_BOOL(0, "json", &o.json, "print one JSON object"),
		OPT_BOOL('q', "quiet", &out_quiet, "no progress"),
		OPT_END
	};
	int status, want;

	argc = opt_parse(&cmd_merge, opts, argc, argv, &status, err);
	if (argc < 0)
		return status;
	if (o.go_on && o.abort)
		return err_set(err, ERR_USAGE, "--continue and --abort exclude "
			       "each other"), EXIT_USAGE;
	want = o.go_on || o.abort ? 0 : 2;
	if (argc != want)
		return err_set(err, ERR_USAGE, want ? "merge takes two searches "
			       "or two nodes" : "--continue and --abort take "
			       "no operands"), EXIT_USAGE;
	if (o.abort)
		return merge_abort(s, err);
	return o.go_on ? merge_continue(s, &o, err) :
		two_operands(s, argv, &o, err);
}

static const char *const usage[] = {
	"git maxkernel merge [<options>] <search> <other>",
	"git maxkernel merge [<options>] <node> <node>",
	"git maxkernel merge [<options>] (--continue | --abort)",
	NULL
};

const struct cmd cmd_merge = {
	.name = "merge",
	.group = "act",
	.summary = "unite two searches, or cross two nodes",
	.usage = usage,
	.needs = NEED_REPO,
	.run = merge_run,
};
