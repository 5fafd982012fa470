/* git maxkernel merge <node> <node>: a crossover, judged. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agents/agents.h"
#include "cmd/merge.h"
#include "cmd/run.h"
#include "core/mem.h"
#include "core/merge.h"
#include "core/search.h"

/* ---- judging ---- */

static void on_event(void *ctx, const struct search_event *e)
{
	(void)ctx;
	if (e->kind == SEARCH_NOTE)
		warn("%s", e->text);
}

static void on_tick(void *ctx, const struct search_now *n)
{
	const struct task *t = ctx;

	if (live_on())
		live("%s: %s", t->kernel->name, n->doing);
}

static int run_judge(struct task *t, struct search *s, const struct oid *node,
		     struct record *out, struct err *err)
{
	char *device = xstrdup(t->judge[0]->info.device);
	const struct budget no_cap = { .attempts = 0 };
	struct purse purse;
	struct search_run run = {
		.purse = &purse, .search = s, .kernel = t->kernel, .root = &t->source,
		.aux = &t->aux, .policy = policy_find(s->spec.policy),
		.proposer = proposer_find(s->spec.proposer),
		.judge = t->judge, .jobs = t->jobs, .config = t->config,
		.stop = &task_stop, .stop_fd = task_stop_fd,
		.event = on_event, .tick = on_tick, .ctx = t,
	};
	uint32_t idx;
	int ret;

	purse_init(&purse, &no_cap);
	ret = search_judge_node(&run, node, err);
	idx = ret ? NODE_NONE : graph_find(&run.graph, node);

	live("%s", "");
	if (!ret && task_stop)
		ret = err_set(err, ERR_STOPPED, "interrupted: 'git maxkernel "
			      "resume %s' judges the node", s->spec.slug);
	if (!ret)
		record_copy(out, &run.graph.node[idx].rec);
	if (!ret)
		ret = merge_publish(s, &run.graph, device, t->kernel, err);
	search_release(&run);
	free(device);
	return ret;
}

static int judge(struct session *s, struct search *search,
		 const struct oid *node, struct record *out, struct err *err)
{
	struct oid_hex root = oid_text(&search->spec.root);
	struct kernel_file f;
	struct task t;
	int ret = run_spec_kernel(&search->spec, &f, err);

	if (ret)
		return ret;
	ret = task_open(&t, s, &f.v[0], root.s, false, err);
	if (!ret)
		ret = task_judge(&t, 1, err);
	if (!ret)
		ret = run_judge(&t, search, node, out, err);
	task_close(&t);
	kernel_file_release(&f);
	return ret;
}

/* ---- telling ---- */

static void print_node(const struct view *v, uint32_t idx,
		       const struct record *r, bool dup, bool json)
{
	const struct node *n = &v->graph.node[idx];
	struct buf ratio = BUF_INIT;
	struct jout j;

	if (json) {
		jout_begin(&j);
		node_json(&j, v, idx, r->verdict == V_NONE ? NULL : r);
		jout_bool(&j, "dup", dup);
		jout_end(&j, stdout);
		return;
	}
	if (r->verdict == V_CONFIRMED)
		fmt_ratio(&ratio, r->speedup);
	else if (r->est_speedup > 0) {
		buf_addch(&ratio, '~');
		fmt_ratio(&ratio, r->est_speedup);
	}
	printf("%s %s%s%s ", node_short(v, idx).s, dup ? "dup" :
	       r->verdict == V_NONE ? "pending" : verdict_name(r->verdict),
	       ratio.len ? " " : "", ratio.ptr);
	put_clean(stdout, n->subject ? n->subject : "");
	putchar('\n');
	if (r->error && !dup)
		put_clean_lines(stdout, "    ", r->error);
	buf_release(&ratio);
}

static void print_conflicts(const struct view *v, const struct held *h,
			    const struct merge_conflicts *c, bool json)
{
	struct buf list = BUF_INIT;
	struct jout j, one;

	for (size_t i = 0; i < c->nr; i++) {
		char *file = xasprintf("%s/%s", h->dir, c->v[i].path);

		if (!json) {
			printf("conflict%s in ", c->v[i].text ? "" :
			       " without a text");
			put_clean(stdout, c->v[i].path);
			fputs(": edit ", stdout);
			put_clean(stdout, file);
			putchar('\n');
		} else {
			struct buf text = BUF_INIT;

			jout_begin(&one);
			jout_str(&one, "path", c->v[i].path);
			jout_str(&one, "file", file);
			jout_bool(&one, "text", c->v[i].text != NULL);
			jout_detach(&one, &text);
			buf_addf(&list, "%s%s", i ? "," : "[", text.ptr);
			buf_release(&text);
		}
		free(file);
	}
	if (json) {
		buf_addch(&list, ']');
		jout_begin(&j);
		jout_str(&j, "kernel", v->search->spec.kernel);
		jout_str(&j, "search", v->search->spec.slug);
		jout_raw(&j, "conflicts", list.ptr);
		jout_end(&j, stdout);
	}
	buf_release(&list);
	say("then 'git maxkernel merge --continue', or '--abort' to give it "
	    "up");
}

/* ---- the node ---- */

/* Stores what was crossed, judges and shows it; an exit status. */
static int make_node(struct session *s, struct view *v,
		     const struct crossing *c, const struct merge_opts *o,
		     struct err *err)
{
	uint32_t idx = graph_find_state(&v->graph, &c->state);
	bool dup = idx != NODE_NONE, timed;
	struct view after;
	struct record r;
	struct oid id;
	int ret = 0;

	record_init(&r);
	if (dup) {
		id = v->graph.node[idx].id;
		record_copy(&r, &v->graph.node[idx].rec);
	} else {
		ret = merge_store(v->search, &v->graph, c, &id, err);
		if (!ret && !o->no_judge)
			ret = judge(s, v->search, &id, &r, err);
	}
	if (!ret)
		ret = view_open(&after, s->repo, v->search->spec.slug, err);
	if (ret) {
		record_release(&r);
		return cmd_status_of(err);
	}
	idx = graph_find(&after.graph, &id);
	if (idx != NODE_NONE)
		print_node(&after, idx, &r, dup, o->json);
	timed = dup || r.verdict == V_NONE || verdict_is_timed(r.verdict);
	view_close(&after);
	record_release(&r);
	return timed ? EXIT_DONE : EXIT_NO;
}

static int cross(struct session *s, struct view *v, uint32_t a, uint32_t b,
		 const struct merge_opts *o, struct err *err)
{
	struct merge_conflicts conflicts;
	struct crossing c;
	struct held h;
	int status, ret = store_claim(v->search, err);

	if (!ret)
		ret = merge_cross(v->search, &v->graph,
				  proposer_find(v->search->spec.proposer), a,
				  b, &c, &conflicts, err);
	if (ret < 0)
		return cmd_status_of(err);
	if (!ret) {
		status = make_node(s, v, &c, o, err);
	} else if (held_write(v->search, &v->graph.node[a].id,
			      &v->graph.node[b].id, &c.source, &conflicts, &h,
			      err)) {
		status = cmd_status_of(err);
	} else {
		print_conflicts(v, &h, &conflicts, o->json);
		held_release(&h);
		status = EXIT_NO;
	}
	crossing_release(&c);
	merge_conflicts_release(&conflicts);
	return status;
}

/* ---- naming ---- */

/* A search that has both nodes: that of the one, of the other, or any. */
static int find_both(struct session *s, struct view *v, uint32_t *a,
		     const struct oid *other, const struct oid *root,
		     uint32_t *b, struct err *err)
{
	struct spec_list list = { NULL, 0, 0 };
	struct oid own = v->graph.node[*a].id;
	bool one_root = oid_eq(root, &v->search->spec.root);
	int ret;

	*b = graph_find(&v->graph, other);
	if (*b != NODE_NONE)
		return 0;
	view_close(v);
	ret = node_searches(s->repo, &list, err);
	for (size_t i = 0; i < list.nr && !ret; i++) {
		ret = view_open(v, s->repo, list.v[i].slug, err);
		if (ret)
			break;
		*a = graph_find(&v->graph, &own);
		*b = graph_find(&v->graph, other);
		if (*a != NODE_NONE && *b != NODE_NONE)
			goto out;
		view_close(v);
	}
	if (!ret && !one_root)
		ret = err_set(err, ERR_FORMAT, "%s and %s are of searches with "
			      "different roots: 'git maxkernel merge "
			      "--as-seeds <search> <other>' takes the best of "
			      "one into the other", oid_short(&own).s,
			      oid_short(other).s);
	else if (!ret)
		ret = err_set(err, ERR_USAGE, "no search has both %s and %s: "
			      "unite theirs first, 'git maxkernel merge "
			      "<search> <other>'", oid_short(&own).s,
			      oid_short(other).s);
out:
	spec_list_release(&list);
	return ret;
}

int merge_two_nodes(struct session *s, const char *name_a, const char *name_b,
		    const struct merge_opts *o, struct err *err)
{
	struct view v, other;
	struct oid id, root;
	uint32_t a, b;
	int status, ret = node_find(s->repo, name_b, &other, &b, err);

	if (ret)
		return cmd_status_of(err);
	id = other.graph.node[b].id;
	root = other.search->spec.root;
	view_close(&other);
	ret = node_find(s->repo, name_a, &v, &a, err);
	if (!ret)
		ret = find_both(s, &v, &a, &id, &root, &b, err);
	if (ret)
		return cmd_status_of(err);
	if (a == b || !a || !b) {
		view_close(&v);
		return err_set(err, ERR_USAGE, a == b ? "'%s' and '%s' are one "
			       "node" : "of '%s' and '%s' one is the root: "
			       "there is nothing to cross", name_a, name_b),
		       EXIT_USAGE;
	}
	task_signals();
	status = cross(s, &v, a, b, o, err);
	view_close(&v);
	return status;
}

/* ---- going on ---- */

/* The merge once more, with the edited files in the place of conflicts. */
static int take_edited(struct view *v, const struct held *h,
		       struct crossing *c, struct err *err)
{
	struct merge_conflicts conflicts;
	uint32_t a = graph_find(&v->graph, &h->a);
	uint32_t b = graph_find(&v->graph, &h->b);
	int ret;

	memset(c, 0, sizeof(*c));
	if (a == NODE_NONE || b == NODE_NONE)
		return err_set(err, ERR_NOTFOUND, "search %s has not both of "
			       "%s and %s any more: 'git maxkernel merge "
			       "--abort'", h->slug, oid_short(&h->a).s,
			       oid_short(&h->b).s);
	ret = merge_cross(v->search, &v->graph, NULL, a, b, c, &conflicts,
			  err);
	if (ret < 0)
		return ret;
	c->proposer = "human";
	ret = held_take(h, &conflicts, &c->source, err);
	merge_conflicts_release(&conflicts);
	srcset_state(&c->source, &c->state);
	return ret;
}

int merge_continue(struct session *s, const struct merge_opts *o,
		   struct err *err)
{
	struct crossing c;
	struct view v;
	struct held h;
	int status, ret = held_read(s->repo, &h, err);

	if (ret)
		return cmd_status_of(err);
	ret = view_open(&v, s->repo, h.slug, err);
	if (ret) {
		held_release(&h);
		return cmd_status_of(err);
	}
	task_signals();
	ret = store_claim(v.search, err);
	if (!ret) {
		ret = take_edited(&v, &h, &c, err);
		status = ret ? cmd_status_of(err) :
			make_node(s, &v, &c, o, err);
		if (status <= EXIT_NO && held_drop(s->repo, &h, err))
			status = cmd_status_of(err);
		crossing_release(&c);
	} else {
		status = cmd_status_of(err);
	}
	view_close(&v);
	held_release(&h);
	return status;
}

int merge_abort(struct session *s, struct err *err)
{
	struct held h;
	int ret = held_read(s->repo, &h, err);

	if (ret)
		return cmd_status_of(err);
	ret = held_drop(s->repo, &h, err);
	if (!ret)
		say("the merge of %s and %s is given up", oid_short(&h.a).s,
		    oid_short(&h.b).s);
	held_release(&h);
	return ret ? cmd_status_of(err) : EXIT_DONE;
}
