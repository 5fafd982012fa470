/* What is left of the budget that searches were started with. */
#ifndef CMD_REST_H
#define CMD_REST_H

#include <math.h>

#include "core/err.h"
#include "core/graph.h"
#include "core/proposer.h"
#include "core/purse.h"
#include "core/store.h"

struct spent {			/* of several searches */
	struct budget used;	/* but until and time_s */
	struct span {
		double from, to;
	} *span;		/* of wall time, that attempts were in flight */
	size_t nr, cap;
	double more_s;		/* wall time of what has no span any more */
};
#define SPENT_INIT { { 0, 0, 0, 0, 0, 0 }, NULL, 0, 0, 0 }

/*
 * Adds what a search has used: of attempts, tokens and money what anybody has;
 * of time what this clone has.  What others say that they used of it is a
 * claim.
 */
void spent_add(struct spent *s, const struct graph *g);
/* And what was paid for by attempts that a killed run did not come to write. */
void spent_add_unsettled(struct spent *s, struct search *search,
			 const struct graph *g);
/* Wall seconds: attempts of several judges and searches overlap. */
double spent_wall_s(struct spent *s);
void spent_release(struct spent *s);

/*
 * The caps of `all`, less what is used.  True: one of them is used up; it is
 * so small in *rest that nothing begins under it.
 */
bool rest_of(const struct budget *all, struct spent *s, struct budget *rest);
/* Slug of the first search of the explore that this one was started by. */
const char *spec_group(const struct spec *s);
/* The same of all searches of a list that share the budget of one. */
int rest_of_group(struct repo *r, const struct spec_list *list,
		  const struct spec *spec, struct budget *rest, bool *up,
		  struct err *err);
/* The same of one search alone. */
bool rest_of_search(const struct spec *spec, const struct graph *g,
		    struct budget *rest);

/* The proposer of a search that spends tokens and money, the inner one too;
 * NULL: none does. */
const struct proposer *spec_spender(const struct spec *spec);

#define BUDGET_DEFAULT_S 60.0	/* a kernel, where no cap is given */
/* Of options: what is not given is 0 or NAN. */
#define BUDGET_NOT_GIVEN { 0, NAN, NAN, 0, NAN, NAN }
/* ERR_USAGE where a value is none; what is not given is 0 from here on. */
int budget_check(struct budget *b, struct err *err);
/* Is any cap there but `until`? */
bool budget_has_cap(const struct budget *b);
/* "24 attempts, 60 s, $1.50": the caps as text; "" if there is none. */
struct buf;
/* "$0.055": cents, and more digits where a cap has them. */
void budget_dollars(double cost, struct buf *out);
void budget_text(const struct budget *b, struct buf *out);

#endif
