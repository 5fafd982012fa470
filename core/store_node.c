/* One node of a search: its records, its plan; and whether it is over. */
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/store_parts.h"

/* ---- one node ---- */

static int node_lines(struct search *s, const struct oid *node,
		      struct lines *l, struct err *err)
{
	int ret = lines_read(s->repo, s->spec.slug, s->worker, node, l, NULL,
			     err);

	lines_sort(l);
	return ret;
}

/* The node's state, where its section can be read. */
static bool node_state(struct search *s, const struct oid *node,
		       struct oid *state)
{
	struct kernel k;
	struct err ignored;
	bool known;

	if (store_spec_kernel(&s->spec, &k, &ignored) < 0)
		return false;
	known = store_state(s->repo, node, &k, state, &ignored) == 0;
	kernel_release(&k);
	return known;
}

int store_record(struct search *s, const struct oid *node,
		 const char *device, struct record *out, struct err *err)
{
	struct lines l = { NULL, 0, 0 };
	struct oid state;
	size_t best;
	int ret = node_lines(s, node, &l, err);

	record_init(out);
	if (!ret) {
		best = (s->together ? lines_choose_any : lines_choose)
			(&l, 0, l.nr, s->section_hash, device,
			 node_state(s, node, &state) ? &state : NULL);
		if (best == l.nr)
			ret = err_set(err, ERR_NOTFOUND, "node %s was not "
				      "measured on %s", oid_short(node).s,
				      device);
		else
			line_record(s->repo, &l.v[best], out);
	}
	lines_release(&l);
	return ret;
}

int store_records(struct search *s, const struct oid *node,
		  struct record **out, size_t *nr, struct err *err)
{
	struct lines l = { NULL, 0, 0 };
	int ret = node_lines(s, node, &l, err);

	*nr = 0;
	*out = xcalloc(l.nr, sizeof(**out));
	for (size_t i = 0; !ret && i < l.nr; i++)
		if (l.v[i].m.event == METRIC_EVAL)
			line_record(s->repo, &l.v[i], &(*out)[(*nr)++]);
	lines_release(&l);
	return ret;
}

/* ---- the plan ---- */

struct plan_read {
	struct search *s;
	const struct oid *on;
	struct oid blob;
	bool found, ours;
};

static int plan_of_ref(void *ctx, const char *name, const struct oid *id)
{
	struct plan_read *p = ctx;
	bool ours = !strcmp(strrchr(name, '/') + 1, p->s->worker);
	struct notes n;
	struct err ignored;

	(void)id;
	if (p->found && p->ours)
		return 0;
	if (notes_get(p->s->repo, name, p->on, &n, &ignored) < 0)
		return 0;
	if (n.nr && (!p->found || ours ||
		     oid_cmp(&n.v[0].blob, &p->blob) < 0)) {
		p->blob = n.v[0].blob;
		p->ours = ours;
		p->found = true;
	}
	notes_release(&n);
	return 0;
}

int store_plan(struct search *s, const struct oid *node, struct buf *out,
	       struct err *err)
{
	struct plan_read p = { .s = s, .on = node };
	char *prefix = store_notes_ref(s->spec.slug, "plan", NULL);
	int ret = repo_ref_each(s->repo, prefix, plan_of_ref, &p, err);

	free(prefix);
	buf_reset(out);
	if (!ret && p.found)
		ret = repo_blob_read(s->repo, &p.blob, out, NOTES_MAX_TEXT,
				     err);
	return ret < 0 ? err_wrap(err, "cannot read the plan of %s",
				  oid_short(node).s) : 0;
}

/* ---- is it over? ---- */

int store_finished(struct search *s, char **why, struct err *err)
{
	struct lines l = { NULL, 0, 0 };
	const struct metric *last = NULL;
	int ret = lines_read_config(s, &l, err);

	*why = NULL;
	lines_sort(&l);
	for (size_t i = 0; i < l.nr; i++)
		if (l.v[i].m.event == METRIC_CONFIG &&
		    (!strcmp(l.v[i].m.what, "done") ||
		     !strcmp(l.v[i].m.what, "reopen")))
			last = &l.v[i].m;
	if (!ret && last && !strcmp(last->what, "done"))
		*why = xstrdup(last->why ? last->why : "done");
	lines_release(&l);
	return ret;
}
