/*
 * What this machine can tell apart: the root against a copy of itself.
 */
#ifndef CORE_JUDGE_RESOLUTION_H
#define CORE_JUDGE_RESOLUTION_H

#include "core/judge/session.h"

/*
 * Sets s_aa, resolution and the root's times from launches of the root beside
 * its copy.  ERR_FORMAT when the root fails.  The CPU must be locked.
 */
int resolution_measure(struct session *s, struct err *err);

#endif
