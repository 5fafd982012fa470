#include "cmd/claim.h"

#include <string.h>

#include "cmd/out.h"

static void add_clean(struct buf *out, const char *s)
{
	buf_add_clean(out, s, strlen(s), false);
}

void claim_text(struct buf *out, const struct node *n, const struct record *r)
{
	const char *host = r && r->host ? r->host : n->rec.host;

	if (!n->claimed)
		return;
	buf_addstr(out, "claimed by ");
	add_clean(out, n->rec_worker ? n->rec_worker : "another worker");
	if (host && *host) {
		buf_addstr(out, " on ");
		add_clean(out, host);
	}
}

void claim_full(struct buf *out, struct view *v, uint32_t idx)
{
	struct err unused = ERR_INIT;
	struct record r;

	if (!v->graph.node[idx].claimed)
		return;
	if (node_record(v, idx, &r, &unused) == 0) {
		claim_text(out, &v->graph.node[idx], &r);
		record_release(&r);
	} else {
		claim_text(out, &v->graph.node[idx], NULL);
	}
}

void claim_advice(struct buf *out, const struct node *n,
		  const struct record *r)
{
	struct oid_hex id = oid_short(&n->id);

	if (!n->claimed)
		return;
	buf_addf(out, "the best known, %s ", id.s);
	node_speedup(out, n);
	buf_addstr(out, ", is ");
	claim_text(out, n, r);
	buf_addf(out, ": git maxkernel verify %s measures it here", id.s);
}
