/*
 * git maxkernel pick: one clean commit on the current branch, by git
 * cherry-pick of a landing commit, so that conflicts, signing, sign-off and
 * hooks are Git's.  The landing commit is that of the best branch, or one that
 * no ref points at: nothing is left behind whatever git says.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/child.h"
#include "cmd/node.h"
#include "cmd/opt.h"
#include "cmd/out.h"
#include "core/landing.h"
#include "core/mem.h"

#define NUMSTAT_MAX (1u << 20)
#define SIMPLEST_SHARE 0.95	/* of the champion's speedup */

static const char *const usage[] = {
	"git maxkernel pick [--force] [--simplest] [--no-verify] [-n] [-e] "
	"[-s] [-q] [<node>]",
	NULL
};

struct wish {
	bool force, simplest, no_verify, no_commit, edit, signoff;
};

/* ---- which node ---- */

/* 1: the kernel's files at HEAD are those of the node. */
static int at_head(struct repo *r, const struct view *v, uint32_t idx,
		   struct err *err)
{
	struct srcset here = SRCSET_INIT, there = SRCSET_INIT;
	struct err unused = ERR_INIT;
	struct oid head;
	bool same = true;
	int ret = repo_head(r, &head, err);

	if (ret)
		return ret == ERR_NOTFOUND ?
		       err_set(err, ERR_GIT, "there is no commit to pick onto "
			       "yet") : ret;
	if (!v->kernel)
		return err_set(err, ERR_FORMAT, "the section of search %s "
			       "cannot be read", v->search->spec.slug);
	ret = store_source(r, &v->graph.node[idx].id, v->kernel, false, &there,
			   err);
	/* files that HEAD no longer has differ, which is all we ask */
	if (!ret && store_source(r, &head, v->kernel, false, &here, &unused))
		same = false;
	for (size_t i = 0; !ret && same && i < there.nr; i++) {
		const struct srcfile *a = &there.v[i];
		const struct srcfile *b = srcset_find(&here, a->path);

		if (a->writable && (!b || a->text.len != b->text.len ||
				    memcmp(a->text.ptr, b->text.ptr,
					   a->text.len)))
			same = false;
	}
	srcset_release(&here);
	srcset_release(&there);
	return ret ? ret : same;
}

/* Kernels whose champion is not at HEAD. */
static int unpicked(struct repo *r, struct strv *out, struct err *err)
{
	struct strv kernels = STRV_INIT;
	struct view v;
	uint32_t idx;
	int ret = node_kernels(r, &kernels, err);

	for (size_t i = 0; ret >= 0 && i < kernels.nr; i++) {
		ret = node_best(r, kernels.v[i], &v, &idx, err);
		if (ret < 0)
			break;
		if (ret > 0)
			ret = at_head(r, &v, idx, err);
		else
			ret = 1;
		if (!ret)
			strv_push(out, kernels.v[i]);
		view_close(&v);
	}
	strv_release(&kernels);
	return ret < 0 ? ret : 0;
}

/* The only unpicked champion: 1; 0: there is none. */
static int the_only_one(struct repo *r, struct view *v, uint32_t *idx,
			struct err *err)
{
	struct strv names = STRV_INIT;
	struct buf list = BUF_INIT;
	int ret = unpicked(r, &names, err);

	if (!ret && names.nr == 1)
		ret = node_best(r, names.v[0], v, idx, err);
	for (size_t i = 0; i < names.nr; i++)
		buf_addf(&list, "\n  git maxkernel pick '%.60s@best'",
			 names.v[i]);
	if (!ret && names.nr > 1)
		ret = err_set(err, ERR_USAGE, "%zu kernels have a champion "
			      "that is not picked yet; name one:%s", names.nr,
			      list.ptr);
	buf_release(&list);
	strv_release(&names);
	return ret;
}

/* Lines that differ from the root, by git; UINT64_MAX: it can't be told. */
static uint64_t diff_lines(const struct view *v, uint32_t idx)
{
	struct strv argv = STRV_INIT;
	struct buf out = BUF_INIT;
	struct err err = ERR_INIT;
	uint64_t lines = 0;
	int status = 1;
	char *p;

	strv_push(&argv, "git");
	strv_push(&argv, "diff");
	strv_push(&argv, "--numstat");
	strv_push(&argv, "--no-ext-diff");
	strv_push(&argv, oid_text(&v->graph.node[0].id).s);
	strv_push(&argv, oid_text(&v->graph.node[idx].id).s);
	if (child_read(&argv, true, NUMSTAT_MAX, &out, &status, &err) || status)
		lines = UINT64_MAX;
	for (p = out.ptr; lines != UINT64_MAX && *p; p += *p == '\n') {
		lines += strtoul(p, &p, 10);
		lines += strtoul(p, NULL, 10);
		p += strcspn(p, "\n");
	}
	strv_release(&argv);
	buf_release(&out);
	return lines;
}

/* The shortest diff within 5 % of a confirmed node. */
static uint32_t simplest(const struct view *v, uint32_t idx)
{
	const struct graph *g = &v->graph;
	double least = g->node[idx].rec.speedup * SIMPLEST_SHARE;
	uint64_t lines, fewest = diff_lines(v, idx);
	uint32_t best = idx;

	for (uint32_t i = 1; i < g->nr; i++) {
		const struct node *n = &g->node[i];

		if (i == idx || !n->confirmed || !(n->rec.speedup >= least))
			continue;
		lines = diff_lines(v, i);
		if (lines < fewest || (lines == fewest && n->rec.speedup >
				       g->node[best].rec.speedup)) {
			fewest = lines;
			best = i;
		}
	}
	return best;
}

/* ---- may it be picked ---- */

/* Was it measured by this clone? */
static bool is_ours(const struct view *v, uint32_t idx)
{
	const struct node *n = &v->graph.node[idx];

	return !n->pending && !n->claimed;
}

/* Measures it here: 0 if it is faster here too. */
static int verify(const struct view *v, uint32_t idx, struct err *err)
{
	struct strv argv = STRV_INIT;
	char self[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	int status = 0, ret;

	self[n > 0 ? n : 0] = '\0';
	strv_push(&argv, n > 0 ? self : "git-maxkernel");
	strv_push(&argv, "verify");
	strv_push(&argv, oid_text(&v->graph.node[idx].id).s);
	say("node %s was measured elsewhere; measuring it here first",
	    node_short(v, idx).s);
	ret = child_run(&argv, &status, err);
	strv_release(&argv);
	if (ret)
		return ret;
	return !status ? 0 :
	       err_set(err, status == EXIT_INTERRUPTED ? ERR_STOPPED :
		       ERR_FORMAT, "node %s was not found faster here; "
		       "--no-verify picks it all the same",
		       node_short(v, idx).s);
}

static int check_claim(struct view *v, uint32_t idx, const struct wish *w,
		       struct err *err)
{
	const struct node *n = &v->graph.node[idx];

	if (is_ours(v, idx))
		return 0;
	if (!w->no_verify && !w->force)
		return verify(v, idx, err);
	say("its numbers are the claim of worker %s%s%s, not measured here",
	    n->rec_worker ? n->rec_worker : "(unknown)", n->rec.host ? " on " : "",
	    n->rec.host ? n->rec.host : "");
	return 0;
}

static int check_node(struct view *v, uint32_t idx, const struct wish *w,
		      struct err *err)
{
	const struct node *n = &v->graph.node[idx];

	if (!idx)
		return err_set(err, ERR_USAGE, "that is the root of search %s: "
			       "there is nothing to pick",
			       v->search->spec.slug);
	if (!n->confirmed && !w->force)
		return err_set(err, ERR_FORMAT, "node %s is not confirmed "
			       "(%s); measure it with `git maxkernel verify "
			       "%s', or pick it with --force",
			       node_short(v, idx).s, node_verdict(v, idx),
			       node_short(v, idx).s);
	return check_claim(v, idx, w, err);
}

/* ---- the landing commit ---- */

/* The best branch's commit, when it stands for this node. */
static bool branch_commit(struct repo *r, const struct view *v, uint32_t idx,
			  struct oid *out)
{
	struct buf ref = BUF_INIT, value = BUF_INIT;
	struct err err = ERR_INIT;
	struct commit c;
	bool same = false;

	buf_addstr(&ref, "refs/heads/");
	node_best_branch(v, &ref);
	if (!repo_ref_read(r, ref.ptr, out, &err) &&
	    !repo_commit_read(r, out, &c, &err)) {
		same = commit_trailer(c.message, "Maxkernel-Node", &value) &&
		       !strcmp(value.ptr,
			       oid_text(&v->graph.node[idx].id).s) &&
		       c.nr_parents == 1 &&
		       oid_eq(&c.parent[0], &v->search->spec.base);
		commit_release(&c);
	}
	buf_release(&value);
	buf_release(&ref);
	return same;
}

static int make_commit(struct repo *r, struct view *v, uint32_t idx,
		       struct oid *out, struct err *err)
{
	const struct spec *spec = &v->search->spec;
	const struct node *n = &v->graph.node[idx];
	struct buf plan = BUF_INIT, message = BUF_INIT;
	struct srcset source = SRCSET_INIT;
	struct record rec;
	struct oid tree;
	int ret = node_record(v, idx, &rec, err);

	if (ret)
		return ret;
	ret = store_plan(v->search, &n->id, &plan, err);
	if (!ret)
		ret = store_source(r, &n->id, v->kernel, false, &source, err);
	if (!ret)
		ret = repo_commit_tree(r, &spec->base, &tree, err);
	if (!ret)
		ret = repo_tree_with(r, &tree, &source, true, &tree, err);
	if (!ret) {
		land_message(&message, spec, n, &rec, plan.ptr);
		ret = repo_commit_write(r, &tree, &spec->base, 1, message.ptr,
					out, err);
	}
	record_release(&rec);
	srcset_release(&source);
	buf_release(&message);
	buf_release(&plan);
	return ret;
}

static int cherry_pick(const struct oid *commit, const struct wish *w,
		       int *status, struct err *err)
{
	struct strv argv = STRV_INIT;
	int ret;

	strv_push(&argv, "git");
	strv_push(&argv, "cherry-pick");
	if (w->no_commit)
		strv_push(&argv, "--no-commit");
	if (w->edit)
		strv_push(&argv, "--edit");
	if (w->signoff)
		strv_push(&argv, "--signoff");
	strv_push(&argv, oid_text(commit).s);
	ret = child_run(&argv, status, err);
	strv_release(&argv);
	return ret;
}

static int pick_node(struct repo *r, struct view *v, uint32_t idx,
		     const struct wish *w, struct err *err)
{
	struct oid commit;
	int status = 0, ret;

	if (w->simplest && v->graph.node[idx].confirmed)
		idx = simplest(v, idx);
	if (check_node(v, idx, w, err))
		return cmd_status_of(err);
	ret = at_head(r, v, idx, err);
	if (ret < 0)
		return EXIT_FAILED;
	if (ret) {
		say("nothing to pick: HEAD has the files of node %s already",
		    node_short(v, idx).s);
		return EXIT_NO;
	}
	if (!branch_commit(r, v, idx, &commit) &&
	    make_commit(r, v, idx, &commit, err))
		return EXIT_FAILED;
	if (cherry_pick(&commit, w, &status, err))
		return EXIT_FAILED;
	return status > 1 ? EXIT_FAILED : status;
}

static int pick_run(struct session *s, int argc, char **argv, struct err *err)
{
	struct wish w = { 0 };
	const struct opt opts[] = {
		OPT_BOOL('f', "force", &w.force,
			 "even if it is not confirmed"),
		OPT_BOOL(0, "simplest", &w.simplest,
			 "the shortest change within 5 % of it"),
		OPT_BOOL(0, "no-verify", &w.no_verify,
			 "trust numbers that were measured elsewhere"),
		OPT_BOOL('n', "no-commit", &w.no_commit,
			 "only to index and work tree"),
		OPT_BOOL('e', "edit", &w.edit, "edit the message"),
		OPT_BOOL('s', "signoff", &w.signoff,
			 "add a Signed-off-by trailer"),
		OPT_BOOL('q', "quiet", &out_quiet, "say nothing but errors"),
		OPT_END
	};
	struct view v;
	uint32_t idx;
	int status, ret;

	argc = opt_parse(&cmd_pick, opts, argc, argv, &status, err);
	if (argc < 0)
		return status;
	status = opt_operands(argc, 0, 1, err);
	if (status)
		return status;
	ret = argc ? node_find(s->repo, argv[0], &v, &idx, err) :
	      the_only_one(s->repo, &v, &idx, err);
	if (ret < 0)
		return cmd_status_of(err);
	if (!argc && !ret) {
		say("nothing to pick: no kernel has a confirmed node that is "
		    "not in HEAD");
		return EXIT_NO;
	}
	status = pick_node(s->repo, &v, idx, &w, err);
	view_close(&v);
	return status;
}

const struct cmd cmd_pick = {
	.name = "pick",
	.group = "act",
	.summary = "put a node on the current branch, as one commit",
	.usage = usage,
	.needs = NEED_REPO | NEED_WORKTREE,
	.run = pick_run,
};
