/* Strategy fastmath: sums may be regrouped, within the section's `math`. */
#include <string.h>

#include "agents/builtin/strategy.h"

static bool fits(const struct site *s, struct buf *why)
{
	if (s->k->math != MATH_STRICT)
		return true;
	buf_addstr(why, "the section says math = strict");
	return false;
}

static void settings(const struct site *s, struct strv *out)
{
	strv_push(out, "assoc");
	if (s->k->math == MATH_FINITE)
		strv_push(out, "full");
}

/*
 * gcc takes associative-math only together with no-signed-zeros and
 * no-trapping-math; none of these lets it assume that there is no NaN.  The
 * pragma, other than the flag, does not link crtfastmath.o, so subnormals
 * stay.
 */
static int apply(const struct site *s, const struct gene *g, struct emit *e,
		 struct err *err)
{
	bool full = g->args.nr == 1 && !strcmp(g->args.v[0], "full");

	if (g->args.nr != 1 || (!full && strcmp(g->args.v[0], "assoc")))
		return err_set(err, ERR_FORMAT,
			       "recipe: fastmath takes 'assoc' or 'full'");
	if (full && s->k->math != MATH_FINITE)
		return err_set(err, ERR_FORMAT, "recipe: fastmath(full) needs "
			       "math = finite in the section");
	if (full)
		buf_addstr(&e->gcc, "#pragma GCC optimize(\"fast-math\")\n");
	else
		buf_addstr(&e->gcc, "#pragma GCC optimize("
			   "\"no-math-errno\", \"no-trapping-math\", \\\n"
			   "\t\"no-signed-zeros\", \"associative-math\", "
			   "\"reciprocal-math\")\n");
	buf_addstr(&e->clang,
		   "#pragma clang fp reassociate(on) contract(fast)\n");
	return 0;
}

static void subject(const struct site *s, const struct gene *g,
		    struct buf *out)
{
	(void)s;
	buf_addstr(out, g->args.nr && !strcmp(g->args.v[0], "full") ?
		   "assume finite numbers, regroup sums" :
		   "let the compiler regroup sums");
}

static void plan(const struct site *s, const struct gene *g, struct buf *out)
{
	struct evidence e;

	evidence_find(s, &e);
	buf_addstr(out, "Allow the compiler to add in another order (pragmas, "
			"so for this file only). ");
	if (e.reductions)
		buf_addf(out, "`%s` is a chain of additions, each waiting for "
			 "the one before, and C fixes their order: one "
			 "element per addition's latency. Regrouped, a vector "
			 "of partial sums runs in parallel. ", e.sum);
	else
		buf_addstr(out, "The inner loops hold no plain sum, so what "
			   "it gains here is reciprocals, fused "
			   "multiply-adds and selects without traps. ");
	buf_addstr(out, g->args.nr && !strcmp(g->args.v[0], "full") ?
		   "It also assumes that no NaN or infinity occurs, as the "
		   "section permits.\n" :
		   "NaN, infinities and masks of -inf behave as before; "
		   "finite-math is not asked for.\n");
	buf_addstr(out, "\nRisk: sums differ in the last bits (usually less "
			"error than in one long chain), -0 may become +0.\n");
}

static double gain(const struct site *s, const struct gene *g)
{
	struct evidence e;

	(void)g;
	evidence_find(s, &e);
	return e.reductions ? 3.0 : 1.1;
}

const struct strategy strategy_fastmath = {
	.name = "fastmath", .fits = fits, .settings = settings,
	.apply = apply, .subject = subject, .plan = plan, .gain = gain,
	.undo = "keep sums in their order",
};
