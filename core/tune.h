/*
 * Tuning one node of a search: settings of its numbers and parameters, or the
 * values of a template, are tried on the judges as trials, which are checked
 * and timed as attempts are but become no nodes.  Each is screened against the
 * best so far, so a loser is dropped early.  The best is checked and timed
 * anew, written as one node and confirmed.
 *
 * What a trial found is appended to a log of the search and synced before
 * anything is made of it; a tuning that was stopped goes on there.
 */
#ifndef CORE_TUNE_H
#define CORE_TUNE_H

#include "core/search.h"
#include "core/template.h"
#include "core/tune_log.h"
#include "core/tuner.h"

#define TUNE_MAX_NUMBER 65536	/* of a #define */
#define TUNE_GAIN 0.01		/* ln: a smaller estimated gain is none */

/* ---- what is tuned ---- */

struct tune_want {		/* borrowed */
	bool all;		/* every choice of the proposer */
	const struct strv *only;	/* or those of these names */
	const struct strv *values;	/* "NAME=8,16,32" */
	const struct strv *require;	/* expressions over the names */
};

struct tune_space {
	struct space sel;	/* what is tuned */
	struct space full;	/* the proposer's; empty for a template */
	size_t *locus;		/* of each of sel: index in full */
	int (*value)[TUNER_MAX_VALUES];	/* of its values: index in full's */
	struct expr require[TUNER_MAX_REQUIRE];
	size_t nr_require;
};

/*
 * From the proposer: the numbers that are meant to be tuned, and the
 * parameters of what the recipe does; see struct tune_want for others.
 * ERR_NOTFOUND: there are none; ERR_USAGE: an option names none of them, or a
 * value that is none.  tune_space_release() in any case.
 */
int tune_space_make(struct tune_space *s, const struct proposer *by,
		    const struct kernel *k, const struct srcset *origin,
		    const char *recipe, const struct tune_want *w,
		    struct err *err);
/* For a template, from a space file (text NULL: none) and w->values. */
int tune_space_read(struct tune_space *s, const char *source,
		    const char *text, size_t len, const struct tune_want *w,
		    struct err *err);
/* The proposer's setting of one of ours. */
void tune_space_full(const struct tune_space *s, const int *set, int *full);
void tune_space_release(struct tune_space *s);
/* "TILE=32 UNROLL=4" */
void tune_set_text(const struct tune_space *s, const int *set,
		   struct buf *out);

/* ---- tuning ---- */

struct tune_trial {
	int set[TUNER_MAX_NAMES];
	const struct tune_result *res;	/* of the log; NULL: no source came of
					 * it */
	struct oid state;
	double score;		/* ln of its speedup over the node; NAN */
	bool paid;		/* judged by this run */
	bool again;		/* the state of an earlier trial, or the node's */
	char *error;		/* why res is NULL */
};

enum tune_end {
	TUNE_WHOLE,		/* every setting was tried */
	TUNE_ATTEMPTS, TUNE_TIME, TUNE_DEVICE, TUNE_UNTIL,
	TUNE_STOPPED		/* interrupted */
};

struct tune {
	/* in: borrowed */
	struct search_run *run;	/* between search_begin() and search_end() */
	const struct proposer *by;	/* whose recipes; NULL: a template */
	uint32_t node;
	const struct tune_space *space;
	const struct template *template;
	const char *template_name;	/* for people */
	const char *file;	/* that the template becomes */
	uint64_t seed;
	int64_t grid, attempts;	/* attempts 0: TUNER_MAX_TRIALS */
	double until;		/* estimated speedup over the root of any
				 * trial; 0: none */
	/* Each trial as it ends; may be NULL. */
	void (*told)(void *ctx, const struct tune *t,
		     const struct tune_trial *one);
	void *ctx;
	/* out */
	struct tune_log log;
	struct tune_trial *trial;
	size_t nr, cap;
	size_t evals;		/* of different states */
	size_t best;		/* trial; nr: none */
	double seconds, device_s;	/* of all its trials, now or before */
	bool whole;		/* the space is tried whole */
	double legal;		/* settings beside the node's; NAN: not counted */
	enum tune_end end;
	uint32_t made;		/* the node of the winner; NODE_NONE */
	bool known;		/* it was there before */
};

/*
 * 0 whatever came of it, also when it was stopped (end says so).  ERR_FORMAT:
 * the node cannot be tuned, no setting is legal.  tune_release() in any case.
 */
int tune_run(struct tune *t, struct err *err);
void tune_release(struct tune *t);
/* Trials with a time, best first, at most max; returns how many. */
size_t tune_rank(const struct tune *t, size_t max, size_t *out);
/*
 * What a name is worth: the best over the best of all trials that leave the
 * name as the node has it, as a ratio; NAN: no such trial.
 */
double tune_worth(const struct tune *t, size_t name);

/*
 * Its verdict against the node, whatever it was screened against and when:
 * faster, same or slower by what it is estimated to be; else what came of it.
 */
enum verdict tune_verdict(const struct tune_trial *one);

/* ---- tune_plan.c ---- */

/* Did a confirmation compare this node with the one that is tuned, or find it
 * faster than another? */
bool tune_confirmed(const struct tune *t, const struct node *n);
/* The plan note of the winner. */
void tune_plan(const struct tune *t, const struct tune_trial *best,
	       const char *recipe, struct buf *out);
/* How the trials ended, "31 slower, 2 wrong". */
void tune_tally(const struct tune *t, struct buf *out);
/*
 * The trials as lines of JSON, to stand behind the samples of a record: first
 * {"tune":{"names":[...],"legal":...,"trials":...}}, then of each
 * {"set":["32","4"],"st":"<state id>","verdict":"slower","lr":-0.2,"s":0.4}.
 */
void tune_samples(const struct tune *t, struct buf *out);
/* Where those lines begin in the samples of a record, or NULL. */
const char *tune_find_samples(const struct record *r);

#endif
