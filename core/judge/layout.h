/*
 * Where the arguments of a call lie: equal addresses in every worker, guard
 * pages on both sides of every array, canaries in the slack.  A layout has
 * `slots` complete argument sets, so that short calls can be batched over a
 * ring of distinct inputs.
 */
#ifndef CORE_JUDGE_LAYOUT_H
#define CORE_JUDGE_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/kernel.h"

#define LAYOUT_MAX_SLOTS 512

struct place {			/* one argument of one slot */
	uint64_t addr;		/* in the worker */
	size_t off;		/* in its memfd (in or out), of the data */
	size_t bytes;		/* of data */
	size_t slack_before, slack_after;	/* canary bytes in its pages */
	bool writable;		/* lies in the out memfd: out, inout, ret */
	bool lent;		/* an input in the place of an output */
};

struct layout {
	const struct kernel *kernel;
	const struct shape *shape;
	bool as_double;		/* floats are carried as f64 */
	int slots;
	int lent, to;		/* see layout_make_lent(); -1: none */
	struct place *place;	/* [slot * nr_args + arg] */
	int64_t elems[KERNEL_MAX_ARGS];
	size_t in_size, out_size;	/* of the two memfds, whole pages */
	/* Element e of an array belongs to the call if e % row_ld < row;
	 * the others are padding between rows, which nobody may write. */
	int64_t row[KERNEL_MAX_ARGS], row_ld[KERNEL_MAX_ARGS];
	/* For arena_open() and the workers. */
	struct ctl_map *map;
	size_t nr_maps;
	uint64_t in_span, out_span;	/* addresses, with guards */
	size_t table_off, table_len, maps_off;	/* in the in memfd */
};

/* Argument i of a kernel is offset by i + 1 times `offset` within a page, so
 * that the distances between arrays vary too. */
struct placement {		/* drawn anew for each launch */
	unsigned offset;	/* bytes past the page (multiple of 4, < 4096),
				 * cut to the promised alignment */
	bool right;		/* data ends at the guard page */
};

/* ERR_LIMIT when a slot needs more than 2 GiB. */
int layout_make(struct layout *l, const struct kernel *k,
		const struct shape *s, bool as_double, int slots,
		struct placement p, struct err *err);
/* The same for one slot, with input `lent` where output `to` lies; both are of
 * one size. */
int layout_make_lent(struct layout *l, const struct kernel *k,
		     const struct shape *s, struct placement p, int lent,
		     int to, struct err *err);
void layout_release(struct layout *l);
/* Type of arg as carried: f64 for floats when as_double. */
enum dtype layout_type(const struct layout *l, int arg);
/* True for element e of an array argument that is padding between rows. */
static inline bool layout_is_padding(const struct layout *l, int arg,
				     int64_t e)
{
	return e % l->row_ld[arg] >= l->row[arg];
}
static inline const struct place *layout_at(const struct layout *l, int slot,
					    int arg)
{
	return &l->place[slot * l->kernel->nr_args + arg];
}

#endif
