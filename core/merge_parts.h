/* What the files of merging share; no one else includes this. */
#ifndef CORE_MERGE_PARTS_H
#define CORE_MERGE_PARTS_H

#include "core/graph.h"
#include "core/merge.h"
#include "core/oidset.h"

enum note_kind { NOTE_PLAN, NOTE_METRICS, NOTE_AGENTS, NOTE_KINDS };

struct carry_item {
	enum note_kind kind;
	struct oid on;		/* of `into` */
	char *text;
	size_t len;
};

/* What goes from one search into another. */
struct carry {
	struct search *into, *from;
	struct strv ids;	/* of this clone, see core/worker.h */
	struct carry_item *item;
	size_t nr_items, cap_items;
	bool raw;		/* some line's samples are in from's anchors */
	struct oid *tip;	/* of from's chains, unless into has them */
	size_t nr_tips, cap_tips;
	uint32_t own_step, last_step;	/* of into; of both */
};

/* The notes of from that into has not; counts them in sum. */
int carry_notes(struct carry *c, struct unite_sum *sum, struct err *err);
/* The tips of from's chains that into has not; of all of them, if all. */
int carry_tips(struct carry *c, bool all, struct err *err);
/* Anchors (if there are tips) and notes, durably, into our refs. */
int carry_write(struct carry *c, struct err *err);
void carry_release(struct carry *c);

/* A step behind the last round of the graph, whose numbers stay for its own
 * attempts; round is the spec's. */
uint32_t merge_step(const struct graph *g, int round);

#endif
