/*
 * What a run may cost, said before it spends: of a proposer that calls models.
 */
#ifndef CMD_ESTIMATE_H
#define CMD_ESTIMATE_H

#include "core/proposer.h"
#include "core/purse.h"

/*
 * Says what an attempt is expected to use, what the caps come to, and nothing
 * of a proposer that does not spend.  ERR_USAGE: it spends, and no cap bounds
 * what.  Time alone is a cap, with a warning.  1: the caps are below one attempt
 * of any kernel, which is said, and nothing can be bought.
 */
int estimate_tell(const struct proposer *p, const struct kernel *const *k,
		  size_t nr, const struct budget *b, struct err *err);

#endif
