/*
 * The root built with other flags and compilers, for "over the best compiler
 * flags": what a user could have without changing a line.
 */
#ifndef CORE_JUDGE_FLAGS_H
#define CORE_JUDGE_FLAGS_H

#include "core/judge/session.h"

/*
 * Builds, checks and times the arms; sets flags_so, best_flags and
 * best_flags_speedup to the fastest that is right, and leaves them alone
 * where none is.  A compiler that is missing is passed over.  The CPU must be
 * locked and the root timed.
 */
int flags_measure(struct session *s, struct err *err);

#endif
