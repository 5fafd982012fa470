/* What the files of `git maxkernel merge` share. */
#ifndef CMD_MERGE_H
#define CMD_MERGE_H

#include "cmd/node.h"
#include "cmd/task.h"

struct merge_opts {
	bool as_seeds, go_on, abort, no_judge, json;
};

/* Both return an exit status. */
int merge_searches(struct session *s, const char *into, const char *from,
		   const struct merge_opts *o, struct err *err);
int merge_two_nodes(struct session *s, const char *a, const char *b,
		    const struct merge_opts *o, struct err *err);
int merge_continue(struct session *s, const struct merge_opts *o,
		   struct err *err);
int merge_abort(struct session *s, struct err *err);

/* Brings the landing branches of a loaded search in line with its graph. */
int merge_publish(struct search *search, const struct graph *g,
		  const char *device, const struct kernel *k,
		  struct err *err);

#endif
