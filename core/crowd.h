/*
 * A search that several workers make through a remote: struct search_crowd
 * by leases (core/lease.h) and plain pushes and pulls (core/share.h).
 */
#ifndef CORE_CROWD_H
#define CORE_CROWD_H

#include "core/search.h"
#include "core/share.h"

struct crowd;

/*
 * s has been claimed for this process (store_claim_slot()); it and t are
 * borrowed until crowd_close().  attempts: of the search by all workers, 0
 * for no cap.
 */
int crowd_open(struct search *s, const struct remote_opts *o, int ttl_s,
	       int64_t attempts, const struct share_teller *t,
	       struct crowd **out, struct err *err);
/*
 * Makes of it, before the search runs, one that is alone while nobody else is
 * there: it then says so on the remote, and looks every look_s seconds
 * whether somebody has come.  Who comes is not told of what the other has
 * under way, and waits until that one has seen it and pushed; from the next
 * round on both share the rounds, until nobody else was seen for
 * CROWD_QUIET_ROUNDS or the remote is out of reach.
 */
#define CROWD_QUIET_ROUNDS 2
void crowd_alone(struct crowd *c, double look_s);
bool crowd_is_alone(const struct crowd *c);
/* For search_run(); borrowed. */
const struct search_crowd *crowd_face(struct crowd *c);
/*
 * Shares what is left to share and gives all claims back, also after a
 * signal.  ERR_NET: results of ours have not reached the remote.  Frees; NULL
 * is allowed.
 */
int crowd_close(struct crowd *c, struct err *err);

#endif
