/*
 * A confirmation while it runs, for confirm.c and samples.c alone; others
 * call session_confirm().
 */
#ifndef CORE_JUDGE_CONFIRM_H
#define CORE_JUDGE_CONFIRM_H

#include "core/judge/holdout.h"

/* Who runs beside the candidate and the champion. */
enum role { ROLE_ROOT, ROLE_BASELINE, ROLE_FLAGS, ROLE_RIVAL };

struct extra {
	enum role role;
	const char *so;
	double (*lr)[STATS_MAX_LAUNCHES];	/* by shape: over it */
	double (*ns)[STATS_MAX_LAUNCHES];
	int n;
};

struct confirmation {
	struct session *s;
	struct artefact *cand, *champ;
	struct record *rec;
	int want;		/* launches */
	int n;
	double score[STATS_MAX_LAUNCHES];
	double (*lr)[STATS_MAX_LAUNCHES];	/* by shape: over champ */
	double (*single)[STATS_MAX_LAUNCHES];	/* from single calls */
	double (*ns)[STATS_MAX_LAUNCHES];
	double (*champ_ns)[STATS_MAX_LAUNCHES];
	unsigned (*offset)[STATS_MAX_LAUNCHES];
	struct extra extra[3 + KERNEL_MAX_RIVALS];
	int nr_extra;
	double extra_s, start_s;
	struct holdouts holdouts;
	double peak;
};

/*
 * Writes the log-ratios of each launch and the hashes of the input sets as
 * JSON to the work folder; *name: the file's, owned by the caller.
 */
int samples_write(struct confirmation *c, const char *key,
		  const char *against, char **name, struct err *err);

#endif
