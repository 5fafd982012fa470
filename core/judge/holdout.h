/*
 * Hold-out shapes: legal ones near the timed shapes, drawn when a candidate
 * is nearly confirmed, which it cannot have been fitted to.
 */
#ifndef CORE_JUDGE_HOLDOUT_H
#define CORE_JUDGE_HOLDOUT_H

#include "core/judge/session.h"

#define HOLDOUTS 3
#define HOLDOUT_LAUNCHES 3

struct holdout {
	struct shape shape;
	double flops, bytes;
	double lr[HOLDOUT_LAUNCHES];		/* over the root */
	double base_lr[HOLDOUT_LAUNCHES];	/* over the baseline */
	double ns[HOLDOUT_LAUNCHES], base_ns[HOLDOUT_LAUNCHES];
	int n;					/* launches that count */
};

struct holdouts {
	struct holdout v[HOLDOUTS];
	int nr;
};

/*
 * Runs the candidate beside root and baseline at shapes that neither the
 * section nor the suite has; a candidate that fails there is stopped in rec.
 * None under `shapes = fixed`, fewer where calls are dear.
 */
int holdouts_run(struct holdouts *h, struct session *s,
		 const struct artefact *cand, struct record *rec,
		 struct err *err);
void holdouts_release(struct holdouts *h);

#endif
