/*
 * Lessons: what a search tells of strategies, from its graph alone: which gene
 * gained or lost on nests of its shape, on its device class and target, by how
 * much, in how many tries, and which node shows it; and which failed.  A lesson
 * is a METRIC_LESSON line on the spec commit, so it goes where the search goes,
 * several workers' lessons are one set, and a void line takes one back.  The
 * text of the line:
 *
 *	helped restrict c gemm zen5 5 0 4 1.83 0123456789ab
 *	failed vw(512) c gemm zen5 2 2 0 - 0123456789ab wrong
 *
 * kind, gene, target, shape ("-": unknown), device class; how often tried,
 * failed, won; the mean ratio to the parent; the node that shows it best; the
 * verdict of that, if it failed.
 */
#ifndef CORE_LESSON_H
#define CORE_LESSON_H

#include "core/graph.h"
#include "core/store.h"

#define LESSONS_MAX 40		/* that a search is asked to remember */

enum lesson_kind {
	LESSON_HELPED,		/* faster than its parent by PRIOR_WON */
	LESSON_HURT,		/* slower by as much */
	LESSON_FAILED,		/* never timed */
	LESSON_NONE		/* neither: only lessons_distil() says so */
};
const char *lesson_kind_name(enum lesson_kind kind);	/* "helped" */

struct lesson {
	enum lesson_kind kind;
	char *gene, *target, *shape, *device;
	uint32_t tried, failed, won;
	double ratio;		/* NAN if it failed */
	char node[13];		/* 12 hex digits of a commit */
	int verdict;		/* of it, if it failed; else V_NONE */
	/* Of the line; empty and NULL for what is not written yet. */
	char id[13];
	char *worker;
	int64_t time;
	bool claimed;		/* another worker's */
};
struct lessons {
	struct lesson *v;
	size_t nr, cap;
};
#define LESSONS_INIT { NULL, 0, 0 }
void lessons_release(struct lessons *l);

/* Adds the text, without a newline. */
void lesson_format(struct buf *out, const struct lesson *l);
/* Strictly; ERR_FORMAT, and *l empty. */
int lesson_parse(struct lesson *l, const char *text, struct err *err);
/* Of one strategy on one shape, target and device class? */
bool lesson_same_key(const struct lesson *a, const struct lesson *b);

/*
 * What a graph teaches, the most telling first.  Genes that did nothing are in
 * it as LESSON_NONE.  The words are of the spec and the section.
 */
void lessons_distil(const struct graph *g, const char *target,
		    const char *shape, const char *device,
		    struct lessons *out);

/* ---- of a search (store_lesson.c) ---- */

/* Adds those that stand, oldest first, equal ones of several workers once;
 * lines that are no lessons of this form are left out. */
int lessons_read(struct search *s, struct lessons *out, struct strv *warn,
		 struct err *err);
/*
 * Writes what the graph teaches and is not known yet, and takes back our
 * lessons that it contradicts by now.  What was taken back comes again only when
 * there is more evidence.  Adds the new ones to out.  The search has to be claimed.
 */
int lessons_learn(struct search *s, const struct graph *g, const char *target,
		  struct lessons *out, struct err *err);
/* Takes back a line by its id, ours or another's (then for this clone alone).
 * The search has to be claimed. */
int lesson_take_back(struct search *s, const char *id, struct err *err);

#endif
