/*
 * What outputs hold before a call, so that afterwards it shows what was
 * written: NaNs with a secret payload (integers: secret bits) in the arrays,
 * secret bytes in the canaries.  base is the judge's mapping of the outputs.
 */
#ifndef CORE_JUDGE_POISON_H
#define CORE_JUDGE_POISON_H

#include "core/judge/layout.h"

/* Canaries of all writable arguments; contents of all but `inout`. */
void poison_slot(const struct layout *l, unsigned char *base, int slot,
		 uint64_t salt);
/*
 * True if the slot's outputs are written and its canaries whole.  Else *arg
 * and *elem are the first that is not; elem -1: a canary, padding included.
 * Elements of integers and 8-bit floats are only missed eight bytes, or 64,
 * at a time: a smaller hole could be chance, and is left to the oracle.
 */
bool poison_gone(const struct layout *l, const unsigned char *base, int slot,
		 uint64_t salt, int *arg, int64_t *elem);
/* Secret bytes in the slack of the inputs. */
void poison_slack(const struct layout *l, unsigned char *base, uint64_t salt);

#endif
