/* status --watch: what runs in this clone, as long as it runs. */
#ifndef CMD_WATCH_H
#define CMD_WATCH_H

#include "cmd/cmd.h"
#include "core/graph.h"
#include "core/live.h"

/*
 * Shows what runs of the name (NULL: all, see running_find()) until none of it
 * does: on a terminal redrawn once a second, else a line for each change; json:
 * an object a search and second.  Returns the exit status.
 */
int watch(struct session *s, const char *name, bool json, struct err *err);

/* The best node that has a time: the champion, else the best estimate; 0:
 * none. */
uint32_t watch_best(const struct graph *g);
/* "running (pid 4242, for 34 s)" */
void watch_state(struct buf *b, const struct live_state *l);

#endif
