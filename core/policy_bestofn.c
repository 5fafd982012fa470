/*
 * Best of n: one-shot samples, each a whole version made from the root as if
 * there were no other; nothing is learnt from one for the next.  It ends with
 * the budget, or when the root has nothing left.
 */
#include "core/policy.h"

static int bestofn_round(const struct spec *spec)
{
	return spec->branches > 0 ? spec->branches : 1;
}

static bool bestofn_expand(const struct policy_view *v, uint32_t slot,
			   uint32_t fails, struct policy_move *out)
{
	(void)slot;
	(void)fails;
	policy_move_set(out, MOVE_SAMPLE, 0);
	return !v->exhausted(v->ctx, 0, false);
}

const struct policy policy_bestofn = {
	.name = "bestofn",
	.summary = "independent one-shot versions of the root; the best counts",
	.round = bestofn_round,
	.expand = bestofn_expand,
	.frontier = policy_believed,
	.finished = policy_endless,
};
