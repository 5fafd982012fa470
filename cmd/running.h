/*
 * A search that runs here, as others are told of it (core/live.h), and whether
 * one of them asked it to halt.  Several may run in one process, by turns:
 * while one has its turn the others are kept up too.
 */
#ifndef CMD_RUNNING_H
#define CMD_RUNNING_H

#include "core/live.h"
#include "core/search.h"

struct running;

/* Under the claim of the search; s and purse are borrowed.  Nothing of it can
 * fail: at worst nobody hears of it. */
void running_begin(struct running **out, struct search *s,
		   const struct purse *purse);
/* To be called often.  True: it is asked to halt. */
bool running_tick(struct running *r, const struct search_now *n);
/* A round ended: what it came to is said while others have their turns. */
void running_rest(struct running *r, const struct search_run *run);
/* Is it asked to halt, or was it?  Looks anew. */
bool running_is_asked(struct running *r);
/* A node of the search is tuned: how it goes on is another command. */
void running_tunes(struct running *r);
/* NULL is fine. */
void running_end(struct running *r);

/*
 * What runs in this clone, of the name alone (a search, the beginning of one,
 * a kernel: all its searches; NULL: all).  ERR_NOTFOUND, ERR_USAGE: there is no
 * such search, or several.
 */
int running_find(struct repo *r, const char *name, struct live_list *out,
		 struct err *err);

#endif
