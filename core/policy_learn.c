/*
 * Learn: every attempt is the version that what was tried so far makes most
 * promising, however many steps it is away.  The model is the proposer's
 * (PROPOSE_LEARN); a version's parent is the best node, from which the
 * proposer tells the step.  Needs no other parameter than the size of a round:
 * in a round the attempts count on what is expected of those before them.
 */
#include "core/policy.h"

static int learn_round(const struct spec *spec)
{
	return spec->branches > 0 ? spec->branches : 1;
}

static bool learn_expand(const struct policy_view *v, uint32_t slot,
			 uint32_t fails, struct policy_move *out)
{
	(void)slot;
	(void)fails;
	if (!policy_any(v, out))
		return false;
	out->kind = MOVE_LEARN;
	return true;
}

const struct policy policy_learn = {
	.name = "learn",
	.summary = "try what a model of the versions tried so far expects most of",
	.round = learn_round,
	.expand = learn_expand,
	.frontier = policy_believed,
	.finished = policy_endless,
};
