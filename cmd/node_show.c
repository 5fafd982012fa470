/* What the commands show of nodes. */
#include "cmd/node.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/policy.h"

size_t node_frontier(const struct view *v, size_t max, uint32_t **out)
{
	if (max > v->graph.nr)
		max = v->graph.nr;
	*out = xcalloc(max + 1, sizeof(**out));
	return policy_frontier(&v->search->spec, &v->graph, *out, max);
}

void node_best_branch(const struct view *v, struct buf *out)
{
	buf_addf(out, "maxkernel/%s/best/%s", v->search->spec.slug,
		 v->search->spec.device);
}

struct holder {
	struct repo *r;
	const struct oid *node;
	const char *end;	/* of the refs that are looked at */
	struct buf *out;
};

/* The node that a landing commit stands for. */
static bool landed_node(struct repo *r, const struct oid *tip, struct oid *out)
{
	struct buf value = BUF_INIT;
	struct err unused = ERR_INIT;
	struct commit c;
	bool is;

	if (repo_commit_read(r, tip, &c, &unused) < 0)
		return false;
	is = commit_trailer(c.message, "Maxkernel-Node", &value) &&
	     value.len == OID_HEX && oid_parse(out, value.ptr);
	commit_release(&c);
	buf_release(&value);
	return is;
}

static int is_holder(void *ctx, const char *name, const struct oid *id)
{
	struct holder *h = ctx;
	size_t len = strlen(name), end = strlen(h->end);
	struct oid node;

	if (len <= end || name[len - end - 1] != '/' ||
	    strcmp(name + len - end, h->end) != 0 ||
	    !landed_node(h->r, id, &node) || !oid_eq(&node, h->node))
		return 0;
	buf_addstr(h->out, name + strlen("refs/remotes/"));
	return 1;
}

bool node_branch_of(const struct view *v, uint32_t idx, struct buf *out,
		    struct oid *other)
{
	struct repo *r = v->search->repo;
	const struct oid *node = &v->graph.node[idx].id;
	struct buf name = BUF_INIT;
	struct holder h = { r, node, NULL, out };
	struct err unused = ERR_INIT;
	char *ref;
	struct oid tip;
	bool found;

	memset(other, 0, sizeof(*other));
	node_best_branch(v, &name);
	ref = xasprintf("refs/heads/%s", name.ptr);
	found = !repo_ref_read(r, ref, &tip, &unused) &&
		landed_node(r, &tip, other) && oid_eq(other, node);
	if (found)
		buf_addstr(out, name.ptr);
	h.end = name.ptr;
	if (!found)
		found = repo_ref_each(r, "refs/remotes/", is_holder, &h,
				      &unused) > 0;
	free(ref);
	buf_release(&name);
	return found;
}

void node_pathspecs(const struct view *v, struct strv *out)
{
	for (size_t i = 0; v->kernel && i < v->kernel->file.nr; i++) {
		const char *glob = v->kernel->file.v[i];

		strv_pushf(out, ":(top,%s)%s",
			   strpbrk(glob, "*?[\\") ? "glob" : "literal", glob);
	}
}

int node_record(struct view *v, uint32_t idx, struct record *out,
		struct err *err)
{
	const struct node *n = &v->graph.node[idx];
	int ret;

	record_init(out);
	ret = store_record(v->search, &n->id, v->search->spec.device, out,
			   err);
	if (!ret)
		return 0;
	record_release(out);
	record_init(out);
	if (ret != ERR_NOTFOUND)
		return ret;
	err->code = ERR_NONE;
	record_copy(out, &n->rec);
	return 0;
}

static void parents_json(struct jout *j, const struct view *v,
			 const struct node *n)
{
	struct buf list = BUF_INIT;

	buf_addch(&list, '[');
	for (int i = 0; i < 2; i++)
		if (n->parent[i] != NODE_NONE)
			buf_addf(&list, "%s\"%s\"", list.len > 1 ? "," : "",
				 oid_text(&v->graph.node[n->parent[i]].id).s);
	buf_addch(&list, ']');
	jout_raw(j, "parents", list.ptr);
	buf_release(&list);
}

/* What the calls of models that it was made with used. */
static void used_json(struct jout *j, const struct view *v, uint32_t idx)
{
	struct usage used;
	uint32_t unknown, nr = graph_used(&v->graph, idx, &used, &unknown);

	jout_int(j, "calls", nr);
	jout_int(j, "tokens", usage_tokens(&used));
	jout_num(j, "cost", nr > unknown || !nr ? used.cost : NAN);
}

void node_json(struct jout *j, const struct view *v, uint32_t idx,
	       const struct record *r)
{
	const struct node *n = &v->graph.node[idx];

	jout_str(j, "kernel", v->search->spec.kernel);
	jout_str(j, "search", v->search->spec.slug);
	jout_str(j, "node", oid_text(&n->id).s);
	jout_str(j, "state", oid_text(&n->state).s);
	parents_json(j, v, n);
	jout_str(j, "op", n->op);
	jout_int(j, "depth", n->depth);
	jout_int(j, "step", n->step);
	jout_str(j, "proposer", n->proposer);
	jout_str(j, "strategy", n->strategy);
	jout_str(j, "recipe", n->recipe);
	jout_str(j, "subject", n->subject);
	jout_str(j, "worker", n->worker);
	jout_int(j, "time", n->time);
	jout_bool(j, "pending", n->pending);
	jout_str(j, "measured_by", n->rec_worker);
	jout_bool(j, "champion", idx && idx == v->graph.champion);
	jout_int(j, "plan_steps", n->steps);
	used_json(j, v, idx);
	jout_record(j, r ? r : &n->rec);
}

void node_json_full(struct jout *j, struct view *v, uint32_t idx)
{
	struct err unused = ERR_INIT;
	struct record r;

	record_init(&r);
	if (node_record(v, idx, &r, &unused))
		node_json(j, v, idx, NULL);
	else
		node_json(j, v, idx, &r);
	record_release(&r);
}

void node_speedup(struct buf *b, const struct node *n)
{
	if (n->confirmed && isfinite(n->rec.speedup)) {
		fmt_ratio(b, n->rec.speedup);
	} else if (isfinite(n->rec.est_speedup)) {
		buf_addch(b, '~');
		fmt_ratio(b, n->rec.est_speedup);
	} else {
		buf_addch(b, '-');
	}
}

const char *node_verdict(const struct view *v, uint32_t idx)
{
	const struct node *n = &v->graph.node[idx];

	if (idx == 0)
		return "root";
	if (n->pending || n->rec.verdict == V_NONE)
		return "pending";
	return verdict_name(n->rec.verdict);
}

struct oid_hex node_short(const struct view *v, uint32_t idx)
{
	return oid_short(&v->graph.node[idx].id);
}
