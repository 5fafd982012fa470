#include "core/judge/layout.h"

#include <stdlib.h>
#include <string.h>

#include "core/judge/ctl.h"
#include "core/mem.h"

#define PAGE 4096u
#define MAX_SLOT (2ull << 30)		/* bytes of one slot's arguments */
#define CELL_IN 8u			/* of a scalar */
#define CELL_OUT 64u			/* of a returned value */

struct region {			/* one memfd, and where it is mapped */
	uint64_t addr, off;
	bool out;
};

static uint64_t round_up(uint64_t n, uint64_t to)
{
	return (n + to - 1) / to * to;
}

enum dtype layout_type(const struct layout *l, int arg)
{
	const struct arg *a = &l->kernel->arg[arg];

	if (a->kind == ARG_DIM) {
		switch (l->kernel->dim[a->dim].type) {
		case DIM_INT:
			return DT_I32;
		case DIM_LONG:
			return DT_I64;
		case DIM_SIZE:
			return DT_U64;
		}
	}
	/* The narrow floats are carried as integers in C, which a double
	 * build of the source does not change. */
	return l->as_double && a->type == DT_F32 ? DT_F64 : a->type;
}

static bool is_array(const struct arg *a)
{
	return a->rank > 0;
}

static bool is_written(const struct arg *a)
{
	return a->kind == ARG_OUT || a->kind == ARG_INOUT ||
	       a->kind == ARG_RET;
}

/* Sizes of an argument, the same in all slots. */
static int measure(struct layout *l, int i, struct err *err)
{
	const struct kernel *k = l->kernel;
	const struct arg *a = &k->arg[i];
	const int64_t *dims = l->shape->dim;
	int64_t limit = (int64_t)(MAX_SLOT / dtype_size(layout_type(l, i)));

	l->elems[i] = l->row[i] = l->row_ld[i] = 1;
	if (!is_array(a))
		return 0;
	if (kernel_arg_elems(k, a, l->shape, &l->elems[i], err) < 0 ||
	    expr_eval(&a->extent[a->rank - 1], dims, &l->row[i], err) < 0)
		return err->code;
	l->row_ld[i] = l->row[i];
	if (a->has_ld && expr_eval(&a->ld, dims, &l->row_ld[i], err) < 0)
		return err->code;
	if (l->elems[i] < 1 || l->row[i] < 1 || l->row_ld[i] < l->row[i])
		return err_set(err, ERR_FORMAT,
			       "kernel '%s': array '%s' has no elements at %s",
			       k->name, a->name, l->shape->text);
	if (l->elems[i] > limit)
		return err_set(err, ERR_LIMIT,
			       "kernel '%s': array '%s' is over 2 GiB at %s",
			       k->name, a->name, l->shape->text);
	return 0;
}

static void add_map(struct layout *l, const struct region *r, uint64_t len)
{
	struct ctl_map *m = &l->map[l->nr_maps++];

	m->addr = r->addr;
	m->off = r->off;
	m->len = len;
	m->out = r->out;
}

/* One map for the scalars, or the returned values, of all slots. */
static void place_cells(struct layout *l, struct region *r, size_t cell)
{
	const struct kernel *k = l->kernel;
	uint64_t used = 0, len;

	for (int s = 0; s < l->slots; s++) {
		for (int i = 0; i < k->nr_args; i++) {
			struct place *p = &l->place[s * k->nr_args + i];

			if (is_array(&k->arg[i]) ||
			    is_written(&k->arg[i]) != r->out)
				continue;
			p->addr = r->addr + used;
			p->off = r->off + used;
			p->bytes = dtype_size(layout_type(l, i));
			p->slack_after = cell - p->bytes;
			p->writable = r->out;
			used += cell;
		}
	}
	if (!used)
		return;
	len = round_up(used, PAGE);
	add_map(l, r, len);
	r->addr += len + CTL_GUARD;
	r->off += len;
}

static void place_array(struct layout *l, struct region *r, int slot, int i,
			struct placement pl)
{
	const struct arg *a = &l->kernel->arg[i];
	struct place *p = &l->place[slot * l->kernel->nr_args + i];
	size_t size = dtype_size(layout_type(l, i));
	uint64_t align = (uint64_t)a->align > size ? (uint64_t)a->align : size;
	uint64_t skip, len;

	p->bytes = (size_t)l->elems[i] * size;
	skip = (uint64_t)pl.offset * ((unsigned)i + 1) % PAGE;
	skip -= skip % align;
	len = round_up(skip + p->bytes, PAGE);
	if (pl.right) {
		len = round_up(p->bytes, PAGE);
		skip = len - p->bytes;
		skip -= skip % align;
	}
	r->addr = round_up(r->addr, align > PAGE ? align : PAGE);
	p->addr = r->addr + skip;
	p->off = r->off + skip;
	p->slack_before = skip;
	p->slack_after = len - skip - p->bytes;
	p->writable = r->out;
	add_map(l, r, len);
	r->addr += len + CTL_GUARD;
	r->off += len;
}

/* The slack, and what is written there, stays the output's. */
static void lend(struct layout *l, int slot, int arg, int to)
{
	struct place *p = &l->place[slot * l->kernel->nr_args + arg];

	*p = *layout_at(l, slot, to);
	p->slack_before = p->slack_after = 0;
	p->writable = false;
	p->lent = true;
}

static int place_slot(struct layout *l, struct region *in, struct region *out,
		      int slot, struct placement pl, struct err *err)
{
	uint64_t before = in->off + out->off;

	for (int i = 0; i < l->kernel->nr_args; i++) {
		const struct arg *a = &l->kernel->arg[i];

		if (is_array(a) && i != l->lent)
			place_array(l, is_written(a) ? out : in, slot, i, pl);
	}
	if (l->lent >= 0)
		lend(l, slot, l->lent, l->to);
	if (in->off + out->off - before > MAX_SLOT)
		return err_set(err, ERR_LIMIT,
			       "kernel '%s': the arrays are over 2 GiB at %s",
			       l->kernel->name, l->shape->text);
	return 0;
}

static int place_all(struct layout *l, struct placement pl, struct err *err)
{
	struct region in = { CTL_IN + CTL_GUARD, 0, false };
	struct region out = { CTL_OUT + CTL_GUARD, 0, true };

	place_cells(l, &in, CELL_IN);
	place_cells(l, &out, CELL_OUT);
	for (int s = 0; s < l->slots; s++)
		if (place_slot(l, &in, &out, s, pl, err) < 0)
			return err->code;
	l->in_span = in.addr - CTL_IN;
	l->out_span = out.addr - CTL_OUT;
	if (in.addr > CTL_OUT || out.addr > CTL_TABLE)
		return err_set(err, ERR_LIMIT,
			       "kernel '%s': %d argument sets are too much "
			       "memory at %s", l->kernel->name, l->slots,
			       l->shape->text);
	l->table_off = in.off;
	l->table_len = round_up((uint64_t)l->slots *
				(uint64_t)l->kernel->nr_args * 8, PAGE);
	l->maps_off = l->table_off + l->table_len;
	l->in_size = l->maps_off +
		     round_up(l->nr_maps * sizeof(struct ctl_map), PAGE);
	l->out_size = out.off ? out.off : PAGE;
	return 0;
}

static void init(struct layout *l, const struct kernel *k,
		 const struct shape *s, int slots)
{
	memset(l, 0, sizeof(*l));
	l->kernel = k;
	l->shape = s;
	l->slots = slots;
	l->lent = l->to = -1;
}

static int make(struct layout *l, struct placement p, struct err *err)
{
	const struct kernel *k = l->kernel;
	int slots = l->slots;
	size_t places;

	if (slots < 1 || slots > LAYOUT_MAX_SLOTS)
		return err_set(err, ERR_LIMIT, "%d argument sets", slots);
	for (int i = 0; i < k->nr_args; i++)
		if (measure(l, i, err) < 0)
			return err->code;
	places = (size_t)slots * (size_t)k->nr_args;
	l->place = xcalloc(places, sizeof(*l->place));
	l->map = xcalloc(places + 2, sizeof(*l->map));
	p.offset %= PAGE;
	if (place_all(l, p, err) < 0) {
		layout_release(l);
		return err->code;
	}
	return 0;
}

int layout_make(struct layout *l, const struct kernel *k,
		const struct shape *s, bool as_double, int slots,
		struct placement p, struct err *err)
{
	init(l, k, s, slots);
	l->as_double = as_double;
	return make(l, p, err);
}

int layout_make_lent(struct layout *l, const struct kernel *k,
		     const struct shape *s, struct placement p, int lent,
		     int to, struct err *err)
{
	init(l, k, s, 1);
	l->lent = lent;
	l->to = to;
	return make(l, p, err);
}

void layout_release(struct layout *l)
{
	free(l->place);
	free(l->map);
	memset(l, 0, sizeof(*l));
}
