/*
 * The search of a task: the one that goes on, or a new one with all that its
 * spec fixes for good.  What explore and tune share.
 */
#ifndef CMD_START_H
#define CMD_START_H

#include <math.h>

#include "cmd/opt.h"
#include "cmd/task.h"
#include "core/policy.h"
#include "core/prior.h"
#include "core/proposer.h"

struct start_opts {
	const char *policy, *proposer;
	/* 0 and NAN: what policy_defaults() says. */
	int64_t width, branches, depth, patience, islands;
	double keep;
	int64_t seed;
	struct budget budget;
};
#define START_OPTS_INIT { .policy = "adaptive", .proposer = "builtin", \
			  .keep = NAN, .seed = 1 }
/* ERR_USAGE: there is no such policy or proposer, or a value is none. */
int start_check(const struct start_opts *o, struct err *err);
/* "greedy, beam, evolve or hybrid", the default first. */
void start_list_policies(struct buf *out);
void start_list_proposers(struct buf *out);

/* What several searches that are started together have in common. */
struct start {
	struct repo *repo;		/* borrowed */
	struct spec_list list;		/* before the first of them, newest
					 * first */
	char *group;			/* slug of the first; NULL: none yet */
	bool grouped;			/* they share a budget */
	/* What this repository has learned, for the device class and target
	 * that were asked for last. */
	struct prior known;
	char *device, *target;
};
/* Damaged searches are named by warn().  start_release() in any case. */
int start_open(struct start *s, struct repo *r, bool grouped,
	       struct err *err);
void start_release(struct start *s);

/*
 * The newest search with an equal spec that can go on, else the newest equal
 * one, which is finished, else a new one.  device: the class that the task's
 * judge found.  *fresh: it is new.
 */
int start_search(struct start *s, const struct task *t, const char *device,
		 const struct start_opts *o, struct search **out, bool *fresh,
		 struct err *err);

/* Who applies the recipes: the proposer, or its spec's inner one. */
const struct proposer *start_applier(const struct spec *spec);

#endif
