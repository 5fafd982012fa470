/*
 * A search that runs, as other processes of the machine see it: what it does
 * now, and whether it is asked to halt.  <gitdir>/maxkernel/run/<slug> is one
 * JSON object, replaced at most twice a second; <slug>.halt asks it to stop.
 * Both are derived and disposable; that it runs is told by the claim of the
 * search alone (store_claim()).
 *
 * Several workers of one clone may run a search, each in its slot: from the
 * second on the files are <slug>.<slot> and <slug>.<slot>.halt.
 *
 * What others may have written there is bounded, strictly parsed and cleaned;
 * links are not followed.
 */
#ifndef CORE_LIVE_H
#define CORE_LIVE_H

#include "core/purse.h"
#include "core/repo.h"

#define LIVE_MAX_JOBS 64
#define LIVE_MAX_FILE (64u << 10)
#define LIVE_EVERY_S 0.5

struct live_job {		/* one attempt that is under way */
	uint32_t step;
	char doing[64];		/* stage, in words for people */
	char subject[80];
	double seconds;		/* since it began */
};

struct live_state {
	char search[64];	/* slug; set by reading */
	int slot;		/* from 1; set by reading */
	long pid;		/* 0: it has not said anything yet, or nothing
				 * that can be believed */
	char host[64];
	char kernel[128];
	bool tuning;		/* a node of it: no rounds are made */
	int64_t started;	/* seconds since 1970 */
	int64_t updated;
	char log[4096];		/* file that a detached run writes, or "" */
	uint32_t attempts;	/* ended in this run */
	double elapsed_s, device_s;
	int64_t tokens;
	double cost;
	double best;		/* speedup of the champion; 1: none */
	char doing[64];		/* what it does besides the jobs, or "" */
	struct live_job job[LIVE_MAX_JOBS];
	int nr_jobs;
	/* Of the whole run, in which other searches may have a part. */
	struct budget cap, used;
};

struct live_list {
	struct live_state *v;
	size_t nr, cap;
};
#define LIVE_LIST_INIT { NULL, 0, 0 }

/* Writes the file; errors are the caller's to forget: nothing hangs on it.
 * Under the claim of that slot, as live_clear(). */
int live_write(struct repo *r, const char *slug, int slot,
	       const struct live_state *s, struct err *err);
/* Removes both files, of an earlier process too. */
void live_clear(struct repo *r, const char *slug, int slot);
/*
 * 1: a process of this machine works on the search, and *out is what it last
 * said; 0: none does.
 */
int live_read(struct repo *r, const char *slug, int slot,
	      struct live_state *out, struct err *err);
/* Adds all that runs in this clone, by slug and slot; slug NULL: of any
 * search. */
int live_find(struct repo *r, const char *slug, struct live_list *out,
	      struct err *err);
void live_list_release(struct live_list *l);
/* The one of a search in a list, the lowest slot; NULL: it does not run. */
const struct live_state *live_of(const struct live_list *l, const char *slug);

/* Asks the process that runs the search to stop as after a signal. */
int live_ask_halt(struct repo *r, const char *slug, int slot,
		  struct err *err);
/* Takes that back. */
void live_unask(struct repo *r, const char *slug, int slot);
/* Has somebody asked?  Cheap: one lstat. */
bool live_is_asked(struct repo *r, const char *slug, int slot);

#endif
