/*
 * Going on with a search on another device class than it was started on: the
 * numbers of two classes are never compared, so what the search stands on is
 * measured again here first: champion and frontier, nothing else.  (The root
 * is measured by every judge as it opens.)
 */
#ifndef CMD_ELSEWHERE_H
#define CMD_ELSEWHERE_H

#include "cmd/task.h"

/* Nothing to do on the search's own class, or when it was done before.  t has
 * an open judge; ERR_STOPPED after a signal, what was measured stays. */
int elsewhere_measure(struct task *t, struct search *s, struct err *err);

#endif
