/*
 * What searches have spent, row by row.  A call of a model counts once in a
 * row and once in the total, whichever searches and workers have its line;
 * nodes of a search that was united with another count once in the total.
 */
#ifndef CMD_COST_SUM_H
#define CMD_COST_SUM_H

#include "cmd/node.h"
#include "core/journal.h"
#include "core/oidset.h"

enum cost_by { COST_SEARCH, COST_AGENT, COST_MODEL, COST_NODE };
const char *cost_by_name(enum cost_by by);	/* "search" */
int cost_by_parse(const char *name);		/* -1: unknown */

struct cost_row {
	char *key;		/* slug, agent, model; of a node: slug, step
				 * and, if there is one, node */
	char *kernel, *search;	/* NULL: of several; kernel alone: pruned */
	uint32_t step;		/* of a node */
	char node[13];		/* "": none */
	struct oid id;
	char *subject;
	int64_t attempts;
	double attempt_s, device_s;
	int64_t calls;
	struct usage used;	/* sum; cost is that of known prices */
	int64_t unpriced;	/* calls */
	int64_t claimed;	/* calls in lines of others */
	double claimed_cost;
	int64_t unsettled;	/* calls in the journal alone */
};

struct cost {
	enum cost_by by;
	struct cost_row *v;
	size_t nr, cap;
	size_t *slot;		/* index of rows by key, + 1; private */
	size_t nr_slots;
	struct cost_row total;
	struct oidset calls, nodes, spends;	/* in the total; private */
};

void cost_init(struct cost *c, enum cost_by by);
void cost_release(struct cost *c);
/* Adds a search. */
void cost_add(struct cost *c, struct view *v);
/* The calls of a search that was pruned, as the journal has them. */
void cost_add_pruned(struct cost *c, struct repo *r, const char *slug);
/* Nothing was ever tried or called? */
bool cost_is_empty(const struct cost *c);

#endif
