/*
 * What was spent, written down before it is used: nothing that was paid for is
 * ever missing from the ledger.  <gitdir>/maxkernel/log/usage-<slug> has one
 * JSON line a call of a model, appended and fsynced as its answer comes; the
 * spend lines of the search (core/metrics.h) follow with the attempt, or, if
 * the process dies before that, when the search is next opened for writing.
 */
#ifndef CORE_JOURNAL_H
#define CORE_JOURNAL_H

#include "core/store.h"
#include "core/usage.h"

/*
 * Appends and syncs; fills one->id if it is empty.  A call that is there
 * already, by its id, counts once.  Any thread of control may do it, and any
 * process that works on the search.
 */
int journal_usage(struct search *s, uint32_t step, struct usage *one,
		  struct err *err);
/*
 * Writes a spend line for each call in the journal that the ledger lacks; *nr
 * (may be NULL) of them.  Under the claim of the search, before it is loaded.
 * What cannot be read is named in warn (may be NULL) with its line and left
 * out; errors are those of loading and writing the search.
 */
int journal_settle(struct search *s, size_t *nr, struct strv *warn,
		   struct err *err);

/* One call as the ledger has it. */
struct spent_call {
	struct usage used;
	uint32_t step;
	char *worker;
	bool claimed;		/* another worker's line */
	bool unsettled;		/* in the journal alone: its attempt never
				 * ended */
	int64_t time;		/* seconds since 1970 */
};
struct spent_calls {
	struct spent_call *v;
	size_t nr, cap;
};
/* All calls of a search, whose graph is g, oldest first, each id once; with
 * what is in the journal alone.  warn may be NULL. */
void journal_read(struct search *s, const struct graph *g,
		  struct spent_calls *out, struct strv *warn);
/*
 * What was paid for stays written when its search is pruned: adds the slugs
 * of journals without a search, in order; and reads one, all of it unsettled.
 */
void journal_orphans(struct repo *r, struct strv *slugs);
void journal_read_orphan(struct repo *r, const char *slug,
			 struct spent_calls *out, struct strv *warn);
void spent_calls_release(struct spent_calls *c);

#endif
