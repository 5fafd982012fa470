#include "cmd/estimate.h"

#include <math.h>

#include "cmd/out.h"
#include "cmd/rest.h"

struct each {			/* of one attempt, the mean over kernels */
	double tokens, cost;
};

static struct each estimate(const struct proposer *p,
			    const struct kernel *const *k, size_t nr)
{
	struct each e = { 0, 0 };

	for (size_t i = 0; i < nr && p->estimate; i++) {
		int64_t tokens = 0;
		double cost = 0;

		p->estimate(k[i], &tokens, &cost);
		e.tokens += (double)tokens / (double)nr;
		e.cost += cost > 0 ? cost / (double)nr : 0;
	}
	return e;
}

/* How many attempts the caps allow; INFINITY: none does. */
static double most_attempts(const struct each *e, const struct budget *b)
{
	double most = b->attempts ? (double)b->attempts : INFINITY;

	if (b->tokens && e->tokens > 0)
		most = fmin(most, floor((double)b->tokens / e->tokens));
	if (b->cost > 0 && e->cost > 0)
		most = fmin(most, floor(b->cost / e->cost * (1 + 1e-9)));
	return fmax(most, 0);
}

/* Is one attempt within the caps, of one of the kernels? */
static bool one_fits(const struct proposer *p, const struct kernel *const *k,
		     size_t nr, const struct budget *b)
{
	for (size_t i = 0; i < nr; i++) {
		struct each e = estimate(p, &k[i], 1);

		if ((!b->tokens || e.tokens <= (double)b->tokens) &&
		    (!(b->cost > 0) || e.cost <= b->cost * (1 + 1e-9)))
			return true;
	}
	return !nr;
}

static void add_each(struct buf *out, double tokens, double cost)
{
	buf_addf(out, "%.0f tokens", tokens);
	if (cost > 0)
		buf_addf(out, " and $%.*f", cost < 0.1 ? 4 : 2, cost);
}

int estimate_tell(const struct proposer *p, const struct kernel *const *k,
		  size_t nr, const struct budget *b, struct err *err)
{
	struct each e;
	struct buf text = BUF_INIT;
	double most;

	if (!p || !p->spends)
		return 0;
	if (!budget_has_cap(b))
		return err_set(err, ERR_USAGE, "proposer '%s' spends tokens and "
			       "money: --attempts, --tokens or --cost says how "
			       "much at most", p->name);
	e = estimate(p, k, nr);
	most = most_attempts(&e, b);
	buf_addf(&text, "proposer '%s': an attempt is expected to use ",
		 p->name);
	add_each(&text, e.tokens, e.cost);
	say("%s", text.ptr);
	buf_reset(&text);
	if (b->cost > 0 && !(e.cost > 0))
		warn("what an attempt costs is not known: --cost may be passed, "
		     "--tokens and --attempts are not");
	if (!one_fits(p, k, nr, b)) {
		budget_text(b, &text);
		say("the caps are below one attempt: %s", text.ptr);
		buf_release(&text);
		return 1;
	}
	if (isinf(most)) {
		warn("only time bounds what it spends: --attempts, --tokens or "
		     "--cost says how much at most");
	} else {
		buf_addf(&text, "at most %.0f attempts of it, about ", most);
		add_each(&text, most * e.tokens, most * e.cost);
		buf_addstr(&text, "; the caps: ");
		budget_text(b, &text);
		say("%s", text.ptr);
	}
	buf_release(&text);
	return 0;
}
