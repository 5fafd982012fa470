/* The best of another search as new nodes of this one. */
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/merge_parts.h"
#include "core/store_parts.h"

uint32_t merge_step(const struct graph *g, int round)
{
	uint32_t size = round > 0 ? (uint32_t)round : 1;

	return (graph_last_step(g) + size - 1) / size * size + 1;
}

struct seeds {
	struct search *into, *from;
	struct kernel kernel;		/* of into */
	struct graph a, b;
	struct oidset states;		/* of into, and what was made */
	uint32_t *order;		/* of b's confirmed nodes, best first */
	size_t nr_order;
	size_t unfit;			/* nodes without into's files */
	struct err why;			/* of the last of those */
};

static void rank(struct seeds *s)
{
	s->order = xcalloc(s->b.nr, sizeof(*s->order));
	for (uint32_t i = 1; i < s->b.nr; i++) {
		size_t at = s->nr_order;

		if (!s->b.node[i].confirmed)
			continue;
		for (; at && s->b.node[s->order[at - 1]].score <
		     s->b.node[i].score; at--)
			s->order[at] = s->order[at - 1];
		s->order[at] = i;
		s->nr_order++;
	}
}

static int take_plan(const struct seeds *s, const struct node *n,
		     struct buf *out, struct err *err)
{
	struct buf plan = BUF_INIT;
	int ret = store_plan(s->from, &n->id, &plan, err);

	buf_addf(out, "### taken over from search %s\n\nNode %s there, "
		 "confirmed with another section or root: its numbers do not "
		 "hold here.\n", s->from->spec.slug, oid_text(&n->id).s);
	if (plan.len)
		buf_addch(out, '\n');
	buf_add_clean(out, plan.ptr, plan.len, true);
	buf_release(&plan);
	return ret;
}

/* One node; *made stays as it is when into has its state, or cannot have. */
static int take_one(struct seeds *s, const struct node *n, uint32_t step,
		    size_t *made, struct err *err)
{
	struct srcset source = SRCSET_INIT;
	struct buf plan = BUF_INIT;
	struct store_attempt a = {
		.op = "import", .strategy = "merge", .subject = n->subject,
		.proposer = n->proposer, .step = step,
		.parent = &s->into->spec.root, .nr_parents = 1,
		.source = &source,
	};
	int ret = store_source(s->into->repo, &n->id, &s->kernel, false,
			       &source, &s->why);

	if (ret == ERR_FORMAT || ret == ERR_NOTFOUND || ret == ERR_LIMIT) {
		s->unfit++;
		return 0;
	}
	if (ret) {
		*err = s->why;
		return ret;
	}
	srcset_state(&source, &a.state);
	if (oidset_add(&s->states, &a.state)) {
		ret = take_plan(s, n, &plan, err);
		a.plan = plan.ptr;
		if (!ret)
			ret = store_append(s->into, &a, 1, err);
		*made += !ret;
	}
	buf_release(&plan);
	srcset_release(&source);
	return ret;
}

static int take_all(struct seeds *s, size_t max, size_t *made,
		    struct err *err)
{
	uint32_t step = merge_step(&s->a, s->into->spec.round);
	int ret = 0;

	for (uint32_t i = 0; i < s->a.nr; i++)
		oidset_add(&s->states, &s->a.node[i].state);
	rank(s);
	for (size_t i = 0; !ret && i < s->nr_order && i < max; i++)
		ret = take_one(s, &s->b.node[s->order[i]],
			       step + (uint32_t)*made, made, err);
	if (!ret && s->unfit && s->unfit == (s->nr_order < max ?
					     s->nr_order : max)) {
		*err = s->why;
		ret = err_wrap(err, "no node of %s can be one of %s",
			       s->from->spec.slug, s->into->spec.slug);
	}
	return ret;
}

/* The root's state is not in the graph: a root without measurements has none
 * of its own there. */
static int add_root_state(struct seeds *s, struct err *err)
{
	struct oid state;
	int ret = store_state(s->into->repo, &s->into->spec.root, &s->kernel,
			      &state, err);

	if (!ret)
		oidset_add(&s->states, &state);
	return ret;
}

int merge_seeds(struct search *into, struct search *from, size_t max,
		size_t *made, struct err *err)
{
	struct seeds s = { .into = into, .from = from };
	int ret;

	*made = 0;
	if (!strcmp(into->spec.slug, from->spec.slug))
		return err_set(err, ERR_FORMAT, "%s is one search, not two",
			       into->spec.slug);
	ret = store_spec_kernel(&into->spec, &s.kernel, err);
	if (ret < 0)
		return ret;
	graph_init(&s.a);
	graph_init(&s.b);
	ret = store_load(into, into->spec.device, &s.a, NULL, err);
	if (!ret)
		ret = store_load(from, from->spec.device, &s.b, NULL, err);
	if (!ret)
		ret = add_root_state(&s, err);
	if (!ret)
		ret = take_all(&s, max, made, err);
	graph_release(&s.a);
	graph_release(&s.b);
	oidset_release(&s.states);
	free(s.order);
	kernel_release(&s.kernel);
	return ret;
}
