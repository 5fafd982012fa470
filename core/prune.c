/* What a pruning would drop, and what it must not. */
#include "core/prune.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/git.h"
#include "core/mem.h"
#include "core/policy.h"
#include "core/prune_parts.h"
#include "core/worker.h"

#define MAX_NAMED 20		/* nodes whose refs are looked up */

struct planner {
	struct search *s;
	const struct prune_rule *rule;
	struct prune_plan *out;
	struct strv ids;	/* workers that are us */
	struct strv devices;
	struct graph g;		/* on the search's own device */
	bool *stays, *measured;
	struct oidset reached;	/* by refs that are not our chain */
	struct oidset landed;	/* nodes that commits of the user stand for */
	int64_t now;
};

void prune_plan_release(struct prune_plan *p)
{
	for (size_t i = 0; i < p->nr_refs; i++)
		free(p->ref[i].name);
	free(p->ref);
	free(p->node);
	strv_release(&p->stays);
	memset(p, 0, sizeof(*p));
}

static void add_node(struct prune_plan *p, const struct oid *id)
{
	GROW(p->node, p->nr_nodes, p->cap_nodes);
	p->node[p->nr_nodes++] = *id;
}

/* ---- what git knows of the user's refs ---- */

/* Every ref but our chain, copies of remotes, and notes (they lead nowhere);
 * mine_too: all of the search's own refs are left out as well. */
static void push_all(struct planner *p, struct strv *args, bool mine_too)
{
	const char *slug = p->s->spec.slug;
	struct buf prefix = BUF_INIT;

	if (mine_too) {
		strv_pushf(args, "--exclude=refs/maxkernel/%s/*", slug);
		strv_pushf(args, "--exclude=refs/heads/maxkernel/%s/*", slug);
		strv_pushf(args, "--exclude=refs/remotes/*/maxkernel/%s/*",
			   slug);
	} else {
		strv_pushf(args, "--exclude=refs/maxkernel/%s/w/%s", slug,
			   p->s->worker);
	}
	strv_push(args, "--exclude=refs/maxkernel-remote/*");
	strv_push(args, "--exclude=refs/notes/*");
	/* our refs as the branches of a remote that takes nothing else */
	if (repo_config_str(p->s->repo, "maxkernel.refPrefix", &prefix) &&
	    !strncmp(prefix.ptr, "refs/heads/", 11))
		strv_pushf(args, "--exclude=refs/remotes/*/%s*",
			   prefix.ptr + 11);
	strv_push(args, "--all");
	buf_release(&prefix);
}

/* Object ids, one a line, into a set. */
static int git_ids(struct planner *p, const struct strv *args,
		   struct oidset *to, struct err *err)
{
	struct buf out = BUF_INIT;
	int ret = git_call(p->s->repo, args, &out, err);
	struct oid id;

	for (const char *at = out.ptr; !ret && *at;) {
		if (oid_parse(&id, at))
			oidset_add(to, &id);
		at += strcspn(at, "\n");
		at += *at == '\n';
	}
	buf_release(&out);
	return ret;
}

static int find_reached(struct planner *p, struct err *err)
{
	struct strv args = STRV_INIT;
	int ret;

	strv_push(&args, "rev-list");
	push_all(p, &args, p->rule->whole);
	strv_pushf(&args, "^%s", oid_text(&p->s->spec.base).s);
	ret = git_ids(p, &args, &p->reached, err);
	strv_release(&args);
	return ret;
}

/* Landing commits, and what was picked from them. */
static int find_landed(struct planner *p, struct err *err)
{
	struct strv args = STRV_INIT;
	int ret;

	strv_push(&args, "log");
	strv_pushf(&args, "--grep=^Maxkernel-Search: %s$", p->s->spec.slug);
	strv_push(&args, "--format=%(trailers:key=Maxkernel-Node,valueonly)");
	strv_push(&args, "--exclude=refs/maxkernel/*");
	push_all(p, &args, p->rule->whole);
	strv_pushf(&args, "^%s", oid_text(&p->s->spec.base).s);
	ret = git_ids(p, &args, &p->landed, err);
	strv_release(&args);
	return ret;
}

/* "branch 'x' has it": the first ref of the user's that leads to a node. */
static void tell_reached(struct planner *p, const struct oid *id)
{
	struct buf out = BUF_INIT, text = BUF_INIT;
	struct strv args = STRV_INIT;
	struct err ignored;
	const char *slug = p->s->spec.slug, *found = NULL;
	size_t len = 0;

	strv_push(&args, "for-each-ref");
	strv_push(&args, "--format=%(refname)");
	strv_pushf(&args, "--contains=%s", oid_text(id).s);
	if (git_call(p->s->repo, &args, &out, &ignored) == 0) {
		char *own = store_anchor_ref(slug, p->s->worker);

		for (const char *at = out.ptr; *at && !found;
		     at += strcspn(at, "\n") + 1) {
			len = strcspn(at, "\n");
			if (strncmp(at, "refs/maxkernel-remote/", 22) &&
			    (len != strlen(own) || strncmp(at, own, len)) &&
			    !(p->rule->whole && !strncmp(at, "refs/maxkernel/",
							 15)))
				found = at;
			if (!at[len])
				break;
		}
		free(own);
	}
	buf_addf(&text, "node %s stays: ", oid_short(id).s);
	if (found)
		buf_add_clean(&text, found, len, false);
	else
		buf_addstr(&text, "a HEAD");
	buf_addstr(&text, " leads to it");
	strv_push(&p->out->stays, text.ptr);
	strv_release(&args);
	buf_release(&text);
	buf_release(&out);
}

/* Bytes on disk of what only these commits lead to, about. */
static void add_bytes(struct planner *p, struct buf *input, bool not_refs)
{
	struct strv args = STRV_INIT;
	struct git_run run = { .args = &args, .input = input->ptr,
			       .input_len = input->len };
	struct err ignored;

	strv_push(&args, "rev-list");
	strv_push(&args, "--objects");
	strv_push(&args, "--disk-usage");
	strv_push(&args, "--stdin");
	strv_push(&args, "--not");
	if (not_refs)
		push_all(p, &args, true);
	strv_push(&args, oid_text(&p->s->spec.base).s);
	if (git_run(p->s->repo, &run, &ignored) == 0 && run.status == 0)
		p->out->bytes = strtoull(run.out.ptr, NULL, 10);
	git_run_release(&run);
	strv_release(&args);
}

/* ---- a whole search ---- */

/* Our own landing commit, and nobody stands on it. */
static bool branch_goes(struct planner *p, const char *name,
			const struct oid *id)
{
	struct search *s = p->s;
	const char *shown = name + strlen("refs/heads/");
	struct buf value = BUF_INIT;
	struct err ignored;
	struct commit c;
	bool ours = false;

	if (repo_commit_read(s->repo, id, &c, &ignored) == 0) {
		ours = commit_trailer(c.message, "Maxkernel-Node", &value) &&
			commit_trailer(c.message, "Maxkernel-Search",
				       &value) &&
			!strcmp(value.ptr, s->spec.slug) &&
			c.nr_parents == 1 &&
			oid_eq(&c.parent[0], &s->spec.base);
		commit_release(&c);
	}
	buf_release(&value);
	if (!ours)
		strv_pushf(&p->out->stays, "branch '%s' stays: it has commits "
			   "made by hand", shown);
	else if (repo_branch_in_use(s->repo, name))
		strv_pushf(&p->out->stays, "branch '%s' stays: it is checked "
			   "out", shown);
	else
		return true;
	return false;
}

static void add_ref(struct prune_plan *out, const char *name,
		    const struct oid *id)
{
	GROW(out->ref, out->nr_refs, out->cap_refs);
	out->ref[out->nr_refs].name = xstrdup(name);
	out->ref[out->nr_refs++].id = *id;
}

static int take_ref(void *ctx, const char *name, const struct oid *id)
{
	struct planner *p = ctx;

	if (strncmp(name, "refs/heads/", 11) || branch_goes(p, name, id))
		add_ref(p->out, name, id);
	return 0;
}

/* refs/maxkernel-remote/<remote>/<s>/..., refs/notes/remote/<remote>/
 * maxkernel/<s>/...; a remote's name may hold slashes. */
static int take_copy(void *ctx, const char *name, const struct oid *id)
{
	struct planner *p = ctx;
	char *part = xasprintf("/%s%s/", !strncmp(name, "refs/notes/", 11) ?
			       "maxkernel/" : "", p->s->spec.slug);

	if (strstr(name, part))
		add_ref(p->out, name, id);
	free(part);
	return 0;
}

/* The spec goes last: what is left of a cut off pruning can be named. */
static void spec_last(struct planner *p)
{
	struct prune_plan *out = p->out;
	char *spec = xasprintf("refs/maxkernel/%s/spec", p->s->spec.slug);

	for (size_t i = 0; i + 1 < out->nr_refs; i++)
		if (!strcmp(out->ref[i].name, spec)) {
			struct prune_ref swap = out->ref[i];

			out->ref[i] = out->ref[out->nr_refs - 1];
			out->ref[out->nr_refs - 1] = swap;
			break;
		}
	free(spec);
}

static int whole_refs(struct planner *p, struct err *err)
{
	static const char *const own[] = {
		"refs/heads/maxkernel/", "refs/notes/maxkernel/",
		"refs/maxkernel/"
	};
	struct repo *r = p->s->repo;
	int ret = 0;

	for (size_t i = 0; !ret && i < ARRAY_SIZE(own); i++) {
		char *prefix = xasprintf("%s%s/", own[i], p->s->spec.slug);

		ret = repo_ref_each(r, prefix, take_ref, p, err);
		free(prefix);
	}
	if (!ret)
		ret = repo_ref_each(r, "refs/maxkernel-remote/", take_copy, p,
				    err);
	if (!ret)
		ret = repo_ref_each(r, "refs/notes/remote/", take_copy, p,
				    err);
	spec_last(p);
	return ret;
}

static int plan_whole(struct planner *p, struct err *err)
{
	struct buf tips = BUF_INIT;
	struct prune_plan *out = p->out;
	int named = 0, ret = whole_refs(p, err);

	for (uint32_t i = 1; !ret && i < p->g.nr; i++) {
		const struct oid *id = &p->g.node[i].id;

		if (!oidset_has(&p->reached, id))
			add_node(out, id);
		else if (out->kept++, named < MAX_NAMED && ++named)
			tell_reached(p, id);
	}
	if (!ret && p->landed.nr)
		strv_pushf(&out->stays, "%zu node%s of it stand%s in your "
			   "history: the commits stay, but 'show' and 'verify' "
			   "will not know them", p->landed.nr,
			   p->landed.nr == 1 ? "" : "s",
			   p->landed.nr == 1 ? "s" : "");
	for (size_t i = 0; !ret && i < out->nr_refs; i++)
		buf_addf(&tips, "%s\n", oid_text(&out->ref[i].id).s);
	if (!ret && out->nr_refs)
		add_bytes(p, &tips, true);
	buf_release(&tips);
	return ret;
}

/* ---- losers ---- */

/* What a policy sees of the first nr nodes, about to begin a round. */
static void keep_needed_at(struct planner *p, const struct graph *g,
			     uint32_t nr_nodes, uint32_t round)
{
	struct graph view = *g;
	uint32_t *list = xcalloc(g->nr, sizeof(*list));
	size_t nr;

	view.nr = nr_nodes;
	nr = policy_needed_at(&p->s->spec, &view, round, list, view.nr);
	for (size_t i = 0; i < nr; i++)
		p->stays[list[i]] = true;
	free(list);
}

/* All that the policy may come back to: in the last round, which may not be
 * over, and in the next. */
static void keep_needed(struct planner *p, const struct graph *g)
{
	uint32_t last = graph_last_step(g), nr = g->nr;
	uint32_t size = (uint32_t)p->s->spec.round;
	uint32_t round = last ? (last - 1) / size : 0;

	keep_needed_at(p, g, nr, last ? round + 1 : 0);
	while (nr > 1 && g->node[nr - 1].step > round * size)
		nr--;
	keep_needed_at(p, g, nr, round);
}

static bool is_special(const struct node *n)
{
	static const char *const ops[] = {
		"human", "tune", "plan", "import"
	};

	for (size_t i = 0; n->op && i < ARRAY_SIZE(ops); i++)
		if (!strcmp(n->op, ops[i]))
			return true;
	return n->op && !strcmp(n->op, "crossover") && n->strategy &&
	       !strcmp(n->strategy, "merge");
}

/* What one device class says must stay. */
static int keep_on(struct planner *p, const char *device, bool exhausted,
		   struct err *err)
{
	struct graph g;
	int ret = store_load(p->s, device, &g, NULL, err);

	if (ret < 0)
		return ret;
	if (g.nr != p->g.nr) {
		graph_release(&g);
		return err_set(err, ERR_RACE, "search %s is being written to",
			       p->s->spec.slug);
	}
	for (uint32_t i = 1; i < g.nr; i++) {
		const struct node *n = &g.node[i];

		p->measured[i] |= !n->pending;
		if (i == g.champion || n->confirmed ||
		    (!n->pending && verdict_is_timed(n->rec.verdict) &&
		     n->score > g.node[g.champion].score - GRAPH_SMALLER))
			p->stays[i] = true;
	}
	if (!exhausted)
		keep_needed(p, &g);
	graph_release(&g);
	return 0;
}

static int find_devices(struct planner *p, struct err *err)
{
	struct lines l = { NULL, 0, 0 };
	int ret = lines_read(p->s->repo, p->s->spec.slug, p->s->worker, NULL,
			     &l, NULL, err);

	strv_push(&p->devices, p->s->spec.device);
	for (size_t i = 0; !ret && i < l.nr; i++) {
		const char *device = l.v[i].m.rec.device;

		if (l.v[i].m.event == METRIC_EVAL && device &&
		    !strv_has(&p->devices, device))
			strv_push(&p->devices, device);
	}
	lines_release(&l);
	return ret;
}

static bool by_rule(const struct planner *p, const struct node *n)
{
	return n->depth > p->rule->beyond_depth &&
	       !((double)(p->now - n->time) < p->rule->older_s);
}

static bool is_own(const struct planner *p, const struct node *n)
{
	return !n->united && n->worker && strv_has(&p->ids, n->worker);
}

/* Ancestors of what stays do too. */
static void keep_ancestors(struct planner *p)
{
	uint32_t *todo = xcalloc((size_t)p->g.nr * 3, sizeof(*todo)), nr = 0;

	for (uint32_t i = 0; i < p->g.nr; i++)
		if (p->stays[i])
			todo[nr++] = i;
	while (nr) {
		const struct node *n = &p->g.node[todo[--nr]];

		for (int k = 0; k < 2; k++) {
			uint32_t up = n->parent[k];

			if (up >= p->g.nr || p->stays[up])
				continue;
			p->stays[up] = true;
			todo[nr++] = up;
		}
	}
	free(todo);
}

static void keep_by_rule(struct planner *p)
{
	uint32_t last = graph_last_step(&p->g);
	uint32_t size = (uint32_t)p->s->spec.round;
	uint32_t round = last ? (last - 1) / size * size : 0;
	int named = 0;

	p->stays[0] = true;
	for (uint32_t i = 1; i < p->g.nr; i++) {
		const struct node *n = &p->g.node[i];

		if (is_special(n) || n->step > round || !p->measured[i] ||
		    !prune_tells(p->s, &p->g, i) ||
		    oidset_has(&p->landed, &n->id) || !by_rule(p, n))
			p->stays[i] = true;
		if (p->stays[i])
			continue;
		if (!is_own(p, n)) {
			p->out->others++;
			p->stays[i] = true;
		} else if (oidset_has(&p->reached, &n->id)) {
			p->stays[i] = true;
			if (named++ < MAX_NAMED)
				tell_reached(p, &n->id);
		}
	}
	if (named > MAX_NAMED)
		strv_pushf(&p->out->stays, "%d more nodes stay for such a "
			   "reason", named - MAX_NAMED);
}

static int plan_losers(struct planner *p, struct err *err)
{
	struct buf input = BUF_INIT;
	char *why = NULL;
	bool exhausted;
	int ret = store_finished(p->s, &why, err);

	exhausted = why && !strcmp(why, "exhausted");
	free(why);
	if (!ret)
		ret = worker_ids(p->s->repo, &p->ids, err);
	if (!ret)
		ret = find_devices(p, err);
	for (size_t i = 0; !ret && i < p->devices.nr; i++)
		ret = keep_on(p, p->devices.v[i], exhausted, err);
	if (ret < 0)
		return ret;
	keep_by_rule(p);
	keep_ancestors(p);
	for (uint32_t i = 1; i < p->g.nr; i++) {
		buf_addf(&input, "%s%s\n", p->stays[i] ? "^" : "",
			 oid_text(&p->g.node[i].id).s);
		if (p->stays[i])
			p->out->kept++;
		else
			add_node(p->out, &p->g.node[i].id);
	}
	if (p->out->nr_nodes)
		add_bytes(p, &input, false);
	buf_release(&input);
	return 0;
}

static int find_leftovers(struct planner *p, struct err *err)
{
	struct oid *left;
	size_t nr;
	int ret = prune_leftovers(p->s, &p->g, &left, &nr, err);

	p->out->unfinished = !ret && nr;
	free(left);
	return ret;
}

int prune_plan(struct search *s, const struct prune_rule *rule,
	       struct prune_plan *out, struct err *err)
{
	struct planner p = { .s = s, .rule = rule, .out = out,
			     .now = (int64_t)time(NULL) };
	int ret;

	memset(out, 0, sizeof(*out));
	ret = store_load(s, s->spec.device, &p.g, NULL, err);
	if (ret < 0)
		return ret;
	p.stays = xcalloc(p.g.nr, sizeof(*p.stays));
	p.measured = xcalloc(p.g.nr, sizeof(*p.measured));
	ret = find_reached(&p, err);
	if (!ret)
		ret = find_landed(&p, err);
	if (!ret)
		ret = rule->whole ? plan_whole(&p, err) :
			plan_losers(&p, err);
	if (!ret && !rule->whole)
		ret = find_leftovers(&p, err);
	graph_release(&p.g);
	oidset_release(&p.reached);
	oidset_release(&p.landed);
	strv_release(&p.ids);
	strv_release(&p.devices);
	free(p.stays);
	free(p.measured);
	return ret < 0 ? err_wrap(err, "cannot plan what to prune") : 0;
}
