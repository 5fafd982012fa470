/*
 * Adaptive, the default: chooses among the others, round by round, by the
 * proposers, by whether their space for this kernel is known, by the budget
 * and by how the search goes.
 *
 *  - Two proposers: hybrid.
 *  - The space is not known, as of a model, whose attempts are few and each a
 *    surprise: beam, which forgets no good version over a better one; greedy
 *    where the budget is under FEW rounds.
 *  - Else learn, but for the first attempt, which is greedy's: all steps that
 *    are believed in together.  After PATIENT rounds without a gain the last
 *    attempt of a round is a one-shot sample, as of bestofn, in case the
 *    model is blind to something; a gain ends that.
 *
 * Measured as in policy.c, the mean share of the best that was found after 4,
 * 8, 16, 32 and 60 attempts, so that the budget need not be asked while a
 * space is known:
 *
 *	adaptive	0.968 0.985 0.994 0.999 1.000
 *	learn		0.961 0.976 0.980 0.999 1.000
 *	greedy		0.856 0.957 0.987 0.997 0.999
 *	bestofn		0.912 0.961 0.982 0.991 0.996
 *
 * PATIENT of 3, 6 and 12 are alike.  The choices where a space is not known
 * (BEAM_WIDTH, FEW, hybrid) are by reason: no table has such a proposer.
 *
 * The size of a round is the spec's for the whole search.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/policy.h"

#define PATIENT 6		/* rounds */
#define BEAM_WIDTH 2
#define FEW 3			/* rounds */

struct choice {
	const struct policy *policy;
	struct spec spec;	/* borrows; with that policy's parameters */
	struct policy_view view;
	bool sample;		/* the last slot takes a sample */
	char why[160];
};

static bool has_inner(const struct spec *spec)
{
	return spec->inner && *spec->inner && spec->proposer &&
	       strcmp(spec->inner, spec->proposer) != 0;
}

__attribute__((format(printf, 3, 4)))
static void take(struct choice *c, const struct policy *p, const char *why, ...)
{
	va_list ap;

	c->policy = p;
	va_start(ap, why);
	vsnprintf(c->why, sizeof(c->why), why, ap);
	va_end(ap);
}

static bool few_attempts(const struct spec *s)
{
	return s->budget.attempts > 0 &&
	       s->budget.attempts < (int64_t)s->round * FEW;
}

static void choose_among(struct choice *c, const struct policy_view *v)
{
	const struct spec *s = v->spec;
	uint32_t stalled = policy_stalled(v);

	c->sample = s->space > 0 && !has_inner(s) && stalled >= PATIENT &&
		s->round > 1;
	if (has_inner(s))
		take(c, &policy_hybrid, "%s makes versions, %s tunes them",
		     s->proposer, s->inner);
	else if (!(s->space > 0) && few_attempts(s))
		take(c, &policy_greedy, "%lld attempts are too few for more "
		     "than the best", (long long)s->budget.attempts);
	else if (!(s->space > 0))
		take(c, &policy_beam, "nothing is known of the versions "
		     "that there may be");
	else if (!c->sample)
		take(c, &policy_learn, "a model of the tried versions tells "
		     "which of the others to try");
	else
		take(c, &policy_learn, "no gain for %d rounds", PATIENT);
}

static void choose(struct choice *c, const struct policy_view *v)
{
	const struct spec *s = v->spec;

	choose_among(c, v);
	c->spec = *s;
	policy_defaults(c->policy->name, &c->spec);
	c->spec.round = s->round;
	c->spec.depth = 0;
	if (c->policy == &policy_beam) {
		c->spec.width = BEAM_WIDTH;
		c->spec.branches = (s->round + BEAM_WIDTH - 1) / BEAM_WIDTH;
		c->spec.keep = s->keep;
	} else if (s->width > 0) {
		c->spec.width = s->width;
	}
	c->view = *v;
	c->view.spec = &c->spec;
}

static int adaptive_round(const struct spec *spec)
{
	return spec->branches > 0 ? spec->branches : 4;
}

static bool adaptive_expand(const struct policy_view *v, uint32_t slot,
			    uint32_t fails, struct policy_move *out)
{
	struct choice c;

	choose(&c, v);
	if (c.policy == &policy_learn && !v->round && !slot &&
	    policy_any(v, out))
		return true;
	if (c.sample && slot + 1 == (uint32_t)v->spec->round &&
	    policy_bestofn.expand(v, slot, fails, out))
		return true;
	return c.policy->expand(&c.view, slot, fails, out) ||
	       policy_any(v, out);
}

static void adaptive_why(const struct policy_view *v, struct buf *out)
{
	struct choice c;

	choose(&c, v);
	buf_addf(out, "%s%s: %s", c.policy->name, c.sample ? ", one sample" : "",
		 c.why);
}

const struct policy policy_adaptive = {
	.name = "adaptive",
	.summary = "choose among the others as the search goes, and say why",
	.round = adaptive_round,
	.expand = adaptive_expand,
	.frontier = policy_believed,
	.finished = policy_endless,
	.why = adaptive_why,
};
