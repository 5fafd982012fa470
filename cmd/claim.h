/* How the commands show what another worker measured: it is a claim. */
#ifndef CMD_CLAIM_H
#define CMD_CLAIM_H

#include "cmd/node.h"

/* Adds "claimed by <worker> on <host>", clean; nothing if it was measured
 * here.  r: the record that counts, NULL: as the node has it. */
void claim_text(struct buf *out, const struct node *n, const struct record *r);
/* The same, with the host even where the record has to be read for it. */
void claim_full(struct buf *out, struct view *v, uint32_t idx);
/* Adds what to do about a champion that is a claim, one clean line; nothing
 * if it was measured here. */
void claim_advice(struct buf *out, const struct node *n,
		  const struct record *r);

#endif
