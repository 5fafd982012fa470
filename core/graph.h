/*
 * The graph of one search, in arrays: nodes are named by index, which
 * survives growth.  Built from commits and notes by core/store.c; the commits
 * are the truth.  Policies read it.
 */
#ifndef CORE_GRAPH_H
#define CORE_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "core/oid.h"
#include "core/record.h"
#include "core/usage.h"

#define NODE_NONE UINT32_MAX
#define GRAPH_SMALLER 0.03	/* ln: what a step has to earn to be kept */

struct node {
	struct oid id;		/* commit */
	struct oid state;
	uint32_t parent[2];	/* NODE_NONE: none; the root has none */
	uint32_t step;		/* attempt number, from 1; 0 for the root */
	uint32_t depth;		/* of the first parents; root 0 */
	int steps;		/* of its plan that are still to do: its
				 * children go on with it; 0 mostly */
	char *op;		/* seed plan mutate crossover repair tune
				 * import human; "root" for the root */
	char *proposer, *strategy, *recipe, *subject, *worker;
	int64_t time;		/* committer time, seconds */
	bool pending;		/* no measurement of this device class yet */
	struct record rec;	/* the one that counts, see below */
	bool claimed;		/* rec is another worker's, not measured here */
	char *rec_worker;	/* who measured; NULL while pending */
	double score;		/* ln speedup over the root: confirmed, else
				 * estimated; 0 for the root; NAN untimed */
	bool confirmed;
	bool united;		/* made in a search that was united with this */
	bool borrowed;		/* op to worker and rec_worker are the graph's
				 * (graph_text()), not the node's own */
	uint32_t origin;	/* nearest ancestor or self without recipe, or
				 * ancestor with one of another proposer: what
				 * the recipe is replayed on */
	double spent_s;		/* attempt seconds of all its measurements */
	double device_s;	/* device seconds of them */
};

/*
 * Which record of a node counts.  Records are of this device class, section
 * and judge epoch; those of our own worker, if there are any, else those of
 * others; but where ours only screened the node, as faster, a confirmation by
 * another counts, as the claim that it is.  A record with a `speedup` is a
 * confirmation, whatever its verdict (confirmed, or a verify that found "same"
 * or "slower"); a timed one without is a screening.  In order of time the
 * newer record replaces the older, except that
 *  - a screening never replaces a confirmation,
 *  - "no-verdict" never replaces anything.
 * So one later "wrong", "crash" or failed verify takes a confirmation back,
 * and one later confirmation restores it.
 */
bool record_replaces(const struct record *newer, const struct record *older);

struct spend {			/* an attempt that made no node, or whose node
				 * was pruned */
	uint32_t step;		/* 0: no attempt, the time of a tune's trials */
	enum verdict verdict;	/* dup or no-proposal; the pruned node's */
	struct oid state;	/* dup: of what; of step 0 a name for it */
	double attempt_s, device_s;
	bool claimed;		/* another worker's line */
	uint32_t ledger;	/* where it stands: 0 the spec commit, else a
				 * ledger of the store; private to it */
	uint64_t line;		/* of its text: the same in each search that
				 * has the line */
	/* Of a node that was pruned, if it had a recipe. */
	char *recipe;		/* the graph's; NULL: none */
	uint32_t parent, origin;	/* their steps */
	double score;		/* as that of struct node */
};

struct call {			/* of a model, as the ledger has it */
	struct usage used;	/* the names are the graph's */
	uint32_t step;
	char *worker;		/* the graph's */
	int64_t time;		/* seconds since 1970 */
	bool claimed;		/* another worker's line */
	uint32_t ledger;	/* as that of struct spend */
};

struct graph {
	struct node *node;	/* 0 is the root; then by (step, id) */
	uint32_t nr, cap;
	struct spend *spend;	/* by step */
	uint32_t nr_spend, cap_spend;
	struct call *call;	/* by step, each once */
	uint32_t nr_call, cap_call;
	double spent_s;		/* sum of attempt seconds */
	double device_s;	/* sum of device seconds, of all measurements */
	int64_t tokens;		/* of all calls of models on the ledger */
	double cost;		/* of them, US dollars, as far as known */
	/*
	 * Highest confirmed score, 0 = the root; but of confirmed nodes with
	 * a recipe on the same origin, within GRAPH_SMALLER of it, the one
	 * with the shortest: a step that earns less is not worth its lines.
	 */
	uint32_t champion;
	/*
	 * Of a search that others were united with (core/merge.h): the last
	 * step that any of them had when it was, 0 for none; and how many
	 * rounds its own numbers jumped over by that.
	 */
	uint32_t united_step, united_rounds;
	uint32_t *slot[2];	/* index by commit and by state; private */
	uint32_t nr_slots;
	struct texts *texts;	/* of nodes; private */
	void *pool;		/* mapped; texts of nodes; private */
	size_t pool_len;
};

void graph_init(struct graph *g);
void graph_release(struct graph *g);
/* Adds and returns the index; takes over what n owns. */
uint32_t graph_add(struct graph *g, const struct node *n);
/* Room for so many nodes. */
void graph_reserve(struct graph *g, uint32_t nr);
uint32_t graph_find(const struct graph *g, const struct oid *commit);
/* The node that has the state first.  Where states of nodes that were added
 * change, or nodes change places, graph_reindex() has to follow. */
uint32_t graph_find_state(const struct graph *g, const struct oid *state);
void graph_reindex(struct graph *g);
/* The text once more, as long as the graph is there; equal texts are one.
 * NULL gives NULL. */
char *graph_text(struct graph *g, const char *s);
/* Recomputes scores, depths, origins and the champion from the records. */
void graph_settle(struct graph *g);
/* The champion among the first nr nodes (see struct graph). */
uint32_t graph_champion(const struct graph *g, uint32_t nr);
/* The champion among what was measured here: what is published.  0: none. */
uint32_t graph_own_champion(const struct graph *g);
/* Highest step used by a node or a spend line; 0 if none. */
uint32_t graph_last_step(const struct graph *g);
/* The node that a call of a model was made for: of its step and worker, else of
 * its step alone; NODE_NONE: none, or it is gone. */
uint32_t graph_call_node(const struct graph *g, uint32_t step,
			 const char *worker);
/* Sums the calls that were made for a node: their cost as far as it is known,
 * *unknown (may be NULL) those of unknown price.  Returns how many. */
uint32_t graph_used(const struct graph *g, uint32_t node, struct usage *sum,
		    uint32_t *unknown);
/* Does the spend line stand for a node with a recipe that was pruned?  Where
 * several workers made and pruned one node, one line does; none while one of
 * them has it. */
bool graph_spend_tells(const struct graph *g, uint32_t spend);
/* The first node, spend line and call of this step or a later one; their
 * number if there is none. */
uint32_t graph_node_from(const struct graph *g, uint32_t step);
uint32_t graph_spend_from(const struct graph *g, uint32_t step);
uint32_t graph_call_from(const struct graph *g, uint32_t step);

#endif
