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

/*
 * The first candidate of a session is none: the root, built again, screened
 * like any other.  Called faster, it shows that s_aa is too small, and s_aa
 * is doubled; called so three times in a row, the session can't tell
 * anything: ERR_FORMAT.  Roots of over SESSION_SLOW_NS are left out.  The CPU
 * must not be locked.
 */
int resolution_prove(struct session *s, struct err *err);

#endif
