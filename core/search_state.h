/* What the files of the search share; see core/search.h for the whole. */
#ifndef CORE_SEARCH_STATE_H
#define CORE_SEARCH_STATE_H

#include "core/oidset.h"
#include "core/search.h"

#define SEARCH_MAX_JOBS 64
#define SEARCH_TICK_MS 200

enum phase { AT_NEW, AT_BUILD, AT_CHECK, AT_SCREEN, AT_CONFIRM, AT_DONE };

struct attempt {
	uint32_t step, parent;
	const char *op;		/* static text */
	struct proposal p;
	struct oid state, id;	/* id: once it is written */
	struct record rec;
	enum phase phase;
	bool known;		/* its record was told from before */
	bool stored;		/* the node is there: only its record is not */
	bool written;
	double began;		/* search_now_s() */
};

struct slot {
	struct judge *judge;
	struct attempt *at;	/* what it works on */
	bool opening;
	char *work;
};

/* Everything that search_run() needs, beside the run itself. */
struct state {
	struct search_run *run;
	struct slot slot[SEARCH_MAX_JOBS];
	struct oidset seen;
	struct oidset unread;	/* nodes whose recipe the proposer cannot read */
	uint32_t prefix;	/* nodes [0, prefix) are of earlier rounds */
	uint32_t champion;	/* what this round is screened against */
	uint32_t *spent;	/* exhausted nodes of this round */
	size_t nr_spent, cap_spent;
	double start, confirm_s;	/* longest confirmation so far */
	int lost;		/* judges in a row */
	bool waiting;		/* for other workers */
	bool joint;		/* this round is made with others */
	bool joint_end;		/* the budget of all workers is spent */
	int64_t joint_attempts;	/* of all workers; 0: no cap */
	double joint_s;		/* spent on what was claimed */
	size_t joint_made;	/* of it */
	int64_t others;		/* made by others since this run began */
	struct judge_info info;	/* of the first judge, which may be replaced */
};

double search_now_s(void);
bool search_stopped(const struct state *st);
void search_emit(struct state *st, const struct search_event *e);
void search_note(struct state *st, const char *text);
void search_tick(struct state *st);
/* Would the run's time be up in `spare` seconds? */
bool search_late(const struct state *st, double spare);
void attempt_release(struct attempt *a);
/* True when this run's budget lets one more attempt begin. */
bool search_may_go_on(struct state *st, size_t planned);
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

/* Judges every attempt that has not ended yet, and writes each as it ends. */
int search_judge_all(struct state *st, struct attempt *at, size_t nr,
		     struct err *err);
/* Runs one confirmation of a node on the first judge and writes it. */
int search_confirm(struct state *st, uint32_t node, bool to_root,
		   struct err *err);
/* Adds a written attempt to the graph; graph_settle() is the caller's. */
void search_add(struct state *st, struct attempt *a);

/* ---- search_final.c ---- */

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
