/* What the files of the search share; see core/search.h for the whole. */
#ifndef CORE_SEARCH_STATE_H
#define CORE_SEARCH_STATE_H

#include "core/clock.h"
#include "core/oidset.h"
#include "core/round.h"
#include "core/search.h"

#define SEARCH_MAX_JOBS 64
#define SEARCH_TICK_MS 200
#define SEARCH_MAX_EMPTY 32	/* attempts in a row without a new state: the
				 * search is exhausted */

enum phase { AT_NEW, AT_BUILD, AT_CHECK, AT_SCREEN, AT_CONFIRM, AT_DONE };

struct attempt {
	uint32_t step, parent, parent2;	/* parent2: NODE_NONE, mostly */
	const char *op;		/* static text */
	const char *by;		/* proposer's name, static */
	struct proposal p;
	struct usages used;
	struct oid state, id;	/* id: once it is written */
	struct record rec;
	enum phase phase;
	bool known;		/* its record was told from before */
	bool stored;		/* the node is there: only its record is not */
	bool empty;		/* it made no state: a spend line */
	bool trial;		/* judged, but never written as a node */
	bool written;
	double began;		/* clock_s() */
};

struct slot {
	struct judge *judge;
	struct attempt *at;	/* what it works on */
	bool opening;
	char *work;
	double stage_began, heard;	/* clock_s(): of the last news */
	char said[64];		/* the beginning of what it did then */
};

/* Everything that search_run() needs, beside the run itself. */
struct state {
	struct search_run *run;
	struct slot slot[SEARCH_MAX_JOBS];
	struct oidset seen;
	struct oidset unread;	/* nodes whose recipe the proposer cannot read */
	uint32_t prefix;	/* nodes [0, prefix) are of earlier rounds */
	uint32_t champion;	/* what this round is screened against */
	/* Screened against this instead, judged before; NULL: the champion. */
	const struct attempt *rival;
	struct prior prior;	/* of earlier searches and of the steps before
				 * prior_from; 0: it is to be made anew */
	uint32_t prior_from;
	unsigned char *gone;	/* of nr_gone nodes: see round_plan.gone */
	size_t nr_gone;
	uint32_t round;		/* the next one */
	uint32_t rounds;	/* made in this run */
	char *why;		/* what the policy last said of itself */
	double entered;		/* the call that is running */
	double inside_s;	/* of this call waited for judges or models */
	double confirm_s;	/* longest confirmation so far */
	double reserve_s;	/* kept back in the purse for this search */
	int lost;		/* judges in a row */
	bool waiting;		/* for other workers */
	bool joint;		/* this round is made with others */
	bool joint_end;		/* the budget of all workers is spent */
	int64_t joint_attempts;	/* of all workers; 0: no cap */
	int64_t at_first;	/* attempts that there were then */
	double joint_s;		/* spent on what was claimed */
	size_t joint_made;	/* of it */
	int64_t others;		/* made by others since this run began */
	struct judge_info info;	/* of the first judge, which may be replaced */
};

/* By a signal, or asked to halt. */
bool search_stopped(const struct state *st);
/* The purse's clock is set anew. */
void search_clock(struct state *st);
void search_emit(struct state *st, const struct search_event *e);
void search_note(struct state *st, const char *text);
void search_tick(struct state *st);
/* Would wall or device time be up in `spare` seconds? */
bool search_late(struct state *st, double spare);
void attempt_release(struct attempt *a);
/* True when the budget lets one more attempt begin, with `planned` others not
 * yet ended; else run->end says why.  by: who makes it; NULL: nobody, it is
 * there. */
bool search_may_go_on(struct state *st, const struct proposer *by,
		      size_t planned);
/* Keeps back what confirming at the end may take. */
void search_keep_back(struct state *st);
/* Loads the graph anew. */
int search_reload(struct state *st, struct err *err);
/* The states of the nodes before st->prefix are known. */
void search_remember(struct state *st);
/* How many nodes have a step of at most this one. */
uint32_t search_nodes_before(const struct graph *g, uint32_t step);
/* The sources of a node; the root's are at hand. */
int search_source(struct state *st, uint32_t node, struct srcset *out,
		  struct err *err);

/* ---- search_judge.c ---- */

/*
 * Judges every attempt that has not ended yet, and writes each as it ends.
 * When wall or device time is up none begins any more; what did not begin is
 * left as it was: *cut (NULL: all are begun) says so.
 */
int search_judge_all(struct state *st, struct attempt *at, size_t nr,
		     bool *cut, struct err *err);
/* Runs one confirmation of a node on the first judge and writes it. */
int search_confirm(struct state *st, uint32_t node, bool to_root,
		   struct err *err);

/* ---- search_write.c ---- */

/* Writes the attempts that have ended and are not written, in one batch. */
int search_write_done(struct state *st, struct attempt *at, size_t nr,
		      struct err *err);
/* Writes one attempt before it is judged, or that is empty: what was paid for
 * is kept. */
int search_write_paid(struct state *st, struct attempt *a, struct err *err);
/* Adds a written attempt to the graph, as a node or a spend line;
 * graph_settle() is the caller's. */
void search_add(struct state *st, struct attempt *a);

/* ---- search_plan.c ---- */

/* The round's attempts, in slot order; *at has spec.round of them, the caller
 * releases each and frees it.  *cut: the budget ended it. */
int search_plan(struct state *st, uint32_t round, struct attempt **at,
		size_t *nr, bool *cut, struct err *err);
/* Rounds of this search alone, without those that were united with it. */
uint32_t search_own_round(const struct state *st, uint32_t round);
/* Have the last attempts all come to nothing? */
bool search_is_barren(const struct graph *g);

/* ---- search_pending.c ---- */

/* Made outside the policy's rounds: by hand, a smaller champion, or what a
 * person merged. */
bool search_is_own_round(const struct node *n);
/* Judges a node that has no record yet. */
int search_judge_pending(struct state *st, uint32_t node, struct err *err);
/* All of ours that a killed run wrote and had no time to judge, a round at a
 * time, as far as wall and device time reach. */
int search_judge_all_pending(struct state *st, struct err *err);

/* ---- search_final.c ---- */

/* A step behind the last round, whose numbers stay for its own attempts. */
uint32_t search_next_round_step(const struct state *st);

/* The best node from `from` on that is worth a confirmation, or NODE_NONE;
 * one of these at most is confirmed. */
uint32_t search_to_confirm(const struct state *st, uint32_t from);
/* The round's best that is worth it, against the champion. */
int search_confirm_round(struct state *st, uint32_t from, struct err *err);
/* At the end: what is unconfirmed, then a smaller champion. */
int search_final(struct state *st, struct err *err);
/* Seconds that search_final() may take. */
double search_reserve_s(const struct state *st);
/* Commits made by hand on the landing branches become nodes. */
int search_humans(struct state *st, struct err *err);

/* ---- search_choose.c: alone or with other workers ---- */

/* Attempts in the first nodes of a graph, and of no node up to a step. */
int64_t search_attempts_in(const struct graph *g, uint32_t nodes,
			   uint32_t step);
void search_crowd_begin(struct state *st);
/* Before each round, and before all; what others made is loaded. */
int search_crowd_choose(struct state *st, struct err *err);
bool search_crowd_lost(const struct state *st);

/* ---- search_crowd.c: with other workers ---- */

/* Of nodes that made the same step and state one stays. */
void search_crowd_fold(struct graph *g);
/* Makes the planned round with the others; *more: another may follow. */
int search_crowd_round(struct state *st, uint32_t round, struct attempt *at,
		       size_t nr, bool *more, struct err *err);
/* search_final(), done by one of the workers. */
int search_crowd_final(struct state *st, struct err *err);

#endif
