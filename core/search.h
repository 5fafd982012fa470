/*
 * The search: rounds of attempts.  A round's proposals are made from the
 * graph of the rounds before it, judged (as many at once as there are
 * judges), written as they finish, and applied in attempt order; then the
 * best of them is confirmed against the champion.  So the graph depends on
 * the spec and the verdicts alone, and a halted search goes on where it was.
 *
 * One thread; it waits in poll() alone.
 */
#ifndef CORE_SEARCH_H
#define CORE_SEARCH_H

#include <signal.h>

#include "core/graph.h"
#include "core/judge.h"
#include "core/policy.h"
#include "core/proposer.h"
#include "core/store.h"

enum search_event_kind {
	SEARCH_ATTEMPT,		/* one attempt ended and is written */
	SEARCH_CONFIRM,		/* one confirmation ended and is written */
	SEARCH_NOTE,		/* text for the person: something is amiss */
	SEARCH_WHY		/* text: what the policy does from here on, and
				 * why */
};

struct search_event {
	enum search_event_kind kind;
	uint32_t step;			/* attempt */
	const char *subject;
	const struct oid *commit;	/* the node */
	const struct record *rec;
	bool known;			/* told from an earlier search */
	const char *text;
};

struct search_job {		/* one attempt that is under way */
	uint32_t step;
	const char *subject, *doing;
	double seconds;		/* since it began */
};

struct search_now {		/* for the live line */
	uint32_t attempts;	/* of this search, ended in this run */
	double elapsed_s;	/* of the run; of several searches all */
	double device_s, cost;	/* used by this search in this run */
	int64_t tokens;
	double best;		/* speedup of the champion; 1 at first */
	const char *doing;	/* of the first busy judge */
	uint32_t doing_step;
	const struct search_job *job;
	int nr_jobs;
};

enum search_end {
	SEARCH_OPEN,		/* it has not ended */
	SEARCH_EXHAUSTED,	/* nothing untried is left */
	SEARCH_FINISHED,	/* the policy's own end (beam: depth) */
	SEARCH_UNTIL,		/* the champion is as fast as was wanted */
	/* a budget is spent, or an attempt could pass it */
	SEARCH_ATTEMPTS, SEARCH_TIME, SEARCH_DEVICE, SEARCH_TOKENS,
	SEARCH_COST,
	SEARCH_STOPPED		/* interrupted, or asked to halt */
};
const char *search_end_name(enum search_end e);

/*
 * The other workers of a search that is made by several at once.  Each of
 * these may block for as long as a call of git takes.  ERR_NET: the remote is
 * out of reach for now; wait() waits the longer the more often that was so.
 */
struct search_crowd {
	void *ctx;
	int64_t attempts;	/* of the search by all workers; 0: no cap */
	/* Takes over what the others have made; *news: there was something. */
	int (*pull)(void *ctx, bool *news, struct err *err);
	/* Claims what the keys ([a-z0-9._-]) stand for: 0 and won[i]. */
	int (*claim)(void *ctx, const char *const *key, bool *won, size_t nr,
		     struct err *err);
	/* Gives the others what this worker has made, and all claims back. */
	int (*share)(void *ctx, struct err *err);
	/* Keeps the claims alive; called several times a second. */
	void (*keep)(void *ctx);
	/* Waits a little, or until the run is to stop. */
	int (*wait)(void *ctx, struct err *err);
	/* How many workers there are, this one too, as far as is known. */
	size_t (*workers)(void *ctx);
	/* What is claimed at once should last so long, within a fair share of
	 * the round: each claim and each result is a push. */
	double claim_s;
	/*
	 * Is the next round to be made with others?  NULL: every round is.
	 * Then attempts is not looked at: search_run.attempts are those of
	 * all workers from here on.
	 */
	bool (*company)(void *ctx);
	/* The others cannot be reached: what is left of the round is better
	 * made alone.  NULL: they are waited for. */
	bool (*lost)(void *ctx);
};

struct search_run {
	/* in: all borrowed */
	struct search *search;
	const struct kernel *kernel;
	const struct srcset *root, *aux;
	const struct policy *policy;
	const struct proposer *proposer, *inner;	/* inner may be NULL */
	/*
	 * jobs judges (1 to 64): [0] is open when the search begins, the others
	 * may be NULL and are opened when first needed, in folders below
	 * config.work; so is [0] when the caller has closed it between two
	 * rounds.  A judge that is lost is replaced.  The caller closes what
	 * is left.
	 */
	struct judge **judge;
	int jobs;
	struct judge_config config;
	const struct search_crowd *crowd;	/* NULL: alone */
	struct purse *purse;		/* of the run; others may share it */
	double share;			/* of the time kept back for the end
					 * that is this search's; 0: all */
	double silence_s;		/* a judge that says nothing for so
					 * long is lost; 0: never */
	volatile sig_atomic_t *stop;	/* set by a signal handler */
	int stop_fd;			/* becomes readable then; -1: none */
	bool halt;			/* tick() may set it: this search stops
					 * as after a signal */
	void (*event)(void *ctx, const struct search_event *e);
	void (*tick)(void *ctx, const struct search_now *n);
	void *ctx;
	/* out */
	struct graph graph;
	enum search_end end;
	bool over;			/* another worker brings it to its end */
	uint32_t made;			/* attempts of this run */
	double elapsed_s;		/* within the calls below */
	double device_s;		/* the judges checked and timed */
	double outside_s;		/* of elapsed_s no judge was busy and no
					 * proposer that spends was asked */
	int64_t tokens;			/* of calls of this run */
	double cost;
	struct state *state;		/* private */
};

/*
 * Loads the graph and judges what is pending.  Then rounds, as long as *more;
 * other searches may have theirs between two of them.  At last search_end()
 * confirms what is left to confirm and drops the steps of the champion's
 * recipe that earn too little; it is called in any case, after an error too,
 * and then only cleans up (ret: what the call before it returned).
 *
 * The graph is valid after each, also after an error; search_release() frees
 * it.
 */
int search_begin(struct search_run *run, struct err *err);
int search_round(struct search_run *run, bool *more, struct err *err);
int search_end(struct search_run *run, int ret, struct err *err);
/* All of it. */
int search_run(struct search_run *run, struct err *err);
/* Judges one pending node, and confirms it if it seems to be faster.  The
 * policy is not asked; search_release() afterwards as well. */
int search_judge_node(struct search_run *run, const struct oid *node,
		      struct err *err);
void search_release(struct search_run *run);

/*
 * Brings the landing branches in line with the graph: best/<device>, and for
 * the frontier beam/<device>/1 and on (confirmed or faster nodes only, at
 * most spec.width).  What another worker claims guides the search, but is
 * not landed: of what was measured here the best is, or none.  Branches that must be left alone are named in warn.
 * proposer (may be NULL) explains recipes; else a node's own plan is used.
 */
struct publication {
	struct search *search;
	const struct graph *graph;
	const struct policy *policy;
	const struct proposer *proposer;
	const struct kernel *kernel;
	const char *device;
};
int search_publish(const struct publication *p, struct strv *warn,
		   struct err *err);

#endif
