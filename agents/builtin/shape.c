#include "agents/builtin/shape.h"

#include "core/dtype.h"

static int at_most(int n, int max)
{
	return n > max ? max : n;
}

/* What is written, else the first array. */
static const struct arg *main_arg(const struct kernel *k)
{
	const struct arg *first = NULL;

	for (int i = 0; i < k->nr_args; i++) {
		const struct arg *a = &k->arg[i];

		if (a->kind == ARG_OUT || a->kind == ARG_INOUT ||
		    a->kind == ARG_RET)
			return a;
		if (!first && a->kind != ARG_DIM && a->rank)
			first = a;
	}
	return first;
}

void shape_add(const struct site *s, struct buf *out)
{
	const struct arg *a = main_arg(s->k);
	struct evidence e;
	int depth = 0;

	evidence_find(s, &e);
	for (size_t i = 0; i < s->loops.nr; i++)
		if (s->loops.v[i].depth >= depth)
			depth = s->loops.v[i].depth + 1;
	if (site_problem(s))
		buf_addstr(out, "x");
	else
		buf_addf(out, "d%dr%ds%dc%dw%d", at_most(depth, 6),
			 at_most(e.reductions, 2), at_most(e.strided, 1),
			 at_most(e.calls, 2), at_most(e.stores, 2));
	if (a)
		buf_addf(out, "-%s", dtype_name(a->type));
}
