/*
 * Merging: two searches over one kernel into one graph, two nodes into a
 * crossover.
 */
#ifndef CORE_MERGE_H
#define CORE_MERGE_H

#include "core/graph.h"
#include "core/proposer.h"
#include "core/store.h"

struct unite_sum {
	size_t nodes, notes, spends;	/* that were new to it */
};
/*
 * Makes every node, plan, measurement, lesson and spend line of `from` part
 * of `into`: an anchor of our worker in `into` gets the tips of from's anchor
 * chains as parents and names the search and its root in a trailer
 * ("Maxkernel-Unites: <slug> <root>"), and from's notes are added to our
 * notes of `into`.  `from` stays as it is.  Whose measurement a line is
 * stays told by its "w".  Done again it does nothing; the graphs of a into b
 * and of b into a have the same nodes, records, spends and champion.
 *
 * ERR_FORMAT naming the first key that differs when the sections are not
 * equal, or when the sources at the roots (reference, baseline and rivals
 * included) are not.
 */
int merge_unite(struct search *into, struct search *from,
		struct unite_sum *sum, struct err *err);
/*
 * The other way for such: the confirmed nodes of from (at most max, best
 * first) become nodes of `into`, op "import", parent its root, unjudged;
 * states that `into` has are left out.
 */
int merge_seeds(struct search *into, struct search *from, size_t max,
		size_t *made, struct err *err);

/* One file that did not merge: text with diff3 markers. */
struct merge_conflict {
	char *path;
	char *text;		/* NULL: binary, or deleted on one side */
};
struct merge_conflicts {
	struct merge_conflict *v;
	size_t nr, cap;
};
void merge_conflicts_release(struct merge_conflicts *c);
/*
 * The three-way merge of two nodes' kernel files over their merge base (git's
 * own: git_merge_trees); where that is no node, over the search's root.  The
 * files are in *out: 0 when all merged; 1 and the conflicts, whose files are
 * in *out as a has them, when not.
 */
int merge_nodes(struct search *s, const struct oid *a, const struct oid *b,
		struct srcset *out, struct merge_conflicts *conflicts,
		struct err *err);

/* A crossover in the making: what its node will be. */
struct crossing {
	uint32_t parent[2];	/* in the graph */
	struct srcset source;
	struct oid state;
	char *recipe;		/* on the parents' origin; "": merged texts */
	const char *proposer;	/* borrowed: of the recipe, else "merge" */
};
void crossing_release(struct crossing *c);
/*
 * Crosses nodes a and b of g, the graph of s: their recipes, when both have
 * one on the same origin and the proposer (may be NULL) can; else their files
 * by merge_nodes().  0, or 1 and the conflicts: then c holds all but what is
 * in conflict.
 */
int merge_cross(struct search *s, const struct graph *g,
		const struct proposer *p, uint32_t a, uint32_t b,
		struct crossing *c, struct merge_conflicts *conflicts,
		struct err *err);
/* Writes it: op "crossover", two parents, a step of its own, unjudged.  The
 * state must not be in the graph yet. */
int merge_store(struct search *s, const struct graph *g,
		const struct crossing *c, struct oid *id, struct err *err);

/*
 * A crossover that waits for a person: its conflicts lie as files with
 * markers in a folder, <gitdir>/maxkernel/merge/<a12>-<b12>.  One at a time.
 */
struct held {
	char *slug;
	struct oid a, b;
	char *dir;
};
void held_release(struct held *h);
/* ERR_NOTFOUND: none waits. */
int held_read(struct repo *r, struct held *h, struct err *err);
/* Fills *h; ERR_RACE when another one waits already. */
int held_write(struct search *s, const struct oid *a, const struct oid *b,
	       const struct srcset *source, const struct merge_conflicts *c,
	       struct held *h, struct err *err);
/* Puts the edited files into source; ERR_FORMAT naming the file and line of
 * the first marker that is left. */
int held_take(const struct held *h, const struct merge_conflicts *c,
	      struct srcset *source, struct err *err);
int held_drop(struct repo *r, const struct held *h, struct err *err);

#endif
